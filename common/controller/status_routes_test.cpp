#include "controller/status_routes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/version.h"

namespace esi::controller {
namespace {

struct status_routes : testing::Test {
    status_routes() {
        add_status_routes(
            routes, "esi-testbed", [this] { return checks; }, numbers, [this] { ++scrapes; });
    }
    http::server_reply get(std::string path,
                           std::vector<std::pair<std::string, std::string>> query = {}) {
        http::server_request what;
        what.method = "GET";
        what.raw_path = std::move(path);
        what.query = std::move(query);
        http::server_reply out;
        asio::io_context loop;
        asio::co_spawn(loop, routes.answer(std::move(what)),
                       [&out](std::exception_ptr, http::server_reply reply) { out = reply; });
        loop.run();
        return out;
    }
    http::router routes;
    metrics numbers;
    std::vector<readiness_check> checks{{"pods", true}, {"nodes", true}};
    int scrapes = 0;
};

TEST_F(status_routes, are_alive_whatever_the_caches_do) {
    checks[0].passed = false;
    EXPECT_EQ(get("/livez").status, 200);
    EXPECT_EQ(get("/livez").body, "ok");
    EXPECT_EQ(get("/actuator/health/liveness").body, R"({"status":"UP"})");
}

TEST_F(status_routes, are_ready_when_every_check_passes) {
    EXPECT_EQ(get("/readyz").body, "ok");
    EXPECT_EQ(get("/readyz", {{"verbose", ""}}).body,
              "[+]pods ok\n[+]nodes ok\nreadyz check passed\n");
    checks[1].passed = false;
    auto reply = get("/readyz");
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.body, "[+]pods ok\n[-]nodes failed: reason withheld\nreadyz check failed\n");
    EXPECT_EQ(get("/readyz", {{"exclude", "nodes"}}).status, 200);
}

TEST_F(status_routes, answer_as_the_original_did) {
    for (const char* path : {"/actuator/health", "/actuator/health/readiness"}) {
        auto reply = get(path);
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(reply.body, R"({"status":"UP"})");
        EXPECT_EQ(reply.content_type, "application/vnd.spring-boot.actuator.v3+json");
    }
    checks[0].passed = false;
    for (const char* path : {"/actuator/health", "/actuator/health/readiness"}) {
        auto reply = get(path);
        EXPECT_EQ(reply.status, 503);
        EXPECT_EQ(reply.body, R"({"status":"DOWN"})");
    }
}

TEST_F(status_routes, show_metrics_and_version) {
    numbers.counter("esi_things_total", "Things").Increment();
    auto reply = get("/metrics");
    EXPECT_EQ(scrapes, 1);
    EXPECT_EQ(reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_NE(reply.body.find("esi_things_total 1\n"), std::string::npos);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(get("/metrics").body, reply.body);
    EXPECT_LE(scrapes, 50) << "not made for each who asks";
    EXPECT_EQ(get("/version").body,
              fmt::format(R"({{"name":"esi-testbed","version":"{}"}})", version()));
}

}  // namespace
}  // namespace esi::controller
