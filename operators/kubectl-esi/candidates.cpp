#include "kubectl-esi/candidates.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "kubectl-esi/read/world.h"
#include "model/meta.h"

namespace esi::kubectl::completion {

namespace {

namespace types = kube::types;

/// The shell offers at most this many objects of a namespace.
constexpr int most_names = 500;

const CLI::Option* flag_named(const CLI::App* at, const std::string& word) {
    for (; at != nullptr; at = at->get_parent()) {
        for (const auto* option : at->get_options()) {
            if (option->check_name(word) && !option->get_positional()) return option;
        }
    }
    return nullptr;
}

bool takes_value(const CLI::Option& flag) { return flag.get_expected_max() > 0; }

/// The command with its parents: "explain job".
std::string path_of(const CLI::App* at) {
    std::string out;
    for (; at != nullptr && at->get_parent() != nullptr; at = at->get_parent()) {
        out = at->get_name() + (out.empty() ? "" : " ") + out;
    }
    return out;
}

named kind_of(const std::string& command, const std::string& name) {
    for (const auto& each : argument_kinds()) {
        if (each.name == name && (each.command.empty() || each.command == command))
            return each.kind;
    }
    return named::nothing;
}

/// The values of a flag that has only a few.
std::vector<std::string> values_of(const std::string& flag) {
    if (flag == "--output") return {"table", "wide", "json", "yaml"};
    if (flag == "--format") return {"csv", "jsonl", "trace"};
    return {};
}

std::string long_name(const CLI::Option& of) {
    const auto& names = of.get_lnames();
    return names.empty() ? std::string() : "--" + names.front();
}

void take(general_flags& flags, const std::string& flag, const std::string& value) {
    if (flag == "--kubeconfig") flags.kubeconfig = value;
    if (flag == "--context") flags.context = value;
    if (flag == "--namespace") flags.ns = value;
}

void offer(question& to, const std::string& word, const std::string& text) {
    if (word.starts_with(to.prefix)) to.fixed.push_back({word, text});
}

void offer_value(question& to, const std::string& command, const std::string& flag) {
    for (const auto& each : values_of(flag)) offer(to, each, {});
    to.names = kind_of(command, flag);
}

void offer_flags(question& to, const CLI::App* at) {
    for (; at != nullptr; at = at->get_parent()) {
        for (const auto* option : at->get_options()) {
            const auto name = long_name(*option);
            if (!name.empty()) offer(to, name, option->get_description());
        }
    }
}

void offer_commands(question& to, const CLI::App* at) {
    for (const auto* each : at->get_subcommands([](const CLI::App*) { return true; })) {
        offer(to, each->get_name(), each->get_description());
    }
}

/// The positional argument at this place; if there are several, the last may take many words.
std::string positional(const CLI::App* at, std::size_t place) {
    std::string out;
    std::size_t count = 0;
    for (const auto* option : at->get_options()) {
        if (!option->get_positional()) continue;
        out = option->get_name(true, false);
        if (count++ == place) return out;
        if (option->get_expected_max() <= 1) out.clear();
    }
    return out;
}

const CLI::App* command_named(const CLI::App* at, const std::string& word) {
    for (const auto* each : at->get_subcommands([](const CLI::App*) { return true; })) {
        if (each->check_name(word)) return each;
    }
    return nullptr;
}

/// Splits "a,b,c": what precedes "c" goes in front of the candidates.
void split_list(question& to) {
    const auto comma = to.prefix.rfind(',');
    if (to.names != named::nodes || comma == std::string::npos) return;
    to.before += to.prefix.substr(0, comma + 1);
    to.prefix.erase(0, comma + 1);
}

}  // namespace

question ask(const CLI::App& app, const std::vector<std::string>& words) {
    question out;
    const CLI::App* at = &app;
    const CLI::Option* open = nullptr;  // the flag that waits for its value
    std::size_t positionals = 0;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto& word = words[i];
        if (open != nullptr) {
            take(out.flags, long_name(*open), word);
            open = nullptr;
        } else if (word.starts_with("-") && word != "-") {
            const auto equals = word.find('=');
            const auto* flag = flag_named(at, word.substr(0, equals));
            if (flag == nullptr) continue;
            if (equals != std::string::npos) {
                take(out.flags, long_name(*flag), word.substr(equals + 1));
            } else if (takes_value(*flag)) {
                open = flag;
            } else if (flag->check_name("--all-namespaces")) {
                out.flags.all_namespaces = true;
            }
        } else if (const auto* next = command_named(at, word)) {
            at = next;
            positionals = 0;
        } else {
            ++positionals;
        }
    }
    out.prefix = words.empty() ? std::string() : words.back();
    const auto command = path_of(at);
    if (open != nullptr) {
        offer_value(out, command, long_name(*open));
        split_list(out);
        return out;
    }
    if (out.prefix.starts_with("-")) {
        const auto equals = out.prefix.find('=');
        if (equals == std::string::npos) {
            offer_flags(out, at);
            return out;
        }
        out.before = out.prefix.substr(0, equals + 1);
        const auto* flag = flag_named(at, out.prefix.substr(0, equals));
        out.prefix.erase(0, equals + 1);
        if (flag != nullptr) offer_value(out, command, long_name(*flag));
        split_list(out);
        return out;
    }
    offer_commands(out, at);
    const auto argument = positional(at, positionals);
    if (command == "completion" && positionals == 0) {
        for (const char* each : {"bash", "zsh", "fish", "kubectl"}) offer(out, each, {});
    }
    if (!argument.empty()) out.names = kind_of(command, argument);
    return out;
}

asio::awaitable<std::vector<std::string>> names_of(session& in, named what) {
    const kube::resource_type* type = nullptr;
    switch (what) {
        case named::testbeds:
            type = &types::testbed;
            break;
        case named::jobs:
            type = &types::batchjob;
            break;
        case named::schedulings:
            type = &types::scheduling;
            break;
        case named::pods:
            type = &types::pod;
            break;
        case named::nodes:
            type = &types::node;
            break;
        case named::namespaces:
            type = &types::name_space;
            break;
        default:
            co_return std::vector<std::string>();
    }
    kube::list_options some;
    some.limit = most_names;
    auto list = co_await kube::live_list<model::metadata_only>(
        in.api, *type, type->namespaced ? in.own_namespace() : std::string(), some);
    std::vector<std::string> out;
    if (!list) co_return out;
    for (const auto& each : *list) out.push_back(each.metadata.name);
    std::ranges::sort(out);
    co_return out;
}

std::vector<std::string> contexts_of(const general_flags& flags) {
    std::vector<kube::kubeconfig> files;
    std::vector<std::string> paths{flags.kubeconfig};
    if (flags.kubeconfig.empty()) {
        const char* home = std::getenv("HOME");
        const char* list = std::getenv("KUBECONFIG");
        paths = {list != nullptr && *list != '\0'
                     ? std::string(list)
                     : std::string(home ? home : "") + "/.kube/config"};
    }
    for (auto rest = paths.front(); !rest.empty();) {
        const auto colon = rest.find(':');
        const auto path = rest.substr(0, colon);
        rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
        const auto text = kube::read_small_file(path);
        if (!text) continue;
        auto read = kube::parse_kubeconfig(*text, path);
        if (read) files.push_back(std::move(*read));
    }
    std::vector<std::string> out;
    for (const auto& [name, entry] : kube::merge_kubeconfigs(std::move(files)).contexts) {
        out.push_back(name);
    }
    return out;
}

std::string answer_text(const question& of, const std::vector<std::string>& names) {
    std::string out;
    for (const auto& [word, text] : of.fixed) {
        out += of.before + word;
        if (!text.empty()) out += "\t" + text;
        out += "\n";
    }
    for (const auto& each : names) {
        if (each.starts_with(of.prefix)) out += of.before + each + "\n";
    }
    return out + (of.names == named::files ? ":0\n" : ":4\n");
}

}  // namespace esi::kubectl::completion
