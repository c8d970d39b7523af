#include "gangs/gang_operator.h"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/contains.h"
#include "base/virtual_clock.h"
#include "gangs/testing/fake_cluster.h"

namespace esi::gangs {
namespace {

using tests::fake_cluster;
namespace names = model::names;

const nlohmann::json of_train{{"scheduling.x-k8s.io/pod-group", "train"}};

struct operator_of_gangs : testing::Test {
    operator_of_gangs() {
        cluster.nodes.on_change([this](const auto& what) {
            room.node_changed(what);
            part.node_changed();
        });
        cluster.pods.on_change([this](const auto& what) {
            room.pod_changed(what);
            part.pod_changed(what);
        });
        cluster.feed(part.groups());
        cluster.add_namespace("lab", true);
    }
    ~operator_of_gangs() override {
        asio::co_spawn(loop, part.stop(time.now()), asio::detached);
        run_for(loop, time, seconds(1));
    }
    bool becomes(const std::function<bool()>& reached, steady_time::duration limit = seconds(60)) {
        return run_until(loop, time, reached, limit);
    }
    bool let_in(const std::string& name) { return cluster.gate_of(name).empty(); }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    fake_cluster cluster{wire};
    kube::client api{wire, time};
    controller::event_recorder events{api, time, "esi-testbed", "test"};
    controller::metrics numbers;
    http::router routes;
    controller::process_options common;
    controller::environment env{
        loop.get_executor(), time, api, events, numbers, routes, common, api, "test"};
    placement::room_upkeep room{[](const std::string&) { return placement::slots_of_node(); }};
    gang_operator part{env, gang_options(), cluster.nodes, room, false};
};

TEST(pause_after, is_as_long_as_the_pass_and_bounded) {
    EXPECT_EQ(pause_after(milliseconds(1)), milliseconds(10));
    EXPECT_EQ(pause_after(milliseconds(120)), milliseconds(120));
    EXPECT_EQ(pause_after(seconds(30)), seconds(2));
}

TEST_F(operator_of_gangs, starts_all_members_once_the_last_has_come) {
    cluster.add_node("node-a", "2");
    cluster.add_group("train", 2);
    cluster.add_pod("w-0", of_train);
    part.lead();
    run_for(loop, time, seconds(5));
    EXPECT_FALSE(let_in("w-0"));
    EXPECT_EQ(cluster.nomination_of("w-0"), "");
    cluster.add_pod("w-1", of_train);
    ASSERT_TRUE(becomes([&] { return let_in("w-0") && let_in("w-1"); }));
    cluster.bind("w-0");
    cluster.bind("w-1");
    EXPECT_TRUE(becomes([&] {
        return numbers.text().contains("esi_gang_groups{state=\"Running\"} 1\n");
    })) << numbers.text();
    EXPECT_TRUE(numbers.text().contains("esi_gang_bound_seconds_count 1\n"));
    EXPECT_TRUE(numbers.text().contains("esi_gang_writes_total{what=\"let_in\"} 2\n"));
}

TEST_F(operator_of_gangs, lets_nobody_in_before_all_fit_and_goes_on_when_they_do) {
    cluster.add_node("node-a", "2");
    cluster.add_group("train", 2);
    auto& stranger = cluster.add_pod("stranger", nlohmann::json::object());
    stranger["spec"].erase("schedulingGates");
    stranger["spec"]["nodeName"] = "node-a";
    cluster.changed(stranger);
    cluster.add_pod("w-0", of_train);
    cluster.add_pod("w-1", of_train);
    part.lead();
    run_for(loop, time, seconds(20));
    EXPECT_FALSE(let_in("w-0"));
    EXPECT_FALSE(let_in("w-1"));
    EXPECT_TRUE(part.explain(10).contains("NoRoom")) << part.explain(10);
    EXPECT_TRUE(part.explain(10).contains("; most is left on node node-a")) << part.explain(10);
    stranger["status"]["phase"] = "Succeeded";
    cluster.changed(stranger);
    EXPECT_TRUE(becomes([&] { return let_in("w-0") && let_in("w-1"); }));
}

TEST_F(operator_of_gangs, asks_for_nothing_where_there_are_no_gangs) {
    cluster.add_node("node-a", "2");
    auto& stranger = cluster.add_pod("stranger", nlohmann::json::object());
    stranger["spec"].erase("schedulingGates");
    cluster.changed(stranger);
    part.lead();
    run_for(loop, time, std::chrono::minutes(10));
    EXPECT_TRUE(wire.asked.empty()) << wire.asked.front();
}

TEST_F(operator_of_gangs, pods_that_name_no_group_are_told_a_few_at_a_time) {
    for (int i = 0; i < 25; ++i) {
        cluster.add_pod("w-" + std::to_string(i), {{"scheduling.x-k8s.io/pod-group", ""}});
    }
    int told = 0;
    const auto usual = wire.respond;
    wire.respond = [&](const kube::request& asked) -> result<kube::response> {
        if (!asked.target.contains("/events")) return usual(asked);
        EXPECT_TRUE(asked.body.contains("GroupNameInvalid")) << asked.body;
        ++told;
        kube::response out;
        out.status = 201;
        out.body = asked.body;
        return out;
    };
    task_group sends(loop.get_executor());
    sends.spawn("events", events.run());
    part.lead();
    run_for(loop, time, milliseconds(900));
    EXPECT_EQ(told, 10);
    run_for(loop, time, seconds(60));
    EXPECT_EQ(told, 25);
    asio::co_spawn(loop, sends.stop(), asio::detached);
    run_for(loop, time, seconds(1));
}

TEST_F(operator_of_gangs, does_nothing_before_it_leads) {
    cluster.add_node("node-a", "2");
    cluster.add_group("train", 1);
    cluster.add_pod("w-0", of_train);
    run_for(loop, time, seconds(20));
    EXPECT_TRUE(wire.asked.empty());
}

TEST_F(operator_of_gangs, shows_nominations_to_a_scheduler_that_started_anew) {
    cluster.add_node("node-a", "2");
    cluster.add_group("train", 2);
    cluster.add_pod("w-0", of_train);
    cluster.add_pod("w-1", of_train);
    const auto scheduler_is = [&](std::string holder) {
        lease_object lease;
        lease.metadata.namespace_ = "kube-system";
        lease.metadata.name = "kube-scheduler";
        lease.metadata.resource_version = "1";
        lease.spec.holder_identity = std::move(holder);
        part.groups().fill().leases.apply(lease);
    };
    scheduler_is("one");
    // The look finds no answer, so that the gang stays reserved.
    const auto usual = wire.respond;
    wire.respond = [&](const kube::request& asked) -> result<kube::response> {
        if (asked.target.contains("fieldSelector")) return fail(errc::timeout, "no answer");
        return usual(asked);
    };
    part.lead();
    ASSERT_TRUE(becomes([&] { return cluster.nomination_of("w-1") == "node-a"; }));
    run_for(loop, time, seconds(2));
    cluster.writes.clear();
    scheduler_is("two");
    EXPECT_TRUE(becomes([&] {
        return contains(cluster.writes, "PATCH w-0") && contains(cluster.writes, "PATCH w-1");
    }));
    EXPECT_FALSE(let_in("w-0"));
}

TEST(gang_flags, what_is_no_lease_and_no_packing_is_refused) {
    const auto said = [](const std::string& flag) {
        CLI::App app;
        gang_options options;
        options.add_to(app);
        std::vector<std::string> flags{flag};
        try {
            app.parse(flags);
        } catch (const CLI::ParseError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    for (const auto* right : {"--gangs", "--gang-packing=Spread", "--gang-reserve-after=90s",
                              "--gang-scheduler-lease=a/b"}) {
        EXPECT_EQ(said(right), "") << right;
    }
    for (const auto* wrong : {"--gang-packing=spread", "--gang-reserve-for=0s",
                              "--gang-scheduler-lease=kube-scheduler", "--gang-scheduler-lease=/b",
                              "--gang-scheduler-lease=a/", "--gang-scheduler-lease=a/b/c"}) {
        EXPECT_NE(said(wrong), "") << wrong;
    }
}

}  // namespace
}  // namespace esi::gangs
