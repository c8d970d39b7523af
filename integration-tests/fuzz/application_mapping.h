// What is asked of every mapping of a BatchJob's spec to an application, whatever its kind.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "batchjob/backends/testing.h"
#include "model/names.h"
#include "target.h"

namespace esi::fuzz {

using nlohmann::json;
namespace keys = model::names;

inline bool contains(const json& list, const json& item) {
    return std::ranges::find(list, item) != list.end();
}

/// What every pod that takes a slot has, whatever the user wrote.
inline void check_slot_pod(const json& pod, const batchjob::placement_options& options) {
    require(pod.at("schedulerName") == options.scheduler() &&
                pod.at("priorityClassName") == options.priority_class() &&
                !pod.contains("nodeName") && !pod.contains("priority") &&
                !pod.contains("preemptionPolicy"),
            "goes past the scheduler: {}", pod.dump());
    require(contains(pod.at("tolerations"), {{"key", keys::taint}, {"operator", "Exists"}}),
            "is kept out by the taint");
    const auto grace = pod.value("terminationGracePeriodSeconds", json());
    require(grace.is_null() || (grace.is_number_integer() && grace.dump().size() <= 20 &&
                                grace.get<double>() <= 120),
            "may take longer than 120 s to end: {}", grace.dump());
    if (!options.extender) {
        require(contains(pod.at("schedulingGates"), {{"name", keys::gate}}), "has no gate");
    }
}

/// `map` builds the application, `check` looks at one that was built.
template <class Map, class Check>
void check_mapping(std::string_view text, bool extender, Map map, Check check) {
    batchjob::placement_options options;
    options.extender = extender;
    const auto request = batchjob::request_for(std::string(text));
    const auto got = map(request, options);
    if (!got) {
        require(!got.error().reason.empty() && !got.error().text.empty() &&
                    got.error().reason.find(' ') == std::string::npos,
                "refused without a reason");
        return;
    }
    check(got->object, options);
    const auto again = map(request, options);
    require(again && again->object == got->object, "not a function of its input");
}

}  // namespace esi::fuzz
