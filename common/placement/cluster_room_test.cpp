#include "placement/cluster_room.h"

#include <gtest/gtest.h>

#include <random>

#include "placement/testing/builders.h"

namespace esi::placement {
namespace {

using tests::make_node;
using tests::make_pod;
using tests::shared;

struct a_cluster_room : testing::Test {
    void SetUp() override { node(make_node("a", "cpu=4 memory=8Gi")); }

    void node(model::node of) {
        auto name = of.metadata.name;
        room.node_changed(name, shared(std::move(of)));
    }
    /// Tells the next version of the pod, and keeps it.
    void pod(model::pod of) {
        auto& last = told[of.metadata.uid];
        auto next = shared(std::move(of));
        room.pod_changed(last, next);
        last = std::move(next);
    }
    void gone(const std::string& name) {
        const auto last = told.extract("uid-" + name).mapped();
        room.pod_changed(last, nullptr);
    }
    std::int64_t cpu(const std::string& name = "a") { return room.left_on(name).value().at("cpu"); }
    /// The amounts that the step adds to freed() and changes().
    std::pair<int, int> counts(const std::function<void()>& step) {
        const auto freed = room.freed();
        const auto changes = room.changes();
        step();
        return {static_cast<int>(room.freed() - freed), static_cast<int>(room.changes() - changes)};
    }

    cluster_room room;
    std::map<std::string, pod_pointer> told;
};

TEST_F(a_cluster_room, is_what_bound_pods_leave) {
    pod(make_pod("p", "cpu=1500m memory=1Gi", "a"));
    pod(make_pod("q", "cpu=1", "a"));
    EXPECT_EQ(room.left_on("a"),
              (model::amounts{{"cpu", 1500}, {"memory", 7516192768000}, {"pods", 108'000}}));
    EXPECT_EQ(room.left_on("b"), std::nullopt);
}

TEST_F(a_cluster_room, comes_back_when_a_pod_ends_or_goes) {
    pod(make_pod("p", "cpu=1", "a"));
    pod(make_pod("q", "cpu=1", "a"));
    auto ended = make_pod("p", "cpu=1", "a");
    ended.phase = "Succeeded";
    EXPECT_EQ(counts([&] { pod(ended); }), std::pair(1, 1));
    EXPECT_EQ(cpu(), 3000);
    EXPECT_EQ(counts([&] { gone("p"); }), std::pair(0, 0)) << "it took nothing any more";
    EXPECT_EQ(counts([&] { gone("q"); }), std::pair(1, 1));
    EXPECT_EQ(cpu(), 4000);
}

TEST_F(a_cluster_room, counts_a_pod_that_is_on_its_way_out) {
    auto going = make_pod("p", "cpu=1", "a");
    going.metadata.deletion_timestamp = model::timestamp{};
    pod(going);
    EXPECT_EQ(cpu(), 3000);
}

TEST_F(a_cluster_room, frees_nothing_where_room_is_only_taken_or_nothing_changes) {
    EXPECT_EQ(counts([&] { pod(make_pod("p", "cpu=1", "a")); }), std::pair(0, 1));
    auto other = make_pod("p", "cpu=1", "a");
    other.reason = "CrashLoopBackOff";
    EXPECT_EQ(counts([&] { pod(other); }), std::pair(0, 0));
    EXPECT_EQ(counts([&] { pod(make_pod("waits", "cpu=1")); }), std::pair(0, 0));
    auto heartbeat = make_node("a", "cpu=4 memory=8Gi");
    heartbeat.metadata.resource_version = "2";
    heartbeat.metadata.annotations["x"] = "y";
    EXPECT_EQ(counts([&] { node(heartbeat); }), std::pair(0, 0));
}

TEST_F(a_cluster_room, frees_where_a_node_comes_or_is_another) {
    EXPECT_EQ(counts([&] { node(make_node("b", "cpu=1")); }), std::pair(1, 1));
    auto cordoned = make_node("b", "cpu=1");
    cordoned.unschedulable = true;
    node(cordoned);
    EXPECT_EQ(counts([&] { node(make_node("b", "cpu=1")); }), std::pair(1, 1));
    EXPECT_EQ(counts([&] { node(make_node("b", "cpu=1", "zone-1")); }), std::pair(1, 1));
    EXPECT_EQ(counts([&] { room.node_changed("b", nullptr); }), std::pair(0, 1));
    EXPECT_EQ(room.left_on("b"), std::nullopt);
}

TEST_F(a_cluster_room, knows_pods_of_a_node_that_comes_later_or_again) {
    pod(make_pod("p", "cpu=1 gpu=2", "b"));
    EXPECT_EQ(room.left_on("b"), std::nullopt);
    node(make_node("b", "cpu=4 gpu=2"));
    EXPECT_EQ(room.left_on("b"), (model::amounts{{"cpu", 3000}, {"gpu", 0}, {"pods", 109'000}}));
    room.node_changed("b", nullptr);
    node(make_node("b", "cpu=2"));
    EXPECT_EQ(cpu("b"), 1000);
    room.node_changed("b", nullptr);
    gone("p");
    EXPECT_FALSE(room.nodes().contains("b")) << "nothing stays of it";
}

TEST_F(a_cluster_room, promises_count_until_the_pod_is_bound_which_frees_nothing) {
    const auto member = shared(make_pod("m", "cpu=3"));
    EXPECT_EQ(counts([&] { room.promise(member, "a"); }), std::pair(0, 1));
    EXPECT_EQ(cpu(), 1000);
    EXPECT_EQ(room.promised_to("uid-m"), "a");
    EXPECT_EQ(counts([&] { room.promise(member, "a"); }), std::pair(0, 0));

    pod(make_pod("m", "cpu=3"));
    EXPECT_EQ(room.promised_to("uid-m"), "a") << "it waits";
    EXPECT_EQ(counts([&] { pod(make_pod("m", "cpu=3", "a")); }), std::pair(0, 1));
    EXPECT_EQ(cpu(), 1000);
    EXPECT_EQ(room.promised_to("uid-m"), "");
    EXPECT_TRUE(room.promises().empty());
}

TEST_F(a_cluster_room, a_promise_that_is_not_used_is_free_again) {
    node(make_node("b", "cpu=4"));
    const auto promise = [&] { room.promise(shared(make_pod("m", "cpu=3")), "a"); };
    const auto freed = [&](const std::function<void()>& step) {
        told.clear();
        pod(make_pod("m", "cpu=3"));
        promise();
        const auto count = counts(step).first;
        EXPECT_EQ(room.promised_to("uid-m"), "");
        EXPECT_EQ(cpu(), 4000);
        return count;
    };
    EXPECT_EQ(freed([&] { room.release("uid-m"); }), 1);
    EXPECT_EQ(freed([&] { gone("m"); }), 1);
    EXPECT_EQ(freed([&] {
                  auto ended = make_pod("m", "cpu=3");
                  ended.phase = "Failed";
                  pod(ended);
              }),
              1);
    EXPECT_EQ(freed([&] { pod(make_pod("m", "cpu=3", "b")); }), 1) << "it went elsewhere";
    EXPECT_EQ(cpu("b"), 1000);
    EXPECT_EQ(counts([&] { room.release("uid-m"); }), std::pair(0, 0));
}

TEST_F(a_cluster_room, a_promise_moves_to_another_node) {
    node(make_node("b", "cpu=4"));
    const auto member = shared(make_pod("m", "cpu=3"));
    room.promise(member, "a");
    EXPECT_EQ(counts([&] { room.promise(member, "b"); }).first, 1);
    EXPECT_EQ(cpu("a"), 4000);
    EXPECT_EQ(cpu("b"), 1000);
}

TEST_F(a_cluster_room, more_may_be_promised_than_there_is) {
    room.promise(shared(make_pod("m", "cpu=3")), "a");
    room.promise(shared(make_pod("n", "cpu=3")), "a");
    EXPECT_EQ(cpu(), -2000);
    room.release("uid-m");
    EXPECT_EQ(cpu(), 1000);
}

TEST_F(a_cluster_room, keeps_the_room_that_a_scheduler_made_for_a_pod) {
    auto waits = make_pod("p", "cpu=3");
    waits.scheduling_gates.clear();
    waits.nominated_node_name = "a";
    pod(waits);
    EXPECT_EQ(cpu(), 1000);
    EXPECT_EQ(counts([&] { pod(make_pod("p", "cpu=3", "a")); }).first, 0);
    EXPECT_EQ(cpu(), 1000);

    waits.metadata.name = "q";
    waits.metadata.uid = "uid-q";
    waits.requests = {{"cpu", 1000}};
    pod(waits);
    EXPECT_EQ(cpu(), 0);
    waits.nominated_node_name.clear();
    EXPECT_EQ(counts([&] { pod(waits); }).first, 1);
    EXPECT_EQ(cpu(), 1000);
    waits.nominated_node_name = "a";
    pod(waits);
    gone("q");
    EXPECT_EQ(cpu(), 1000);
}

TEST_F(a_cluster_room, counts_a_member_that_was_let_in_once) {
    pod(make_pod("m", "cpu=3"));
    room.promise(told["uid-m"], "a");
    auto open = make_pod("m", "cpu=3");
    open.scheduling_gates.clear();
    open.nominated_node_name = "a";
    pod(open);
    EXPECT_EQ(cpu(), 1000);
    // After a restart its pod is told before it is promised.
    cluster_room later;
    later.node_changed("a", room.nodes().at("a").node);
    later.pod_changed(nullptr, told["uid-m"]);
    later.promise(told["uid-m"], "a");
    EXPECT_EQ(later.left_on("a").value().at("cpu"), 1000);
}

TEST_F(a_cluster_room, places_of_testbeds_are_promised_too) {
    EXPECT_EQ(counts([&] { room.slots_changed("a", {{{"cpu", 1000}, {"pods", 2000}}}); }),
              std::pair(0, 1));
    EXPECT_EQ(cpu(), 3000);
    EXPECT_EQ(counts([&] { room.slots_changed("a", {{{"cpu", 1000}, {"pods", 2000}}}); }),
              std::pair(0, 0));
    EXPECT_EQ(counts([&] { room.slots_changed("a", {{{"cpu", 500}, {"pods", 1000}}}); }),
              std::pair(1, 1));
    EXPECT_EQ(counts([&] { room.slots_changed("a", {}); }), std::pair(1, 1));
    EXPECT_EQ(cpu(), 4000);
    room.slots_changed("nowhere", {});
    EXPECT_FALSE(room.nodes().contains("nowhere"));
}

TEST_F(a_cluster_room, knows_what_stays_for_good) {
    auto daemon = make_pod("d", "cpu=1", "a");
    daemon.metadata.owner_references = {{"apps/v1", "DaemonSet", "d", "u", true}};
    auto mirror = make_pod("mirror", "cpu=500m", "a");
    mirror.metadata.owner_references = {{"v1", "Node", "a", "u", true}};
    auto ghost = make_pod("ghost", "cpu=250m", "a");
    ghost.metadata.labels[std::string(model::names::testbed)] = "tb";
    pod(daemon);
    pod(mirror);
    pod(ghost);
    pod(make_pod("p", "cpu=2", "a"));
    room.promise(shared(make_pod("m", "cpu=1")), "a");
    slots_of_node slots{{{"cpu", 125}}};
    slots.in.insert("uid-ghost");
    slots.taken.count(ghost, 1);
    room.slots_changed("a", slots);
    EXPECT_TRUE(room.stays_for_good(daemon));
    EXPECT_TRUE(room.stays_for_good(ghost));
    EXPECT_FALSE(room.stays_for_good(make_pod("p", "cpu=2", "a")));
    const auto& entry = room.nodes().at("a");
    const auto cpu_number = static_cast<std::size_t>(room.resources().find("cpu"));
    EXPECT_EQ(entry.emptied[cpu_number], 4000 - 1000 - 500 - 250 - 125);
    EXPECT_EQ(entry.free[cpu_number], 4000 - 1000 - 500 - 250 - 125 - 2000 - 1000);
}

TEST_F(a_cluster_room, a_label_of_a_testbed_makes_no_pod_stay_for_good) {
    auto pretends = make_pod("p", "cpu=2", "a");
    pretends.metadata.labels[std::string(model::names::testbed)] = "tb";
    pod(pretends);
    EXPECT_FALSE(room.stays_for_good(pretends));
    const auto cpu_number = static_cast<std::size_t>(room.resources().find("cpu"));
    EXPECT_EQ(room.nodes().at("a").emptied[cpu_number], 4000);
    auto waits = make_pod("q", "cpu=1");
    waits.metadata.labels = pretends.metadata.labels;
    waits.scheduling_gates.clear();
    waits.nominated_node_name = "a";
    pod(waits);
    EXPECT_EQ(cpu(), 1000) << "its scheduler has made room for it";
}

TEST_F(a_cluster_room, what_comes_into_a_slot_is_counted_with_the_slot) {
    auto ghost = make_pod("g", "cpu=1");
    ghost.scheduling_gates.clear();
    ghost.nominated_node_name = "a";
    pod(ghost);
    slots_of_node slots{{{"cpu", 1000}}};
    slots.coming.insert("uid-g");
    EXPECT_EQ(counts([&] { room.slots_changed("a", slots); }), std::pair(0, 1));
    EXPECT_EQ(cpu(), 3000);
    EXPECT_EQ(counts([&] { room.slots_changed("a", slots); }), std::pair(0, 0));
    pod(ghost);
    EXPECT_EQ(cpu(), 3000) << "not twice, told again";
    ghost.node_name = "a";
    pod(ghost);
    slots_of_node bound;
    bound.in.insert("uid-g");
    bound.taken.count(ghost, 1);
    room.slots_changed("a", bound);
    EXPECT_EQ(cpu(), 3000);
    gone("g");
    room.slots_changed("a", {});
    EXPECT_EQ(cpu(), 4000);
}

TEST_F(a_cluster_room, a_request_beyond_all_numbers_leaves_nothing_behind) {
    auto huge = make_pod("huge", "", "a");
    huge.requests = {{"cpu", INT64_MAX}};
    pod(make_pod("p", "cpu=1", "a"));
    pod(huge);
    huge.metadata.name = "huger";
    huge.metadata.uid = "uid-huger";
    pod(huge);
    EXPECT_LT(cpu(), 0);
    gone("huge");
    gone("huger");
    EXPECT_EQ(cpu(), 3000);
}

TEST_F(a_cluster_room, knows_who_wants_others_away) {
    const std::string text = R"([{"topologyKey":"zone","labelSelector":{}}])";
    auto bound = make_pod("p", "", "a");
    bound.anti_affinity.text = text;
    pod(bound);
    auto member = make_pod("m", "");
    member.affinity.text =
        R"({"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)" + text + "}}";
    room.promise(shared(member), "a");
    int pods = 0;
    for (const auto& [key, each] : room.repelling()) {
        EXPECT_EQ(key.first, "lab");
        EXPECT_EQ(each.terms.exact.size(), 1U);
        pods += each.on.at("a").all;
    }
    EXPECT_EQ(pods, 2);
    gone("p");
    room.release("uid-m");
    EXPECT_TRUE(room.repelling().empty());
}

TEST_F(a_cluster_room, knows_the_labels_that_are_asked_for) {
    auto bound = make_pod("p", "", "a");
    bound.anti_affinity.text =
        R"([{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x","tier":"1"}}},
            {"topologyKey":"rack","labelSelector":{"matchLabels":{"app":"y"}}}])";
    pod(bound);
    using counts_by_key = std::map<std::string, int, std::less<>>;
    EXPECT_EQ(room.repelled_labels(), (counts_by_key{{"app", 2}, {"tier", 1}}));
    gone("p");
    EXPECT_TRUE(room.repelled_labels().empty());
    node(make_node("b", "cpu=1", "east"));
    EXPECT_EQ(room.node_labels(), (counts_by_key{{"kubernetes.io/hostname", 2}, {"zone", 1}}));
    node(make_node("b", "cpu=1"));
    room.node_changed("a", nullptr);
    EXPECT_EQ(room.node_labels(), (counts_by_key{{"kubernetes.io/hostname", 1}}));
}

TEST(a_cluster_room_of_many_changes, is_the_same_as_one_made_anew) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        std::mt19937 chance(seed);
        const auto upto = [&](unsigned n) { return static_cast<int>(chance() % n); };
        cluster_room kept;
        std::map<std::string, node_pointer> nodes;
        std::map<std::string, pod_pointer> pods;
        std::map<std::string, std::string> promised;
        std::map<std::string, model::amounts> slots;
        const auto node_name = [&] { return fmt::format("n{}", upto(4)); };
        for (int step = 0; step < 200; ++step) {
            const auto name = fmt::format("p{}", upto(8));
            const auto uid = "uid-" + name;
            switch (upto(6)) {
                case 0: {
                    const auto at = node_name();
                    nodes[at] = upto(4) == 0
                                    ? nullptr
                                    : shared(make_node(at, fmt::format("cpu={}", 1 + upto(8))));
                    kept.node_changed(at, nodes[at]);
                    break;
                }
                case 1: {
                    if (!pods[name] || pods[name]->bound() || !pods[name]->live()) break;
                    const auto at = node_name();
                    kept.promise(pods[name], at);
                    promised[uid] = at;
                    break;
                }
                case 2:
                    kept.release(uid);
                    promised.erase(uid);
                    if (pods[name]) kept.pod_changed(pods[name], pods[name]);
                    break;
                case 3: {
                    const auto at = node_name();
                    slots[at] = upto(2) == 0 ? model::amounts() : model::amounts{{"cpu", 100}};
                    kept.slots_changed(at, {slots[at]});
                    break;
                }
                default: {
                    const auto last = pods[name];
                    pod_pointer next;
                    if (upto(4) != 0) {
                        auto one =
                            last ? *last : make_pod(name, fmt::format("cpu={}m", upto(3000)));
                        if (!one.bound() && upto(2) == 0) {
                            one.node_name = promised.contains(uid) && upto(2) == 0 ? promised[uid]
                                                                                   : node_name();
                        }
                        if (!one.bound()) {
                            one.nominated_node_name = upto(3) == 0 ? node_name() : "";
                            one.scheduling_gates.clear();
                        }
                        if (upto(5) == 0) one.phase = "Succeeded";
                        next = shared(std::move(one));
                    }
                    kept.pod_changed(last, next);
                    pods[name] = next;
                    if (!next || next->bound() || !next->live()) promised.erase(uid);
                    break;
                }
            }
        }
        cluster_room anew;
        for (const auto& [name, node] : nodes) anew.node_changed(name, node);
        for (const auto& [name, pod] : pods) {
            if (!pod) continue;
            const auto promise = promised.find(pod->metadata.uid);
            if (promise != promised.end()) anew.promise(pod, promise->second);
            anew.pod_changed(nullptr, pod);
        }
        for (const auto& [name, waiting] : slots) anew.slots_changed(name, {waiting});
        for (const auto& [name, node] : nodes) {
            EXPECT_EQ(kept.left_on(name), anew.left_on(name)) << "seed " << seed << " " << name;
        }
        EXPECT_EQ(kept.promises().size(), promised.size()) << "seed " << seed;
        EXPECT_EQ(kept.node_labels(), anew.node_labels()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace esi::placement
