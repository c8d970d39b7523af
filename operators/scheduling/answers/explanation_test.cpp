#include "scheduling/answers/explanation.h"

#include <gtest/gtest.h>

#include "scheduling/answers/testing.h"

namespace esi::scheduling::answers {
namespace {

class explanations : public testing::Test {
protected:
    void SetUp() override {
        w.add_testbed("t", 2, 1);
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
    }
    explanation ask(const std::string& name) {
        const question asked(w, name);
        return explain(asked.v, w.now, asked.of.pods);
    }
    std::string blocks(const std::string& name) { return show(ask(name).blockers); }
    std::string blocks_job(const std::string& name, std::size_t job) {
        return show(ask(name).jobs.at(job).blockers);
    }
    void edit_job(const std::string& name, std::function<void(model::batchjob&)> how) {
        w.edit(w.jobs, world::key_of(name), how);
    }
    void edit_testbed(std::function<void(model::testbed&)> how) {
        w.edit(w.testbeds, {"ns", "t"}, how);
    }
    world w;
};

TEST_F(explanations, a_testbed_that_another_holds) {
    record(w, "a", {100});
    w.add_queue("first", "t", {"a"});
    w.settle();
    began(w, "a", 30);
    w.add_queue("s", "t", {"b"});
    w.settle();
    auto seen = ask("s");
    ASSERT_EQ(show(seen.blockers), "TestbedHeld");
    const auto& held = seen.blockers[0];
    EXPECT_EQ(held.what, (reference{"Testbed", "ns", "t"}));
    EXPECT_EQ(held.holder, (reference{"Scheduling", "ns", "first"}));
    EXPECT_EQ(held.since, w.s("first").status.started);
    EXPECT_EQ(held.estimate, std::nullopt) << "it is held until it is deleted";
    EXPECT_EQ(seen.waits_since, w.condition("s", "Acquired").last_transition_time);
    EXPECT_EQ(seen.reason, "TestbedHeld");
    EXPECT_EQ(seen.jobs.at(0).name, "b");
    EXPECT_EQ(seen.jobs.at(0).place, 1);
    EXPECT_EQ(seen.jobs.at(0).state, "Acquiring");
}

TEST_F(explanations, a_holder_that_releases_by_itself) {
    record(w, "a", {100});
    w.add_queue("first", "t", {"a"});
    w.change("first", [](auto& of) { of.release_on_completion = true; });
    w.settle();
    w.add_queue("s", "t", {"b", "a"});
    w.settle();
    began(w, "a", 30);
    auto seen = ask("s");
    EXPECT_EQ(seen.blockers.at(0).estimate->in_seconds, 70);
    EXPECT_EQ(seen.blockers.at(0).estimate->runs, 1);
    ASSERT_EQ(show(seen.jobs.at(1).blockers), "JobHeld");
    EXPECT_EQ(seen.jobs[1].blockers[0].estimate->in_seconds, 70);
    EXPECT_EQ(seen.jobs[1].blockers[0].since, w.s("first").status.assignments[0].since);
}

TEST_F(explanations, each_reason_why_nothing_is_acquired) {
    w.add_queue("s", "t", {"a", "b"});
    const auto key = object_key{"ns", "a"};

    w.change("s", [](auto& of) { of.suspend = true; });
    EXPECT_EQ(blocks("s"), "Suspended");
    w.change("s", [](auto& of) { of.suspend = false; });
    EXPECT_EQ(blocks("s"), "");
    EXPECT_TRUE(ask("s").jobs.at(0).starts_now);

    w.change("s", [](auto& of) { of.testbed = {"", "none"}; });
    EXPECT_EQ(blocks("s"), "TestbedMissing");
    w.change("s", [](auto& of) { of.testbed = {"", "t"}; });

    edit_testbed([&](auto& t) { t.metadata.deletion_timestamp = model::timestamp{w.now}; });
    EXPECT_EQ(blocks("s"), "TestbedDeleting");
    EXPECT_EQ(ask("s").blockers[0].since, model::timestamp{w.now});
    edit_testbed([&](auto& t) { t.metadata.deletion_timestamp.reset(); });

    edit_testbed([&](auto& t) { ++t.metadata.generation; });
    EXPECT_EQ(blocks("s"), "TestbedNotReady");
    edit_testbed([&](auto& t) { t.status.observed_generation = t.metadata.generation; });
    edit_testbed([&](auto& t) {
        model::set_condition(t.status.conditions, "LayoutCurrent", "False", "X", "", 1, w.now);
    });
    EXPECT_EQ(blocks("s"), "TestbedNotReady");
    EXPECT_EQ(ask("s").blockers[0].since, model::timestamp{w.now});
    edit_testbed([&](auto& t) { t.status.conditions.clear(); });

    auto layout = w.t("t").status.layout;
    edit_testbed([&](auto& t) { t.status.layout->nodes.clear(); });
    EXPECT_EQ(blocks("s"), "TestbedEmpty");
    edit_testbed([&](auto& t) { t.status.layout = layout; });

    edit_job("a", [&](auto& j) { j.metadata.deletion_timestamp = model::timestamp{w.now}; });
    EXPECT_EQ(blocks_job("s", 0), "JobDeleting");
    edit_job("a", [&](auto& j) { j.metadata.deletion_timestamp.reset(); });

    edit_job("a", [&](auto& j) { j.status.state = "InitState"; });
    EXPECT_EQ(blocks_job("s", 0), "JobNotReady");

    edit_job("a", [&](auto& j) {
        j.status.state = "FailedState";
        j.status.problems = {"executor 1 ran out of memory"};
        model::set_condition(j.status.conditions, "Failed", "True", "X", "", 1, w.now);
    });
    const auto seen = ask("s");
    ASSERT_EQ(show(seen.jobs.at(0).blockers), "JobFailed");
    EXPECT_EQ(seen.jobs[0].blockers[0].since, model::timestamp{w.now});
    EXPECT_EQ(seen.jobs[0].last_error, "executor 1 ran out of memory");
    EXPECT_EQ(seen.jobs[0].job_state, "FailedState");

    w.jobs.erase(key);
    EXPECT_EQ(blocks_job("s", 0), "JobMissing");
    for (const auto& each : ask("s").jobs.at(0).blockers) EXPECT_NE(each.freed_by, "");
}

TEST_F(explanations, a_failed_job_that_another_has) {
    w.add_queue("first", "t", {"a"});
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    w.add_testbed("u", 1, 1);
    w.add_queue("s", "u", {"a"});
    w.settle();
    const auto seen = ask("s");
    ASSERT_EQ(show(seen.jobs.at(0).blockers), "JobFailed");
    const auto& failed = seen.jobs[0].blockers[0];
    EXPECT_EQ(failed.holder, (reference{"Scheduling", "ns", "first"})) << "a reset waits for it";
    EXPECT_TRUE(failed.freed_by.starts_with("the release of Scheduling ns/first"));
    EXPECT_NE(failed.freed_by.find("is reset"), std::string::npos);
    EXPECT_EQ(failed.estimate, std::nullopt);

    EXPECT_EQ(ask("first").jobs.at(0).blockers.size(), 0u) << "it has the job itself";
}

TEST_F(explanations, a_job_that_waits_for_slots) {
    record(w, "a", {100, 120, 110});
    w.add_queue("s", "t", {"a", "a", "b", "c"});
    w.settle();
    began(w, "a", 50);
    const auto seen = ask("s");
    ASSERT_EQ(seen.jobs.size(), 3u);
    const auto& a = seen.jobs[0];
    EXPECT_EQ(a.slots, (std::vector{0, 1}));
    EXPECT_EQ(a.run, w.s("s").status.assignments[0].run);
    EXPECT_EQ(a.state, "Scheduled");
    EXPECT_EQ(a.end->in_seconds, 60);
    EXPECT_EQ(a.end->runs, 3);
    const auto& b = seen.jobs[1];
    EXPECT_EQ(b.place, 2);
    EXPECT_EQ(b.jobs_before, 0);
    EXPECT_EQ(b.state, "InQueue");
    ASSERT_EQ(show(b.blockers), "TooFewFreeSlots, SlotOfJob");
    EXPECT_EQ(b.blockers[0].estimate->in_seconds, 60);
    EXPECT_EQ(b.blockers[1].holder, (reference{"BatchJob", "ns", "a"}));
    EXPECT_EQ(b.blockers[1].since, w.s("s").status.assignments[0].since);
    EXPECT_EQ(b.blockers[1].estimate->in_seconds, 60);
    EXPECT_EQ(b.start->in_seconds, 60);
    const auto& c = seen.jobs[2];
    EXPECT_EQ(show(c.blockers), "JobBefore");
    EXPECT_EQ(c.jobs_before, 1);
    EXPECT_EQ(c.start->in_seconds, 60) << "both slots become free";
}

TEST_F(explanations, a_job_that_waits_for_a_coordinator_place) {
    w.add_claimed_testbed("d", 1, 4);
    record(w, "a", {100});
    w.add_queue("s", "d", {"a", "b", "c"});
    w.settle();
    began(w, "a", 40);
    const auto seen = ask("s");
    EXPECT_EQ(seen.jobs[0].slots, (std::vector{1, 0}));
    EXPECT_EQ(seen.jobs[0].slots_wanted, 1);
    const auto& b = seen.jobs[1];
    ASSERT_EQ(show(b.blockers), "CoordinatorBusy, SlotOfJob");
    EXPECT_EQ(b.blockers[0].estimate->in_seconds, 60);
    EXPECT_EQ(b.blockers[1].text, "BatchJob ns/a has slot 0");
    EXPECT_EQ(show(seen.jobs[2].blockers), "JobBefore");
}

TEST_F(explanations, slots_that_no_job_of_the_plan_has) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& of) {
        of.queue_based.reset();
        of.slot_based = {"relaxed", {{{"", "a"}, {0}}, {{"", "b"}, {1}}}};
    });
    w.pods.erase(w.pods.begin());
    edit_testbed([](auto& t) {
        model::slot_status row;
        row.position = 1;
        row.state = "ERROR";
        t.status.slots = {row};
    });
    auto seen = ask("s");
    const auto missing = show(seen.jobs.at(0).blockers);
    const auto other = show(seen.jobs.at(1).blockers);
    EXPECT_EQ(other, "SlotsNotFree, SlotInError");
    EXPECT_EQ(seen.jobs[1].blockers[1].what, (reference{"Node", "", "t-1"}));
    EXPECT_FALSE(seen.jobs[1].blockers[1].freed_by.contains("released"));
    // The first of the ghosts in the order of their names is that of either slot.
    if (!missing.empty()) EXPECT_EQ(missing, "SlotsNotFree, GhostMissing");
}

/// An edit that would mend the slots does nothing while the Testbed is held.
TEST_F(explanations, slots_in_error_of_a_layout_that_waits_for_the_release) {
    w.add_queue("s", "t", {"a"});
    edit_testbed([](auto& t) {
        for (const int position : {0, 1}) {
            model::slot_status row;
            row.position = position;
            row.state = "ERROR";
            t.status.slots.push_back(row);
        }
    });
    w.settle();
    edit_testbed([](auto& t) {
        model::condition current;
        current.type = "LayoutCurrent";
        current.status = "False";
        current.reason = "WaitsForRelease";
        t.status.conditions = {current};
    });
    const auto seen = ask("s");
    ASSERT_EQ(show(seen.jobs.at(0).blockers), "TooFewFreeSlots, SlotInError");
    EXPECT_EQ(seen.jobs[0].blockers[1].freed_by,
              "what status.nodeProblems of the Testbed names is mended, or its hold is released: "
              "only then does it get a layout of its nodes and spec as they are now (condition "
              "LayoutCurrent)");
}

TEST_F(explanations, a_retry_that_is_delayed) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& of) { of.job_policies = {{{"", "a"}, 1, 30}}; });
    w.settle();
    w.end_job("a", "FailedState");
    w.settle();
    w.now += seconds(10);
    const auto seen = ask("s");
    const auto& a = seen.jobs.at(0);
    ASSERT_EQ(show(a.blockers), "RetryDelayed");
    EXPECT_EQ(a.blockers[0].estimate->in_seconds, 20);
    EXPECT_EQ(a.blockers[0].estimate->runs, 0) << "known exactly";
    EXPECT_EQ(a.blockers[0].since, w.s("s").status.assignments[0].ended);
    EXPECT_EQ(a.outcome, "Failed");
    EXPECT_EQ(a.last_error, "executor 1 ran out of memory");
}

TEST_F(explanations, jobs_that_are_never_started) {
    w.add_queue("s", "t", {"a", "a", "b", "c"});
    w.change("s", [](auto& of) { of.cancelled_jobs = {{"", "c"}}; });
    w.settle();
    auto seen = ask("s");
    EXPECT_EQ(seen.jobs.at(2).refused, "BatchJob ns/c was cancelled (spec.cancelledJobs)");
    w.change("s", [](auto& of) { of.active_deadline_seconds = 5; });
    w.now += seconds(60);
    seen = ask("s");
    EXPECT_NE(seen.jobs.at(1).refused, "") << "the time of the plan is over";
    EXPECT_EQ(seen.jobs.at(1).blockers.size(), 0u);
}

TEST_F(explanations, of_one_job_alone_tell_which_job_of_its_plan_it_waits_with) {
    w.add_queue("s", "t", {"a", "missing"});
    w.settle();
    const question asked(w, "s");
    const auto seen = explain(asked.v, w.now, asked.of.pods, world::key_of("a"));
    ASSERT_EQ(seen.jobs.size(), 1u);
    ASSERT_EQ(show(seen.jobs[0].blockers), "OtherJob");
    EXPECT_EQ(seen.jobs[0].blockers[0].what, (reference{"BatchJob", "ns", "missing"}));
    EXPECT_EQ(blocks_job("s", 0), "") << "of the whole plan the other one is there, with its own";
    EXPECT_EQ(blocks_job("s", 1), "JobMissing");
}

TEST_F(explanations, an_offer_that_was_withdrawn) {
    w.add_testbed("other/o", 1, 1);
    w.offer("other/o", {"ns"});
    w.add_queue("s", "other/o", {"a", "b"});
    w.settle();
    w.offer("other/o", {});
    w.settle();
    const auto seen = ask("s");
    ASSERT_EQ(show(seen.blockers), "NotAllowed");
    EXPECT_EQ(seen.blockers[0].since, w.condition("s", "Allowed").last_transition_time);
    EXPECT_EQ(seen.jobs.at(0).slots, std::vector{0}) << "what runs goes on";
}

TEST_F(explanations, schedulings_that_wait_for_each_other) {
    w.add_testbed("u", 2, 1);
    w.add_queue("r", "t", {"a"});
    w.add_queue("s", "u", {"b"});
    w.settle();
    w.set_queue("r", {"a", "b"});
    w.set_queue("s", {"b", "a"});
    w.settle();
    const auto seen = ask("s");
    EXPECT_EQ(seen.cycle, (std::vector<object_key>{{"ns", "r"}, {"ns", "s"}}));
    EXPECT_EQ(show(seen.blockers), "WaitCycle");
    EXPECT_EQ(show(seen.jobs.at(1).blockers), "JobHeld");
}

TEST_F(explanations, a_release_under_way) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.erase_scheduling("s");
    for (int i = 0; i < 10; ++i) w.step_of({"ns", "s"});
    const auto seen = ask("s");
    EXPECT_EQ(show(seen.blockers), "Releasing, Releasing") << "the application and its pod";
    EXPECT_EQ(seen.blockers[0].what, (reference{"BatchJob", "ns", "a"}));
    EXPECT_EQ(seen.blockers[1].what.kind, "Pod");
}

TEST_F(explanations, a_run_that_is_ended) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.change("s", [](auto& of) { of.cancelled_jobs = {{"", "a"}}; });
    for (int i = 0; i < 10; ++i) w.step_of({"ns", "s"});
    const auto seen = ask("s");
    EXPECT_EQ(seen.jobs.at(0).ending, "Cancelled");
    EXPECT_EQ(show(seen.jobs[0].blockers), "RunEnding");
    EXPECT_EQ(seen.jobs[0].end, std::nullopt);
}

TEST_F(explanations, a_scheduling_that_lost_its_hold) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.drop_hold({"ns", "t"});
    EXPECT_NE(ask("s").problem.find("no longer shows the hold"), std::string::npos);
    w.settle();
    EXPECT_NE(ask("s").problem.find("no longer shows the hold"), std::string::npos);
}

TEST_F(explanations, of_one_job_alone) {
    w.add_queue("s", "t", {"a", "b"});
    const question asked(w, "s");
    const auto seen = explain(asked.v, w.now, asked.of.pods, object_key{"ns", "b"});
    ASSERT_EQ(seen.jobs.size(), 1u);
    EXPECT_EQ(seen.jobs[0].place, 2);
    EXPECT_EQ(seen.jobs[0].jobs_before, 1);
    EXPECT_TRUE(seen.jobs[0].starts_now);
    EXPECT_EQ(seen.jobs[0].slots, std::vector{1});
}

TEST_F(explanations, of_another_namespace_show_no_run_times) {
    w.add_testbed("other/o", 1, 1);
    w.offer("other/o", {"ns"});
    edit_job("a", [](auto&) {});
    w.edit(w.testbeds, {"other", "o"}, [](model::testbed& t) {
        t.metadata.labels[std::string(names_of::active_scheduling_name)] = "theirs";
        t.metadata.labels[std::string(names_of::active_scheduling_namespace)] = "other";
        t.metadata.annotations[std::string(names_of::hold)] = "uid-x.1";
    });
    w.add_queue("s", "other/o", {"a"});
    const auto seen = ask("s");
    ASSERT_EQ(show(seen.blockers), "TestbedHeld");
    EXPECT_EQ(seen.blockers[0].since, std::nullopt);
    EXPECT_EQ(seen.blockers[0].estimate, std::nullopt);
}

// --- pods ---

class waiting_pods : public explanations {
protected:
    void SetUp() override {
        explanations::SetUp();
        w.add_queue("s", "t", {"a"});
        w.settle();
        run = w.job("a").spec.creation_request->run;
        w.drop_pods(run);
        edit_job("a", [&](auto& j) {
            j.status.state = model::job_state::submitted;
            j.status.placements.clear();
            j.status.runs.back().submitted = model::timestamp{w.now};
        });
    }
    model::pod pod() {
        model::pod out;
        out.metadata.namespace_ = "ns";
        out.metadata.name = "a-1";
        out.metadata.uid = "pod-1";
        out.metadata.creation_timestamp = model::timestamp{w.now};
        out.metadata.labels = {{std::string(names_of::job), "a"},
                               {std::string(names_of::testbed), "t"},
                               {std::string(names_of::testbed_namespace), "ns"}};
        out.metadata.annotations = {{std::string(names_of::run), run}};
        out.scheduling_gates = {std::string(names_of::gate)};
        out.phase = "Pending";
        return out;
    }
    void place() {
        edit_job("a", [](auto& j) { j.status.placements = {{0, "pod-1", "a-1"}}; });
    }
    std::string reason_of(const model::pod& one) {
        const question asked(w, "s");
        const auto seen = wait_of_pod(asked.v, one, {}, w.now);
        return seen ? seen->reason : "";
    }
    std::string run;
};

TEST_F(waiting_pods, on_their_way_into_a_slot) {
    auto one = pod();
    EXPECT_EQ(reason_of(one), "NoSlot");
    place();
    EXPECT_EQ(reason_of(one), "GhostInSlot");
    const question asked(w, "s");
    const auto seen = wait_of_pod(asked.v, one, {}, w.now);
    EXPECT_EQ(seen->slot, 0);
    EXPECT_EQ(seen->node, "t-0");
    EXPECT_EQ(seen->job, (object_key{"ns", "a"}));
    std::erase_if(w.pods, [](const auto& each) { return each.second->node_name == "t-0"; });
    EXPECT_EQ(reason_of(one), "NotLetIn");
    one.scheduling_gates.clear();
    EXPECT_EQ(reason_of(one), "NotBound");
    const question late(w, "s");
    EXPECT_EQ(wait_of_pod(late.v, one, {}, w.now)->deadline,
              model::timestamp{w.now + seconds(300)});
    EXPECT_EQ(wait_of_pod(late.v, one, {}, w.now + seconds(300))->reason, "NotBoundInTime");
    one.node_name = "t-0";
    EXPECT_EQ(reason_of(one), "");
}

TEST_F(waiting_pods, that_replace_another_of_a_run_that_goes_on) {
    auto one = pod();
    place();
    one.scheduling_gates.clear();
    for (const auto state : {model::job_state::scheduled, model::job_state::running}) {
        edit_job("a", [&](auto& j) { j.status.state = state; });
        const question asked(w, "s");
        const auto seen = wait_of_pod(asked.v, one, {}, w.now + seconds(1000));
        EXPECT_EQ(seen->reason, "NotBound");
        EXPECT_EQ(seen->deadline, std::nullopt) << "its run does not fail for that";
    }
}

TEST_F(waiting_pods, whose_slot_is_not_free) {
    place();
    auto other = pod();
    other.metadata.name = "before";
    other.metadata.uid = "pod-0";
    other.node_name = "t-0";
    other.scheduling_gates.clear();
    other.metadata.annotations[std::string(names_of::slot)] = "0";
    other.metadata.annotations[std::string(names_of::slot_node)] = "t-0";
    edit_job("b", [&](auto& j) {
        j.status.placements = {{0, "pod-0", "before"}};
        model::run_record line;
        line.testbed = {"ns", "t"};
        j.status.runs.push_back(line);
    });
    w.put_pod(other, {"ns", "t"});
    EXPECT_EQ(reason_of(pod()), "SlotOccupied");
    edit_testbed([](auto& t) {
        model::slot_status row;
        row.position = 0;
        row.state = "ERROR";
        t.status.slots = {row};
    });
    EXPECT_EQ(reason_of(pod()), "SlotInError");
}

TEST_F(waiting_pods, that_esi_does_nothing_for) {
    auto one = pod();
    one.metadata.annotations.clear();
    EXPECT_EQ(reason_of(one), "Foreign");
    one = pod();
    one.metadata.annotations[std::string(names_of::run)] = "another.1.1";
    EXPECT_EQ(reason_of(one), "Foreign");
    one = pod();
    one.metadata.labels[std::string(names_of::job)] = "none";
    EXPECT_EQ(reason_of(one), "Foreign");
    edit_job("a", [](auto& j) { j.spec.creation_request->slot_ids = {1}; });
    EXPECT_EQ(reason_of(pod()), "Foreign") << "no assignment of these slots exists";
}

TEST_F(waiting_pods, that_are_more_than_the_slots_or_ghosts) {
    edit_job("a", [](auto& j) { j.status.placements = {{0, "another", "x"}}; });
    EXPECT_EQ(reason_of(pod()), "Surplus");
    model::pod ghost;
    ghost.metadata.labels = {{std::string(names_of::ghost), "true"}};
    ghost.phase = "Pending";
    EXPECT_EQ(reason_of(ghost), "RoomTaken");
}

TEST_F(waiting_pods, are_listed_with_their_scheduling) {
    auto one = pod();
    w.pods["a-1"] = std::make_shared<const model::pod>(one);
    const auto seen = ask("s");
    ASSERT_EQ(seen.pods.size(), 1u);
    EXPECT_EQ(seen.pods[0].reason, "NoSlot");
}

}  // namespace
}  // namespace esi::scheduling::answers
