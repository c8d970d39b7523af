#include "neighbours/spark/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/small_town.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;

class spark_world : public ::testing::Test {
protected:
    void play(json script) {
        spark = std::make_unique<spark_operator>(town.around, town.nodes,
                                                 json{{"default/a", std::move(script)}});
    }
    void submit(bool gated = false) {
        json app = json::parse(R"({
          "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
          "metadata": {"name": "a", "namespace": "default"},
          "spec": {"type": "Scala", "sparkVersion": "4.0.1", "image": "apache/spark:4.0.1",
            "mainApplicationFile": "local:///a.jar",
            "driver": {"coreRequest": "100m", "memory": "512m"},
            "executor": {"instances": 2, "coreRequest": "600m", "memory": "640m",
              "memoryOverhead": "384m", "template": {"spec": {
                "containers": [{"name": "spark-kubernetes-executor"}]}}}}})");
        if (gated) {
            app["spec"]["executor"]["template"]["spec"]["schedulingGates"] =
                json::parse(R"([{"name": "esi.tu-berlin.de/slot"}])");
        }
        const auto made = town.person.create(kinds::spark_application, "default", app);
        ASSERT_TRUE(made) << made.error().text;
    }
    std::string word() {
        return std::string(fields::text(town.get(kinds::spark_application, "a"),
                                        {"status", "applicationState", "state"}));
    }
    std::string message() {
        const auto app = town.get(kinds::spark_application, "a");
        return std::string(fields::text(app, {"status", "applicationState", "errorMessage"}));
    }

    small_town town;
    std::unique_ptr<spark_operator> spark;
};

TEST_F(spark_world, an_application_runs_with_its_executors_and_completes) {
    play({{"seconds", 20}});
    submit();
    town.run_for(12s);
    EXPECT_EQ(word(), "RUNNING");
    const auto executors = town.pods("executor");
    ASSERT_EQ(executors.size(), 2u);
    EXPECT_EQ(fields::phase(executors[0]), "Running");
    const auto driver = town.get(kinds::pod, "a-driver");
    EXPECT_EQ(fields::controller(executors[0]), fields::text(driver, {"metadata", "uid"}));

    town.run_for(30s);
    const auto app = town.get(kinds::spark_application, "a");
    EXPECT_EQ(word(), "COMPLETED");
    EXPECT_EQ(app["status"]["executionAttempts"], 1);
    EXPECT_TRUE(app["status"]["terminationTime"].is_string());
    EXPECT_EQ(fields::phase(town.get(kinds::pod, "a-driver")), "Succeeded");
    EXPECT_TRUE(town.pods("executor").empty());
}

TEST_F(spark_world, work_begins_only_when_all_executors_run) {
    play({{"seconds", 5}});
    submit(true);
    town.run_for(60s);
    EXPECT_EQ(word(), "RUNNING");
    auto executors = town.pods("executor");
    ASSERT_EQ(executors.size(), 2u);
    for (const auto& pod : executors) {
        EXPECT_FALSE(fields::find(pod, {"spec", "nodeName"}));
        ASSERT_TRUE(
            town.person.patch(kinds::pod, "default", fields::text(pod, {"metadata", "name"}),
                              kube::patch_kind::merge, {{"spec", {{"schedulingGates", nullptr}}}}));
    }
    town.run_for(20s);
    EXPECT_EQ(word(), "COMPLETED");
}

TEST_F(spark_world, a_lost_executor_is_replaced_under_the_next_number) {
    play({{"seconds", 60}, {"executorsVanish", {{{"after", 5}, {"nth", 0}, {"code", 137}}}}});
    submit();
    town.run_for(30s);
    const auto executors = town.pods("executor");
    ASSERT_EQ(executors.size(), 2u);
    EXPECT_EQ(fields::label(executors[0], "spark-exec-id"), "2");
    EXPECT_EQ(fields::label(executors[1], "spark-exec-id"), "3");
    EXPECT_EQ(fields::phase(executors[1]), "Running");
}

TEST_F(spark_world, too_many_lost_executors_end_the_driver) {
    json losses = json::array();
    for (int i = 0; i < 6; ++i) losses.push_back({{"after", 5 + 5 * i}, {"code", 1}});
    play({{"seconds", 300}, {"executorsVanish", losses}});
    submit();
    town.run_for(60s);
    EXPECT_EQ(word(), "FAILED");
    EXPECT_THAT(message(), ::testing::HasSubstr("ExitCode: 11"));
}

TEST_F(spark_world, a_program_that_fails_says_so) {
    play({{"seconds", 5}, {"end", "fails"}});
    submit();
    town.run_for(30s);
    EXPECT_EQ(word(), "FAILED");
    EXPECT_EQ(message(), "driver container failed with ExitCode: 1, Reason: Error");
    EXPECT_TRUE(town.pods("executor").empty());
}

TEST_F(spark_world, executors_of_a_dead_driver_end_badly_and_stay) {
    play({{"seconds", 5}, {"end", "dies"}});
    submit();
    town.run_for(30s);
    EXPECT_EQ(word(), "FAILED");
    const auto executors = town.pods("executor");
    ASSERT_EQ(executors.size(), 2u);
    EXPECT_EQ(fields::phase(executors[0]), "Failed");
    EXPECT_EQ(fields::phase(executors[1]), "Failed");
}

TEST_F(spark_world, a_failed_submission_has_no_driver_and_no_attempt) {
    play({{"end", "submission-fails"}});
    submit();
    town.run_for(10s);
    EXPECT_EQ(word(), "FAILED");
    EXPECT_EQ(town.get(kinds::spark_application, "a")["status"]["submissionAttempts"], 1);
    EXPECT_FALSE(town.get(kinds::spark_application, "a")["status"].contains("executionAttempts"));
    EXPECT_TRUE(town.pods("driver").empty());
}

TEST_F(spark_world, a_driver_of_the_same_name_refuses_the_submission) {
    play({{"seconds", 300}});
    submit();
    town.run_for(10s);
    // The garbage collector is not here: the old driver is still ending.
    ASSERT_TRUE(town.person.remove(kinds::spark_application, "default", "a"));
    town.nodes.hang(town.pods("driver")[0]["metadata"]["uid"].get<std::string>(), true);
    submit();
    town.run_for(10s);
    EXPECT_EQ(word(), "FAILED");
    EXPECT_EQ(message(), "driver pod already exist");
}

TEST_F(spark_world, the_driver_goes_with_its_application) {
    play({{"seconds", 300}});
    submit();
    town.run_for(10s);
    ASSERT_EQ(town.pods("driver").size(), 1u);
    ASSERT_TRUE(town.person.remove(kinds::spark_application, "default", "a"));
    town.run_for(40s);
    EXPECT_TRUE(town.pods("driver").empty());
    EXPECT_TRUE(town.pods("executor").empty());
}

TEST_F(spark_world, a_vanished_driver_fails_the_application) {
    play({{"seconds", 300}});
    submit();
    town.run_for(10s);
    ASSERT_TRUE(town.person.remove(kinds::pod, "default", "a-driver", {}, 0));
    town.run_for(10s);
    EXPECT_EQ(word(), "FAILED");
    EXPECT_EQ(message(), "driver pod not found");
}

TEST_F(spark_world, an_operator_that_comes_back_goes_on_from_the_objects) {
    play({{"seconds", 30}});
    spark->crash();
    submit();
    town.run_for(10s);
    EXPECT_EQ(word(), "");
    spark->restart();
    town.run_for(10s);
    EXPECT_EQ(word(), "RUNNING");
    spark->crash();
    // The program needs no operator.
    town.run_for(60s);
    EXPECT_EQ(fields::phase(town.get(kinds::pod, "a-driver")), "Succeeded");
    EXPECT_EQ(word(), "RUNNING");
    spark->restart();
    town.run_for(1s);
    EXPECT_EQ(word(), "COMPLETED");
}

}  // namespace
}  // namespace esi::simulation
