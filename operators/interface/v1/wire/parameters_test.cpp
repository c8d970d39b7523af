#include "interface/v1/wire/parameters.h"

#include <gtest/gtest.h>

#include "interface/v1/continue_token.h"

namespace esi::interface::v1 {
namespace {

using std::chrono::milliseconds;

TEST(duration, has_units_that_grow_smaller) {
    const struct {
        const char* text;
        int milliseconds;  ///< -1: refused
    } table[] = {
        {"60s", 60'000}, {"5m", 300'000}, {"1h", 3'600'000}, {"1m30s", 90'000},
        {"500ms", 500},  {"0s", 0},       {"1s5ms", 1005},   {"24h", 86'400'000},
        {"", -1},        {"5", -1},       {"s", -1},         {"5x", -1},
        {"1s1m", -1},    {"1s1s", -1},    {"-1s", -1},       {"1.5s", -1},
        {"25h", -1},     {"24h1ms", -1},  {"1 s", -1},       {"99999999999s", -1},
        {"05s", -1},     {"5S", -1},      {"5ss", -1},
    };
    for (const auto& row : table) {
        const auto read = parse_duration(row.text);
        EXPECT_EQ(read ? static_cast<int>(read->count()) : -1, row.milliseconds) << row.text;
    }
}

TEST(number, is_a_whole_one_without_sign_and_zeros) {
    EXPECT_EQ(parse_number("0"), 0u);
    EXPECT_EQ(parse_number("18446744073709551615"), 18446744073709551615u);
    for (const char* text : {"", "00", "01", "-1", "+1", "1 ", "1x", "18446744073709551616"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
}

TEST(continue_token, goes_through_its_text) {
    const continue_token token{"ns", "a-b", "42", 0xffffffffffffffffu};
    const auto text = text_of(token);
    EXPECT_EQ(parse_continue_token(text), token);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << "fits into a query";
    for (auto wrong :
         {std::string(), std::string("x"), text + "0", text.substr(2),
          text.substr(0, text.size() / 2 * 2 - 40), std::string(5000, '0'), std::string("31")}) {
        EXPECT_FALSE(parse_continue_token(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace esi::interface::v1
