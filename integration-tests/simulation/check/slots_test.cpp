#include "check/invariants.h"

#include <gmock/gmock.h>

#include <functional>

#include "check/forged_world.h"

namespace esi::simulation {
namespace {

namespace names = model::names;
using testing::ElementsAre;

struct slots_test : testing::Test {
    forged_world world;

    void SetUp() override { world.begin(); }
    std::string first() const {
        const auto& found = world.judge->violations();
        return found.empty() ? "" : found.front().rule + ": " + found.front().text;
    }
    /// As the testbed operator does.
    void send(const char* verb, std::string_view pod, const json& body) {
        kube::request what(verb, "/api/v1/namespaces/default/pods/" + std::string(pod));
        what.body = body.dump();
        world.judge->wrote("testbed", 0, what, world.time.now(), world.time.now());
    }
    void send_let_in() {
        send("PATCH", "exec-1",
             {{"metadata",
               {{"uid", "exec-uid-1"},
                {"resourceVersion", "7"},
                {"annotations", {{names::slot, "0"}, {names::slot_node, "node-0"}}}}},
              {"spec", {{"schedulingGates", nullptr}}}});
    }
    void remove_ghost() {
        const auto ghost = world.store.find(kinds::pod, "default", "grid-ghost-0");
        send("DELETE", "grid-ghost-0", {{"preconditions", {{"uid", ghost->uid()}}}});
        world.remove_pod("grid-ghost-0");
    }
    /// The job's pod runs in its slot, is being deleted, and a stranger wants the room.
    void until_an_end_is_announced() {
        world.judge->all_disturbances_are_told();
        world.wait(seconds(60));
        world.until_placed();
        world.swap_in();
        world.put(kinds::pod, world.stranger("other", "500m"));
        world.change("exec-1", [](json& body) {
            body["metadata"]["deletionTimestamp"] = "2026-01-02T03:05:05Z";
        });
    }
    /// A pod of higher priority was bound to the node; lower nominations are cleared.
    void preempt() {
        world.judge->preempted({{"spec", {{"nodeName", "node-0"}}}},
                               {{"metadata", {{"uid", "important"}}}});
        world.change("exec-1", [](json& body) { body["status"].erase("nominatedNodeName"); });
    }
};

/// The room of the slot on node-0 comes free twice, and pods of others are bound there.
void pass_a_slot_by(
    forged_world& world, steady_time::duration between,
    const std::function<void()>& meanwhile = [] {}, int priority = 0) {
    world.judge->all_disturbances_are_told();
    world.wait(seconds(60));
    for (const char* name : {"first", "second"}) {
        auto stranger = world.stranger(name, "500m");
        stranger["spec"]["priority"] = priority;
        world.put(kinds::pod, stranger);
    }
    world.bind("first", "node-0");
    world.wait(between);
    world.remove_pod("first");
    meanwhile();
    world.bind("second", "node-0");
}

/// Time passes in steps of a minute, and after each the rules look, as something has changed.
void wait_and_look(forged_world& world, int steps) {
    for (int step = 0; step < steps; ++step) {
        world.wait(seconds(61));
        world.put(
            kinds::lease,
            {{"metadata", {{"name", "esi-testbed"}, {"namespace", "esi-system"}, {"uid", "lease"}}},
             {"spec", {{"leaseTransitions", step}}}});
    }
}

// --- slots ---

TEST_F(slots_test, a_pod_that_is_let_in_without_a_placement_is_seen) {
    world.until_placed();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-2", "0", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("pod-without-placement"));
}

TEST_F(slots_test, a_pod_that_is_let_in_to_a_slot_of_somebody_else_is_seen) {
    world.until_placed();
    world.job["status"]["placements"][0]["slot"] = 1;
    world.put(kinds::batchjob, world.job);
    world.remove_pod("grid-ghost-1");
    world.let_in("exec-1", "1", "node-1");
    EXPECT_THAT(world.broken(), ElementsAre("pod-without-assignment"));
}

TEST_F(slots_test, a_pod_that_is_let_in_without_the_hold_of_its_run_is_seen) {
    world.until_placed();
    world.judge->meddled("edited schedulings default/queue");
    world.unhold();
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-1", "0", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("pod-without-assignment"));
}

TEST_F(slots_test, a_pod_that_is_let_in_to_another_node_than_the_layout_says_is_seen) {
    world.until_placed();
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-1", "0", "node-1");
    EXPECT_THAT(world.broken(), testing::Contains("pod-in-wrong-slot"));
}

TEST_F(slots_test, a_pod_with_a_term_that_is_not_pinned_is_seen) {
    world.until_placed();
    world.remove_pod("grid-ghost-0");
    world.change("exec-1", [](json& body) {
        body["metadata"]["annotations"][names::slot] = "0";
        body["metadata"]["annotations"][names::slot_node] = "node-0";
        body["spec"].erase("schedulingGates");
        body["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"] = {
                {{"matchFields",
                  {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"node-0"}}}}}},
                {{"matchExpressions", {{{"key", "disk"}, {"operator", "Exists"}}}}}};
    });
    EXPECT_THAT(world.broken(), ElementsAre("pod-in-wrong-slot"));
}

TEST_F(slots_test, a_pod_that_is_let_in_beside_its_ghost_is_seen) {
    world.until_placed();
    world.let_in("exec-1", "0", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("ghost-still-there"));
}

TEST_F(slots_test, a_second_pod_in_a_slot_is_seen) {
    world.until_placed();
    world.swap_in();
    world.put(kinds::pod, world.executor("exec-2", "exec-uid-2"));
    world.place_as("exec-2", "exec-uid-2");
    world.let_in("exec-2", "0", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("slot-shared"));
    EXPECT_EQ(world.judge->violations().size(), 2U);
}

TEST_F(slots_test, a_pod_that_is_bound_elsewhere_is_seen) {
    world.until_placed();
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-1", "0", "node-0");
    world.remove_pod("grid-ghost-1");
    world.bind("exec-1", "node-1");
    EXPECT_THAT(world.broken(), ElementsAre("pod-in-wrong-slot"));
}

TEST_F(slots_test, without_the_layout_that_a_person_took_away_nothing_is_said_of_a_binding) {
    world.until_placed();
    world.judge->meddled("edited testbeds default/grid status");
    world.bed["status"].erase("layout");
    world.bed = world.put(kinds::testbed, world.bed);
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-1", "0", "node-0");
    world.bind("exec-1", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_copy_that_a_person_made_of_a_job_pod_is_nobodys_mistake) {
    world.until_placed();
    world.swap_in();
    world.judge->meddled("edited pods default/copy a copy of a run");
    auto copy = world.store.find(kinds::pod, "default", "exec-1")->body();
    copy["metadata"]["name"] = "copy";
    copy["metadata"]["uid"] = "uid-of-copy";
    copy["spec"]["nodeName"] = "node-0";
    world.put(kinds::pod, copy);
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_forged_pod_that_is_heeded_is_seen) {
    using change = void (*)(json&);
    const std::pair<const char*, change> rows[] = {
        {"let in", [](json& body) { body["spec"].erase("schedulingGates"); }},
        {"given a slot", [](json& body) { body["metadata"]["annotations"][names::slot] = "1"; }},
        {"nominated", [](json& body) { body["status"]["nominatedNodeName"] = "node-0"; }}};
    int number = 0;
    for (const auto& [what, how] : rows) {
        forged_world each;
        each.begin();
        auto forged = each.executor("forged", fmt::format("uid-of-forged-{}", number++));
        forged["metadata"]["labels"]["example.com/forged"] = "true";
        each.until_placed();
        each.put(kinds::pod, forged);
        EXPECT_THAT(each.broken(), testing::IsEmpty()) << what;
        each.change("forged", how);
        EXPECT_THAT(each.broken(), ElementsAre("forgery-heeded")) << what;
    }
}

TEST_F(slots_test, a_forged_pod_that_is_heeded_is_seen_among_more_labels_than_esi_reads) {
    auto forged = world.executor("forged", "uid-of-forged");
    forged_world::forge_with_many_labels(forged);
    world.until_placed();
    world.put(kinds::pod, forged);
    EXPECT_THAT(world.broken(), testing::IsEmpty());
    world.nominate("forged", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("forgery-heeded"));
}

// --- ghosts ---

TEST_F(slots_test, a_ghost_with_a_node_name_is_seen) {
    world.put(kinds::pod, world.ghost(0, "ghost-0", true));
    EXPECT_THAT(world.broken(), ElementsAre("ghost-bound-by-name"));
}

TEST_F(slots_test, a_ghost_that_may_preempt_is_seen) {
    auto ghost = world.ghost(0, "ghost-0", false);
    ghost["spec"]["preemptionPolicy"] = "PreemptLowerPriority";
    world.put(kinds::pod, ghost);
    EXPECT_THAT(world.broken(), ElementsAre("ghost-may-preempt"));
}

TEST_F(slots_test, a_ghost_on_a_node_without_the_taint_is_seen) {
    world.judge->all_disturbances_are_told();
    world.bed["spec"]["isolation"] = "Taint";
    world.bed = world.put(kinds::testbed, world.bed);
    world.put(kinds::pod, world.ghost(0, "ghost-0", false));
    EXPECT_THAT(world.broken(), ElementsAre("ghost-before-taint"));
}

// --- nodes ---

TEST_F(slots_test, more_than_a_node_has_is_seen) {
    world.make_ghosts();
    world.put(kinds::pod, world.stranger("other", "200m"));
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("over-committed"));
}

TEST_F(slots_test, who_was_bound_by_a_person_is_counted_to_nobody) {
    world.make_ghosts();
    auto pod = world.stranger("other", "200m");
    pod["spec"]["nodeName"] = "node-0";
    world.put(kinds::pod, pod);
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_stranger_that_takes_the_room_of_a_placed_pod_is_seen) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.remove_pod("grid-ghost-0");
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_scheduler_that_began_after_the_nomination_does_not_know_of_it) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.nominate("exec-1", "node-0");
    world.judge->scheduler_started("default-scheduler");
    world.remove_pod("grid-ghost-0");
    world.bind("other", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_nomination_after_the_start_of_the_scheduler_keeps_the_room) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.judge->scheduler_started("default-scheduler");
    world.wait(milliseconds(1));
    world.nominate("exec-1", "node-0");
    world.remove_pod("grid-ghost-0");
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, the_room_of_a_ghost_that_a_person_deleted_is_free_for_all) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.remove_pod("grid-ghost-0");
    world.judge->meddled("deleted pods default/grid-ghost-0");
    world.bind("other", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_stranger_that_takes_the_room_of_a_ghost_at_the_door_is_seen) {
    world.until_placed();
    world.swap_in();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.change("exec-1", [](json& body) {
        body["metadata"]["deletionTimestamp"] = "2026-01-02T03:05:05Z";
    });
    world.put(kinds::pod, world.ghost(0, "ghost-0b", false));
    world.nominate("grid-ghost-0", "node-0");
    world.remove_pod("exec-1");
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_ghost_that_is_not_at_the_door_after_an_announced_end_is_seen) {
    until_an_end_is_announced();
    world.wait(seconds(2));
    world.remove_pod("exec-1");
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_ghost_that_comes_too_late_does_not_excuse_who_came_before) {
    until_an_end_is_announced();
    world.wait(seconds(2));
    world.remove_pod("exec-1");
    world.put(kinds::pod, world.ghost(0, "ghost-0b", false));
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_ghost_that_waits_without_a_nomination_is_seen) {
    until_an_end_is_announced();
    world.put(kinds::pod, world.ghost(0, "ghost-0b", false));
    world.wait(seconds(2));
    world.remove_pod("exec-1");
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_leader_that_trusts_the_nomination_of_another_is_seen) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.nominate("exec-1", "node-0");
    world.judge->scheduler_started("default-scheduler");
    world.wait(seconds(20));
    world.judge->leads("testbed");
    remove_ghost();
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_nomination_that_was_not_read_back_is_seen) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.nominate("exec-1", "node-0");
    world.wait(seconds(1));
    preempt();
    remove_ghost();
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_preemption_after_a_nomination_that_was_answered_at_once_is_nobodys_mistake) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.nominate("exec-1", "node-0");
    world.wait(milliseconds(100));
    preempt();
    remove_ghost();
    world.bind("other", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_preemption_after_the_nomination_was_read_back_is_nobodys_mistake) {
    world.until_placed();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.nominate("exec-1", "node-0");
    world.wait(seconds(1));
    world.judge->looked("testbed", "pods", "default/exec-1");
    preempt();
    remove_ghost();
    world.bind("other", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_slot_whose_room_goes_to_pods_of_others_again_and_again_is_seen) {
    pass_a_slot_by(world, seconds(8));
    EXPECT_THAT(world.broken(), ElementsAre("slot-passed-by"));
}

TEST_F(slots_test, room_that_goes_once_to_pods_that_are_pending_passes_no_slot_by) {
    pass_a_slot_by(world, seconds(3));
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_slot_is_passed_by_only_by_pods_that_do_not_go_before_its_ghost) {
    // The ghost waits at the door all the time; its priority is 100.
    const auto with_pods_of = [](int priority) {
        forged_world here;
        here.begin();
        here.put(kinds::pod, here.ghost(0, "ghost-0b", false));
        pass_a_slot_by(here, seconds(8), [] {}, priority);
        return here.broken();
    };
    EXPECT_THAT(with_pods_of(100), ElementsAre("slot-passed-by"));
    EXPECT_THAT(with_pods_of(101), testing::IsEmpty());
}

TEST_F(slots_test, a_slot_without_a_ghost_at_the_door_is_passed_by_whoever_comes) {
    pass_a_slot_by(world, seconds(8), [] {}, 101);
    EXPECT_THAT(world.broken(), ElementsAre("slot-passed-by"));
}

TEST_F(slots_test, a_slot_that_was_filled_meanwhile_is_not_passed_by) {
    pass_a_slot_by(world, seconds(8), [this] {
        world.put(kinds::pod, world.ghost(0, "ghost-0b", false));
        world.bind("grid-ghost-0", "node-0");
        world.remove_pod("grid-ghost-0");
    });
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_younger_slot_is_passed_by_only_while_the_older_testbed_lacks_none) {
    // A testbed of the same two nodes, made before the one that lacks a ghost.
    const auto with_an_elder = [](bool whole) {
        forged_world here;
        here.bed["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z";
        here.bed = here.put(kinds::testbed, here.bed);
        auto elder = here.bed;
        elder["metadata"]["name"] = "elder";
        elder["metadata"]["uid"] = "00000000-0000-4000-8000-0000000000e1";
        elder["metadata"]["creationTimestamp"] = "1999-01-02T03:04:05Z";
        elder["metadata"].erase("resourceVersion");
        // Its own slot does not fit into the room that comes free, so only the other one's is
        // judged.
        elder["spec"]["resourcesPerSlot"] = {{"cpu", "64"}, {"memory", "1Mi"}};
        elder["status"]["layout"]["resourcesPerSlot"] = elder["spec"]["resourcesPerSlot"];
        here.put(kinds::testbed, elder);
        auto ghost = here.ghost(0, "elder-ghost", false);
        ghost["metadata"]["name"] = "elder-ghost-0";
        ghost["metadata"]["labels"][names::testbed] = "elder";
        ghost["metadata"]["ownerReferences"][0]["name"] = "elder";
        ghost["metadata"]["ownerReferences"][0]["uid"] = elder["metadata"]["uid"];
        ghost["spec"]["containers"][0]["resources"]["requests"] = {{"cpu", "0"}};
        here.put(kinds::pod, ghost);
        here.begin();
        if (whole) here.bind("elder-ghost-0", "node-0");
        pass_a_slot_by(here, seconds(8));
        return here.broken();
    };
    EXPECT_THAT(with_an_elder(true), ElementsAre("slot-passed-by"));
    EXPECT_THAT(with_an_elder(false), testing::IsEmpty());
}

TEST_F(slots_test, a_slot_that_has_room_and_gets_no_ghost_is_seen) {
    const auto broken = [](bool filled) {
        forged_world here;
        here.begin();
        here.judge->all_disturbances_are_told();
        if (filled) here.make_ghosts();
        wait_and_look(here, 3);
        return here.broken();
    };
    EXPECT_THAT(broken(false), ElementsAre("slot-stays-empty"));
    EXPECT_THAT(broken(true), testing::IsEmpty());
}

TEST_F(slots_test, a_node_that_took_a_name_over_gets_no_ghost_while_the_layout_is_held) {
    const auto broken = [](bool held) {
        forged_world here;
        here.begin();
        here.judge->all_disturbances_are_told();
        here.make_ghosts();
        here.set_finalizer();
        if (held) here.hold();
        auto node = here.store.find(kinds::node, {}, "node-0")->body();
        here.store.erase(kinds::node, {}, "node-0");
        here.remove_pod("grid-ghost-0");
        node["metadata"]["uid"] = "00000000-0000-4000-8000-0000000000b0";
        node["metadata"].erase("resourceVersion");
        here.put(kinds::node, node);
        // What was decided before the node was replaced has long arrived.
        here.wait(std::chrono::minutes(11));
        wait_and_look(here, 2);
        return here.broken();
    };
    EXPECT_THAT(broken(true), testing::IsEmpty());
    EXPECT_THAT(broken(false), ElementsAre("slot-stays-empty"));
}

TEST_F(slots_test, a_pod_that_is_let_in_where_somebody_has_been_for_long_is_seen) {
    world.until_placed();
    world.remove_pod("grid-ghost-0");
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.judge->meddled("deleted pods default/grid-ghost-0");
    world.bind("other", "node-0");
    send_let_in();
    EXPECT_EQ(first(), "");
    world.wait(seconds(21));
    send_let_in();
    EXPECT_THAT(world.broken(), ElementsAre("let-in-without-room"));
}

TEST_F(slots_test, a_pod_that_is_given_up_whether_it_was_bound_or_not_is_seen) {
    world.until_placed();
    send("DELETE", "exec-1",
         {{"preconditions", {{"uid", "exec-uid-1"}, {"resourceVersion", "7"}}}});
    EXPECT_EQ(first(), "");
    send("DELETE", "exec-1", {{"preconditions", {{"uid", "exec-uid-1"}}}});
    EXPECT_THAT(world.broken(), ElementsAre("unguarded-delete"));
}

TEST_F(slots_test, the_room_of_a_pod_that_ends_without_warning_is_free_for_all) {
    world.judge->all_disturbances_are_told();
    world.until_placed();
    world.swap_in();
    world.put(kinds::pod, world.stranger("other", "500m"));
    world.remove_pod("exec-1");
    world.bind("other", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, a_stranger_past_the_taint_is_seen) {
    auto node = world.store.find(kinds::node, "", "node-0")->body();
    node["spec"]["taints"] = {
        {{"key", names::taint}, {"value", forged_world::bed_uid}, {"effect", "NoSchedule"}}};
    world.put(kinds::node, node);
    world.wait(seconds(120));
    auto tolerant = world.stranger("tolerant", "100m");
    tolerant["spec"]["tolerations"] = {{{"key", names::taint}, {"operator", "Exists"}}};
    world.put(kinds::pod, tolerant);
    world.bind("tolerant", "node-0");
    EXPECT_EQ(first(), "");
    world.put(kinds::pod, world.stranger("other", "100m"));
    world.bind("other", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("stranger-in-slot"));
}

TEST_F(slots_test, a_pod_whose_other_gate_is_removed_too_is_seen) {
    world.until_placed();
    world.change("exec-1", [](json& body) {
        body["spec"]["schedulingGates"].push_back({{"name", "example.com/quota"}});
    });
    world.remove_pod("grid-ghost-0");
    world.let_in("exec-1", "0", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("foreign-gate-removed"));
}

TEST_F(slots_test, on_the_extender_path_the_decision_on_the_pod_lets_it_in) {
    world.until_placed();
    world.remove_pod("exec-1");
    auto pod = world.executor("exec-2", "exec-uid-2");
    pod["spec"].erase("schedulingGates");
    pod["spec"]["schedulerName"] = "external-scheduler";
    pod["metadata"]["ownerReferences"] = {
        {{"kind", "Pod"}, {"name", "a-driver"}, {"uid", "driver"}}};
    world.put(kinds::pod, pod);
    world.place_as("exec-2", "exec-uid-2");
    world.change("exec-2", [](json& body) {
        body["metadata"]["annotations"][names::slot] = "0";
        body["metadata"]["annotations"][names::slot_node] = "node-0";
        body["metadata"]["annotations"][names::slot_ghost] = "ghost-0";
    });
    world.remove_pod("grid-ghost-0");
    world.bind("exec-2", "node-0");
    EXPECT_EQ(first(), "");
}

TEST_F(slots_test, on_the_extender_path_a_pod_that_is_bound_undecided_is_seen) {
    world.until_placed();
    auto pod = world.executor("exec-2", "exec-uid-2");
    pod["spec"].erase("schedulingGates");
    pod["spec"]["schedulerName"] = "external-scheduler";
    pod["metadata"]["ownerReferences"] = {
        {{"kind", "Pod"}, {"name", "a-driver"}, {"uid", "driver"}}};
    world.put(kinds::pod, pod);
    world.remove_pod("grid-ghost-0");
    world.bind("exec-2", "node-0");
    EXPECT_THAT(world.broken(), ElementsAre("pod-without-placement"));
}

// --- the taint ---

struct taint_test : slots_test {
    void SetUp() override {
        world.bed["spec"]["isolation"] = "Taint";
        world.bed = world.put(kinds::testbed, world.bed);
        for (int node : {0, 1}) taint(node, true);
        world.begin();
        world.make_ghosts();
        world.judge->all_disturbances_are_told();
        world.wait(seconds(60));
        heartbeat();
        world.wait(seconds(60));
    }
    void taint(int node, bool there) {
        auto body = world.store.find(kinds::node, "", "node-" + std::to_string(node))->body();
        body["spec"]["taints"] = json::array();
        if (there) {
            body["spec"]["taints"] = {{{"key", names::taint},
                                       {"value", forged_world::bed_uid},
                                       {"effect", "NoSchedule"}}};
        }
        world.put(kinds::node, body);
    }
    void heartbeat() {
        world.put(kinds::lease,
                  {{"metadata",
                    {{"name", "esi-testbed"}, {"namespace", "esi-system"}, {"uid", "lease"}}}});
    }
    void send_taints(const json& taints) {
        kube::request what("PATCH", "/api/v1/nodes/node-0");
        what.body = json{{"metadata", {{"uid", "u"}, {"resourceVersion", "7"}}},
                         {"spec", {{"taints", taints}}}}
                        .dump();
        world.judge->wrote("testbed", 0, what, world.time.now(), world.time.now());
    }
};

TEST_F(taint_test, a_taint_that_stays_away_is_seen) {
    taint(0, false);
    world.wait(seconds(29));
    heartbeat();
    EXPECT_THAT(world.broken(), testing::IsEmpty());
    world.wait(seconds(1));
    heartbeat();
    EXPECT_THAT(world.broken(), ElementsAre("taint-lost"));
}

TEST_F(taint_test, a_taint_that_is_set_again_is_content) {
    taint(0, false);
    world.wait(seconds(20));
    taint(0, true);
    world.wait(seconds(20));
    heartbeat();
    EXPECT_THAT(world.broken(), testing::IsEmpty());
}

TEST_F(taint_test, nobody_sets_a_taint_while_the_operator_is_away) {
    world.judge->disturbed("testbed", world.time.now() + seconds(60));
    taint(0, false);
    world.wait(seconds(40));
    heartbeat();
    EXPECT_THAT(world.broken(), testing::IsEmpty());
}

TEST_F(taint_test, an_operator_that_takes_the_taint_of_a_layout_away_is_seen) {
    send_taints({{{"key", names::taint}, {"value", "other"}, {"effect", "NoSchedule"}}});
    EXPECT_THAT(world.broken(), testing::IsEmpty());
    send_taints(json::array());
    EXPECT_THAT(world.broken(), ElementsAre("taint-lost"));
}

TEST_F(taint_test, a_node_without_its_taint_at_rest_is_seen) {
    taint(0, false);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("taint-lost"));
}

TEST_F(taint_test, a_taint_that_nobody_wants_at_rest_is_seen) {
    world.bed["spec"]["isolation"] = "None";
    world.bed = world.put(kinds::testbed, world.bed);
    world.judge->at_end();
    EXPECT_THAT(world.broken(), testing::Contains("taint-left"));
}

}  // namespace
}  // namespace esi::simulation
