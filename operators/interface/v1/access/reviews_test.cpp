#include "interface/v1/access/reviews.h"

#include <gtest/gtest.h>

#include "interface/v1/access/refusals.h"

namespace esi::interface::v1 {
namespace {

using nlohmann::json;

std::string answer(json status) { return json{{"status", std::move(status)}}.dump(); }

TEST(token_review, asks_for_the_audience) {
    const auto review = token_review("t", "esi");
    EXPECT_EQ(review["kind"], "TokenReview");
    EXPECT_EQ(review["apiVersion"], "authentication.k8s.io/v1");
    EXPECT_EQ(review["spec"], json::parse(R"({"token": "t", "audiences": ["esi"]})"));
    EXPECT_EQ(token_review_type.path(""), "/apis/authentication.k8s.io/v1/tokenreviews");
}

TEST(token_review, the_user_of_the_answer_is_who_asks) {
    const auto read = read_token_review(answer({{"authenticated", true},
                                                {"audiences", {"other", "esi"}},
                                                {"user",
                                                 {{"username", "anna"},
                                                  {"uid", "7"},
                                                  {"groups", {"a", "b", 3}},
                                                  {"extra", {{"k", {"v"}}}}}}}),
                                        "esi");
    ASSERT_TRUE(read && read->who);
    EXPECT_EQ(read->who->name, "anna");
    EXPECT_EQ(read->who->uid, "7");
    EXPECT_EQ(read->who->groups, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read->who->extra.at("k"), (std::vector<std::string>{"v"}));
}

TEST(token_review, a_token_that_is_not_for_the_audience_is_nobodys) {
    const json user{{"username", "anna"}};
    const json bad[] = {
        {{"authenticated", false}, {"error", "expired"}},
        json::object(),
        {{"authenticated", "true"}, {"audiences", {"esi"}}, {"user", user}},
        {{"authenticated", true}, {"user", user}},
        {{"authenticated", true}, {"audiences", json::array()}, {"user", user}},
        {{"authenticated", true}, {"audiences", {"https://kubernetes"}}, {"user", user}},
        {{"authenticated", true}, {"audiences", "esi"}, {"user", user}},
    };
    for (const auto& status : bad) {
        const auto read = read_token_review(answer(status), "esi");
        ASSERT_TRUE(read) << status;
        EXPECT_EQ(read->who, nullptr) << status;
    }
}

TEST(token_review, an_answer_that_is_none_is_no_yes_and_no_no) {
    const std::string bad[] = {
        "",
        "[]",
        "{}",
        R"({"status": 1})",
        "<html>",
        answer({{"authenticated", true}, {"audiences", {"esi"}}}),
        answer({{"authenticated", true}, {"audiences", {"esi"}}, {"user", {{"username", ""}}}})};
    for (const auto& text : bad) EXPECT_FALSE(read_token_review(text, "esi")) << text;
}

TEST(access_review, asks_with_all_that_is_known_of_the_caller) {
    const http::identity anna{"anna", "7", {"a"}, {{"k", {"v"}}}};
    const auto review =
        access_review(anna, question_of({"patch", "schedulings"}, "default", "plan"));
    EXPECT_EQ(review["spec"], json::parse(R"({
        "user": "anna", "uid": "7", "groups": ["a"], "extra": {"k": ["v"]},
        "resourceAttributes": {"verb": "patch", "group": "esi.tu-berlin.de",
            "resource": "schedulings", "namespace": "default", "name": "plan"}})"));
    const auto bare = access_review({"ben", "", {}, {}}, question_of({"list", "testbeds"}, "", ""));
    EXPECT_EQ(bare["spec"], json::parse(R"({"user": "ben", "resourceAttributes":
        {"verb": "list", "group": "esi.tu-berlin.de", "resource": "testbeds"}})"));
}

TEST(access_review, verbs_without_a_single_object_and_nodes_leave_the_name_out) {
    for (const char* verb : {"create", "list", "watch"}) {
        const auto asked = question_of({verb, "schedulings"}, "default", "plan");
        EXPECT_EQ(asked.name, "") << verb;
        EXPECT_EQ(asked.ns, "default");
    }
    const auto nodes = question_of({"patch", "nodes", ""}, "default", "testbed");
    EXPECT_EQ(nodes.name, "");
    EXPECT_EQ(nodes.ns, "");
}

TEST(access_review, only_allowed_is_a_yes) {
    EXPECT_TRUE(read_access_review(answer({{"allowed", true}})).value());
    EXPECT_FALSE(read_access_review(answer({{"allowed", false}})).value());
    EXPECT_FALSE(read_access_review(answer({{"allowed", true}, {"denied", true}})).value());
    EXPECT_FALSE(read_access_review(answer({{"allowed", "true"}})).value());
    EXPECT_FALSE(read_access_review(answer(json::object())).value());
    EXPECT_FALSE(read_access_review("{}"));
    EXPECT_FALSE(read_access_review("allowed"));
}

TEST(refusals, a_403_names_user_verb_resource_and_namespace_and_the_command) {
    const http::identity anna{"anna", "", {"staff", "system:authenticated"}, {}};
    const auto one = forbidden(anna, question_of({"get", "schedulings"}, "a", "plan"));
    EXPECT_EQ(one.status, 403);
    EXPECT_FALSE(one.retryable);
    EXPECT_EQ(
        one.detail,
        "\"anna\" may not get schedulings.esi.tu-berlin.de \"plan\" in the namespace \"a\"; "
        "the cluster's RBAC decides: kubectl auth can-i get schedulings.esi.tu-berlin.de/plan "
        "-n a --as=anna --as-group=staff");
    EXPECT_EQ(can_i(anna, question_of({"list", "batchjobs"}, "", "")),
              "kubectl auth can-i list batchjobs.esi.tu-berlin.de -A --as=anna --as-group=staff");
    EXPECT_EQ(can_i({"system:serviceaccount:a:b", "", {"system:serviceaccounts"}, {}},
                    question_of({"patch", "nodes", ""}, "a", "t")),
              "kubectl auth can-i patch nodes --as=system:serviceaccount:a:b");
    EXPECT_EQ(can_i({"it's $me", "", {}, {}}, question_of({"create", "schedulings"}, "a", "")),
              "kubectl auth can-i create schedulings.esi.tu-berlin.de -n a --as='it'\\''s $me'");
}

TEST(refusals, a_401_tells_how_to_authenticate_and_a_429_when_to_come_again) {
    using headers = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(unauthenticated("x", false).headers,
              (headers{{"WWW-Authenticate", "Bearer realm=\"esi\""}}));
    EXPECT_EQ(unauthenticated("x", true).headers,
              (headers{{"WWW-Authenticate", "Bearer realm=\"esi\", error=\"invalid_token\""}}));
    const auto busy = throttled("x", milliseconds(1200));
    EXPECT_EQ(busy.status, 429);
    EXPECT_TRUE(busy.retryable);
    EXPECT_EQ(busy.retry_after_seconds, 2);
    EXPECT_EQ(throttled("x", milliseconds(0)).retry_after_seconds, 1);
}

}  // namespace
}  // namespace esi::interface::v1
