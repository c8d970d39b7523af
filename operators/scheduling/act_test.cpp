// The writes of a Scheduling's own Testbed against an API server in memory: guarded, and once.
#include "scheduling/act.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/object_server.h"
#include "model/names.h"

namespace esi::scheduling {
namespace {

using nlohmann::json;

struct acting : testing::Test {
    acting() {
        gate.watch_kind(std::string(kube::types::testbed.kind),
                        [](std::string_view) { return std::optional<std::string>("1"); });
        model::scheduling of;
        of.metadata.namespace_ = "ns";
        of.metadata.name = "s";
        of.metadata.uid = "uid-s";
        auto& claim = of.spec.claim.emplace();
        claim.shapes = {{"executors", "worker", 2, {{"cpu", *model::quantity::parse("4")}}, {}}};
        claim.shapes[0].constraints.affinity.text = R"({"nodeAffinity":{"x":[1]}})";
        self = std::make_shared<const model::scheduling>(std::move(of));
    }
    result<void> perform(action what) {
        std::optional<result<void>> out;
        asio::co_spawn(loop, actor_.perform(self, {std::move(what), {}, {}}, live),
                       [&](std::exception_ptr failed, result<void> done) {
                           EXPECT_FALSE(failed);
                           out = std::move(done);
                       });
        EXPECT_TRUE(run_until(loop, time, [&] { return out.has_value(); }));
        return out.value_or(fail(errc::transport, "no answer"));
    }
    make_testbed wanted() {
        model::testbed_claim claim;
        claim.shapes = self->spec.claim->shapes;
        claim.packing = "Spread";
        claim.priority = 7;
        return {{"ns", "s"}, std::move(claim)};
    }
    const json& stored() { return server.objects.at(path); }
    std::string version() { return stored()["metadata"]["resourceVersion"]; }
    std::string uid() { return stored()["metadata"]["uid"]; }
    std::shared_ptr<const model::testbed> seen() { return live.newer.testbeds.at({"ns", "s"}); }

    const std::string path = kube::types::testbed.path("ns", "s");
    asio::io_context loop;
    virtual_clock time;
    kube::object_server server{time};
    kube::client api{server, time};
    controller::event_recorder events{api, time, "esi-scheduling", "test"};
    controller::metrics numbers;
    http::router routes;
    controller::process_options options;
    controller::environment env{
        loop.get_executor(), time, api, events, numbers, routes, options, api, "test"};
    controller::write_gate gate;
    kube::store<model::testbed> testbeds;
    actor actor_{env, gate, testbeds};
    std::shared_ptr<const model::scheduling> self;
    live_facts live;
};

TEST_F(acting, a_testbed_is_made_with_the_scheduling_as_its_controller) {
    ASSERT_TRUE(perform(wanted()));
    EXPECT_EQ(stored()["metadata"]["ownerReferences"],
              json({{{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                     {"kind", "Scheduling"},
                     {"name", "s"},
                     {"uid", "uid-s"},
                     {"controller", true},
                     {"blockOwnerDeletion", true}}}));
    EXPECT_EQ(stored()["spec"],
              json::parse(R"({"isolation":"None","claim":{"shapes":[{"name":"executors",
                  "role":"worker","count":2,"resources":{"cpu":"4"},
                  "constraints":{"affinity":{"nodeAffinity":{"x":[1]}}}}],
                  "packing":"Spread","priority":7,"suspend":false,"timeoutSeconds":30}})"));
    EXPECT_TRUE(grid::is_made_for(*seen(), *self));
    EXPECT_FALSE(gate.caught_up({"ns", "s"})) << "the watch has to show it first";
}

TEST_F(acting, one_that_exists_is_read_and_not_made_twice) {
    ASSERT_TRUE(perform(wanted()));
    const auto made = uid();
    live = {};
    const auto again = perform(wanted());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, errc::conflict) << "the next decision is made from what there is";
    EXPECT_EQ(seen()->metadata.uid, made);
    EXPECT_EQ(server.log.back(), "GET " + path);
}

TEST_F(acting, it_is_steered_in_one_guarded_write) {
    ASSERT_TRUE(perform(wanted()));
    const steer_claim first{{"ns", "s"}, uid(), version(), 9, true, "2026-11-21T09:34:07Z"};
    ASSERT_TRUE(perform(first));
    EXPECT_EQ(stored()["spec"]["claim"]["priority"], 9);
    EXPECT_EQ(stored()["spec"]["claim"]["suspend"], true);
    EXPECT_EQ(stored()["spec"]["claim"]["packing"], "Spread");
    EXPECT_EQ(seen()->metadata.annotation(model::names::unused_since), "2026-11-21T09:34:07Z");
    const auto stale = perform(first);
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().code, errc::conflict);
    ASSERT_TRUE(perform(steer_claim{{"ns", "s"}, uid(), version(), 9, false, ""}));
    EXPECT_TRUE(seen()->metadata.annotations.empty());
}

TEST_F(acting, it_is_deleted_only_as_it_was_decided_about) {
    ASSERT_TRUE(perform(wanted()));
    const auto was = version();
    server.change(path, [](json& of) { of["metadata"]["annotations"] = {{"a", "b"}}; });
    const auto stale = perform(remove_testbed{{"ns", "s"}, uid(), was, "why"});
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().code, errc::conflict);
    EXPECT_EQ(seen()->metadata.resource_version, version());
    ASSERT_TRUE(perform(remove_testbed{{"ns", "s"}, uid(), version(), "why"}));
    EXPECT_FALSE(server.objects.contains(path));
    EXPECT_EQ(seen(), nullptr);
    const auto gone = perform(remove_testbed{{"ns", "s"}, "uid-s", was, "why"});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, errc::conflict) << "nothing is left to do";
}

}  // namespace
}  // namespace esi::scheduling
