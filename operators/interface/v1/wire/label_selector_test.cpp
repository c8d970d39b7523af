#include "interface/v1/wire/label_selector.h"

#include <gtest/gtest.h>

#include <random>

namespace esi::interface::v1 {
namespace {

TEST(label_selector, selects_as_kubernetes_does) {
    const model::string_map labels{{"team", "red"}, {"size", "12"}, {"example.org/x", ""}};
    const struct {
        const char* text;
        bool matches;
    } table[] = {
        {"", true},
        {"  ", true},
        {"team=red", true},
        {"team==red", true},
        {" team = red ", true},
        {"team=blue", false},
        {"team!=blue", true},
        {"none!=blue", true},
        {"team", true},
        {"!team", false},
        {"!none", true},
        {"none", false},
        {"team in (red)", true},
        {"team in (blue, red)", true},
        {"team in(blue,red)", true},
        {"team notin (blue,red)", false},
        {"none notin (blue)", true},
        {"none in (blue)", false},
        {"example.org/x=", true},
        {"example.org/x in (,y)", true},
        {"size>11", true},
        {"size > 12", false},
        {"size<13", true},
        {"team>1", false},
        {"team=red,size=12,!none", true},
        {"team=red,size=13", false},
    };
    for (const auto& row : table) {
        const auto parsed = label_selector::parse(row.text);
        ASSERT_TRUE(parsed) << row.text << ": " << parsed.error();
        EXPECT_EQ(parsed->matches(labels), row.matches) << row.text;
    }
}

TEST(label_selector, what_is_no_selector_is_refused_with_the_reason) {
    const struct {
        const char* text;
        const char* why;
    } table[] = {
        {",", "a label is expected before ,"},
        {"a,", "it ends where a label is expected"},
        {"=b", "a label is expected before =b"},
        {"a b", "one of =, ==, !=, in, notin, < and > is expected before b"},
        {"a=b c", "a comma is expected before c"},
        {"a=b=c", "a comma is expected before =c"},
        {"a in b", "an opening parenthesis is expected before b"},
        {"a in ()", "a value is expected before )"},
        {"a in (b", "it ends where a comma or a closing parenthesis is expected"},
        {"a in (b c)", "a comma or a closing parenthesis is expected before c)"},
        {"!a=b", "a comma is expected before =b"},
        {"!", "it ends where a label is expected"},
        {"a>x", "a is compared with a whole number only"},
        {"-a", "-a cannot be the key of a label"},
        {"a/b/c", "a/b/c cannot be the key of a label"},
        {"A_/b", "A_/b cannot be the key of a label"},
        {"a=b/c", "b/c cannot be the value of a label"},
        {"a=-", "- cannot be the value of a label"},
    };
    for (const auto& row : table) {
        const auto parsed = label_selector::parse(row.text);
        ASSERT_FALSE(parsed) << row.text;
        EXPECT_EQ(parsed.error(), row.why) << row.text;
    }
    EXPECT_FALSE(label_selector::parse(std::string(9000, 'a')));
    std::string many = "a";
    for (int i = 0; i < 100; ++i) many += ",a";
    EXPECT_FALSE(label_selector::parse(many)) << "101 requirements";
    EXPECT_FALSE(label_selector::parse("a=" + std::string(64, 'b')));
}

TEST(label_selector, any_text_is_read_or_refused) {
    std::mt19937 random(20261124);
    constexpr std::string_view pieces[] = {
        "a", "b", "in", "notin", "=", "==",  "!=", "!",    ",", "(",
        ")", " ", ">",  "<",     "1", "x/y", "\n", "\x80", "-", "."};
    int read = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto left = random() % 8; left > 0; --left) {
            text += pieces[random() % std::size(pieces)];
        }
        const auto parsed = label_selector::parse(text);
        if (!parsed) {
            EXPECT_FALSE(parsed.error().empty()) << text;
            continue;
        }
        ++read;
        // A selector and its negation do not both hold.
        if (text == "a") EXPECT_NE(parsed->matches({{"a", "b"}}), parsed->matches({}));
        parsed->matches({{"a", "1"}, {"x/y", "b"}});
    }
    EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace esi::interface::v1
