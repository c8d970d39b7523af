#include "neighbours/kube/controller_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/cluster_for_tests.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::cluster;

struct controlled : cluster {
    kubelet nodes{around};
    controller_manager controllers{around, &nodes};

    static json owned(json pod, std::string owner, std::string uid) {
        pod["metadata"]["ownerReferences"] = json::array({{{"apiVersion", "v1"},
                                                           {"kind", "Pod"},
                                                           {"name", owner},
                                                           {"uid", uid},
                                                           {"controller", true}}});
        return pod;
    }
    json taints(const std::string& name) const {
        const auto body = get(kinds::node, name);
        const auto* found = fields::find(body, {"spec", "taints"});
        json out = json::array();
        if (!found) return out;
        for (const auto& one : *found) {
            out.push_back(std::string(fields::text(one, {"key"})) + ":" +
                          std::string(fields::text(one, {"effect"})));
        }
        return out;
    }
};

TEST(controller_manager, what_a_gone_owner_owned_goes_too) {
    controlled c;
    const auto uid = c.create(c.pod_body("driver", "1"));
    c.create(c.owned(c.pod_body("executor", "1"), "driver", uid));
    c.create(c.pod_body("other", "1"));
    c.run(1s);
    ASSERT_TRUE(c.exists("executor"));
    c.remove("driver");
    c.run(1s);
    EXPECT_FALSE(c.exists("executor"));
    EXPECT_TRUE(c.exists("other"));
}

TEST(controller_manager, an_owner_of_that_name_with_another_uid_is_no_owner) {
    controlled c;
    c.create(c.pod_body("driver", "1"));
    c.create(
        c.owned(c.pod_body("executor", "1"), "driver", "00000000-0000-4000-8000-000000000000"));
    c.run(1s);
    EXPECT_FALSE(c.exists("executor"));
}

TEST(controller_manager, an_owner_that_went_while_it_was_down_is_noticed_after_a_restart) {
    controlled c;
    const auto uid = c.create(c.pod_body("driver", "1"));
    c.create(c.owned(c.pod_body("executor", "1"), "driver", uid));
    c.run(1s);
    c.controllers.crash();
    c.remove("driver");
    c.run(1min);
    ASSERT_TRUE(c.exists("executor"));
    c.controllers.restart();
    c.run(1s);
    EXPECT_FALSE(c.exists("executor"));
}

TEST(controller_manager, a_deleted_namespace_is_emptied_and_goes) {
    controlled c;
    c.done(c.person.create(
        kinds::name_space, {},
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "jobs"}}}}));
    auto pod = c.pod_body("a", "1");
    pod["metadata"]["namespace"] = "jobs";
    c.done(c.person.create(kinds::pod, "jobs", pod));
    json lease{{"apiVersion", "coordination.k8s.io/v1"},
               {"kind", "Lease"},
               {"metadata", {{"name", "kept"}, {"finalizers", {"example.org/wait"}}}},
               {"spec", {{"holderIdentity", "x"}}}};
    c.done(c.person.create(kinds::lease, "jobs", lease));
    c.done(c.person.remove(kinds::name_space, {}, "jobs"));
    c.run(1min);
    EXPECT_TRUE(c.get(kinds::pod, "a", "jobs").is_null());
    EXPECT_FALSE(c.get(kinds::name_space, "jobs").is_null())
        << "an object with a finalizer is left";
    c.done(c.person.patch(kinds::lease, "jobs", "kept", kube::patch_kind::merge,
                          {{"metadata", {{"finalizers", nullptr}}}}));
    c.run(30s);
    EXPECT_TRUE(c.get(kinds::name_space, "jobs").is_null());
}

TEST(controller_manager,
     a_silent_node_is_tainted_its_pods_are_evicted_and_both_end_when_it_is_back) {
    controlled c;
    c.node("n1", "4");
    auto brief = c.pod_body("brief", "1");
    brief["spec"]["nodeName"] = "n1";
    brief["spec"]["terminationGracePeriodSeconds"] = 1;
    brief["spec"]["tolerations"] = json::array({{{"key", "node.kubernetes.io/unreachable"},
                                                 {"operator", "Exists"},
                                                 {"effect", "NoExecute"},
                                                 {"tolerationSeconds", 30}}});
    auto ghost = c.pod_body("ghost", "1", "ghost");
    ghost["spec"]["nodeName"] = "n1";
    ghost["spec"]["tolerations"] = json::array({{{"operator", "Exists"}}});
    c.create(brief);
    c.create(ghost);
    c.run(2s);
    c.nodes.node_down("n1");
    c.run(55s);
    EXPECT_EQ(c.taints("n1"), json({"node.kubernetes.io/unreachable:NoExecute",
                                    "node.kubernetes.io/unreachable:NoSchedule"}));
    EXPECT_FALSE(fields::deleting(c.get(kinds::pod, "brief")));
    c.run(30s);
    EXPECT_TRUE(fields::deleting(c.get(kinds::pod, "brief")));
    EXPECT_FALSE(fields::deleting(c.get(kinds::pod, "ghost")));
    c.nodes.node_up("n1");
    c.run(5s);
    EXPECT_EQ(c.taints("n1"), json::array());
    EXPECT_FALSE(c.exists("brief"));
    EXPECT_EQ(c.phase("ghost"), "Running");
}

TEST(controller_manager, an_eviction_is_called_off_when_the_node_is_back_in_time) {
    controlled c;
    c.node("n1", "4");
    auto pod = c.pod_body("a", "1");
    pod["spec"]["nodeName"] = "n1";
    c.create(pod);
    c.run(2s);
    c.nodes.node_down("n1");
    c.run(2min);
    c.nodes.node_up("n1");
    c.run(10min);
    EXPECT_EQ(c.phase("a"), "Running");
}

TEST(controller_manager, pods_of_a_node_that_is_gone_end) {
    controlled c;
    c.node("n1", "4");
    auto pod = c.pod_body("a", "1");
    pod["spec"]["nodeName"] = "n1";
    c.create(pod);
    c.run(2s);
    c.done(c.person.remove(kinds::node, {}, "n1"));
    c.run(30s);
    EXPECT_EQ(c.phase("a"), "Running");
    c.run(40s);
    EXPECT_FALSE(c.exists("a"));
}

TEST(controller_manager, a_cordon_is_a_taint_and_other_taints_stay) {
    controlled c;
    c.node("n1", "4");
    c.done(c.person.patch(
        kinds::node, {}, "n1", kube::patch_kind::merge,
        {{"spec",
          {{"unschedulable", true}, {"taints", {{{"key", "k"}, {"effect", "NoSchedule"}}}}}}}));
    c.run(1s);
    EXPECT_EQ(c.taints("n1"),
              json({"k:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"}));
    c.done(c.person.patch(kinds::node, {}, "n1", kube::patch_kind::merge,
                          {{"spec", {{"unschedulable", nullptr}}}}));
    c.run(1s);
    EXPECT_EQ(c.taints("n1"), json({"k:NoSchedule"}));
}

}  // namespace
}  // namespace esi::simulation
