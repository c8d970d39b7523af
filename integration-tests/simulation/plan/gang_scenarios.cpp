// The plans of gangs and claims of the fixed list: each comes to every write that there is of them.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "plan/cast.h"
#include "plan/gangs.h"

namespace esi::simulation {

namespace {

constexpr const char* esi_version = "esi.tu-berlin.de/v1alpha1";
constexpr const char* gangs_label = "esi.tu-berlin.de/gangs";
constexpr const char* suspend_key = "esi.tu-berlin.de/suspend";
constexpr const char* group_label = "scheduling.x-k8s.io/pod-group";

/// Nodes of two CPUs, and what ESI's chart makes.
class small_cluster {
public:
    small_cluster(std::string scenario, int nodes) {
        plan_.seed = 1;
        plan_.scenario = std::move(scenario);
        plan_.gangs = true;
        plan_.patience = std::chrono::minutes(60);
        add(0, "patch",
            {{"kind", "namespaces"},
             {"name", "default"},
             {"patch", {{"metadata", {{"labels", {{gangs_label, "enabled"}}}}}}}});
        for (const auto& [name, value] :
             {std::pair("esi-ghost", 1000000), std::pair("esi-claim-0", 0)}) {
            create(0, priority_class(name, value));
        }
        for (int i = 0; i < nodes; ++i) node(fmt::format("worker-{}", i));
    }

    void add(int at, std::string what, json with) {
        plan_.workload.push_back({milliseconds(at), std::move(what), std::move(with)});
    }

    void claim(int at, const std::string& name, json shapes) {
        create(at,
               {{"apiVersion", esi_version},
                {"kind", "Testbed"},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {"spec",
                 {{"claim",
                   {{"shapes", std::move(shapes)}, {"packing", "Pack"}, {"timeoutSeconds", 5}}}}}});
    }

    /// With its group.
    void gang(int at, const std::string& name, int members, int milli, int seconds) {
        create(at, {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
                    {"kind", "PodGroup"},
                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                    {"spec", {{"minMember", members}}}});
        add(at, "members",
            {{"name", name},
             {"count", members},
             {"template",
              {{"metadata",
                {{"labels", {{group_label, name}}},
                 {"annotations", {{"example.com/runs-ms", std::to_string(seconds * 1000)}}}}},
               {"spec",
                {{"restartPolicy", "Never"},
                 {"terminationGracePeriodSeconds", 1},
                 {"containers", json::array({{{"name", "main"},
                                              {"image", "example/member:1"},
                                              {"resources",
                                               {{"requests",
                                                 {{"cpu", fmt::format("{}m", milli)},
                                                  {"memory", "64Mi"}}}}}}})}}}}}});
    }

    void suspend(int at, const std::string& gang, json value) {
        add(at, "patch",
            {{"kind", "podgroups.scheduling.x-k8s.io"},
             {"name", gang},
             {"patch", {{"metadata", {{"annotations", {{suspend_key, std::move(value)}}}}}}}});
    }

    plan take() { return std::move(plan_); }

private:
    void create(int at, json object) { add(at, "create", {{"object", std::move(object)}}); }

    void node(const std::string& name) {
        const json room{{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "110"}};
        create(0,
               {{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
                {"status",
                 {{"capacity", room},
                  {"allocatable", room},
                  {"conditions",
                   json::array(
                       {{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}}})}}}});
    }

    plan plan_;
};

json shape(const char* name, const char* role, int count, int milli) {
    return {{"name", name},
            {"role", role},
            {"count", count},
            {"resources", {{"cpu", fmt::format("{}m", milli)}, {"memory", "200Mi"}}}};
}

}  // namespace

std::vector<plan> gang_scenarios() {
    const auto driver = shape("driver", "coordinator", 1, 500);
    std::vector<plan> out;
    {
        // A node of its places is lost to it: they are given back, and others are found.
        small_cluster all("claim", 3);
        all.claim(2000, "claimed", json::array({driver, shape("executors", "worker", 3, 1000)}));
        all.add(6000, "node-cordon", {{"name", "worker-1"}});
        out.push_back(all.take());
    }
    {
        // The second has room when the first is deleted.
        small_cluster all("claims in turn", 2);
        all.claim(2000, "first", json::array({driver, shape("executors", "worker", 2, 1000)}));
        all.claim(4000, "second", json::array({shape("executors", "worker", 3, 1000)}));
        all.add(60000, "delete", {{"kind", "testbeds"}, {"name", "first"}});
        out.push_back(all.take());
    }
    {
        // The second waits for room that the first has; what is kept for it is given back while it
        // is suspended.
        small_cluster all("gangs", 2);
        all.gang(2000, "first", 2, 1500, 150);
        all.gang(4000, "second", 3, 900, 20);
        all.suspend(4000 + static_cast<int>(gang_reserve_after.count()) * 1000 + 20000, "second",
                    "true");
        all.suspend(4000 + static_cast<int>(gang_reserve_after.count()) * 1000 + 40000, "second",
                    nullptr);
        out.push_back(all.take());
    }
    return out;
}

}  // namespace esi::simulation
