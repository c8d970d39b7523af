#include "model/kept.h"

#include <gtest/gtest.h>

#include "model/names.h"

namespace esi::model {
namespace {

TEST(kept, of_a_job_its_rights_are_what_it_orders_and_where_its_pods_are) {
    batchjob job;
    job.metadata.name = "j";
    job.metadata.labels = {{"team", "a"}, {std::string(names::job), "j"}};
    job.metadata.undecodable = ".spec: why";
    job.spec.spark_spec = raw_json{"{}"};
    job.spec.external_scheduler = raw_json{"{}"};
    job.spec.creation_request.emplace().run = "h.1.2";
    job.status.state = "RunningState";
    job.status.placements = {{0, "uid", "pod"}};
    job.status.runs.resize(3);
    job.status.runs.back().testbed = {"ns", "t"};
    job.status.problems = {"p"};
    keep_rights(job);
    EXPECT_EQ(job.metadata.labels, (string_map{{std::string(names::job), "j"}}));
    EXPECT_EQ(job.metadata.undecodable, ".spec: why");
    EXPECT_FALSE(job.spec.spark_spec || job.spec.external_scheduler);
    EXPECT_EQ(job.spec.creation_request->run, "h.1.2");
    EXPECT_EQ(job.status.state, "RunningState");
    EXPECT_EQ(job.status.placements.size(), 1U);
    ASSERT_EQ(job.status.runs.size(), 1U);
    EXPECT_EQ(job.status.runs[0].testbed, (object_key{"ns", "t"}));
    EXPECT_TRUE(job.status.problems.empty());
}

TEST(kept, of_a_plan_its_rights_are_the_assignments_that_have_not_ended) {
    scheduling plan;
    plan.spec.queue_based.emplace().resize(5);
    plan.status.assignments.resize(2);
    plan.status.assignments[0].ended = timestamp();
    plan.status.assignments[1].run = "h.1.2";
    keep_rights(plan);
    EXPECT_FALSE(plan.spec.queue_based);
    ASSERT_EQ(plan.status.assignments.size(), 1U);
    EXPECT_EQ(plan.status.assignments[0].run, "h.1.2");
}

TEST(kept, without_its_content_a_plan_still_says_which_testbed_is_its_own_and_what_holds_it_back) {
    scheduling plan;
    plan.metadata.finalizers = {"esi.tu-berlin.de/release", "guest.example/stay"};
    plan.metadata.owner_references = {{"v1", "Pod", "p", "u", false},
                                      {"v1", "Pod", "q", "v", true}};
    plan.spec.claim.emplace().shapes.resize(4);
    plan.spec.priority = 7;
    plan.spec.queue_based.emplace().resize(5);
    plan.spec.pool_based.emplace().jobs.resize(5);
    plan.status.plan = plan.spec;
    leave_out_content(plan);
    EXPECT_EQ(plan.metadata.finalizers.size(), 2U) << "they are written as a whole";
    ASSERT_EQ(plan.metadata.owner_references.size(), 1U);
    EXPECT_EQ(plan.metadata.owner_references[0].name, "q");
    ASSERT_TRUE(plan.spec.claim);
    EXPECT_TRUE(plan.spec.claim->shapes.empty());
    EXPECT_EQ(plan.spec.priority, 7);
    EXPECT_FALSE(plan.spec.queue_based);
    EXPECT_EQ(plan.status.plan->queue_based->size(), 5U) << "what runs is decided by this";
}

TEST(kept, without_its_content_an_object_has_no_long_text) {
    batchjob job;
    job.metadata.annotations = {{std::string(names::reset), std::string(4000, 'x')},
                                {std::string(names::run), "h.1.2"}};
    leave_out_content(job);
    EXPECT_EQ(job.metadata.annotations, (string_map{{std::string(names::run), "h.1.2"}}));
}

TEST(kept, without_its_content_an_application_says_how_it_stands_and_who_keeps_it) {
    spark_application app;
    app.metadata.labels["app"] = std::string(4000, 'x');
    app.metadata.finalizers = {"guest.example/stay"};
    app.state = "COMPLETED";
    leave_out_content(app);
    EXPECT_TRUE(app.metadata.labels.empty());
    EXPECT_EQ(app.metadata.finalizers.size(), 1U);
    EXPECT_EQ(app.state, "COMPLETED");
}

TEST(kept, the_largest_member_is_named_as_people_write_it) {
    scheduling plan;
    plan.spec.slot_based.emplace().jobs.resize(100);
    EXPECT_EQ(largest_member(plan), ".spec.slotBased.jobs");
    plan.metadata.labels["a"] = std::string(100'000, 'x');
    EXPECT_EQ(largest_member(plan), ".metadata.labels");
}

}  // namespace
}  // namespace esi::model
