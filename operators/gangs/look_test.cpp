#include "gangs/look.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_pod;
using placement::tests::shared;
using testing::HasSubstr;

/// Two members, nominated to a node of two CPUs that is empty.
struct looked : world {
    look_and_let_in what;

    looked() {
        add_node("node-a", "cpu=2");
        what.of = key("w");
        what.mark = "first/one/1";
        for (const auto* name : {"w-0", "w-1"}) {
            auto pod = member(name, "w", "cpu=1");
            pod.nominated_node_name = "node-a";
            pod.metadata.annotations[std::string(names::gang_plan)] = what.mark;
            put(pod);
            what.places.push_back({pods.at(name), "node-a"});
            room->promise(pods.at(name), "node-a");
        }
    }
    std::string judge() { return judge_look(what, live(), *room, shown); }
};

TEST(look, goes_where_the_room_is_there) {
    looked w;
    EXPECT_EQ(w.judge(), "");
}

TEST(look, counts_pods_that_the_cache_has_not_seen) {
    looked w;
    auto live = w.live();
    live.on_nodes["node-a"].push_back(shared(make_pod("x", "cpu=500m", "node-a")));
    EXPECT_EQ(judge_look(w.what, live, *w.room, w.shown),
              "the node of w-0, w-1 has 1500m cpu left, and 2 is needed");
    live.on_nodes["node-a"].back() = [] {
        auto ended = make_pod("x", "cpu=500m", "node-a");
        ended.phase = "Succeeded";
        return shared(ended);
    }();
    EXPECT_EQ(judge_look(w.what, live, *w.room, w.shown), "");
}

TEST(look, counts_promises_to_others_once) {
    looked w;
    auto other = make_pod("other", "cpu=1");
    w.room->promise(shared(other), "node-a");
    EXPECT_THAT(w.judge(), HasSubstr(" has 1 cpu left"));
    // A reservation before there is room takes no room of others.
    w.what.ahead.insert("uid-other");
    EXPECT_EQ(w.judge(), "");
    w.what.ahead.clear();
    w.room->release("uid-other");
    EXPECT_EQ(w.judge(), "");
}

TEST(look, counts_what_other_processes_have_promised) {
    looked w;
    auto other = w.member("other", "v", "cpu=1");
    other.nominated_node_name = "node-a";
    other.metadata.annotations[std::string(names::gang_plan)] = "other/two/1";
    w.put(other);
    EXPECT_THAT(w.judge(), HasSubstr(" has 1 cpu left"));
    // Reserved places are not there yet.
    other.metadata.annotations[std::string(names::gang_plan)] = "/two/1";
    w.put(other);
    EXPECT_EQ(w.judge(), "");
    other.scheduling_gates.clear();
    other.metadata.annotations[std::string(names::gang_node)] = "node-a";
    w.put(other);
    EXPECT_THAT(w.judge(), HasSubstr(" has 1 cpu left"));
    // Any writer of pods can set annotations, but not nominations.
    other.nominated_node_name.clear();
    w.put(other);
    EXPECT_EQ(w.judge(), "");
    other.nominated_node_name = "node-a";
    other.node_name = "node-b";
    w.put(other);
    EXPECT_EQ(w.judge(), "");
}

// The list of the node's pods was read before it was bound, the verdict falls after that.
TEST(look, counts_who_is_bound_during_the_look) {
    looked w;
    auto other = w.member("other", "v", "cpu=1");
    other.nominated_node_name = "node-a";
    other.metadata.annotations[std::string(names::gang_plan)] = "other/two/1";
    w.put(other);
    auto live = w.live();
    live.promised = promised_on(*w.room, w.shown, {"node-a"}, {});
    other.scheduling_gates.clear();
    other.node_name = "node-a";
    w.put(other);
    EXPECT_THAT(judge_look(w.what, live, *w.room, w.shown), HasSubstr(" has 1 cpu left"));
}

TEST(look, counts_places_of_testbeds) {
    looked w;
    w.room->slots_changed("node-a", {{{"cpu", 600}}});
    EXPECT_THAT(w.judge(), HasSubstr(" has 1400m cpu left"));
}

TEST(look, needs_every_member_nominated_and_gated) {
    looked w;
    const auto with = [&](auto change) {
        auto live = w.live();
        auto pod = *w.pods.at("w-1");
        change(pod);
        live.members[pod.metadata.uid] = shared(pod);
        return judge_look(w.what, live, *w.room, w.shown);
    };
    EXPECT_EQ(with([](model::pod& pod) { pod.nominated_node_name.clear(); }),
              "the nomination of pod w-1 was taken off");
    EXPECT_EQ(with([](model::pod& pod) { pod.nominated_node_name = "node-b"; }),
              "pod w-1 is nominated to node node-b instead of node-a");
    EXPECT_EQ(with([](model::pod& pod) { pod.scheduling_gates.clear(); }),
              "pod w-1 does not wait at its gate any more");
    EXPECT_EQ(with([](model::pod& pod) { pod.metadata.deletion_timestamp = model::timestamp{}; }),
              "pod w-1 does not wait at its gate any more");
    EXPECT_EQ(with([](model::pod& pod) {
                  pod.metadata.annotations[std::string(names::gang_plan)] = "first/two/1";
              }),
              "pod w-1 was given a place by another process of esi-testbed");
    EXPECT_EQ(with([](model::pod& pod) { pod.metadata.labels.clear(); }),
              "pod w-1 has left the group");
    auto live = w.live();
    live.members.erase(w.pods.at("w-0")->metadata.uid);
    EXPECT_EQ(judge_look(w.what, live, *w.room, w.shown), "pod w-0 is gone");
}

TEST(look, needs_the_node_as_it_was_planned) {
    looked w;
    auto node = *w.nodes.at("node-a");
    node.unschedulable = true;
    w.put_node(node);
    EXPECT_THAT(w.judge(), HasSubstr("node-a"));
    node.unschedulable = false;
    node.ready = false;
    w.put_node(node);
    EXPECT_EQ(w.judge(), "node node-a is not ready");
    w.remove_node("node-a");
    EXPECT_THAT(w.judge(), HasSubstr("node node-a is gone"));
}

TEST(look, sees_host_ports) {
    looked w;
    auto live = w.live();
    auto pod = *w.pods.at("w-0");
    pod.host_ports = {{"TCP", "", 80}};
    w.what.places.front().pod = shared(pod);
    EXPECT_EQ(judge_look(w.what, live, *w.room, w.shown), "");
    auto other = make_pod("x", "cpu=0", "node-a");
    other.host_ports = {{"TCP", "", 80}};
    live.on_nodes["node-a"].push_back(shared(other));
    EXPECT_EQ(judge_look(w.what, live, *w.room, w.shown), "port 80 of node node-a is taken");
}

TEST(let_in, takes_only_the_gate_of_gangs_and_pins_the_pod) {
    looked w;
    auto pod = *w.pods.at("w-0");
    auto patch = gang_let_in_patch(pod, "node-a");
    EXPECT_TRUE(patch["spec"]["schedulingGates"].is_null());
    EXPECT_EQ(patch["metadata"]["annotations"]["esi.tu-berlin.de/gang-node"], "node-a");
    EXPECT_EQ(patch["metadata"]["uid"], pod.metadata.uid);
    EXPECT_EQ(patch["metadata"]["resourceVersion"], pod.metadata.resource_version);
    EXPECT_THAT(patch["spec"]["affinity"].dump(), HasSubstr("node-a"));
    pod.scheduling_gates.emplace_back("example.com/x");
    EXPECT_EQ(gang_let_in_patch(pod, "node-a")["spec"]["schedulingGates"].dump(),
              R"([{"name":"example.com/x"}])");
}

}  // namespace
}  // namespace esi::gangs::tests
