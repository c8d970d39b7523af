#include "server/validation/cel.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace esi::simulation {
namespace {

bool holds(const char* rule, const char* self, const char* old = nullptr, bool optional = false) {
    const auto value = json::parse(self);
    const auto before = old ? json::parse(old) : json();
    const auto outcome = cel_rule(rule, optional).holds(value, old ? &before : nullptr);
    EXPECT_EQ(outcome.error, "");
    return outcome.holds;
}

TEST(cel, members_are_there_or_not) {
    EXPECT_TRUE(holds("has(self.a) != has(self.b)", R"({"a": 1})"));
    EXPECT_FALSE(holds("has(self.a) != has(self.b)", R"({"a": 1, "b": 1})"));
    EXPECT_TRUE(holds("'a' in self && !('b' in self)", R"({"a": 1})"));
}

TEST(cel, types_choose_a_branch) {
    const char* rule =
        "type(self) == int ? self > 0 : isQuantity(self) && "
        "quantity(self).isGreaterThan(quantity('0'))";
    EXPECT_TRUE(holds(rule, "1"));
    EXPECT_FALSE(holds(rule, "0"));
    EXPECT_TRUE(holds(rule, R"("1m")"));
    EXPECT_FALSE(holds(rule, R"("0m")"));
    EXPECT_FALSE(holds(rule, R"("1.75 GB")"));
}

TEST(cel, texts_are_measured_in_characters_and_matched_in_part) {
    EXPECT_TRUE(holds("self.size() == 2 && size(self) <= 2", R"("äö")"));
    EXPECT_TRUE(holds("self.matches('b') && !self.matches('^b')", R"("abc")"));
    EXPECT_TRUE(holds("self.indexOf('c') == 2", R"("äbc")"));
}

TEST(cel, an_old_value_may_be_optional) {
    EXPECT_TRUE(holds("oldSelf.hasValue() || self > 1", "0", "5", true));
    EXPECT_FALSE(holds("oldSelf.hasValue() || self > 1", "0", nullptr, true));
    EXPECT_TRUE(holds("self == oldSelf", R"({"a": [1]})", R"({"a": [1]})"));
    EXPECT_TRUE(cel_rule("self == oldSelf", false).uses_old_self());
}

TEST(cel, a_side_that_fails_does_not_matter_where_the_other_decides) {
    EXPECT_TRUE(holds("self.missing > 1 || self.a == 1", R"({"a": 1})"));
    EXPECT_EQ(cel_rule("self.missing > 1", false).holds(json::object(), nullptr).error,
              "no such key: missing");
}

TEST(cel, lists_and_keys_of_maps_are_gone_through) {
    EXPECT_TRUE(holds("self.all(x, x > 1)", "[2, 3]"));
    EXPECT_FALSE(holds("self.all(x, x > 1)", "[2, 1]"));
    EXPECT_TRUE(holds("self.all(key, key.size() <= 2)", R"({"a": "long", "bc": 1})"));
    EXPECT_FALSE(holds("self.all(key, key.size() <= 2)", R"({"abc": 1})"));
    EXPECT_TRUE(holds("self.all(x, x.missing > 1)", "[]"));
    EXPECT_FALSE(holds("self.all(x, x.a > 1)", R"([{"b": 1}, {"a": 1}])")) << "one decides";
    EXPECT_EQ(cel_rule("self.all(x, x.a > 1)", false).holds(json::parse("[{}]"), nullptr).error,
              "no such key: a");
    EXPECT_TRUE(holds("self.map(x, x.size()).sum() == 3", R"(["a", "bc"])"));
    EXPECT_TRUE(holds("self.map(x, 1 + x).sum() == 0", "[]"));
    EXPECT_TRUE(
        holds("self.map(k, k.size() + self[k].map(x, has(x.a) ? x.a : 8).sum()).sum() == 14",
              R"({"ab": [{"a": 1}, {}], "c": [{"a": 2}]})"));
    EXPECT_EQ(
        cel_rule("self.map(x, x).sum() > 0", false).holds(json::parse(R"(["a"])"), nullptr).error,
        "no such overload");
}

TEST(cel, a_rule_that_uses_anything_else_is_refused_when_it_is_read) {
    for (const char* rule : {"self.exists(x, x > 1)", "self - 1 > 2", "self.startsWith('a')",
                             "self.all(x) == 1", "self.map(x, y).sum() > 1", "x == 1", "self[0 > 1",
                             "other == 1", "self.a >", "1.5 > self", "self.matches(self.pattern)",
                             "self.matches('\\\\d')", "oldSelf.hasValue()", "[1] == self"}) {
        EXPECT_THROW(cel_rule(rule, false), std::runtime_error) << rule;
    }
}

}  // namespace
}  // namespace esi::simulation
