#include "batchjob/backends/spark_driver/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/testing.h"

namespace esi::batchjob::spark_driver {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const driver_backend kind{placement_options{}};
const model::raw_json spec{R"({"uid":"uid-a"})"};

/// The BatchJob that ESI has made for the driver.
model::batchjob driver_job() {
    model::batchjob job;
    job.metadata.name = "a";
    job.metadata.uid = "job-uid";
    job.metadata.owner_references = {{"v1", "Pod", "a", "uid-a", false}};
    job.spec.spark_driver = spec;
    return job;
}

/// The driver of the BatchJob "a", as its author has made it.
model::pod driver() {
    model::pod pod;
    pod.metadata.name = "a";
    pod.metadata.namespace_ = "jobs";
    pod.metadata.uid = "uid-a";
    pod.metadata.labels = {{"spark-role", "driver"}, {"esi.tu-berlin.de/job", "a"}};
    pod.phase = "Pending";
    pod.scheduling_gates = {"esi.tu-berlin.de/slot"};
    return pod;
}
/// The same driver, taken over by a BatchJob.
model::pod taken_over() {
    auto pod = driver();
    pod.metadata.annotations = {{"esi.tu-berlin.de/run", "s.7.1"},
                                {"esi.tu-berlin.de/job-uid", "job-uid"}};
    return pod;
}
model::pod executor() {
    model::pod pod;
    pod.metadata.name = "a-exec-1";
    pod.metadata.uid = "uid-exec";
    pod.metadata.labels = {{"spark-role", "executor"}, {"esi.tu-berlin.de/job", "a"}};
    pod.metadata.owner_references = {{"v1", "Pod", "a", "uid-a", true}};
    return pod;
}

TEST(spark_driver, one_that_was_taken_over_is_the_application_of_that_job_alone) {
    const auto app = application_of(taken_over());
    ASSERT_TRUE(app);
    model::object_meta job;
    job.uid = "job-uid";
    EXPECT_TRUE(app->owned_by(job));
    EXPECT_EQ(app->run(), "s.7.1");
    EXPECT_EQ(app->coordinator_pod, "a");
    job.uid = "another";
    EXPECT_FALSE(app->owned_by(job));
}

TEST(spark_driver, marks_alone_make_no_pod_the_application_of_a_job) {
    const auto app = *application_of(taken_over());
    EXPECT_TRUE(belongs_to(app, kind, driver_job()));
    const std::pair<const char*, std::function<void(model::batchjob&)>> rows[] = {
        {"a job of another kind",
         [](auto& job) {
             job.spec.spark_driver.reset();
             job.spec.spark_spec = model::raw_json{"{}"};
         }},
        {"the job of another driver",
         [](auto& job) { job.spec.spark_driver = model::raw_json{R"({"uid":"uid-b"})"}; }},
        {"a spec that cannot be read",
         [](auto& job) { job.spec.spark_driver = model::raw_json{"[]"}; }},
        {"another job", [](auto& job) { job.metadata.uid = "another"; }},
    };
    for (const auto& [name, change] : rows) {
        auto job = driver_job();
        change(job);
        EXPECT_FALSE(belongs_to(app, kind, job)) << name;
    }
    auto begun = driver_job();
    begun.spec.spark_driver.reset();
    begun.status.application = model::application_ref{"v1", "Pod", "a", "uid-a", "s.7.1"};
    EXPECT_TRUE(belongs_to(app, kind, begun)) << "its run began before the spec was edited";
}

TEST(spark_driver, a_pod_that_lacks_one_mark_is_no_application) {
    const std::pair<const char*, std::function<void(model::pod&)>> rows[] = {
        {"no run", [](auto& pod) { pod.metadata.annotations.erase("esi.tu-berlin.de/run"); }},
        {"no job", [](auto& pod) { pod.metadata.annotations.erase("esi.tu-berlin.de/job-uid"); }},
        {"the label of another job",
         [](auto& pod) { pod.metadata.labels["esi.tu-berlin.de/job"] = "b"; }},
        {"an executor", [](auto& pod) { pod.metadata.labels["spark-role"] = "executor"; }},
        {"of Spark's operator",
         [](auto& pod) { pod.metadata.labels["sparkoperator.k8s.io/app-name"] = "a"; }},
    };
    for (const auto& [name, change] : rows) {
        auto pod = taken_over();
        change(pod);
        EXPECT_FALSE(application_of(pod)) << name;
    }
    EXPECT_EQ(kind.read(R"({"metadata":{"name":"a"}})").error().code, errc::not_found);
}

TEST(spark_driver, phases_are_those_of_the_pod) {
    const std::pair<std::string, phase> rows[] = {
        {"", phase::underway},           {"Pending", phase::underway}, {"Running", phase::running},
        {"Succeeded", phase::succeeded}, {"Failed", phase::failed},    {"Unknown", phase::unknown},
    };
    for (const auto& [word, expected] : rows) {
        auto pod = taken_over();
        pod.phase = word;
        EXPECT_EQ(application_of(pod)->phase, expected) << word;
    }
}

TEST(spark_driver, roles_go_by_label_and_name) {
    EXPECT_EQ(kind.role_of(driver(), "a"), pod_role::coordinator);
    EXPECT_EQ(kind.role_of(driver(), "b"), pod_role::none);
    EXPECT_EQ(kind.role_of(executor(), "a"), pod_role::slot);
    EXPECT_EQ(kind.role_of(model::pod(), "a"), pod_role::none);
    auto of_operator = executor();
    of_operator.metadata.labels["sparkoperator.k8s.io/app-name"] = "a";
    EXPECT_EQ(kind.role_of(of_operator, "a"), pod_role::none);
}

TEST(spark_driver, a_member_is_the_driver_itself_or_owned_by_it_and_no_label_makes_one) {
    const auto app = *application_of(taken_over());
    EXPECT_THAT(kind.foreign(taken_over(), app, {}), IsEmpty());
    EXPECT_THAT(kind.foreign(executor(), app, {}), IsEmpty());
    auto again = taken_over();
    again.metadata.uid = "uid-later";
    EXPECT_THAT(kind.foreign(again, app, {}), HasSubstr("not the driver"));
    auto of_nobody = executor();
    of_nobody.metadata.owner_references.clear();
    EXPECT_THAT(kind.foreign(of_nobody, app, {}), HasSubstr("not the driver a"));
    auto of_other = executor();
    of_other.metadata.owner_references = {{"v1", "Pod", "a", "uid-other", true}};
    EXPECT_EQ(kind.foreign(of_other, app, {}),
              "its owner is Pod a (uid uid-other), not the driver a");
    auto not_controlled = executor();
    not_controlled.metadata.owner_references = {{"v1", "Pod", "a", "uid-a", false}};
    EXPECT_THAT(kind.foreign(not_controlled, app, {}), HasSubstr("not the driver a"));
}

TEST(spark_driver, only_the_gated_driver_of_that_uid_can_be_taken_over) {
    EXPECT_THAT(kind.unfit_for_adoption(driver(), driver_job()), IsEmpty());
    const std::pair<const char*, std::function<void(model::pod&)>> rows[] = {
        {"another one", [](auto& pod) { pod.metadata.uid = "uid-b"; }},
        {"is no driver", [](auto& pod) { pod.metadata.labels.erase("spark-role"); }},
        {"has ended", [](auto& pod) { pod.phase = "Failed"; }},
        {"has ended", [](auto& pod) { pod.metadata.deletion_timestamp.emplace(); }},
        {"does not wait at the scheduling gate",
         [](auto& pod) { pod.scheduling_gates = {"example.com/other"}; }},
    };
    for (const auto& [words, change] : rows) {
        auto pod = driver();
        change(pod);
        EXPECT_THAT(kind.unfit_for_adoption(pod, driver_job()), HasSubstr(words));
    }
    auto job = driver_job();
    job.spec.spark_driver = model::raw_json{"{}"};
    EXPECT_THAT(kind.unfit_for_adoption(driver(), job), HasSubstr("sparkDriver.uid"));
    job.spec.spark_driver.reset();
    EXPECT_THAT(kind.unfit_for_adoption(driver(), job), HasSubstr("names no driver"));
    job = driver_job();
    job.metadata.owner_references.clear();
    EXPECT_THAT(kind.unfit_for_adoption(driver(), job), HasSubstr("is not owned by driver"));
}

TEST(spark_driver, the_patch_marks_the_driver_with_its_place_and_executors_with_theirs) {
    const auto request = request_with_coordinator(spec.text);
    const auto made = kind.build(request);
    ASSERT_TRUE(made);
    const auto& meta = made->object["metadata"];
    EXPECT_EQ(meta["labels"]["esi.tu-berlin.de/job"], "a");
    EXPECT_EQ(meta["labels"]["esi.tu-berlin.de/testbed"], "bed");
    EXPECT_EQ(meta["annotations"]["esi.tu-berlin.de/run"], "s.7.1");
    EXPECT_EQ(meta["annotations"]["esi.tu-berlin.de/slots"], "0");
    EXPECT_EQ(meta["annotations"]["esi.tu-berlin.de/job-uid"], "job-uid");
    EXPECT_FALSE(made->object.contains("spec")) << "nothing of the pod is changed but its marks";
    const auto of_executor = kind.marks(request, pod_role::slot)["metadata"];
    EXPECT_EQ(of_executor["annotations"]["esi.tu-berlin.de/slots"], "3,5");
    EXPECT_FALSE(of_executor["annotations"].contains("esi.tu-berlin.de/job-uid"));
}

TEST(spark_driver, without_a_coordinator_place_or_a_uid_nothing_is_made) {
    EXPECT_EQ(kind.build(request_for(spec.text)).error().reason, "NoCoordinatorPlace");
    for (const auto* bad : {"{}", "[]", R"({"uid":7})", R"("uid")", "null", ""}) {
        EXPECT_EQ(kind.build(request_with_coordinator(bad)).error().reason, "SpecMalformed") << bad;
        EXPECT_EQ(kind.probe({}, {bad}, false).error().reason, "SpecMalformed") << bad;
    }
    EXPECT_TRUE(kind.probe({}, spec, false));
}

TEST(spark_driver, it_says_how_it_is_switched_on) {
    EXPECT_THAT(kind.not_served(), HasSubstr("sparkDrivers.enabled=true"));
    placement_options extender;
    extender.extender = true;
    EXPECT_FALSE(driver_backend(extender).uses_gate());
    EXPECT_THAT(driver_backend(extender).not_served(), HasSubstr("--placement=gate"));
}

}  // namespace
}  // namespace esi::batchjob::spark_driver
