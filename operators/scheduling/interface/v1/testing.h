// For tests: an API server of ESI's kinds in memory whose changes reach the caches at once, the
// interface in front of it, and an access that lets everybody in but whom a test names.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/virtual_clock.h"
#include "http/target.h"
#include "kube/client.h"
#include "model/json.h"
#include "model/kept.h"
#include "scheduling/caches.h"
#include "scheduling/interface/v1/events/hub.h"
#include "scheduling/interface/v1/surface.h"

namespace esi::scheduling::v1 {

using nlohmann::json;

/// Testbeds, BatchJobs, Schedulings, pods and nodes, by path.
class object_server final : public kube::transport {
public:
    explicit object_server(clock& time) : time_(time) {}

    /// The watch: what the caches are told of each change. They show nothing while it is unset.
    std::function<void(const json& object, bool deleted)> watch;
    std::map<std::string, json> objects;
    std::vector<std::string> log;  ///< "PATCH /apis/..."
    std::vector<json> bodies;      ///< of writes
    /// Instead of any answer.
    std::function<std::optional<result<kube::response>>(const kube::request&)> instead;
    /// Called with each request before it is answered.
    std::function<void(const kube::request&)> before_answer;
    /// Of each answer.
    steady_time::duration latency{};
    std::int64_t version = 100;

    static std::string path_of(const json& object) {
        const auto kind = object["kind"].get<std::string>();
        for (const auto* type : {&kube::types::testbed, &kube::types::batchjob,
                                 &kube::types::scheduling, &kube::types::pod, &kube::types::node}) {
            if (type->kind != kind) continue;
            return type->path(object["metadata"].value("namespace", ""),
                              object["metadata"]["name"].get<std::string>());
        }
        throw std::runtime_error("no such kind: " + kind);
    }

    /// As somebody beside the interface would write it; a new one or another version.
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

    asio::awaitable<result<kube::response>> send(kube::request what, steady_time) override {
        if (before_answer) before_answer(what);
        if (latency > steady_time::duration::zero()) co_await time_.sleep_for(latency);
        co_return answer(what);
    }
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request,
                                                                steady_time) override {
        co_return fail(errc::transport, "no watch here");
    }

private:
    static kube::response of(int code, const json& body) {
        kube::response out;
        out.status = code;
        out.body = body.dump();
        return out;
    }
    static kube::response failure(int code, const char* reason, const std::string& message) {
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
    kube::response list(const std::string& path, const kube::request& what) const {
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

    result<kube::response> answer(const kube::request& what) {
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
    kube::response create(json object, bool dry) {
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
    kube::response patch(const std::string& path, const json& body, bool dry) {
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
    kube::response remove(const std::string& path, const json& body) {
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

/// The memory that requests share, as the server counts it: who asks while there is room gets all
/// that he asks for.
struct counted_memory {
    explicit counted_memory(clock& time_) : time(time_) {}

    clock& time;
    std::size_t limit = 16u << 20;
    seconds patience{20};
    std::size_t held = 0;  ///< by all of them
    std::size_t most = 0;  ///< at any time
};

class counted_room final : public http::answer_room {
public:
    explicit counted_room(std::shared_ptr<counted_memory> of) : all_(std::move(of)), of_(*all_) {}
    ~counted_room() override { of_.held -= own_; }

    bool hold(std::size_t bytes) override {
        if (bytes > own_ && of_.held >= of_.limit) return false;
        of_.held += bytes;
        of_.held -= std::exchange(own_, bytes);
        of_.most = std::max(of_.most, of_.held);
        return true;
    }
    asio::awaitable<bool> wait_to_hold(std::size_t bytes) override {
        EXPECT_EQ(own_, 0u) << "who holds something does not wait: two of them would wait for ever";
        const auto until = of_.time.now() + of_.patience;
        while (!hold(bytes)) {
            if (of_.time.now() >= until) co_return false;
            co_await of_.time.sleep_for(milliseconds(10));
        }
        co_return true;
    }
    void stand_aside() override {}

private:
    /// A request that is cut off at the end of a test still has it.
    std::shared_ptr<counted_memory> all_;
    counted_memory& of_;
    std::size_t own_ = 0;
};

/// Everybody is anna, and may all that `forbidden` does not name.
class test_access final : public access {
public:
    std::string caller = "anna";
    /// "get testbeds ns/name"
    std::set<std::string> forbidden;
    std::vector<std::string> asked;

    asio::awaitable<std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request&) override {
        if (caller.empty()) {
            http::problem_details out;
            out.status = 401;
            co_return std::unexpected(std::move(out));
        }
        auto who = std::make_shared<http::identity>();
        who->name = caller;
        co_return who;
    }
    asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity&,
                                                                  const permission& what,
                                                                  std::string ns,
                                                                  std::string name) override {
        asked.push_back(fmt::format("{} {} {}/{}", what.verb, what.resource, ns, name));
        if (!forbidden.contains(asked.back())) co_return std::nullopt;
        http::problem_details out;
        out.status = 403;
        out.detail = asked.back();
        co_return out;
    }
};

class api_test : public testing::Test {
protected:
    using headers = std::vector<std::pair<std::string, std::string>>;

    api_test() : api_test(limits()) {}
    explicit api_test(limits bounds, quota_options of_callers = {{1e6, 1e6}})
        : limits_(time, numbers, of_callers),
          surface_(sources{loop.get_executor(), time, api, seen, limits_, {}, false}, bounds, door,
                   events_) {
        server.watch = [this](const json& object, bool deleted) { show(object, deleted); };
        surface_.add_to(router);
    }
    void SetUp() override {
        seen.testbeds().mark_synced();
        seen.jobs().mark_synced();
        seen.schedulings().mark_synced();
        set_version();
    }
    void TearDown() override {
        surface_.stop();
        asio::co_spawn(loop, events_.stop(time.now() + seconds(1)), [](std::exception_ptr) {});
        run_for(loop, time, seconds(2));
    }

    /// What the watch tells.
    void show(const json& object, bool deleted) {
        const auto kind = object["kind"].get<std::string>();
        if (kind == "Testbed") apply<model::testbed>(seen.testbeds(), object, deleted);
        if (kind == "Scheduling") apply<model::scheduling>(seen.schedulings(), object, deleted);
        if (kind == "BatchJob") apply<model::batchjob>(seen.jobs(), object, deleted);
        if (kind == "Pod") apply<model::pod>(seen.pods(), object, deleted);
        set_version();
    }

    /// A request under way.
    struct pending {
        std::optional<http::server_reply> reply;
    };
    std::shared_ptr<pending> begin(std::string method, std::string target, std::string body = {},
                                   headers with = {}) {
        auto out = std::make_shared<pending>();
        http::server_request request;
        request.method = std::move(method);
        const auto parsed = http::parse_target(target);
        EXPECT_TRUE(parsed) << target;
        request.raw_path = parsed->raw_path;
        request.query = parsed->query;
        const bool has_type = std::ranges::any_of(
            with, [](const auto& each) { return each.first == "content-type"; });
        if (!body.empty() && !has_type) with.emplace_back("content-type", "application/json");
        request.body = std::move(body);
        request.headers = std::move(with);
        const auto room = std::make_shared<counted_room>(memory_);
        request.room = room;
        asio::co_spawn(loop, router.answer(std::move(request)),
                       [out, room](std::exception_ptr failed, http::server_reply reply) {
                           EXPECT_FALSE(failed);
                           out->reply = std::move(reply);
                       });
        loop.restart();
        loop.poll();
        return out;
    }
    http::server_reply ask(std::string method, std::string target, std::string body = {},
                           headers with = {}) {
        auto out = begin(std::move(method), std::move(target), std::move(body), std::move(with));
        run_until(loop, time, [&] { return out->reply.has_value(); });
        return out->reply.value_or(http::server_reply(599, "", "no answer"));
    }
    http::server_reply get(std::string target, headers with = {}) {
        return ask("GET", std::move(target), {}, std::move(with));
    }
    static std::string header(const http::server_reply& of, std::string_view name) {
        for (const auto& [key, value] : of.headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
    static json body(const http::server_reply& of) { return json::parse(of.body, nullptr, false); }
    /// "/spec/x FieldUnknown, ?a ParameterUnknown"
    static std::string faults_in(const http::server_reply& of) {
        std::string out;
        const auto problem = body(of);
        for (const auto& each : problem.value("errors", json::array())) {
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ",
                               each["pointer"].get<std::string>(), each["code"].get<std::string>());
        }
        return out;
    }
    /// "a b c": names of the items of a list.
    static std::string names_in(const http::server_reply& of) {
        std::string out;
        for (const auto& each : body(of)["items"]) {
            out += (out.empty() ? "" : " ") + each["metadata"]["name"].get<std::string>();
        }
        return out;
    }

    static json object(const char* kind, const std::string& name, json spec = json::object(),
                       const std::string& ns = "ns") {
        return {{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                {"kind", kind},
                {"metadata", {{"name", name}, {"namespace", ns}}},
                {"spec", std::move(spec)}};
    }
    void put_testbed(const std::string& name, int nodes = 1, int slots_per_node = 2) {
        auto made = object("Testbed", name,
                           {{"slotsPerNode", slots_per_node},
                            {"nodeLabel", "example.org/slots"},
                            {"resourcesPerSlot", {{"cpu", "1"}, {"memory", "1Gi"}}}});
        auto list = json::array();
        auto slots = json::array();
        for (int i = 0; i < nodes; ++i) {
            list.push_back({{"name", fmt::format("n{}", i)}, {"uid", "u"}, {"id", i}});
        }
        for (int i = 0; i < nodes * slots_per_node; ++i) {
            slots.push_back({{"position", i},
                             {"state", i == 0 ? "OCCUPIED" : "FREE"},
                             {"nodeName", fmt::format("n{}", i % nodes)},
                             {"nodeId", i % nodes},
                             {"slotPositionOnNode", i / nodes}});
        }
        made["status"] = {
            {"state", "SUCCESS"},
            {"observedGeneration", 1},
            {"layout",
             {{"revision", 1}, {"slotsPerNode", slots_per_node}, {"nodes", std::move(list)}}},
            {"slots", std::move(slots)}};
        server.put(std::move(made));
    }
    void put_job(const std::string& name, const std::string& state = "ReadyState",
                 const std::string& ns = "ns") {
        auto made =
            object("BatchJob", name, {{"sparkSpec", {{"mainClass", "Main of " + name}}}}, ns);
        made["status"] = {{"state", state}, {"observedGeneration", 1}};
        server.put(std::move(made));
    }
    static json queue_of(const std::string& testbed, const std::vector<std::string>& jobs) {
        json queue = json::array();
        for (const auto& each : jobs) queue.push_back({{"name", each}});
        return {{"testbed", {{"name", testbed}}}, {"queueBased", std::move(queue)}};
    }
    /// The spec of a plan with a claim of its own.
    static json claim_of(int places, const std::vector<std::string>& jobs) {
        auto out = queue_of("", jobs);
        out.erase("testbed");
        out["claim"] = {{"shapes",
                         {{{"name", "executors"},
                           {"count", places},
                           {"resources", {{"cpu", "1"}, {"memory", "1Gi"}}}}}}};
        return out;
    }
    void put_plan(const std::string& name, const std::vector<std::string>& jobs,
                  const std::string& state = "AcquireState", const std::string& ns = "ns") {
        auto made = object("Scheduling", name, queue_of("t", jobs), ns);
        made["status"] = {{"state", state}};
        server.put(std::move(made));
    }
    static std::string path_of(const kube::resource_type& type, const std::string& name,
                               const std::string& ns = "ns") {
        return type.path(ns, name);
    }
    std::string version_of(const kube::resource_type& type, const std::string& name) {
        return server.objects.at(path_of(type, name))["metadata"]["resourceVersion"];
    }

    asio::io_context loop;
    virtual_clock time;
    object_server server{time};
    std::shared_ptr<counted_memory> memory_ = std::make_shared<counted_memory>(time);
    counted_memory& memory = *memory_;
    kube::client api{server, time};
    scheduling::caches seen{api, time, {}};
    test_access who;
    controller::metrics numbers;
    quota limits_;
    gate door{who, limits_, {}};
    events::hub events_{{loop.get_executor(),
                         time,
                         numbers,
                         api,
                         seen.testbeds(),
                         seen.jobs(),
                         seen.schedulings(),
                         {},
                         &limits_},
                        who};
    http::router router;
    surface surface_;

private:
    template <class T>
    void apply(kube::store<T>& into, const json& object, bool deleted) {
        auto read = model::decode<T>(object.dump(), "object");
        ASSERT_TRUE(read) << read.error().text;
        if constexpr (std::is_same_v<T, model::batchjob>) model::drop_application_specs(*read);
        if (deleted) {
            into.erase(read->metadata.key());
        } else {
            into.apply(std::move(*read));
        }
    }
    void set_version() {
        const auto version = std::to_string(server.version);
        seen.testbeds().set_version(version, "");
        seen.jobs().set_version(version, "");
        seen.schedulings().set_version(version, "");
    }
};

}  // namespace esi::scheduling::v1
