// The life of an operator: flags, log, credentials, HTTP, caches, election, controllers; and the
// way back in the reverse order. A main.cpp is: make options, call run_process.
#pragma once

#include <functional>
#include <string>

#include "controller/process.h"

namespace esi::controller {

/// Parses flags (`add_flags` adds the operator's own), runs until SIGTERM or SIGINT, or until the
/// lease is lost (then exits at once with 1: another leads). Returns the exit code: 0 after an
/// orderly stop, 2 for wrong flags, 1 else.
/// `name`: "testbed"; lease esi-<name>, user agent esi-<name>/<version>.
int run_process(int argc, char** argv, std::string name, int default_port,
                std::function<void(CLI::App&)> add_flags, operator_factory make);

}  // namespace esi::controller
