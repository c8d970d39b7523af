#include "kube/patch.h"

#include <gtest/gtest.h>

#include "kube/percent.h"
#include "kube/resource.h"

namespace esi::kube {
namespace {

TEST(merge_difference, is_the_smallest_patch) {
    const struct {
        const char* from;
        const char* to;
        const char* patch;
    } table[] = {
        {R"({})", R"({})", R"({})"},
        {R"({"a":1})", R"({"a":1})", R"({})"},
        {R"({"a":1})", R"({"a":2})", R"({"a":2})"},
        {R"({"a":1})", R"({})", R"({"a":null})"},
        {R"({})", R"({"a":1})", R"({"a":1})"},
        {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1,"c":3}})", R"({"a":{"c":3}})"},
        {R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":null}})"},
        {R"({"a":{"b":1}})", R"({"a":5})", R"({"a":5})"},
        {R"({"a":5})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
        {R"({"a":[1,2]})", R"({"a":[1,3]})", R"({"a":[1,3]})"},
        {R"({"a":1})", R"({"a":null})", R"({"a":null})"},
        {R"({})", R"({"a":null})", R"({})"},
        {R"({})", R"({"a":{}})", R"({"a":{}})"},
        {R"(null)", R"({"a":1})", R"({"a":1})"},
        {R"({"a":1})", R"(null)", R"({})"},
    };
    for (const auto& row : table) {
        EXPECT_EQ(merge_difference(json::parse(row.from), json::parse(row.to)),
                  json::parse(row.patch))
            << row.from << " -> " << row.to;
    }
}

TEST(merge_difference, applied_gives_the_wanted_object) {
    auto from = json::parse(R"({"s":{"x":1,"list":[1],"gone":{"a":1}},"same":"t"})");
    const auto to = json::parse(R"({"s":{"x":2,"list":[],"new":{"b":{"c":1}}},"same":"t"})");
    from.merge_patch(merge_difference(from, to));
    EXPECT_EQ(from, to);
}

TEST(guarded, puts_uid_and_version_into_metadata) {
    EXPECT_EQ(guarded(json{{"status", 1}}, "u", "7"),
              json::parse(R"({"status":1,"metadata":{"uid":"u","resourceVersion":"7"}})"));
    EXPECT_EQ(guarded(json::parse(R"({"metadata":{"labels":{"a":null}}})"), "u", ""),
              json::parse(R"({"metadata":{"labels":{"a":null},"uid":"u"}})"));
    EXPECT_EQ(guarded(json::object(), "", ""), json::object());
    EXPECT_EQ(guarded(json::object(), "", "7"),
              json::parse(R"({"metadata":{"resourceVersion":"7"}})"));
}

TEST(resource_type, gives_the_paths_of_the_api) {
    EXPECT_EQ(types::testbed.path("lab", "grid", "status"),
              "/apis/esi.tu-berlin.de/v1alpha1/namespaces/lab/testbeds/grid/status");
    EXPECT_EQ(types::testbed.path(""), "/apis/esi.tu-berlin.de/v1alpha1/testbeds");
    EXPECT_EQ(types::pod.path("lab"), "/api/v1/namespaces/lab/pods");
    EXPECT_EQ(types::node.path("", "a"), "/api/v1/nodes/a");
    EXPECT_EQ(types::pod.path("a/b", "../x"), "/api/v1/namespaces/a%2Fb/pods/..%2Fx");
    EXPECT_EQ(types::pod.path("..", "."), "/api/v1/namespaces/%2E%2E/pods/%2E");
    EXPECT_EQ(types::pod.api_version(), "v1");
    EXPECT_EQ(types::lease.api_version(), "coordination.k8s.io/v1");
}

TEST(query_builder, encodes_values) {
    EXPECT_EQ(query_builder("/x").take(), "/x");
    EXPECT_EQ(query_builder("/x").add("labelSelector", "a/b=c,d!=e").add("limit", "5").take(),
              "/x?labelSelector=a%2Fb%3Dc%2Cd%21%3De&limit=5");
}

}  // namespace
}  // namespace esi::kube
