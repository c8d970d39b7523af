#include "gangs/live_facts.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::gangs {
namespace {

using nlohmann::json;

struct facts_read_live : testing::Test {
    facts_read_live() {
        wire.respond = [this](const kube::request& asked) -> result<kube::response> {
            kube::response out;
            const auto found = objects.find(asked.target.substr(0, asked.target.find('?')));
            out.status = found == objects.end() ? 404 : 200;
            out.body = found == objects.end() ? R"({"code":404,"reason":"NotFound"})"
                                              : found->second.dump();
            return out;
        };
        objects["/apis/storage.k8s.io/v1/csinodes"] = {
            {"items",
             {{{"metadata", {{"name", "node-a"}, {"uid", "1"}}},
               {"spec",
                {{"drivers",
                  {{{"name", "few.example"}, {"allocatable", {{"count", 8}}}},
                   {{"name", "many.example"}}}}}}}}}};
    }
    result<facts> read(needs what) {
        std::optional<result<facts>> out;
        asio::co_spawn(loop, reader.read(std::move(what), reader.ticket()),
                       [&](std::exception_ptr failure, result<facts> answer) {
                           if (failure) std::rethrow_exception(failure);
                           out = std::move(answer);
                       });
        run_until(loop, time, [&] { return out.has_value(); });
        return out.value_or(fail(errc::timeout, "the test's limit"));
    }
    void add_claim(const std::string& name, json spec, const std::string& phase = "Bound") {
        objects["/api/v1/namespaces/lab/persistentvolumeclaims/" + name] = {
            {"metadata", {{"name", name}, {"namespace", "lab"}, {"uid", name}}},
            {"spec", std::move(spec)},
            {"status", {{"phase", phase}}}};
    }
    void add_volume(const std::string& name, json spec) {
        objects["/api/v1/persistentvolumes/" + name] = {
            {"metadata",
             {{"name", name}, {"uid", name}, {"labels", {{"topology.kubernetes.io/zone", "z"}}}}},
            {"spec", std::move(spec)}};
    }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    request_slots slots{loop.get_executor(), 16};
    fact_reader reader{loop.get_executor(), time, api, slots};
    std::map<std::string, json> objects;
};

TEST_F(facts_read_live, a_bound_claim_has_what_its_volume_says) {
    add_claim("data", {{"volumeName", "pv-1"}, {"accessModes", {"ReadWriteOncePod"}}});
    add_volume("pv-1", {{"nodeAffinity", {{"required", {{"nodeSelectorTerms", json::array()}}}}},
                        {"csi", {{"driver", "few.example"}}}});
    const auto read_ = read({{}, {{"lab", "data"}}});
    ASSERT_TRUE(read_) << read_.error().text;
    const auto& fact = read_->claims.at({"lab", "data"});
    EXPECT_TRUE(fact.bound);
    EXPECT_TRUE(fact.for_one_pod);
    EXPECT_TRUE(fact.limited);
    EXPECT_EQ(fact.node_affinity.text, R"({"nodeSelectorTerms":[]})");
    EXPECT_EQ(fact.labels.at("topology.kubernetes.io/zone"), "z");
}

TEST_F(facts_read_live, a_driver_without_a_limit_limits_nothing) {
    add_claim("data", {{"volumeName", "pv-1"}});
    add_volume("pv-1", {{"csi", {{"driver", "many.example"}}}});
    EXPECT_FALSE(read({{}, {{"lab", "data"}}})->claims.at({"lab", "data"}).limited);
    // A volume of the node itself has no driver: CSINodes are not read.
    wire.asked.clear();
    add_volume("pv-1", {{"local", {{"path", "/x"}}}});
    EXPECT_TRUE(read({{}, {{"lab", "data"}}})->claims.at({"lab", "data"}).bound);
    EXPECT_EQ(wire.asked.size(), 2);
}

TEST_F(facts_read_live, claims_that_are_not_bound_or_not_there_are_said_so) {
    add_claim("waits", {{"accessModes", {"ReadWriteOnce"}}}, "Pending");
    add_claim("lost", {{"volumeName", "gone"}});
    const auto found = read({{}, {{"lab", "waits"}, {"lab", "lost"}, {"lab", "none"}}});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->claims.size(), 3);
    for (const auto& [key, fact] : found->claims) EXPECT_FALSE(fact.bound) << key.name;
}

TEST_F(facts_read_live, bound_pods_of_namespaces_are_listed_whole) {
    objects["/api/v1/namespaces/lab/pods"] = {
        {"items",
         {{{"metadata",
            {{"name", "web"}, {"namespace", "lab"}, {"uid", "1"}, {"labels", {{"app", "web"}}}}},
           {"spec", {{"nodeName", "node-a"}}}}}}};
    const auto found = read({{"lab"}, {}});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pods.at("lab").at(0)->metadata.label("app"), "web");
    EXPECT_EQ(wire.asked.back(),
              "GET /api/v1/namespaces/lab/pods?fieldSelector=spec.nodeName%21%3D");
}

TEST_F(facts_read_live, one_list_of_a_namespace_serves_all_who_asked_before_it) {
    objects["/api/v1/namespaces/lab/pods"] = {{"items", json::array()}};
    wire.latency = seconds(1);
    int answers = 0;
    const auto ask = [&] {
        asio::co_spawn(loop, reader.read({{"lab"}, {}}, reader.ticket()),
                       [&](std::exception_ptr failure, const result<facts>& answer) {
                           if (failure) std::rethrow_exception(failure);
                           EXPECT_TRUE(answer && answer->pods.contains("lab"));
                           ++answers;
                       });
    };
    for (int i = 0; i < 50; ++i) ask();
    EXPECT_TRUE(run_until(loop, time, [&] { return answers == 50; }));
    EXPECT_EQ(wire.asked.size(), 1);
    // A later request may know of pods that were not there yet.
    ask();
    EXPECT_TRUE(run_until(loop, time, [&] { return answers == 51; }));
    EXPECT_EQ(wire.asked.size(), 2);
}

TEST_F(facts_read_live, who_names_too_many_claims_has_none_read) {
    needs what;
    for (std::size_t i = 0; i <= most_claims_read; ++i)
        what.claims.insert({"lab", std::to_string(i)});
    const auto found = read(what);
    ASSERT_FALSE(found);
    EXPECT_TRUE(found.error().text.contains("5001 volume claims")) << found.error().text;
    EXPECT_TRUE(wire.asked.empty());
}

TEST_F(facts_read_live, what_cannot_be_read_leaves_no_half) {
    add_claim("data", {{"volumeName", "pv-1"}});
    const auto usual = wire.respond;
    wire.respond = [&](const kube::request& asked) -> result<kube::response> {
        if (asked.target.contains("persistentvolumes")) return fail(errc::timeout, "no answer");
        return usual(asked);
    };
    EXPECT_FALSE(read({{}, {{"lab", "data"}}}));
}

}  // namespace
}  // namespace esi::gangs
