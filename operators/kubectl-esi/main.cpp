// kubectl-esi: what kubectl runs as `kubectl esi`.
#include "kubectl-esi/program.h"

int main(int argc, char** argv) { return esi::kubectl::run_program(argc, argv); }
