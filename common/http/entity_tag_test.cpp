#include "http/entity_tag.h"

#include <gtest/gtest.h>

namespace esi::http {
namespace {

TEST(entity_tag, a_star_is_any_version_and_in_quotes_a_tag) {
    EXPECT_TRUE(is_any_tag("*"));
    EXPECT_TRUE(is_any_tag(" * "));
    for (const char* header : {"", "\"*\"", "W/\"*\"", "\"a*\"", "\"a\", *", "**"}) {
        EXPECT_FALSE(is_any_tag(header)) << header;
    }
}

TEST(entity_tag, is_found_in_a_list_also_weak_and_behind_a_comma_in_quotes) {
    for (const char* header : {R"("42")", R"(W/"42")", R"("1","42")", R"("a,b" , "42")"}) {
        EXPECT_TRUE(names_tag(header, "\"42\"")) << header;
    }
    for (const char* header : {"", "42", "*", R"("*")", R"("421")", R"("1,"42",2")", "\""}) {
        EXPECT_FALSE(names_tag(header, "\"42\"")) << header;
    }
}

}  // namespace
}  // namespace esi::http
