#include "scheduling/orphan.h"

#include <gtest/gtest.h>

#include "model/names.h"

namespace esi::scheduling {
namespace {

namespace names_of = model::names;

model::testbed held_with(std::string hold, std::string holder) {
    model::testbed out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = "tb";
    if (!hold.empty()) out.metadata.annotations[std::string(names_of::hold)] = std::move(hold);
    if (!holder.empty()) {
        out.metadata.labels[std::string(names_of::active_scheduling_name)] = std::move(holder);
        out.metadata.labels[std::string(names_of::active_scheduling_namespace)] = "ns";
    }
    return out;
}

grid::pod_pointer pod_of_run(std::string run) {
    model::pod out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = "pod";
    out.metadata.uid = "uid-pod";
    if (!run.empty()) out.metadata.annotations[std::string(names_of::run)] = std::move(run);
    return std::make_shared<const model::pod>(std::move(out));
}

TEST(an_orphan, is_a_hold_whose_scheduling_is_not_there) {
    objects<model::scheduling> known;
    auto self = std::make_shared<model::scheduling>();
    self->metadata.uid = "uid-1";
    known[{"ns", "s"}] = self;
    EXPECT_FALSE(may_be_orphan(held_with("", ""), known));
    EXPECT_FALSE(may_be_orphan(held_with("uid-1.7", "s"), known));
    EXPECT_TRUE(may_be_orphan(held_with("uid-2.7", "s"), known));
    EXPECT_TRUE(may_be_orphan(held_with("no token", "s"), known));
    EXPECT_TRUE(may_be_orphan(held_with("", "s"), known)) << "labels without a hold";
}

/// A job that has recorded the pod for slot 0 of the Testbed.
objects<model::batchjob> job_with_the_pod() {
    auto job = std::make_shared<model::batchjob>();
    job->metadata.namespace_ = "ns";
    job->metadata.name = "j";
    job->status.runs.emplace_back().testbed = {"ns", "tb"};
    job->status.placements = {{0, "uid-pod", "pod"}};
    return {{job->metadata.key(), job}};
}

TEST(an_orphan, waits_for_the_pods_of_its_own_runs_only) {
    const auto jobs = job_with_the_pod();
    const std::vector<grid::pod_pointer> pods{pod_of_run(""), pod_of_run("uid-1.7.1")};
    EXPECT_EQ(orphan_waits(held_with("uid-1.7", "s"), jobs, pods),
              std::vector<std::string>{"the end of Pod ns/pod"});
    EXPECT_TRUE(orphan_waits(held_with("uid-2.7", "s"), jobs, pods).empty());
    // Written by hand: pods without a run do not belong to it.
    EXPECT_TRUE(orphan_waits(held_with("no token", "s"), jobs, pods).empty());
    EXPECT_TRUE(orphan_waits(held_with("", "s"), jobs, pods).empty());
}

TEST(an_orphan, waits_for_no_pod_that_has_ended) {
    auto ended = *pod_of_run("uid-1.7.1");
    ended.phase = "Failed";
    ended.metadata.finalizers = {"guest.example/stay"};
    const std::vector<grid::pod_pointer> pods{std::make_shared<const model::pod>(ended)};
    EXPECT_TRUE(orphan_waits(held_with("uid-1.7", "s"), job_with_the_pod(), pods).empty());
}

TEST(an_orphan, waits_for_no_pod_that_only_says_that_it_is_of_the_run) {
    const std::vector<grid::pod_pointer> pods{pod_of_run("uid-1.7.1")};
    EXPECT_TRUE(orphan_waits(held_with("uid-1.7", "s"), {}, pods).empty());
    auto testbed = held_with("uid-1.7", "s");
    testbed.status.slots.emplace_back().pod_u_id = "uid-pod";
    EXPECT_EQ(orphan_waits(testbed, {}, pods), std::vector<std::string>{"the end of Pod ns/pod"})
        << "its job is gone, the testbed operator has seen it there";
}

}  // namespace
}  // namespace esi::scheduling
