#include "neighbours/kube/deployments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "neighbours/small_town.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;

class workloads : public ::testing::Test {
protected:
    workloads() : controllers(town.around) {
        town.server.install("flinkdeployments");
        owner_uid = fields::text(
            *town.person.create(kinds::flink_deployment, "default",
                                {{"apiVersion", "flink.apache.org/v1beta1"},
                                 {"kind", "FlinkDeployment"},
                                 {"metadata", {{"name", "a"}, {"namespace", "default"}}},
                                 {"spec", json::object()}}),
            {"metadata", "uid"});
    }
    bool deploy(int replicas) {
        json pod = town.pod_body("x", "1");
        pod["metadata"] = {{"labels", {{"component", "server"}}}};
        pod["spec"]["restartPolicy"] = "Always";
        pod["spec"]["terminationGracePeriodSeconds"] = 1;
        return controllers.create(
            {"default", "web", &kinds::flink_deployment, "a", owner_uid, std::move(pod), replicas});
    }
    std::set<std::string> names() {
        std::set<std::string> out;
        for (const auto& pod : town.pods("server")) {
            out.insert(pod["metadata"]["name"].get<std::string>());
        }
        return out;
    }

    small_town town;
    deployment_controller controllers;
    std::string owner_uid;
};

TEST_F(workloads, a_deployment_has_its_pods_by_way_of_a_replica_set) {
    ASSERT_TRUE(deploy(2));
    EXPECT_FALSE(controllers.available("default", "web"));
    town.run_for(5s);
    const auto pods = town.pods("server");
    ASSERT_EQ(pods.size(), 2u);
    EXPECT_TRUE(controllers.available("default", "web"));
    const auto& metadata = pods[0]["metadata"];
    EXPECT_EQ(metadata["ownerReferences"][0]["kind"], "ReplicaSet");
    const auto set = metadata["ownerReferences"][0]["name"].get<std::string>();
    EXPECT_EQ(set, "web-" + metadata["labels"]["pod-template-hash"].get<std::string>());
    EXPECT_THAT(metadata["name"].get<std::string>(), ::testing::StartsWith(set + "-"));
    EXPECT_FALSE(deploy(1));
}

TEST_F(workloads, a_pod_that_goes_is_replaced_at_once_under_a_new_name) {
    ASSERT_TRUE(deploy(2));
    town.run_for(5s);
    const auto before = names();
    town.nodes.hang(fields::text(town.get(kinds::pod, *before.begin()), {"metadata", "uid"}), true);
    ASSERT_TRUE(town.person.remove(kinds::pod, "default", *before.begin()));
    town.run_for(5s);
    // The old one hangs: it is still there.
    EXPECT_EQ(names().size(), 3u);
    EXPECT_TRUE(controllers.available("default", "web"));
}

TEST_F(workloads, what_is_removed_stays_until_its_last_pod_is_gone) {
    ASSERT_TRUE(deploy(2));
    town.run_for(5s);
    const std::string uid(fields::text(town.pods("server")[0], {"metadata", "uid"}));
    town.nodes.hang(uid, true);
    controllers.remove("default", "web");
    town.run_for(10s);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_TRUE(controllers.exists("default", "web"));
    EXPECT_FALSE(deploy(1));
    town.nodes.hang(uid, false);
    town.run_for(5s);
    EXPECT_FALSE(controllers.exists("default", "web"));
    EXPECT_TRUE(names().empty());
}

TEST_F(workloads, it_goes_with_its_owner) {
    ASSERT_TRUE(deploy(2));
    town.run_for(5s);
    ASSERT_TRUE(town.person.remove(kinds::flink_deployment, "default", "a"));
    town.run_for(5s);
    EXPECT_FALSE(controllers.exists("default", "web"));
    EXPECT_TRUE(names().empty());
}

TEST_F(workloads, controllers_that_are_down_do_nothing_and_catch_up) {
    controllers.crash();
    ASSERT_TRUE(deploy(2));
    town.run_for(5s);
    EXPECT_TRUE(names().empty());
    controllers.restart();
    town.run_for(5s);
    EXPECT_EQ(names().size(), 2u);
}

}  // namespace
}  // namespace esi::simulation
