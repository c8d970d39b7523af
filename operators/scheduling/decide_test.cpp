#include "scheduling/decide.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "model/names.h"
#include "scheduling/acquire.h"
#include "scheduling/orphan.h"
#include "scheduling/plan.h"
#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

class driving : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        w.crash = GetParam();
        w.add_testbed("t", 3, 2);
        for (const char* name : {"a", "b", "c", "d"}) w.add_job(name);
    }
    world w;
};

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

// --- namespaces ---

TEST_P(driving, a_testbed_of_another_namespace_is_held_when_it_is_offered) {
    w.add_testbed("lab/shared", 1, 2);
    w.add_queue("s", "lab/shared", {"a", "b"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    EXPECT_EQ(w.condition("s", "Allowed").status, "False");
    EXPECT_EQ(w.condition("s", "Acquired").message,
              "Testbed lab/shared does not exist, or is not offered to namespace ns: its "
              "spec.allowedNamespaces has to name ns");
    EXPECT_EQ(w.writes, (std::vector<std::string>{"status s"})) << "nothing but its own status";
    w.offer("lab/shared", {"other"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    w.offer("lab/shared", {"other", "ns"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1");
    EXPECT_EQ(w.condition("s", "Allowed").status, "True");
    EXPECT_EQ(w.condition("s", "Allowed").reason, "Allowed");
    w.end_job("a");
    w.end_job("b");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
}

TEST_P(driving, a_testbed_that_is_offered_to_all_is_held_by_everybody) {
    w.add_testbed("lab/shared", 1, 2);
    w.offer("lab/shared", {"*"});
    w.add_queue("s", "lab/shared", {"a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(driving, whether_a_testbed_that_is_not_offered_exists_is_not_told) {
    w.add_testbed("lab/there", 1, 2);
    w.add_queue("s", "lab/there", {"a"});
    w.settle();
    auto told = w.condition("s", "Acquired").message;
    w.testbeds.erase({"lab", "there"});
    w.writes.clear();
    w.settle();
    EXPECT_EQ(w.condition("s", "Acquired").message, told);
    EXPECT_EQ(w.reason("s"), "NotAllowed");
}

TEST_P(driving, a_job_of_another_namespace_is_neither_started_nor_told_about) {
    w.add_job("lab/payroll");
    w.add_queue("s", "t", {"a", "lab/payroll"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    EXPECT_EQ(w.condition("s", "Acquired").message,
              "BatchJob lab/payroll is of another namespace: a Scheduling of ns starts BatchJobs "
              "of ns only; create the Scheduling in lab (--cross-namespace-jobs of esi-scheduling "
              "is for clusters whose namespaces trust each other)");
    EXPECT_EQ(w.writes, (std::vector<std::string>{"status s"})) << "nothing but its own status";
    w.erase_scheduling("s");
    w.settle();
    EXPECT_EQ(w.writes, (std::vector<std::string>{"status s"}));
    EXPECT_TRUE(w.schedulings.empty());
}

TEST_P(driving, what_is_not_allowed_is_told_before_what_is_only_busy) {
    w.add_queue("first", "t", {"b"});
    w.settle();
    w.add_job("lab/payroll");
    w.add_queue("s", "t", {"lab/payroll"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    EXPECT_NE(w.condition("s", "Acquired").message.find("is held by Scheduling ns/first"),
              std::string::npos);
}

TEST_P(driving, the_flag_lets_a_scheduling_start_jobs_of_any_namespace) {
    w.cross_namespace_jobs = true;
    w.add_job("lab/payroll");
    w.add_queue("s", "t", {"a", "lab/payroll"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 payroll:1");
    EXPECT_EQ(w.condition("s", "Allowed").reason, "Allowed");
}

TEST_P(driving, who_names_what_it_may_not_use_holds_up_nobody) {
    w.add_testbed("lab/shared", 1, 2);
    w.add_job("lab/job");
    w.add_queue("older", "lab/shared", {"a", "lab/job"});
    w.add_queue("younger", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.reason("older"), "NotAllowed");
    EXPECT_EQ(w.running("younger"), "a:0");
}

TEST_P(driving, a_testbed_that_is_withdrawn_lets_what_runs_go_on_and_starts_nothing) {
    w.add_testbed("lab/shared", 1, 2);
    w.offer("lab/shared", {"ns"});
    w.add_queue("s", "lab/shared", {"a", "a", "b"});
    w.settle();
    ASSERT_EQ(w.running("s"), "a:0,1");
    w.offer("lab/shared", {});
    w.set_queue("s", {"a", "a", "b", "c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,1");
    EXPECT_FALSE(w.job("c").spec.active_scheduling) << "nothing more is acquired";
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "") << "nothing more is started";
    const std::string told =
        "Testbed lab/shared is no longer offered to namespace ns: what runs goes on, nothing else "
        "starts until its spec.allowedNamespaces names ns again";
    EXPECT_EQ(w.condition("s", "Allowed").status, "False");
    EXPECT_EQ(w.condition("s", "Allowed").reason, "NotAllowed");
    EXPECT_EQ(w.condition("s", "Allowed").message, told);
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    EXPECT_EQ(w.s("s").status.waiting_for, told);
    w.offer("lab/shared", {"ns"});
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0 c:1");
    EXPECT_EQ(w.condition("s", "Allowed").status, "True");
    w.offer("lab/shared", {});
    w.settle();
    EXPECT_EQ(w.condition("s", "Allowed").status, "False");
    EXPECT_EQ(w.s("s").status.state, "AwaitingCompletionState") << "all has started";
    w.end_job("b");
    w.end_job("c");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
}

TEST_P(driving, what_was_held_before_offers_were_asked_for_goes_on_to_its_end_and_is_told) {
    w.add_testbed("lab/shared", 1, 2);
    w.add_job("lab/b");
    w.offer("lab/shared", {"ns"});
    w.cross_namespace_jobs = true;
    w.add_queue("s", "lab/shared", {"a", "a", "lab/b"});
    w.settle();
    ASSERT_EQ(w.running("s"), "a:0,1");
    // The status written by the version before, and its objects.
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        std::erase_if(s.status.conditions, [](const auto& each) { return each.type == "Allowed"; });
    });
    w.offer("lab/shared", {});
    w.cross_namespace_jobs = false;
    w.settle();
    EXPECT_EQ(w.condition("s", "Allowed").status, "True");
    EXPECT_EQ(w.condition("s", "Allowed").reason, "HeldBefore");
    EXPECT_EQ(w.condition("s", "Allowed").message,
              "acquired before this was asked, BatchJobs of other namespaces go on to their end: "
              "BatchJob lab/b; Testbed lab/shared is not offered to namespace ns "
              "(spec.allowedNamespaces): it was held before that was asked, and this Scheduling "
              "goes on to its end");
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0") << "also what had not started yet";
    // A job that it did not have is not its own.
    w.add_job("lab/c");
    w.set_queue("s", {"a", "a", "lab/b", "lab/c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0");
    EXPECT_FALSE(w.job("lab/c").spec.active_scheduling);
    EXPECT_EQ(w.reason("s"), "NotAllowed");
    w.set_queue("s", {"a", "a", "lab/b"});
    w.end_job("lab/b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
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

/// A pod that copies all that a pod of the run carries; no operator has recorded it.
void forge(world& w, const std::string& run, int slot, const std::string& node) {
    model::pod pod;
    pod.metadata.name = "forged";
    pod.metadata.uid = "uid-forged";
    pod.metadata.labels = {{std::string(names_of::job), "a"}};
    pod.metadata.annotations = {{std::string(names_of::run), run},
                                {std::string(names_of::slot), std::to_string(slot)},
                                {std::string(names_of::slot_node), node}};
    pod.node_name = node;
    w.put_pod(std::move(pod), {"ns", "t"});
}

TEST_P(driving, a_forged_pod_delays_no_end_and_no_release) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    const auto run = w.job("a").spec.creation_request->run;
    w.drop_pods(run);
    forge(w, run, 0, "t-0");
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "CompletedState"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    forge(w, std::string(grid::hold_of_run(run)) + ".77", 0, "t-0");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
    EXPECT_EQ(w.t("t").hold(), "");
}

TEST_P(driving, a_forged_pod_closes_no_slot) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    forge(w, w.job("a").spec.creation_request->run, 1, "t-1");
    w.add_job("k");
    w.set_queue("s", {"a", "k"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 k:1");
}

TEST_P(driving, a_finalizer_on_an_ended_pod_holds_up_no_end_and_no_release) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    // On record by the row of its slot, which no operator changes here.
    const auto uid = w.job("a").status.placements.at(0).pod_uid;
    w.edit(w.testbeds, {"ns", "t"},
           [&](model::testbed& t) { t.status.slots.emplace_back().pod_u_id = uid; });
    w.jobs.erase({"ns", "a"});
    const auto change = [&](auto how) {
        for (auto& [name, pod] : w.pods) {
            if (pod->metadata.uid != uid) continue;
            auto changed = *pod;
            how(changed);
            pod = std::make_shared<const model::pod>(std::move(changed));
        }
    };
    change([](model::pod& pod) {
        pod.metadata.deletion_timestamp = model::timestamp{};
        pod.metadata.finalizers = {"guest.example/stay"};
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1")
        << "its containers may run, as long as no kubelet denies it";
    change([](model::pod& pod) { pod.phase = "Failed"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
    EXPECT_EQ(w.t("t").hold(), "");
}

TEST_P(driving, a_pod_of_a_deleted_job_is_waited_for_as_long_as_the_testbed_shows_it) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
        auto& row = t.status.slots.emplace_back();
        row.pod_u_id = w.job("a").status.placements.at(0).pod_uid;
    });
    w.jobs.erase({"ns", "a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1");
    w.edit(w.testbeds, {"ns", "t"}, [](model::testbed& t) { t.status.slots.clear(); });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
}

TEST_P(driving, a_scheduling_that_cannot_be_read_begins_nothing_and_goes_like_any_other) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.add_job("k");
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        ++s.metadata.generation;
        s.metadata.undecodable = ".spec.queueBased[0]: is not an object";
        s.spec.queue_based.emplace();
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "what runs goes on";
    const auto* current = model::find_condition(w.s("s").status.conditions, "SpecCurrent");
    ASSERT_TRUE(current);
    EXPECT_EQ(current->reason, "Undecodable");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();

    w.add_queue("z", "t", {"a"});
    w.edit(w.schedulings, {"ns", "z"}, [](model::scheduling& s) {
        s.metadata.undecodable = ".spec.queueBased[0]: is not an object";
        s.spec.queue_based.emplace();
    });
    w.settle();
    EXPECT_EQ(w.reason("z"), "Undecodable");
    w.expect_nothing_left();
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

TEST_P(driving, an_end_is_not_believed_to_a_cache_without_the_pods_of_the_run) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    auto run = w.job("a").spec.creation_request->run;
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "CompletedState"; });
    w.hidden_run = run;
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "its pod still stands";
    EXPECT_EQ(w.s("s").status.waiting_for, "the end of the pods of BatchJob ns/a");
    w.drop_pods(run);
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
}

TEST_P(driving, a_job_deleted_in_mid_run_is_counted_failed) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    auto run = w.job("a").spec.creation_request->run;
    w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
        t.status.slots.emplace_back().pod_u_id = w.job("a").status.placements.at(0).pod_uid;
    });
    w.jobs.erase({"ns", "a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "its pod still stands";
    w.drop_pods(run);
    w.add_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.assignments.at(0).outcome, "Deleted");
    EXPECT_FALSE(w.job("a").spec.active_scheduling) << "one made anew is another job";
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->summary, "1/2 (1 failed)");
}

TEST_P(driving, a_job_taken_away_by_hand_is_counted_failed) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) {
        ++j.metadata.generation;
        j.spec.active_scheduling.reset();
    });
    w.settle();
    EXPECT_EQ(w.s("s").status.assignments.at(0).outcome, "ReleasedByHand");
    EXPECT_EQ(w.running("s"), "b:1");
    EXPECT_FALSE(w.job("a").spec.creation_request);
}

TEST_P(driving, a_hold_taken_away_by_hand_releases_and_is_final) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.drop_hold(w.key_of("t"));
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "HoldLost");
    EXPECT_EQ(w.s("s").status.epoch, 1);
    EXPECT_TRUE(w.s("s").status.assignments.empty());
    w.expect_nothing_left();
    w.set_queue("s", {"c"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(w.schedulings.empty());
}

TEST_P(driving, the_testbed_deleted_under_it_is_a_lost_hold) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.testbeds.erase({"ns", "t"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "HoldLost");
    EXPECT_EQ(w.job("a").status.state, "ReadyState");
}

TEST_P(driving, a_scheduling_made_anew_under_the_same_name_waits_for_the_old_ones_orphans) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.schedulings.erase({"ns", "s"});  // the finalizer was taken off by hand
    w.add_queue("s", "t", {"b"});
    w.memory.clear();
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0");
    EXPECT_EQ(grid::scheduling_uid_of_hold(w.t("t").hold()), w.s("s").metadata.uid);
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
}

TEST_P(driving, releases_by_itself_when_asked_to) {
    w.add_queue("s", "t", {"a"});
    w.edit(w.schedulings, {"ns", "s"},
           [](model::scheduling& s) { s.spec.release_on_completion = true; });
    w.settle();
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
    EXPECT_EQ(w.s("s").status.job_states.at(0).state, "Completed");
    EXPECT_EQ(model::find_condition(w.s("s").status.conditions, "Completed")->status, "True");
    w.expect_nothing_left();
    w.add_queue("s2", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.running("s2"), "a:0");
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

TEST_P(driving, slots_in_error_are_given_to_nobody_though_their_ghosts_stand) {
    // Node t-1 has the slots 1 and 4 of 6.
    auto cordon = [&](bool listed) {
        w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
            // The sentences have no effect on decisions.
            t.status.node_problems = {{"t-0", {"the node has 0.2 cpu too little"}},
                                      {"t-1", {"cordoned"}}};
            t.status.nodes_out_of_use = {1, {"t-1"}};
            t.status.slots.clear();
            for (int i = 0; listed && i < 6; ++i) {
                t.status.slots.emplace_back().position = i;
                t.status.slots.back().state = i % 3 == 1 ? "ERROR" : "FREE";
            }
        });
    };
    auto uncordon = [&] {
        w.edit(w.testbeds, {"ns", "t"}, [](model::testbed& t) {
            t.status.node_problems.clear();
            t.status.nodes_out_of_use = {0, {}};
            for (auto& slot : t.status.slots) slot.state = "FREE";
        });
    };
    for (bool listed : {true, false}) {
        cordon(listed);
        w.add_queue("s", "t", {"a", "a", "a", "b", "b"});
        w.settle();
        EXPECT_EQ(w.running("s"), "a:0,2,3");
        EXPECT_EQ(
            w.s("s").status.waiting_for,
            "BatchJob ns/b waits for more free slots: 1 of 6 are free, BatchJob ns/a has slots "
            "0, 2, 3, in ERROR are slots 1, 4 (nodeProblems of Testbed ns/t)");
        uncordon();
        w.settle();
        EXPECT_EQ(w.running("s"), "a:0,2,3 b:1,4");
        w.erase_scheduling("s");
        w.settle();

        cordon(listed);
        w.add_queue("s", "t", {});
        w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
            s.spec.queue_based.reset();
            s.spec.slot_based = {"strict", {{{"", "a"}, {4}}}};
        });
        w.settle();
        EXPECT_EQ(w.running("s"), "");
        EXPECT_EQ(w.s("s").status.waiting_for,
                  "BatchJob ns/a waits for slot 4 (4: on node t-1, in ERROR: cordoned)");
        uncordon();
        w.settle();
        EXPECT_EQ(w.running("s"), "a:4");
        w.erase_scheduling("s");
        w.settle();
    }
}

TEST_P(driving, an_acquired_job_that_is_being_deleted_is_named) {
    w.add_queue("s", "t", {});
    w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
        s.spec.queue_based.reset();
        s.spec.slot_based = {"strict", {{{"", "a"}, {0}}, {{"", "b"}, {0}}, {{"", "c"}, {1}}}};
    });
    w.settle();
    w.edit(w.jobs, {"ns", "b"},
           [&](model::batchjob& j) { j.metadata.deletion_timestamp = model::timestamp{w.now}; });
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_EQ(w.reason("s"), "JobDeleting");
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/b is being deleted; BatchJob ns/c starts after BatchJob ns/b");
    w.jobs.erase({"ns", "b"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobMissing");
}

TEST_P(driving, a_slot_outside_the_layout_is_an_error_at_acquisition) {
    w.add_queue("s", "t", {});
    w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
        s.spec.queue_based.reset();
        s.spec.slot_based = {"strict", {{{"", "a"}, {6}}}};
    });
    w.settle();
    EXPECT_EQ(w.reason("s"), "SlotOutsideLayout");
    w.expect_nothing_left();
}

TEST_P(driving, a_job_takes_its_coordinator_place_with_its_workers_in_one_assignment) {
    w.add_claimed_testbed("c", 1, 8);
    w.add_queue("s", "c", {"a", "b", "a", "b"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:1,3,0");
    EXPECT_EQ(w.job("a").spec.creation_request->slot_ids, (std::vector{1, 3, 0}));
    EXPECT_EQ(w.job("a").spec.creation_request->replication, 2) << "executors";
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/b could have slots for its workers and waits for a coordinator place: "
              "slot 0 (0: BatchJob ns/a)");
    EXPECT_EQ(w.verdict("s", "SpecCurrent"), "True AsSpecified");
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1,2,0");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->summary, "2/2");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
}

TEST_P(driving, jobs_start_side_by_side_where_each_has_a_coordinator_place) {
    w.add_claimed_testbed("c", 2, 4);
    w.add_queue("s", "c", {"a", "b", "b", "c", "c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0 b:3,4,1");
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/c waits for more free slots: 1 of 4 for workers are free, BatchJob ns/a "
              "has slots 2, 0, BatchJob ns/b has slots 3, 4, 1");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0 c:3,4,1");
}

TEST_P(driving, a_plan_that_names_a_coordinator_place_is_refused) {
    w.add_claimed_testbed("c", 1, 2);
    w.add_queue("s", "c", {});
    w.change("s", [](model::scheduling_spec& spec) {
        spec.queue_based.reset();
        spec.slot_based = {"relaxed", {{{"", "a"}, {0, 1}}}};
    });
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "SlotOfCoordinator");
    EXPECT_TRUE(w.condition("s", "Acquired").message.contains("names slot 0")) << "it says which";
    w.change("s", [](model::scheduling_spec& spec) {
        spec.slot_based->jobs = {{{"", "a"}, {2}}, {{"", "b"}, {1}}};
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0");
}

TEST_P(driving, a_testbed_without_nodes_is_waited_for) {
    w.add_testbed("empty", 0, 2);
    w.add_queue("s", "empty", {"a"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "AcquireState");
    EXPECT_EQ(w.reason("s"), "TestbedEmpty");
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

    // Whatever happens to the BatchJobs, it stays done.
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

/// Deleted after each single write of its life: nothing is ever left over.
TEST(deletion, in_any_state_leaves_nothing) {
    for (int at = 0; at < 40; ++at) {
        world w;
        w.crash = at % 2 == 1;
        w.add_testbed("t", 3, 2);
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
        w.add_queue("s", "t", {"a", "a", "a", "b", "a", "c", "c"});
        object_key key{"ns", "s"};
        for (int i = 0; i < at; ++i) {
            if (!w.step_of(key)) w.sweep_jobs();
            if (i == 25) w.end_job("a");
        }
        SCOPED_TRACE(fmt::format("deleted after step {}", at));
        w.erase_scheduling("s");
        w.settle();
        EXPECT_TRUE(w.schedulings.empty());
        w.expect_nothing_left();
    }
}

TEST(deletion, of_one_that_was_never_looked_at) {
    world w;
    w.add_queue("s", "missing", {"missing"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "TestbedMissing");
    EXPECT_TRUE(w.s("s").metadata.finalizers.empty()) << "who holds nothing needs no finalizer";
    w.erase_scheduling("s");
    EXPECT_TRUE(w.schedulings.empty());
}

TEST(acquisition, lost_race_rolls_back) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_job("a");
    w.add_job("b");
    w.add_queue("s", "t", {"a", "b"});
    object_key key{"ns", "s"};
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(w.step_of(key));
    EXPECT_EQ(w.writes.back(), "acquire a by s");
    w.add_testbed("u", 1, 1);
    w.add_queue("rival", "u", {"b"});
    w.edit(w.jobs, {"ns", "b"}, [&](model::batchjob& j) {
        j.spec.active_scheduling = {"ns", "rival", w.s("rival").metadata.uid};
    });
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobHeld");
    EXPECT_EQ(w.s("s").status.epoch, 1);
    EXPECT_TRUE(w.t("t").hold().empty());
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
    EXPECT_EQ(w.running("rival"), "b:0");
}

TEST(acquisition, who_let_one_go_first_is_known_when_that_one_cannot_go) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_testbed("u", 1, 2);
    for (const char* name : {"x", "z"}) w.add_job(name);
    w.add_queue("oldest", "u", {"x"});
    w.add_queue("older", "t", {"x"});
    w.add_queue("young", "t", {"z"});
    for (const char* name : {"young", "older"}) w.step_of({"ns", name});
    EXPECT_EQ(w.reason("older"), "OlderFirst");
    EXPECT_EQ(w.reason("young"), "OlderFirst");
    EXPECT_TRUE(waits_for_rival(w.s("young"), {"ns", "older"}));
    EXPECT_FALSE(waits_for_rival(w.s("young"), {"ns", "oldest"}));
    EXPECT_FALSE(is_blocked(w.s("older").status));

    for (int i = 0; i < 100 && w.step_of({"ns", "oldest"}); ++i) w.sweep_jobs();
    w.step_of({"ns", "older"});
    EXPECT_EQ(w.reason("older"), "JobHeld");
    EXPECT_TRUE(is_blocked(w.s("older").status)) << "nothing that young wants has changed";
    EXPECT_FALSE(is_blocked(w.s("oldest").status));
    for (int i = 0; i < 100 && w.step_of({"ns", "young"}); ++i) w.sweep_jobs();
    EXPECT_EQ(w.running("young"), "z:0");
}

TEST(acquisition, a_cycle_that_one_tells_of_is_news_for_the_others) {
    auto told = [](std::string reason, std::vector<object_key> others, std::string message = "") {
        model::scheduling_status out;
        model::set_condition(out.conditions, "Acquired", "False", reason, message, 1,
                             start_of_time);
        out.waiting_for_schedulings = std::move(others);
        return out;
    };
    const object_key a{"ns", "a"};
    const object_key b{"ns", "b"};
    EXPECT_TRUE(cycle_changed(told("JobHeld", {b}), told("WaitCycle", {a, b})));
    EXPECT_TRUE(cycle_changed(told("WaitCycle", {a, b}), told("WaitCycle", {a, b, {"ns", "c"}})));
    EXPECT_TRUE(cycle_changed(told("WaitCycle", {a, b}), told("JobHeld", {b})));
    EXPECT_FALSE(cycle_changed(told("WaitCycle", {a, b}), told("WaitCycle", {a, b})));
    EXPECT_FALSE(cycle_changed(told("WaitCycle", {a, b}, "x"), told("WaitCycle", {a, b}, "y")))
        << "the sentence is for people";
    EXPECT_FALSE(cycle_changed(told("JobHeld", {a}), told("JobHeld", {b})));
}

TEST(acquisition, who_is_let_go_first_is_known_whatever_the_sentence_says) {
    model::scheduling young;
    auto told = [&](std::string reason, std::vector<object_key> others) -> const auto& {
        model::set_condition(young.status.conditions, "Acquired", "False", reason, "in other words",
                             1, start_of_time);
        young.status.waiting_for_schedulings = std::move(others);
        return young;
    };
    const object_key older{"ns", "older"};
    EXPECT_TRUE(waits_for_rival(told("OlderFirst", {older}), older));
    EXPECT_FALSE(waits_for_rival(told("OlderFirst", {{"ns", "oldest"}}), older));
    EXPECT_FALSE(waits_for_rival(told("JobHeld", {older}), older));
}

TEST(slots, of_a_large_testbed_are_in_error_by_node) {
    model::testbed of;
    auto& layout = of.status.layout.emplace();
    layout.slots_per_node = 2;
    for (int i = 0; i < 3; ++i) layout.nodes.push_back({fmt::format("n{}", i), "u", i});
    EXPECT_EQ(grid::slots_in_error(of), std::set<int>());

    of.status.nodes_out_of_use = {2, {"gone", "n1"}};
    of.status.node_problems = {{"n0", {"the node has too little room for one slot"}}};
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{1, 4}));
    of.status.nodes_out_of_use = {0, {}};
    EXPECT_EQ(grid::slots_in_error(of), std::set<int>()) << "no sentence takes a slot away";

    // An older testbed operator does not report which nodes are out of use: then no node with a
    // problem is used.
    of.status.nodes_out_of_use.reset();
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{0, 3}));

    // Rows are more exact.
    of.status.slots.emplace_back().position = 5;
    of.status.slots.back().state = "ERROR";
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{5}));
}

TEST(acquisition, who_was_rolled_back_looks_live_before_it_takes_anything_again) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_job("a");
    w.add_queue("s", "t", {"a"});
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        s.metadata.finalizers.emplace_back(names_of::scheduling_finalizer);
        s.status.state = "AcquireState";
        s.status.epoch = 1;
    });
    live_facts live;
    view seen;
    seen.self = w.schedulings.at({"ns", "s"});
    seen.schedulings = &w.schedulings;
    seen.testbeds = &w.testbeds;
    seen.jobs = &w.jobs;
    seen.slots = w.slots_of({"ns", "t"});
    seen.live = &live;
    auto first = decide(seen, w.now);
    auto* read = std::get_if<read_release>(&first.next);
    ASSERT_NE(read, nullptr) << name_of(first.next);
    EXPECT_EQ(read->jobs, (std::vector<object_key>{{"ns", "a"}}));

    live.proven.release = true;
    EXPECT_TRUE(std::holds_alternative<hold_testbed>(decide(seen, w.now).next));
    auto held = w.job("a");
    held.spec.active_scheduling = {"ns", "rival", "another uid"};
    live.newer.jobs[{"ns", "a"}] = std::make_shared<const model::batchjob>(held);
    auto then = decide(seen, w.now);
    EXPECT_TRUE(std::holds_alternative<wait>(then.next));
    EXPECT_EQ(then.status.waiting_for, "BatchJob ns/a is held by Scheduling ns/rival");
}

/// The decision after `steps` steps of a start of two slots, in a Testbed of so many nodes with
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

/// A Scheduling that may hold the Testbed and acquire the jobs a and b.
struct way_in : testing::Test {
    way_in() {
        w.add_testbed("t", 1, 2);
        w.add_job("a");
        w.add_job("b");
        w.add_queue("s", "t", {"b", "a"});
        w.edit(w.schedulings, key, [](model::scheduling& s) {
            s.metadata.finalizers.emplace_back(names_of::scheduling_finalizer);
        });
    }
    decision look() {
        view seen = w.look(key, live);
        return decide(seen, w.now);
    }

    world w;
    const object_key key{"ns", "s"};
    live_facts live;
};

TEST_F(way_in, the_first_job_is_acquired_side_by_side_with_the_hold) {
    const auto first = look();
    const auto* hold = std::get_if<hold_testbed>(&first.next);
    ASSERT_NE(hold, nullptr) << name_of(first.next);
    ASSERT_TRUE(hold->beside);
    EXPECT_EQ(hold->beside->key.name, "a");
    EXPECT_EQ(hold->beside->resource_version, w.job("a").metadata.resource_version);
    // Only the other one of the two writes came through.
    w.acquire(*hold->beside, w.s("s"), live);
    const auto then = look();
    const auto* alone = std::get_if<hold_testbed>(&then.next);
    ASSERT_NE(alone, nullptr) << name_of(then.next);
    EXPECT_EQ(alone->beside ? alone->beside->key.name : "", "b");
}

TEST_F(way_in, after_a_rollback_no_job_is_acquired_before_the_hold) {
    w.edit(w.schedulings, key, [](model::scheduling& s) { s.status.epoch = 1; });
    live.proven.release = true;
    const auto next = look();
    const auto* hold = std::get_if<hold_testbed>(&next.next);
    ASSERT_NE(hold, nullptr) << name_of(next.next);
    EXPECT_FALSE(hold->beside);
}

TEST_F(way_in, a_hold_that_is_refused_keeps_no_job) {
    w.acquire(*std::get<hold_testbed>(look().next).beside, w.s("s"), live);
    live.refused.hold = true;
    EXPECT_TRUE(std::holds_alternative<read_release>(look().next));
    live.proven.release = true;
    const auto next = look();
    ASSERT_TRUE(std::holds_alternative<commit>(next.next)) << name_of(next.next);
    EXPECT_EQ(next.status.releasing, model::release_reason::rolled_back);
}

TEST(acquisition, at_rest_nothing_is_written) {
    world w;
    w.add_testbed("t", 2, 2);
    w.add_job("a");
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.writes.clear();
    w.settle();
    EXPECT_TRUE(w.writes.empty());
}

/// A Scheduling that is over, as a cache shows it; it may hold its Testbed yet.
struct over_and_done : testing::Test {
    over_and_done() {
        w.add_testbed("t", 1, 1);
        w.add_job("a");
        w.add_queue("s", "t", {"a"});
    }
    void take_the_hold() {
        for (int i = 0; i < 2; ++i) w.step_of({"ns", "s"});
        ASSERT_TRUE(held_by(w.t("t"), w.s("s").metadata.uid));
    }
    decision look(std::int64_t generation = 1) {
        auto over = w.s("s");
        over.status.state = "FinishedState";
        over.status.observed_generation = 1;
        over.metadata.generation = generation;
        seen.self = std::make_shared<const model::scheduling>(over);
        seen.schedulings = &w.schedulings;
        seen.testbeds = &w.testbeds;
        seen.jobs = &w.jobs;
        seen.slots = w.slots_of({"ns", "t"});
        seen.live = &live;
        return decide(seen, w.now);
    }

    world w;
    view seen;
    live_facts live;
};

TEST_F(over_and_done, a_cache_far_behind_does_not_begin_a_release_again) {
    take_the_hold();
    EXPECT_TRUE(std::holds_alternative<read_release>(look().next));

    auto let_go = w.t("t");
    let_go.metadata.annotations.clear();
    let_go.metadata.labels.clear();
    live.newer.testbeds[let_go.metadata.key()] = std::make_shared<const model::testbed>(let_go);
    auto free = w.job("a");
    free.spec.active_scheduling.reset();
    live.newer.jobs[free.metadata.key()] = std::make_shared<const model::batchjob>(free);
    live.proven.release = true;
    EXPECT_TRUE(std::holds_alternative<wait>(look().next));
    // A hold that really exists is released.
    live.newer.testbeds.clear();
    EXPECT_TRUE(std::holds_alternative<commit>(look().next));
}

TEST_F(over_and_done, a_change_is_not_taken_for_seen_when_something_is_left) {
    take_the_hold();
    live.proven.release = true;
    const auto got = look(2);
    EXPECT_FALSE(got.status.releasing.empty());
    EXPECT_EQ(got.status.observed_generation, 1);
}

TEST_F(over_and_done, who_edits_it_is_told_that_it_has_no_effect) {
    const auto got = look(2);
    EXPECT_TRUE(std::holds_alternative<wait>(got.next));
    EXPECT_EQ(got.status.observed_generation, 2);
    const auto* told = model::find_condition(got.status.conditions, "SpecCurrent");
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->status, "False");
    EXPECT_EQ(told->reason, "ChangeIgnored");
    for (const auto& each : got.status.conditions) {
        EXPECT_EQ(each.observed_generation, 2) << each.type << ": `kubectl wait` asks for that";
    }
}

}  // namespace
}  // namespace esi::scheduling
