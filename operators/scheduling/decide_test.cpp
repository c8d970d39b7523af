// A Scheduling from the acquisition to its end: what it starts, and for whom it waits.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include <utility>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

INSTANTIATE_TEST_SUITE_P(with_and_without_memory, driving, testing::Bool(), [](const auto& p) {
    return p.param ? "crash_after_each_write" : "steady";
});

TEST_P(driving, an_interleaved_queue_takes_the_slots_that_it_gives) {
    w.add_queue("s", "t", {"a", "b", "a", "b"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,2 b:1,3");
    EXPECT_EQ(w.s("s").status.state, "AwaitingCompletionState");
    EXPECT_EQ(w.job("a").spec.creation_request->slot_ids, (std::vector{0, 2}));
    EXPECT_EQ(w.job("a").spec.creation_request->submit_timeout_seconds, 600);
    w.end_job("a");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.progress->summary, "2/2");
    EXPECT_EQ(model::find_condition(w.s("s").status.conditions, "Completed")->status, "True");
    EXPECT_FALSE(w.t("t").hold().empty()) << "stays held until it is deleted";
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(w.schedulings.empty());
    w.expect_nothing_left();
    EXPECT_EQ(w.job("a").status.state, "ReadyState");
}

TEST_P(driving, writes_come_in_the_order_of_the_chain_of_rights) {
    w.add_queue("s", "t", {"b", "a"});
    w.settle();
    std::vector<std::string> first(w.writes.begin(), w.writes.begin() + 7);
    EXPECT_EQ(first, (std::vector<std::string>{"finalizer s", "hold t by s", "acquire a by s",
                                               "acquire b by s", "Assigned s", "request b by s",
                                               "request a by s"}));
    w.writes.clear();
    w.erase_scheduling("s");
    w.settle();
    std::erase(w.writes, "status s");
    EXPECT_EQ(w.writes, (std::vector<std::string>{"Releasing s", "release a by s", "release b by s",
                                                  "AssignmentsCleared s", "unhold t by s",
                                                  "Released s", "gone s"}))
        << "epoch, jobs, assignments, hold, releasing, finalizer";
}

TEST_P(driving, a_request_whose_slots_were_changed_by_hand_is_set_right) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    auto before = w.job("a").spec.creation_request;
    w.edit(w.jobs, {"ns", "a"},
           [](model::batchjob& job) { job.spec.creation_request->slot_ids = {4, 5}; });
    w.writes.clear();
    w.settle();
    EXPECT_EQ(w.job("a").spec.creation_request, before);
    EXPECT_EQ(w.writes.at(0), "request a by s");
}

TEST_P(driving, jobs_start_as_slots_come_free) {
    w.add_queue("s", "t", {"a", "a", "a", "a", "b", "b", "b", "c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,1,2,3");
    EXPECT_EQ(w.s("s").status.state, "ConfirmationState");
    EXPECT_NE(w.s("s").status.waiting_for.find(
                  "BatchJob ns/b waits for more free slots: 2 of 6 are free"),
              std::string::npos)
        << w.s("s").status.waiting_for;
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0,1,2 c:3");
}

TEST_P(driving, a_running_queue_is_extended_and_shortened) {
    w.add_queue("s", "t", {"a", "a", "a", "a", "b", "b", "b"});
    w.settle();
    w.set_queue("s", {"a", "a", "a", "a", "c", "c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,1,2,3 c:4,5");
    EXPECT_FALSE(w.job("b").spec.active_scheduling) << "taken out before it started";
    EXPECT_EQ(w.job("b").status.state, "ReadyState");
    EXPECT_EQ(model::find_condition(w.s("s").status.conditions, "SpecCurrent")->status, "True");
    w.set_queue("s", {"c", "c", "d", "d", "d", "d", "d", "d", "d"});
    w.settle();
    EXPECT_EQ(model::find_condition(w.s("s").status.conditions, "SpecCurrent")->reason,
              "ChangeIgnored");
    EXPECT_EQ(w.s("s").status.progress->failed, 1) << "d needs 7 of 6 slots: skipped";
    w.end_job("a");
    w.end_job("c");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.progress->summary, "2/3 (1 failed)");
}

TEST_P(driving, entries_too_far_apart_in_an_extension_hold_up_nobody) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.set_queue("s", {"a", "b", "c", "c", "c", "c", "c", "c", "b", "d"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0") << "c needs all slots";
    EXPECT_EQ(w.s("s").status.progress->failed, 1);
    EXPECT_EQ(
        w.s("s").status.problems.at(0),
        "BatchJob ns/b has an entry at place 8 of the queue when its turn comes, the Testbed has "
        "6 slots: it cannot start; move its entries closer together");
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "c:0,1,2,3,4,5");
    EXPECT_EQ(w.s("s").status.progress->failed, 0) << "nothing stands between them any more";
    w.end_job("c");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0,1 d:2");
}

TEST_P(driving, who_has_started_does_not_stand_between_entries_of_an_extension) {
    w.add_queue("s", "t", {"a", "a", "a", "a", "a", "a"});
    w.settle();
    w.set_queue("s", {"b", "a", "a", "a", "a", "a", "a", "b"});
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->failed, 0);
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0,1");
}

TEST(running, goes_on_without_a_job_whose_change_is_refused) {
    world w;
    w.add_testbed("t", 3, 2);
    for (const char* name : {"a", "b", "c"}) w.add_job(name);
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.set_queue("s", {"a", "b", "c"});
    live_facts live;
    auto look = [&] {
        view seen;
        seen.self = w.schedulings.at({"ns", "s"});
        seen.schedulings = &w.schedulings;
        seen.testbeds = &w.testbeds;
        seen.jobs = &w.jobs;
        seen.slots = w.slots_of({"ns", "t"});
        seen.live = &live;
        return decide(seen, w.now);
    };
    auto first = look();
    const auto apart = job_apart(first.next, w.s("s"));
    ASSERT_TRUE(apart);
    EXPECT_EQ(apart->name, "b");
    live.refused.jobs[*apart] = "forbidden";
    auto second = look();
    ASSERT_TRUE(std::holds_alternative<acquire_job>(second.next));
    EXPECT_EQ(std::get<acquire_job>(second.next).key.name, "c");

    live.refused.jobs[{"ns", "c"}] = "forbidden";
    auto last = look();
    EXPECT_TRUE(std::holds_alternative<wait>(last.next));
    EXPECT_EQ(model::find_condition(last.status.conditions, "Acquired")->reason, "JobRefused");

    // The same for a start.
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.spec.creation_request.reset(); });
    auto start = look();
    ASSERT_TRUE(std::holds_alternative<request_creation>(start.next));
    live.refused.jobs[{"ns", "a"}] = "invalid";
    EXPECT_TRUE(look().status.waiting_for.starts_with("the start of BatchJob ns/a, which"))
        << look().status.waiting_for;
}

TEST_P(driving, too_many_slots_is_an_error_with_nothing_taken) {
    w.add_queue("s", "t", {"a", "a", "a", "a", "a", "a", "a"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "TooManySlots");
    EXPECT_EQ(w.s("s").status.problems.at(0), "BatchJob ns/a needs 7 slots, the Testbed has 6");
    w.expect_nothing_left();
    EXPECT_EQ(w.writes, std::vector<std::string>{"status s"});
    w.set_queue("s", {"a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0") << "judged again when the spec changes";
}

TEST_P(driving, a_second_scheduling_waits_by_name_and_goes_on_at_the_release) {
    w.add_queue("s1", "t", {"a"});
    w.settle();
    w.add_queue("s2", "t", {"b"});
    w.settle();
    EXPECT_EQ(w.s("s2").status.state, "AcquireState");
    EXPECT_EQ(w.reason("s2"), "TestbedHeld");
    EXPECT_EQ(w.s("s2").status.waiting_for, "Testbed ns/t is held by Scheduling ns/s1");
    EXPECT_FALSE(w.job("b").spec.active_scheduling) << "who waits holds nothing";
    w.erase_scheduling("s1");
    w.settle();
    EXPECT_EQ(w.running("s2"), "b:0");
}

TEST_P(driving, opposite_orders_of_jobs_never_deadlock) {
    w.add_testbed("u", 1, 2);
    w.add_queue("s1", "t", {"a", "b"});
    w.add_queue("s2", "u", {"b", "a"});
    w.settle();
    EXPECT_EQ(w.running("s1"), "a:0 b:1") << "the older goes first";
    EXPECT_EQ(w.reason("s2"), "JobHeld");
    w.erase_scheduling("s1");
    w.settle();
    EXPECT_EQ(w.running("s2"), "b:0 a:1");
}

TEST_P(driving, who_needs_what_is_busy_is_in_nobodys_way) {
    w.add_testbed("u", 1, 2);
    w.add_queue("old", "u", {"missing", "a"});
    w.add_queue("young", "u", {"a"});
    w.settle();
    EXPECT_NE(w.s("old").status.waiting_for.find("BatchJob ns/missing does not exist"),
              std::string::npos);
    EXPECT_EQ(w.running("young"), "a:0");
}

TEST_P(driving, two_running_extended_by_each_others_job_both_say_so) {
    w.add_testbed("u", 1, 2);
    w.add_queue("s1", "t", {"a"});
    w.add_queue("s2", "u", {"b"});
    w.settle();
    w.set_queue("s1", {"a", "b"});
    w.set_queue("s2", {"b", "a"});
    w.settle();
    EXPECT_EQ(w.reason("s1"), "WaitCycle");
    EXPECT_EQ(w.reason("s2"), "WaitCycle");
    EXPECT_NE(w.s("s1").status.waiting_for.find("Scheduling ns/s2"), std::string::npos);
    EXPECT_EQ(w.s("s1").status.waiting_for, w.s("s2").status.waiting_for);
    const std::vector<object_key> both{{"ns", "s1"}, {"ns", "s2"}};
    EXPECT_EQ(w.s("s1").status.waiting_for_schedulings, both);
    EXPECT_EQ(w.s("s2").status.waiting_for_schedulings, both);
    w.end_job("a");
    w.end_job("b");
    w.set_queue("s1", {"a"});
    w.settle();
    EXPECT_EQ(w.reason("s1"), "Acquired");
    EXPECT_EQ(w.s("s1").status.state, "CompletedState");
    EXPECT_TRUE(w.s("s1").status.waiting_for_schedulings.empty());
    EXPECT_EQ(w.reason("s2"), "JobHeld");
    EXPECT_EQ(w.s("s2").status.waiting_for_schedulings, (std::vector<object_key>{{"ns", "s1"}}));
    w.erase_scheduling("s1");
    w.settle();
    EXPECT_EQ(w.running("s2"), "a:0");
}

TEST_P(driving, a_failed_job_never_stops_the_others) {
    w.add_queue("s", "t", {"a", "a", "a", "a", "b", "b", "b"});
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0,1,2");
    EXPECT_EQ(w.s("s").status.problems.at(0), "BatchJob ns/a failed: executor 1 ran out of memory");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.progress->summary, "1/2 (1 failed)");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
    EXPECT_EQ(w.job("a").status.state, "FailedState") << "a person sees it";
}

TEST_P(driving, a_failed_job_is_waited_for_by_name) {
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "FailedState"; });
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobFailed");
    w.expect_nothing_left();
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "ReadyState"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1");
}

TEST_P(driving, strict_and_relaxed_start_in_their_orders) {
    for (std::string mode : {"strict", "relaxed"}) {
        w.add_queue(mode, "t", {});
        w.edit(w.schedulings, {"ns", mode}, [&](model::scheduling& s) {
            s.spec.queue_based.reset();
            s.spec.slot_based.emplace();
            s.spec.slot_based->mode = mode;
            s.spec.slot_based->jobs = {
                {{"", "a"}, {0}}, {{"", "b"}, {1}}, {{"", "c"}, {0}}, {{"", "d"}, {1}}};
        });
        w.settle();
        EXPECT_EQ(w.running(mode), "a:0 b:1");
        w.end_job("b");
        w.settle();
        EXPECT_EQ(w.running(mode), mode == "strict" ? "a:0" : "a:0 d:1");
        w.end_job("a");
        w.settle();
        EXPECT_EQ(w.running(mode), mode == "strict" ? "c:0 d:1" : "d:1 c:0");
        w.erase_scheduling(mode);
        w.settle();
        w.expect_nothing_left();
    }
}

TEST_P(driving, ended_assignments_of_the_plan_are_kept_of_others_a_hundred) {
    w.add_testbed("u", 1, 1);
    std::vector<std::string> queue;
    for (int i = 0; i < 103; ++i) {
        queue.push_back(fmt::format("j{:03}", i));
        w.add_job(queue.back());
    }
    w.add_queue("s", "u", queue);
    for (const auto& name : queue) {
        w.settle();
        w.end_job(name);
    }
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_EQ(w.s("s").status.assignments.size(), 103u);
    EXPECT_EQ(w.s("s").status.last_run, 103);
    EXPECT_EQ(w.s("s").status.progress->summary, "103/103");

    // Whatever becomes of the BatchJobs, it stays done.
    w.clear_job({"ns", "j001"});
    w.jobs.erase({"ns", "j002"});
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(w.s("s").status.progress->summary, "103/103");

    w.set_queue("s", {"j001", "a"});
    w.settle();
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.assignments.size(), 102u) << "j001, a and a hundred more";
    EXPECT_EQ(w.s("s").status.assignments.at(0).job.name, "j001");
    EXPECT_EQ(w.s("s").status.assignments.at(1).job.name, "j003");
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
}

/// What is decided after `steps` steps of a start of two slots, in a Testbed of so many nodes with
/// three slots each, and how many slots the decision reads. The steps are taken in a small one, of
/// which the large one is a continuation: the first nodes and their slots are the same.
std::pair<std::string_view, std::uint64_t> slots_read_at(int nodes, int steps) {
    world w;
    w.add_testbed("t", 2, 3);
    w.add_job("a");
    w.add_queue("s", "t", {"a", "a"});
    for (int i = 0; i < steps; ++i) w.step_of({"ns", "s"});
    w.sweep_jobs();
    w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& bed) {
        auto& all = bed.status.layout->nodes;
        for (int i = 2; i < nodes; ++i) all.push_back({fmt::format("t-{}", i), "u", i});
    });
    w.fill_ghosts();
    live_facts live;
    live.proven.testbed = steady_time();
    view seen = w.look({"ns", "s"}, live);
    const auto before = seen.slots->slots_read();
    const auto decided = decide(seen, w.now);
    return {name_of(decided.next), seen.slots->slots_read() - before};
}

TEST(decision, reads_as_many_slots_at_6_as_at_50000) {
    // finalizer, hold with the first job; then the assignment, the order and the report.
    const auto start = slots_read_at(2, 2);
    EXPECT_EQ(start.first, "commit");
    EXPECT_EQ(start.second, 2U);
    EXPECT_EQ(slots_read_at(16667, 2), start);
    const auto rest = slots_read_at(2, 5);
    EXPECT_EQ(rest.first, "wait");
    EXPECT_EQ(rest.second, 0U);
    EXPECT_EQ(slots_read_at(16667, 5), rest);
}

}  // namespace
}  // namespace esi::scheduling
