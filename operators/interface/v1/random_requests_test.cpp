// Random requests, as a hostile or broken client would send them: each answer is in the OpenAPI
// document, and none is a server error.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/log.h"
#include "interface/v1/openapi.h"
#include "interface/v1/testing.h"
#include "interface/v1/validation.h"

namespace esi::interface::v1 {
namespace {

class random_requests : public api_test {
protected:
    random_requests() : api_test(limits{seconds(1), true}) {}

    void SetUp() override {
        api_test::SetUp();
        put_testbed("t", 2, 2);
        for (const char* name : {"a", "b"}) put_job(name);
        put_job("f", "FailedState");
        put_plan("s", {"a", "b"});
        put_plan("other", {"a"}, "CompletedState", "other");
        server.put({{"kind", "Node"},
                    {"metadata", {{"name", "n0"}}},
                    {"status",
                     {{"allocatable", {{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "9"}}},
                      {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }

    template <class List>
    auto any(const List& of) {
        return of[random_() % std::size(of)];
    }
    bool once_in(unsigned times) { return random_() % times == 0; }

    std::string text() {
        static const std::string texts[] = {"",
                                            "1",
                                            "0",
                                            "-1",
                                            "501",
                                            "99999999999999999999",
                                            "a=b",
                                            "a in (b",
                                            "true",
                                            "x",
                                            "60s",
                                            "500ms",
                                            "1h1h",
                                            "state=CompletedState",
                                            "state=",
                                            "*",
                                            "\"1\"",
                                            "W/\"101\"",
                                            "t",
                                            "ns/t",
                                            "condition:Acquired=True",
                                            "condition:=",
                                            "FREE",
                                            "n0,n1",
                                            "a,,b",
                                            std::string(300, 'z')};
        return any(texts);
    }
    static std::string escaped(const std::string& text) {
        std::string out;
        for (const char c : text) out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        return out;
    }
    json value() {
        static const std::vector<json> values{nullptr,
                                              true,
                                              0,
                                              -1,
                                              7,
                                              1e300,
                                              12345678901234,
                                              "",
                                              "a",
                                              "t",
                                              "Keep",
                                              "strict",
                                              json::array(),
                                              json::object(),
                                              {{"name", "a"}},
                                              json::array({1, "x", nullptr}),
                                              std::string(300, 'y')};
        return any(values);
    }
    json some_body() {
        static const std::vector<json> bodies{
            object("Scheduling", "new", queue_of("t", {"a", "b", "missing"})),
            object("Scheduling", "s", queue_of("t", {"a"})),
            object("Scheduling", "s", queue_of("t", {"a", "b", "b"})),
            object("Scheduling", "s", queue_of("t", {"a", "missing"})),
            {{"spec", queue_of("t", {"a", "a", "a", "a", "a"})}},
            {{"spec",
              {{"testbed", {{"name", "t"}}},
               {"slotBased",
                {{"mode", "strict"},
                 {"jobs", {{{"name", {{"name", "a"}}}, {"slotIds", {0, 9}}}}}}}}}},
            {{"metadata", {{"labels", {{"k", nullptr}}}}}},
            {{"spec", {{"priority", 3}}}},
            {{"job", "a"}},
            {{"policy", "Release"}},
            {{"count", 1}},
            {{"nodes", {"n0"}}},
            {{"profiler", {{{"a", "1 (2)"}}}}},
            json::object()};
        auto out = any(bodies);
        for (auto left = random_() % 3; left > 0; --left) {
            std::vector<json*> all{&out};
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!all[i]->is_structured()) continue;
                for (auto& each : *all[i]) all.push_back(&each);
            }
            auto& at = *all[random_() % all.size()];
            if (at.is_object() && once_in(2)) {
                at[once_in(2) ? "name" : "more"] = value();
            } else {
                at = value();
            }
        }
        return out;
    }
    std::string path_for(const operation& of) {
        static const char* const names[] = {"t", "a",   "b",       "f",     "s",    "s",
                                            "s", "new", "missing", "A%20b", "x%3ay"};
        static const char* const namespaces[] = {"ns", "ns", "ns", "other", "none"};
        auto out = of.path;
        if (const auto at = out.find("{namespace}"); at != std::string::npos) {
            out.replace(at, 11, any(namespaces));
        }
        if (const auto at = out.find("{name}"); at != std::string::npos) {
            out.replace(at, 6, any(names));
        }
        std::string query;
        for (const auto& each : of.query) {
            // Without an index or a condition nothing waits.
            if (once_in(3)) query += "&" + each.name + "=" + escaped(text());
        }
        if (once_in(20)) query += "&more=1";
        if (!query.empty()) out += "?" + query.substr(1);
        return out;
    }

    void check(const operation& of, const std::string& asked, const http::server_reply& reply) {
        const auto& known = document_["paths"][of.path][http::lower(of.method)]["responses"];
        const auto status = std::to_string(reply.status);
        ASSERT_TRUE(known.contains(status)) << asked << ": " << status << " " << reply.body;
        ASSERT_TRUE(reply.status < 500 || reply.status == 503 || reply.status == 504)
            << asked << ": " << reply.body;
        ++answers_[of.id][reply.status < 300];
        if (reply.body.empty()) return;
        std::string schema = "Problem";
        for (const auto& each : of.answers) {
            if (each.status == reply.status && !each.contents.empty()) {
                schema = each.contents.front().schema;
            }
        }
        faults wrong;
        const auto told = body(reply);
        ASSERT_FALSE(told.is_discarded()) << asked;
        validate(reference_to(schema), told, "", wrong);
        for (const auto& each : wrong) {
            ADD_FAILURE() << asked << ": " << schema << each.pointer << ": " << each.detail;
        }
    }

    std::mt19937 random_{20261125};
    const ordered_json document_ = ordered_json::parse(openapi_text());
    /// operationId -> how many answers were problems, how many were not.
    std::map<std::string, std::array<int, 2>> answers_;
};

TEST_F(random_requests, are_answered_as_the_document_says) {
    log::send_to([](log::level, std::string_view) {});
    const auto table = operations({});
    for (int turn = 0; turn < 60'000 && !HasFailure(); ++turn) {
        // It is deleted again and again.
        if (turn % 50 == 0) put_plan("s", {"a", "b"});
        const auto& of = any(table);
        if (of.tag == "events") continue;
        auto target = path_for(of);
        std::string sent;
        headers with;
        for (const auto& each : of.headers) {
            if (once_in(2)) with.emplace_back(http::lower(each.name), once_in(2) ? "*" : text());
        }
        if (!of.bodies.empty() && !once_in(10)) {
            sent = some_body().dump();
            if (once_in(30)) sent.resize(sent.size() / 2);
            with.emplace_back("content-type",
                              once_in(30) ? "text/plain" : of.bodies.front().media_type);
        }
        if (once_in(30)) with.emplace_back("accept", once_in(2) ? "text/html" : "application/*");
        const auto asked = of.method + " " + target + " " + sent;
        check(of, asked, ask(of.method, std::move(target), std::move(sent), std::move(with)));
    }
    log::send_to({});
    for (const auto& of : table) {
        if (of.tag == "events") continue;
        EXPECT_GT(answers_[of.id][1], 0) << of.id << " was never answered well";
        EXPECT_GT(answers_[of.id][0], 0) << of.id << " never refused anything";
    }
}

}  // namespace
}  // namespace esi::interface::v1
