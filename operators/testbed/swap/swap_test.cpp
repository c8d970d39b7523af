#include "testbed/swap/swap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grid/places.h"
#include "placement/door.h"
#include "testbed/room/ghosts.h"
#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using nlohmann::json;

model::pod gated() {
    model::pod pod;
    pod.metadata.name = "exec-1";
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = "u1";
    pod.metadata.resource_version = "42";
    pod.requests = model::to_amounts(resources("600m", "1.75Gi"));
    pod.scheduling_gates = {std::string(names::gate)};
    return pod;
}

/// Takes the steps as the API server would answer them, and lists them.
std::vector<swap_step> play(model::pod pod, bool ghost_stands, bool taken = false,
                            bool room = true) {
    swap_progress so_far;
    std::vector<swap_step> out;
    for (int i = 0; i < 12; ++i) {
        const auto step = next_step({&pod, ghost_stands, taken, "node-a", room}, so_far);
        out.push_back(step);
        switch (step) {
            case swap_step::wait:
                return out;
            case swap_step::nominate:
                pod.nominated_node_name = "node-a";
                so_far = {};
                so_far.nominated = true;
                break;
            case swap_step::show_nomination:
                so_far.nominated = true;
                break;
            case swap_step::read_back:
                so_far.read_back = true;
                break;
            case swap_step::remove_ghost:
                ghost_stands = false;
                break;
            case swap_step::look:
                so_far.saw_room = true;
                break;
            case swap_step::let_in:
                return out;
        }
    }
    return out;
}

using enum swap_step;
using steps = std::vector<swap_step>;

TEST(swap, the_order_is_nominate_read_back_ghost_out_look_let_in) {
    EXPECT_EQ(play(gated(), true), (steps{nominate, read_back, remove_ghost, look, let_in}));
}

TEST(swap, a_nomination_that_stands_is_shown_and_never_taken_away) {
    auto pod = gated();
    pod.nominated_node_name = "node-a";
    EXPECT_EQ(play(pod, true), (steps{show_nomination, read_back, remove_ghost, look, let_in}));
    EXPECT_EQ(play(pod, false), (steps{read_back, look, let_in}))
        << "the ghost is gone already (a restart): the room is not opened for a moment";
}

TEST(swap, a_nomination_that_was_lost_is_set_again_before_anything_else) {
    auto pod = gated();
    swap_progress so_far;
    so_far.nominated = true;
    so_far.read_back = true;
    so_far.saw_room = true;
    EXPECT_EQ(next_step({&pod, false, false, "node-a", true}, so_far), nominate);
    pod.nominated_node_name = "node-b";
    EXPECT_EQ(next_step({&pod, false, false, "node-a", true}, so_far), nominate);
}

TEST(swap, nothing_is_opened_while_somebody_is_in_the_slot_or_the_room_is_taken) {
    EXPECT_EQ(play(gated(), true, true), steps{wait});
    EXPECT_EQ(play(gated(), false, false, false), (steps{nominate, wait}));
}

TEST(swap, pods_that_are_open_or_end_are_left_alone) {
    auto open = gated();
    open.scheduling_gates.clear();
    EXPECT_EQ(play(open, true), steps{wait});
    auto ending = gated();
    ending.metadata.deletion_timestamp.emplace();
    EXPECT_EQ(play(ending, true), steps{wait});
}

TEST(swap, the_one_patch_pins_opens_and_is_guarded) {
    EXPECT_EQ(let_in_patch(gated(), {3, "node-a", 0, 1}), json::parse(R"({
        "metadata": {"uid": "u1", "resourceVersion": "42", "annotations": {
            "esi.tu-berlin.de/slot": "3", "esi.tu-berlin.de/slot-node": "node-a"}},
        "spec": {"schedulingGates": null, "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}
            ]}}}}})"));
}

TEST(swap, every_required_term_gets_the_node_and_the_rest_of_the_affinity_stays) {
    auto pod = gated();
    pod.affinity.text = R"({"podAffinity": {"x": 1}, "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
            {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["z"]}]}]}}})";
    EXPECT_EQ(let_in_patch(pod, {0, "node-a", 0, 0})["spec"]["affinity"], json::parse(R"({
        "podAffinity": {"x": 1}, "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Exists"}],
             "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]},
            {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["z"]},
                             {"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]}}})"));
}

TEST(swap, a_required_term_without_requirements_stays_so) {
    // kube-apiserver refuses to let one that matches nothing match something (KEP-3838).
    auto pod = gated();
    pod.affinity.text = R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{}, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}})";
    EXPECT_EQ(let_in_patch(pod, {0, "node-a", 0, 0})["spec"]["affinity"], json::parse(R"({
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {}, {"matchExpressions": [{"key": "a", "operator": "Exists"}],
             "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]}}})"));
}

TEST(swap, nominations_are_guarded) {
    EXPECT_EQ(placement::shown_nomination_patch(gated()),
              json::parse(R"({"metadata": {"uid": "u1", "resourceVersion": "42", "annotations": {
                              "esi.tu-berlin.de/nomination-shown": "42"}}})"));
    EXPECT_EQ(placement::nomination_patch(gated(), "node-a"),
              json::parse(R"({"metadata": {"uid": "u1", "resourceVersion": "42"},
                              "status": {"nominatedNodeName": "node-a"}})"));
    EXPECT_EQ(placement::nomination_patch(gated(), "")["status"],
              json::parse(R"({"nominatedNodeName": null})"));
}

TEST(look, the_cache_counts_once_it_shows_the_nomination_and_no_longer_the_ghost) {
    world at{{"node-a"}};
    auto ghost = at.ghost("node-a", 0);
    ghost.metadata.resource_version = "40";
    auto nominated = gated();
    kube::store<model::pod> pods;
    EXPECT_FALSE(shows_the_end(pods, ghost, nominated)) << "nothing is watched";
    pods.set_version("41", "");
    EXPECT_FALSE(shows_the_end(pods, ghost, nominated)) << "as it was before the ghost was made";
    pods.apply(ghost);
    pods.set_version("43", "");
    EXPECT_FALSE(shows_the_end(pods, ghost, nominated)) << "the ghost stands";
    auto ending = ghost;
    ending.metadata.deletion_timestamp.emplace();
    ending.phase = "Failed";
    pods.apply(ending);
    pods.set_version("44", "");
    EXPECT_FALSE(shows_the_end(pods, ghost, nominated)) << "a kubelet or a finalizer keeps it";
    pods.erase(ghost.metadata.key());
    pods.set_version("45", "");
    EXPECT_TRUE(shows_the_end(pods, ghost, nominated));
    auto next = ghost;
    next.metadata.uid = "another";
    pods.apply(next);
    EXPECT_TRUE(shows_the_end(pods, ghost, nominated))
        << "what is there now is judged like any pod";
    pods.set_version("9", "");
    EXPECT_FALSE(shows_the_end(pods, ghost, nominated)) << "a list that goes back in time";
}

TEST(look, a_slot_is_open_when_it_is_empty_and_the_room_is_there) {
    world at{{"node-a"}};
    const grid::slot place{0, "node-a", 0, 0};
    const auto& node = at.nodes["node-a"];
    auto judge = [&](const std::vector<model::pod>& pods, const model::amounts& on_the_way = {}) {
        std::vector<pod_pointer> there;
        for (const auto& pod : pods) there.push_back(std::make_shared<const model::pod>(pod));
        const auto shown = at.see();
        const auto on_record = records_of(shown, grid::slots_of(*at.testbed.status.layout));
        auto seen = judge_node(there, node, place, at.testbed, on_record, gated(), on_the_way);
        return seen.ghost_stands ? std::string("ghost") : seen.problem;
    };
    EXPECT_EQ(judge({}), "");
    EXPECT_EQ(judge({at.ghost("node-a", 0)}), "ghost");
    EXPECT_EQ(judge({at.ghost("node-a", 1)}), "");
    EXPECT_EQ(judge({at.stranger("s", "node-a", "1400m")}), "");
    EXPECT_EQ(judge({at.stranger("s", "node-a", "1401m")}),
              "node-a has 599m cpu left, pod default/exec-1 needs 600m");
    EXPECT_EQ(
        judge({at.stranger("s", "node-a", "1000m")}, model::to_amounts(resources("600m", "1Gi"))),
        "node-a has 400m cpu left, pod default/exec-1 needs 600m");
    // More than any number has: bound by nodeName, past every check.
    EXPECT_NE(judge({at.stranger("s", "node-a", "9000P"), at.stranger("t", "node-a", "9000P")}),
              "");
    at.jobs.reserve(2);
    auto& job = at.job("j", {0});
    auto other = at.placed(job, "other", 0);
    world::let_in(other, 0, "node-a");
    EXPECT_EQ(judge({other}), "pod default/other is in slot 0");
    auto forged = other;
    forged.metadata.uid = "uid-forged";
    EXPECT_EQ(judge({forged}), "") << "it takes room, as anybody does";
    other.phase = "Failed";
    EXPECT_EQ(judge({other}), "");
}

TEST(ghost, requests_exactly_one_slot_and_is_pinned_never_bound_by_us) {
    world at{{"node-a"}};
    at.testbed.status.layout->resources_per_slot["nvidia.com/gpu"] = *model::quantity::parse("1");
    auto ghost = ghost_object(at.testbed, *at.testbed.status.layout, {0, "node-a", 0, 0}, {});
    EXPECT_EQ(ghost["metadata"]["name"], grid::ghost_name("tb", "tb-uid", "node-a", 0));
    EXPECT_EQ(ghost["metadata"]["labels"], json::parse(R"({"esi.tu-berlin.de/testbed": "tb",
        "esi.tu-berlin.de/testbed-namespace": "default", "esi.tu-berlin.de/ghost": "true"})"));
    EXPECT_EQ(ghost["metadata"]["annotations"],
              json::parse(R"({"esi.tu-berlin.de/node": "node-a", "esi.tu-berlin.de/index": "0",
                              "esi.tu-berlin.de/ghost-image": "registry.k8s.io/pause:3.10"})"));
    EXPECT_EQ(ghost["metadata"]["ownerReferences"][0]["uid"], "tb-uid");
    const auto& spec = ghost["spec"];
    EXPECT_FALSE(spec.contains("nodeName"));
    EXPECT_EQ(spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
              json::parse(R"({"nodeSelectorTerms": [{"matchFields": [
                  {"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]})"));
    EXPECT_EQ(spec["containers"][0]["resources"], json::parse(R"({
        "requests": {"cpu": "600m", "memory": "1.75Gi", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"}})"));
    EXPECT_EQ(spec["priorityClassName"], "esi-ghost");
    EXPECT_EQ(spec["terminationGracePeriodSeconds"], 0);
    EXPECT_EQ(spec["automountServiceAccountToken"], false);
    EXPECT_EQ(spec["tolerations"][0],
              json::parse(R"({"key": "esi.tu-berlin.de/testbed", "operator": "Exists"})"));
    EXPECT_EQ(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
}

TEST(taints, other_taints_stay_with_all_their_fields) {
    const auto node = json::parse(R"({"spec": {"taints": [
        {"key": "a", "effect": "NoExecute", "timeAdded": "2026-11-21T00:00:00Z"},
        {"key": "esi.tu-berlin.de/testbed", "value": "old", "effect": "NoSchedule"}]}})");
    EXPECT_EQ(changed_taints(node, {"n", "new"}, "new"), json::parse(R"([
        {"key": "a", "effect": "NoExecute", "timeAdded": "2026-11-21T00:00:00Z"},
        {"key": "esi.tu-berlin.de/testbed", "value": "new", "effect": "NoSchedule"}])"));
    EXPECT_EQ(changed_taints(node, {"n", ""}, "old"), json::parse(R"([
        {"key": "a", "effect": "NoExecute", "timeAdded": "2026-11-21T00:00:00Z"}])"));
    EXPECT_FALSE(changed_taints(node, {"n", ""}, "another")) << "only our own is taken away";
    EXPECT_FALSE(changed_taints(node, {"n", "old"}, "old"));
    EXPECT_TRUE(changed_taints(json::object(), {"n", "new"}, "new"));
}

TEST(swap, a_commit_is_marked_also_where_no_ghost_stands) {
    auto body = commit_patch(gated(), {3, "node-a", 0, 1}, "");
    EXPECT_EQ(body["metadata"]["annotations"],
              json::parse(R"({"esi.tu-berlin.de/slot":"3","esi.tu-berlin.de/slot-node":"node-a",
                              "esi.tu-berlin.de/slot-ghost":""})"));
}

}  // namespace
}  // namespace esi::testbed::tests
