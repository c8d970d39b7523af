#include "gangs/status.h"

#include <gmock/gmock.h>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct reported : world {
    way by = way::coscheduling;
    std::vector<std::string> phases;

    explicit reported(way of) : by(of) { add_node("node-a", "cpu=2"); }
    pod_group_status& status() { return groups.at(key("train", by)).status; }
    void go() {
        settle();
        wait(seconds(2));
        settle();
        if (phases.empty() || phases.back() != status().phase) phases.push_back(status().phase);
    }
    /// From nothing to the end, with room that comes late.
    void whole_life() {
        add_stranger("other", "cpu=1", "node-a");
        group("train", 2, by);
        go();
        add_members("train", 2, "cpu=1", by);
        go();
        refuse["look"] = error{errc::server, "later"};
        remove("other");
        go();
        refuse.clear();
        wait(seconds(10));
        go();
        for (const auto* name : {"train-0", "train-1"}) {
            edit(name, [](model::pod& pod) { pod.node_name = "node-a"; });
        }
        go();
        for (const auto* name : {"train-0", "train-1"}) {
            edit(name, [](model::pod& pod) { pod.phase = "Running"; });
        }
        go();
        for (const auto* name : {"train-0", "train-1"}) {
            edit(name, [](model::pod& pod) { pod.phase = "Succeeded"; });
        }
        go();
    }
};

TEST(group_status, of_coscheduling_goes_through_its_phases) {
    reported w(way::coscheduling);
    w.whole_life();
    EXPECT_THAT(w.phases, ElementsAre("Pending", "Scheduling", "Running", "Finished"));
    EXPECT_EQ(w.status().succeeded, 2);
    EXPECT_EQ(w.status().running, 0);
    EXPECT_EQ(w.status().occupied_by, "lab/train");
    EXPECT_TRUE(w.status().schedule_start_time.has_value());
    EXPECT_FALSE(w.status().scheduled.has_value());
}

TEST(group_status, of_tenstack_goes_through_its_phases) {
    reported w(way::tenstack);
    w.whole_life();
    EXPECT_THAT(w.phases, ElementsAre("Pending", "PreScheduling", "Scheduling", "Scheduled",
                                      "Running", "Finished"));
    EXPECT_EQ(w.status().scheduled, 2);
}

TEST(group_status, of_kube_batch_is_pending_then_running) {
    reported w(way::kube_batch);
    w.whole_life();
    EXPECT_THAT(w.phases, ElementsAre("Pending", "Running"));
    EXPECT_EQ(w.status().succeeded, 2);
    EXPECT_FALSE(w.status().schedule_start_time.has_value());
    ASSERT_EQ(w.status().conditions.size(), 1U);
    EXPECT_EQ(w.status().conditions.front().status, "False");
}

// kube-batch: NotEnoughTasks was never reported.
TEST(group_status, of_kube_batch_says_why_it_waits) {
    reported w(way::kube_batch);
    w.group("train", 3, way::kube_batch);
    w.add_members("train", 2, "cpu=1", way::kube_batch);
    w.go();
    ASSERT_EQ(w.status().conditions.size(), 1U);
    EXPECT_EQ(w.status().conditions.front().type, "Unschedulable");
    EXPECT_EQ(w.status().conditions.front().status, "True");
    EXPECT_EQ(w.status().conditions.front().reason, "NotEnoughTasks");
    EXPECT_EQ(w.status().conditions.front().message, "MembersMissing: 2 of 3 members are there");
    w.put(w.member("train-2", "train", "cpu=1", way::kube_batch));
    w.go();
    EXPECT_EQ(w.status().conditions.front().reason, "NotEnoughResources");
    EXPECT_THAT(w.status().conditions.front().message, HasSubstr("2 of 3 members fit"));
    EXPECT_THAT(w.status().conditions.front().message, HasSubstr("it waits since 20"));
}

// tenstack: Failed was sticky.
TEST(group_status, a_failed_member_that_is_made_again_is_no_failure) {
    for (const auto by : {way::tenstack, way::coscheduling}) {
        reported w(by);
        w.group("train", 2, by);
        w.add_members("train", 2, "cpu=1", by);
        w.settle();
        w.bind();
        w.go();
        w.edit("train-0", [](model::pod& pod) { pod.phase = "Failed"; });
        w.go();
        EXPECT_EQ(w.status().phase, "Failed");
        EXPECT_EQ(w.status().failed, 1);
        w.put(w.member("train-0b", "train", "cpu=1", by));
        w.settle();
        w.bind();
        w.go();
        EXPECT_EQ(w.status().phase, "Running");
    }
}

TEST(group_status, a_start_costs_two_or_three_writes) {
    for (const auto by : all_ways) {
        reported w(by);
        w.group("train", 2, by);
        w.add_members("train", 2, "cpu=1", by);
        int writes = 0;
        const auto count = [&] {
            for (int i = 0; i < 20; ++i) {
                w.pass();
                for (const auto& each : std::vector(w.last.actions)) {
                    if (std::holds_alternative<write_status>(each)) ++writes;
                    take_outcome(*w.known, each, w.carry_out(each), w.now);
                }
                w.wait(milliseconds(200));
            }
        };
        count();
        w.bind();
        count();
        count();
        EXPECT_LE(writes, 3) << show(by);
        EXPECT_GE(writes, 1) << show(by);
        EXPECT_EQ(w.status().phase, "Running");
    }
}

TEST(group_status, what_another_controller_writes_is_left_to_it) {
    reported w(way::coscheduling);
    w.group("train", 3);
    w.add_members("train", 3, "cpu=1");
    w.go();
    int writes = 0;
    for (int i = 0; i < 20; ++i) {
        w.change("train").status.phase = "Scheduling";
        w.pass();
        for (const auto& each : std::vector(w.last.actions)) {
            if (std::holds_alternative<write_status>(each)) ++writes;
            take_outcome(*w.known, each, w.carry_out(each), w.now);
        }
        w.wait(seconds(2));
    }
    EXPECT_LE(writes, 3);
    EXPECT_TRUE(w.told("ForeignController"));
    // The pods are started all the same.
    w.add_node("node-b", "cpu=2");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 3);
}

TEST(group_status, what_is_replaced_once_in_a_while_is_written_again_and_a_left_one_too) {
    reported w(way::coscheduling);
    w.group("train", 3);
    w.add_members("train", 3, "cpu=1");
    w.go();
    const auto replace = [&] {
        w.change("train").status = {};
        w.settle();
        w.wait(seconds(2));
        w.settle();
    };
    for (int i = 0; i < 5; ++i) {
        replace();
        EXPECT_FALSE(w.status().phase.empty());
        w.wait(seconds(700));
    }
    EXPECT_FALSE(w.told("ForeignController"));
    for (int i = 0; i < 5; ++i) replace();
    EXPECT_TRUE(w.told("ForeignController"));
    EXPECT_TRUE(w.status().phase.empty());
    // The other writer may have gone.
    w.wait(seconds(3700));
    w.settle();
    EXPECT_FALSE(w.status().phase.empty());
}

TEST(group_status, fields_that_the_kind_does_not_have_are_not_written_again_and_again) {
    reported w(way::kube_batch);
    w.group("train", 3, way::kube_batch);
    w.add_members("train", 3, "cpu=1", way::kube_batch);
    int writes = 0;
    for (int i = 0; i < 50; ++i) {
        w.pass();
        for (const auto& each : std::vector(w.last.actions)) {
            if (std::holds_alternative<write_status>(each)) ++writes;
            auto how = w.carry_out(each);
            w.status().conditions.clear();
            take_outcome(*w.known, each, how, w.now);
        }
        w.wait(seconds(1));
    }
    EXPECT_LE(writes, 2);
    EXPECT_FALSE(w.told("ForeignController"));
}

TEST(group_status, many_that_wait_do_not_keep_the_api_server_busy) {
    reported w(way::kube_batch);
    for (int i = 0; i < 400; ++i) {
        const auto name = fmt::format("g{}", i);
        w.group(name, 1, way::kube_batch);
        w.add_members(name, 1, "cpu=3", way::kube_batch);
    }
    for (int i = 0; i < 3; ++i) w.settle();
    w.wait(seconds(2));
    w.settle();
    int writes = 0;
    for (int i = 0; i < 60; ++i) {
        w.add_stranger(fmt::format("s{}", i), "cpu=0", "node-a");
        w.remove(fmt::format("s{}", i));
        w.pass();
        for (const auto& each : std::vector(w.last.actions)) {
            if (std::holds_alternative<write_status>(each)) ++writes;
            take_outcome(*w.known, each, w.carry_out(each), w.now);
        }
        w.wait(seconds(1));
    }
    EXPECT_LE(writes, 400);
}

TEST(group_status, a_patch_has_only_what_differs) {
    const auto& kind = *std::ranges::find(group_kinds(), way::tenstack, &group_kind::by);
    pod_group_status have;
    have.phase = "Pending";
    have.running = 1;
    auto want = have;
    EXPECT_TRUE(status_patch(kind, have, want).is_null());
    want.running = 2;
    want.failed = 0;
    EXPECT_EQ(status_patch(kind, have, want).dump(), R"({"status":{"running":2}})");
}

TEST(group_status, one_line_says_who_is_before_and_since_when) {
    reported w(way::coscheduling);
    w.add_stranger("other", "cpu=1", "node-a");
    w.add_gang("first", 2, "cpu=1");
    w.add_gang("train", 2, "cpu=600m");
    w.settle();
    const auto key = world::key("train");
    EXPECT_THAT(explain(*w.gangs.at(key), w.known->gangs.at(key)),
                testing::MatchesRegex("lab/train .coscheduling.: Waiting since 20[-0-9T:]*Z, 1 "
                                      "group before it .next lab/first .coscheduling..; NoRoom: "
                                      ".*"));
}

}  // namespace
}  // namespace esi::gangs::tests
