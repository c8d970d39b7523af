// For tests: the interface in front of an API server in memory (kube/testing/object_server.h), and
// an access that refuses only what a test names.
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
#include "interface/v1/events/hub.h"
#include "interface/v1/surface.h"
#include "kube/client.h"
#include "kube/testing/object_server.h"
#include "model/json.h"
#include "model/kept.h"
#include "scheduling/caches.h"

namespace esi::interface::v1 {

using nlohmann::json;

/// The memory that requests share, as the server counts it: while there is room, a request gets all
/// that it asks for.
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

/// All callers are anna, and may do all that `forbidden` does not name.
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

    /// Shows an object as the watch would.
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
    kube::object_server server{time};
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

}  // namespace esi::interface::v1
