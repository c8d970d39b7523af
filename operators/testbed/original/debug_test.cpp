#include "testbed/original/debug.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "testbed/original/node_setup.h"
#include "testbed/original/original_error.h"
#include "testbed/testing.h"

namespace esi::testbed {
namespace {

/// The endpoints with empty caches: tests the answers that come before any look-up.
class debug_routes : public testing::Test {
protected:
    http::server_reply ask(bool open, bool loopback, std::string path,
                           std::vector<std::pair<std::string, std::string>> query = {}) {
        http::server_request request;
        request.method = "GET";
        request.headers = {{"x-esi-debug", "1"}};
        request.raw_path = std::move(path);
        request.query = std::move(query);
        request.peer_is_loopback = loopback;
        return ask(open, std::move(request));
    }
    http::server_reply ask(bool open, http::server_request request) {
        http::router router;
        http::local_access access;
        access.open = open;
        add_debug_routes(router, {time, api, seen, "default", access});
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
    kube::no_server nobody;
    kube::client api{nobody, time};
    caches seen{api, time, {}};
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

TEST_F(debug_routes, pages_cannot_ask) {
    http::server_request asked;
    asked.method = "GET";
    asked.raw_path = "/debug/reset-all-jobs";
    asked.peer_is_loopback = true;
    asked.headers = {{"host", "127.0.0.1:8080"}};
    EXPECT_EQ(ask(false, asked).body, "[]") << "nothing is to be changed";
    EXPECT_FALSE(is_meant(asked)) << "a GET that an image on a page can send";
    asked.headers.emplace_back("x-esi-debug", "1");
    EXPECT_TRUE(is_meant(asked));
    EXPECT_EQ(ask(false, asked).status, 200);
    asked.headers.front().second = "evil.example:8080";
    for (const bool open : {false, true}) {
        EXPECT_EQ(ask(open, asked).status, 403) << "a name that was made to resolve here";
    }
    asked.headers.front().second = "localhost";
    asked.method = "HEAD";
    EXPECT_EQ(ask(false, asked).status, 405);
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

TEST_F(debug_routes, a_claim_gets_no_nodes_by_hand) {
    auto testbed = tests::world::make_testbed("t", "u", 1);
    testbed.metadata.resource_version = "1";
    testbed.spec.node_label.clear();
    testbed.spec.claim.emplace();
    seen.fill().testbeds.apply(std::move(testbed));
    const auto told = ask(false, true, "/debug/node-set-up", {{"name", "t"}, {"count", "1"}});
    EXPECT_EQ(told.status, 400);
    EXPECT_TRUE(told.body.contains("spec.claim")) << told.body;
}

TEST(node_set_up, refuses_labels_of_kubernetes_itself) {
    for (const char* own : {"kubernetes.io/hostname", "topology.kubernetes.io/zone",
                            "node-role.kubernetes.io/worker", "k8s.io/x", "a.b.k8s.io/x"}) {
        EXPECT_TRUE(grid::is_kubernetes_own(own)) << own;
    }
    for (const char* other : {"testbed", "hostname", "esi.tu-berlin.de/x", "mykubernetes.io/x",
                              "kubernetes.io.example/x", "kubernetes.io"}) {
        EXPECT_FALSE(grid::is_kubernetes_own(other)) << other;
    }
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
