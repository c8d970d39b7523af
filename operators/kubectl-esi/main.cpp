// kubectl-esi: what kubectl runs as `kubectl esi`.
#include <nss.h>

#include "kubectl-esi/program.h"

int main(int argc, char** argv) {
    // Names are looked up as kubectl, a static program too, does it: in /etc/hosts and by DNS. What
    // else nsswitch.conf may name would be a library of the machine's glibc, which does not fit
    // into a static program of another one.
    __nss_configure_lookup("hosts", "files dns");
    return esi::kubectl::run_program(argc, argv);
}
