#include "kube/server_version.h"

#include <gtest/gtest.h>

namespace esi::kube {
namespace {

TEST(server_version, is_read_as_the_vendors_write_it) {
    const struct {
        const char* body;
        const char* text;
        int minor;
        bool works;
    } table[] = {
        {R"({"major":"1","minor":"36","gitVersion":"v1.36.3"})", "v1.36.3", 36, true},
        {R"({"major":"1","minor":"31+","gitVersion":"v1.31.2-eks-1"})", "v1.31.2-eks-1", 31, true},
        {R"({"major":"1","minor":"30","gitVersion":"v1.30.9"})", "v1.30.9", 30, false},
        {R"({"major":"1","minor":"29"})", "v1.29", 29, false},
        {R"({"major":"2","minor":"0","gitVersion":"v2.0.0"})", "v2.0.0", 0, true},
    };
    for (const auto& [body, text, minor, works] : table) {
        const auto read = parse_server_version(body);
        ASSERT_TRUE(read) << body;
        EXPECT_EQ(read->text, text);
        EXPECT_EQ(read->minor, minor);
        EXPECT_EQ(too_old(*read).empty(), works) << body;
    }
    EXPECT_EQ(too_old(*parse_server_version(table[2].body)),
              "Kubernetes v1.30.9 is too old: ESI needs 1.31 or newer");
}

TEST(server_version, of_another_server_is_not_guessed) {
    for (const char* body : {"", "no", "[]", "7", "{}", R"({"major":"1"})", R"({"minor":"31"})",
                             R"({"major":1,"minor":31})", R"({"major":"x","minor":"31"})",
                             R"({"major":"1","minor":"-3"})"}) {
        EXPECT_FALSE(parse_server_version(body)) << body;
    }
}

}  // namespace
}  // namespace esi::kube
