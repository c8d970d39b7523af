#include "controller/operator_life.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/log.h"
#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"

namespace esi::controller {
namespace {

/// One cache that is full.
class idle_part final : public operator_part {
public:
    std::vector<cache> caches() override {
        return {{"pods", []() -> asio::awaitable<void> { co_return; }, [] { return true; },
                 [] { return true; }}};
    }
    void lead() override {}
    asio::awaitable<void> stop(steady_time) override { co_return; }
};

/// One cache of two namespaces that never fills.
class waiting_part final : public operator_part {
public:
    std::vector<cache> caches() override {
        cache out{"pods", []() -> asio::awaitable<void> { co_return; }, [] { return false; },
                  [] { return false; }};
        out.missing = [] { return std::vector<std::string>{"team-a", ""}; };
        return {out};
    }
    void lead() override {}
    asio::awaitable<void> stop(steady_time) override { co_return; }
};

/// The ground of a life, without an API server.
struct grounds {
    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    metrics numbers;
    http::router routes;
    process_options options;

    ground made() {
        return {loop.get_executor(), time, nobody, nullptr, numbers, routes, options,
                "esi-test",          "a",  "a",    "h",     {}};
    }
};

TEST(operator_life, a_cache_that_does_not_fill_is_told_with_its_namespaces) {
    grounds on;
    operator_life life(
        on.made(), [](environment&) { return std::make_unique<waiting_part>(); }, [] {});
    std::string said;
    log::send_to([&](log::level at, std::string_view line) {
        if (at == log::level::error) said += line;
    });
    std::optional<bool> orderly;
    asio::co_spawn(
        on.loop,
        [&]() -> asio::awaitable<void> {
            orderly = co_await life.run();
            co_await life.stop();
        },
        asio::detached);
    run_for(on.loop, on.time, std::chrono::minutes(3));
    log::send_to({});
    EXPECT_EQ(orderly, false);
    EXPECT_TRUE(said.contains("cache not synced")) << said;
    EXPECT_TRUE(said.contains("team-a, all")) << said;
}

TEST(operator_life, is_not_ready_from_the_first_signal_on) {
    grounds on;
    operator_life life(
        on.made(), [](environment&) { return std::make_unique<idle_part>(); }, [] {});
    EXPECT_EQ(readiness_reply(life.checks(), false).status, 200);
    life.ask_to_stop();
    const auto reply = readiness_reply(life.checks(), false);
    EXPECT_EQ(reply.status, 503);
    EXPECT_TRUE(reply.body.contains("[-]shutdown failed")) << reply.body;
}

/// One cache that is full, with a trouble.
class troubled_part final : public operator_part {
public:
    explicit troubled_part(std::vector<kube::trouble>& all) : all_(all) {}
    std::vector<cache> caches() override {
        cache out{"testbeds", []() -> asio::awaitable<void> { co_return; }, [] { return true; },
                  [] { return true; }};
        out.troubles = [this] { return all_; };
        return {out};
    }
    void lead() override {}
    asio::awaitable<void> stop(steady_time) override { co_return; }

private:
    std::vector<kube::trouble>& all_;
};

TEST(operator_life, is_not_ready_while_a_kind_is_refused_for_long) {
    grounds on;
    std::vector<kube::trouble> all;
    operator_life life(
        on.made(), [&](environment&) { return std::make_unique<troubled_part>(all); }, [] {});
    const auto verbose = [&] { return readiness_reply(life.checks(), true); };
    EXPECT_EQ(verbose().body, "[+]testbeds ok\nreadyz check passed\n");
    all = {{"watch", &kube::types::testbed, "", errc::not_found, on.time.now()}};
    EXPECT_EQ(verbose().status, 200);
    EXPECT_TRUE(
        verbose().body.contains("[+]testbeds ok, but watch testbeds.esi.tu-berlin.de: HTTP "
                                "404: install"))
        << verbose().body;
    on.time.advance_to(on.time.now() + std::chrono::minutes(1));
    EXPECT_EQ(verbose().status, 503);
    EXPECT_TRUE(verbose().body.contains("[-]testbeds failed: watch testbeds")) << verbose().body;
    all[0].aside = true;
    EXPECT_EQ(verbose().status, 200) << "other namespaces are shown";
    all[0] = {"watch", &kube::types::testbed, "", errc::transport, steady_time()};
    EXPECT_EQ(verbose().status, 200) << "what is known is still served";
    all.assign(20, all[0]);
    EXPECT_TRUE(verbose().body.contains("; and 16 more\n")) << verbose().body;
}

}  // namespace
}  // namespace esi::controller
