#include "gangs/pod_group.h"

#include <gmock/gmock.h>

#include "gangs/gang.h"
#include "placement/testing/builders.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::make_pod;
pod_group read(std::string_view text) {
    auto out = model::decode<pod_group>(text, "PodGroup");
    EXPECT_TRUE(out.has_value());
    return out.value_or(pod_group{});
}

TEST(pod_group, is_read_whatever_its_kind) {
    const auto of = read(R"({
        "apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "lab", "uid": "1", "resourceVersion": "7",
                     "annotations": {"esi.tu-berlin.de/suspend": "true",
                                     "esi.tu-berlin.de/on-partial": "Delete"}},
        "spec": {"minMember": 3, "scheduleTimeoutSeconds": 10, "minResources": {"cpu": "1"}},
        "status": {"phase": "Pending", "occupiedBy": "lab/a", "running": 1,
                   "scheduleStartTime": "2026-11-21T09:34:07Z"}})");
    EXPECT_EQ(of.spec.min_member, 3);
    EXPECT_EQ(of.spec.attempt, seconds(10));
    EXPECT_TRUE(of.suspended());
    EXPECT_TRUE(of.deletes_partial());
    EXPECT_FALSE(of.best_effort());
    EXPECT_EQ(of.status.phase, "Pending");
    EXPECT_EQ(of.status.running, 1);
    EXPECT_FALSE(of.status.failed.has_value());
    EXPECT_EQ(of.status.schedule_start_time->whole_seconds(), "2026-11-21T09:34:07Z");
}

TEST(pod_group, of_kube_batch_has_conditions) {
    const auto of = read(R"({"metadata": {"name": "qj", "namespace": "lab", "uid": "1"},
        "spec": {"minMember": 6, "queue": "default", "priorityClassName": "high"},
        "status": {"conditions": [{"type": "Unschedulable", "status": "True",
            "transitionID": "x", "reason": "NotEnoughResources", "message": "m"}]}})");
    EXPECT_EQ(of.spec.priority_class_name, "high");
    ASSERT_EQ(of.status.conditions.size(), 1U);
    EXPECT_EQ(of.status.conditions.front().transition_id, "x");
}

TEST(pod_group, what_has_another_form_reads_as_absent) {
    const auto of = read(R"({"metadata": {"name": "train", "namespace": "lab", "uid": "1"},
        "spec": {"minMember": "three", "priorityClassName": 7, "maxScheduleTime": "soon",
                 "scheduleTimeoutSeconds": {}},
        "status": {"phase": [], "running": "1", "conditions": {"type": "x"},
                   "scheduleStartTime": null}})");
    EXPECT_FALSE(of.spec.min_member.has_value());
    EXPECT_FALSE(of.spec.attempt.has_value());
    EXPECT_EQ(of.spec.priority_class_name, "");
    EXPECT_EQ(of.status, pod_group_status{});
    EXPECT_EQ(read(R"({"metadata": {"name": "a", "uid": "1"}})").spec, pod_group_spec{});
}

// tenstack: without max_schedule_time the wait was a second.
TEST(pod_group, an_attempt_that_says_nothing_is_not_short) {
    for (const auto* time : {"0s", "", "-1s"}) {
        const auto of = read(fmt::format(R"({{"metadata": {{"name": "a", "uid": "1"}},
            "spec": {{"minMember": 1, "maxScheduleTime": "{}"}}}})",
                                         time));
        EXPECT_FALSE(of.spec.attempt.has_value()) << time;
    }
    const auto of = read(R"({"metadata": {"name": "a", "uid": "1"},
        "spec": {"maxScheduleTime": "1m30s"}})");
    EXPECT_EQ(of.spec.attempt, seconds(90));
}

TEST(pod_group, durations_are_those_of_go) {
    EXPECT_EQ(go_duration("1h2m3s"), seconds(3723));
    EXPECT_EQ(go_duration("1.5h"), seconds(5400));
    EXPECT_EQ(go_duration("500ms"), milliseconds(500));
    EXPECT_EQ(go_duration("10m0s"), seconds(600));
    for (const auto* wrong : {"", "10", "m", "1 s", "1d", "-3s", "1e3s", "nan", "inf"}) {
        EXPECT_FALSE(go_duration(wrong).has_value()) << wrong;
    }
    EXPECT_EQ(go_duration("999999999999999999h"), std::chrono::hours(24 * 365));
}

TEST(kinds, the_pod_says_in_which_way) {
    auto pod = make_pod("a", "cpu=1");
    EXPECT_FALSE(group_of(pod).has_value());
    pod.metadata.annotations["scheduling.k8s.io/group-name"] = "qj";
    EXPECT_EQ(group_of(pod)->text(), "lab/qj (kube-batch)");
    EXPECT_FALSE(names_several(pod));
    pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = "train";
    EXPECT_EQ(group_of(pod)->text(), "lab/train (coscheduling)");
    EXPECT_TRUE(names_several(pod));
    pod.metadata.labels["group.batch.scheduler.tencent.com"] = "t";
    EXPECT_EQ(group_of(pod)->text(), "lab/t (tenstack)");
}

TEST(kinds, a_minimum_on_a_pod_is_a_whole_number) {
    auto pod = make_pod("a", "cpu=1");
    auto& text = pod.metadata.annotations["scheduling.k8s.io/group-min-member"];
    for (const auto* wrong : {"", "x", "3x", "3.0", " 3", "99999999999999999999"}) {
        text = wrong;
        EXPECT_FALSE(minimum_on(pod).has_value()) << wrong;
    }
    text = "3";
    EXPECT_EQ(minimum_on(pod), 3);
}

TEST(stages, are_read_off_the_pod_alone) {
    auto pod = make_pod("a", "cpu=1");
    EXPECT_EQ(stage_of(pod), stage::gated);
    pod.nominated_node_name = "node-a";
    EXPECT_EQ(stage_of(pod), stage::reserved);
    pod.scheduling_gates.emplace_back("example.com/x");
    EXPECT_EQ(stage_of(pod), stage::held);
    pod.scheduling_gates.clear();
    EXPECT_EQ(stage_of(pod), stage::not_gated);
    pod.metadata.annotations["esi.tu-berlin.de/gang-node"] = "node-a";
    EXPECT_EQ(stage_of(pod), stage::let_in);
    pod.node_name = "node-a";
    EXPECT_EQ(stage_of(pod), stage::bound);
    pod.metadata.deletion_timestamp = model::timestamp{};
    EXPECT_EQ(stage_of(pod), stage::leaving);
    pod.phase = "Failed";
    EXPECT_EQ(stage_of(pod), stage::ended);
}

}  // namespace
}  // namespace esi::gangs::tests
