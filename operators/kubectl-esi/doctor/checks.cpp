#include "kubectl-esi/doctor/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace esi::kubectl::doctor {

void add(std::vector<finding>& to, std::string_view how_bad, std::string object, std::string text,
         std::string remedy) {
    to.push_back({"", std::string(how_bad), std::move(object), std::move(text), std::move(remedy)});
}

std::string text_of(std::string_view kind, const model::object_meta& of) {
    return fmt::format("{} {}", kind, of.key().text());
}

std::string in_namespace(const model::object_meta& of) { return " -n " + of.namespace_; }

bool is_older_than(const std::optional<model::timestamp>& since, seconds time, wall_time now) {
    return since && now - since->value > time;
}

bool is_hidden(const facts& at, std::string_view plural, std::vector<finding>& found) {
    if (!at.hidden.contains(std::string(plural))) return false;
    add(found, severity::unknown, std::string(plural), "you may not list them",
        fmt::format("kubectl auth can-i list {}", plural));
    return true;
}

std::span<const check> checks() {
    static const auto all = [] {
        std::vector<check> out;
        std::ranges::copy(checks_of_installation(), std::back_inserter(out));
        std::ranges::copy(checks_of_testbeds(), std::back_inserter(out));
        std::ranges::copy(checks_of_objects(), std::back_inserter(out));
        return out;
    }();
    return all;
}

std::vector<finding> findings_of(const facts& at) {
    std::vector<finding> out;
    for (const auto& each : checks()) {
        const auto before = out.size();
        each.look(at, out);
        for (auto i = before; i < out.size(); ++i) out[i].check = each.name;
    }
    return out;
}

}  // namespace esi::kubectl::doctor
