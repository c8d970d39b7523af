// Restarts: decide() remembers nothing, so a new process is the same call on the same objects.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/registry.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::acquire;
using ::testing::ElementsAre;
using testing::make_app;
using testing::order;
using testing::release;
using testing::stamp;
using testing::world;

TEST(restart, after_the_create_and_before_its_status) {
    world w;
    w.queued();
    order(*w.job, {0, 3});
    w.app = make_app("");
    w.take_log();
    w.step(12);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState"));
    EXPECT_EQ(w.job->status.runs[0].submitted, stamp(10));
}

TEST(restart, an_application_vouches_for_the_spec_that_it_was_made_from_only) {
    for (const bool edited : {false, true}) {
        world w;
        w.ready();
        acquire(*w.job);
        order(*w.job, {0});
        const auto made_from = hash_of(kind_of(w.kinds, w.job->spec), w.job->spec);
        w.app = make_app("");
        w.app->metadata.annotations["esi.tu-berlin.de/spec-hash"] = made_from;
        if (edited) w.job->spec.spark_spec->text = R"({"type":"Cobol"})";
        w.step(12);
        EXPECT_EQ(w.job->status.state, "SubmittedState");
        EXPECT_EQ(w.job->status.spec_hash, made_from);
        release(*w.job);
        w.app.reset();
        w.check.reset();
        w.take_log();
        w.step(20);
        EXPECT_EQ(w.take_log(),
                  edited ? (std::vector<std::string>{"read application", "status ReadyState",
                                                     "check spec", "status ReadyState"})
                         : (std::vector<std::string>{"read application", "status ReadyState"}));
    }
}

TEST(restart, after_the_result_and_before_the_left_overs_are_removed) {
    world w;
    w.completed();
    w.take_log();
    w.step(60);
    EXPECT_THAT(w.take_log(), ElementsAre("delete pod a-exec-1", "delete pod a-exec-2"));
}

TEST(restart, a_run_that_has_ended_is_never_started_again) {
    world w;
    w.completed();
    w.pods.clear();
    w.app.reset();
    w.job->status.application.reset();
    w.take_log();
    w.step(60);
    EXPECT_THAT(w.take_log(), ElementsAre("status CompletedState")) << "the placements are over";
    w.step(61);
    EXPECT_THAT(w.take_log(), ElementsAre());
}

}  // namespace
}  // namespace esi::batchjob
