// The API server's address and the process' identity, from kubeconfig files and the pod's
// environment. Parsing is pure (text in, struct out); load_access() is the one function here that
// reads files and environment, once, at the start. Secrets that live in files of their own (tokens,
// keys) are only named here: kube/auth/credentials.h reads them, again and again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace esi::kube {

/// PEM text, inline (decoded) or in a file; data wins.
struct file_or_data {
    std::string file;
    std::string data;
    bool empty() const { return file.empty() && data.empty(); }
};

/// A program that prints an ExecCredential (client.authentication.k8s.io).
struct exec_plugin {
    std::string api_version;
    std::string command;
    std::vector<std::string> args;
    std::vector<std::pair<std::string, std::string>> env;
    std::string install_hint;
    bool provide_cluster_info = false;
};

struct cluster_entry {
    std::string server;
    std::string tls_server_name;
    file_or_data ca;
    bool insecure_skip_tls_verify = false;
    std::string proxy_url;
};

struct user_entry {
    file_or_data client_certificate;
    file_or_data client_key;
    std::string token;
    std::string token_file;
    std::optional<exec_plugin> exec;
    /// An unsupported kind of authentication ("auth-provider", ...); using it is an error.
    std::string unsupported;
};

struct context_entry {
    std::string cluster;
    std::string user;
    std::string ns;
};

struct kubeconfig {
    std::string current_context;
    std::map<std::string, cluster_entry, std::less<>> clusters;
    std::map<std::string, user_entry, std::less<>> users;
    std::map<std::string, context_entry, std::less<>> contexts;
};

/// One API server and one identity.
struct cluster_access {
    cluster_entry cluster;
    user_entry user;
    /// Namespace of the context, or of the pod; "default" if neither says one.
    std::string ns = "default";
    /// Context of the kubeconfig; empty: the pod's own access.
    std::string context = {};
};

/// Reads the text of one file. Relative file names are taken from the folder of `path`, which also
/// names the file in errors (errc::config).
result<kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

/// Merges as kubectl does: the first file that has a key wins.
kubeconfig merge_kubeconfigs(std::vector<kubeconfig> files);

/// `context` empty: the current one. Unknown names, a proxy-url and authentication that is not
/// supported are errors (errc::config) that say what to do.
result<cluster_access> select_context(const kubeconfig& config, std::string_view context);

/// Value of an environment variable; empty when unset.
using environment_lookup = std::function<std::string(const char* name)>;

/// In a pod: KUBERNETES_SERVICE_HOST and _PORT with the service account's mounted files under
/// `mount`. Nothing when this is not a pod.
std::optional<cluster_access> in_cluster_access(
    const environment_lookup& environment,
    const std::string& mount = "/var/run/secrets/kubernetes.io/serviceaccount");

/// In this order: `file` (--kubeconfig), KUBECONFIG (a list, joined by ':'), the pod,
/// ~/.kube/config. `context` applies to kubeconfig files only.
result<cluster_access> load_access(const std::string& file, const std::string& context,
                                   const environment_lookup& environment);
/// The same with this process' environment.
result<cluster_access> load_access(const std::string& file, const std::string& context);

/// The whole of a small file (at most 1 MiB); errc::config with the name otherwise.
result<std::string> read_small_file(const std::string& path);

/// Standard base64, white space ignored; nothing for anything else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace esi::kube
