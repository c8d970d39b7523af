#include "server/api/selectors.h"

#include <gtest/gtest.h>

namespace esi::simulation {
namespace {

TEST(label_selector, follows_the_grammar_of_kubernetes) {
    json body = json::object();
    body["metadata"]["labels"] = {{"app", "spark"}, {"tier", "2"}, {"empty", ""}};
    struct {
        const char* text;
        bool matches;
    } cases[] = {
        {"", true},
        {"app=spark", true},
        {"app==spark", true},
        {"app=flink", false},
        {"app!=flink", true},
        {"none!=flink", true},
        {"app", true},
        {"none", false},
        {"!none", true},
        {"!app", false},
        {"app in (flink, spark)", true},
        {"app in (flink)", false},
        {"app notin (flink,spark)", false},
        {"none notin (flink)", true},
        {"tier>1", true},
        {"tier < 2", false},
        {"empty=", true},
        {"app=", false},
        {"app=spark,tier=2", true},
        {"app=spark,tier=3", false},
        {" app = spark , ! none ", true},
    };
    for (const auto& each : cases) {
        const auto selector = label_selector::parse(each.text);
        ASSERT_TRUE(selector) << each.text << ": " << selector.error();
        EXPECT_EQ(selector->matches(body), each.matches) << each.text;
    }
    EXPECT_FALSE(label_selector::parse("app=spark")->matches(json::object()));
}

TEST(label_selector, refuses_what_it_cannot_read) {
    for (const char* text : {"=", "a===", "a in", "a in (", "a in (b", "a,,b", "a b", "!", "a,"}) {
        EXPECT_FALSE(label_selector::parse(text)) << text;
    }
    EXPECT_EQ(label_selector::parse("a===").error(),
              "unable to parse requirement: found '=', expected: identifier");
}

TEST(field_selector, compares_texts_at_a_path) {
    json body = json::object();
    body["spec"] = {{"nodeName", "n-1"}, {"unschedulable", true}};
    const std::vector<std::string> offered = {"spec.nodeName", "spec.unschedulable",
                                              "status.phase"};
    struct {
        const char* text;
        bool matches;
    } cases[] = {
        {"spec.nodeName=n-1", true},
        {"spec.nodeName==n-1", true},
        {"spec.nodeName=n-2", false},
        {"spec.nodeName!=n-2", true},
        {"status.phase=", true},
        {"status.phase!=Failed,spec.nodeName=n-1", true},
        {"status.phase=Failed,spec.nodeName=n-1", false},
        {"spec.unschedulable=true", true},
    };
    for (const auto& each : cases) {
        const auto selector = field_selector::parse(each.text, offered);
        ASSERT_TRUE(selector) << each.text << ": " << selector.error();
        EXPECT_EQ(selector->matches(body), each.matches) << each.text;
    }
    EXPECT_EQ(field_selector::parse("spec.x=1", offered).error(),
              "field label not supported: spec.x");
    EXPECT_FALSE(field_selector::parse("spec.nodeName", offered));
}

}  // namespace
}  // namespace esi::simulation
