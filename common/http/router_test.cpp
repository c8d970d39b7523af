#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "http/problem.h"
#include "http/server.h"
#include "http/target.h"

namespace esi::http {
namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;
using texts = std::vector<std::string>;

TEST(target, is_taken_apart_and_decoded) {
    const struct {
        const char* text;
        const char* path;
        pairs query;
    } table[] = {
        {"/", "/", {}},
        {"/a/b", "/a/b", {}},
        {"/a%20b", "/a%20b", {}},
        {"/a?", "/a", {}},
        {"/a?b", "/a", {{"b", ""}}},
        {"/a?b=c&b=d", "/a", {{"b", "c"}, {"b", "d"}}},
        {"/a?name=x+y%26z%3D&&=", "/a", {{"name", "x y&z="}, {"", ""}}},
        {"/a?b=c?d/e", "/a", {{"b", "c?d/e"}}},
        {"http://host:8082/a?b=c", "/a", {{"b", "c"}}},
        {"http://host", "/", {}},
    };
    for (const auto& row : table) {
        auto parsed = parse_target(row.text);
        ASSERT_TRUE(parsed) << row.text;
        EXPECT_EQ(parsed->raw_path, row.path);
        EXPECT_EQ(parsed->query, row.query) << row.text;
    }
}

TEST(target, what_is_no_address_is_refused) {
    for (const char* text : {"", "*", "a", "a/b", "/a#b", "/a?b=%", "/a?b=%4", "/a?b=%zz",
                             "/a?%ff=1", "/a?b=%00", "http://host?a=1", "http://host#a"}) {
        EXPECT_FALSE(parse_target(text)) << text;
    }
}

TEST(segments, are_decoded_one_by_one) {
    EXPECT_EQ(*decode_segments("/"), texts({""}));
    EXPECT_EQ(*decode_segments("/a/b"), texts({"a", "b"}));
    EXPECT_EQ(*decode_segments("/a/"), texts({"a", ""}));
    EXPECT_EQ(*decode_segments("//a"), texts({"", "a"}));
    EXPECT_EQ(*decode_segments("/a%20b/%C3%A4+"), texts({"a b", "\u00e4+"}));
    EXPECT_EQ(*decode_segments("/%252F"), texts({"%2F"}));
}

TEST(segments, what_two_readers_could_take_differently_is_refused) {
    for (const char* path : {"", "a", "/a%2Fb", "/a%2fb", "/%", "/%1", "/%g0", "/%00", "/%ff",
                             "/%C0%AF", "/%ED%A0%80", "/%F5%80%80%80", "/%E4"}) {
        EXPECT_FALSE(decode_segments(path)) << path;
    }
}

asio::awaitable<server_reply> echo(std::string name, server_request request) {
    std::string text = name;
    for (const auto& [key, value] : request.variables) text += " " + key + "=" + value;
    co_return server_reply(200, "text/plain", text);
}

route_handler says(std::string name) {
    return [name](server_request request) { return echo(name, std::move(request)); };
}

asio::awaitable<void> ask(const router& routes, server_request request, server_reply& reply) {
    reply = co_await routes.answer(std::move(request));
}

server_reply answer(const router& routes, std::string method, std::string path) {
    server_request request;
    request.method = std::move(method);
    request.raw_path = std::move(path);
    server_reply reply;
    asio::io_context loop;
    asio::co_spawn(loop, ask(routes, std::move(request), reply), [](std::exception_ptr failure) {
        if (failure) std::rethrow_exception(failure);
    });
    loop.run();
    return reply;
}

std::string header(const server_reply& reply, std::string_view name) {
    for (const auto& [key, value] : reply.headers) {
        if (key == name) return value;
    }
    return {};
}

router example() {
    router routes;
    routes.add("GET", "/external/testbeds", says("list"));
    routes.add("GET", "/external/testbeds/{name}", says("one"));
    routes.add("POST", "/external/testbeds", says("create"));
    routes.add("GET", "/external/jobs/", says("jobs with slash"));
    routes.add("PUT", "/external/jobs/", says("put job"));
    routes.add("GET", "/external/testbeds/all", says("all"));
    routes.add("GET", "/a/{x}/c/{y}", says("two"));
    routes.add("DELETE", "/", says("root"));
    return routes;
}

TEST(router, finds_the_route) {
    const auto routes = example();
    const struct {
        const char* method;
        const char* path;
        const char* body;
    } table[] = {
        {"GET", "/external/testbeds", "list"},
        {"HEAD", "/external/testbeds", "list"},
        {"POST", "/external/testbeds", "create"},
        {"GET", "/external/testbeds/grid", "one name=grid"},
        {"GET", "/external/testbeds/g%20d", "one name=g d"},
        {"GET", "/external/testbeds/all", "all"},
        {"GET", "/external/jobs/", "jobs with slash"},
        {"GET", "/a/1/c/2", "two x=1 y=2"},
        {"DELETE", "/", "root"},
    };
    for (const auto& row : table) {
        auto reply = answer(routes, row.method, row.path);
        EXPECT_EQ(reply.status, 200) << row.path;
        EXPECT_EQ(reply.body, row.body);
    }
}

TEST(router, a_filter_is_asked_for_all_below_its_path_however_that_is_written) {
    auto routes = example();
    routes.guard("/external", [](const server_request& head) -> std::optional<server_reply> {
        return server_reply(403, "", head.method);
    });
    for (const char* path : {"/external", "/external/testbeds", "/%65xternal/testbeds",
                             "/external/nowhere", "/external/", "/external/%zz"}) {
        EXPECT_EQ(answer(routes, "GET", path).status, 403) << path;
        EXPECT_EQ(answer(routes, "PATCH", path).status, 403) << path;
    }
    EXPECT_EQ(answer(routes, "GET", "/externally").status, 404);
    EXPECT_EQ(answer(routes, "GET", "/a/external/c/2").status, 200);
    EXPECT_EQ(answer(routes, "GET", "/%zz").status, 400);
}

TEST(router, head_runs_no_get_that_writes) {
    router routes;
    route_rules rules;
    rules.writes = true;
    routes.add("GET", "/reset", says("reset"), rules);
    EXPECT_EQ(answer(routes, "GET", "/reset").status, 200);
    const auto reply = answer(routes, "HEAD", "/reset");
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(header(reply, "Allow"), "GET");
}

TEST(router, a_path_with_a_colon_takes_a_verb_and_nothing_else) {
    router routes;
    routes.add("POST", "/jobs/{name}", says("plain"));
    routes.add("POST", "/jobs/{name}:reset", says("reset"));
    routes.add("POST", "/jobs/{name}/runs", says("runs"));
    routes.add("POST", "/jobs/all:reset", says("literal"));
    routes.add("GET", "/jobs/{name}", says("get"));
    const struct {
        const char* path;
        const char* body;
    } table[] = {
        {"/jobs/a", "plain name=a"},         {"/jobs/a:reset", "reset name=a"},
        {"/jobs/a%3Areset", "reset name=a"}, {"/jobs/a:b:reset", "reset name=a:b"},
        {"/jobs/all:reset", "literal"},      {"/jobs/a:reset/runs", "runs name=a:reset"},
    };
    for (const auto& row : table) EXPECT_EQ(answer(routes, "POST", row.path).body, row.body);
    for (const char* method : {"GET", "DELETE", "OPTIONS"}) {
        EXPECT_EQ(answer(routes, method, "/jobs/a:reset").status, 405) << method;
        EXPECT_EQ(header(answer(routes, method, "/jobs/a:reset"), "Allow"), "POST") << method;
    }
    for (const char* path : {"/jobs/a:resets", "/jobs/:reset", "/jobs/a:", "/jobs/a%3Ab"}) {
        EXPECT_EQ(answer(routes, "GET", path).status, 404) << path;
        EXPECT_EQ(answer(routes, "POST", path).status, 404) << path;
    }
}

TEST(router, a_colon_is_a_part_of_a_name_where_there_are_no_verbs) {
    router routes;
    routes.add("GET", "/jobs/{name}:reset", says("reset"));
    routes.add("GET", "/slots/{name}", says("slot"));
    routes.add("GET", "/jobs/{name}/runs", says("runs"));
    EXPECT_EQ(answer(routes, "GET", "/slots/a:b").body, "slot name=a:b");
    EXPECT_EQ(answer(routes, "GET", "/jobs/a:b/runs").body, "runs name=a:b");
}

TEST(router, misses_are_404_or_405_with_the_methods_of_the_path) {
    const auto routes = example();
    const struct {
        const char* method;
        const char* path;
        int status;
        const char* allow;
    } table[] = {
        {"GET", "/", 405, "DELETE"},
        {"GET", "/nothing", 404, ""},
        {"GET", "/external/testbeds/", 404, ""},
        {"GET", "/external/jobs", 404, ""},
        {"PUT", "/external/testbeds", 405, "GET, POST"},
        {"DELETE", "/external/jobs/", 405, "GET, PUT"},
        {"HEAD", "/", 405, "DELETE"},
        {"GET", "/external/testbeds/a%2Fb", 400, ""},
        {"GET", "/external/testbeds/%zz", 400, ""},
    };
    for (const auto& row : table) {
        auto reply = answer(routes, row.method, row.path);
        EXPECT_EQ(reply.status, row.status) << row.path;
        EXPECT_EQ(reply.content_type, "application/problem+json");
        EXPECT_EQ(header(reply, "Allow"), row.allow);
    }
}

TEST(router, the_longest_prefix_answers_a_miss) {
    auto routes = example();
    const auto status = [](int code) {
        return [code](const server_request&, const texts& allowed) {
            return server_reply(allowed.empty() ? code : 405, "text/plain", std::to_string(code));
        };
    };
    routes.on_miss("/", status(401));
    routes.on_miss("/external", status(402));
    EXPECT_EQ(answer(routes, "GET", "/x").status, 401);
    EXPECT_EQ(answer(routes, "GET", "/external/x").status, 402);
    auto reply = answer(routes, "PATCH", "/external/testbeds");
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ(reply.body, "402");
    EXPECT_EQ(header(reply, "Allow"), "GET, POST");
}

TEST(router, admission_is_asked_before_the_handler_and_may_refuse_or_name_the_caller) {
    router routes;
    routes.add(
        "GET", "/{what}",
        [](server_request head) -> asio::awaitable<server_reply> {
            co_return server_reply(200, "text/plain", head.caller->name);
        },
        {},
        [](server_request& head) -> asio::awaitable<std::optional<server_reply>> {
            if (head.variables.at("what") == "secret") co_return problem(403, "not you");
            head.caller = std::make_shared<identity>(identity{"anna", "", {}, {}});
            co_return std::nullopt;
        });
    EXPECT_EQ(answer(routes, "GET", "/secret").status, 403);
    EXPECT_EQ(answer(routes, "GET", "/open").body, "anna");
    EXPECT_EQ(answer(routes, "PUT", "/open").status, 405);
}

TEST(problem, is_json_also_with_bad_utf8_and_lists_all_faults) {
    problem_details what;
    what.status = 400;
    what.detail = "no \xff";
    what.errors = {{"/a", "FieldUnknown", "one"}, {"?b", "Invalid", "two"}};
    const auto body = nlohmann::json::parse(reply_of(what, "/x").body);
    EXPECT_EQ(body["status"], 400);
    EXPECT_EQ(body["title"], "Bad Request");
    EXPECT_EQ(body["code"], "BadRequest");
    EXPECT_EQ(body["instance"], "/x");
    EXPECT_EQ(body["retryable"], false);
    EXPECT_EQ(body["errors"][1],
              nlohmann::json({{"pointer", "?b"}, {"code", "Invalid"}, {"detail", "two"}}));
    EXPECT_EQ(nlohmann::json::parse(problem(422, "d").body)["title"], "Unprocessable Content");
    const auto plain = nlohmann::json::parse(problem(503, "d").body);
    EXPECT_FALSE(plain.contains("errors"));
    EXPECT_FALSE(plain.contains("instance"));
    EXPECT_EQ(plain["retryable"], true);
    EXPECT_EQ(plain["type"], "urn:esi:problem:Unavailable");
}

}  // namespace
}  // namespace esi::http
