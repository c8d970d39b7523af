#include "grid/rights.h"

#include <gtest/gtest.h>

#include "grid/grid.h"
#include "model/names.h"

namespace esi::grid {
namespace {

/// A Testbed that "uid-s" holds, and a job that it has assigned the slots 1 and 3.
struct rights : testing::Test {
    rights() {
        testbed.metadata.namespace_ = "ns";
        testbed.metadata.name = "t";
        hold("uid-s.7");
        job.metadata.namespace_ = "ns";
        job.metadata.name = "j";
        job.metadata.uid = "uid-j";
        job.status.state = model::job_state::in_queue;
        auto& order = job.spec.creation_request.emplace();
        order.testbed_name.name = "t";
        order.slot_ids = {1, 3};
        order.run = "uid-s.7.1";
        holder.metadata.uid = "uid-s";
        holder.status.assignments.emplace_back();
        given().job = {"ns", "j", "uid-j"};
        given().slot_ids = {1, 3};
        given().run = "uid-s.7.1";
    }
    void hold(const std::string& token) {
        testbed.metadata.annotations[std::string(model::names::hold)] = token;
    }
    model::creation_request& order() { return *job.spec.creation_request; }
    model::assignment& given() { return holder.status.assignments.front(); }
    bool holds() const { return has_right(job, testbed, &holder); }

    model::testbed testbed;
    model::batchjob job;
    model::scheduling holder;
};

TEST_F(rights, an_order_counts_that_the_holder_has_assigned) { EXPECT_TRUE(holds()); }

TEST_F(rights, an_order_without_a_namespace_is_for_the_jobs_own) {
    EXPECT_EQ(testbed_of(job), (model::object_key{"ns", "t"}));
    order().testbed_name.namespace_ = "other";
    EXPECT_EQ(testbed_of(job), (model::object_key{"other", "t"}));
    EXPECT_FALSE(is_under_hold(job, testbed));
    EXPECT_FALSE(holds());
    job.spec.creation_request.reset();
    EXPECT_EQ(testbed_of(job), model::object_key());
    EXPECT_FALSE(holds());
}

TEST_F(rights, a_scheduling_with_a_claim_means_the_testbed_of_its_own_name) {
    holder.metadata.namespace_ = "ns";
    holder.metadata.name = "s";
    holder.spec.claim.emplace();
    EXPECT_EQ(testbed_of(holder), (model::object_key{"ns", "s"}));
}

TEST_F(rights, a_testbed_is_made_for_the_scheduling_that_is_its_controller) {
    holder.metadata.namespace_ = "ns";
    EXPECT_EQ(maker_of(testbed), nullptr);
    EXPECT_FALSE(is_made_for(testbed, holder));
    auto& owner = testbed.metadata.owner_references.emplace_back();
    owner = {"esi.tu-berlin.de/v1alpha1", "Scheduling", "s", "uid-s", true};
    ASSERT_NE(maker_of(testbed), nullptr);
    EXPECT_EQ(maker_of(testbed)->name, "s");
    EXPECT_TRUE(is_made_for(testbed, holder));
    owner.uid = "uid-of-one-made-anew";
    EXPECT_FALSE(is_made_for(testbed, holder));
    owner.uid = "uid-s";
    owner.controller = false;
    EXPECT_FALSE(is_made_for(testbed, holder));
    owner.controller = true;
    owner.api_version = "example.org/v1";
    EXPECT_EQ(maker_of(testbed), nullptr) << "a Scheduling of somebody else's";
    owner.api_version = "esi.tu-berlin.de/v2";
    EXPECT_TRUE(is_made_for(testbed, holder));
    holder.metadata.namespace_ = "other";
    EXPECT_FALSE(is_made_for(testbed, holder)) << "an owner is of the same namespace";
}

TEST(shape, of_a_claim_has_as_many_places_as_its_layout_will_have) {
    model::scheduling_claim claim;
    claim.shapes = {{"driver", "coordinator", 1, {}, {}}, {"executors", "worker", 8, {}, {}}};
    const auto layout = shape_of(claim);
    EXPECT_EQ(count_of_slots(layout), 9);
    EXPECT_EQ(role_of(layout, 0), model::slot_role::coordinator);
    EXPECT_EQ(role_of(layout, 8), model::slot_role::worker);
    claim.shapes[1].count = 2'000'000'000;
    EXPECT_EQ(count_of_slots(shape_of(claim)), 0);
    claim.shapes[1].count = -5;
    EXPECT_EQ(count_of_slots(shape_of(claim)), 0);
}

TEST_F(rights, a_scheduling_without_a_namespace_of_its_testbed_means_its_own) {
    holder.metadata.namespace_ = "ns";
    holder.spec.testbed = {"", "t"};
    EXPECT_EQ(testbed_of(holder), (model::object_key{"ns", "t"}));
    holder.spec.testbed = {"other", "t"};
    EXPECT_EQ(testbed_of(holder), (model::object_key{"other", "t"}));
}

TEST_F(rights, nothing_counts_under_another_hold_or_none) {
    for (const char* other : {"", "uid-s.8", "uid-x.7", "uid-s"}) {
        hold(other);
        EXPECT_FALSE(is_under_hold(job, testbed)) << other;
        EXPECT_FALSE(holds()) << other;
    }
    // A run that names no hold is under none, also where the Testbed is free.
    hold("");
    order().run = "run";
    EXPECT_FALSE(is_under_hold(order().run, testbed));
}

TEST_F(rights, an_order_counts_only_as_it_was_assigned) {
    const auto as_it_is = holder;
    given().slot_ids = {1};
    EXPECT_FALSE(holds());
    holder = as_it_is;
    given().job.uid = "uid-k";
    EXPECT_FALSE(holds()) << "another object of that name";
    holder = as_it_is;
    given().run = "uid-s.7.2";
    EXPECT_FALSE(holds());
    holder = as_it_is;
    given().ended.emplace();
    EXPECT_FALSE(holds());
    holder = as_it_is;
    holder.metadata.uid = "uid-x";
    EXPECT_FALSE(holds());
    EXPECT_FALSE(has_right(job, testbed, nullptr));
}

TEST_F(rights, who_has_ended_or_goes_has_none) {
    job.status.state = model::job_state::completed;
    EXPECT_FALSE(holds());
    job.status.state = model::job_state::running;
    EXPECT_TRUE(holds());
    job.metadata.deletion_timestamp.emplace();
    EXPECT_FALSE(holds());
}

TEST_F(rights, a_run_is_of_the_scheduling_that_gave_it) {
    EXPECT_EQ(owner_of_run("uid-s.7.1"), "uid-s");
    EXPECT_EQ(owner_of_run("7.1"), "");
    EXPECT_EQ(owner_of_run(""), "");
}

TEST_F(rights, an_order_without_time_outs_has_the_defaults) {
    EXPECT_EQ(submit_timeout(order()), seconds(600));
    EXPECT_EQ(schedule_timeout(order()), seconds(300));
    order().submit_timeout_seconds = 5;
    order().schedule_timeout_seconds = -1;
    EXPECT_EQ(submit_timeout(order()), seconds(5));
    EXPECT_EQ(schedule_timeout(order()), seconds(300));
}

}  // namespace
}  // namespace esi::grid
