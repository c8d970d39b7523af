#include "base/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/hexadecimal.h"

namespace esi {
namespace {

TEST(text, is_trimmed_of_blanks_and_tabs_and_of_nothing_else) {
    const struct {
        const char* text;
        const char* trimmed;
    } table[] = {{"", ""},          {" \t ", ""}, {"a", "a"},
                 {" a b\t", "a b"}, {"\ta", "a"}, {"a\n", "a\n"}};
    for (const auto& row : table) EXPECT_EQ(trimmed(row.text), row.trimmed) << row.text;
}

TEST(text, is_taken_part_by_part) {
    std::string_view rest = " a ,b,, c";
    std::vector<std::string_view> parts;
    while (!rest.empty()) parts.push_back(take_part(rest, ','));
    EXPECT_EQ(parts, (std::vector<std::string_view>{"a", "b", "", "c"}));
}

TEST(hexadecimal, is_read_as_it_was_written) {
    const std::string bytes("\0\x7f\xff z", 5);
    EXPECT_EQ(hexadecimal(bytes), "007fff207a");
    EXPECT_EQ(from_hexadecimal("007fff207a"), bytes);
    EXPECT_EQ(from_hexadecimal(""), "");
    for (const char* text : {"0", "0g", "FF", "-1", "0 "}) EXPECT_FALSE(from_hexadecimal(text));
}

}  // namespace
}  // namespace esi
