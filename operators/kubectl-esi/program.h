// The process: flags in, one command, its answer out.
#pragma once

namespace esi::kubectl {

/// Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace esi::kubectl
