#include "http/accept.h"

#include <gtest/gtest.h>

namespace esi::http {
namespace {

TEST(accept, the_most_specific_range_decides) {
    const struct {
        const char* header;
        bool json;
    } table[] = {
        {"", true},
        {" ", true},
        {"*/*", true},
        {"application/*", true},
        {"APPLICATION/json ; charset=utf-8", true},
        {"text/html, application/json;q=0.1", true},
        {"text/html", false},
        {"application/json;q=0", false},
        {"application/json; a=b; Q=0.000, */*", false},
        {"*/*;q=0, application/json", true},
        {"application/*;q=0, */*", false},
        {"application/jsonx", false},
        {",,", false},
    };
    for (const auto& row : table) {
        EXPECT_EQ(accepts(row.header, "application/json"), row.json) << row.header;
    }
}

TEST(accept, ranges_come_in_their_order) {
    const auto ranges = media_ranges("Text/HTML;level=1;q=0.5, a/b;q=0.0");
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(ranges[0].name, "text/html");
    EXPECT_FALSE(ranges[0].refused);
    EXPECT_EQ(ranges[1].name, "a/b");
    EXPECT_TRUE(ranges[1].refused);
}

TEST(content_type, is_compared_without_parameters_and_case) {
    EXPECT_EQ(media_type_of("application/JSON; charset=utf-8"), "application/json");
    EXPECT_EQ(media_type_of(" text/plain "), "text/plain");
    EXPECT_EQ(media_type_of(""), "");
}

}  // namespace
}  // namespace esi::http
