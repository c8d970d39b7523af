#include "interface/v1/access/gate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interface/v1/access/reviewed_access.h"
#include "interface/v1/access/testing.h"

namespace esi::interface::v1 {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class gate_test : public testing::Test {
protected:
    gate_test() {
        server.users["anna-token"] = "anna";
        server.rights = {{"anna", "list", "testbeds", "a"},
                         {"anna", "list", "testbeds", "b"},
                         {"anna", "create", "schedulings", "a"}};
        request.method = "GET";
        request.headers.emplace_back("host", "esi.example:8082");
    }

    struct outcome {
        int status = 200;
        json problem;
        std::string caller;
    };

    outcome ask(std::vector<permission> needs) {
        if (!gate_) gate_.emplace(*who_may, limits, pages);
        auto refused = server.run(gate_->admission_of(std::move(needs))(request));
        outcome out;
        out.caller = request.caller ? request.caller->name : std::string();
        if (!refused) return out;
        out.status = refused->status;
        out.problem = json::parse(refused->body);
        return out;
    }

    review_server server;
    access_options options = over_tls();
    std::unique_ptr<access> who_may =
        make_access({server.loop.get_executor(), server.time, server.api, server.numbers}, options);
    quota_options most;
    quota limits{server.time, server.numbers, most};
    page_rules pages;
    std::optional<gate> gate_;
    http::server_request request = request_with("anna-token");
};

TEST_F(gate_test, asks_for_the_namespace_of_the_path) {
    request.variables["namespace"] = "a";
    EXPECT_EQ(ask({{"list", "testbeds"}}).status, 200);
    EXPECT_EQ(ask({{"list", "testbeds"}}).caller, "anna");
    request.variables["namespace"] = "c";
    request.query = {{"namespace", "a"}};
    const auto refused = ask({{"list", "testbeds"}});
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.problem["code"], "Forbidden");
    EXPECT_EQ(refused.problem["instance"], "/api/v1/x");
    EXPECT_THAT(refused.problem["detail"].get<std::string>(), HasSubstr("namespace \"c\""));
}

TEST_F(gate_test, all_rights_are_needed) {
    request.variables["namespace"] = "a";
    EXPECT_EQ(ask({{"list", "testbeds"}, {"create", "schedulings"}}).status, 200);
    EXPECT_EQ(ask({{"list", "testbeds"}, {"delete", "schedulings"}}).status, 403);
    EXPECT_EQ(ask({}).status, 200) << "who is known is enough";
}

TEST_F(gate_test, who_has_waited_for_an_answer_is_asked_again) {
    request.variables["namespace"] = "a";
    const std::vector<permission> needs{{"list", "testbeds"}};
    EXPECT_EQ(ask(needs).status, 200);
    EXPECT_FALSE(server.run(gate_->refusal_after_wait(request, needs)));
    server.rights.clear();
    server.time.advance_to(server.time.now() + options.yes_ttl + seconds(1));
    const auto no_right = server.run(gate_->refusal_after_wait(request, needs));
    ASSERT_TRUE(no_right);
    EXPECT_EQ(no_right->status, 403);
    server.users.clear();
    server.time.advance_to(server.time.now() + options.yes_ttl + seconds(1));
    const auto nobody = server.run(gate_->refusal_after_wait(request, needs));
    ASSERT_TRUE(nobody);
    EXPECT_EQ(nobody->status, 401);
}

TEST_F(gate_test, asks_for_each_namespace_of_the_query_or_for_all) {
    request.query = {{"namespace", "a"}, {"namespace", "b"}};
    EXPECT_EQ(ask({{"list", "testbeds"}}).status, 200);
    request.query.emplace_back("namespace", "c");
    EXPECT_EQ(ask({{"list", "testbeds"}}).status, 403);
    request.query.clear();
    EXPECT_EQ(ask({{"list", "testbeds"}}).status, 403) << "anna may list two namespaces, not all";
    server.rights.insert({"anna", "list", "batchjobs", ""});
    EXPECT_EQ(ask({{"list", "batchjobs"}}).status, 200);
}

TEST_F(gate_test, without_a_token_nobody_is_asked_for_rights) {
    request.headers.clear();
    const auto refused = ask({{"list", "testbeds"}});
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.caller, "");
    EXPECT_EQ(server.access_reviews, 0);
}

TEST_F(gate_test, no_header_but_authorization_says_who_asks) {
    request.headers = {{"host", "esi.example:8082"},         {"x-remote-user", "anna"},
                       {"x-remote-group", "system:masters"}, {"x-forwarded-user", "anna"},
                       {"x-forwarded-for", "127.0.0.1"},     {"impersonate-user", "anna"},
                       {"cookie", "token=anna-token"}};
    request.query = {{"access_token", "anna-token"}};
    EXPECT_EQ(ask({}).status, 401);
}

TEST_F(gate_test, a_page_of_another_origin_changes_nothing) {
    request.variables["namespace"] = "a";
    request.headers.emplace_back("origin", "https://evil.example");
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        request.method = method;
        EXPECT_EQ(ask({{"create", "schedulings"}}).status, 403) << method;
    }
    EXPECT_EQ(server.token_reviews, 0);
    request.method = "GET";
    EXPECT_EQ(ask({{"list", "testbeds"}}).status, 200) << "a page cannot read the answer";
    request.method = "POST";
    request.headers.back().second = "https://esi.example:8082";
    EXPECT_EQ(ask({{"create", "schedulings"}}).status, 200);
    request.headers.back().second = "null";
    EXPECT_EQ(ask({{"create", "schedulings"}}).status, 403);
}

TEST_F(gate_test, without_authentication_the_host_has_to_be_one_that_no_page_has) {
    options.by_token = false;
    who_may =
        make_access({server.loop.get_executor(), server.time, server.api, server.numbers}, options);
    pages.checks_host = true;
    pages.hosts = {"esi.example.org"};
    gate_.reset();
    const std::pair<const char*, int> table[] = {{"evil.example", 403},
                                                 {"localhost:8082", 200},
                                                 {"10.0.0.1:8082", 200},
                                                 {"esi.esi-system.svc", 200},
                                                 {"esi.example.org", 200}};
    for (const auto& [host, status] : table) {
        request.headers = {{"host", host}};
        EXPECT_EQ(ask({{"delete", "testbeds"}}).status, status) << host;
    }
}

TEST_F(gate_test, a_caller_that_asks_too_often_is_told_when_to_come_again) {
    int throttled = 0;
    outcome last;
    for (int i = 0; i < 500; ++i) {
        auto each = ask({});
        throttled += each.status == 429 ? 1 : 0;
        if (each.status == 429) last = each;
    }
    EXPECT_EQ(throttled, 100);
    EXPECT_EQ(last.problem["code"], "Throttled");
    EXPECT_EQ(last.problem["retryable"], true);
}

}  // namespace
}  // namespace esi::interface::v1
