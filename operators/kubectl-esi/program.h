// The process: parses the flags, runs one command and prints its answer.
#pragma once

namespace esi::kubectl {

/// Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace esi::kubectl
