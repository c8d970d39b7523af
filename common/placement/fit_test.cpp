#include "placement/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/testing/builders.h"

namespace esi::placement {
namespace {

using testing::HasSubstr;
using tests::alike;
using tests::cluster;
using tests::make_node;
using tests::make_pod;
using tests::shared;
using tests::show;
using tests::together;

struct a_fit : testing::Test {
    /// The no_fit of the members; fails the test if there is a placement.
    no_fit refused(const std::vector<pod_pointer>& members, const fit_options& options = {}) {
        auto result = at.fit(members, options);
        if (const auto* out = std::get_if<no_fit>(&result)) return *out;
        ADD_FAILURE() << "fits: " << show(result);
        return {};
    }
    std::string place(const std::vector<pod_pointer>& members, const fit_options& options = {}) {
        auto result = at.fit(members, options);
        const auto* out = std::get_if<chosen_nodes>(&result);
        EXPECT_TRUE(out) << show(result);
        return out ? fmt::format("{}", fmt::join(out->nodes, " ")) : "";
    }

    cluster at;
};

model::pod with_affinity(std::string_view text) {
    model::pod out;
    out.affinity.text = text;
    return out;
}

/// A required term of podAffinity or podAntiAffinity for pods with this app.
std::string near_terms(std::string_view kind, std::string_view app, std::string_view key,
                       std::string_view more = "") {
    return fmt::format(R"({{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[
        {{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}{}}}]}}}})",
                       kind, key, app, more);
}

model::pod of_app(std::string app, std::string affinity = {}) {
    model::pod out;
    out.metadata.labels["app"] = std::move(app);
    out.affinity.text = std::move(affinity);
    return out;
}

model::pod spread_over(std::string_view key, std::string_view more = "") {
    model::pod out;
    out.metadata.labels["app"] = "x";
    out.topology_spread.text = fmt::format(
        R"([{{"maxSkew":1,"topologyKey":"{}","whenUnsatisfiable":"DoNotSchedule",
              "labelSelector":{{"matchLabels":{{"app":"x"}}}}{}}}])",
        key, more);
    return out;
}

// --- room ---

TEST_F(a_fit, without_members_is_always_there) { EXPECT_EQ(place({}), ""); }

TEST_F(a_fit, fills_a_node_before_it_begins_another) {
    at.add(make_node("a", "cpu=2"));
    at.add(make_node("b", "cpu=4"));
    at.add(make_node("c", "cpu=2"));
    EXPECT_EQ(place(alike("w", 5, "cpu=1")), "b b b b a");
    EXPECT_EQ(place(alike("w", 2, "cpu=1")), "a a") << "the fullest of those that take all";
}

TEST_F(a_fit, spreads_where_it_is_asked_to) {
    at.add(make_node("a", "cpu=2"));
    at.add(make_node("b", "cpu=4"));
    at.add(make_node("c", "cpu=2"));
    EXPECT_EQ(place(alike("w", 4, "cpu=1"), {.how = packing::spread}), "b a c b");
}

TEST_F(a_fit, places_the_largest_members_first) {
    at.add(make_node("a", "cpu=3"));
    at.add(make_node("b", "cpu=4"));
    const auto members = together(alike("small", 3, "cpu=1"), alike("large", 1, "cpu=4"));
    EXPECT_EQ(place(members), "a a a b");
}

TEST_F(a_fit, finds_what_the_largest_first_misses) {
    at.add(make_node("a", "cpu=10"));
    at.add(make_node("b", "cpu=6"));
    EXPECT_EQ(place(together(alike("l", 1, "cpu=6"), alike("s", 2, "cpu=5"))), "b a a");
    cluster tight;
    for (const auto* name : {"a", "b", "c"}) tight.add(make_node(name, "cpu=12"));
    const auto exact = together(together(alike("q", 2, "cpu=7"), alike("r", 2, "cpu=5")),
                                together(alike("s", 2, "cpu=4"), alike("t", 1, "cpu=4")));
    const auto result = tight.fit(exact);
    EXPECT_TRUE(std::holds_alternative<chosen_nodes>(result)) << show(result);
}

TEST_F(a_fit, says_how_many_fit_and_what_is_missing) {
    at.add(make_node("node-a", "cpu=1600m memory=8Gi"));
    at.add(make_node("node-b", "cpu=500m memory=8Gi"));
    auto tainted = make_node("node-c", "cpu=8 memory=8Gi");
    tainted.taints = {{"team", "b", "NoSchedule"}};
    at.add(tainted);
    const auto no = refused(alike("w", 3, "cpu=1 memory=1Gi"));
    EXPECT_EQ(no.reason, no_fit_reason::no_room);
    EXPECT_EQ(no.members, 3);
    EXPECT_EQ(no.fitting, 1);
    EXPECT_EQ(no.message,
              "1 of 3 members fit; pod lab/w-1 (1 cpu, 1Gi memory) does not: 0/3 nodes are "
              "available: 2 Insufficient cpu, 1 node(s) had untolerated taint {team: b}; most cpu "
              "left on one node: 600m");
    EXPECT_EQ(no.most_left_on, "node-a");
    fit_options to_admins;
    to_admins.tell_nodes = true;
    EXPECT_THAT(show(at.fit(alike("w", 3, "cpu=1 memory=1Gi"), to_admins)),
                HasSubstr("most cpu left on one node: 600m (node-a)"));
}

TEST_F(a_fit, counts_what_is_taken_and_what_is_promised) {
    at.add(make_node("a", "cpu=4"));
    at.add(make_pod("p", "cpu=1", "a"));
    at.room.promise(shared(make_pod("m", "cpu=1")), "a");
    at.room.slots_changed("a", {{{"cpu", 1000}, {"pods", 1000}}});
    EXPECT_EQ(place(alike("w", 1, "cpu=1")), "a");
    EXPECT_EQ(refused(alike("w", 2, "cpu=1")).fitting, 1);
}

TEST_F(a_fit, knows_extended_resources_and_pods_per_node) {
    at.add(make_node("a", "cpu=8 example.com/gpu=1"));
    at.add(make_node("b", "cpu=8 pods=2"));
    EXPECT_EQ(place(alike("w", 1, "example.com/gpu=1")), "a");
    EXPECT_THAT(refused(alike("w", 2, "example.com/gpu=1")).message,
                HasSubstr("2 Insufficient example.com/gpu; most example.com/gpu left on one node: "
                          "0"));
    EXPECT_THAT(refused(alike("w", 1, "example.com/other=1")).message,
                HasSubstr("2 Insufficient example.com/other"));
    cluster crowded;
    crowded.add(make_node("b", "cpu=8 pods=2"));
    EXPECT_THAT(show(crowded.fit(alike("w", 3, ""))),
                HasSubstr("2 of 3 members fit; pod lab/w-2 does not: 0/1 nodes are available: 1 "
                          "Too many pods"));
}

TEST_F(a_fit, of_a_pod_that_requests_nothing_needs_only_a_place) {
    at.add(make_node("a", "cpu=1"));
    at.room.promise(shared(make_pod("m", "cpu=5")), "a");
    EXPECT_EQ(place(alike("w", 2, "")), "a a");
}

TEST_F(a_fit, without_nodes_is_none) {
    EXPECT_THAT(refused(alike("w", 1, "cpu=1")).message,
                HasSubstr("0 of 1 members fit; pod lab/w-0 (1 cpu) does not: 0/0 nodes"));
}

TEST_F(a_fit, leaves_out_the_nodes_that_it_is_told_to) {
    at.add(make_node("a", "cpu=8"));
    at.add(make_node("b", "cpu=1"));
    EXPECT_EQ(place(alike("w", 1, "cpu=1"), {.without = {"a"}}), "b");
    EXPECT_THAT(refused(alike("w", 2, "cpu=1"), {.without = {"a"}}).message,
                HasSubstr("1 node(s) were left out after a failed attempt"));
}

TEST_F(a_fit, is_the_same_each_time) {
    for (int i = 0; i < 9; ++i) at.add(make_node(fmt::format("n{}", i), "cpu=3"));
    const auto members = together(alike("w", 4, "cpu=2"), alike("v", 7, "cpu=1"));
    const auto first = place(members);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(place(members), first);
}

// --- what a node is ---

TEST_F(a_fit, keeps_to_taints_cordons_and_readiness) {
    struct row {
        std::function<void(model::node&)> change;
        const char* why;
        bool can_be_tolerated;
    };
    const row rows[] = {
        {[](auto& node) { node.taints = {{"k", "v", "NoExecute"}}; },
         "1 node(s) had untolerated taint {k: v}", true},
        {[](auto& node) { node.unschedulable = true; }, "1 node(s) were unschedulable", false},
        {[](auto& node) { node.ready = false; }, "1 node(s) were not ready", false},
    };
    for (const auto& [change, why, can_be_tolerated] : rows) {
        auto node = make_node("a", "cpu=8");
        change(node);
        at.add(node);
        EXPECT_THAT(refused(alike("w", 1, "cpu=1")).message, HasSubstr(why));
        model::pod tolerant;
        tolerant.tolerations = {{"", "Exists", "", ""}};
        const auto all = alike("w", 1, "cpu=1", tolerant);
        if (can_be_tolerated) {
            EXPECT_EQ(place(all), "a") << why;
        } else {
            EXPECT_THAT(refused(all).message, HasSubstr(why));
        }
    }
    auto preferred = make_node("a", "cpu=8");
    preferred.taints = {{"k", "v", "PreferNoSchedule"}};
    at.add(preferred);
    EXPECT_EQ(place(alike("w", 1, "cpu=1")), "a");
}

TEST_F(a_fit, keeps_to_selectors_and_node_affinity) {
    auto node = make_node("a", "cpu=8", "east");
    node.metadata.labels["size"] = "7";
    at.add(node);
    at.add(make_node("b", "cpu=8", "west"));
    model::pod selecting;
    selecting.node_selector = {{"zone", "west"}};
    EXPECT_EQ(place(alike("w", 1, "cpu=1", selecting)), "b");
    const auto required = [](std::string_view term) {
        return with_affinity(fmt::format(
            R"({{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{
               "nodeSelectorTerms":[{}]}}}}}})",
            term));
    };
    const std::pair<const char*, const char*> rows[] = {
        {R"({"matchExpressions":[{"key":"zone","operator":"In","values":["east","x"]}]})", "a"},
        {R"({"matchExpressions":[{"key":"zone","operator":"NotIn","values":["east"]}]})", "b"},
        {R"({"matchExpressions":[{"key":"size","operator":"NotIn","values":["7"]}]})", "b"},
        {R"({"matchExpressions":[{"key":"size","operator":"Exists"}]})", "a"},
        {R"({"matchExpressions":[{"key":"size","operator":"DoesNotExist"}]})", "b"},
        {R"({"matchExpressions":[{"key":"size","operator":"Gt","values":["6"]}]})", "a"},
        {R"({"matchExpressions":[{"key":"size","operator":"Lt","values":["8"]}]})", "a"},
        {R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]})", "b"},
        {R"({},{"matchExpressions":[{"key":"zone","operator":"In","values":["west"]}]})", "b"},
    };
    for (const auto& [term, expected] : rows) {
        EXPECT_EQ(place(alike("w", 1, "cpu=1", required(term))), expected) << term;
    }
    const auto none =
        required(R"({"matchExpressions":[{"key":"size","operator":"Gt","values":["7"]}]},{})");
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", none)).message,
                HasSubstr("2 node(s) didn't match Pod's node affinity/selector"));
}

TEST_F(a_fit, places_who_can_go_to_few_nodes_also_when_it_is_small) {
    at.add(make_node("a", "cpu=4", "east"));
    at.add(make_node("b", "cpu=4", "west"));
    model::pod choosy;
    choosy.node_selector = {{"zone", "east"}};
    const auto members = together(alike("large", 2, "cpu=3"), alike("small", 1, "cpu=1", choosy));
    EXPECT_EQ(place(members), "a b a");
    cluster many;
    for (int i = 0; i < 40; ++i) many.add(make_node(fmt::format("n{:02}", i), "cpu=4"));
    many.add(make_node("z", "cpu=2", "east"));
    const auto crowd = together(alike("large", 81, "cpu=2"), alike("small", 1, "cpu=1", choosy));
    EXPECT_EQ(std::get<no_fit>(many.fit(crowd)).fitting, 81);
    const auto fits = together(alike("large", 80, "cpu=2"), alike("small", 2, "cpu=1", choosy));
    EXPECT_TRUE(std::holds_alternative<chosen_nodes>(many.fit(fits)));
}

// --- ports and volumes ---

TEST_F(a_fit, gives_each_host_port_once) {
    at.add(make_node("a", "cpu=8"));
    at.add(make_node("b", "cpu=8"));
    model::pod serving;
    serving.host_ports = {{"TCP", "", 80}};
    EXPECT_EQ(place(alike("w", 2, "cpu=1", serving)), "a b");
    EXPECT_THAT(refused(alike("w", 3, "cpu=1", serving)).message,
                HasSubstr("2 node(s) didn't have free ports for the requested pod ports"));
    auto bound = make_pod("p", "", "a");
    bound.host_ports = {{"TCP", "10.0.0.1", 80}};
    at.add(bound);
    EXPECT_EQ(place(alike("w", 1, "cpu=1", serving)), "b") << "every address clashes with one";
    serving.host_ports = {{"TCP", "10.0.0.2", 80}};
    EXPECT_EQ(place(alike("w", 1, "cpu=1", serving)), "a");
    serving.host_ports = {{"UDP", "", 80}};
    EXPECT_EQ(place(alike("w", 1, "cpu=1", serving)), "a");
    auto promised = make_pod("m", "");
    promised.host_ports = {{"UDP", "", 80}};
    at.room.promise(shared(promised), "a");
    EXPECT_EQ(place(alike("w", 1, "cpu=1", serving)), "b");
}

TEST_F(a_fit, goes_where_its_volumes_are) {
    at.add(make_node("a", "cpu=8", "east"));
    auto b = make_node("b", "cpu=8", "west");
    b.metadata.labels["topology.kubernetes.io/zone"] = "west";
    at.add(b);
    model::pod storing;
    storing.claims = {"data"};
    const auto members = alike("w", 1, "cpu=1", storing);
    EXPECT_EQ(needs_of(members).claims, (std::set<model::object_key>{{"lab", "data"}}));
    auto& claim = at.known.claims[{"lab", "data"}];
    claim.bound = true;
    claim.node_affinity.text = R"({"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"zone","operator":"In","values":["west"]}]}]})";
    EXPECT_EQ(place(members), "b");
    claim.node_affinity.text = R"({"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"zone","operator":"In","values":["north"]}]}]})";
    EXPECT_THAT(refused(members).message,
                HasSubstr("2 node(s) didn't match PersistentVolume's node affinity"));
    claim.node_affinity.text.clear();
    claim.labels = {{"failure-domain.beta.kubernetes.io/zone", "north__west"}};
    EXPECT_EQ(place(alike("w", 1, "cpu=1", storing), {.without = {"a"}}), "b");
    claim.labels = {{"topology.kubernetes.io/zone", "north"}};
    EXPECT_THAT(refused(members, {.without = {"a"}}).message,
                HasSubstr("1 node(s) had no available volume zone"));
}

TEST_F(a_fit, refuses_by_name_what_it_does_not_plan) {
    at.add(make_node("a", "cpu=8"));
    model::pod odd;
    odd.unplanned = {"resourceClaims"};
    odd.claims = {"data"};
    const auto members = alike("w", 1, "cpu=1", odd);
    EXPECT_EQ(refused(members).reason, no_fit_reason::facts_missing);
    at.known.claims[{"lab", "data"}];
    const auto no = refused(members);
    EXPECT_EQ(no.reason, no_fit_reason::constraint_not_planned);
    EXPECT_EQ(no.message,
              "pod lab/w-0 has constraints that are not planned for: resourceClaims; "
              "PersistentVolumeClaim data, which is not bound; the annotation "
              "esi.tu-berlin.de/best-effort-constraints: \"true\" of its group leaves them to the "
              "scheduler");
    EXPECT_EQ(place(members, {.best_effort = true}), "a");
    odd.unplanned = {};
    auto& claim = at.known.claims[{"lab", "data"}];
    claim.bound = true;
    EXPECT_EQ(place(alike("w", 1, "cpu=1", odd)), "a");
    claim.for_one_pod = true;
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", odd)).message, HasSubstr("ReadWriteOncePod"));
    claim.for_one_pod = false;
    claim.limited = true;
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", odd)).message,
                HasSubstr("whose driver limits the volumes of a node"));
}

// --- pods near pods ---

TEST_F(a_fit, asks_for_the_pods_that_it_has_to_know) {
    EXPECT_TRUE(needs_of(alike("w", 3, "cpu=1")).empty());
    const auto near = [&](std::string_view more) {
        return needs_of(
                   alike("w", 1, "", of_app("x", near_terms("podAffinity", "x", "zone", more))),
                   &at.namespaces)
            .pods_of;
    };
    using names = std::set<std::string>;
    at.namespaces["prod"] = {{"team", "b"}};
    EXPECT_EQ(near(""), names{"lab"});
    EXPECT_EQ(near(R"(,"namespaces":["other"])"), names{"other"});
    EXPECT_EQ(near(R"(,"namespaceSelector":{})"), (names{"lab", "prod"}));
    EXPECT_EQ(near(R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})"), names{"prod"});
    EXPECT_EQ(needs_of(alike("w", 1, "", spread_over("zone"))).pods_of, names{"lab"});

    at.add(make_node("a", "cpu=8"));
    const auto result =
        fit(alike("w", 1, "", spread_over("kubernetes.io/hostname")), at.room, at.known);
    EXPECT_EQ(std::get<no_fit>(result).reason, no_fit_reason::facts_missing);
}

TEST_F(a_fit, keeps_members_apart_that_want_it) {
    for (const auto* name : {"a", "b", "c"}) at.add(make_node(name, "cpu=8"));
    const auto apart = of_app("x", near_terms("podAntiAffinity", "x", "kubernetes.io/hostname"));
    EXPECT_EQ(place(alike("w", 3, "cpu=1", apart)), "a b c");
    EXPECT_THAT(refused(alike("w", 4, "cpu=1", apart)).message,
                HasSubstr("3 node(s) didn't satisfy existing pods anti-affinity rules"));
    // A member that repels pods of y, whichever of them is placed first.
    const auto members =
        together(alike("v", 1, "cpu=4", of_app("y")),
                 alike("u", 1, "cpu=1", of_app("x", near_terms("podAntiAffinity", "y", "zone"))));
    EXPECT_EQ(place(members), "a a") << "no node has the label zone: it keeps nobody away";
}

TEST_F(a_fit, keeps_away_from_pods_that_want_it_and_from_those_it_does_not_want) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=8", "west"));
    auto alone = make_pod("p", "", "a");
    alone.anti_affinity.text =
        R"([{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x"}}}])";
    at.add(alone);
    EXPECT_EQ(place(alike("w", 2, "cpu=1", of_app("x"))), "b b");
    EXPECT_EQ(place(alike("w", 1, "cpu=1", of_app("y"))), "a");
    auto other = make_pod("q", "", "b");
    other.metadata.labels["app"] = "q";
    at.add(other);
    const auto shy = of_app("y", near_terms("podAntiAffinity", "q", "zone"));
    EXPECT_EQ(place(alike("w", 1, "cpu=1", shy)), "a");
    EXPECT_THAT(
        refused(alike("w", 1, "cpu=1", of_app("x", near_terms("podAntiAffinity", "q", "zone"))))
            .message,
        HasSubstr("1 node(s) didn't match pod anti-affinity rules, 1 node(s) didn't satisfy "
                  "existing pods anti-affinity rules"));
}

TEST_F(a_fit, keeps_away_from_members_of_other_gangs_that_are_on_their_way) {
    at.add(make_node("a", "cpu=8"));
    at.add(make_node("b", "cpu=8"));
    const auto apart = of_app("x", near_terms("podAntiAffinity", "x", "kubernetes.io/hostname"));
    at.room.promise(alike("other", 1, "cpu=1", apart).front(), "a");
    EXPECT_EQ(place(alike("w", 1, "cpu=1", of_app("x"))), "b");
    EXPECT_EQ(place(alike("w", 1, "cpu=1", apart)), "b");
}

TEST_F(a_fit, goes_near_the_pods_that_it_needs) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=1", "west"));
    at.add(make_node("c", "cpu=2", "west"));
    auto company = make_pod("p", "", "b");
    company.metadata.labels["app"] = "db";
    at.add(company);
    const auto near = of_app("x", near_terms("podAffinity", "db", "zone"));
    EXPECT_EQ(place(alike("w", 3, "cpu=1", near)), "c c b");
    EXPECT_THAT(refused(alike("w", 4, "cpu=1", near)).message,
                HasSubstr("1 node(s) didn't match pod affinity rules"));
    const auto nobody = of_app("x", near_terms("podAffinity", "nobody", "zone"));
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", nobody)).message,
                HasSubstr("3 node(s) didn't match pod affinity rules"));
}

TEST_F(a_fit, finds_the_domain_where_all_are_near_each_other) {
    at.add(make_node("a", "cpu=4", "east"));
    at.add(make_node("b", "cpu=2", "west"));
    at.add(make_node("c", "cpu=3", "west"));
    at.add(make_node("d", "cpu=9"));
    const auto near = of_app("x", near_terms("podAffinity", "x", "zone"));
    EXPECT_EQ(place(alike("w", 5, "cpu=1", near)), "c c c b b");
    EXPECT_EQ(refused(alike("w", 6, "cpu=1", near)).fitting, 5);
}

TEST_F(a_fit, places_a_leader_before_those_who_have_to_be_near_it) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=4", "west"));
    at.add(make_node("c", "cpu=5", "west"));
    const auto members =
        together(alike("worker", 4, "cpu=2", of_app("w", near_terms("podAffinity", "l", "zone"))),
                 alike("leader", 1, "cpu=1", of_app("l")));
    EXPECT_EQ(place(members), "c c b b c") << "only in west all five have room";
}

TEST_F(a_fit, goes_near_peers_that_are_on_their_way_but_not_because_of_them_alone) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=4", "west"));
    const auto near = of_app("x", near_terms("podAffinity", "x", "zone"));
    EXPECT_EQ(place(alike("w", 1, "cpu=1", near), {.how = packing::spread}), "a");
    at.room.promise(alike("peer", 1, "cpu=1", near).front(), "b");
    EXPECT_EQ(place(alike("w", 1, "cpu=1", near), {.how = packing::spread}), "b");
    at.room.promise(alike("db", 1, "cpu=1", of_app("db")).front(), "a");
    const auto near_db = of_app("y", near_terms("podAffinity", "db", "zone"));
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", near_db)).message,
                HasSubstr("2 node(s) didn't match pod affinity rules"))
        << "kube-scheduler refuses the member until the other is bound";
}

TEST_F(a_fit, spreads_members_as_they_say) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=8", "west"));
    at.add(make_node("c", "cpu=8"));
    EXPECT_EQ(place(alike("w", 4, "cpu=1", spread_over("zone"))), "a b a b");
    auto there = make_pod("p", "", "a");
    there.metadata.labels["app"] = "x";
    at.add(there);
    EXPECT_EQ(place(alike("w", 1, "cpu=1", spread_over("zone"))), "b");
    EXPECT_THAT(refused(alike("w", 1, "cpu=1", spread_over("zone")), {.without = {"b"}}).message,
                HasSubstr("1 node(s) didn't match pod topology spread constraints, 1 node(s) "
                          "didn't match pod topology spread constraints (missing required label), "
                          "1 node(s) were left out"));
    at.known.pods["lab"].clear();
    EXPECT_EQ(place(alike("w", 1, "cpu=1", spread_over("zone", R"(,"minDomains":3)"))), "a");
    EXPECT_THAT(refused(alike("w", 3, "cpu=1", spread_over("zone", R"(,"minDomains":3)"))).message,
                HasSubstr("2 of 3 members fit"));
}

TEST_F(a_fit, counts_only_the_nodes_that_a_spread_means) {
    at.add(make_node("a", "cpu=8", "east"));
    auto tainted = make_node("b", "cpu=8", "west");
    tainted.taints = {{"k", "v", "NoSchedule"}};
    at.add(tainted);
    at.add(make_node("c", "cpu=8", "north"));
    auto pinned = spread_over("zone");
    pinned.node_selector = {{"zone", "east"}};
    EXPECT_EQ(place(alike("w", 3, "cpu=1", pinned)), "a a a")
        << "what its selector excludes is no domain";
    pinned = spread_over("zone", R"(,"nodeAffinityPolicy":"Ignore")");
    pinned.node_selector = {{"zone", "east"}};
    EXPECT_EQ(refused(alike("w", 2, "cpu=1", pinned)).fitting, 1);
    EXPECT_EQ(refused(alike("w", 4, "cpu=1", spread_over("zone"))).fitting, 2)
        << "a taint does not take a domain away";
    EXPECT_EQ(place(alike("w", 4, "cpu=1", spread_over("zone", R"(,"nodeTaintsPolicy":"Honor")"))),
              "a c a c");
}

TEST_F(a_fit, spreads_those_alike_by_the_keys_that_are_named) {
    at.add(make_node("a", "cpu=8", "east"));
    at.add(make_node("b", "cpu=8", "west"));
    auto there = make_pod("p", "", "a");
    there.metadata.labels = {{"app", "x"}, {"hash", "old"}};
    at.add(there);
    auto now = spread_over("zone", R"(,"matchLabelKeys":["hash"])");
    now.metadata.labels["hash"] = "new";
    EXPECT_EQ(place(alike("w", 1, "cpu=1", now)), "a");
    auto ignored = spread_over("zone");
    ignored.topology_spread.text.replace(ignored.topology_spread.text.find("DoNotSchedule"), 13,
                                         "ScheduleAnyway");
    EXPECT_TRUE(needs_of(alike("w", 1, "cpu=1", ignored)).empty());
}

// --- what may ever fit, and what is alike ---

TEST_F(a_fit, ever_counts_all_that_ends) {
    at.add(make_node("a", "cpu=4"));
    at.add(make_node("b", "cpu=4"));
    auto daemon = make_pod("d", "cpu=1", "a");
    daemon.metadata.owner_references = {{"apps/v1", "DaemonSet", "d", "u", true}};
    at.add(daemon);
    at.add(make_pod("p", "cpu=3", "b"));
    at.room.promise(shared(make_pod("m", "cpu=1")), "b");
    const auto members = alike("w", 3, "cpu=1500m");
    EXPECT_EQ(refused(members).reason, no_fit_reason::no_room);
    EXPECT_EQ(refused(members).fitting, 2);
    EXPECT_EQ(show(fits_ever(members, at.room, at.known)), "a a b");
    const auto never = fits_ever(alike("w", 5, "cpu=1500m"), at.room, at.known);
    EXPECT_EQ(std::get<no_fit>(never).reason, no_fit_reason::never_fits);
    EXPECT_EQ(std::get<no_fit>(never).fitting, 4);
    EXPECT_THAT(show(never), HasSubstr("most cpu left on one node: 1"));
}

TEST_F(a_fit, ever_does_not_mind_the_ports_and_rules_of_pods_that_end) {
    at.add(make_node("a", "cpu=4"));
    auto in_the_way = make_pod("p", "", "a");
    in_the_way.host_ports = {{"TCP", "", 80}};
    in_the_way.anti_affinity.text =
        R"([{"topologyKey":"kubernetes.io/hostname","labelSelector":{}}])";
    at.add(in_the_way);
    model::pod serving;
    serving.host_ports = {{"TCP", "", 80}};
    const auto members = alike("w", 1, "", serving);
    EXPECT_EQ(refused(members).fitting, 0);
    EXPECT_EQ(show(fits_ever(members, at.room, at.known)), "a");
    in_the_way.metadata.uid = "uid-d";
    in_the_way.metadata.owner_references = {{"apps/v1", "DaemonSet", "d", "u", true}};
    at.add(in_the_way);
    EXPECT_EQ(std::get<no_fit>(fits_ever(members, at.room, at.known)).reason,
              no_fit_reason::never_fits);
}

TEST_F(a_fit, has_one_shape_for_gangs_that_are_alike) {
    const auto shape = [&](const std::vector<pod_pointer>& members, const fit_options& how = {}) {
        return shape_of(members, at.room, how);
    };
    const auto one = shape(alike("w", 3, "cpu=1", of_app("x")));
    EXPECT_EQ(shape(alike("other", 3, "cpu=1", of_app("y"))), one)
        << "labels that nobody asks for do not matter";
    EXPECT_FALSE(one.depends_on_facts);
    EXPECT_NE(shape(alike("w", 4, "cpu=1")), one);
    EXPECT_NE(shape(alike("w", 3, "cpu=2")), one);
    EXPECT_NE(shape(alike("w", 3, "cpu=1"), {.best_effort = true}), one);
    EXPECT_NE(shape(alike("w", 3, "cpu=1"), {.without = {"a"}}), one);
    const auto mixed = together(alike("v", 1, "cpu=2"), alike("w", 3, "cpu=1"));
    const auto turned = together(alike("w", 3, "cpu=1"), alike("v", 1, "cpu=2"));
    EXPECT_EQ(shape(mixed), shape(turned));
    EXPECT_TRUE(shape(alike("w", 1, "", spread_over("zone"))).depends_on_facts);

    auto shy = make_pod("p", "", "a");
    shy.anti_affinity.text =
        R"([{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x"}}}])";
    at.add(shy);
    EXPECT_NE(shape(alike("w", 3, "cpu=1", of_app("x"))),
              shape(alike("w", 3, "cpu=1", of_app("y"))));
}

}  // namespace
}  // namespace esi::placement
