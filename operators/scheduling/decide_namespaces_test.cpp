// Testbeds and BatchJobs of other namespaces.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

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
    // The status that the version before wrote, and what its objects said.
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
    // A job that it did not have before is not its own.
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

}  // namespace
}  // namespace esi::scheduling
