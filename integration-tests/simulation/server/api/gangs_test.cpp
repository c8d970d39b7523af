// What an API server has where gangs are started: PodGroups of four groups, and the gate.
#include "server/testing.h"

namespace esi::simulation {
namespace {

using namespace esi::simulation::testing;

struct gangs_test : ::testing::Test {
    world of{true, true};

    void SetUp() override {
        EXPECT_EQ(of.merge("/api/v1/namespaces/default",
                           {{"metadata", {{"labels", {{"esi.tu-berlin.de/gangs", "enabled"}}}}}})
                      .first,
                  200);
    }
    static json member(std::string name) {
        auto out = world::pod(std::move(name));
        out["metadata"]["annotations"] = {{"scheduling.k8s.io/group-name", "g"}};
        return out;
    }
    json make(json body) {
        auto [status, made] = of.send("POST", pods, std::move(body));
        EXPECT_EQ(status, 201) << made.dump();
        return made;
    }
    static std::string gates(const json& pod) {
        return pod["spec"].value("schedulingGates", json::array()).dump();
    }
};

constexpr const char* one_gate = R"([{"name":"esi.tu-berlin.de/gang"}])";

TEST_F(gangs_test, a_pod_that_names_a_group_gets_the_gate_once) {
    auto made = make(member("a"));
    EXPECT_EQ(gates(made), one_gate);
    EXPECT_EQ(made["metadata"]["labels"]["esi.tu-berlin.de/gang"], "true");
    auto with_gate = member("b");
    with_gate["spec"]["schedulingGates"] = json::parse(one_gate);
    EXPECT_EQ(gates(make(with_gate)), one_gate);
}

TEST_F(gangs_test, others_stay_as_they_are) {
    EXPECT_EQ(gates(make(world::pod("a"))), "[]");
    auto bound = member("b");
    bound["spec"]["nodeName"] = "n";
    EXPECT_EQ(gates(make(bound)), "[]");
    of.merge("/api/v1/namespaces/default",
             {{"metadata", {{"labels", {{"esi.tu-berlin.de/gangs", nullptr}}}}}});
    EXPECT_EQ(gates(make(member("c"))), "[]");
}

TEST_F(gangs_test, the_scheduler_of_the_project_becomes_the_default_one) {
    auto body = member("a");
    body["spec"]["schedulerName"] = "kube-batch";
    EXPECT_EQ(make(body)["spec"]["schedulerName"], "default-scheduler");
    body["metadata"]["name"] = "b";
    body["spec"]["schedulerName"] = "another";
    EXPECT_EQ(make(body)["spec"]["schedulerName"], "another");
}

TEST_F(gangs_test, four_kinds_of_groups_live_beside_each_other) {
    for (const char* version :
         {"batch.scheduler.tencent.com/v1", "scheduling.sigs.dev/v1alpha2",
          "scheduling.incubator.k8s.io/v1alpha1", "scheduling.x-k8s.io/v1alpha1"}) {
        const auto path = std::string("/apis/") + version + "/namespaces/default/podgroups";
        const auto [status, made] = of.send("POST", path,
                                            {{"apiVersion", version},
                                             {"kind", "PodGroup"},
                                             {"metadata", {{"name", "g"}}},
                                             {"spec", {{"minMember", 2}}}});
        EXPECT_EQ(status, 201) << made.dump();
        EXPECT_EQ(of.send("GET", path).second["items"].size(), 1U);
    }
}

TEST_F(gangs_test, a_kind_without_status_has_it_in_the_object) {
    const auto names = [&](const char* version) {
        std::string out;
        const auto [status, list] = of.send("GET", std::string("/apis/") + version);
        EXPECT_EQ(status, 200);
        for (const auto& one : list["resources"]) out += one["name"].get<std::string>() + " ";
        return out;
    };
    EXPECT_EQ(names("scheduling.x-k8s.io/v1alpha1"), "podgroups podgroups/status ");
    EXPECT_EQ(names("scheduling.incubator.k8s.io/v1alpha1"), "podgroups ");
    of.server.uninstall("podgroups.scheduling.sigs.dev");
    EXPECT_EQ(of.send("GET", "/apis/scheduling.sigs.dev/v1alpha2").first, 404);
}

TEST(groups, are_not_served_where_nobody_wants_gangs) {
    world of;
    EXPECT_EQ(of.send("GET", "/apis/scheduling.x-k8s.io/v1alpha1/podgroups").first, 404);
}

}  // namespace
}  // namespace esi::simulation
