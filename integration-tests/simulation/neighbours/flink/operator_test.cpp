#include "neighbours/flink/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/small_town.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;

class flink_world : public ::testing::Test {
protected:
    flink_world() : deployments(town.around) { town.server.install("flinkdeployments"); }

    void play(json script) {
        flink = std::make_unique<flink_operator>(town.around, town.nodes, deployments,
                                                 json{{"default/a", std::move(script)}});
        flink->set_waits_for_shutdown(false);
        town.server.objects().on_change([this](const change& what) {
            if (what.type->plural != kinds::flink_deployment.plural) return;
            const auto now = words();
            if (story.empty() || story.back() != now) story.push_back(now);
        });
    }
    void submit(bool gated = false, const char* restarts = "none") {
        json app = json::parse(R"({
          "apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment",
          "metadata": {"name": "a", "namespace": "default"},
          "spec": {"image": "flink:1.20", "flinkVersion": "v1_20", "mode": "standalone",
            "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "1"},
            "jobManager": {"replicas": 1, "resource": {"memory": "1024m", "cpu": 0.5}},
            "taskManager": {"replicas": 2, "resource": {"memory": "1024m", "cpu": 0.6}},
            "job": {"jarURI": "local:///a.jar", "parallelism": 2, "upgradeMode": "stateless"}}})");
        app["spec"]["flinkConfiguration"]["restart-strategy.type"] = restarts;
        if (gated) {
            app["spec"]["taskManager"]["podTemplate"]["spec"]["schedulingGates"] =
                json::parse(R"([{"name": "esi.tu-berlin.de/slot"}])");
        }
        const auto made = town.person.create(kinds::flink_deployment, "default", app);
        ASSERT_TRUE(made) << made.error().text;
    }
    json status() {
        const auto app = town.get(kinds::flink_deployment, "a");
        const auto* at = fields::find(app, {"status"});
        return at ? *at : json::object();
    }
    /// "STABLE/READY/RUNNING"
    std::string words() {
        const auto now = status();
        return fmt::format("{}/{}/{}", fields::text(now, {"lifecycleState"}),
                           fields::text(now, {"jobManagerDeploymentStatus"}),
                           fields::text(now, {"jobStatus", "state"}));
    }
    std::string error() {
        const auto text = status().value("error", "{}");
        return json::parse(text).value("message", "");
    }
    void open_the_gates() {
        for (const auto& pod : town.pods("taskmanager")) {
            ASSERT_TRUE(town.person.patch(
                kinds::pod, "default", fields::text(pod, {"metadata", "name"}),
                kube::patch_kind::merge, {{"spec", {{"schedulingGates", nullptr}}}}));
        }
    }
    std::string one_task_manager(std::string_view part) {
        return std::string(fields::text(town.pods("taskmanager")[0], {"metadata", part}));
    }

    small_town town;
    deployment_controller deployments;
    std::unique_ptr<flink_operator> flink;
    std::vector<std::string> story;
};

TEST_F(flink_world, a_job_goes_through_the_words_of_the_real_operator) {
    play({{"seconds", 20}});
    submit(true);
    town.run_for(20s);
    EXPECT_EQ(words(), "DEPLOYED/READY/CREATED");
    ASSERT_EQ(town.pods("taskmanager").size(), 2u);
    EXPECT_FALSE(fields::find(town.pods("taskmanager")[0], {"spec", "nodeName"}));
    open_the_gates();
    town.run_for(60s);
    EXPECT_THAT(story, ::testing::ElementsAre(
                           "//", "UPGRADING/MISSING/", "DEPLOYED/DEPLOYING/RECONCILING",
                           "DEPLOYED/DEPLOYED_NOT_READY/RECONCILING", "DEPLOYED/READY/CREATED",
                           "STABLE/READY/RUNNING", "STABLE/READY/FINISHED"));
    const auto now = status();
    EXPECT_EQ(now["jobStatus"]["jobId"].get<std::string>().size(), 32u);
    EXPECT_EQ(now["reconciliationStatus"]["state"], "DEPLOYED");
    EXPECT_EQ(now["taskManager"]["labelSelector"], "component=taskmanager,app=a");
    // The cluster stays until the object goes.
    EXPECT_EQ(town.pods("taskmanager").size(), 2u);
    EXPECT_EQ(fields::phase(town.pods("jobmanager")[0]), "Running");
}

TEST_F(flink_world, a_cluster_goes_with_its_object_and_not_after_it) {
    play({{"seconds", 300}});
    flink->set_waits_for_shutdown(true);
    submit();
    town.run_for(30s);
    ASSERT_EQ(words(), "STABLE/READY/RUNNING");
    const auto uid = one_task_manager("uid");
    town.nodes.hang(uid, true);
    ASSERT_TRUE(town.person.remove(kinds::flink_deployment, "default", "a"));
    town.run_for(30s);
    EXPECT_EQ(town.pods("taskmanager").size(), 1u);
    EXPECT_FALSE(town.get(kinds::flink_deployment, "a").is_null());
    town.nodes.hang(uid, false);
    town.run_for(5s);
    EXPECT_TRUE(town.pods("taskmanager").empty());
    EXPECT_TRUE(town.pods("jobmanager").empty());
    EXPECT_TRUE(town.get(kinds::flink_deployment, "a").is_null());
}

TEST_F(flink_world, an_older_operator_lets_the_object_go_before_its_pods) {
    play({{"seconds", 300}});
    submit();
    town.run_for(30s);
    town.nodes.hang(one_task_manager("uid"), true);
    ASSERT_TRUE(town.person.remove(kinds::flink_deployment, "default", "a"));
    town.run_for(10s);
    EXPECT_TRUE(town.get(kinds::flink_deployment, "a").is_null());
    EXPECT_EQ(town.pods("taskmanager").size(), 1u);
    // Its name is taken until then.
    submit();
    town.run_for(20s);
    EXPECT_EQ(words(), "UPGRADING/MISSING/");
    EXPECT_THAT(error(), ::testing::HasSubstr("already exists"));
}

TEST_F(flink_world, without_restarts_a_lost_task_manager_fails_the_job) {
    play({{"seconds", 300}});
    submit();
    town.run_for(30s);
    ASSERT_EQ(words(), "STABLE/READY/RUNNING");
    const auto name = one_task_manager("name");
    ASSERT_TRUE(town.person.remove(kinds::pod, "default", name));
    town.run_for(10s);
    EXPECT_EQ(words(), "FAILED/READY/FAILED");
    EXPECT_THAT(error(), ::testing::HasSubstr("NoRestartBackoffTimeStrategy"));
    const auto workers = town.pods("taskmanager");
    ASSERT_EQ(workers.size(), 2u);
    for (const auto& pod : workers) EXPECT_NE(pod["metadata"]["name"], name);
}

TEST_F(flink_world, with_restarts_a_job_waits_for_the_replacement_and_begins_anew) {
    play({{"seconds", 20}, {"executorsVanish", {{{"after", 10}, {"nth", 0}}}}});
    submit(false, "fixed-delay");
    town.run_for(120s);
    EXPECT_EQ(words(), "STABLE/READY/FINISHED");
    EXPECT_EQ(town.pods("taskmanager").size(), 2u);
}

TEST_F(flink_world, a_task_manager_whose_container_ends_comes_back_in_its_pod) {
    play({{"seconds", 300}, {"executorsVanish", {{{"after", 5}, {"nth", 0}, {"code", 137}}}}});
    submit();
    town.run_for(20s);
    const auto before = town.pods("taskmanager");
    town.run_for(20s);
    EXPECT_EQ(words(), "FAILED/READY/FAILED");
    const auto after = town.pods("taskmanager");
    ASSERT_EQ(after.size(), 2u);
    EXPECT_EQ(after[0]["metadata"]["uid"], before[0]["metadata"]["uid"]);
    EXPECT_EQ(after[0]["status"]["containerStatuses"][0]["restartCount"], 1);
}

TEST_F(flink_world, a_job_without_slots_for_five_minutes_fails) {
    play({{"seconds", 5}});
    submit(true);
    town.run_for(4min);
    EXPECT_EQ(words(), "DEPLOYED/READY/CREATED");
    town.run_for(2min);
    EXPECT_EQ(words(), "FAILED/READY/FAILED");
    EXPECT_THAT(error(), ::testing::HasSubstr("NoResourceAvailableException"));
}

TEST_F(flink_world, a_program_that_fails_says_so) {
    play({{"seconds", 5}, {"end", "fails"}});
    submit();
    town.run_for(40s);
    EXPECT_EQ(words(), "FAILED/READY/FAILED");
    EXPECT_THAT(error(), ::testing::HasSubstr("the program failed"));
}

TEST_F(flink_world, a_job_manager_that_dies_again_and_again_is_an_error) {
    play({{"seconds", 5}, {"end", "dies"}});
    submit();
    town.run_for(45s);
    EXPECT_EQ(words(), "STABLE/ERROR/RECONCILING");
    EXPECT_THAT(error(), ::testing::HasSubstr("CrashLoopBackOff"));
}

TEST_F(flink_world, a_cancelled_job_is_told_as_such) {
    play({{"seconds", 300}});
    submit();
    town.run_for(30s);
    EXPECT_TRUE(flink->cancel("default", "a"));
    town.run_for(10s);
    EXPECT_EQ(words(), "STABLE/READY/CANCELED");
    EXPECT_FALSE(flink->cancel("default", "a"));
}

TEST_F(flink_world, what_the_validator_refuses_is_never_deployed) {
    play({{"end", "submission-fails"}});
    submit();
    town.run_for(20s);
    EXPECT_EQ(words(), "FAILED/MISSING/");
    EXPECT_EQ(error(), "Jar URI scheme is not supported");
    EXPECT_TRUE(town.pods("jobmanager").empty());
    ASSERT_TRUE(town.person.remove(kinds::flink_deployment, "default", "a"));
    town.run_for(5s);
    EXPECT_TRUE(town.get(kinds::flink_deployment, "a").is_null());
}

TEST_F(flink_world, an_operator_that_comes_back_goes_on_from_the_objects) {
    play({{"seconds", 30}});
    flink->crash();
    submit();
    town.run_for(10s);
    EXPECT_EQ(words(), "//");
    flink->restart();
    // In the middle of its first deployment.
    while (words() != "UPGRADING/MISSING/") town.run_for(10ms);
    flink->crash();
    town.run_for(5s);
    EXPECT_TRUE(town.pods("jobmanager").empty());
    flink->restart();
    town.run_for(20s);
    EXPECT_EQ(words(), "STABLE/READY/RUNNING");
    flink->crash();
    // The job needs no operator.
    town.run_for(60s);
    EXPECT_EQ(words(), "STABLE/READY/RUNNING");
    flink->restart();
    town.run_for(1s);
    EXPECT_EQ(words(), "STABLE/READY/FINISHED");
    ASSERT_TRUE(town.person.remove(kinds::flink_deployment, "default", "a"));
    town.run_for(5ms);
    flink->crash();
    town.run_for(20s);
    EXPECT_FALSE(town.get(kinds::flink_deployment, "a").is_null());
    flink->restart();
    town.run_for(20s);
    EXPECT_TRUE(town.get(kinds::flink_deployment, "a").is_null());
    EXPECT_TRUE(town.pods("taskmanager").empty());
}

}  // namespace
}  // namespace esi::simulation
