#include "interface/v1/validation.h"

#include <gtest/gtest.h>

#include <random>

#include "interface/v1/causes.h"
#include "interface/v1/scheduling_body.h"
#include "interface/v1/wire/problems.h"

namespace esi::interface::v1 {
namespace {

using nlohmann::json;

json example() {
    return json::parse(
        R"({"metadata": {"name": "s", "labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"testbed": {"name": "t"}, "priority": 3, "suspend": false,
                 "slotBased": {"mode": "strict", "jobs": [{"name": {"name": "a"}, "slotIds": [0, 1]}]},
                 "jobPolicies": [{"name": {"name": "a"}, "backoffLimit": 2}]}})");
}

/// All values within it, in order.
void collect(json& in, std::vector<json*>& all) {
    all.push_back(&in);
    if (!in.is_structured()) return;
    for (auto& each : in) collect(each, all);
}

TEST(validation, a_pool_names_each_job_with_a_number_of_slots) {
    auto body = json::parse(R"({"metadata":{"name":"s"},"spec":{"testbed":{"name":"t"},
        "poolBased":{"jobs":[{"name":{"name":"a"},"slots":2},{"name":{"name":"b"}}]}}})");
    faults wrong;
    validate(reference_to("SchedulingInput"), body, "", wrong);
    EXPECT_TRUE(wrong.empty());
    body["spec"]["poolBased"]["jobs"][1]["slots"] = 0;
    validate(reference_to("SchedulingInput"), body, "", wrong);
    ASSERT_EQ(wrong.size(), 1u);
    EXPECT_EQ(wrong[0].pointer, "/spec/poolBased/jobs/1/slots");
}

/// In linear time: a parser that goes over the array again for each entry needs ten minutes.
TEST(parse_body, a_long_array_of_objects_is_read_as_any_other_body) {
    std::string text = "[{}";
    while (text.size() < (1u << 20) - 8) text += ",{}";
    text += "]";
    const auto read = parse_body(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->size(), (text.size() - 1) / 3);
}

TEST(parse_body, a_member_that_is_given_twice_is_named_wherever_it_is) {
    const auto read = parse_body(R"([{"a": {"b": 1, "c": {"b": 2}, "b": 3}}, {"a": 4}])");
    ASSERT_FALSE(read);
    ASSERT_EQ(read.error().size(), 1);
    EXPECT_EQ(read.error()[0].code, problem_code::field_twice);
    EXPECT_EQ(read.error()[0].detail, "the member \"b\" is given more than once");
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

faults faults_of(const std::string& schema, const json& body) {
    faults out;
    validate(reference_to(schema), body, "", out);
    return out;
}

TEST(validation, a_null_is_none_of_the_types_and_takes_a_member_out_in_merge_patches) {
    const json body{
        {"spec", {{"testbed", nullptr}, {"priority", nullptr}, {"queueBased", nullptr}}}};
    const auto wrong = faults_of("SchedulingDraft", body);
    ASSERT_EQ(wrong.size(), 3u);
    EXPECT_EQ(wrong[0].pointer, "/spec/priority");
    EXPECT_EQ(wrong[0].detail, "must be of type integer, not null");
    EXPECT_TRUE(faults_of("SchedulingPatch", body).empty());
    EXPECT_EQ(faults_of("SchedulingPatch", {{"spec", nullptr}}).size(), 1u) << "the plan stays";
}

TEST(validation, a_merge_patch_is_a_part_of_a_plan_and_closed_as_the_plan_is) {
    const struct {
        json body;
        std::string pointer;  ///< of the one fault; "none"
    } table[] = {
        {json::object(), "none"},
        {{{"spec", {{"slotBased", {{"mode", "strict"}}}}}}, "none"},
        {{{"spec", {{"slotBased", {{"mode", nullptr}, {"jobs", nullptr}}}}}}, "none"},
        {{{"spec", {{"suspendPolicy", nullptr}}}}, "none"},
        {{{"metadata", {{"labels", {{"a", nullptr}}}, {"annotations", nullptr}}}}, "none"},
        {{{"spec", {{"slotBased", {{"mode", "Strict"}}}}}}, "/spec/slotBased/mode"},
        {{{"spec", {{"slotBased", {{"more", 1}}}}}}, "/spec/slotBased/more"},
        {{{"spec", {{"queueBased", {nullptr}}}}}, "/spec/queueBased/0"},
        {{{"spec", {{"more", nullptr}}}}, "/spec/more"},
        {{{"metadata", {{"name", "s"}}}}, "/metadata/name"},
        {{{"more", 1}}, "/more"},
        {json::array(), ""},
    };
    for (const auto& row : table) {
        const auto wrong = faults_of("SchedulingPatch", row.body);
        const auto found = wrong.empty() ? "none" : wrong.front().pointer;
        EXPECT_EQ(found, row.pointer) << row.body;
        EXPECT_LE(wrong.size(), 1u) << row.body;
    }
}

TEST(validation, a_number_without_a_fraction_is_a_whole_one) {
    const auto read = parse_body(R"({"a": 2.0, "b": [1e3, -0.0, 2.5, 1e300]})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->dump(), R"({"a":2,"b":[1000,0,2.5,1e+300]})");
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
}  // namespace esi::interface::v1
