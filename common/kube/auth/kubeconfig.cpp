#include "kube/auth/kubeconfig.h"

#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace esi::kube {

namespace {

constexpr std::size_t size_limit = 1u << 20;

/// The error in a file; turned into a result at the border of this file only.
struct fault {
    std::string text;
};

/// A member that is there and not null. yaml-cpp gives a "zombie" for an absent one, which throws
/// at any touch: it never leaves this function.
std::optional<YAML::Node> member(const YAML::Node& node, const char* key) {
    if (!node.IsDefined() || !node.IsMap()) return std::nullopt;
    const YAML::Node found = node[key];
    if (!found.IsDefined() || found.IsNull()) return std::nullopt;
    return found;
}

std::string text_of(const YAML::Node& node, const char* key) {
    const auto found = member(node, key);
    if (!found) return {};
    if (!found->IsScalar()) throw fault{std::string(key) + " is not a text"};
    return found->Scalar();
}

bool flag_of(const YAML::Node& node, const char* key) {
    const auto text = text_of(node, key);
    if (text.empty() || text == "false" || text == "False" || text == "no") return false;
    if (text == "true" || text == "True" || text == "yes") return true;
    throw fault{std::string(key) + " is neither true nor false"};
}

class file_reader {
public:
    explicit file_reader(const std::string& path)
        : folder_(std::filesystem::path(path).parent_path()) {}

    kubeconfig read(const YAML::Node& root) const {
        kubeconfig out;
        if (!root.IsDefined() || root.IsNull()) return out;
        if (!root.IsMap()) throw fault{"is not a kubeconfig"};
        out.current_context = text_of(root, "current-context");
        each(root, "clusters", "cluster", [&](const std::string& name, const YAML::Node& node) {
            out.clusters.try_emplace(name, cluster(node));
        });
        each(root, "users", "user", [&](const std::string& name, const YAML::Node& node) {
            out.users.try_emplace(name, user(node));
        });
        each(root, "contexts", "context", [&](const std::string& name, const YAML::Node& node) {
            context_entry entry;
            entry.cluster = text_of(node, "cluster");
            entry.user = text_of(node, "user");
            entry.ns = text_of(node, "namespace");
            out.contexts.try_emplace(name, std::move(entry));
        });
        return out;
    }

private:
    template <class Take>
    void each(const YAML::Node& root, const char* list, const char* part, Take take) const {
        const auto found = member(root, list);
        if (!found) return;
        if (!found->IsSequence()) throw fault{std::string(list) + " is not a list"};
        for (const YAML::Node item : *found) {
            const auto name = text_of(item, "name");
            const auto inner = member(item, part);
            if (name.empty()) throw fault{std::string(list) + " has an entry without name"};
            try {
                take(name, inner.value_or(YAML::Node(YAML::NodeType::Map)));
            } catch (const fault& wrong) {
                throw fault{std::string(part) + " " + name + ": " + wrong.text};
            }
        }
    }

    std::string path_of(const YAML::Node& node, const char* key) const {
        const auto text = text_of(node, key);
        if (text.empty() || std::filesystem::path(text).is_absolute()) return text;
        return (folder_ / text).string();
    }

    file_or_data pem(const YAML::Node& node, const char* file, const char* data) const {
        file_or_data out;
        out.file = path_of(node, file);
        const auto encoded = text_of(node, data);
        if (encoded.empty()) return out;
        auto decoded = decode_base64(encoded);
        if (!decoded) throw fault{std::string(data) + " is not base64"};
        out.data = std::move(*decoded);
        return out;
    }

    cluster_entry cluster(const YAML::Node& node) const {
        cluster_entry out;
        out.server = text_of(node, "server");
        out.tls_server_name = text_of(node, "tls-server-name");
        out.ca = pem(node, "certificate-authority", "certificate-authority-data");
        out.insecure_skip_tls_verify = flag_of(node, "insecure-skip-tls-verify");
        out.proxy_url = text_of(node, "proxy-url");
        return out;
    }

    user_entry user(const YAML::Node& node) const {
        user_entry out;
        out.client_certificate = pem(node, "client-certificate", "client-certificate-data");
        out.client_key = pem(node, "client-key", "client-key-data");
        out.token = text_of(node, "token");
        out.token_file = path_of(node, "tokenFile");
        // Ignored silently, an intended impersonation would not happen.
        for (const char* key : {"auth-provider", "username", "password", "as", "as-groups",
                                "as-uid", "as-user-extra"}) {
            if (out.unsupported.empty() && member(node, key)) out.unsupported = key;
        }
        if (const auto found = member(node, "exec")) out.exec = exec(*found);
        return out;
    }

    exec_plugin exec(const YAML::Node& node) const {
        exec_plugin out;
        out.api_version = text_of(node, "apiVersion");
        out.command = text_of(node, "command");
        // A bare name is looked up in PATH; a relative path starts at the file's folder.
        if (out.command.find('/') != std::string::npos) out.command = path_of(node, "command");
        out.install_hint = text_of(node, "installHint");
        out.provide_cluster_info = flag_of(node, "provideClusterInfo");
        if (text_of(node, "interactiveMode") == "Always") {
            throw fault{"exec: interactiveMode Always needs a terminal, which an operator has not"};
        }
        if (out.command.empty()) throw fault{"exec has no command"};
        if (out.api_version != "client.authentication.k8s.io/v1" &&
            out.api_version != "client.authentication.k8s.io/v1beta1") {
            throw fault{"exec: apiVersion \"" + out.api_version +
                        "\" is not client.authentication.k8s.io/v1 or v1beta1"};
        }
        if (const auto args = member(node, "args"); args && args->IsSequence()) {
            for (const YAML::Node item : *args) {
                if (!item.IsScalar()) throw fault{"exec: args is not a list of texts"};
                out.args.push_back(item.Scalar());
            }
        }
        if (const auto env = member(node, "env"); env && env->IsSequence()) {
            for (const YAML::Node item : *env) {
                out.env.emplace_back(text_of(item, "name"), text_of(item, "value"));
            }
        }
        return out;
    }

    std::filesystem::path folder_;
};

result<kubeconfig> read_files(const std::vector<std::string>& paths, bool all_needed) {
    std::vector<kubeconfig> files;
    std::string empty;
    for (const auto& path : paths) {
        std::error_code ignored;
        if (!all_needed && !std::filesystem::exists(path, ignored)) continue;
        auto text = read_small_file(path);
        if (!text) return std::unexpected(std::move(text).error());
        if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
            empty += (empty.empty() ? "" : ", ") + path;
            continue;
        }
        auto parsed = parse_kubeconfig(*text, std::filesystem::absolute(path, ignored).string());
        if (!parsed) return std::unexpected(std::move(parsed).error());
        files.push_back(std::move(*parsed));
    }
    if (files.empty() && !empty.empty()) return fail(errc::config, empty + " is empty");
    if (files.empty()) {
        std::string names;
        for (const auto& path : paths) names += (names.empty() ? "" : ", ") + path;
        return fail(errc::config, "no kubeconfig file exists: " + names);
    }
    return merge_kubeconfigs(std::move(files));
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto end = std::min(text.find(':'), text.size());
        if (end > 0) out.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
    // OpenSSL takes '-' for the end of the input and ignores what follows.
    if (text.contains('-') || text.size() > size_limit) return std::nullopt;
    const std::unique_ptr<EVP_ENCODE_CTX, decltype(&EVP_ENCODE_CTX_free)> state(
        EVP_ENCODE_CTX_new(), &EVP_ENCODE_CTX_free);
    std::string out(text.size() / 4 * 3 + 3, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    const auto* digits = reinterpret_cast<const unsigned char*>(text.data());
    int most = 0;
    int rest = 0;
    EVP_DecodeInit(state.get());
    if (EVP_DecodeUpdate(state.get(), bytes, &most, digits, static_cast<int>(text.size())) < 0 ||
        EVP_DecodeFinal(state.get(), bytes + most, &rest) < 0) {
        return std::nullopt;
    }
    out.resize(static_cast<std::size_t>(most + rest));
    return out;
}

result<std::string> read_small_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(errc::config, path + ": cannot be opened");
    std::string out(size_limit + 1, '\0');
    in.read(out.data(), static_cast<std::streamsize>(out.size()));
    if (in.bad()) return fail(errc::config, path + ": cannot be read");
    out.resize(static_cast<std::size_t>(in.gcount()));
    if (out.size() > size_limit) return fail(errc::config, path + ": is larger than 1 MiB");
    return out;
}

result<kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
    try {
        return file_reader(path).read(YAML::Load(std::string(text)));
    } catch (const fault& wrong) {
        return fail(errc::config, path + ": " + wrong.text);
    } catch (const YAML::Exception& wrong) {
        return fail(errc::config, path + ": " + wrong.what());
    }
}

kubeconfig merge_kubeconfigs(std::vector<kubeconfig> files) {
    kubeconfig out;
    for (auto& file : files) {
        if (out.current_context.empty()) out.current_context = file.current_context;
        out.clusters.merge(file.clusters);
        out.users.merge(file.users);
        out.contexts.merge(file.contexts);
    }
    return out;
}

result<cluster_access> select_context(const kubeconfig& config, std::string_view context) {
    const std::string name(context.empty() ? std::string_view(config.current_context) : context);
    if (name.empty()) {
        return fail(errc::config,
                    "kubeconfig: no current-context is set; choose one with --context");
    }
    const auto found = config.contexts.find(name);
    if (found == config.contexts.end()) {
        std::string known;
        for (const auto& [other, unused] : config.contexts) {
            known += (known.empty() ? "" : ", ") + other;
        }
        return fail(errc::config, "kubeconfig: there is no context \"" + name +
                                      "\" (there are: " + (known.empty() ? "none" : known) + ")");
    }
    cluster_access out;
    const auto cluster = config.clusters.find(found->second.cluster);
    if (cluster == config.clusters.end() || cluster->second.server.empty()) {
        return fail(errc::config, "kubeconfig: context \"" + name + "\" names the cluster \"" +
                                      found->second.cluster + "\", which has no server");
    }
    out.cluster = cluster->second;
    if (!out.cluster.proxy_url.empty()) {
        return fail(errc::config, "kubeconfig: cluster \"" + found->second.cluster +
                                      "\" has a proxy-url, which ESI does not speak");
    }
    const auto user = config.users.find(found->second.user);
    if (user != config.users.end()) {
        out.user = user->second;
    } else if (!found->second.user.empty()) {
        return fail(errc::config, "kubeconfig: context \"" + name + "\" names the user \"" +
                                      found->second.user + "\", who is not there");
    }
    if (!out.user.unsupported.empty()) {
        return fail(errc::config,
                    "kubeconfig: user \"" + found->second.user + "\" uses " + out.user.unsupported +
                        ", which ESI does not speak; use a certificate, a token or exec");
    }
    if (!found->second.ns.empty()) out.ns = found->second.ns;
    out.context = name;
    return out;
}

std::optional<cluster_access> in_cluster_access(const environment_lookup& environment,
                                                const std::string& mount) {
    auto host = environment("KUBERNETES_SERVICE_HOST");
    const auto port = environment("KUBERNETES_SERVICE_PORT");
    std::error_code ignored;
    if (host.empty() || port.empty() || !std::filesystem::exists(mount + "/token", ignored)) {
        return std::nullopt;
    }
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    cluster_access out;
    out.cluster.server = "https://" + host + ":" + port;
    out.cluster.ca.file = mount + "/ca.crt";
    out.user.token_file = mount + "/token";
    auto ns = read_small_file(mount + "/namespace");
    if (ns && !ns->empty()) out.ns = *ns;
    return out;
}

result<cluster_access> load_access(const std::string& file, const std::string& context,
                                   const environment_lookup& environment) {
    result<kubeconfig> config;
    const auto list = split_list(environment("KUBECONFIG"));
    if (!file.empty()) {
        config = read_files({file}, true);
    } else if (!list.empty()) {
        config = read_files(list, false);
    } else {
        if (auto pod = in_cluster_access(environment)) return std::move(*pod);
        config = read_files({environment("HOME") + "/.kube/config"}, false);
        if (!config) {
            config.error().text += "; give --kubeconfig, set KUBECONFIG, or run in a pod";
        }
    }
    if (!config) return std::unexpected(std::move(config).error());
    return select_context(*config, context);
}

result<cluster_access> load_access(const std::string& file, const std::string& context) {
    return load_access(file, context, [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value != nullptr ? value : "");
    });
}

}  // namespace esi::kube
