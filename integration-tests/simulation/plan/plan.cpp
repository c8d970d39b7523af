#include "plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/check.h"

namespace esi::simulation {

namespace {

json happenings_json(const std::vector<happening>& all) {
    json out = json::array();
    for (const auto& one : all) {
        out.push_back({{"at_ms", one.at.count()}, {"what", one.what}, {"with", one.with}});
    }
    return out;
}

std::unexpected<error> bad(std::string text) {
    return fail(errc::decode, "plan: " + std::move(text));
}

/// Null where the key is missing.
const json* member(const json& from, const char* key) {
    const auto at = from.find(key);
    return at == from.end() ? nullptr : &*at;
}

result<std::vector<happening>> happenings_from(const json& from, const char* key) {
    std::vector<happening> out;
    const auto* list = member(from, key);
    if (!list) return out;
    if (!list->is_array()) return bad(fmt::format("{} is not a list", key));
    for (const auto& one : *list) {
        const auto* at = one.is_object() ? member(one, "at_ms") : nullptr;
        const auto* what = one.is_object() ? member(one, "what") : nullptr;
        if (!at || !at->is_number_integer() || !what || !what->is_string()) {
            return bad(fmt::format("{} has an entry without at_ms and what: {}", key, one.dump()));
        }
        auto& made = out.emplace_back();
        made.at = milliseconds(at->get<std::int64_t>());
        made.what = what->get<std::string>();
        if (const auto* with = member(one, "with")) {
            if (!with->is_object()) return bad(fmt::format("{}: with is not an object", key));
            made.with = *with;
        }
    }
    return out;
}

result<std::string> text_from(const json& from, const char* key, std::string otherwise) {
    const auto* at = member(from, key);
    if (!at) return otherwise;
    if (!at->is_string()) return bad(fmt::format("{} is not a text", key));
    return at->get<std::string>();
}

}  // namespace

milliseconds plan::last() const {
    milliseconds out{0};
    for (const auto* list : {&workload, &faults}) {
        for (const auto& one : *list) out = std::max(out, one.at);
    }
    return out;
}

json to_json(const plan& what) {
    return {{"seed", what.seed},
            {"scenario", what.scenario},
            {"placement", what.placement},
            {"replicas", what.replicas},
            {"streaming_lists", what.streaming_lists},
            {"page_size", what.page_size},
            {"cross_namespace_jobs", what.cross_namespace_jobs},
            {"layouts", what.layouts},
            {"most_listed_slots", what.most_listed_slots},
            {"gangs", what.gangs},
            {"workload", happenings_json(what.workload)},
            {"faults", happenings_json(what.faults)},
            {"scripts", what.scripts},
            {"patience_ms", what.patience.count()}};
}

std::string to_text(const json& plan) {
    const auto members_of = [](const json& of, const std::string& between, auto text) {
        std::string out;
        for (const auto& [key, value] : of.items()) {
            out += (out.empty() ? "\n" : ",\n") + between;
            if (of.is_object()) out += json(key).dump() + ": ";
            out += text(value);
        }
        return out;
    };
    const auto value_text = [&](const json& value) {
        if (!value.is_structured() || value.empty()) return value.dump();
        const auto lines = members_of(value, "  ", [](const json& each) { return each.dump(); });
        return value.is_object() ? "{" + lines + "\n }" : "[" + lines + "\n ]";
    };
    return "{" + members_of(plan, " ", value_text) + "\n}\n";
}

result<plan> plan_from_json(const json& from) {
    if (!from.is_object()) return bad("not an object");
    plan out;
    if (const auto* seed = member(from, "seed")) {
        // A file written by hand has a signed number.
        if (!seed->is_number_integer()) return bad("seed is not an integer");
        out.seed = seed->get<std::uint64_t>();
    }
    auto scenario = text_from(from, "scenario", "");
    if (!scenario) return std::unexpected(scenario.error());
    out.scenario = std::move(*scenario);
    auto placement = text_from(from, "placement", "gate");
    if (!placement) return std::unexpected(placement.error());
    if (*placement != "gate" && *placement != "extender") {
        return bad(fmt::format("placement is {}, not gate or extender", *placement));
    }
    out.placement = std::move(*placement);
    if (const auto* replicas = member(from, "replicas")) {
        if (!replicas->is_number_integer() || replicas->get<std::int64_t>() < 1 ||
            replicas->get<std::int64_t>() > 9) {
            return bad("replicas is not a number from 1 to 9");
        }
        out.replicas = replicas->get<int>();
    }
    if (const auto* streaming = member(from, "streaming_lists")) {
        if (!streaming->is_boolean()) return bad("streaming_lists is neither true nor false");
        out.streaming_lists = streaming->get<bool>();
    }
    if (const auto* page = member(from, "page_size")) {
        if (!page->is_number_integer() || page->get<std::int64_t>() < 0 ||
            page->get<std::int64_t>() > 1000000) {
            return bad("page_size is not a number of objects");
        }
        out.page_size = page->get<int>();
    }
    if (const auto* cross = member(from, "cross_namespace_jobs")) {
        if (!cross->is_boolean()) return bad("cross_namespace_jobs is neither true nor false");
        out.cross_namespace_jobs = cross->get<bool>();
    }
    auto layouts = text_from(from, "layouts", "listed");
    if (!layouts) return std::unexpected(layouts.error());
    if (*layouts != "listed" && *layouts != "compact" && *layouts != "alternating") {
        return bad(fmt::format("layouts is {}, not listed, compact or alternating", *layouts));
    }
    out.layouts = std::move(*layouts);
    if (const auto* most = member(from, "most_listed_slots")) {
        if (!most->is_number_integer() || most->get<std::int64_t>() < 0 ||
            most->get<std::int64_t>() > most_listed_by_default) {
            return bad(
                fmt::format("most_listed_slots is not from 0 to {}", most_listed_by_default));
        }
        out.most_listed_slots = most->get<int>();
    }
    if (const auto* gangs = member(from, "gangs")) {
        if (!gangs->is_boolean()) return bad("gangs is neither true nor false");
        out.gangs = gangs->get<bool>();
    }
    auto workload = happenings_from(from, "workload");
    if (!workload) return std::unexpected(workload.error());
    out.workload = std::move(*workload);
    auto faults = happenings_from(from, "faults");
    if (!faults) return std::unexpected(faults.error());
    out.faults = std::move(*faults);
    if (const auto* scripts = member(from, "scripts")) {
        if (!scripts->is_object()) return bad("scripts is not an object");
        out.scripts = *scripts;
    }
    if (const auto* patience = member(from, "patience_ms")) {
        if (!patience->is_number_integer()) return bad("patience_ms is not an integer");
        out.patience = milliseconds(patience->get<std::int64_t>());
        if (out.patience < milliseconds(0) || out.patience > longest_time) {
            return bad(fmt::format("patience_ms is not from 0 to {}", longest_time.count()));
        }
    }
    const auto wrong = faults_of_plan(out);
    if (!wrong.empty()) return bad(fmt::format("{}", fmt::join(wrong, "; ")));
    return out;
}

}  // namespace esi::simulation
