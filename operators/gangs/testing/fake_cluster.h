// A few pods, nodes and groups behind a transport, for this folder's tests: reads, guarded merge
// patches and deletions as the API server takes them, and each change told to caches, as their
// watches would. No scheduler: the test binds.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gangs/gang_caches.h"
#include "kube/percent.h"
#include "kube/testing/scripted_transport.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::gangs::tests {

using nlohmann::json;

class fake_cluster {
public:
    fake_cluster(kube::scripted_transport& wire) {
        wire.respond = [this](const kube::request& asked) { return answer(asked); };
    }

    /// Sends all objects and, from now on, each change there.
    void feed(gang_caches& groups) {
        groups_.emplace(groups.fill());
        for (const auto& [path, object] : objects_) tell(path, object);
    }

    json& add_pod(const std::string& name, const json& labels, const std::string& cpu = "1") {
        json pod = {
            {"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"namespace", "lab"}, {"labels", labels}}},
            {"spec",
             {{"schedulerName", "default-scheduler"},
              {"schedulingGates", {{{"name", model::names::gang}}}},
              {"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
            {"status", {{"phase", "Pending"}}}};
        return put("/api/v1/namespaces/lab/pods/" + name, std::move(pod));
    }
    void add_node(const std::string& name, const std::string& cpu) {
        put("/api/v1/nodes/" + name,
            {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
             {"status",
              {{"allocatable", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}}},
               {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    void add_namespace(const std::string& name, bool enabled) {
        json labels = json::object();
        if (enabled) labels[std::string(model::names::gangs)] = "enabled";
        put("/api/v1/namespaces/" + name, {{"metadata", {{"name", name}, {"labels", labels}}}});
    }
    static std::string group_path(const std::string& name) {
        return "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/lab/podgroups/" + name;
    }
    void add_group(const std::string& name, int minimum) {
        put(group_path(name), {{"metadata", {{"name", name}, {"namespace", "lab"}}},
                               {"spec", {{"minMember", minimum}}}});
    }
    json& pod(const std::string& name) {
        return objects_.at("/api/v1/namespaces/lab/pods/" + name);
    }
    bool has_pod(const std::string& name) const {
        return objects_.contains("/api/v1/namespaces/lab/pods/" + name);
    }
    /// After a change that the test made itself.
    void changed(json& object) {
        for (auto& [path, each] : objects_) {
            if (&each == &object) put(path, json(each));
        }
    }
    /// Binds the pod to the node that it is pinned to, as kube-scheduler does.
    void bind(const std::string& name) {
        auto& object = pod(name);
        ASSERT_FALSE(object["spec"].contains("schedulingGates")) << name;
        object["spec"]["nodeName"] =
            object["metadata"]["annotations"][std::string(model::names::gang_node)];
        object["status"]["phase"] = "Running";
        changed(object);
    }
    std::string gate_of(const std::string& name) {
        const auto gates = pod(name)["spec"].value("schedulingGates", json::array());
        return gates.empty() ? "" : gates[0]["name"].get<std::string>();
    }
    std::string nomination_of(const std::string& name) {
        return pod(name)["status"].value("nominatedNodeName", "");
    }

    /// The content of a cache of pods and nodes.
    kube::store<model::pod> pods;
    kube::store<model::node> nodes;
    /// Writes as "PATCH NAME[/status]", "DELETE NAME".
    std::vector<std::string> writes;
    /// Group versions whose objects have a status sub-resource.
    std::set<std::string> with_status{"scheduling.x-k8s.io/v1alpha1"};
    /// Called before each answer.
    std::function<void(const kube::request&)> before = [](const kube::request&) {};
    /// Answers to writes that the watch does not show yet.
    bool silent = false;

private:
    static kube::response reply(int status, const json& body) {
        kube::response out;
        out.status = status;
        out.body = body.dump();
        return out;
    }
    static kube::response refuse(int status, const std::string& reason) {
        return reply(status, {{"kind", "Status"},
                              {"status", "Failure"},
                              {"code", status},
                              {"reason", reason},
                              {"message", reason}});
    }

    json& put(const std::string& path, json object) {
        auto& meta = object["metadata"];
        if (!meta.contains("uid")) meta["uid"] = "uid-" + meta["name"].get<std::string>();
        if (!meta.contains("creationTimestamp")) meta["creationTimestamp"] = "2026-01-02T03:04:05Z";
        meta["resourceVersion"] = std::to_string(++version_);
        auto& kept = objects_[path] = std::move(object);
        if (!silent) tell(path, kept);
        return kept;
    }
    template <class T>
    static void apply(kube::store<T>& to, const json& object) {
        const auto text = object.dump();
        auto decoded = model::decode<T>(text, "object");
        ASSERT_TRUE(decoded) << decoded.error().text;
        const auto version = decoded->metadata.resource_version;
        to.apply(std::move(*decoded));
        to.set_version(version, "");
    }
    void tell(const std::string& path, const json& object) {
        if (!groups_) return;
        if (path.contains("/pods/")) {
            apply(pods, object);
        } else if (path.contains("/nodes/")) {
            apply(nodes, object);
        } else if (path.contains("/podgroups/")) {
            for (std::size_t i = 0; i < groups_->groups.size(); ++i) {
                if (path.contains(group_kinds()[i].type.api_version())) {
                    apply(*groups_->groups[i], object);
                }
            }
        } else {
            apply(groups_->namespaces, object);
        }
    }

    result<kube::response> answer(const kube::request& asked) {
        before(asked);
        auto target = asked.target;
        std::string query;
        if (const auto at = target.find('?'); at != std::string::npos) {
            query = target.substr(at + 1);
            target.resize(at);
        }
        if (target == "/api/v1/pods") {
            json items = json::array();
            for (const auto& [path, object] : objects_) {
                const auto node = object.contains("spec")
                                      ? object["spec"].value("nodeName", std::string())
                                      : std::string();
                if (path.contains("/pods/") && !node.empty() && query.ends_with("%3D" + node)) {
                    items.push_back(object);
                }
            }
            return reply(200, {{"metadata", {{"resourceVersion", std::to_string(version_)}}},
                               {"items", items}});
        }
        std::string sub;
        if (target.ends_with("/status")) {
            sub = "status";
            target.resize(target.size() - 7);
        }
        if (asked.method == "GET" && target.starts_with("/apis/") &&
            std::ranges::count(target, '/') == 3) {
            json names = {{{"name", "podgroups"}}};
            if (with_status.contains(target.substr(6))) {
                names.push_back({{"name", "podgroups/status"}});
            }
            return reply(200, {{"resources", names}});
        }
        const auto found = objects_.find(target);
        if (found == objects_.end()) return refuse(404, "NotFound");
        if (asked.method == "GET") return reply(200, found->second);
        const auto name = found->second["metadata"]["name"].get<std::string>();
        writes.push_back(asked.method + " " + name + (sub.empty() ? "" : "/" + sub));
        auto body = json::parse(asked.body.empty() ? "{}" : asked.body);
        const auto guard = asked.method == "DELETE" ? body.value("preconditions", json::object())
                                                    : body.value("metadata", json::object());
        for (const auto* key : {"uid", "resourceVersion"}) {
            if (guard.contains(key) && guard[key] != found->second["metadata"][key]) {
                return refuse(409, "Conflict");
            }
        }
        if (asked.method == "DELETE") {
            const auto gone = found->second;
            objects_.erase(found);
            pods.erase({"lab", name});
            return reply(200, gone);
        }
        // A patch of a pod's metadata may also change annotations.
        if (!sub.empty()) {
            auto notes = body.value("/metadata/annotations"_json_pointer, json::object());
            body = {{"status", body["status"]}};
            if (!notes.empty()) body["metadata"]["annotations"] = std::move(notes);
        }
        if (sub.empty() && target.contains("/pods/")) body.erase("status");
        json next = found->second;
        next.merge_patch(body);
        return reply(200, put(target, std::move(next)));
    }

    std::map<std::string, json> objects_;
    int version_ = 100;
    std::optional<gang_caches::filled> groups_;
};

}  // namespace esi::gangs::tests
