#include "model/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace esi::model {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(quantity, reads_every_suffix_of_the_grammar) {
    const struct {
        const char* text;
        std::int64_t milli;
    } table[] = {
        {"0", 0},
        {"2", 2'000},
        {"600m", 600},
        {"0.6", 600},
        {".5", 500},
        {"5.", 5'000},
        {"+1", 1'000},
        {"-1", -1'000},
        {"1.75Gi", 1'879'048'192'000},
        {"1Ki", 1'024'000},
        {"1Mi", 1'048'576'000},
        {"1Ti", 1'099'511'627'776'000},
        {"1Pi", 1'125'899'906'842'624'000},
        {"1k", 1'000'000},
        {"1M", 1'000'000'000},
        {"1G", 1'000'000'000'000},
        {"1T", 1'000'000'000'000'000},
        {"1P", 1'000'000'000'000'000'000},
        {"1e3", 1'000'000},
        {"1E3", 1'000'000},
        {"12e-1", 1'200},
        {"1e+2", 100'000},
        {"1000u", 1},
        {"1000000n", 1},
        {"0.0000000001Ei", 115'292'150'461},
        {"00000000000000000000000000001", 1'000},
    };
    for (const auto& row : table) {
        auto parsed = quantity::parse(row.text);
        ASSERT_TRUE(parsed) << row.text;
        EXPECT_EQ(parsed->milli, row.milli) << row.text;
        EXPECT_EQ(parsed->text, row.text);
    }
}

TEST(quantity, rounds_what_is_below_a_thousandth_away_from_zero) {
    EXPECT_EQ(quantity::parse("1n")->milli, 1);
    EXPECT_EQ(quantity::parse("1.5m")->milli, 2);
    EXPECT_EQ(quantity::parse("-1.5m")->milli, -2);
    EXPECT_EQ(quantity::parse("0.00000000000000000000000000001")->milli, 1);
    EXPECT_EQ(quantity::parse("1e-999999999999")->milli, 1);
    EXPECT_EQ(quantity::parse("0e-999999999999")->milli, 0);
}

TEST(quantity, keeps_every_digit_that_fits) {
    EXPECT_EQ(quantity::parse("1234567890123456789m")->milli, 1234567890123456789);
    EXPECT_EQ(quantity::parse("9223372036854775807m")->milli, most);
    EXPECT_EQ(quantity::parse("9223372036854775.806")->milli, most - 1);
}

TEST(quantity, saturates_instead_of_wrapping) {
    for (const char* text : {"9Ei", "1E", "99999999999999999999999", "1e999999999999", "10000P"}) {
        EXPECT_EQ(quantity::parse(text)->milli, most) << text;
    }
    EXPECT_EQ(quantity::parse("-9Ei")->milli, -most);
    amounts sum{{"cpu", most}};
    add(sum, {{"cpu", 1}});
    EXPECT_EQ(sum.at("cpu"), most);
}

TEST(quantity, refuses_what_kubernetes_refuses) {
    for (const char* text :
         {"",       " ",     "1 ",    " 1",   ".",    "+",   "-",      "+-1",     "1.1.M",
          "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i",  "1i",  "-3.01i", "-3.01e-", "1e",
          "e3",     "1KI",   "1ki",   "1Kib", "0x10", "1,5", "m"}) {
        EXPECT_FALSE(quantity::parse(text)) << text;
    }
}

TEST(quantity, compares_by_value) {
    EXPECT_EQ(*quantity::parse("1"), *quantity::parse("1000m"));
    EXPECT_LT(*quantity::parse("1G"), *quantity::parse("1Gi"));
}

TEST(quantity, units_round_up) {
    EXPECT_EQ(quantity::parse("1")->units(), 1);
    EXPECT_EQ(quantity::parse("1001m")->units(), 2);
    EXPECT_EQ(quantity::parse("1m")->units(), 1);
    EXPECT_EQ(quantity::parse("-1m")->units(), -1);
}

TEST(amounts, are_added_and_raised_per_resource) {
    amounts sum = to_amounts({{"cpu", *quantity::parse("600m")}});
    add(sum, {{"cpu", 400}, {"memory", 5}});
    EXPECT_EQ(sum, (amounts{{"cpu", 1000}, {"memory", 5}}));
    raise(sum, {{"cpu", 900}, {"memory", 6}, {"pods", 1}});
    EXPECT_EQ(sum, (amounts{{"cpu", 1000}, {"memory", 6}, {"pods", 1}}));
}

TEST(amounts, end_at_the_largest_number_instead_of_beginning_anew) {
    amounts free{{"memory", 5}};
    take(free, {{"memory", most}});
    take(free, {{"memory", most}});
    take(free, {{"memory", most}});
    EXPECT_EQ(free["memory"], -most);
    take(free, {{"cpu", 7}});
    EXPECT_EQ(free["cpu"], -7);
    EXPECT_EQ(plus(most, 1), most);
    EXPECT_EQ(plus(-most, -2), -most);
    EXPECT_EQ(times(most / 2, 110), most);
    EXPECT_EQ(times(600, 110), 66'000);
    EXPECT_EQ(times(most, 0), 0);
}

TEST(amounts, are_shown_as_people_write_them) {
    const struct {
        const char* resource;
        const char* amount;
        const char* shown;
    } table[] = {
        {"cpu", "600m", "600m"},
        {"cpu", "2", "2"},
        {"cpu", "0", "0"},
        {"memory", "1.75Gi", "1.75Gi"},
        {"memory", "2Gi", "2Gi"},
        {"memory", "1G", "1G"},
        {"memory", "1500M", "1.5G"},
        {"memory", "1023", "1023"},
        {"memory", "1", "1"},
        {"memory", "0", "0"},
        {"memory", "-512Mi", "-512Mi"},
        {"ephemeral-storage", "10Gi", "10Gi"},
        {"pods", "110", "110"},
        {"memory", "1m", "1m"},
    };
    for (const auto& row : table) {
        EXPECT_EQ(show(row.resource, quantity::parse(row.amount)->milli), row.shown) << row.amount;
    }
}

}  // namespace
}  // namespace esi::model
