#include "sweep/properties.h"
#include "base/source_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace esi::simulation {
namespace {

const trial* find(const std::vector<trial>& all, std::string_view label) {
    const auto found = std::ranges::find(all, label, &trial::label);
    return found == all.end() ? nullptr : &*found;
}

property of(std::vector<std::string> path, json schema, bool required = false) {
    return {std::move(path), std::move(schema), required};
}

TEST(properties, are_those_of_the_schema_down_to_the_members_of_lists) {
    std::set<std::string> names;
    for (const auto& one : properties(spec_schema(source_folder() + "/crds/scheduling.yaml"))) {
        names.insert(one.name());
    }
    const std::set<std::string> expected = {"testbed",
                                            "testbed.namespace",
                                            "testbed.name",
                                            "claim",
                                            "queueBased",
                                            "queueBased.0",
                                            "queueBased.0.namespace",
                                            "queueBased.0.name",
                                            "slotBased",
                                            "slotBased.mode",
                                            "slotBased.jobs",
                                            "slotBased.jobs.0",
                                            "slotBased.jobs.0.name",
                                            "slotBased.jobs.0.name.namespace",
                                            "slotBased.jobs.0.name.name",
                                            "slotBased.jobs.0.slotIds",
                                            "slotBased.jobs.0.slotIds.0",
                                            "poolBased",
                                            "poolBased.jobs",
                                            "poolBased.jobs.0",
                                            "poolBased.jobs.0.name",
                                            "poolBased.jobs.0.name.namespace",
                                            "poolBased.jobs.0.name.name",
                                            "poolBased.jobs.0.slots",
                                            "releaseOnCompletion",
                                            "submitTimeoutSeconds",
                                            "scheduleTimeoutSeconds",
                                            "suspend",
                                            "suspendPolicy",
                                            "priority",
                                            "cancelledJobs",
                                            "cancelledJobs.0",
                                            "cancelledJobs.0.namespace",
                                            "cancelledJobs.0.name",
                                            "activeDeadlineSeconds",
                                            "jobPolicies",
                                            "jobPolicies.0",
                                            "jobPolicies.0.name",
                                            "jobPolicies.0.name.namespace",
                                            "jobPolicies.0.name.name",
                                            "jobPolicies.0.backoffLimit",
                                            "jobPolicies.0.retryDelaySeconds",
                                            "ttlSecondsAfterFinished"};
    // Of a claim, the way down is what matters here.
    EXPECT_TRUE(names.contains("claim.shapes.0.constraints.tolerations.0.effect"));
    std::erase_if(names, [](const auto& name) { return name.starts_with("claim."); });
    EXPECT_EQ(names, expected);
}

TEST(properties, tell_where_they_are) {
    const auto one = of({"slotBased", "jobs", "0", "slotIds"}, json::object());
    EXPECT_EQ(one.name(), "slotBased.jobs.0.slotIds");
    const json spec = {{"slotBased", {{"jobs", {{{"slotIds", {4, 5}}}}}}}};
    EXPECT_EQ(spec.at(one.pointer()), json({4, 5}));
}

TEST(trials, go_to_both_sides_of_a_bound) {
    const auto all =
        trials(of({"slotsPerNode"}, {{"type", "integer"}, {"minimum", 1}, {"maximum", 110}}), 2);
    std::map<std::int64_t, bool> forbidden;
    for (const auto& one : all) {
        if (one.value && one.value->is_number_integer()) {
            forbidden[one.value->get<std::int64_t>()] = one.forbidden;
        }
    }
    EXPECT_EQ(forbidden, (std::map<std::int64_t, bool>{
                             {0, true}, {1, false}, {3, false}, {110, false}, {111, true}}));
}

TEST(trials, may_take_away_what_is_not_required) {
    const json text = {{"type", "string"}};
    EXPECT_FALSE(find(trials(of({"a"}, text), "x"), "absent")->forbidden);
    EXPECT_TRUE(find(trials(of({"a"}, text, true), "x"), "absent")->forbidden);
    EXPECT_EQ(find(trials(of({"list", "0"}, text, true), "x"), "absent"), nullptr);
}

TEST(trials, know_that_a_default_stands_in_for_what_is_absent) {
    const json schema = {{"type", "integer"}, {"default", 600}};
    EXPECT_FALSE(find(trials(of({"a"}, schema, true), 1), "null")->forbidden);
}

TEST(trials, are_of_every_other_type) {
    std::set<std::string> labels;
    for (const auto& one : trials(of({"a"}, {{"type", "boolean"}}), false)) {
        if (one.label.starts_with("as-")) {
            EXPECT_TRUE(one.forbidden) << one.label;
            labels.insert(one.label);
        }
    }
    EXPECT_EQ(labels, (std::set<std::string>{"as-object", "as-array", "as-string", "as-integer",
                                             "as-number"}));
}

TEST(trials, fill_a_list_to_its_bound_and_beyond) {
    const json schema = {
        {"type", "array"}, {"minItems", 1}, {"maxItems", 3}, {"x-kubernetes-list-type", "set"}};
    const auto all = trials(of({"slotIds"}, schema), json{5});
    EXPECT_TRUE(find(all, "empty")->forbidden);
    EXPECT_TRUE(find(all, "twice")->forbidden);
    EXPECT_FALSE(find(all, "most")->forbidden);
    EXPECT_EQ(find(all, "most")->value, json({0, 1, 2}));
    EXPECT_TRUE(find(all, "too-many")->forbidden);
}

TEST(trials, leave_out_what_is_written_there_already) {
    const json schema = {{"type", "string"}, {"enum", {"strict", "relaxed"}}};
    const auto all = trials(of({"mode"}, schema), "strict");
    EXPECT_EQ(find(all, "choice-strict"), nullptr);
    EXPECT_NE(find(all, "choice-relaxed"), nullptr);
}

}  // namespace
}  // namespace esi::simulation
