#include "interface/v1/access/reviewed_access.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "base/log.h"
#include "interface/v1/access/testing.h"

namespace esi::interface::v1 {
namespace {

using testing::HasSubstr;
using testing::Not;

const permission list_testbeds{"list", "testbeds"};

class reviewed : public testing::Test {
protected:
    reviewed() {
        server.users["anna-token"] = "anna";
        server.rights.insert({"anna", "list", "testbeds", "a"});
    }

    void make() {
        own = std::make_unique<reviewed_access>(
            access_sources{server.loop.get_executor(), server.time, server.api, server.numbers},
            options);
    }

    /// The caller's name, or status and code of the problem.
    std::string who(const std::string& token, const std::string& address = "10.0.0.7") {
        if (!own) make();
        auto known = server.run(own->authenticate(request_with(token, address)));
        if (!known) last = known.error();
        return known ? (*known)->name : std::to_string(known.error().status);
    }
    int may(const std::string& name, const permission& what, const std::string& ns) {
        if (!own) make();
        auto why = server.run(own->refusal({name, "", {"system:authenticated"}, {}}, what, ns, ""));
        if (why) last = *why;
        return why ? why->status : 200;
    }
    void pass(steady_time::duration passed) { run_for(server.loop, server.time, passed); }

    static result<kube::response> status(int code, const std::string& message = "no") {
        kube::response out;
        out.status = code;
        out.body = nlohmann::json{{"kind", "Status"}, {"message", message}, {"code", code}}.dump();
        return out;
    }

    review_server server;
    access_options options = over_tls();
    std::unique_ptr<reviewed_access> own;
    http::problem_details last;
};

TEST_F(reviewed, a_token_is_looked_up_once_and_believed_for_its_time) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(who("anna-token"), "anna");
    EXPECT_EQ(server.token_reviews, 1);
    pass(seconds(59));
    server.users.clear();
    EXPECT_EQ(who("anna-token"), "anna");
    pass(seconds(1));
    EXPECT_EQ(who("anna-token"), "401") << "the account is gone";
    EXPECT_EQ(server.token_reviews, 2);
}

TEST_F(reviewed, a_no_is_believed_for_five_seconds) {
    EXPECT_EQ(who("new-token"), "401");
    EXPECT_THAT(last.detail, HasSubstr("kubectl create token ACCOUNT --audience=esi"));
    server.users["new-token"] = "ben";
    pass(seconds(4));
    EXPECT_EQ(who("new-token"), "401");
    EXPECT_EQ(server.token_reviews, 1);
    pass(seconds(1));
    EXPECT_EQ(who("new-token"), "ben");
}

TEST_F(reviewed, without_a_token_or_with_none_that_could_be_one_nobody_is_asked) {
    EXPECT_EQ(who(""), "401");
    EXPECT_EQ(last.headers.front().first, "WWW-Authenticate");
    EXPECT_EQ(who("a b"), "401");
    EXPECT_EQ(server.token_reviews, 0);
}

TEST_F(reviewed, a_token_that_others_on_the_network_can_read_is_taken_only_where_that_is_wanted) {
    options.encrypted = false;
    EXPECT_EQ(who("anna-token", "10.0.0.7"), "403");
    EXPECT_THAT(last.detail, HasSubstr("kubectl port-forward"));
    EXPECT_THAT(last.detail, HasSubstr("interface.api.plainTokens"));
    EXPECT_EQ(who("anna-token", "fe80::1"), "403");
    EXPECT_EQ(who("anna-token", ""), "403");
    EXPECT_EQ(server.token_reviews, 0);
    EXPECT_EQ(who("", "10.0.0.7"), "401") << "there is no token";
    for (const auto* near : {"127.0.0.1", "127.0.0.6", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_EQ(who("anna-token", near), "anna") << near;
    }
    options.plain_tokens = true;
    make();
    EXPECT_EQ(who("anna-token", "10.0.0.7"), "anna");
}

TEST_F(reviewed, a_certificate_names_who_asks_but_a_token_goes_first) {
    make();
    auto request = request_with("");
    auto peer = std::make_shared<http::peer_details>();
    peer->certificate = http::certificate_subject{"carl", {"planners"}};
    request.peer = peer;
    EXPECT_EQ(server.run(own->authenticate(request)).value()->name, "carl");
    EXPECT_EQ(server.token_reviews, 0);
    request.headers.emplace_back("authorization", "Bearer anna-token");
    EXPECT_EQ(server.run(own->authenticate(request)).value()->name, "anna");
    request.headers.back().second = "Bearer wrong";
    EXPECT_FALSE(server.run(own->authenticate(request))) << "a wrong token is no way to another";
}

TEST_F(reviewed, a_certificate_that_ends_on_a_connection_that_stands_is_believed_no_longer) {
    make();
    auto request = request_with("");
    auto peer = std::make_shared<http::peer_details>();
    peer->certificate =
        http::certificate_subject{"carl", {"planners"}, server.time.wall() + seconds(40)};
    request.peer = peer;
    pass(seconds(39));
    EXPECT_TRUE(server.run(own->authenticate(request)));
    pass(seconds(1));
    const auto after = server.run(own->authenticate(request));
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().status, 401);
    EXPECT_THAT(after.error().detail, HasSubstr("new connection with a new certificate"));
    request.headers.emplace_back("authorization", "Bearer anna-token");
    EXPECT_TRUE(server.run(own->authenticate(request))) << "a token goes first";
}

TEST_F(reviewed, requests_with_one_token_at_once_share_one_review) {
    make();
    server.wire.latency = seconds(1);
    int known = 0;
    const auto request = request_with("anna-token");
    for (int i = 0; i < 100; ++i) {
        asio::co_spawn(server.loop, own->authenticate(request),
                       [&](std::exception_ptr, auto answer) { known += answer ? 1 : 0; });
    }
    pass(seconds(2));
    EXPECT_EQ(known, 100);
    EXPECT_EQ(server.token_reviews, 1);
}

TEST_F(reviewed, when_the_one_that_asks_is_cancelled_another_asks) {
    make();
    server.wire.latency = seconds(1);
    const auto request = request_with("anna-token");
    asio::cancellation_signal cancel;
    bool cut = false;
    int known = 0;
    asio::co_spawn(server.loop, own->authenticate(request),
                   asio::bind_cancellation_slot(
                       cancel.slot(), [&](std::exception_ptr failure, auto) { cut = !!failure; }));
    for (int i = 0; i < 3; ++i) {
        asio::co_spawn(server.loop, own->authenticate(request),
                       [&](std::exception_ptr, auto answer) { known += answer ? 1 : 0; });
    }
    pass(milliseconds(500));
    cancel.emit(asio::cancellation_type::terminal);
    pass(seconds(3));
    EXPECT_TRUE(cut);
    EXPECT_EQ(known, 3);
    EXPECT_EQ(server.wire.asked.size(), 2U);
}

TEST_F(reviewed, rights_are_asked_for_each_verb_resource_and_namespace) {
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
    EXPECT_EQ(may("anna", list_testbeds, "b"), 403);
    EXPECT_THAT(last.detail, HasSubstr("\"anna\" may not list testbeds.esi.tu-berlin.de in the "
                                       "namespace \"b\""));
    EXPECT_EQ(may("anna", list_testbeds, ""), 403);
    EXPECT_EQ(may("anna", {"get", "testbeds"}, "a"), 403);
    EXPECT_EQ(may("anna", {"list", "batchjobs"}, "a"), 403);
    EXPECT_EQ(may("ben", list_testbeds, "a"), 403);
    EXPECT_EQ(server.access_reviews, 6);
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
    EXPECT_EQ(may("ben", list_testbeds, "a"), 403);
    EXPECT_EQ(server.access_reviews, 6) << "all are known";
}

TEST_F(reviewed, a_right_taken_away_ends_with_the_cache_and_one_given_is_seen_after_five_seconds) {
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
    EXPECT_EQ(may("ben", list_testbeds, "a"), 403);
    server.rights = {{"ben", "list", "testbeds", "a"}};
    pass(seconds(5));
    EXPECT_EQ(may("ben", list_testbeds, "a"), 200);
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
    pass(seconds(55));
    EXPECT_EQ(may("anna", list_testbeds, "a"), 403);
}

TEST_F(reviewed, an_api_server_that_gives_no_answer_is_a_503_and_never_a_yes) {
    const std::pair<const char*, result<kube::response>> failures[] = {
        {"nobody there", fail(errc::transport, "connection refused")},
        {"500", status(500)},
        {"429", status(429)},
        {"html", kube::response{200, "<html>", -1, {}, {}}},
        {"empty", kube::response{201, "{}", -1, {}, {}}},
    };
    for (const auto& [name, failure] : failures) {
        own.reset();
        server.instead = [&](const kube::request&) { return failure; };
        EXPECT_EQ(who("anna-token"), "503") << name;
        EXPECT_TRUE(last.retryable);
        EXPECT_EQ(last.retry_after_seconds, 2) << name;
        EXPECT_THAT(own->trouble(), HasSubstr("tokenreviews.authentication.k8s.io")) << name;
        EXPECT_EQ(may("anna", list_testbeds, "a"), 503) << name;
        EXPECT_THAT(own->trouble(), HasSubstr("subjectaccessreviews")) << name;
        server.instead = nullptr;
        EXPECT_EQ(who("anna-token"), "anna") << "nothing of it is kept: " << name;
        EXPECT_EQ(may("anna", list_testbeds, "a"), 200) << name;
        EXPECT_EQ(own->trouble(), "") << name;
    }
}

TEST_F(reviewed, an_api_server_that_never_answers_is_a_503_after_ten_seconds) {
    make();
    server.wire.latency = std::chrono::minutes(5);
    const auto begun = server.time.now();
    EXPECT_EQ(who("anna-token"), "503");
    EXPECT_EQ(server.time.now() - begun, seconds(10));
}

TEST_F(reviewed, a_connection_that_the_api_server_had_closed_is_no_failure) {
    int calls = 0;
    server.instead = [&](const kube::request&) -> std::optional<result<kube::response>> {
        if (++calls % 2 == 1) return fail(errc::transport, "closed");
        return std::nullopt;
    };
    EXPECT_EQ(who("anna-token"), "anna");
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
}

TEST_F(reviewed, reviews_that_this_operator_may_not_ask_are_told_with_the_remedy) {
    std::string told;
    log::send_to([&](log::level, std::string_view line) { told += std::string(line) + "\n"; });
    server.instead = [](const kube::request&) { return status(403, "forbidden"); };
    EXPECT_EQ(who("anna-token"), "503");
    EXPECT_EQ(last.retry_after_seconds, 30);
    EXPECT_THAT(last.detail, HasSubstr("may not create tokenreviews.authentication.k8s.io"));
    EXPECT_THAT(own->trouble(), HasSubstr("ClusterRole"));
    EXPECT_THAT(told, HasSubstr("remedy=\"grant create on tokenreviews.authentication.k8s.io"));
    for (int i = 0; i < 20; ++i) who("anna-token");
    log::send_to({});
    EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
}

TEST_F(reviewed, tokens_of_somebodys_own_making_are_asked_about_so_many_times_and_no_more) {
    options.reviews_of_a_peer = {20, 100};
    int unknown = 0;
    int throttled = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto answer = who(fmt::format("made-up-{}", i), "10.6.6.6");
        unknown += answer == "401" ? 1 : 0;
        throttled += answer == "429" ? 1 : 0;
    }
    EXPECT_EQ(unknown, 100);
    EXPECT_EQ(throttled, 900);
    EXPECT_EQ(server.token_reviews, 100);
    EXPECT_GE(last.retry_after_seconds, 1);
    EXPECT_EQ(who("anna-token", "10.0.0.8"), "anna") << "others are not kept out";
    pass(seconds(1));
    EXPECT_EQ(who("made-up-999", "10.6.6.6"), "401");
}

TEST_F(reviewed, known_tokens_are_answered_while_their_peer_floods) {
    EXPECT_EQ(who("anna-token", "127.0.0.1"), "anna");
    for (int i = 0; i < 300; ++i) who(fmt::format("made-up-{}", i), "127.0.0.1");
    EXPECT_EQ(who("made-up-301", "127.0.0.1"), "429");
    EXPECT_EQ(who("anna-token", "127.0.0.1"), "anna");
    // Also when the cached answers have expired.
    pass(options.yes_ttl + seconds(1));
    for (int i = 0; i < 300; ++i) who(fmt::format("made-up-again-{}", i), "127.0.0.1");
    EXPECT_EQ(who("made-up-302", "127.0.0.1"), "429");
    EXPECT_EQ(who("anna-token", "127.0.0.1"), "anna");
}

TEST_F(reviewed, all_peers_together_are_bounded_too) {
    options.reviews = {10, 50};
    int reviewed_ones = 0;
    for (int i = 0; i < 200; ++i) {
        const auto address = fmt::format("10.6.{}.1", i);
        reviewed_ones += who(fmt::format("made-up-{}", i), address) == "401" ? 1 : 0;
    }
    EXPECT_EQ(reviewed_ones, 40) << "the rest is for those who are known";
}

TEST_F(reviewed, reviews_under_way_are_bounded) {
    make();
    server.wire.latency = seconds(5);
    int throttled = 0;
    int unknown = 0;
    std::vector<http::server_request> requests;
    for (int i = 0; i < 300; ++i) {
        requests.push_back(request_with(fmt::format("t{}", i), fmt::format("10.6.{}.1", i)));
    }
    for (const auto& request : requests) {
        asio::co_spawn(server.loop, own->authenticate(request),
                       [&](std::exception_ptr, auto answer) {
                           throttled += !answer && answer.error().status == 429 ? 1 : 0;
                           unknown += !answer && answer.error().status == 401 ? 1 : 0;
                       });
    }
    pass(seconds(30));
    EXPECT_EQ(unknown, 204) << "the rest of 256 is for those who are known";
    EXPECT_EQ(throttled, 96);
}

TEST_F(reviewed, accounts_of_one_namespace_leave_reviews_to_other_tenants) {
    EXPECT_EQ(who("anna-token"), "anna");
    int of_evil = 0;
    int refused = 0;
    for (int second = 0; second < 130; ++second) {
        pass(seconds(1));
        // Ten accounts without a right: each namespace is another one to ask for.
        for (int a = 0; a < 10; ++a) {
            for (int i = 0; i < 30; ++i) {
                const auto name = fmt::format("system:serviceaccount:evil:a{}", a);
                const auto status = may(name, list_testbeds, fmt::format("n{}-{}", second, i));
                of_evil += status == 403 ? 1 : 0;
                refused += status == 429 ? 1 : 0;
            }
        }
        // She is known, and asked about again each minute; her rights as well.
        EXPECT_EQ(who("anna-token"), "anna") << second;
        EXPECT_EQ(may("anna", list_testbeds, "a"), 200) << second;
    }
    EXPECT_GT(of_evil, 20'000);
    EXPECT_GT(refused, 8'000);
}

TEST_F(reviewed, strangers_at_any_number_of_addresses_leave_reviews_to_those_who_are_known) {
    EXPECT_EQ(who("anna-token"), "anna");
    int throttled = 0;
    for (int second = 0; second < 130; ++second) {
        pass(seconds(1));
        for (int i = 0; i < 400; ++i) {
            const auto address = fmt::format("10.{}.{}.1", i % 200, i / 200);
            throttled += who(fmt::format("made-up-{}-{}", second, i), address) == "429" ? 1 : 0;
        }
        EXPECT_EQ(who("anna-token"), "anna") << second;
        EXPECT_EQ(may("anna", list_testbeds, "a"), 200) << second;
    }
    EXPECT_GT(throttled, 10'000);
}

TEST_F(reviewed, a_tenant_whose_reviews_hang_leaves_room_to_others) {
    make();
    server.wire.latency = seconds(5);
    std::vector<http::identity> accounts;
    for (int a = 0; a < 10; ++a) {
        accounts.push_back({fmt::format("system:serviceaccount:evil:a{}", a), "", {}, {}});
    }
    for (int i = 0; i < 300; ++i) {
        asio::co_spawn(server.loop,
                       own->refusal(accounts[static_cast<std::size_t>(i % 10)], list_testbeds,
                                    fmt::format("n{}", i), ""),
                       [](std::exception_ptr, auto) {});
    }
    pass(milliseconds(100));
    EXPECT_EQ(server.wire.asked.size(), 205U);
    EXPECT_EQ(who("anna-token"), "anna") << "who was not known before, too";
    pass(seconds(30));
}

TEST_F(reviewed, a_token_that_is_in_use_stays_known_while_others_come_and_go) {
    options.most_tokens = 10;
    options.reviews = options.reviews_of_a_peer = {1e6, 1e6};
    EXPECT_EQ(who("anna-token"), "anna");
    for (int i = 0; i < 100; ++i) {
        const auto token = fmt::format("evil-{}", i);
        server.users[token] = "system:serviceaccount:evil:a";
        EXPECT_EQ(who(token), "system:serviceaccount:evil:a");
        EXPECT_EQ(who("anna-token"), "anna");
    }
    pass(options.yes_ttl + seconds(1));
    // As a known caller, and not as a stranger at an address that sends too much.
    for (int i = 0; i < 1000; ++i) who("made-up", "10.0.0.7");
    EXPECT_EQ(who("anna-token"), "anna");
}

TEST_F(reviewed, a_caller_with_ever_new_questions_is_throttled) {
    options.reviews_of_a_caller = {10, 20};
    int asked = 0;
    for (int i = 0; i < 100; ++i) {
        asked += may("ben", list_testbeds, fmt::format("n{}", i)) == 403 ? 1 : 0;
    }
    EXPECT_EQ(asked, 20);
    EXPECT_EQ(last.status, 429);
    EXPECT_EQ(may("anna", list_testbeds, "a"), 200);
}

TEST_F(reviewed, unknown_tokens_drive_no_known_ones_out_and_both_are_bounded) {
    options.most_tokens = 10;
    options.reviews_of_a_peer = options.reviews = {1e6, 1e6};
    EXPECT_EQ(who("anna-token"), "anna");
    for (int i = 0; i < 1000; ++i) who(fmt::format("made-up-{}", i));
    server.users.clear();
    EXPECT_EQ(who("anna-token"), "anna");
    EXPECT_THAT(server.numbers.text(),
                HasSubstr("esi_api_review_cache_entries{cache=\"unknown_tokens\"} 10"));
}

TEST_F(reviewed, a_time_of_zero_asks_each_time) {
    options.yes_ttl = seconds(0);
    EXPECT_EQ(who("anna-token"), "anna");
    EXPECT_EQ(who("anna-token"), "anna");
    EXPECT_EQ(who("wrong"), "401");
    EXPECT_EQ(who("wrong"), "401");
    EXPECT_EQ(server.token_reviews, 4);
}

TEST_F(reviewed, no_token_stands_in_log_answers_readiness_or_metrics) {
    const std::string secret = "s3cret-t0ken.with.parts";
    std::string told;
    log::configure(log::level::debug, log::format::text);
    log::send_to([&](log::level, std::string_view line) { told += std::string(line) + "\n"; });
    const auto try_it = [&] {
        who(secret);
        told += last.detail;
        for (const auto& [name, value] : last.headers) told += value;
        told += own->trouble();
    };
    const auto echo = [&](int code) {
        server.instead = [=](const kube::request& what) {
            auto out = status(code, "cannot take " + what.body);
            out->warnings.push_back("deprecated");
            return out;
        };
    };
    for (int code : {400, 401, 403, 404, 422, 429, 500, 503}) {
        own.reset();
        echo(code);
        try_it();
    }
    // A body that is no JSON is shown as far as there is room, which may end in the token.
    for (int before : {0, 270, 280, 290, 295}) {
        own.reset();
        server.instead = [&, before](const kube::request&) {
            return kube::response{
                502, std::string(static_cast<std::size_t>(before), '<') + secret, -1, {}, {}};
        };
        try_it();
    }
    server.instead = [&](const kube::request&) -> std::optional<result<kube::response>> {
        return fail(errc::transport, "sending " + secret + " failed");
    };
    own.reset();
    try_it();
    server.instead = [&](const kube::request&) {
        return kube::response{
            201, R"({"status":{"authenticated":false,"error":"bad )" + secret + "\"}}", -1, {}, {}};
    };
    own.reset();
    try_it();
    server.instead = nullptr;
    try_it();
    who(secret + " " + secret);
    told += last.detail;
    log::send_to({});
    log::configure(log::level::info, log::format::text);
    EXPECT_THAT(told, HasSubstr("token refused"));
    EXPECT_THAT(told, HasSubstr("/api/v1 cannot ask for rights"));
    EXPECT_THAT(told, Not(HasSubstr("s3cret")));
    EXPECT_THAT(server.numbers.text(), Not(HasSubstr("s3cret")));
}

TEST_F(reviewed, without_authentication_everybody_is_anonymous_and_may_everything) {
    options.by_token = false;
    auto open =
        make_access({server.loop.get_executor(), server.time, server.api, server.numbers}, options);
    const auto who = server.run(open->authenticate(request_with("")));
    ASSERT_TRUE(who);
    EXPECT_EQ((*who)->name, "system:anonymous");
    EXPECT_FALSE(server.run(open->refusal(**who, {"delete", "testbeds"}, "a", "b")));
    EXPECT_EQ(server.token_reviews + server.access_reviews, 0);
}

}  // namespace
}  // namespace esi::interface::v1
