// For tests: an API server of ESI's kinds in memory whose changes reach the caches at once.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/target.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "model/json.h"

namespace esi::kube {

/// Testbeds, BatchJobs, Schedulings, pods and nodes, by path.
class object_server final : public transport {
public:
    explicit object_server(clock& time) : time_(time) {}

    /// The watch: informs the caches of each change. They show nothing while it is unset.
    std::function<void(const json& object, bool deleted)> watch;
    std::map<std::string, json> objects;
    std::vector<std::string> log;  ///< "PATCH /apis/..."
    std::vector<json> bodies;      ///< of writes
    /// Replaces any answer.
    std::function<std::optional<result<response>>(const request&)> instead;
    /// Called with each request before it is answered.
    std::function<void(const request&)> before_answer;
    /// Delay of each answer.
    steady_time::duration latency{};
    std::int64_t version = 100;

    static std::string path_of(const json& object) {
        const auto kind = object["kind"].get<std::string>();
        for (const auto* type :
             {&types::testbed, &types::batchjob, &types::scheduling, &types::pod, &types::node}) {
            if (type->kind != kind) continue;
            return type->path(object["metadata"].value("namespace", ""),
                              object["metadata"]["name"].get<std::string>());
        }
        throw std::runtime_error("no such kind: " + kind);
    }

    /// Writes as another client than the interface: a new object or another version.
    void put(json object) {
        auto& meta = object["metadata"];
        const auto path = path_of(object);
        const auto found = objects.find(path);
        const bool is_new = found == objects.end();
        meta["uid"] = is_new ? fmt::format("uid-{}", version + 1)
                             : found->second["metadata"]["uid"].get<std::string>();
        store(path, std::move(object), is_new ? json() : found->second);
    }
    void change(const std::string& path, const std::function<void(json&)>& how) {
        auto object = objects.at(path);
        const auto before = object;
        how(object);
        store(path, std::move(object), before);
    }
    void erase(const std::string& path) {
        const auto was = objects.at(path);
        objects.erase(path);
        ++version;
        if (watch) watch(was, true);
    }

    asio::awaitable<result<response>> send(request what, steady_time) override {
        if (before_answer) before_answer(what);
        if (latency > steady_time::duration::zero()) co_await time_.sleep_for(latency);
        co_return answer(what);
    }
    asio::awaitable<result<std::unique_ptr<stream>>> open(request, steady_time) override {
        co_return fail(errc::transport, "no watch here");
    }

private:
    static response of(int code, const json& body) {
        response out;
        out.status = code;
        out.body = body.dump();
        return out;
    }
    static response failure(int code, const char* reason, const std::string& message) {
        return of(code, {{"kind", "Status"},
                         {"status", "Failure"},
                         {"code", code},
                         {"reason", reason},
                         {"message", message}});
    }
    void store(const std::string& path, json object, const json& before) {
        auto& meta = object["metadata"];
        meta["resourceVersion"] = std::to_string(++version);
        if (before.is_null()) {
            meta["generation"] = 1;
            meta["creationTimestamp"] = model::timestamp{time_.wall()}.whole_seconds();
        } else {
            const bool same = before.value("spec", json()) == object.value("spec", json());
            meta["generation"] = before["metadata"]["generation"].get<int>() + (same ? 0 : 1);
            meta["creationTimestamp"] = before["metadata"]["creationTimestamp"];
        }
        const bool gone =
            meta.contains("deletionTimestamp") && meta.value("finalizers", json::array()).empty();
        if (gone) {
            objects.erase(path);
        } else {
            objects[path] = object;
        }
        if (watch) watch(object, gone);
    }

    /// `path` is that of a collection: of a namespace, or of all.
    static bool is_in(const std::string& at, const std::string& path) {
        if (at.starts_with(path + "/")) return true;
        const auto plural = path.substr(path.rfind('/'));
        return at.starts_with(path.substr(0, path.rfind('/')) + "/namespaces/") &&
               at.contains(plural + "/");
    }
    response list(const std::string& path, const request& what) const {
        const auto asked = http::parse_target(what.target);
        std::size_t limit = 0;
        std::string after;
        for (const auto& [name, value] : asked->query) {
            if (name == "limit") limit = std::stoul(value);
            if (name == "continue") after = value;
        }
        json out{{"items", json::array()}, {"metadata", json::object()}};
        for (const auto& [at, object] : objects) {
            if (!is_in(at, path) || at <= after) continue;
            if (limit > 0 && out["items"].size() == limit) {
                out["metadata"]["continue"] = path_of(out["items"].back());
                break;
            }
            out["items"].push_back(object);
        }
        return of(200, out);
    }

    result<response> answer(const request& what) {
        const auto path = what.target.substr(0, what.target.find('?'));
        log.push_back(what.method + " " + what.target);
        if (instead) {
            if (auto other = instead(what)) return std::move(*other);
        }
        const bool dry = what.target.contains("dryRun=All");
        const auto body = what.body.empty() ? json() : json::parse(what.body);
        if (what.method != "GET") bodies.push_back(body);
        if (what.method == "POST") return create(body, dry);
        const auto found = objects.find(path);
        if (what.method == "GET" && found == objects.end() && is_collection(path)) {
            return list(path, what);
        }
        if (found == objects.end()) return failure(404, "NotFound", path + " not found");
        if (what.method == "GET") return of(200, found->second);
        if (what.method == "DELETE") return remove(path, body);
        return patch(path, body, dry);
    }
    static bool is_collection(const std::string& path) {
        return path.ends_with("/batchjobs") || path.ends_with("/nodes") ||
               path.ends_with("/pods") || path.ends_with("/schedulings") ||
               path.ends_with("/testbeds");
    }
    response create(json object, bool dry) {
        const auto path = path_of(object);
        if (objects.contains(path)) return failure(409, "AlreadyExists", path + " already exists");
        object["metadata"]["uid"] = fmt::format("uid-{}", version + 1);
        if (dry) return of(201, object);
        store(path, object, json());
        return of(201, objects[path]);
    }
    static bool guard_fails(const json& guard, const json& meta) {
        return (guard.contains("resourceVersion") &&
                guard["resourceVersion"] != meta["resourceVersion"]) ||
               (guard.contains("uid") && guard["uid"] != meta["uid"]);
    }
    response patch(const std::string& path, const json& body, bool dry) {
        const auto before = objects.at(path);
        if (body.is_object() && body.contains("metadata") &&
            guard_fails(body["metadata"], before["metadata"])) {
            return failure(409, "Conflict", "the object has been modified");
        }
        auto after = before;
        after.merge_patch(body);
        if (dry) return of(200, after);
        store(path, after, before);
        return of(200, after["metadata"].is_null() ? json()
                       : objects.contains(path)    ? objects[path]
                                                   : after);
    }
    response remove(const std::string& path, const json& body) {
        const auto before = objects.at(path);
        if (body.contains("preconditions") &&
            guard_fails(body["preconditions"], before["metadata"])) {
            return failure(409, "Conflict", "the precondition failed");
        }
        auto after = before;
        after["metadata"]["deletionTimestamp"] = model::timestamp{time_.wall()}.whole_seconds();
        store(path, after, before);
        if (objects.contains(path)) return of(200, objects[path]);
        return of(200, {{"kind", "Status"}, {"status", "Success"}});
    }

    clock& time_;
};

}  // namespace esi::kube
