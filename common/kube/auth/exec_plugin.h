// Credentials printed by a program (client-go's exec plugins): its input, its output, and running
// it. Running blocks: only for a helper thread.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kube/auth/kubeconfig.h"

namespace esi::kube {

struct exec_credential {
    std::string token;
    std::string certificate_pem;
    std::string key_pem;
    /// Without one the credential is valid until the server refuses it.
    std::optional<wall_time> expires;
};

/// The value of KUBERNETES_EXEC_INFO. `ca_pem` is passed on only with provideClusterInfo.
std::string exec_info(const exec_plugin& plugin, const cluster_entry& cluster,
                      const std::string& ca_pem);

/// Reads an ExecCredential of exactly `api_version`; needs a token, or certificate and key.
result<exec_credential> parse_exec_credential(std::string_view text, std::string_view api_version);

/// Runs the program without a terminal and waits for its answer at most until `deadline`, or until
/// `stop` turns true; then it and its children are killed. Errors carry the end of what it wrote to
/// stderr and the install hint.
result<exec_credential> run_exec_plugin(const exec_plugin& plugin, const std::string& info,
                                        steady_time deadline, const std::atomic<bool>& stop);

}  // namespace esi::kube
