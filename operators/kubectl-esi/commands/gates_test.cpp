#include "kubectl-esi/commands/gates.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/names.h"

namespace esi::kubectl {
namespace {

namespace names = model::names;

std::shared_ptr<model::pod> member(const char* name) {
    auto out = std::make_shared<model::pod>();
    out->metadata.namespace_ = "a";
    out->metadata.name = name;
    out->scheduling_gates = {std::string(names::gang)};
    return out;
}

/// A pod at the gate, and a group of two whose members are both there.
struct gang_of_two {
    gang_of_two() {
        auto& group = of.group.emplace();
        group.resource = "podgroups.scheduling.x-k8s.io";
        group.name = "g";
        group.exists = true;
        group.minimum = 2;
        of.members = {pod, member("other")};
        of.enabled = true;
    }
    std::shared_ptr<model::pod> pod = member("waits");
    gate_facts of;
};

TEST(gang_gate, each_reason_has_its_object_and_what_ends_it) {
    struct row {
        const char* what;
        std::function<void(gang_of_two&)> plant;
        const char* reason;
        const char* text;
        const char* freed_by;
    };
    const row rows[] = {
        {"a member is missing", [](auto& at) { at.of.members.pop_back(); }, "MembersMissing",
         "1 of 2 members are there",
         "1 more pods of the group are created, or: kubectl edit podgroups.scheduling.x-k8s.io g "
         "-n a"},
        {"no group",
         [](auto& at) {
             at.of.group->exists = false;
             at.of.group->minimum.reset();
         },
         "GroupMissing", "there is no PodGroup g",
         "a PodGroup of this name is created, with spec.minMember"},
        {"no number", [](auto& at) { at.of.group->minimum.reset(); }, "MinMemberInvalid",
         "spec.minMember is no whole number above 0",
         "kubectl edit podgroups.scheduling.x-k8s.io g -n a"},
        {"not enabled", [](auto& at) { at.of.enabled = false; }, "NotEnabled",
         "namespace a has not the label esi.tu-berlin.de/gangs=enabled",
         "kubectl label namespace a esi.tu-berlin.de/gangs=enabled"},
        {"suspended", [](auto& at) { at.of.group->suspended = true; }, "Suspended",
         "the annotation esi.tu-berlin.de/suspend is \"true\"",
         "kubectl annotate podgroups.scheduling.x-k8s.io g -n a esi.tu-berlin.de/suspend-"},
        {"another gate", [](auto& at) { at.pod->scheduling_gates.emplace_back("kueue.x/gate"); },
         "OtherGate", "it has the scheduling gate kueue.x/gate, too",
         "the controller that set this gate takes it away"},
        {"no room",
         [](auto& at) {
             at.of.events = {{"NoRoom", "1 of 2 members fit", "2026-01-02T03:04:05Z"},
                             {"MembersMissing", "over", "2026-01-02T03:04:06Z"}};
         },
         "NoRoom", "1 of 2 members fit",
         "there is room for all its members together: pods end, or nodes are added"},
        {"nothing told", [](auto&) {}, "InOrder",
         "no Event of esi-testbed about its group says yet why it waits",
         "esi-testbed (--gangs) plans it: kubectl events -n a --types=Warning"},
    };
    for (const auto& row : rows) {
        gang_of_two at;
        row.plant(at);
        ASSERT_TRUE(is_at_gate(*at.pod)) << row.what;
        const auto why = explain_gate(*at.pod, at.of);
        EXPECT_EQ(why.waits_for, (scheduling::answers::reference{"PodGroup", "a", "g"}));
        EXPECT_EQ(why.reason, row.reason) << row.what;
        EXPECT_EQ(why.text, row.text) << row.what;
        EXPECT_EQ(why.freed_by, row.freed_by) << row.what;
    }
}

TEST(gang_gate, members_that_do_not_count_are_named) {
    gang_of_two at;
    auto bare = member("bare");
    bare->scheduling_gates.clear();
    auto held = member("held");
    held->scheduling_gates.emplace_back("kueue.x/gate");
    auto over = member("over");
    over->phase = "Succeeded";
    at.of.members = {at.pod, bare, held, over};
    EXPECT_EQ(
        explain_gate(*at.pod, at.of).text,
        "1 of 2 members are there; 1 more wait for scheduling gates of others; 1 more have no "
        "gate esi.tu-berlin.de/gang: they were made before gangs were enabled");
}

TEST(gang_gate, a_member_beyond_a_gang_that_runs_waits_for_what_was_told) {
    gang_of_two at;
    at.of.group->minimum = 3;
    auto runs = member("runs");
    runs->scheduling_gates.clear();
    runs->metadata.annotations[std::string(names::gang_node)] = "n";
    runs->node_name = "n";
    at.of.members = {at.pod, runs};
    at.of.events = {{"MembersWait", "1 of 3 members are bound", "2026-01-02T03:04:05Z"}};
    EXPECT_EQ(explain_gate(*at.pod, at.of).reason, "MembersWait");
}

TEST(gang_gate, a_pod_without_a_group_says_how_it_gets_one) {
    gang_of_two at;
    at.of.group.reset();
    const auto why = explain_gate(*at.pod, at.of);
    EXPECT_EQ(why.reason, "GroupNameInvalid");
    EXPECT_EQ(why.freed_by, "the pod is deleted, and made again with the name of its group");
    EXPECT_EQ(gated_pod_text(why, {}),
              "Pod:         waits\n"
              "Namespace:   a\n"
              "Gate:        esi.tu-berlin.de/gang\n"
              "Waits for:   <none>\n"
              "Reason:      GroupNameInvalid\n"
              "Age:         <none>\n"
              "Message:     it names no PodGroup: it has no value that can be a name in the labels "
              "group.batch.scheduler.tencent.com and scheduling.x-k8s.io/pod-group, and in the "
              "annotation scheduling.k8s.io/group-name\n"
              "Freed by:    the pod is deleted, and made again with the name of its group\n");
}

TEST(gate_of_drivers, waits_for_the_scheduling_that_was_made_for_the_driver) {
    auto pod = member("pi-driver");
    pod->scheduling_gates = {std::string(names::gate)};
    ASSERT_TRUE(is_at_gate(*pod));
    gate_facts of;
    EXPECT_EQ(explain_gate(*pod, of).reason, "NotTakenOver");
    of.events = {{"LabelInvalid", "exec-cpu is no quantity", ""}};
    EXPECT_EQ(explain_gate(*pod, of).text, "exec-cpu is no quantity");
    auto plan = std::make_shared<model::scheduling>();
    plan->metadata.name = "pi-driver";
    plan->status.reason = "ClaimWaiting";
    plan->status.waiting_for = "Testbed a/pi-driver is not formed (NoRoom): 2 of 3 places fit";
    of.plan = plan;
    const auto why = explain_gate(*pod, of);
    EXPECT_EQ(why.waits_for, (scheduling::answers::reference{"Scheduling", "a", "pi-driver"}));
    EXPECT_EQ(why.reason, "ClaimWaiting");
    EXPECT_EQ(why.text, plan->status.waiting_for);
    EXPECT_EQ(why.freed_by, "kubectl esi explain scheduling pi-driver -n a");
}

TEST(gates, a_pod_of_a_run_is_left_to_the_planner) {
    auto pod = member("exec-1");
    pod->scheduling_gates = {std::string(names::gate)};
    pod->metadata.annotations[std::string(names::run)] = "r";
    EXPECT_FALSE(is_at_gate(*pod));
    pod->metadata.annotations.clear();
    pod->metadata.owner_references = {{"v1", "Pod", "pi-driver", "u", true}};
    EXPECT_TRUE(is_at_gate(*pod));
    EXPECT_EQ(explain_gate(*pod, {}).reason, "NotPlaced");
    pod->node_name = "n";
    EXPECT_FALSE(is_at_gate(*pod)) << "it does not wait";
}

}  // namespace
}  // namespace esi::kubectl
