#include "gangs/act.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "gangs/plan_mark.h"
#include "gangs/testing/fake_cluster.h"

namespace esi::gangs {
namespace {

using tests::fake_cluster;
namespace names = model::names;

const nlohmann::json of_train{{"scheduling.x-k8s.io/pod-group", "train"}};

struct gang_actor : testing::Test {
    gang_actor() {
        cluster.add_namespace("lab", true);
        cluster.add_node("node-a", "2");
        cluster.add_group("train", 2);
        cluster.feed(groups);
        cluster.nodes.on_change([this](const kube::change<model::node>& what) {
            room.node_changed((what.after ? what.after : what.before)->metadata.name, what.after);
        });
        for (const auto& [key, node] : cluster.nodes.all()) room.node_changed(key.name, node);
    }
    ~gang_actor() override {
        asio::co_spawn(loop, hands.stop(time.now()), asio::detached);
        run_for(loop, time, seconds(1));
    }

    pod_pointer pod(const std::string& name) { return cluster.pods.find({"lab", name}); }
    outcome take(action what) {
        answers.clear();
        hands.take({std::move(what)});
        EXPECT_TRUE(run_until(loop, time, [&] { return !answers.empty(); }));
        return answers.front();
    }
    look_and_let_in look_at(const std::vector<std::string>& members) {
        look_and_let_in out{of, {}, mark};
        for (const auto& name : members) out.places.push_back({pod(name), "node-a"});
        return out;
    }

    gang_key of{way::coscheduling, "lab", "train"};
    std::string mark = "uid-w-0/one/1";
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    fake_cluster cluster{wire};
    kube::client api{wire, time};
    gang_caches groups{api, time, {}, {"kube-system", "kube-scheduler"}};
    cluster_room room;
    shown_plans shown;
    controller::metrics registry;
    gang_numbers numbers{registry};
    std::vector<outcome> answers;
    actor hands{loop.get_executor(),
                time,
                api,
                cluster.nodes,
                room,
                shown,
                numbers,
                [this](const action&, outcome how) { answers.push_back(std::move(how)); }};
};

TEST_F(gang_actor, nominates_and_says_which_version_shows_it) {
    cluster.add_pod("w-0", of_train);
    const auto how = take(nominate{of, pod("w-0"), "node-a", mark});
    EXPECT_FALSE(how.failed);
    EXPECT_EQ(cluster.nomination_of("w-0"), "node-a");
    EXPECT_EQ(mark_of(*pod("w-0")), mark);
    EXPECT_EQ(how.written.at("uid-w-0"),
              cluster.pod("w-0")["metadata"]["resourceVersion"].get<std::string>());
    EXPECT_EQ(cluster.writes, std::vector<std::string>{"PATCH w-0/status"});
}

TEST_F(gang_actor, a_nomination_of_an_old_pod_is_a_conflict) {
    cluster.add_pod("w-0", of_train);
    const auto old = pod("w-0");
    cluster.changed(cluster.pod("w-0"));
    const auto how = take(nominate{of, old, "node-a", mark});
    ASSERT_TRUE(how.failed);
    EXPECT_EQ(how.failed->code, errc::conflict);
    EXPECT_EQ(cluster.nomination_of("w-0"), "");
}

TEST_F(gang_actor, shows_and_takes_back_a_nomination) {
    cluster.add_pod("w-0", of_train);
    take(nominate{of, pod("w-0"), "node-a", mark});
    EXPECT_FALSE(take(show_nomination{of, pod("w-0")}).failed);
    EXPECT_NE(cluster.pod("w-0")["metadata"]["annotations"][std::string(names::nomination_shown)],
              nullptr);
    EXPECT_FALSE(take(give_back{of, pod("w-0"), "its group is suspended"}).failed);
    EXPECT_EQ(cluster.nomination_of("w-0"), "");
    EXPECT_EQ(mark_of(*pod("w-0")), "");
}

TEST_F(gang_actor, lets_all_in_after_one_live_look) {
    for (const auto* name : {"w-0", "w-1"}) {
        cluster.add_pod(name, of_train);
        take(nominate{of, pod(name), "node-a", mark});
    }
    wire.asked.clear();
    cluster.writes.clear();
    const auto how = take(look_at({"w-0", "w-1"}));
    EXPECT_FALSE(how.failed);
    EXPECT_EQ(how.refused, "");
    EXPECT_EQ(how.written.size(), 2);
    EXPECT_EQ(cluster.writes, (std::vector<std::string>{"PATCH w-0", "PATCH w-1"}));
    std::vector<std::string> reads(wire.asked.begin(), wire.asked.begin() + 3);
    EXPECT_EQ(reads,
              (std::vector<std::string>{"GET /api/v1/namespaces/lab/pods/w-0",
                                        "GET /api/v1/namespaces/lab/pods/w-1",
                                        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a"}));
    for (const auto* name : {"w-0", "w-1"}) {
        auto& in = cluster.pod(name);
        EXPECT_EQ(cluster.gate_of(name), "");
        EXPECT_EQ(in["metadata"]["annotations"][std::string(names::gang_node)], "node-a");
        EXPECT_EQ(
            in["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
              ["nodeSelectorTerms"][0]["matchFields"][0]["values"][0],
            "node-a");
    }
}

TEST_F(gang_actor, lets_in_a_member_that_is_alone) {
    cluster.add_pod("w-0", of_train);
    take(nominate{of, pod("w-0"), "node-a", mark});
    const auto how = take(look_at({"w-0"}));
    EXPECT_FALSE(how.failed);
    EXPECT_EQ(how.written.size(), 1);
    EXPECT_EQ(cluster.gate_of("w-0"), "");
}

TEST_F(gang_actor, lets_nobody_in_where_the_look_finds_the_room_taken) {
    for (const auto* name : {"w-0", "w-1"}) {
        cluster.add_pod(name, of_train);
        take(nominate{of, pod(name), "node-a", mark});
    }
    // The caches do not show it.
    cluster.silent = true;
    auto& stranger = cluster.add_pod("stranger", nlohmann::json::object());
    stranger["spec"].erase("schedulingGates");
    stranger["spec"]["nodeName"] = "node-a";
    cluster.writes.clear();
    const auto how = take(look_at({"w-0", "w-1"}));
    EXPECT_FALSE(how.failed);
    EXPECT_NE(how.refused, "");
    EXPECT_TRUE(cluster.writes.empty());
    EXPECT_EQ(cluster.gate_of("w-0"), names::gang);
}

TEST_F(gang_actor, a_look_without_an_answer_lets_nobody_in) {
    for (const auto* name : {"w-0", "w-1"}) {
        cluster.add_pod(name, of_train);
        take(nominate{of, pod(name), "node-a", mark});
    }
    cluster.writes.clear();
    const auto usual = wire.respond;
    wire.respond = [&](const kube::request& asked) -> result<kube::response> {
        if (asked.target.contains("fieldSelector")) return fail(errc::timeout, "no answer");
        return usual(asked);
    };
    const auto how = take(look_at({"w-0", "w-1"}));
    ASSERT_TRUE(how.failed);
    EXPECT_TRUE(cluster.writes.empty());
}

TEST_F(gang_actor, where_the_first_member_is_not_let_in_nobody_is) {
    for (const auto* name : {"w-0", "w-1"}) {
        cluster.add_pod(name, of_train);
        take(nominate{of, pod(name), "node-a", mark});
    }
    // Another process takes the nomination of the first one away between the look and the write.
    bool once = true;
    cluster.before = [&](const kube::request& asked) {
        if (asked.method != "PATCH" || !asked.target.ends_with("/w-0") ||
            !std::exchange(once, false))
            return;
        cluster.changed(cluster.pod("w-0"));
    };
    const auto how = take(look_at({"w-0", "w-1"}));
    ASSERT_TRUE(how.failed);
    EXPECT_EQ(how.failed->code, errc::conflict);
    EXPECT_TRUE(how.written.empty());
    EXPECT_EQ(cluster.gate_of("w-0"), names::gang);
    EXPECT_EQ(cluster.gate_of("w-1"), names::gang);
}

TEST_F(gang_actor, a_member_that_changes_while_others_are_let_in_is_told) {
    for (const auto* name : {"w-0", "w-1"}) {
        cluster.add_pod(name, of_train);
        take(nominate{of, pod(name), "node-a", mark});
    }
    bool once = true;
    cluster.before = [&](const kube::request& asked) {
        if (asked.method != "PATCH" || !asked.target.ends_with("/w-1") ||
            !std::exchange(once, false))
            return;
        cluster.changed(cluster.pod("w-1"));
    };
    const auto how = take(look_at({"w-0", "w-1"}));
    ASSERT_TRUE(how.failed);
    EXPECT_EQ(how.failed->code, errc::conflict);
    EXPECT_EQ(how.written.size(), 1);
    EXPECT_EQ(cluster.gate_of("w-0"), "");
    EXPECT_EQ(cluster.gate_of("w-1"), names::gang);
}

TEST_F(gang_actor, other_gates_stay) {
    auto& one = cluster.add_pod("w-0", of_train);
    one["spec"]["schedulingGates"].push_back({{"name", "example.org/quota"}});
    cluster.changed(one);
    EXPECT_FALSE(take(let_in{of, pod("w-0"), "node-a"}).failed);
    EXPECT_EQ(cluster.gate_of("w-0"), "example.org/quota");
}

TEST_F(gang_actor, deletes_what_was_judged_only) {
    cluster.add_pod("w-0", of_train);
    const auto old = pod("w-0");
    cluster.pod("w-0")["metadata"]["uid"] = "another";
    cluster.changed(cluster.pod("w-0"));
    EXPECT_EQ(take(delete_pod{of, old, "refused"}).failed->code, errc::conflict);
    EXPECT_TRUE(cluster.has_pod("w-0"));
    // The same pod, bound meanwhile.
    const auto unbound = pod("w-0");
    cluster.pod("w-0")["spec"]["nodeName"] = "node-a";
    cluster.changed(cluster.pod("w-0"));
    EXPECT_EQ(take(delete_pod{of, unbound, "refused"}).failed->code, errc::conflict);
    EXPECT_TRUE(cluster.has_pod("w-0"));
    EXPECT_FALSE(take(delete_pod{of, pod("w-0"), "refused"}).failed);
    EXPECT_FALSE(cluster.has_pod("w-0"));
}

TEST_F(gang_actor, writes_a_status_where_the_kind_has_it) {
    const nlohmann::json patch{{"status", {{"phase", "Pending"}}}};
    const auto how = take(write_status{of, groups.find(of), patch});
    EXPECT_FALSE(how.failed);
    EXPECT_EQ(how.written.at("uid-train"), groups.find(of).object->metadata.resource_version);
    EXPECT_EQ(cluster.writes, std::vector<std::string>{"PATCH train/status"});
    // The definition lost its sub-resource; the last answer counts for a while.
    cluster.with_status.clear();
    time.advance_to(time.now() + std::chrono::minutes(6));
    EXPECT_FALSE(take(write_status{of, groups.find(of), patch}).failed);
    EXPECT_EQ(cluster.writes.back(), "PATCH train");
}

TEST_F(gang_actor, keeps_a_bound_on_what_is_under_way) {
    for (int i = 0; i < 100; ++i) cluster.add_pod("w-" + std::to_string(i), of_train);
    wire.latency = seconds(1);
    std::vector<action> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back(nominate{of, pod("w-" + std::to_string(i)), "node-a", mark});
    }
    wire.asked.clear();
    hands.take(std::move(many));
    run_for(loop, time, milliseconds(500));
    EXPECT_EQ(wire.asked.size(), 16);
    run_for(loop, time, seconds(1));
    EXPECT_EQ(wire.asked.size(), 32);
    run_for(loop, time, seconds(6));
    EXPECT_EQ(answers.size(), 100);
    EXPECT_EQ(hands.under_way(), 0);
}

TEST_F(gang_actor, reads_of_many_facts_keep_no_write_waiting_and_namespaces_take_turns) {
    cluster.add_pod("w-0", of_train);
    wire.latency = seconds(1);
    std::vector<action> many;
    for (int i = 0; i < 100; ++i) {
        read_facts each{{way::coscheduling, "lab", "g-" + std::to_string(i)}, {}};
        for (int k = 0; k < 10; ++k) each.what.claims.insert({"lab", std::to_string(k)});
        many.push_back(each);
    }
    many.emplace_back(read_facts{{way::coscheduling, "other", "one"}, {{}, {{"other", "c"}}}});
    many.emplace_back(nominate{of, pod("w-0"), "node-a", mark});
    answers.clear();
    hands.take(std::move(many));
    run_for(loop, time, milliseconds(1500));
    EXPECT_EQ(cluster.nomination_of("w-0"), "node-a");
    EXPECT_EQ(wire.asked.back().contains("persistentvolumeclaims"), true);
    run_for(loop, time, milliseconds(1000));
    EXPECT_EQ(answers.size(), 2) << "the nomination, and the read of the other namespace";
    EXPECT_EQ(hands.under_way(), 100);
}

TEST_F(gang_actor, ends_what_has_begun_and_drops_the_rest) {
    for (int i = 0; i < 100; ++i) cluster.add_pod("w-" + std::to_string(i), of_train);
    wire.latency = seconds(1);
    std::vector<action> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back(nominate{of, pod("w-" + std::to_string(i)), "node-a", mark});
    }
    wire.asked.clear();
    hands.take(std::move(many));
    run_for(loop, time, milliseconds(500));
    bool ended = false;
    asio::co_spawn(
        loop,
        [&]() -> asio::awaitable<void> {
            co_await hands.stop(time.now() + seconds(30));
            ended = true;
        },
        asio::detached);
    EXPECT_TRUE(run_until(loop, time, [&] { return ended; }, seconds(29)));
    EXPECT_EQ(wire.asked.size(), 64) << "those that waited for their turn only";
    EXPECT_TRUE(answers.empty());
}

}  // namespace
}  // namespace esi::gangs
