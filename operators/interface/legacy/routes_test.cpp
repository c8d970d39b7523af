#include "interface/legacy/routes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <map>

#include "base/virtual_clock.h"
#include "http/stream.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::interface::legacy {
namespace {

using nlohmann::json;

/// An API server of Schedulings and BatchJobs, just large enough for the interface.
class small_server final : public kube::transport {
public:
    std::map<std::string, json> objects;  ///< by path
    std::vector<std::string> log;
    int status = 0;  ///< answers everything with it
    /// Answers what creates or changes an object.
    std::optional<std::pair<int, std::string>> refused_writes;
    int version = 10;

    asio::awaitable<result<kube::response>> send(kube::request what, steady_time) override {
        co_return answer(what);
    }
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request,
                                                                steady_time) override {
        co_return fail(errc::transport, "no watch here");
    }

private:
    static kube::response of(int code, const std::string& body) {
        kube::response out;
        out.status = code;
        out.body = body;
        return out;
    }
    static kube::response failure(int code, const char* reason) {
        return of(code,
                  json{{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", reason}}
                      .dump());
    }
    kube::response answer(const kube::request& what) {
        auto path = what.target.substr(0, what.target.find('?'));
        log.push_back(what.method + " " + path);
        if (status != 0) return failure(status, "Broken");
        if (refused_writes && what.method != "GET") {
            return of(refused_writes->first, refused_writes->second);
        }
        auto found = objects.find(path);
        if (what.method == "POST") {
            auto object = json::parse(what.body);
            auto at = path + "/" + object["metadata"]["name"].get<std::string>();
            if (objects.contains(at)) return failure(409, "AlreadyExists");
            object["metadata"]["uid"] = "u" + std::to_string(++version);
            object["metadata"]["resourceVersion"] = std::to_string(version);
            objects[at] = object;
            return of(201, object.dump());
        }
        if (found == objects.end()) return failure(404, "NotFound");
        if (what.method == "DELETE") {
            auto was = found->second.dump();
            objects.erase(found);
            return of(200, was);
        }
        if (what.method == "PATCH") {
            auto patch = json::parse(what.body);
            if (patch.is_array()) {
                found->second = found->second.patch(patch);
            } else {
                found->second.merge_patch(patch);
            }
            found->second["metadata"]["resourceVersion"] = std::to_string(++version);
        }
        return of(200, found->second.dump());
    }
};

class legacy_rest : public testing::Test {
protected:
    void SetUp() override {
        testbeds.mark_synced();
        jobs.mark_synced();
        schedulings.mark_synced();
        surface.add_to(router);
    }
    http::server_reply ask(std::string method, std::string path, std::string body = {},
                           std::vector<std::pair<std::string, std::string>> headers = {},
                           bool loopback = true) {
        http::server_request request;
        request.method = std::move(method);
        request.raw_path = std::move(path);
        request.body = std::move(body);
        request.headers = std::move(headers);
        request.peer_is_loopback = loopback;
        std::optional<http::server_reply> out;
        asio::co_spawn(loop, router.answer(std::move(request)),
                       [&](std::exception_ptr failed, http::server_reply reply) {
                           EXPECT_FALSE(failed);
                           out = std::move(reply);
                       });
        run_until(loop, time, [&] { return out.has_value(); });
        return out.value_or(http::server_reply(599, "", "no answer"));
    }
    http::server_reply post(std::string body) {
        return ask("POST", "/external/schedulings", std::move(body),
                   {{"content-type", "application/json"}});
    }
    static std::string header(const http::server_reply& of, std::string_view name) {
        for (const auto& [key, value] : of.headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
    void store_scheduling(const std::string& name, const std::string& testbed = "t") {
        model::scheduling of;
        of.metadata.namespace_ = "default";
        of.metadata.name = name;
        of.metadata.uid = "u-" + name;
        of.spec.testbed.name = testbed;
        of.spec.queue_based = std::vector<model::object_key>{{"default", "a"}};
        server.objects[base + "/schedulings/" + name] = {
            {"metadata",
             {{"name", name},
              {"namespace", "default"},
              {"uid", of.metadata.uid},
              {"resourceVersion", "5"}}},
            {"spec", {{"testbed", {{"name", testbed}}}, {"queueBased", {{{"name", "a"}}}}}}};
        schedulings.apply(of);
    }

    const std::string base = "/apis/esi.tu-berlin.de/v1alpha1/namespaces/default";
    asio::io_context loop;
    virtual_clock time;
    small_server server;
    kube::client api{server, time};
    kube::store<model::testbed> testbeds;
    kube::store<model::batchjob> jobs;
    kube::store<model::scheduling> schedulings;
    kube::store<model::pod> pods;
    http::router router;
    std::map<model::object_key, std::shared_ptr<grid::slot_table>> tables;
    std::shared_ptr<grid::slot_table> table_of(const model::object_key& testbed) {
        auto& out = tables[testbed];
        if (!out) out = std::make_shared<grid::slot_table>(testbed);
        return out;
    }
    routes surface{sources{api, time, testbeds, jobs, schedulings, pods,
                           [this](const model::object_key& of) { return table_of(of); }},
                   "default",
                   {}};
};

TEST_F(legacy_rest, claims_are_left_out) {
    for (auto* each : {&testbeds}) each->mark_synced();
    jobs.mark_synced();
    schedulings.mark_synced();
    model::testbed claimed;
    claimed.metadata.namespace_ = "default";
    claimed.metadata.name = "s";
    claimed.spec.claim.emplace();
    testbeds.apply(claimed);
    store_scheduling("s");
    auto plan = *schedulings.find({"default", "s"});
    plan.spec.testbed = {};
    plan.spec.claim.emplace();
    plan.metadata.resource_version = "9";
    schedulings.apply(plan);
    server.objects[base + "/schedulings/s"]["spec"] = {{"claim", {{"shapes", json::array()}}},
                                                       {"queueBased", {{{"name", "a"}}}}};
    EXPECT_EQ(ask("GET", "/external/testbeds").body, "[]");
    EXPECT_EQ(ask("GET", "/external/testbeds/s").status, 404);
    EXPECT_EQ(ask("GET", "/external/schedulings").body, "[]");
    EXPECT_EQ(ask("GET", "/external/schedulings/s").status, 404);
    const auto posted = post(R"({"name":"s","testBed":"t","queue":["a"]})");
    EXPECT_EQ(posted.status, 409);
    EXPECT_TRUE(posted.body.contains("has a claim")) << posted.body;
    EXPECT_EQ(ask("DELETE", "/external/schedulings/s").status, 304);
    EXPECT_TRUE(server.objects.contains(base + "/schedulings/s"));
}

/// Keeps what a stream sends; calls `between` after each piece.
class kept_stream final : public http::stream_writer {
public:
    std::string text;
    std::size_t longest = 0;
    int pieces = 0;
    std::function<void(int)> between;
    asio::awaitable<bool> write(std::span<const std::string_view> parts) override {
        std::size_t size = 0;
        for (const auto& each : parts) {
            text += each;
            size += each.size();
        }
        longest = std::max(longest, size);
        if (between) between(++pieces);
        co_return true;
    }
};

TEST_F(legacy_rest, a_long_list_is_sent_bit_by_bit_and_has_each_object_once) {
    const auto put = [&](int i) {
        model::batchjob of;
        of.metadata.namespace_ = "default";
        of.metadata.name = fmt::format("j{:05}", i);
        of.metadata.uid = "u-" + of.metadata.name;
        of.status.scheduled_events.resize(15);
        for (auto& each : of.status.scheduled_events) each.scheduling.name = std::string(63, 'x');
        jobs.apply(of);
    };
    put(0);
    const auto short_one = ask("GET", "/external/jobs");
    EXPECT_FALSE(short_one.stream);
    const auto one = json::parse(short_one.body)["j00000"];
    for (int i = 2; i < 4000; i += 2) put(i);
    const auto reply = ask("GET", "/external/jobs");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.content_type, "application/json");
    EXPECT_TRUE(reply.body.empty());
    ASSERT_TRUE(reply.stream);
    kept_stream to;
    to.between = [&](int piece) {
        if (piece > 10) return;
        jobs.erase({"default", fmt::format("j{:05}", 2 * piece)});
        jobs.erase({"default", fmt::format("j{:05}", 2000 + 2 * piece)});
        put(2101 + 2 * piece);
    };
    bool done = false;
    asio::co_spawn(loop, reply.stream(to), [&](std::exception_ptr failed) {
        EXPECT_FALSE(failed);
        done = true;
    });
    run_until(loop, time, [&] { return done; });
    EXPECT_LE(to.longest, 70'000u);
    const auto told = json::parse(to.text, nullptr, false);
    ASSERT_TRUE(told.is_object());
    EXPECT_EQ(told["j00000"], one);
    EXPECT_EQ(told.size(), 2000u - 10 + 10) << "those that went before their turn are not there";
    EXPECT_EQ(std::ranges::count(to.text, ':'), std::ranges::count(told.dump(), ':'))
        << "none is there twice";
}

TEST_F(legacy_rest, answers_as_recorded) {
    struct row {
        const char* method;
        const char* path;
        std::string body;
        std::vector<std::pair<std::string, std::string>> headers;
        int status;
        std::string content_type;
        std::string reply;  ///< whole body; of errors the part from "status" on
    };
    const std::pair<std::string, std::string> is_json{"content-type", "application/json"};
    const std::string js = "application/json";
    const std::vector<row> table{
        {"GET", "/external/testbeds", "", {}, 200, js, "[]"},
        {"GET", "/external/jobs", "", {}, 200, js, "{}"},
        {"GET", "/external/jobs/", "", {}, 200, js, "{}"},
        {"GET", "/external/schedulings", "", {}, 200, js, "[]"},
        {"GET", "/external/testbeds", "", {{"origin", "http://example.org"}}, 200, js, "[]"},
        {"GET",
         "/external/testbeds/nope",
         "",
         {},
         404,
         js,
         R"("status":404,"error":"Not Found","path":"/external/testbeds/nope"})"},
        {"GET",
         "/external/jobs/nope",
         "",
         {},
         404,
         js,
         R"("status":404,"error":"Not Found","path":"/external/jobs/nope"})"},
        {"GET",
         "/external/schedulings/nope",
         "",
         {},
         404,
         js,
         R"("status":404,"error":"Not Found","path":"/external/schedulings/nope"})"},
        {"DELETE", "/external/schedulings/nope", "", {}, 304, "", ""},
        {"POST", "/external/schedulings", "{\"name\": \"x\", ", {is_json}, 400, js, ""},
        {"POST", "/external/schedulings", "", {is_json}, 400, js, ""},
        {"POST", "/external/schedulings", "", {}, 400, js, ""},
        {"POST",
         "/external/schedulings",
         "{\"name\":\"x\"}",
         {{"content-type", "text/plain"}},
         415,
         js,
         R"("status":415,"error":"Unsupported Media Type","path":"/external/schedulings"})"},
        {"POST", "/external/schedulings", "{\"name\":\"x\"}", {}, 415, js, ""},
        {"PUT",
         "/external/jobs/",
         R"({"name":"nope","externalScheduler":{}})",
         {is_json},
         404,
         js,
         ""},
        {"PUT",
         "/external/jobs",
         R"({"name":"nope"})",
         {is_json},
         405,
         js,
         R"("status":405,"error":"Method Not Allowed","path":"/external/jobs"})"},
        {"PUT", "/external/jobs/", "{}", {is_json}, 400, js, ""},
        {"PUT", "/external/jobs/", "{", {is_json}, 400, js, ""},
        {"GET",
         "/external/nothing",
         "",
         {},
         404,
         js,
         R"("status":404,"error":"Not Found","path":"/external/nothing"})"},
        {"GET", "/", "", {}, 404, js, R"("status":404,"error":"Not Found","path":"/"})"},
        {"DELETE", "/external/schedulings", "", {}, 405, js, ""},
        {"POST", "/external/testbeds", "{}", {is_json}, 405, js, ""},
        {"HEAD", "/external/testbeds", "", {}, 200, js, "[]"},
        {"OPTIONS", "/external/schedulings", "", {}, 200, "", ""},
        {"GET", "/external/testbeds", "", {{"accept", "application/xml"}}, 406, "", ""},
        {"GET",
         "/external/schedulings/a%2Fb",
         "",
         {},
         400,
         "text/html;charset=utf-8",
         "<h1>HTTP Status 400 – Bad Request</h1></body></html>"},
        {"GET",
         "/actuator",
         "",
         {{"host", "h:1"}},
         200,
         "application/vnd.spring-boot.actuator.v3+json",
         R"({"_links":{"self":{"href":"http://h:1/actuator","templated":false},)"
         R"("health":{"href":"http://h:1/actuator/health","templated":false},)"
         R"("health-path":{"href":"http://h:1/actuator/health/{*path}","templated":true}}})"},
        {"GET",
         "/external/testbeds/nope",
         "",
         {{"accept", "text/html"}},
         404,
         "text/html;charset=UTF-8",
         "(type=Not Found, status=404).</div></body></html>"},
    };
    for (const auto& r : table) {
        SCOPED_TRACE(std::string(r.method) + " " + r.path + " " + r.body);
        auto reply = ask(r.method, r.path, r.body, r.headers);
        EXPECT_EQ(reply.status, r.status);
        EXPECT_EQ(reply.content_type, r.content_type);
        EXPECT_TRUE(reply.body.ends_with(r.reply)) << reply.body;
        if (r.status >= 400 && r.content_type == js) {
            auto body = json::parse(reply.body);
            EXPECT_TRUE(body["timestamp"].is_number_integer());
            EXPECT_EQ(body["path"], r.path);
        }
    }
}

TEST_F(legacy_rest, headers_are_the_recorded_ones) {
    EXPECT_EQ(header(ask("DELETE", "/external/schedulings"), "Allow"), "POST, GET");
    EXPECT_EQ(header(ask("POST", "/external/testbeds", "{}"), "Allow"), "GET");
    EXPECT_EQ(header(ask("PUT", "/external/jobs", "{}"), "Allow"), "GET");
    EXPECT_EQ(header(ask("POST", "/external/jobs/", "{}"), "Allow"), "GET, PUT");
    EXPECT_EQ(header(ask("PATCH", "/external/schedulings/s/", "{}"), "Allow"), "GET, DELETE");
    auto options = ask("OPTIONS", "/external/schedulings");
    EXPECT_EQ(header(options, "Allow"), "POST,GET,HEAD,OPTIONS");
    EXPECT_EQ(header(options, "Accept-Patch"), "");
    EXPECT_EQ(header(ask("POST", "/external/schedulings", "x"), "Accept"),
              "application/json, application/*+json");
    EXPECT_EQ(header(ask("GET", "/external/nothing"), "Vary"), "Origin");
    EXPECT_EQ(header(ask("GET", "/external/jobs/nope", "", {{"accept", "text/html"}}),
                     "Content-Language"),
              "en");
}

TEST_F(legacy_rest, post_creates_and_answers_as_stored) {
    auto reply =
        post(R"({"name":"cap-queue","testBed":"nope","queue":["spark-job-1","spark-job-1"]})");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, R"({"name":"cap-queue","state":null,"jobStatus":[],"testBed":"nope",)"
                          R"("queue":["spark-job-1","spark-job-1"],"slots":null})");
    EXPECT_EQ(server.objects.at(base + "/schedulings/cap-queue")["spec"].dump(),
              R"({"queueBased":[{"name":"spark-job-1","namespace":"default"},)"
              R"({"name":"spark-job-1","namespace":"default"}],)"
              R"("testbed":{"name":"nope","namespace":"default"}})");
}

TEST_F(legacy_rest, a_large_testbed_names_no_pods_of_other_namespaces) {
    namespace names = model::names;
    model::testbed bed;
    bed.metadata.namespace_ = "default";
    bed.metadata.name = "t";
    bed.metadata.uid = "ut";
    bed.metadata.annotations[std::string(names::hold)] = "us.7";
    bed.metadata.labels = {{std::string(names::active_scheduling_namespace), "team"},
                           {std::string(names::active_scheduling_name), "s"}};
    auto& layout = bed.status.layout.emplace();
    layout.nodes = {{"n0", "u0", 0}};
    layout.slots_per_node = 3;
    testbeds.apply(bed);

    model::scheduling holder;
    holder.metadata.namespace_ = "team";
    holder.metadata.name = "s";
    holder.metadata.uid = "us";
    model::batchjob job;
    job.metadata.namespace_ = "team";
    job.metadata.name = "secret";
    job.metadata.uid = "uj";
    auto& order = job.spec.creation_request.emplace();
    order.testbed_name = {"default", "t"};
    order.slot_ids = {0, 1};
    order.run = "us.7.1";
    job.status.placements = {{0, "up", "secret-exec-1"}};
    job.status.runs.emplace_back().testbed = order.testbed_name;
    model::pod pod;
    pod.metadata.namespace_ = "team";
    pod.metadata.name = "secret-exec-1";
    pod.metadata.uid = "up";
    pod.metadata.labels = {{std::string(names::testbed), "t"},
                           {std::string(names::testbed_namespace), "default"},
                           {std::string(names::job), "secret"}};
    pod.metadata.annotations = {{std::string(names::run), order.run},
                                {std::string(names::slot), "0"},
                                {std::string(names::slot_node), "n0"}};
    pod.node_name = "n0";
    pod.phase = "Running";
    pods.add_index("testbed", [](const model::pod& of) {
        return std::vector<std::string>{of.testbed().text()};
    });
    pods.apply(pod);
    jobs.apply(job);
    schedulings.apply(holder);

    const auto rows = [&] {
        return json::parse(ask("GET", "/external/testbeds/t").body)["slotsByNode"]["n0"];
    };
    EXPECT_EQ(rows()[0]["state"], "OCCUPIED");
    EXPECT_EQ(rows()[0]["podName"], "a pod of another namespace");
    EXPECT_EQ(rows()[0]["podUId"], "up");
    EXPECT_EQ(rows()[1]["state"], "ERROR") << "no Scheduling has given that order";

    auto& given = holder.status.assignments.emplace_back();
    given.job = {"team", "secret", "uj"};
    given.slot_ids = order.slot_ids;
    given.run = order.run;
    schedulings.apply(holder);
    EXPECT_EQ(rows()[1]["state"], "RESERVED");
    EXPECT_EQ(rows()[1]["reservedFor"], "a pod of another namespace");
    EXPECT_EQ(ask("GET", "/external/testbeds").body.find("secret"), std::string::npos);
}

TEST_F(legacy_rest, post_takes_slots_in_any_case_and_answers_upper_case) {
    auto reply = post(
        R"({"name":"lower","testBed":"t","slots":{"mode":"strict","jobs":[{"name":"a","slots":[0]}]}})");
    EXPECT_EQ(reply.body,
              R"({"name":"lower","state":null,"jobStatus":[],"testBed":"t","queue":null,)"
              R"("slots":{"mode":"STRICT","jobs":[{"slots":[0],"name":"a"}]}})");
}

TEST_F(legacy_rest, post_again_replaces_the_plan) {
    store_scheduling("s");
    EXPECT_EQ(post(R"({"name":"s","testBed":"t","slots":{"mode":"RELAXED","jobs":[]}})").status,
              200);
    EXPECT_EQ(server.objects.at(base + "/schedulings/s")["spec"].dump(),
              R"({"slotBased":{"jobs":[],"mode":"relaxed"},"testbed":{"name":"t"}})");
}

TEST_F(legacy_rest, post_with_another_testbed_is_refused) {
    store_scheduling("s");
    auto reply = post(R"({"name":"s","testBed":"other","queue":["a"]})");
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(json::parse(reply.body)["messages"][0], "testBed cannot be changed; it is t");
}

TEST_F(legacy_rest, post_on_one_that_is_being_deleted_gives_up_after_ten_seconds) {
    store_scheduling("s");
    server.objects.at(base + "/schedulings/s")["metadata"]["deletionTimestamp"] =
        "2026-01-01T00:00:00Z";
    auto began = time.now();
    auto reply = post(R"({"name":"s","testBed":"t","queue":["a"]})");
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(header(reply, "Retry-After"), "2");
    EXPECT_GE(time.now() - began, seconds(10));
    EXPECT_LT(time.now() - began, seconds(11));
}

TEST_F(legacy_rest, delete_answers_the_object_as_it_was) {
    store_scheduling("s");
    auto reply = ask("DELETE", "/external/schedulings/s");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(
        reply.body,
        R"({"name":"s","state":null,"jobStatus":[],"testBed":"t","queue":["a"],"slots":null})");
    EXPECT_FALSE(server.objects.contains(base + "/schedulings/s"));
}

/// The watch shows it 20 ms after the API server.
asio::awaitable<void> erase_later(virtual_clock& time, kube::store<model::scheduling>& from) {
    co_await time.sleep_for(milliseconds(20));
    from.erase({"default", "s"});
}

TEST_F(legacy_rest, who_reads_after_a_delete_does_not_see_the_object_again) {
    store_scheduling("s");
    const auto began = time.now();
    asio::co_spawn(loop, erase_later(time, schedulings), [](std::exception_ptr) {});
    EXPECT_EQ(ask("DELETE", "/external/schedulings/s").status, 200);
    EXPECT_EQ(ask("GET", "/external/schedulings/s").status, 404);
    EXPECT_LT(time.now() - began, milliseconds(100));
}

TEST_F(legacy_rest, a_delete_waits_a_second_at_most_for_the_cache) {
    store_scheduling("s");
    const auto began = time.now();
    EXPECT_EQ(ask("DELETE", "/external/schedulings/s").status, 200);
    EXPECT_GE(time.now() - began, seconds(1));
    EXPECT_LT(time.now() - began, milliseconds(1100));
}

TEST_F(legacy_rest, put_replaces_the_whole_map_of_notes) {
    auto& job = server.objects[base + "/batchjobs/j"];
    job = {{"metadata",
            {{"name", "j"}, {"namespace", "default"}, {"uid", "u"}, {"resourceVersion", "3"}}},
           {"spec", {{"externalScheduler", {{"old", {{{"k", "v"}}}}}}}},
           {"status", {{"state", "ReadyState"}}}};
    auto put = [&](const char* body) {
        return ask("PUT", "/external/jobs/", body, {{"content-type", "application/json"}});
    };
    EXPECT_EQ(
        put(R"x({"name":"j","externalScheduler":{"profiler":[{"k2":"12 (1)"}]}})x").body,
        R"x({"name":"j","state":"ReadyState","externalScheduler":{"profiler":[{"k2":"12 (1)"}]},)x"
        R"("scheduledEvents":[]})");
    EXPECT_EQ(put(R"({"name":"j"})").body,
              R"({"name":"j","state":"ReadyState","externalScheduler":null,"scheduledEvents":[]})");
}

TEST_F(legacy_rest, what_the_store_does_not_take_is_413_and_not_to_be_repeated) {
    const std::pair<int, std::string> table[] = {
        {500, R"({"kind":"Status","code":500,"message":"etcdserver: request is too large"})"},
        {500, R"({"kind":"Status","code":500,"message":"rpc error: code = ResourceExhausted )"
              R"(desc = trying to send message larger than max"})"},
        {413, R"({"kind":"Status","code":413,"reason":"RequestEntityTooLarge","message":"limit"})"},
    };
    for (const auto& row : table) {
        server.refused_writes = row;
        const auto reply = post(R"({"name":"x","testBed":"t","queue":["a"]})");
        EXPECT_EQ(reply.status, 413) << row.second;
        EXPECT_EQ(header(reply, "Retry-After"), "(none)");
        EXPECT_TRUE(reply.body.contains("create Scheduling default/x")) << reply.body;
    }
}

TEST_F(legacy_rest, peers_that_are_not_loopback_are_refused) {
    for (const char* path : {"/external/testbeds", "/external/nothing"}) {
        EXPECT_EQ(ask("GET", path, "", {}, false).status, 403) << path;
    }
    EXPECT_EQ(ask("OPTIONS", "/external/schedulings", "", {}, false).status, 403);
    EXPECT_EQ(ask("POST", "/external/schedulings", "{}", {}, false).status, 403);
}

TEST_F(legacy_rest, what_a_proxy_handed_on_is_refused) {
    for (const char* name : {"x-forwarded-for", "forwarded", "x-real-ip", "via"}) {
        EXPECT_EQ(ask("GET", "/external/testbeds", "", {{name, "10.0.0.1"}}).status, 403) << name;
    }
}

TEST_F(legacy_rest, pages_under_names_that_are_not_loopback_are_refused) {
    const auto get = [&](std::string host) {
        return ask("GET", "/external/testbeds", "", {{"host", std::move(host)}});
    };
    for (const char* host :
         {"localhost:8082", "LOCALHOST", "[::1]:8082", "[::1]", "127.0.0.1", "127.0.0.1:8082"}) {
        EXPECT_EQ(get(host).status, 200) << host;
    }
    for (const char* host :
         {"evil.example:8082", "evil.example", "localhost.evil.example:8082", "localhost:8082x",
          "localhost:", "127.1.2.3", "127.0.0.1.evil.example", "127.evil.example", "128.0.0.1",
          "[::2]:8082", "[::1]x", "[::1", "[", ":8082"}) {
        EXPECT_EQ(get(host).status, 403) << host;
    }
    const std::vector<std::pair<std::string, std::string>> evil{{"host", "evil.example:8082"}};
    EXPECT_TRUE(get("evil.example:8082").body.contains("--legacy-open opens it"));
    EXPECT_EQ(ask("POST", "/external/schedulings", "{}", evil).status, 403);
    EXPECT_EQ(ask("OPTIONS", "/external/schedulings", "", evil).status, 403);
    EXPECT_EQ(ask("GET", "/external/nothing", "", evil).status, 403);
}

TEST_F(legacy_rest, no_trouble_of_the_api_server_is_a_500) {
    for (int status : {400, 403, 409, 422, 429, 500, 503}) {
        server.status = status;
        auto reply = post(R"({"name":"x","testBed":"t","queue":["a"]})");
        EXPECT_TRUE(reply.status == 503 || (reply.status >= 400 && reply.status < 500))
            << status << " -> " << reply.status;
        auto deleted = ask("DELETE", "/external/schedulings/x");
        EXPECT_TRUE(deleted.status == 503 || deleted.status < 500)
            << status << " -> " << deleted.status;
    }
}

TEST_F(legacy_rest, mutated_bodies_are_never_a_500) {
    const std::string sound =
        R"({"name":"x","state":null,"jobStatus":[{"name":"a","state":"Scheduled"}],"testBed":"t",)"
        R"("slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[0,1]}]}})";
    unsigned seed = 1;
    auto next = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 8; };
    for (int i = 0; i < 3000; ++i) {
        auto body = sound;
        for (unsigned edits = next() % 4 + 1; edits > 0; --edits) {
            auto at = next() % body.size();
            switch (next() % 4) {
                case 0:
                    body[at] = static_cast<char>(next());
                    break;
                case 1:
                    body.erase(at, next() % 8);
                    break;
                case 2:
                    body.insert(at, 1, static_cast<char>(next()));
                    break;
                default:
                    body.insert(at, body.substr(next() % body.size(), next() % 12));
                    break;
            }
            if (body.empty()) body = "{";
        }
        auto reply = post(body);
        ASSERT_TRUE(reply.status == 200 || reply.status == 400) << reply.status << " for " << body;
    }
}

}  // namespace
}  // namespace esi::interface::legacy
