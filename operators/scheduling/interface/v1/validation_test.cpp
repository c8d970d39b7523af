#include "scheduling/interface/v1/validation.h"

#include <gtest/gtest.h>

#include <random>

#include "scheduling/interface/v1/causes.h"
#include "scheduling/interface/v1/problems.h"
#include "scheduling/interface/v1/scheduling_body.h"

namespace esi::scheduling::v1 {
namespace {

using nlohmann::json;

json example() {
    return json::parse(
        R"({"metadata": {"name": "s", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"testbed": {"name": "t"}, "priority": 3, "suspend": false,
                 "slotBased": {"mode": "strict", "jobs": [{"name": {"name": "a"}, "slotIds": [0, 1]}]},
                 "jobPolicies": [{"name": {"name": "a"}, "backoffLimit": 2}]}})");
}

/// All values below, in order.
void collect(json& in, std::vector<json*>& all) {
    all.push_back(&in);
    if (!in.is_structured()) return;
    for (auto& each : in) collect(each, all);
}

TEST(scheduling_body, any_json_is_read_or_refused_with_its_faults) {
    std::mt19937 random(20261124);
    const std::vector<json> values{nullptr,
                                   true,
                                   -1,
                                   0,
                                   5000000000,
                                   1.5,
                                   "",
                                   "x",
                                   "a/b~c",
                                   std::string(300, 'y'),
                                   json::array(),
                                   json::object(),
                                   {1, 2},
                                   {{"name", "z"}},
                                   {{"name", 1}}};
    int good = 0;
    for (int i = 0; i < 20'000; ++i) {
        auto body = example();
        for (auto left = random() % 3; left > 0; --left) {
            std::vector<json*> all;
            collect(body, all);
            auto& where = *all[random() % all.size()];
            const auto& what = values[random() % values.size()];
            if (where.is_object() && random() % 2 == 0) {
                where["more"] = what;
            } else {
                where = what;
            }
        }
        const auto parsed = parse_body(body.dump());
        ASSERT_TRUE(parsed) << body;
        const auto read = read_scheduling(*parsed, {"ns", "", false});
        if (read) {
            ++good;
            EXPECT_FALSE(read->key.name.empty());
            continue;
        }
        EXPECT_FALSE(read.error().empty()) << body;
        for (const auto& each : read.error()) {
            EXPECT_TRUE(each.pointer.empty() || each.pointer.starts_with("/")) << each.pointer;
            EXPECT_FALSE(each.code.empty() || each.detail.empty()) << body;
        }
    }
    EXPECT_GT(good, 3000) << "a third is not changed at all";
}

TEST(validation, of_many_faults_so_many_are_told) {
    json body{{"spec", {{"testbed", {{"name", "t"}}}, {"queueBased", json::array()}}}};
    for (int i = 0; i < 1000; ++i) body["spec"]["queueBased"].push_back(i);
    faults wrong;
    validate(reference_to("SchedulingDraft"), body, "", wrong);
    EXPECT_EQ(wrong.size(), most_faults);
}

TEST(validation, nulls_are_as_if_they_were_not_there_but_in_merge_patches) {
    EXPECT_EQ(*parse_body(R"({"a": null, "b": [{"c": null}]})"), json::parse(R"({"b": [{}]})"));
    EXPECT_EQ(*parse_body(R"({"a": null})", true), json::parse(R"({"a": null})"));
}

TEST(pointer, of_a_field_of_the_api_server) {
    const struct {
        const char* field;
        const char* pointer;
    } table[] = {
        {"", ""},
        {"<nil>", ""},
        {"spec", "/spec"},
        {"spec.queueBased[12].name", "/spec/queueBased/12/name"},
        {"metadata.labels[a/b~c]", "/metadata/labels/a~1b~0c"},
        {"spec.x[", "/spec/x"},
        {"spec..y[0]]", "/spec/y/0/]"},
    };
    for (const auto& row : table) EXPECT_EQ(pointer_of_field(row.field), row.pointer) << row.field;
}

TEST(causes, of_what_is_no_status_are_none) {
    for (const char* text :
         {"", "x", "[]", "{}", R"({"details": 1})", R"({"details": {"causes": 1}})",
          R"({"details": {"causes": [1, {"field": 2, "message": 3}]}})"}) {
        for (const auto& each : faults_of_status(text)) EXPECT_EQ(each.pointer, "") << text;
    }
}

}  // namespace
}  // namespace esi::scheduling::v1
