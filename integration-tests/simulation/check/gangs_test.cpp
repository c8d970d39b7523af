#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/group_kinds.h"
#include "check/invariants.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two nodes of one CPU, a group that needs two members, and what an operator would write: a test
/// does the legal steps up to where it wants to do something else.
struct gang_rules_test : testing::Test {
    static constexpr std::string_view gate = "esi.tu-berlin.de/gang";

    void SetUp() override {
        space("default", true);
        space("elsewhere", false);
        node("n1");
        node("n2");
        judge = std::make_unique<invariants>(store, time);
        judge->judge_gangs();
        judge->all_disturbances_are_told();
        judge->leads("testbed");
        judge->scheduler_started("default-scheduler");
        wait(60s);
    }

    void wait(steady_time::duration passed) { time.advance_to(time.now() + passed); }
    /// The world's heartbeat, for so long.
    void beat(seconds passed) {
        for (auto left = passed; left > 0s; left -= 2s) {
            wait(2s);
            put(kinds::lease, {{"metadata", {{"name", "l"}, {"namespace", "default"}}}});
        }
    }
    json put(const kube::resource_type& type, json body) { return store.put(type, body)->body(); }
    void space(const char* name, bool enabled) {
        json labels = json::object();
        if (enabled) labels["esi.tu-berlin.de/gangs"] = "enabled";
        put(kinds::name_space, {{"metadata", {{"name", name}, {"uid", name}, {"labels", labels}}}});
    }
    void node(const char* name) {
        put(kinds::node, {{"metadata", {{"name", name}, {"uid", name}, {"labels", json::object()}}},
                          {"status",
                           {{"allocatable", {{"cpu", "1"}, {"memory", "2Gi"}, {"pods", "10"}}},
                            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    template <class Change>
    void change_node(const char* name, Change how) {
        auto body = store.find(kinds::node, {}, name)->body();
        how(body);
        put(kinds::node, body);
    }
    void taint(const char* name, const char* key = "esi.tu-berlin.de/testbed") {
        change_node(name, [key](json& body) {
            body["spec"]["taints"] = {{{"key", key}, {"value", "t"}, {"effect", "NoSchedule"}}};
        });
    }
    static const kube::resource_type& group_type() {
        return *group_kind_named("coscheduling").type;
    }
    void group(const char* name = "g", int least = 2, json annotations = json::object()) {
        put(group_type(), {{"metadata",
                            {{"name", name},
                             {"namespace", "default"},
                             {"uid", name},
                             {"creationTimestamp", "2026-01-02T03:04:05Z"},
                             {"annotations", std::move(annotations)}}},
                           {"spec", {{"minMember", least}}}});
    }
    static json pod(const std::string& name, const char* cpu, int priority = 0,
                    const char* ns = "default") {
        return {
            {"metadata", {{"name", name}, {"namespace", ns}, {"uid", name}}},
            {"spec",
             {{"schedulerName", "default-scheduler"},
              {"priority", priority},
              {"containers", {{{"name", "main"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
            {"status", {{"phase", "Pending"}}}};
    }
    void member(const std::string& name, const char* cpu = "600m", const char* of = "g",
                const char* ns = "default") {
        auto body = pod(name, cpu, 0, ns);
        body["metadata"]["labels"] = {{"scheduling.x-k8s.io/pod-group", of},
                                      {"esi.tu-berlin.de/gang", "true"}};
        body["spec"]["schedulingGates"] = {{{"name", gate}}};
        put(kinds::pod, body);
    }
    template <class Change>
    void change(const std::string& name, Change how) {
        auto body = store.find(kinds::pod, "default", name)->body();
        how(body);
        put(kinds::pod, body);
    }
    void nominate(const std::string& name, const char* node) {
        change(name, [&](json& body) { body["status"]["nominatedNodeName"] = node; });
    }
    void look(const char* node) { judge->listed_node("testbed", node); }
    void let_in(const std::string& name, const char* node, bool pinned = true) {
        change(name, [&](json& body) {
            body["metadata"]["annotations"]["esi.tu-berlin.de/gang-node"] = node;
            body["spec"].erase("schedulingGates");
            if (!pinned) return;
            body["spec"]["affinity"]["nodeAffinity"]
                ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = {
                    {{"matchFields",
                      {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}}}}}};
        });
    }
    void bind(const std::string& name, const char* node) {
        change(name, [&](json& body) {
            body["spec"]["nodeName"] = node;
            body["status"] = {{"phase", "Running"}};
        });
    }
    void stranger(const std::string& name, const char* cpu, const char* node, int priority = 0) {
        put(kinds::pod, pod(name, cpu, priority));
        bind(name, node);
    }
    /// Two members and their group.
    void made() {
        group();
        member("a");
        member("b");
    }
    void reserved() {
        made();
        nominate("a", "n1");
        nominate("b", "n2");
        wait(20ms);
    }
    void preempted(const char* victim, const char* by) {
        judge->preempted(store.find(kinds::pod, "default", victim)->body(),
                         store.find(kinds::pod, "default", by)->body());
    }
    /// A pod that was there before `a` was promised the room.
    void evicted_for_a() {
        put(kinds::pod, pod("s", "600m", -1));
        bind("s", "n1");
        wait(20s);
        looked();
        let_in("a", "n1");
        wait(1s);
        preempted("s", "a");
    }
    void looked() {
        reserved();
        look("n1");
        look("n2");
        wait(20ms);
    }
    void running() {
        looked();
        let_in("a", "n1");
        let_in("b", "n2");
        bind("a", "n1");
        bind("b", "n2");
    }
    void sends(const char* verb, const std::string& pod, const char* ns = "default") {
        kube::request what(verb, fmt::format("/api/v1/namespaces/{}/pods/{}", ns, pod));
        what.body = json{{"metadata", {{"uid", pod}, {"resourceVersion", "7"}}},
                         {"preconditions", {{"uid", pod}}}}
                        .dump();
        judge->wrote("testbed", 0, what, time.now(), time.now() + 10s);
    }
    std::vector<std::string> broken() const {
        std::vector<std::string> out;
        for (const auto& each : judge->violations()) {
            if (std::ranges::find(out, each.rule) == out.end()) out.push_back(each.rule);
        }
        return out;
    }

    timeline time;
    storage store{[this] { return time.now(); }};
    std::unique_ptr<invariants> judge;
};

TEST_F(gang_rules_test, all_or_none_after_a_look_breaks_nothing) {
    running();
    beat(60s);
    judge->at_end();
    EXPECT_THAT(broken(), IsEmpty());
    EXPECT_GT(judge->checks(), 20U);
}

TEST_F(gang_rules_test, nobody_is_let_in_before_a_look) {
    reserved();
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-unseen"));
}

TEST_F(gang_rules_test, a_look_before_the_nomination_counts_for_nothing) {
    made();
    look("n1");
    look("n2");
    wait(20ms);
    nominate("a", "n1");
    nominate("b", "n2");
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-unseen"));
}

TEST_F(gang_rules_test, the_look_has_to_show_room_for_all) {
    stranger("s", "600m", "n2");
    looked();
    let_in("a", "n1");
    EXPECT_THAT(broken(), Contains("let-in-without-room"));
}

TEST_F(gang_rules_test, room_that_was_there_at_the_look_may_be_taken_afterwards) {
    looked();
    stranger("s", "600m", "n2", 100);
    let_in("a", "n1");
    let_in("b", "n2");
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, the_minimum_is_let_in_or_nobody) {
    made();
    nominate("a", "n1");
    look("n1");
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-in-part"));
}

TEST_F(gang_rules_test, who_was_let_in_proves_that_a_look_was_passed) {
    looked();
    let_in("a", "n1");
    wait(1s);
    change("b", [](json& body) { body["status"].erase("nominatedNodeName"); });
    nominate("b", "n2");
    let_in("b", "n2");
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, a_member_goes_where_it_is_nominated) {
    looked();
    let_in("a", "n2");
    EXPECT_THAT(broken(), Contains("let-in-elsewhere"));
}

TEST_F(gang_rules_test, a_member_is_pinned) {
    looked();
    let_in("a", "n1", false);
    EXPECT_THAT(broken(), ElementsAre("gang-not-pinned"));
}

TEST_F(gang_rules_test, a_member_is_bound_where_it_was_let_in) {
    looked();
    let_in("a", "n1");
    bind("a", "n2");
    EXPECT_THAT(broken(), Contains("gang-bound-elsewhere"));
}

TEST_F(gang_rules_test, a_member_goes_to_a_node_that_takes_it) {
    taint("n2");
    wait(10s);
    looked();
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-unfit"));
}

TEST_F(gang_rules_test, a_node_may_be_tainted_as_the_gang_is_let_in) {
    looked();
    taint("n2");
    let_in("a", "n1");
    let_in("b", "n2");
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, a_node_that_the_member_does_not_select_does_not_take_it) {
    made();
    change("b", [](json& body) {
        body["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"] = {
                {{"matchExpressions", {{{"key", "disk"}, {"operator", "Exists"}}}}}};
    });
    nominate("a", "n1");
    nominate("b", "n2");
    wait(20ms);
    look("n1");
    look("n2");
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-unfit"));
}

TEST_F(gang_rules_test, nobody_of_a_suspended_group_is_let_in) {
    group("g", 2, {{"esi.tu-berlin.de/suspend", "true"}});
    member("a");
    member("b");
    beat(20s);
    nominate("a", "n1");
    nominate("b", "n2");
    wait(20ms);
    look("n1");
    look("n2");
    let_in("a", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-suspended"));
}

TEST_F(gang_rules_test, room_is_promised_once) {
    made();
    member("c", "600m", "h");
    nominate("a", "n1");
    nominate("c", "n1");
    EXPECT_THAT(broken(), IsEmpty()) << "one of the two may be on its way back";
    beat(10s);
    EXPECT_THAT(broken(), ElementsAre("promised-twice"));
}

TEST_F(gang_rules_test, one_that_waited_long_keeps_what_is_not_free_yet) {
    stranger("s", "900m", "n1");
    made();
    beat(61s);
    nominate("a", "n1");
    member("c", "600m", "h");
    nominate("b", "n2");
    nominate("c", "n2");
    beat(10s);
    EXPECT_THAT(broken(), IsEmpty()) << "the one that waited may be the one in whose way it is";
    member("d", "600m", "i");
    nominate("d", "n2");
    beat(10s);
    EXPECT_THAT(broken(), ElementsAre("promised-twice"));
}

TEST_F(gang_rules_test, two_are_not_let_in_to_one_place) {
    reserved();
    group("h", 1);
    member("c", "600m", "h");
    nominate("c", "n1");
    look("n1");
    look("n2");
    wait(5ms);
    let_in("a", "n1");
    EXPECT_THAT(broken(), IsEmpty());
    let_in("c", "n1");
    EXPECT_THAT(broken(), ElementsAre("let-in-without-room"));
}

TEST_F(gang_rules_test, a_stranger_of_the_same_priority_takes_no_promised_room) {
    reserved();
    wait(11s);
    stranger("s", "600m", "n1");
    EXPECT_THAT(broken(), ElementsAre("promise-broken"));
}

TEST_F(gang_rules_test, a_stranger_of_higher_priority_may_take_it) {
    reserved();
    wait(11s);
    stranger("s", "600m", "n1", 7);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, a_new_scheduler_is_shown_the_nominations) {
    reserved();
    wait(11s);
    judge->scheduler_started("default-scheduler");
    wait(5s);
    stranger("early", "600m", "n1");
    EXPECT_THAT(broken(), IsEmpty());
    wait(11s);
    stranger("late", "600m", "n2");
    EXPECT_THAT(broken(), ElementsAre("promise-broken"));
}

TEST_F(gang_rules_test, nobody_is_evicted_for_a_gang) {
    evicted_for_a();
    beat(2s);
    EXPECT_THAT(broken(), Contains("evicted-for-a-gang"));
}

TEST_F(gang_rules_test, who_was_chosen_before_and_is_bound_after_may_be_the_reason_of_an_eviction) {
    evicted_for_a();
    wait(20ms);
    stranger("chosen", "100m", "n1");
    beat(4s);
    EXPECT_THAT(broken(), testing::Not(Contains("evicted-for-a-gang")));
}

TEST_F(gang_rules_test, victims_chosen_before_for_another_may_be_the_reason_of_an_eviction) {
    put(kinds::pod, pod("urgent", "600m", 1));
    evicted_for_a();
    wait(200ms);
    preempted("s", "urgent");
    beat(4s);
    EXPECT_THAT(broken(), testing::Not(Contains("evicted-for-a-gang")));
}

TEST_F(gang_rules_test, who_came_meanwhile_may_be_the_reason_of_an_eviction) {
    looked();
    stranger("s", "600m", "n1", -1);
    let_in("a", "n1");
    preempted("s", "a");
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, strangers_are_not_written) {
    stranger("s", "100m", "n1");
    sends("PATCH", "s");
    EXPECT_THAT(broken(), ElementsAre("stranger-written"));
}

TEST_F(gang_rules_test, pods_elsewhere_are_not_written) {
    member("a", "600m", "g", "elsewhere");
    sends("PATCH", "a", "elsewhere");
    EXPECT_THAT(broken(), ElementsAre("not-enabled"));
}

TEST_F(gang_rules_test, a_member_is_not_deleted_without_a_refusal) {
    running();
    sends("DELETE", "a");
    EXPECT_THAT(broken(), ElementsAre("deleted-for-a-gang"));
}

TEST_F(gang_rules_test, a_refused_member_may_be_deleted) {
    looked();
    let_in("a", "n1");
    change("a", [](json& body) {
        body["status"]["conditions"] = {
            {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}};
    });
    sends("DELETE", "a");
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, a_reserve_ends) {
    stranger("s", "900m", "n1");
    stranger("t", "900m", "n2");
    made();
    beat(62s);
    nominate("a", "n1");
    beat(170s);
    EXPECT_THAT(broken(), IsEmpty());
    beat(20s);
    EXPECT_THAT(broken(), ElementsAre("reserve-without-end"));
}

TEST_F(gang_rules_test, a_gang_that_fits_is_let_in_soon) {
    made();
    beat(30s);
    EXPECT_THAT(broken(), IsEmpty());
    beat(30s);
    EXPECT_THAT(broken(), ElementsAre("gang-late"));
}

TEST_F(gang_rules_test, what_a_minimum_has_grown_by_since_it_was_reached_may_wait) {
    group("g", 1);
    member("a");
    member("b");
    nominate("a", "n1");
    look("n1");
    let_in("a", "n1");
    bind("a", "n1");
    beat(10s);
    group("g", 2);
    beat(60s);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, a_gang_that_fits_is_delayed_by_a_reserve_for_a_bounded_time) {
    stranger("s", "500m", "n1");
    member("c", "400m", "h");
    group("h", 2);
    member("d", "2", "h");
    nominate("c", "n1");
    made();
    node("n3");
    node("n4");
    beat(100s);
    EXPECT_THAT(broken(), IsEmpty());
    beat(200s);
    EXPECT_THAT(broken(), Contains("gang-late"));
}

TEST_F(gang_rules_test, a_gang_that_does_not_fit_waits_as_long_as_it_takes) {
    stranger("s", "900m", "n1");
    made();
    beat(600s);
    judge->at_end();
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(gang_rules_test, at_the_end_a_gang_that_fits_runs) {
    made();
    judge->at_end();
    EXPECT_THAT(broken(), ElementsAre("gang-waits"));
}

TEST_F(gang_rules_test, at_the_end_nothing_is_reserved) {
    reserved();
    store.erase(group_type(), "default", "g");
    judge->at_end();
    EXPECT_THAT(broken(), ElementsAre("left-behind"));
}

TEST_F(gang_rules_test, at_the_end_who_was_let_in_is_bound_where_there_is_room) {
    looked();
    let_in("a", "n1");
    let_in("b", "n2");
    bind("a", "n1");
    judge->at_end();
    EXPECT_THAT(broken(), ElementsAre("let-in-and-unbound"));
}

TEST_F(gang_rules_test, at_the_end_one_whose_node_was_tainted_since_may_wait) {
    looked();
    let_in("a", "n1");
    let_in("b", "n2");
    bind("a", "n1");
    taint("n2", "dedicated");
    judge->at_end();
    EXPECT_THAT(broken(), IsEmpty());
    change("b", [](json& body) {
        body["spec"]["tolerations"] = {{{"key", "dedicated"}, {"operator", "Exists"}}};
    });
    judge->at_end();
    EXPECT_THAT(broken(), ElementsAre("let-in-and-unbound"));
}

TEST_F(gang_rules_test, at_the_end_a_part_that_is_to_be_deleted_is_gone) {
    group("g", 2, {{"esi.tu-berlin.de/on-partial", "Delete"}});
    member("a");
    member("b");
    nominate("a", "n1");
    nominate("b", "n2");
    look("n1");
    look("n2");
    let_in("a", "n1");
    let_in("b", "n2");
    bind("a", "n1");
    store.erase(kinds::pod, "default", "b");
    judge->at_end();
    EXPECT_THAT(broken(), ElementsAre("in-part"));
}

}  // namespace
}  // namespace esi::simulation
