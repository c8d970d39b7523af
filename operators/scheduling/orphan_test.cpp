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

TEST(an_orphan, waits_for_the_pods_of_its_own_runs_only) {
    const objects<model::batchjob> no_jobs;
    const std::vector<grid::pod_pointer> pods{pod_of_run(""), pod_of_run("uid-1.7.1")};
    EXPECT_EQ(orphan_waits(held_with("uid-1.7", "s"), no_jobs, pods),
              std::vector<std::string>{"the end of Pod ns/pod"});
    EXPECT_TRUE(orphan_waits(held_with("uid-2.7", "s"), no_jobs, pods).empty());
    // Written by hand: pods without a run are not of it.
    EXPECT_TRUE(orphan_waits(held_with("no token", "s"), no_jobs, pods).empty());
    EXPECT_TRUE(orphan_waits(held_with("", "s"), no_jobs, pods).empty());
}

}  // namespace
}  // namespace esi::scheduling
