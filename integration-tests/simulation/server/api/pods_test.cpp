// The ways of pods: admission, gates, binding, deletion with grace.
#include "server/testing.h"

namespace esi::simulation {
namespace {

using namespace esi::simulation::testing;

json at(const json& from, const char* pointer) {
    const json::json_pointer path(pointer);
    return from.contains(path) ? from[path] : json();
}

struct pods_test : ::testing::Test {
    world of;

    json make(json body) {
        auto [status, made] = of.send("POST", pods, std::move(body));
        EXPECT_EQ(status, 201) << made.dump();
        return made;
    }
    static json gated(std::string name) {
        auto out = world::pod(std::move(name));
        out["spec"]["schedulingGates"] = json::array();
        out["spec"]["schedulingGates"].push_back({{"name", "esi.tu-berlin.de/slot"}});
        return out;
    }
    std::pair<int, json> bind(const std::string& name, std::string uid = {}) {
        json body = {{"metadata", {{"name", name}}}, {"target", {{"name", "n-1"}}}};
        if (!uid.empty()) body["metadata"]["uid"] = uid;
        return of.send("POST", pods + "/" + name + "/binding", body);
    }
};

TEST_F(pods_test, priority_comes_from_the_class) {
    auto body = world::pod("p");
    body["spec"]["priorityClassName"] = "esi-ghost";
    auto [status, answer] = of.send("POST", pods, body);
    EXPECT_EQ(status, 403);
    EXPECT_EQ(answer["message"],
              "pods \"p\" is forbidden: no PriorityClass with name esi-ghost was found");

    json ghost = {{"metadata", {{"name", "esi-ghost"}}}, {"value", 100}};
    ghost["preemptionPolicy"] = "Never";
    EXPECT_EQ(of.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", ghost).first, 201);
    const auto made = make(body);
    EXPECT_EQ(at(made, "/spec/priority"), 100);
    EXPECT_EQ(at(made, "/spec/preemptionPolicy"), "Never");

    auto plain = world::pod("q");
    EXPECT_EQ(at(make(plain), "/spec/priority"), 0);
    plain["spec"]["priority"] = 5;
    plain["metadata"]["name"] = "r";
    std::tie(status, answer) = of.send("POST", pods, plain);
    EXPECT_EQ(status, 403);
    EXPECT_EQ(answer["message"],
              "pods \"r\" is forbidden: the integer value of priority (5) must not be provided in "
              "pod spec; priority admission controller computed 0 from the given PriorityClass "
              "name");
}

TEST_F(pods_test, a_pod_begins_pending_and_tolerates_short_absences_of_its_node) {
    auto body = world::pod("p");
    body["status"] = {{"phase", "Running"}, {"podIP", "1.2.3.4"}};
    body["spec"]["tolerations"] = json::array();
    body["spec"]["tolerations"].push_back(
        {{"key", "node.kubernetes.io/not-ready"}, {"operator", "Exists"}, {"effect", "NoExecute"}});
    const auto made = make(body);
    EXPECT_EQ(at(made, "/status/phase"), "Pending");
    EXPECT_EQ(at(made, "/status/podIP"), nullptr);
    EXPECT_EQ(at(made, "/status/conditions"), nullptr);
    EXPECT_EQ(at(made, "/metadata/generation"), 1);
    EXPECT_EQ(at(made, "/spec/tolerations").size(), 2u);
    EXPECT_EQ(at(made, "/spec/tolerations/1/key"), "node.kubernetes.io/unreachable");
    EXPECT_EQ(at(made, "/spec/tolerations/1/tolerationSeconds"), 300);
    EXPECT_EQ(at(made, "/spec/schedulerName"), "default-scheduler");
}

TEST_F(pods_test, default_tolerations_come_back) {
    make(world::pod("p"));
    const auto [status, answer] = of.merge(pods + "/p", {{"spec", {{"tolerations", nullptr}}}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/spec/tolerations").size(), 2u);
    EXPECT_EQ(at(answer, "/metadata/generation"), 1);
}

TEST_F(pods_test, a_gated_pod_is_not_bound) {
    const auto made = make(gated("p"));
    EXPECT_EQ(at(made, "/status/conditions/0/reason"), "SchedulingGated");
    auto [status, answer] = bind("p");
    EXPECT_EQ(status, 409);
    EXPECT_EQ(answer["message"],
              "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty "
              ".spec.schedulingGates");

    EXPECT_EQ(of.merge(pods + "/p/status", {{"status", {{"nominatedNodeName", "n-1"}}}}).first,
              200);
    const auto open = of.merge(pods + "/p", {{"spec", {{"schedulingGates", nullptr}}}}).second;
    EXPECT_EQ(at(open, "/metadata/generation"), 2);
    EXPECT_EQ(at(open, "/status/conditions/0/reason"), "SchedulingGated");
    EXPECT_EQ(at(open, "/status/nominatedNodeName"), "n-1");

    of.wall += seconds(5);
    EXPECT_EQ(bind("p", "other").first, 409);
    EXPECT_EQ(bind("p", at(made, "/metadata/uid").get<std::string>()).first, 201);
    const auto bound = of.send("GET", pods + "/p").second;
    EXPECT_EQ(at(bound, "/spec/nodeName"), "n-1");
    EXPECT_EQ(at(bound, "/metadata/generation"), 2);
    EXPECT_EQ(at(bound, "/status/nominatedNodeName"), nullptr);
    json scheduled = {{"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}};
    scheduled["lastTransitionTime"] = "2026-01-02T03:00:05Z";
    EXPECT_EQ(at(bound, "/status/conditions/0"), scheduled);

    std::tie(status, answer) = bind("p");
    EXPECT_EQ(status, 409);
    EXPECT_EQ(answer["message"],
              "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
              "node \"n-1\"");
    EXPECT_EQ(bind("z").first, 404);
}

TEST_F(pods_test, a_bound_pod_is_there_until_its_kubelet_lets_it_go) {
    make(world::pod("p"));
    bind("p");
    auto seen = of.watching(
        pods + "?watch=true&resourceVersion=" + std::to_string(of.server.objects().version()));
    auto [status, answer] = of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 10}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/metadata/deletionTimestamp"), "2026-01-02T03:00:10Z");
    EXPECT_EQ(at(answer, "/metadata/deletionGracePeriodSeconds"), 10);
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
    EXPECT_EQ(of.events(*seen), "MODIFIED p");

    // Only a shorter time is heard.
    EXPECT_EQ(of.send("DELETE", pods + "/p").first, 200);
    EXPECT_EQ(of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 20}}).first, 200);
    EXPECT_EQ(of.events(*seen), "");
    answer = of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 4}}).second;
    EXPECT_EQ(at(answer, "/metadata/deletionTimestamp"), "2026-01-02T03:00:04Z");
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
    EXPECT_EQ(of.events(*seen), "MODIFIED p");

    EXPECT_EQ(bind("p").first, 409);
    std::tie(status, answer) = of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 0}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(answer["kind"], "Pod");
    EXPECT_EQ(of.events(*seen), "MODIFIED p, DELETED p");
    EXPECT_EQ(of.send("GET", pods + "/p").first, 404);
}

TEST_F(pods_test, a_pod_without_node_or_with_an_end_goes_at_once) {
    make(world::pod("pending"));
    make(world::pod("done"));
    bind("done");
    of.merge(pods + "/done/status", {{"status", {{"phase", "Succeeded"}}}});
    EXPECT_EQ(of.send("DELETE", pods + "/pending").first, 200);
    EXPECT_EQ(of.send("DELETE", pods + "/done").first, 200);
    EXPECT_EQ(of.send("GET", pods).second["items"].size(), 0u);
}

TEST_F(pods_test, a_pod_with_a_finalizer_waits_for_it_too) {
    auto body = world::pod("p");
    body["metadata"]["finalizers"] = {"a.b/c"};
    make(body);
    const auto answer = of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 0}}).second;
    EXPECT_EQ(at(answer, "/metadata/deletionGracePeriodSeconds"), 0);
    EXPECT_EQ(of.send("GET", pods + "/p").first, 200);
    EXPECT_EQ(of.merge(pods + "/p", {{"metadata", {{"finalizers", nullptr}}}}).first, 200);
    EXPECT_EQ(of.send("GET", pods + "/p").first, 404);
}

TEST_F(pods_test, a_finalizer_that_goes_does_not_shorten_the_grace) {
    auto body = world::pod("p");
    body["metadata"]["finalizers"] = {"a.b/c"};
    make(body);
    bind("p");
    of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 10}});
    EXPECT_EQ(of.merge(pods + "/p", {{"metadata", {{"finalizers", nullptr}}}}).first, 200);
    EXPECT_EQ(of.send("GET", pods + "/p").first, 200);
    EXPECT_EQ(of.send("DELETE", pods + "/p", {{"gracePeriodSeconds", 0}}).first, 200);
    EXPECT_EQ(of.send("GET", pods + "/p").first, 404);
}

}  // namespace
}  // namespace esi::simulation
