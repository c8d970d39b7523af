#include "kubectl-esi/commands/explain.h"

#include <gtest/gtest.h>

#include "kubectl-esi/commands/schedule.h"
#include "scheduling/answers/testing.h"

namespace esi::kubectl {
namespace {

namespace answers = scheduling::answers;

answers::blocking held_testbed(wall_time now) {
    answers::blocking out;
    out.reason = "TestbedHeld";
    out.what = {"Testbed", "ns", "t"};
    out.holder = answers::reference{"Scheduling", "other", "first"};
    out.since = model::timestamp{now - seconds(200)};
    out.text = "Testbed ns/t is held by Scheduling other/first";
    out.freed_by = "the release of it";
    out.estimate = answers::estimated_time{{}, 70, 2};
    return out;
}

TEST(explain_text, shows_what_blocks_the_plan_its_jobs_and_their_pods) {
    const wall_time now{seconds(1'700'000'000)};
    answers::explanation of;
    of.namespace_ = "ns";
    of.name = "s";
    of.testbed = {"ns", "t"};
    of.mode = "queue";
    of.state = "AcquireState";
    of.reason = "TestbedHeld";
    of.waits_since = model::timestamp{now - seconds(180)};
    of.blockers = {held_testbed(now)};
    answers::explained_job job;
    job.namespace_ = "ns";
    job.name = "b";
    job.place = 1;
    job.slots_wanted = 2;
    job.state = "Acquiring";
    of.jobs = {job};
    answers::waiting_pod pod;
    pod.namespace_ = "ns";
    pod.name = "b-exec-1";
    pod.reason = "GhostInSlot";
    pod.slot = 3;
    pod.node = "n";
    pod.created = model::timestamp{now - seconds(5)};
    pod.deadline = model::timestamp{now + seconds(60)};
    pod.freed_by = "the ghost is deleted";
    of.pods = {pod};
    EXPECT_EQ(explanation_text(of, false, {}, now), R"(Scheduling:    s
Namespace:     ns
Testbed:       t
Mode:          queue
State:         AcquireState (TestbedHeld)
Waits since:   3m
End:           <none>
Blockers:
  OBJECT      REASON        SLOTS    HELD-BY                  SINCE   ESTIMATE          FREED-BY
  Testbed/t   TestbedHeld   <none>   Scheduling/other/first   3m20s   in 70s (2 runs)   the release of it
Jobs:
  PLACE   JOB   STATE       WANTS   SLOTS    SINCE    START    END      OUTCOME
  1       b     Acquiring   2       <none>   <none>   <none>   <none>   <none>
Pods that wait:
  POD        REASON        SLOT   NODE   AGE   FAILS    FREED-BY
  b-exec-1   GhostInSlot   3      n      5s    in 60s   the ghost is deleted
)");
}

TEST(explanations, a_refused_claim_has_the_reason_and_the_words_of_the_status) {
    model::scheduling of;
    auto& acquired = of.status.conditions.emplace_back();
    acquired.type = "Acquired";
    acquired.status = "False";
    acquired.reason = "ClaimRefused";
    acquired.message = "Testbed ns/c1 cannot be made for the claim: the API server refuses it";
    answers::explanation why;
    why.blockers.resize(2);
    why.blockers[0].reason = "ClaimWaiting";
    why.blockers[0].text = "Testbed ns/c1 has to be made for the claim first";
    why.blockers[1].reason = "JobMissing";
    repeat_refusal(of, why);
    EXPECT_EQ(why.blockers[0].reason, "ClaimRefused");
    EXPECT_EQ(why.blockers[0].text, acquired.message);
    EXPECT_TRUE(why.blockers[0].freed_by.contains("claims.enabled=true"));
    EXPECT_EQ(why.blockers[1].reason, "JobMissing");
    of.status.conditions[0].reason = why.blockers[0].reason = "ClaimWaiting";
    const auto before = why;
    repeat_refusal(of, why);
    EXPECT_EQ(why.blockers, before.blockers) << "it does wait";
}

TEST(explain_text, a_job_that_waits_for_another_is_told_by_the_planner_itself) {
    scheduling::world w;
    w.add_testbed("t", 2, 1);
    w.add_job("a");
    w.add_job("b");
    w.add_queue("s", "t", {"a", "a", "b"});
    w.settle();
    const answers::question asked(w, "s");
    const auto why = answers::explain(asked.v, w.now, asked.of.pods);
    const auto text = explanation_text(why, true, {}, w.now);
    EXPECT_NE(text.find("Blockers of its jobs:\n  JOB   OBJECT"), std::string::npos) << text;
    EXPECT_NE(text.find("TooFewFreeSlots"), std::string::npos) << text;
    EXPECT_NE(text.find("BatchJob/a"), std::string::npos) << text;
}

TEST(end_text, has_nothing_that_a_terminal_would_act_on) {
    model::scheduling_status of;
    of.progress.emplace().summary = "1/2\x1b[2J";
    of.problems = {
        "BatchJob ns/a: \x1b]0;owned\x07\xc2\x9b"
        "2J\xe2\x80\xae\nscheduling s succeeded"};
    EXPECT_EQ(end_text({"ns", "p"}, of, "failed"),
              "scheduling.esi.tu-berlin.de/p failed: 1/2 [2J\n"
              "  BatchJob ns/a:  ]0;owned  2J  scheduling s succeeded\n");
    EXPECT_EQ(end_text({"ns", "p"}, of, "succeeded"),
              "scheduling.esi.tu-berlin.de/p succeeded: 1/2 [2J\n");
}

TEST(preview_text, shows_starts_waits_and_refusals) {
    const wall_time now{seconds(1'700'000'000)};
    answers::preview of;
    of.verdict = "Starts";
    of.mode = "strict";
    of.testbed = {"lab", "t"};
    of.starts = {{"ns", "a", {0, 1, 2}, 0, answers::estimated_time{{}, 60, 1}}};
    answers::blocking wait;
    wait.text = "needs 2 slots, 0 are free";
    of.waits = {{"ns", "b", 2, {wait}, 0, answers::estimated_time{{}, 60, 1}}};
    of.refused = {{"ns", "c", "SlotOutsideLayout", "BatchJob ns/c names slot 9"}};
    of.ignored = {"spec.testbed is ignored"};
    EXPECT_EQ(preview_text({"ns", "plan"}, of, false, {}, now), R"(Scheduling:   plan
Namespace:    ns
Testbed:      lab/t
Mode:         strict
Verdict:      Starts
End:          <none>
Starts now:
  JOB   SLOTS   END
  a     0-2     in 60s (1 run)
Waits:
  JOB   WANTS   START            WAITS-FOR
  b     2       in 60s (1 run)   needs 2 slots, 0 are free
Refused:
  JOB   REASON              MESSAGE
  c     SlotOutsideLayout   BatchJob ns/c names slot 9
Ignored: spec.testbed is ignored
)");
}

}  // namespace
}  // namespace esi::kubectl
