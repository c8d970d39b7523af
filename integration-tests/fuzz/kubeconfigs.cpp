// Kubeconfig files and what credential plugins print. Oracles: every refusal is a config error that
// names the file; what is chosen is complete; a kubeconfig written as JSON (which is YAML, too) has
// the fields that nlohmann reads; base64 decodes to what encodes to it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/auth/exec_plugin.h"
#include "kube/auth/kubeconfig.h"
#include "one_meaning.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;

constexpr const char* path = "/folder/config";

bool is_absolute(const std::string& file) { return file.empty() || file.front() == '/'; }

void check_fields(const kube::kubeconfig& config) {
    for (const auto& [name, cluster] : config.clusters) {
        require(!name.empty() && is_absolute(cluster.ca.file), "cluster {}", name);
    }
    for (const auto& [name, user] : config.users) {
        require(!name.empty() && is_absolute(user.client_certificate.file) &&
                    is_absolute(user.client_key.file) && is_absolute(user.token_file),
                "user {}", name);
        if (!user.exec) continue;
        require(!user.exec->command.empty() && (user.exec->command.find('/') == std::string::npos ||
                                                user.exec->command.front() == '/'),
                "command {}", user.exec->command);
        const auto info = kube::exec_info(*user.exec, {}, "pem");
        require(json::accept(info), "told to the plugin: {}", info);
    }
}

void check_choices(const kube::kubeconfig& config) {
    auto names = std::vector<std::string>{"", "nobody's"};
    for (const auto& [name, unused] : config.contexts) names.push_back(name);
    for (const auto& name : names) {
        const auto chosen = kube::select_context(config, name);
        if (!chosen) {
            require(chosen.error().code == errc::config && !chosen.error().text.empty(),
                    "context {} is refused", name);
            continue;
        }
        const auto& wanted = name.empty() ? config.current_context : name;
        require(config.contexts.contains(wanted), "context {} is not there", wanted);
        const auto& context = config.contexts.find(wanted)->second;
        require(!chosen->cluster.server.empty() && chosen->cluster.proxy_url.empty() &&
                    chosen->user.unsupported.empty() &&
                    chosen->ns == (context.ns.empty() ? "default" : context.ns),
                "context {} is chosen", wanted);
        require(context.user.empty() || config.users.contains(context.user), "without a user");
    }
    // Of a key that two files have, the first one stands: with itself nothing changes.
    const auto merged = kube::merge_kubeconfigs({config, config});
    require(merged.current_context == config.current_context &&
                merged.clusters.size() == config.clusters.size() &&
                merged.users.size() == config.users.size() &&
                merged.contexts.size() == config.contexts.size(),
            "merged with itself it is another");
}

std::string text_at(const json& from, const char* key) {
    const auto found = from.find(key);
    return found == from.end() || !found->is_string() ? "" : found->get<std::string>();
}

/// The contexts and servers as JSON has them.
void second_opinion(std::string_view text, const kube::kubeconfig& config) {
    // YAML reads escapes and the characters that JSON lets stand in texts in its own way.
    const bool plain = std::ranges::all_of(
        text, [](char c) { return (c >= ' ' && c <= '~' && c != '\\') || c == '\n'; });
    const auto file = plain ? json::parse(text, nullptr, false) : json();
    if (!file.is_object() || !one_meaning(text)) return;
    require(text_at(file, "current-context") == config.current_context ||
                !file["current-context"].is_string(),
            "current-context is \"{}\"", config.current_context);
    for (const auto& [list, part] : {std::pair{"clusters", "cluster"}, {"contexts", "context"}}) {
        const auto items = file.find(list);
        if (items == file.end() || !items->is_array()) continue;
        std::set<std::string> seen;
        for (const auto& item : *items) {
            if (!item.is_object()) continue;
            const auto name = text_at(item, "name");
            const auto inner = item.find(part);
            if (name.empty() || !seen.insert(name).second || inner == item.end() ||
                !inner->is_object()) {
                continue;
            }
            if (std::string_view(part) == "cluster") {
                const auto found = config.clusters.find(name);
                require(found != config.clusters.end(), "cluster {} is not there", name);
                const auto server = inner->find("server");
                require(server == inner->end() || !server->is_string() ||
                            json(found->second.server) == *server,
                        "server {}", found->second.server);
            } else {
                const auto found = config.contexts.find(name);
                require(found != config.contexts.end(), "context {} is not there", name);
                const auto user = inner->find("user");
                require(
                    user == inner->end() || !user->is_string() || json(found->second.user) == *user,
                    "user {}", found->second.user);
            }
        }
    }
}

void base64(std::string_view text) {
    const auto got = kube::decode_base64(text);
    if (!got) return;
    static constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string sent;
    for (char c : text) {
        if (!std::string_view(" \t\r\n").contains(c)) sent += c;
    }
    require(sent.size() % 4 == 0 && got->size() <= sent.size() / 4 * 3 &&
                got->size() + 2 >= sent.size() / 4 * 3,
            "base64 of {} characters is {} bytes", sent.size(), got->size());
    std::string again;
    for (std::size_t i = 0; i < got->size(); i += 3) {
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits =
                bits << 8 | (i + k < got->size() ? static_cast<unsigned char>((*got)[i + k]) : 0u);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const bool there = i + k <= got->size();
            again += there ? digits[bits >> (18 - 6 * k) & 63] : '=';
        }
    }
    // The bits behind the last byte may be anything; two readers agree on all the others.
    require(again.size() == sent.size(), "base64 of another length");
    const auto same = std::min(again.size(), again.find('=')) / 4 * 4;
    require(again.substr(0, same) == sent.substr(0, same), "base64 of other bytes");
}

void credential(std::string_view text) {
    constexpr std::string_view version = "client.authentication.k8s.io/v1";
    const auto got = kube::parse_exec_credential(text, version);
    if (!got) {
        require(got.error().code == errc::config, "refused as {}", to_string(got.error().code));
        return;
    }
    require(!got->token.empty() || !got->certificate_pem.empty(), "nothing is in the credential");
    require(got->certificate_pem.empty() == got->key_pem.empty(), "half a pair");
    const auto parsed = json::parse(text);
    require(parsed.at("kind") == "ExecCredential" && parsed.at("apiVersion") == version &&
                got->token == text_at(parsed.at("status"), "token"),
            "another credential");
}

void kubeconfigs(std::string_view text) {
    base64(text);
    credential(text);
    const auto got = kube::parse_kubeconfig(text, path);
    if (!got) {
        require(got.error().code == errc::config && got.error().text.starts_with(path),
                "the refusal does not name the file: {}", got.error().text);
        return;
    }
    check_fields(*got);
    check_choices(*got);
    second_opinion(text, *got);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(kubeconfigs, esi::fuzz::kubeconfigs)
