// A model API server with virtual time and priority classes, for tests of neighbours.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/source_folder.h"
#include "neighbours/neighbour.h"

namespace esi::simulation::testing {

struct cluster {
    struct notes final : witness {
        std::vector<std::string> lines;
        static std::string name(const json& pod) {
            return std::string(fields::text(pod, {"metadata", "name"}));
        }
        void preempted(const json& victim, const json& by) override {
            lines.push_back(name(victim) + " preempted by " + name(by));
        }
        void refused(const json& pod, std::string_view reason) override {
            lines.push_back(name(pod) + " refused: " + std::string(reason));
        }
        void scheduler_started(std::string_view) override { ++starts; }
        void meddled(std::string_view what) override { lines.emplace_back(what); }
        int starts = 0;
    };

    explicit cluster(std::uint64_t seed = 1)
        : server(settings(time)),
          around{time, server, seen, told, random_source(seed)},
          person(server, "tests") {
        priority("ghost", 100, "Never");
        priority("job", 200, "Never");
        priority("extender-job", 300, "PreemptLowerPriority");
    }

    static server_settings settings(timeline& time) {
        server_settings out;
        out.now = [&time] { return time.now(); };
        out.wall = [&time] { return time.wall(); };
        out.crds = source_folder() + "/crds";
        return out;
    }

    timeline time;
    story told{time};
    notes seen;
    api_server server;
    surroundings around;
    desk person;

    void run(steady_time::duration passed) {
        const auto end = time.now() + passed;
        while (true) {
            while (auto what = time.take()) what();
            const auto next = time.next();
            if (!next || *next > end) break;
            time.advance_to(*next);
        }
        time.advance_to(end);
    }

    // What tests make. A request that is refused fails the test.

    json done(result<json> answer) {
        if (answer) return *answer;
        ADD_FAILURE() << answer.error().text;
        return {};
    }
    void priority(std::string name, int value, std::string policy) {
        done(person.create(kinds::priority_class, {},
                           {{"apiVersion", "scheduling.k8s.io/v1"},
                            {"kind", "PriorityClass"},
                            {"metadata", {{"name", name}}},
                            {"value", value},
                            {"preemptionPolicy", policy}}));
    }
    void node(std::string name, std::string cpu, std::string pods = "110") {
        done(person.create(
            kinds::node, {},
            {{"apiVersion", "v1"},
             {"kind", "Node"},
             {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
             {"status",
              {{"allocatable", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", pods}}},
               {"capacity", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", pods}}},
               {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}}));
    }
    static json pod_body(std::string name, std::string cpu, std::string priority_class = {}) {
        json out = {
            {"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec",
             {{"restartPolicy", "Never"},
              {"terminationGracePeriodSeconds", 0},
              {"containers",
               {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}};
        if (!priority_class.empty()) out["spec"]["priorityClassName"] = priority_class;
        return out;
    }
    static json gated(json pod) {
        pod["spec"]["schedulingGates"] = json::array({{{"name", "esi.tu-berlin.de/slot"}}});
        return pod;
    }
    /// Required node affinity by metadata.name, as ghosts have it.
    static json pinned(json pod, std::string node) {
        json term;
        term["matchFields"] = json::array(
            {{{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({node})}}});
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
           ["nodeSelectorTerms"] = json::array({term});
        return pod;
    }
    /// Its uid.
    std::string create(json pod) {
        auto made = done(person.create(kinds::pod, "default", std::move(pod)));
        return std::string(fields::text(made, {"metadata", "uid"}));
    }
    void remove(const std::string& pod, int grace = 0) {
        done(person.remove(kinds::pod, "default", pod, {}, grace));
    }
    void nominate(const std::string& pod, json node) {
        done(person.patch(kinds::pod, "default", pod, kube::patch_kind::merge,
                          {{"status", {{"nominatedNodeName", std::move(node)}}}}, "status"));
    }
    void ungate(const std::string& pod) {
        done(person.patch(kinds::pod, "default", pod, kube::patch_kind::merge,
                          {{"spec", {{"schedulingGates", nullptr}}}}));
    }

    // What tests look at.

    json get(const kube::resource_type& type, const std::string& name,
             const std::string& ns = "default") const {
        const auto found = server.objects().find(type, type.namespaced ? ns : "", name);
        return found ? found->body() : json();
    }
    bool exists(const std::string& pod) const { return !get(kinds::pod, pod).is_null(); }
    /// Where the pod is bound; empty: nowhere.
    std::string at(const std::string& pod) const {
        return std::string(fields::text(get(kinds::pod, pod), {"spec", "nodeName"}));
    }
    std::string phase(const std::string& pod) const {
        return std::string(fields::phase(get(kinds::pod, pod)));
    }
    std::string nomination(const std::string& pod) const {
        return std::string(fields::text(get(kinds::pod, pod), {"status", "nominatedNodeName"}));
    }
    /// Message of the pod's condition.
    std::string says(const std::string& pod, std::string_view type = "PodScheduled") const {
        const auto body = get(kinds::pod, pod);
        if (const auto* list = fields::find(body, {"status", "conditions"})) {
            for (const auto& one : *list) {
                if (fields::text(one, {"type"}) == type) {
                    return std::string(fields::text(one, {"message"}));
                }
            }
        }
        return {};
    }
};

}  // namespace esi::simulation::testing
