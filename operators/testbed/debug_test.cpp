#include "testbed/debug.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/virtual_clock.h"
#include "testbed/original_error.h"

namespace esi::testbed {
namespace {

class no_server final : public kube::transport {
public:
    asio::awaitable<result<kube::response>> send(kube::request, steady_time) override {
        co_return fail(errc::transport, "nobody there");
    }
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request,
                                                                steady_time) override {
        co_return fail(errc::transport, "nobody there");
    }
};

/// The endpoints with empty caches: what they answer before they look at anything.
class debug_routes : public testing::Test {
protected:
    http::server_reply ask(bool open, bool loopback, std::string path,
                           std::vector<std::pair<std::string, std::string>> query = {}) {
        http::router router;
        add_debug_routes(router, {time, api, seen, "default", open});
        http::server_request request;
        request.method = "GET";
        request.raw_path = std::move(path);
        request.query = std::move(query);
        request.peer_is_loopback = loopback;
        std::optional<http::server_reply> out;
        asio::co_spawn(loop, router.answer(std::move(request)),
                       [&](std::exception_ptr failed, http::server_reply reply) {
                           EXPECT_FALSE(failed);
                           out = std::move(reply);
                       });
        run_until(loop, time, [&] { return out.has_value(); });
        return out.value_or(http::server_reply(599, "", "no answer"));
    }

    asio::io_context loop;
    virtual_clock time;
    no_server nobody;
    kube::client api{nobody, time};
    caches_of_testbeds seen{api, time, {}};
};

TEST_F(debug_routes, strangers_are_refused_unless_it_is_open) {
    for (const char* path : {"/debug/node-set-up", "/debug/reset-all-jobs"}) {
        const auto reply = ask(false, false, path);
        EXPECT_EQ(reply.status, 403) << path;
        EXPECT_EQ(reply.body.find("2026-01-02T03:04:05.000+00:00"), 14u) << reply.body;
    }
    EXPECT_EQ(ask(false, true, "/debug/reset-all-jobs").body, "[]");
    EXPECT_EQ(ask(true, false, "/debug/reset-all-jobs/").body, "[]");
}

TEST_F(debug_routes, questions_that_make_no_sense_are_a_400) {
    const std::string path = "/debug/node-set-up";
    for (const char* count : {"", "0", "-1", "1.5", "two", "1x", "99999999999"}) {
        EXPECT_EQ(ask(false, true, path, {{"name", "t"}, {"count", count}}).status, 400) << count;
    }
    EXPECT_EQ(ask(false, true, path, {{"name", "t"}}).status, 400);
    EXPECT_EQ(ask(false, true, path, {{"count", "1"}}).status, 400);
    EXPECT_EQ(ask(false, true, path, {{"name", "t"}, {"count", "1"}}).status, 404);
    EXPECT_EQ(ask(false, true, "/debug/reset-all-jobs", {{"allNamespaces", "maybe"}}).status, 400);
    EXPECT_EQ(ask(false, true, "/debug/reset-all-jobs", {{"allNamespaces", "true"}}).body, "[]");
}

TEST(original_error, has_the_originals_shape) {
    http::server_request request;
    request.raw_path = "/debug/node-set-up";
    const auto when = virtual_clock::default_wall_start();
    EXPECT_EQ(original_error(request, 404, when).body,
              R"({"timestamp":"2026-01-02T03:04:05.000+00:00","status":404,"error":"Not Found",)"
              R"("path":"/debug/node-set-up"})");
    EXPECT_EQ(original_error(request, 401, when + milliseconds(60), {"a", "b"}).body,
              R"({"timestamp":"2026-01-02T03:04:05.060+00:00","status":401,"error":"Unauthorized",)"
              R"("path":"/debug/node-set-up","messages":["a","b"]})");
    using headers = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(original_error(request, 503, when).headers, (headers{{"Retry-After", "2"}}));
    const auto miss = original_miss(request, {"POST", "GET"}, when);
    EXPECT_EQ(miss.status, 405);
    EXPECT_EQ(miss.headers, (headers{{"Allow", "POST, GET"}}));
    EXPECT_EQ(original_miss(request, {}, when).status, 404);
}

}  // namespace
}  // namespace esi::testbed
