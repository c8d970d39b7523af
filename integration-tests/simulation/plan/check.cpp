#include "plan/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/application_kinds.h"
#include "base/group_kinds.h"
#include "base/operators.h"

namespace esi::simulation {

namespace {

using words = std::vector<std::string>;

words words_of(std::string_view text) {
    std::istringstream in{std::string(text)};
    words out;
    for (std::string word; in >> word;) out.push_back(std::move(word));
    return out;
}

/// The keys of each happening, those that may be left out with a question mark.
const std::map<std::string, words, std::less<>>& keys_of_happenings() {
    static const auto all = [] {
        const std::pair<const char*, const char*> of_infrastructure[] = {
            {"crash", "operator replica down_ms"},
            {"crash-at-write", "operator nth when down_ms"},
            {"terminate", "operator replica down_ms? kill_ms?"},
            {"replace", "operator replica kill_ms?"},
            {"pause", "operator replica ms"},
            {"clock-jump", "operator replica seconds"},
            {"request", "operator fault nth? kind? times? delay_ms? seconds?"},
            {"watch", "operator plural fault for_ms?"},
            {"lag", "operator replica? plural lag_ms for_ms"},
            {"stale-restart", "operator replica back_ms down_ms?"},
            {"compact", ""},
            {"page-expires", "operator"},
            {"extender-call", "fault nth? times? delay_ms?"},
            {"extender-down", "for_ms"},
            {"api-down", "for_ms everybody?"},
            {"neighbour-crash", "name down_ms"},
            {"neighbour-slow", "name least_ms most_ms for_ms"},
            {"crd", "plural installed"},
            {"members", "ns? name count template again? cpus? fails?"},
            {"members-gone", "ns? name"},
        };
        const std::pair<const char*, const char*> of_people[] = {
            {"create", "object"},
            {"delete", "kind ns? name grace?"},
            {"patch", "kind ns? name type? patch subresource?"},
            {"extend", "ns? name jobs"},
            {"reset", "ns? name value"},
            {"edit-spec", "kind ns? name patch? entry? nth? slots? back_ms?"},
            {"edit-status", "kind ns? name patch"},
            {"strip", "kind ns? name part"},
            {"strip-ghost", "ns? name nth part"},
            {"strip-job-pod", "ns? name nth part"},
            {"delete-ghost", "ns? name nth grace?"},
            {"keep-ghost", "ns? name nth for_ms?"},
            {"delete-job-pod", "ns? name nth grace?"},
            {"evict", "ns? name of nth"},
            {"executor-crash", "ns? name nth code?"},
            {"driver-crash", "ns? name code?"},
            {"pod-hangs", "ns? name nth for_ms"},
            {"delete-application", "ns? name"},
            {"cancel-job", "ns? name"},
            {"recreate", "kind ns? name after_ms?"},
            {"release-by-hand", "ns? name"},
            {"take-hold", "ns? name"},
            {"copy-token", "ns? name nth pod node? for_ms?"},
            {"forge-pod", "ns? name nth pod in? node slot owner? gated? keep? bulk?"},
            {"forge-order", "ns? name slots in? job?"},
            {"forge-scheduling", "ns? name job slots? scheduling? label?"},
            {"forge-testbed", "label"},
            {"keep-job-pod", "ns? name nth"},
            {"deep-spec", "ns? name depth? kib? back_ms?"},
            {"node-gone", "name back_ms?"},
            {"node-relabel", "name label value back_ms?"},
            {"node-cordon", "name back_ms?"},
            {"node-drain", "name back_ms?"},
            {"node-shrink", "name allocatable back_ms?"},
            {"node-not-ready", "name back_ms?"},
            {"namespace-delete", "name back_ms?"},
        };
        std::map<std::string, words, std::less<>> out;
        for (const auto& [what, keys] : of_infrastructure) out.emplace(what, words_of(keys));
        for (const auto& [what, keys] : of_people) {
            out.emplace(what, words_of(keys)).first->second.push_back("when?");
        }
        return out;
    }();
    return all;
}

/// The values that a key may have, where there is a list of them.
std::optional<words> values_of(std::string_view what, std::string_view key) {
    const auto list = [](const char* text) { return std::optional(words_of(text)); };
    const auto with_applications = [](const char* text) {
        auto out = words_of(text);
        for (const auto& kind : application_kinds()) out.emplace_back(kind.type->plural);
        return std::optional(std::move(out));
    };
    const auto with_groups = [](std::optional<words> out) {
        for (const auto& kind : group_kinds()) {
            if (kind.type) out->emplace_back(known_as(*kind.type));
        }
        return out;
    };
    if (key == "operator") return operator_names();
    if (key == "when" && what == "crash-at-write") return list("before after");
    if (key == "fault") {
        if (what == "request") {
            return list(
                "lost-answer never-arrives delay late 409 410 422 403 404 429 500 503 "
                "429-retry-after 504-applied reset");
        }
        if (what == "watch") {
            return list(
                "end reset silent 410-status 410-event duplicate garbage half-line bookmark-only");
        }
        return list("reset never-arrives lost-answer delay late 500 503");
    }
    if (key == "kind") {
        if (what == "request") return list("all reads writes lists leases");
        return with_groups(with_applications(
            "nodes namespaces priorityclasses pods deployments testbeds batchjobs schedulings"));
    }
    if (key == "plural") {
        if (what == "crd") return with_groups(with_applications(""));
        return with_groups(with_applications(
            "* nodes pods testbeds batchjobs schedulings testbedslotslices namespaces leases "
            "customresourcedefinitions"));
    }
    if (key == "name" && what.starts_with("neighbour-")) {
        auto out =
            words_of("kube-scheduler external-scheduler kubelet controllers member-controllers");
        for (const auto& kind : application_kinds()) {
            out.insert(out.end(), kind.neighbours.begin(), kind.neighbours.end());
        }
        return out;
    }
    if (key == "owner") return list("none same");
    if (key == "again") return list("always failed");
    if (key == "part") return list("labels annotations finalizers owner");
    if (key == "of") return list("job testbed");
    if (key == "type") return list("merge json strategic");
    if (key == "entry") return list("drop swap again slots");
    return std::nullopt;
}

std::string number_fault(const json& value, std::int64_t least, std::int64_t most) {
    // A number beyond the signed ones is of the unsigned kind.
    const bool whole = value.is_number_integer() &&
                       (!value.is_number_unsigned() ||
                        value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most));
    if (whole && value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most) return {};
    return fmt::format("is {}, not a whole number from {} to {}", value.dump(), least, most);
}

std::string when_fault(const json& value) {
    if (!value.is_object()) return "is not an object";
    for (const char* key : {"kind", "name", "at"}) {
        if (!value.contains(key) || !value[key].is_string()) {
            return fmt::format("has no {}", key);
        }
    }
    try {
        json::json_pointer{value["at"].get<std::string>()};
    } catch (const json::exception&) {
        return fmt::format("has \"{}\" for at, which is no JSON pointer",
                           value["at"].get<std::string>());
    }
    if (value.contains("is") && !value["is"].is_array()) return "has an `is` that is not a list";
    if (value.contains("for_ms")) return number_fault(value["for_ms"], 0, longest_time.count());
    return {};
}

/// Empty: it may be so.
std::string value_fault(std::string_view what, std::string_view key, const json& value) {
    if (const auto values = values_of(what, key)) {
        const bool known =
            value.is_string() &&
            std::ranges::find(*values, value.get_ref<const std::string&>()) != values->end();
        return known ? std::string()
                     : fmt::format("is {}, not one of: {}", value.dump(), fmt::join(*values, ", "));
    }
    constexpr std::int64_t many = 1000000;
    if (key == "ms" || key.ends_with("_ms")) return number_fault(value, 0, longest_time.count());
    if (key == "seconds") {
        const auto most = std::chrono::duration_cast<seconds>(longest_time).count();
        return number_fault(value, -most, most);
    }
    if (key == "depth" || key == "kib") return number_fault(value, 1, 5000);
    if (key == "nth" || key == "slot" || key == "replica" || key == "times" || key == "count" ||
        key == "fails" || key == "grace" || key == "code") {
        return number_fault(value, 0, many);
    }
    if (key == "when") return when_fault(value);
    if (key == "everybody" || key == "installed" || key == "gated" || key == "keep" ||
        key == "bulk") {
        return value.is_boolean() ? "" : "is neither true nor false";
    }
    if (key == "object" || key == "allocatable" || key == "template")
        return value.is_object() ? "" : "is not an object";
    if (key == "jobs" || key == "slots" || key == "cpus")
        return value.is_array() ? "" : "is not a list";
    // A patch may be a list, a label's value null, a reset anything.
    if (key == "patch" || key == "value") return {};
    return value.is_string() ? "" : "is not a text";
}

void check(const happening& one, std::string_view list, std::size_t number,
           std::vector<std::string>& out) {
    const auto name = fmt::format("{}[{}] {}", list, number, one.what);
    if (one.at < milliseconds(0) || one.at > longest_time) {
        out.push_back(fmt::format("{}: at_ms is {}, not from 0 to {}", name, one.at.count(),
                                  longest_time.count()));
    }
    const auto found = keys_of_happenings().find(one.what);
    if (found == keys_of_happenings().end()) {
        out.push_back(name + ": there is no such happening");
        return;
    }
    for (const auto& key : found->second) {
        if (!key.ends_with('?') && !one.with.contains(key)) {
            out.push_back(fmt::format("{}: {} is missing", name, key));
        }
    }
    for (const auto& [key, value] : one.with.items()) {
        const auto& keys = found->second;
        const bool known = std::ranges::find(keys, key) != keys.end() ||
                           std::ranges::find(keys, key + "?") != keys.end();
        const auto wrong = known ? value_fault(one.what, key, value) : "is not known here";
        if (!wrong.empty()) out.push_back(fmt::format("{}: {} {}", name, key, wrong));
    }
}

}  // namespace

std::vector<std::string> faults_of_plan(const plan& what) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < what.workload.size(); ++i)
        check(what.workload[i], "workload", i, out);
    for (std::size_t i = 0; i < what.faults.size(); ++i) check(what.faults[i], "faults", i, out);
    return out;
}

}  // namespace esi::simulation
