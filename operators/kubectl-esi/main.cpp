// kubectl-esi: the program that kubectl runs as `kubectl esi`.
#include <nss.h>

#include "kubectl-esi/program.h"

int main(int argc, char** argv) {
    // Names are resolved as in kubectl, also a static program: by /etc/hosts and DNS. The other
    // sources that nsswitch.conf may name are libraries of the machine's glibc, which do not fit
    // into a static program that was built with another one.
    __nss_configure_lookup("hosts", "files dns");
    return esi::kubectl::run_program(argc, argv);
}
