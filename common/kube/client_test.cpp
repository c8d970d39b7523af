#include "kube/client.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>

#include "base/virtual_clock.h"
#include "kube/status_error.h"

namespace esi::kube {
namespace {

/// Answers from a script, and keeps what it was asked.
class scripted final : public transport {
public:
    struct asked {
        request what;
        steady_time deadline;
    };
    std::deque<result<response>> answers;
    std::vector<asked> seen;

    asio::awaitable<result<response>> send(request what, steady_time deadline) override {
        seen.push_back({std::move(what), deadline});
        if (answers.empty()) co_return fail(errc::transport, "the script has ended");
        auto answer = std::move(answers.front());
        answers.pop_front();
        co_return answer;
    }
    asio::awaitable<result<std::unique_ptr<stream>>> open(request, steady_time) override {
        co_return fail(errc::transport, "not in this test");
    }

    void will_answer(int status, std::string body = "{}", int retry_after = -1) {
        response out;
        out.status = status;
        out.body = std::move(body);
        out.retry_after_seconds = retry_after;
        answers.emplace_back(std::move(out));
    }
    void will_break() { answers.emplace_back(std::unexpect, errc::transport, "reset"); }
};

class client_test : public testing::Test {
protected:
    result<std::string> run(asio::awaitable<result<std::string>> task) {
        std::optional<result<std::string>> out;
        asio::co_spawn(loop, std::move(task),
                       [&](std::exception_ptr failure, result<std::string> answer) {
                           if (failure) std::rethrow_exception(failure);
                           out = std::move(answer);
                       });
        run_until(loop, time, [&] { return out.has_value(); });
        return out.value_or(fail(errc::timeout, "the test's limit"));
    }
    const request& last() const { return wire.seen.back().what; }

    asio::io_context loop;
    virtual_clock time;
    scripted wire;
    client api{wire, time};
};

TEST_F(client_test, verbs_have_their_paths_bodies_and_types) {
    for (int i = 0; i < 20; ++i) wire.will_answer(200, "body");
    EXPECT_EQ(run(api.get(types::pod, "lab", "p")), "body");
    EXPECT_EQ(last().method + " " + last().target, "GET /api/v1/namespaces/lab/pods/p");
    EXPECT_EQ(last().body, "");
    EXPECT_TRUE(last().safe_to_repeat);

    list_options options;
    options.label_selector = "a=b,c";
    options.field_selector = "spec.nodeName=n";
    options.resource_version = "0";
    options.limit = 5;
    run(api.list(types::pod, "", options));
    EXPECT_EQ(last().method + " " + last().target,
              "GET /api/v1/pods?labelSelector=a%3Db%2Cc&fieldSelector=spec.nodeName%3Dn"
              "&resourceVersion=0&limit=5");

    create_options dry;
    dry.dry_run = true;
    dry.field_validation = "Strict";
    run(api.create(types::testbed, "lab", json::parse(R"({"metadata":{"name":"x"}})"), dry));
    EXPECT_EQ(last().method + " " + last().target,
              "POST /apis/esi.tu-berlin.de/v1alpha1/namespaces/lab/testbeds?dryRun=All"
              "&fieldValidation=Strict");
    EXPECT_EQ(last().content_type, "application/json");
    EXPECT_FALSE(last().safe_to_repeat);

    const struct {
        patch_kind kind;
        const char* type;
    } kinds[] = {{patch_kind::merge, "application/merge-patch+json"},
                 {patch_kind::json, "application/json-patch+json"},
                 {patch_kind::strategic, "application/strategic-merge-patch+json"}};
    for (const auto& row : kinds) {
        run(api.patch(types::pod, "lab", "p", row.kind, json::parse(R"({"a":1})"), "status"));
        EXPECT_EQ(last().method + " " + last().target,
                  "PATCH /api/v1/namespaces/lab/pods/p/status");
        EXPECT_EQ(last().content_type, row.type);
        EXPECT_FALSE(last().safe_to_repeat);
    }
    run(api.patch(types::pod, "lab", "p", patch_kind::apply,
                  json::parse(R"({"metadata":{"uid":"u"}})")));
    EXPECT_EQ(last().target, "/api/v1/namespaces/lab/pods/p?fieldManager=esi&force=true");
    EXPECT_TRUE(last().safe_to_repeat);

    run(api.update(types::lease, "esi-system", "l", json::parse(R"({"a":"\u00e4"})")));
    EXPECT_EQ(last().method + " " + last().target,
              "PUT /apis/coordination.k8s.io/v1/namespaces/esi-system/leases/l");

    run(api.remove(types::pod, "lab", "p", preconditions("u", "7"), 0));
    EXPECT_EQ(last().method, "DELETE");
    EXPECT_EQ(json::parse(last().body), json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
        "preconditions":{"uid":"u","resourceVersion":"7"},"gracePeriodSeconds":0})"));
    EXPECT_TRUE(last().safe_to_repeat);
    run(api.remove(types::node, "", "n", preconditions()));
    EXPECT_EQ(json::parse(last().body),
              json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions"})"));
}

TEST_F(client_test, bad_utf8_in_a_body_does_not_throw) {
    wire.will_answer(200);
    json body = json::object();
    body["note"] = "\xff";
    EXPECT_TRUE(run(api.create(types::event, "lab", body)));
    EXPECT_EQ(last().body, "{\"note\":\"\xEF\xBF\xBD\"}");
}

TEST_F(client_test, a_status_becomes_an_error_that_names_the_object) {
    const struct {
        int status;
        const char* body;
        errc code;
        const char* text;
    } table[] = {
        {400, R"({"reason":"BadRequest","message":"m"})", errc::bad_request,
         "get Pod lab/p: HTTP 400 BadRequest: m"},
        {401, R"({})", errc::unauthorized, "get Pod lab/p: HTTP 401: no message"},
        {403, R"({"reason":"Forbidden","message":"m"})", errc::forbidden,
         "get Pod lab/p: HTTP 403 Forbidden: m"},
        {404, "not json", errc::not_found, "get Pod lab/p: HTTP 404: not json"},
        {405, "", errc::bad_request, "get Pod lab/p: HTTP 405: "},
        {409, R"({"reason":"AlreadyExists","message":"m"})", errc::already_exists,
         "get Pod lab/p: HTTP 409 AlreadyExists: m"},
        {409, R"({"reason":"Conflict","message":"m"})", errc::conflict,
         "get Pod lab/p: HTTP 409 Conflict: m"},
        {410, R"({"reason":"Expired","message":"m"})", errc::gone,
         "get Pod lab/p: HTTP 410 Expired: m"},
        {422, R"({"reason":"Invalid","message":"bad a","details":{"causes":[
            {"reason":"FieldValueRequired","message":"Required value","field":"spec.x"},
            {"message":"bad a"}, 5]}})",
         errc::invalid, "get Pod lab/p: HTTP 422 Invalid: bad a; spec.x: Required value"},
        {422,
         R"({"reason":"Invalid","message":"metadata.uid: field is immutable","details":{"causes":[
            {"reason":"FieldValueInvalid","message":"Invalid value","field":"metadata.uid"}]}})",
         errc::conflict,
         "get Pod lab/p: HTTP 422 Invalid: metadata.uid: field is immutable; Invalid value"},
        {429, R"([])", errc::too_many_requests, "get Pod lab/p: HTTP 429: []"},
        {500, R"({"message":5,"reason":[],"details":[]})", errc::server,
         "get Pod lab/p: HTTP 500: no message"},
        {504, R"({"reason":"Timeout","message":"m","details":{"causes":[
            {"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})",
         errc::server,
         "get Pod lab/p: HTTP 504 Timeout: m; Too large resource version: ResourceVersionTooLarge"},
    };
    for (const auto& row : table) {
        wire.will_answer(row.status, row.body);
        auto answer = run(api.get(types::pod, "lab", "p"));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, row.code) << row.text;
        EXPECT_EQ(answer.error().text, row.text);
    }
    const auto in_watch = status_error(
        R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})", "watch pods");
    EXPECT_EQ(in_watch.code, errc::gone);
    EXPECT_EQ(in_watch.text, "watch pods: HTTP 410 Expired: too old");
    EXPECT_EQ(status_error("nonsense", "watch pods").code, errc::server);
}

TEST_F(client_test, metadata_alone_is_asked_for_where_the_rest_is_of_no_use) {
    const std::string partial =
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
    for (int i = 0; i < 4; ++i) wire.will_answer(200);
    run(api.get(types::testbed, "lab", "t", shown_part::metadata));
    EXPECT_EQ(last().accept, partial);
    run(api.patch(types::testbed, "lab", "t", patch_kind::merge, json::object(), "status",
                  shown_part::metadata));
    EXPECT_EQ(last().accept, partial);
    EXPECT_EQ(last().content_type, "application/merge-patch+json");
    run(api.get(types::testbed, "lab", "t"));
    EXPECT_EQ(last().accept, "");
    run(api.patch(types::testbed, "lab", "t", patch_kind::merge, json::object()));
    EXPECT_EQ(last().accept, "");
}

TEST_F(client_test, an_answer_with_retry_after_is_waited_for) {
    wire.will_answer(429, "{}", 2);
    wire.will_answer(503, "{}", 1);
    wire.will_answer(200, "at last");
    const auto begun = time.now();
    EXPECT_EQ(run(api.create(types::pod, "lab", json::object())), "at last");
    EXPECT_EQ(time.now() - begun, seconds(3));
    EXPECT_EQ(wire.seen.size(), 3u);
}

TEST_F(client_test, what_a_proxy_asks_to_wait_for_is_bounded) {
    wire.will_answer(429, "{}", 86'400);
    auto answer = run(api.get(types::pod, "lab", "p"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().retry_after, seconds(120));
    const auto in_watch = status_error(
        R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":86400}})", "watch pods");
    EXPECT_EQ(in_watch.retry_after, seconds(120));
}

TEST_F(client_test, waiting_has_an_end) {
    for (int i = 0; i < 9; ++i) wire.will_answer(429, "{}", 1);
    auto answer = run(api.get(types::pod, "lab", "p"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::too_many_requests);
    EXPECT_EQ(answer.error().retry_after, seconds(1));
    EXPECT_EQ(wire.seen.size(), 4u);
}

TEST_F(client_test, no_wait_beyond_the_deadline_and_none_without_retry_after) {
    wire.will_answer(429, "{}", 31);
    EXPECT_FALSE(run(api.get(types::pod, "lab", "p")));
    wire.will_answer(503);
    EXPECT_FALSE(run(api.get(types::pod, "lab", "p")));
    wire.will_answer(404, "{}", 1);
    EXPECT_FALSE(run(api.get(types::pod, "lab", "p")));
    EXPECT_EQ(wire.seen.size(), 3u);
}

TEST_F(client_test, a_read_survives_one_broken_connection_and_a_write_none) {
    wire.will_break();
    wire.will_answer(200, "ok");
    EXPECT_EQ(run(api.get(types::pod, "lab", "p")), "ok");
    wire.will_break();
    wire.will_break();
    auto twice = run(api.get(types::pod, "lab", "p"));
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().text, "get Pod lab/p: reset");
    wire.will_break();
    auto write = run(api.remove(types::pod, "lab", "p", preconditions("u")));
    ASSERT_FALSE(write);
    EXPECT_EQ(write.error().code, errc::transport);
    EXPECT_EQ(wire.seen.size(), 5u);
}

TEST_F(client_test, an_answer_that_is_too_large_is_not_asked_for_again) {
    wire.will_answer(200, "123456");
    list_options options;
    options.answer_limit = 5;
    const auto list = run(api.list(types::pod, "lab", options));
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, errc::answer_too_large);
    EXPECT_EQ(list.error().text, "list pods in lab: the answer has more than 5 bytes");
    EXPECT_EQ(last().answer_limit, 5u);
    EXPECT_EQ(wire.seen.size(), 1u);
    wire.will_answer(200, "12345");
    EXPECT_EQ(run(api.list(types::pod, "lab", options)), "12345");
    wire.will_answer(200, "{}");
    EXPECT_EQ(run(api.get(types::pod, "lab", "p")), "{}");
    EXPECT_EQ(last().answer_limit, most_object_bytes);
    wire.will_answer(200, "{}");
    EXPECT_EQ(run(api.list(types::pod, "lab", {})), "{}");
    EXPECT_EQ(last().answer_limit, 0u) << "a watch begins with all that there is";
}

TEST_F(client_test, writes_end_with_the_right_to_write) {
    std::optional<steady_time> until;
    api.limit_writes([&] { return until; });
    auto refused = run(api.remove(types::pod, "lab", "p", preconditions("u")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::not_leader);
    until = time.now();
    EXPECT_EQ(run(api.update(types::pod, "lab", "p", json::object())).error().code,
              errc::not_leader);
    EXPECT_EQ(wire.seen.size(), 0u);

    wire.will_answer(200);
    EXPECT_TRUE(run(api.get(types::pod, "lab", "p")));
    create_options dry;
    dry.dry_run = true;
    wire.will_answer(200);
    EXPECT_TRUE(run(api.create(types::pod, "lab", json::object(), dry)));
    wire.will_answer(422);
    const auto tried = run(api.create(types::pod, "lab", {{"metadata", {{"name", "p"}}}}, dry));
    ASSERT_FALSE(tried);
    EXPECT_TRUE(tried.error().text.starts_with("dry run of Pod lab/p: HTTP 422"))
        << tried.error().text;

    until = time.now() + seconds(4);
    wire.will_answer(200);
    EXPECT_TRUE(run(api.patch(types::pod, "lab", "p", patch_kind::merge, json::object())));
    EXPECT_EQ(wire.seen.back().deadline, *until);
    until = time.now() + seconds(100);
    wire.will_answer(200);
    EXPECT_TRUE(run(api.patch(types::pod, "lab", "p", patch_kind::merge, json::object())));
    EXPECT_EQ(wire.seen.back().deadline, time.now() + seconds(30));
}

TEST_F(client_test, a_write_that_waited_is_not_sent_after_the_right_is_lost) {
    auto until = time.now() + seconds(2);
    api.limit_writes([&] { return std::optional(until); });
    wire.will_answer(429, "{}", 5);
    auto answer = run(api.create(types::pod, "lab", json::object()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::not_leader);
    EXPECT_EQ(wire.seen.size(), 1u);
}

TEST_F(client_test, every_answer_is_counted) {
    std::vector<std::string> counted;
    api.on_request([&](int code, std::string_view method, double) {
        counted.push_back(std::string(method) + " " + std::to_string(code));
    });
    wire.will_answer(200);
    run(api.get(types::pod, "lab", "p"));
    wire.will_break();
    wire.will_answer(404);
    run(api.get(types::pod, "lab", "p"));
    EXPECT_EQ(counted, (std::vector<std::string>{"GET 200", "GET 0", "GET 404"}));
}

}  // namespace
}  // namespace esi::kube
