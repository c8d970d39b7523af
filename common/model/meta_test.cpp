#include "model/meta.h"

#include <gtest/gtest.h>

namespace esi::model {
namespace {

using namespace std::chrono_literals;

wall_time at(int year, unsigned month, unsigned day, std::chrono::microseconds in_day) {
    return std::chrono::sys_days(std::chrono::year_month_day(
               std::chrono::year(year), std::chrono::month(month), std::chrono::day(day))) +
           in_day;
}

TEST(timestamp, reads_rfc3339) {
    const struct {
        const char* text;
        wall_time value;
    } table[] = {
        {"2026-11-21T09:34:07Z", at(2026, 11, 21, 9h + 34min + 7s)},
        {"2026-11-21T09:34:07.149160Z", at(2026, 11, 21, 9h + 34min + 7s + 149160us)},
        {"2026-11-21T09:34:07.1Z", at(2026, 11, 21, 9h + 34min + 7s + 100ms)},
        {"2026-11-21T09:34:07.123456789Z", at(2026, 11, 21, 9h + 34min + 7s + 123456us)},
        {"2026-11-21T01:30:00+02:00", at(2026, 11, 20, 23h + 30min)},
        {"2026-11-21T23:30:00-07:30", at(2026, 11, 22, 7h)},
        {"2024-02-29T00:00:00Z", at(2024, 2, 29, 0h)},
        {"1969-12-31T23:59:59.5Z", at(1969, 12, 31, 23h + 59min + 59s + 500ms)},
        {"0001-01-01T00:00:00Z", at(1, 1, 1, 0h)},
    };
    for (const auto& row : table) {
        auto parsed = timestamp::parse(row.text);
        ASSERT_TRUE(parsed) << row.text;
        EXPECT_EQ(parsed->value, row.value) << row.text << " became " << parsed->micro();
    }
}

TEST(timestamp, reads_all_that_the_api_server_lets_pass) {
    for (const char* text :
         {"2026-11-21t09:34:07.5z", "2026-11-21T09:34:07,5Z", "2026-11-21T09:34:07x5Z",
          "2026-11-21T09:34:07-5Z", "2026-11-21T09:34:07\u20ac5Z",
          "2026-11-21T09:34:07.50000000000000000000Z", "2026-11-22T10:34:07.5+25:00",
          "2026-11-21T11:13:07.5+00:99"}) {
        auto parsed = timestamp::parse(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(parsed->micro(), "2026-11-21T09:34:07.500000Z") << text;
    }
}

TEST(timestamp, one_outside_of_what_can_be_written_is_the_nearest_that_can) {
    EXPECT_EQ(timestamp::parse("9999-12-31T23:59:59-23:59")->micro(),
              "9999-12-31T23:59:59.999999Z");
    EXPECT_EQ(timestamp::parse("0000-01-01T00:00:00+23:59")->micro(),
              "0000-01-01T00:00:00.000000Z");
}

TEST(timestamp, refuses_what_is_no_time) {
    for (const char* text : {"",
                             "2026",
                             "2026-11-21",
                             "2026-11-21T09:34:07",
                             "2026-11-21 09:34:07Z",
                             "2026-13-21T09:34:07Z",
                             "2026-00-21T09:34:07Z",
                             "2026-02-29T09:34:07Z",
                             "2026-11-31T09:34:07Z",
                             "2026-11-21T24:00:00Z",
                             "2026-11-21T09:60:07Z",
                             "2026-11-21T09:34:60Z",
                             "2026-11-21T09:34:07.Z",
                             "2026-11-21T09:34:07Zx",
                             "2026-11-21T09:34:07+0200",
                             "2026-11-21T09:34:07+2:00",
                             "2026-11-21T09:34:07+02:0",
                             "-026-11-21T09:34:07Z",
                             "2026-1-21T09:34:07Z",
                             "2026-11-21T09:34:07+",
                             "null"}) {
        EXPECT_FALSE(timestamp::parse(text)) << text;
    }
}

TEST(timestamp, is_written_as_kubernetes_writes_it) {
    const timestamp time{at(2026, 11, 21, 9h + 4min + 7s + 49160us)};
    EXPECT_EQ(time.micro(), "2026-11-21T09:04:07.049160Z");
    EXPECT_EQ(time.whole_seconds(), "2026-11-21T09:04:07Z");
    EXPECT_EQ(timestamp{at(1969, 12, 31, 23h + 59min + 59s + 500ms)}.micro(),
              "1969-12-31T23:59:59.500000Z");
}

TEST(object_key, is_namespace_slash_name) {
    EXPECT_EQ((object_key{"lab", "grid"}.text()), "lab/grid");
    EXPECT_EQ((object_key{"", "node-a"}.text()), "node-a");
    EXPECT_EQ(object_key::from_text("lab/grid"), (object_key{"lab", "grid"}));
    EXPECT_EQ(object_key::from_text("node-a"), (object_key{"", "node-a"}));
    EXPECT_LT((object_key{"a", "z"}), (object_key{"b", "a"}));
}

TEST(object_meta, finds_labels_owners_and_finalizers) {
    object_meta meta;
    meta.labels = {{"a", "1"}};
    meta.annotations = {{"b", "2"}};
    meta.finalizers = {"esi.tu-berlin.de/held"};
    meta.owner_references = {{"v1", "Pod", "p", "u1", false}, {"v1", "Testbed", "t", "u2", true}};
    EXPECT_EQ(meta.label("a"), "1");
    EXPECT_EQ(meta.label("x"), "");
    EXPECT_EQ(meta.annotation("b"), "2");
    EXPECT_TRUE(meta.has_finalizer("esi.tu-berlin.de/held"));
    EXPECT_FALSE(meta.has_finalizer("esi.tu-berlin.de/release"));
    ASSERT_NE(meta.controller_owner(), nullptr);
    EXPECT_EQ(meta.controller_owner()->uid, "u2");
    meta.owner_references.pop_back();
    EXPECT_EQ(meta.controller_owner(), nullptr);
}

TEST(condition, keeps_its_transition_time_until_the_status_flips) {
    std::vector<condition> list;
    const auto first = at(2026, 1, 1, 0h + 250ms);
    set_condition(list, "Ready", "False", "NoNodes", "none is labelled", 1, first);
    set_condition(list, "Ready", "False", "NoRoom", "cpu is missing", 2, first + 1min);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].reason, "NoRoom");
    EXPECT_EQ(list[0].message, "cpu is missing");
    EXPECT_EQ(list[0].observed_generation, 2);
    EXPECT_EQ(list[0].last_transition_time, timestamp{at(2026, 1, 1, 0h)});

    set_condition(list, "Ready", "True", "SlotsFilled", "", 2, first + 2min);
    EXPECT_EQ(list[0].last_transition_time, timestamp{at(2026, 1, 1, 2min)});
    ASSERT_NE(find_condition(list, "Ready"), nullptr);
    EXPECT_EQ(find_condition(list, "Ready")->status, "True");
    EXPECT_EQ(find_condition(list, "Isolated"), nullptr);
}

TEST(condition, one_without_a_type_is_not_carried_along) {
    std::vector<condition> list(3);
    list[1].type = "OfSomebodyElse";
    set_condition(list, "Ready", "True", "SlotsFilled", "", 1, wall_time{});
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].type, "OfSomebodyElse");
    EXPECT_EQ(list[1].type, "Ready");
}

TEST(condition, cuts_a_long_message_between_characters) {
    std::vector<condition> list;
    set_condition(list, "Ready", "True", "", std::string(4095, 'a') + "\u00e4", 1, wall_time());
    EXPECT_EQ(list[0].message, std::string(4095, 'a'));
    EXPECT_EQ(list[0].reason, "Unspecified");
}

TEST(older, goes_by_creation_then_uid) {
    object_meta a, b;
    a.uid = "2";
    b.uid = "1";
    EXPECT_TRUE(older(b, a));
    a.creation_timestamp = timestamp{at(2026, 1, 1, 0h)};
    EXPECT_TRUE(older(a, b));
    EXPECT_FALSE(older(b, a));
    b.creation_timestamp = timestamp{at(2026, 1, 1, 1s)};
    EXPECT_TRUE(older(a, b));
    EXPECT_FALSE(older(a, a));
}

TEST(resource_version, is_compared_as_a_number) {
    const struct {
        const char* have;
        const char* want;
        bool at_least;
    } table[] = {
        {"10", "9", true},
        {"9", "10", false},
        {"10", "10", true},
        {"0", "0", false},
        {"", "1", false},
        {"1", "", false},
        {"1a", "1", false},
        {"01", "1", false},
        {"-1", "1", false},
        {"100000000000000000000000000000001", "100000000000000000000000000000000", true},
    };
    for (const auto& row : table) {
        EXPECT_EQ(version_at_least(row.have, row.want), row.at_least)
            << row.have << " " << row.want;
    }
}

}  // namespace
}  // namespace esi::model
