#include "testbed/claims/claims_operator.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"
#include "testbed/caches/slot_promises.h"
#include "testbed/testing.h"

namespace esi::testbed::claims {
namespace {

using testbed::tests::at_second;
using testbed::tests::resources;
using testbed::tests::world;
using testing::HasSubstr;
namespace names = model::names;

struct operator_of_claims : testing::Test {
    operator_of_claims() {
        wire.respond = [this](const kube::request& asked) -> result<kube::response> {
            requests.push_back(asked.target);
            kube::response out;
            const bool there = classes.contains(asked.target.substr(asked.target.rfind('/') + 1));
            out.status = there ? 200 : 404;
            out.body = there ? R"({"value":0,"preemptionPolicy":"Never"})"
                             : R"({"kind":"Status","code":404,"reason":"NotFound"})";
            return out;
        };
        from.on_change(listener);
        for (const auto* name : {"node-a", "node-b"}) {
            auto node = world().add_node(name, "0");
            node.metadata.labels.clear();
            apply(from.fill().nodes, node);
        }
    }
    ~operator_of_claims() override {
        asio::co_spawn(loop, part.stop(time.now()), asio::detached);
        run_for(loop, time, seconds(1));
    }

    template <class T>
    void apply(kube::store<T>& to, T object) {
        object.metadata.resource_version = std::to_string(++version);
        to.apply(std::move(object));
    }
    model::testbed claim(const std::string& name, const std::string& cpu, int count,
                         int born = 10) {
        auto out = world::make_testbed(name, "uid-" + name, born);
        out.spec = {};
        out.spec.isolation = "None";
        auto& wanted = out.spec.claim.emplace();
        wanted.shapes = {{"workers", "worker", count, resources(cpu, "1Gi"), {}}};
        wanted.packing = "Pack";
        return out;
    }
    void put(const model::testbed& of) { apply(from.fill().testbeds, of); }
    void form_as_planned(model::testbed& of) {
        of.status.layout = *plan_of(of.metadata.name);
        part.written(of);
        put(of);
    }
    void give_all_back(model::testbed& of, const give_back& how) {
        of.status.layout = layout_without_places(of);
        put(of);
        part.gave_back(of, how);
    }
    int seconds_until_planned(const std::string& name) {
        int out = 0;
        for (; !plan_of(name) && out < 4000; ++out) run(seconds(1));
        return out;
    }
    const model::testbed_layout* plan_of(const std::string& name) {
        const auto found = from.find_testbed({"default", name});
        return found ? part.plan_of(*found) : nullptr;
    }
    std::string state_of(const std::string& name) {
        return part.standing_of({"default", name}).reason;
    }
    void run(steady_time::duration time_of) { run_for(loop, time, time_of); }

    /// Does what the testbed operator does when it is called.
    struct operator_double final : change_listener {
        explicit operator_double(operator_of_claims& all) : of(all) {}
        void report_changed(const model::object_key&) override {}
        void node_changed(const model::object_key&, std::string_view node) override {
            of.room.slots_changed(node);
            of.part.slots_changed();
        }
        void pod_changed(const model::object_key&, const model::object_key&) override {}
        void job_changed(const model::object_key&, const model::object_key&) override {}
        void hold_changed(const model::object_key& key) override { of.part.testbed_changed(key); }
        void labels_changed(const model::object_key&) override {}
        void all_changed(const model::object_key& key) override {
            const auto found = of.from.find_testbed(key);
            of.room.all_slots_changed(key,
                                      found ? nodes_with_slots(*found) : std::set<std::string>());
            of.part.testbed_changed(key);
        }
        void slice_changed(const model::object_key&, int) override {}
        void node_seen(const kube::change<model::node>& what) override {
            of.room.node_changed(what);
            of.part.node_changed();
        }
        void pod_seen(const kube::change<model::pod>& what) override {
            of.room.pod_changed(what);
            of.part.pod_changed(what);
        }
        operator_of_claims& of;
    };

    int version = 0;
    std::set<std::string> classes{"esi-claim-0"};
    std::vector<std::string> requests;
    std::vector<std::string> changed;
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    controller::event_recorder events{api, time, "esi-testbed", "test"};
    controller::metrics numbers;
    http::router routes;
    controller::process_options common;
    controller::environment env{
        loop.get_executor(), time, api, events, numbers, routes, common, api, "test"};
    testbed::caches from{api, time, {}, true};
    placement::room_upkeep room{[this](const std::string& node) { return slots_on(from, node); }};
    claims_operator part{
        env, from, room, {}, [this](const model::object_key& key) { changed.push_back(key.name); }};
    operator_double listener{*this};
};

TEST_F(operator_of_claims, plans_all_places_once_and_promises_them_until_the_layout_shows) {
    put(claim("nine", "1", 4));
    part.lead();
    run(seconds(1));
    const auto* plan = plan_of("nine");
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->places, (std::vector{0, 0, 1, 1}));
    EXPECT_EQ(plan->nodes.size(), 2u);
    EXPECT_EQ(plan->revision, 1);
    EXPECT_EQ(changed, std::vector<std::string>{"nine"});
    EXPECT_EQ(room.room().promises().size(), 4u);
    EXPECT_EQ(room.room().left_on("node-a")->at("cpu"), 0);
    auto formed = claim("nine", "1", 4);
    formed.status.layout = *plan;
    part.written(claim("nine", "1", 9));
    EXPECT_FALSE(plan_of("nine")) << "written, and not seen yet";
    EXPECT_EQ(room.room().promises().size(), 4u);
    put(formed);
    room.bring_up();
    EXPECT_TRUE(room.room().promises().empty());
    EXPECT_EQ(room.room().left_on("node-a")->at("cpu"), 0) << "its places are in the layout now";
}

TEST_F(operator_of_claims,
       a_claim_that_does_not_fit_says_what_is_missing_and_keeps_nobody_waiting) {
    put(claim("large", "1", 5, 1));
    put(claim("never", "3", 1, 2));
    put(claim("small", "1", 3, 3));
    part.lead();
    run(seconds(1));
    EXPECT_EQ(state_of("large"), "NeverFits");
    EXPECT_EQ(state_of("never"), "NeverFits");
    EXPECT_TRUE(plan_of("small"));
    EXPECT_THAT(part.standing_of({"default", "large"}).message, HasSubstr("4 of 5 places fit"));
}

TEST_F(operator_of_claims, counts_claims_by_their_reason) {
    put(claim("large", "1", 5, 1));
    put(claim("small", "1", 3, 3));
    part.lead();
    run(seconds(1));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claims{reason=\"NeverFits\"} 1\n"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claim_planned_seconds_count 1\n"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claim_given_back_total 0\n"));
    auto formed = claim("small", "1", 3, 3);
    formed.status.layout = *plan_of("small");
    put(formed);
    run(seconds(1));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claims{reason=\"Placed\"} 1\n"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claims{reason=\"Waiting\"} 0\n"));
    part.gave_back(formed, {{"Waiting", "a place was not free"}, {"node-a"}, {}});
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claim_given_back_total 1\n"));
    for (const auto* name : {"large", "small"}) from.fill().testbeds.erase({"default", name});
    run(seconds(1));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claims{reason=\"NeverFits\"} 0\n"));
    EXPECT_THAT(numbers.text(), HasSubstr("esi_claims{reason=\"Placed\"} 0\n"));
}

TEST_F(operator_of_claims, goes_on_by_itself_when_room_comes) {
    auto pod = model::pod();
    pod.metadata.name = "stranger";
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = "uid-stranger";
    pod.node_name = "node-a";
    pod.phase = "Running";
    pod.requests = model::to_amounts(resources("1", "1Gi"));
    apply(from.fill().pods, pod);
    put(claim("four", "1", 4));
    part.lead();
    run(seconds(2));
    EXPECT_EQ(state_of("four"), "NoRoom");
    EXPECT_FALSE(plan_of("four"));
    pod.phase = "Succeeded";
    apply(from.fill().pods, pod);
    run(seconds(1));
    EXPECT_TRUE(plan_of("four"));
}

TEST_F(operator_of_claims, waits_for_its_priority_class_and_takes_it_up) {
    classes.clear();
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    EXPECT_EQ(state_of("one"), "PriorityClassMissing");
    EXPECT_EQ(requests.size(), 1u);
    classes.insert("esi-claim-0");
    run(seconds(15));
    EXPECT_TRUE(plan_of("one"));
}

TEST_F(operator_of_claims, of_two_that_fit_only_one_at_a_time_the_higher_priority_goes_first) {
    auto first = claim("first", "1", 3, 1);
    auto second = claim("second", "1", 3, 2);
    second.spec.claim->priority = 5;
    classes.insert("esi-claim-5");
    wire.respond = [](const kube::request& asked) -> result<kube::response> {
        kube::response out;
        out.status = 200;
        out.body = asked.target.ends_with("5") ? R"({"value":5,"preemptionPolicy":"Never"})"
                                               : R"({"value":0,"preemptionPolicy":"Never"})";
        return out;
    };
    put(first);
    put(second);
    part.lead();
    run(seconds(2));
    EXPECT_FALSE(plan_of("first"));
    EXPECT_EQ(state_of("first"), "NoRoom");
    EXPECT_TRUE(plan_of("second"));
}

TEST_F(operator_of_claims, suspended_held_or_deleted_ones_get_nothing) {
    auto asleep = claim("asleep", "1", 1);
    asleep.spec.claim->suspend = true;
    put(asleep);
    auto held = claim("held", "1", 1);
    held.metadata.annotations[std::string(names::hold)] = "sched.1";
    put(held);
    auto gone = claim("gone", "1", 1);
    gone.metadata.deletion_timestamp = model::timestamp{at_second(20)};
    put(gone);
    part.lead();
    run(seconds(2));
    EXPECT_EQ(state_of("asleep"), "Suspended");
    EXPECT_FALSE(plan_of("asleep"));
    EXPECT_FALSE(plan_of("held"));
    EXPECT_FALSE(plan_of("gone"));
    asleep.spec.claim->suspend = false;
    asleep.metadata.generation = 2;
    put(asleep);
    run(seconds(1));
    EXPECT_TRUE(plan_of("asleep"));
}

TEST_F(operator_of_claims, leaves_out_nodes_of_labelled_testbeds_and_those_it_gave_back) {
    put(world::make_testbed("slots", "uid-slots", 1));
    auto node = world().add_node("node-a", "0");
    apply(from.fill().nodes, node);
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    const auto* plan = plan_of("one");
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->nodes[0].name, "node-b");
    auto formed = claim("one", "1", 1);
    formed.status.layout = *plan;
    part.written(claim("one", "1", 1));
    put(formed);
    part.gave_back(formed, {{"Waiting", "given back"}, {"node-b"}, {}});
    formed.status.layout = layout_without_places(formed);
    put(formed);
    run(seconds(1));
    EXPECT_FALSE(plan_of("one"));
    EXPECT_EQ(state_of("one"), "NoRoom");
    run(avoided_for - seconds(2));
    EXPECT_FALSE(plan_of("one"));
    // A plan that is not written is dropped again, so the test looks for it step by step.
    for (int i = 0; i < 90 && !plan_of("one"); ++i) run(seconds(1));
    EXPECT_TRUE(plan_of("one"));
}

TEST_F(operator_of_claims, waits_twice_as_long_each_time_that_its_ghosts_are_refused) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    auto formed = claim("one", "1", 1);
    std::vector<int> waited;
    for (int i = 0; i < 7; ++i) {
        ASSERT_TRUE(plan_of("one")) << i;
        form_as_planned(formed);
        run(refused_patience);
        const auto back = part.as_refused({"default", "one"}, "1 of 1 place: a quota");
        EXPECT_EQ(part.as_refused({"default", "one"}, "1 of 1 place: a quota").wait, back.wait)
            << "as long as it is not written";
        give_all_back(formed, back);
        const auto& told = back.at;
        waited.push_back(seconds_until_planned("one"));
        EXPECT_THAT(told.message, HasSubstr(fmt::format("1 of 1 place: a quota. All places are "
                                                        "given back, and planned again in {} s",
                                                        waited.back())));
    }
    EXPECT_EQ(waited, (std::vector{60, 120, 240, 480, 960, 1800, 1800}));
}

TEST_F(operator_of_claims, a_plan_whose_write_has_no_answer_stays_promised_for_some_time) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    ASSERT_TRUE(plan_of("one"));
    part.written(claim("one", "1", 1), "no answer");
    EXPECT_EQ(room.room().promises().size(), 1u);
    EXPECT_TRUE(plan_of("one")) << "it is written again";
    auto held = claim("one", "1", 1);
    held.metadata.annotations[std::string(names::hold)] = "sched.1";
    put(held);
    EXPECT_TRUE(room.room().promises().empty()) << "it cannot be written any more";
}

TEST_F(operator_of_claims, many_that_do_not_fit_keep_none_behind_them_waiting) {
    for (int i = 0; i < 40; ++i) put(claim(fmt::format("huge-{}", i), "1", 5, i));
    put(claim("small", "1", 1, 1000));
    part.lead();
    run(seconds(3));
    EXPECT_TRUE(plan_of("small"));
    EXPECT_EQ(state_of("huge-39"), "NoRoom");
}

TEST_F(operator_of_claims, nodes_that_are_not_well_get_no_places) {
    auto node = world().add_node("node-a", "0");
    node.metadata.labels.clear();
    node.ready = false;
    apply(from.fill().nodes, node);
    put(claim("four", "1", 4));
    put(claim("one", "1", 1, 20));
    part.lead();
    run(seconds(1));
    EXPECT_EQ(state_of("four"), "NoRoom") << "it fits when the node is well again";
    ASSERT_TRUE(plan_of("one"));
    EXPECT_EQ(plan_of("one")->nodes[0].name, "node-b");
}

TEST_F(operator_of_claims, other_words_for_the_same_wait_are_shown_seldom) {
    put(claim("five", "1", 3));
    auto pod = model::pod();
    pod.metadata.namespace_ = "default";
    pod.phase = "Running";
    const auto bind = [&](int number, const std::string& cpu, const std::string& phase) {
        pod.metadata.name = fmt::format("stranger-{}", number);
        pod.metadata.uid = pod.metadata.name;
        pod.node_name = number % 2 == 0 ? "node-a" : "node-b";
        pod.phase = phase;
        pod.requests = model::to_amounts(resources(cpu, "1Gi"));
        apply(from.fill().pods, pod);
    };
    bind(0, "1900m", "Running");
    part.lead();
    run(seconds(1));
    const auto before = changed.size();
    EXPECT_EQ(state_of("five"), "NoRoom");
    for (int i = 1; i < 60; ++i) {
        bind(i, fmt::format("{}m", i), i % 3 == 0 ? "Succeeded" : "Running");
        if (i % 4 == 0) bind(i, fmt::format("{}m", i), "Succeeded");
        run(milliseconds(150));
    }
    EXPECT_LE(changed.size(), before + 2);
}

TEST_F(operator_of_claims, a_claim_that_goes_takes_its_promises_with_it) {
    auto one = claim("one", "1", 2);
    put(one);
    part.lead();
    run(seconds(1));
    EXPECT_EQ(room.room().promises().size(), 2u);
    from.fill().testbeds.erase({"default", "one"});
    EXPECT_TRUE(room.room().promises().empty());
    EXPECT_EQ(state_of("one"), "");
}

TEST_F(operator_of_claims, the_wait_of_a_refused_claim_that_was_deleted_is_that_of_the_next_one) {
    auto one = claim("one", "1", 1);
    put(one);
    part.lead();
    run(seconds(1));
    ASSERT_TRUE(plan_of("one"));
    one.status.layout = layout_without_places(one);
    put(one);
    part.gave_back(one, part.as_refused({"default", "one"}, "a quota"));
    run(seconds(10));
    from.fill().testbeds.erase({"default", "one"});
    put(claim("two", "1", 1));
    EXPECT_EQ(state_of("two"), "Waiting");
    EXPECT_THAT(part.standing_of({"default", "two"}).message,
                HasSubstr("the ghosts of claim one, which is gone, were refused: claims of this "
                          "namespace are planned again at "));
    run(seconds(48));
    EXPECT_FALSE(plan_of("two"));
    run(seconds(3));
    EXPECT_TRUE(plan_of("two"));
    EXPECT_EQ(part.as_refused({"default", "two"}, "a quota").wait, seconds(120));
    put(claim("three", "1", 1));
    run(seconds(1));
    EXPECT_TRUE(plan_of("three")) << "that time is over";
}

TEST_F(operator_of_claims, a_refusal_of_earlier_places_is_not_that_of_the_next_ones) {
    auto one = claim("one", "1", 1);
    put(one);
    part.lead();
    run(seconds(1));
    form_as_planned(one);
    part.sees_refusal(one, "exceeded quota: team");
    run(refused_patience);
    give_all_back(one, part.as_refused({"default", "one"}, "a quota"));
    // The quota is raised meanwhile, and the claim is deleted before its next ghosts are seen.
    seconds_until_planned("one");
    run(seconds(70));
    from.fill().testbeds.erase({"default", "one"});
    put(claim("two", "1", 1));
    run(seconds(1));
    EXPECT_TRUE(plan_of("two"));
}

TEST_F(operator_of_claims, a_claim_made_in_between_does_not_take_the_wait_from_the_next_one) {
    auto one = claim("one", "1", 1);
    put(one);
    part.lead();
    run(seconds(1));
    one.status.layout = *plan_of("one");
    put(one);
    // The claim is deleted while its ghosts are refused, before its places are given back.
    part.sees_refusal(one, "exceeded quota: team");
    run(seconds(10));
    from.fill().testbeds.erase({"default", "one"});
    auto decoy = claim("decoy", "1", 1);
    decoy.spec.claim->suspend = true;
    put(decoy);
    put(claim("two", "1", 1));
    run(seconds(50));
    EXPECT_FALSE(plan_of("two"));
    EXPECT_THAT(part.standing_of({"default", "two"}).message, HasSubstr("exceeded quota: team"));
    decoy.spec.claim->suspend = false;
    decoy.metadata.generation = 2;
    put(decoy);
    run(seconds(1));
    EXPECT_EQ(state_of("decoy"), "Waiting");
    run(seconds(12));
    EXPECT_TRUE(plan_of("two"));
    EXPECT_TRUE(plan_of("decoy"));
}

TEST_F(operator_of_claims, places_given_back_with_no_node_at_fault_are_planned_later_each_time) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    auto formed = claim("one", "1", 1);
    std::vector<int> waited;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(plan_of("one")) << i;
        form_as_planned(formed);
        const auto begin = time.now();
        // The places become free one after the other, except the last one.
        run(seconds(500));
        const auto back =
            part.with_pause({"default", "one"}, {{"Waiting", "planned anew"}, {}, {}}, begin);
        EXPECT_THAT(back.at.message, HasSubstr(fmt::format("in {} s", back.wait.count())));
        give_all_back(formed, back);
        waited.push_back(seconds_until_planned("one"));
    }
    EXPECT_EQ(waited, (std::vector{10, 20, 40, 80}));
    const give_back with_node{{"Waiting", "planned anew"}, {"node-a"}, {}};
    EXPECT_EQ(part.with_pause({"default", "one"}, with_node, time.now()).wait, seconds(0));
    // All places were free for some time.
    ASSERT_TRUE(plan_of("one"));
    form_as_planned(formed);
    run(seconds(101));
    EXPECT_EQ(part.with_pause({"default", "one"}, {}, time.now()).wait, seconds(10));
}

TEST_F(operator_of_claims, a_plan_that_nobody_writes_is_made_anew_at_once) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    ASSERT_TRUE(plan_of("one"));
    for (int i = 0; i < 60; ++i) {
        run(seconds(1));
        EXPECT_TRUE(plan_of("one")) << i;
    }
    EXPECT_EQ(state_of("one"), "");
}

TEST_F(operator_of_claims,
       a_plan_that_is_being_written_stays_and_one_of_another_uid_is_not_written) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    const auto of = claim("one", "1", 1);
    part.writes(of);
    run(seconds(29));
    EXPECT_EQ(room.room().promises().size(), 1u);
    EXPECT_EQ(state_of("one"), "");
    // The answer comes when another Testbed has this name.
    auto another = claim("one", "1", 1);
    another.metadata.uid = "uid-another";
    put(another);
    run(seconds(1));
    ASSERT_TRUE(plan_of("one"));
    part.written(of);
    EXPECT_TRUE(plan_of("one"));
    // Its own layout was written, and the cache never shows it.
    part.written(another);
    EXPECT_FALSE(plan_of("one"));
    run(shown_patience + plan_patience);
    EXPECT_TRUE(plan_of("one"));
}

TEST_F(operator_of_claims, the_wait_of_a_refused_claim_is_forgotten_when_its_time_is_over) {
    auto one = claim("one", "1", 1);
    put(one);
    part.lead();
    run(seconds(1));
    one.status.layout = layout_without_places(one);
    put(one);
    part.gave_back(one, part.as_refused({"default", "one"}, "a quota"));
    from.fill().testbeds.erase({"default", "one"});
    run(seconds(121));
    put(claim("two", "1", 1));
    run(seconds(1));
    EXPECT_TRUE(plan_of("two"));
    EXPECT_EQ(part.as_refused({"default", "two"}, "a quota").wait, refused_pause);
}

TEST_F(operator_of_claims,
       a_plan_that_cannot_be_written_is_dropped_and_the_claim_waits_ever_longer) {
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    std::vector<int> waited;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(plan_of("one")) << i;
        part.written(claim("one", "1", 1), "a webhook refuses it");
        for (int k = 0; k < 200 && plan_of("one"); ++k) run(milliseconds(100));
        EXPECT_TRUE(room.room().promises().empty());
        EXPECT_EQ(state_of("one"), "Waiting");
        EXPECT_THAT(part.standing_of({"default", "one"}).message,
                    HasSubstr("its layout could not be written within 10 s: a webhook refuses it"));
        waited.push_back(seconds_until_planned("one"));
    }
    EXPECT_EQ(waited, (std::vector{10, 20, 40}));
    part.written(claim("one", "1", 1));
    EXPECT_EQ(state_of("one"), "");
}

TEST_F(operator_of_claims, nodes_that_have_the_same_number_in_a_label_are_nobodys) {
    auto by_count = world::make_testbed("slots", "uid-slots", 1);
    by_count.spec.node_label = "gpu.count";
    put(by_count);
    for (const auto* name : {"node-a", "node-b"}) {
        auto node = world().add_node(name, "0");
        node.metadata.labels = {{"gpu.count", "4"}};
        apply(from.fill().nodes, node);
    }
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(1));
    EXPECT_TRUE(plan_of("one"));
    from.fill().testbeds.erase({"default", "one"});
    by_count.status.layout.emplace().nodes = {{"node-a", "uid-node-a", 4}};
    by_count.status.layout->slots_per_node = 1;
    by_count.status.layout->resources_per_slot = resources("100m", "1Mi");
    put(by_count);
    put(claim("two", "1", 1));
    run(seconds(1));
    ASSERT_TRUE(plan_of("two"));
    EXPECT_EQ(plan_of("two")->nodes[0].name, "node-b") << "node-a is in the layout of that Testbed";
}

TEST_F(operator_of_claims, one_that_never_fitted_is_asked_about_again_when_nodes_have_come) {
    put(claim("five", "1", 5));
    auto pod = model::pod();
    pod.metadata.name = "stranger";
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = "uid-stranger";
    pod.node_name = "node-c";
    pod.phase = "Running";
    pod.requests = model::to_amounts(resources("2", "1Gi"));
    apply(from.fill().pods, pod);
    part.lead();
    run(seconds(1));
    EXPECT_EQ(state_of("five"), "NeverFits");
    auto node = world().add_node("node-c", "0");
    node.metadata.labels.clear();
    apply(from.fill().nodes, node);
    run(never_pause + seconds(2));
    EXPECT_EQ(state_of("five"), "NoRoom") << "it would fit if the stranger were not there";
}

TEST_F(operator_of_claims, a_class_that_cannot_be_read_for_a_moment_is_not_missing) {
    bool well = false;
    wire.respond = [&](const kube::request&) -> result<kube::response> {
        kube::response out;
        out.status = well ? 200 : 503;
        out.body = well ? R"({"value":0,"preemptionPolicy":"Never"})"
                        : R"({"kind":"Status","code":503,"reason":"ServiceUnavailable"})";
        return out;
    };
    put(claim("one", "1", 1));
    part.lead();
    run(seconds(5));
    EXPECT_EQ(state_of("one"), "Waiting");
    EXPECT_THAT(part.standing_of({"default", "one"}).message, HasSubstr("cannot be read"));
    well = true;
    run(seconds(15));
    EXPECT_TRUE(plan_of("one"));
}

TEST_F(operator_of_claims, time_in_which_a_pass_waits_for_answers_delays_the_next_one_by_nothing) {
    wire.latency = seconds(2);
    for (int i = 1; i <= 6; ++i) {
        auto one = claim(fmt::format("claim-{}", i), "1", 1);
        one.spec.claim->priority = i;
        put(one);
    }
    part.lead();
    run(milliseconds(8200));
    EXPECT_EQ(requests.size(), 4u) << "as many as are planned in one pass";
    run(seconds(2));
    EXPECT_EQ(requests.size(), 5u);
}

TEST_F(operator_of_claims, one_that_goes_while_another_is_planned_is_not_planned) {
    put(claim("first", "1", 1, 1));
    put(claim("second", "1", 1, 2));
    wire.respond = [&](const kube::request&) -> result<kube::response> {
        auto asleep = claim("second", "1", 1, 2);
        asleep.spec.claim->suspend = true;
        asleep.metadata.generation = 2;
        put(asleep);
        kube::response out;
        out.status = 200;
        out.body = R"({"value":0,"preemptionPolicy":"Never"})";
        return out;
    };
    part.lead();
    run(seconds(2));
    EXPECT_TRUE(plan_of("first"));
    EXPECT_EQ(state_of("second"), "Suspended");
    EXPECT_EQ(room.room().promises().size(), 1u);
}

}  // namespace
}  // namespace esi::testbed::claims
