// Pods, of a gang or not, may ask for any number of rules, and a plan stays quick. Without the
// bounds most of these tests take minutes.
#include "placement/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/testing/builders.h"

namespace esi::placement::planning {
namespace {

using testing::HasSubstr;
using tests::alike;
using tests::cluster;
using tests::make_node;
using tests::make_pod;
using tests::shared;
using tests::show;
using tests::together;

struct a_plan_within_bounds : testing::Test {
    void make_nodes(int count, std::string_view has = "cpu=64") {
        for (int i = 0; i < count; ++i) {
            at.add(make_node(fmt::format("n{:04}", i), has, i % 2 == 0 ? "east" : "west"));
        }
    }
    /// A running pod of another namespace that has these terms.
    void add_shy(const std::string& name, const std::string& node, std::string terms) {
        auto pod = make_pod(name, "", node);
        pod.metadata.namespace_ = "other";
        pod.anti_affinity.text = std::move(terms);
        at.room.pod_changed(nullptr, shared(std::move(pod)));
    }
    std::string refused(const std::vector<pod_pointer>& members, const fit_options& options = {}) {
        const auto result = at.fit(members, options);
        const auto* out = std::get_if<no_fit>(&result);
        if (!out) return "fits";
        EXPECT_EQ(out->reason, no_fit_reason::constraint_not_planned) << out->message;
        return out->message;
    }

    cluster at;
};

/// `count` terms; `of(i)` is the content of one.
template <class Of>
std::string list_of(int count, Of of) {
    std::vector<std::string> out;
    for (int i = 0; i < count; ++i) out.push_back(fmt::format("{{{}}}", of(i)));
    return fmt::format("[{}]", fmt::join(out, ","));
}

constexpr const char* everybody = R"("labelSelector":{},"namespaceSelector":{},"topologyKey":)";

model::pod with_terms(std::string_view kind, std::string_view terms) {
    model::pod out;
    out.affinity.text = fmt::format(
        R"({{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}})", kind, terms);
    return out;
}

/// Each pod is of a kind of its own.
std::vector<pod_pointer> different(int count, const model::pod& like) {
    std::vector<pod_pointer> out;
    for (int i = 0; i < count; ++i) {
        auto one = like;
        one.metadata.labels["index"] = std::to_string(i);
        const auto made = alike(fmt::format("w{}", i), 1, fmt::format("cpu={}m", 1000 + i), one);
        out.push_back(made.front());
    }
    return out;
}

// --- pods that run ---

TEST_F(a_plan_within_bounds, does_not_mind_terms_whose_topology_no_node_has) {
    make_nodes(1000);
    for (int pod = 0; pod < 20; ++pod) {
        add_shy(fmt::format("p{}", pod), "n0000", list_of(10'000, [&](int i) {
                    return fmt::format(R"({}"a{}-{}")", everybody, pod, i);
                }));
    }
    for (int pod = 0; pod < 200; ++pod) {
        add_shy(fmt::format("q{}", pod), "n0001", list_of(60, [&](int i) {
                    return fmt::format(R"({}"b{}-{}")", everybody, pod, i);
                }));
    }
    const auto members = together(alike("w", 10, "cpu=1"), alike("v", 10, "cpu=2"));
    for (int i = 0; i < 64; ++i) {
        const auto result = at.fit(members);
        ASSERT_TRUE(std::holds_alternative<chosen_nodes>(result)) << show(result);
    }
}

TEST_F(a_plan_within_bounds, keeps_away_from_a_pod_with_too_many_terms) {
    make_nodes(4);
    const auto nobody = [](int i) {
        return fmt::format(
            R"("labelSelector":{{"matchLabels":{{"app":"a{}"}}}},"topologyKey":"zone")", i);
    };
    add_shy("few", "n0001", list_of(64, nobody));
    EXPECT_EQ(show(at.fit(alike("w", 1, "cpu=64"))), "n0000");
    add_shy("many", "n0002", list_of(65, nobody));
    EXPECT_EQ(show(at.fit(alike("w", 2, "cpu=64"))), "n0001 n0003")
        << "each of its terms counts as one for all pods, in its zone";
    EXPECT_THAT(show(at.fit(alike("w", 3, "cpu=64"))),
                HasSubstr("2 node(s) didn't satisfy existing pods anti-affinity rules"));
}

TEST_F(a_plan_within_bounds, stays_quick_beside_very_many_terms) {
    make_nodes(1000);
    for (int pod = 0; pod < 500; ++pod) {
        add_shy(fmt::format("p{}", pod), "n0000", list_of(64, [&](int i) {
                    return fmt::format(
                        R"("labelSelector":{{"matchLabels":{{"app":"a{}-{}"}}}},
                           "namespaceSelector":{{}},"topologyKey":"kubernetes.io/hostname")",
                        pod, i);
                }));
    }
    const auto members = different(64, {});
    for (int i = 0; i < 8; ++i) {
        const auto result = at.fit(members);
        ASSERT_TRUE(std::holds_alternative<chosen_nodes>(result)) << show(result);
        EXPECT_THAT(show(result), testing::Not(HasSubstr("n0000")))
            << "what is too much to be compared counts for all";
    }
}

TEST_F(a_plan_within_bounds, does_not_take_a_gang_apart_by_the_labels_that_others_ask_for) {
    make_nodes(2);
    const auto on = [](std::string_view selector) {
        return fmt::format(R"([{{"labelSelector":{{"matchExpressions":[{}]}},
            "namespaceSelector":{{}},"topologyKey":"kubernetes.io/hostname"}}])",
                           selector);
    };
    add_shy("p", "n0000", on(R"({"key":"index","operator":"In","values":["none"]})"));
    const auto members_of = [&](int count) {
        std::vector<pod_pointer> out;
        for (int i = 0; i < count; ++i) {
            model::pod one = with_terms("podAntiAffinity",
                                        R"([{"labelSelector":{},"topologyKey":"no-node-has-it"}])");
            one.metadata.labels["index"] = std::to_string(i);
            out.push_back(alike(fmt::format("w{}", i), 1, "cpu=100m", one).front());
        }
        return out;
    };
    fit_options named;
    named.tell_nodes = true;
    EXPECT_THAT(show(at.fit(members_of(60), named)), HasSubstr("n0000"));
    const auto many = show(at.fit(members_of(200), named));
    EXPECT_THAT(many, HasSubstr("n0001"));
    EXPECT_THAT(many, testing::Not(HasSubstr("n0000"))) << "it may mean one of them";
}

// --- members ---

TEST_F(a_plan_within_bounds, refuses_members_that_ask_for_too_much) {
    make_nodes(2);
    const auto terms = [](int count) {
        return with_terms("podAntiAffinity", list_of(count, [](int i) {
                              return fmt::format(R"("topologyKey":"a{}")", i);
                          }));
    };
    EXPECT_EQ(refused(alike("w", 1, "", terms(64))), "fits");
    EXPECT_EQ(refused(alike("w", 1, "", terms(65))),
              "pod lab/w-0 has 65 required terms of pod affinity and topology spread; a gang is "
              "planned with 64 for each pod at most");
    EXPECT_THAT(refused(alike("w", 1, "", terms(5000))), HasSubstr("bytes of affinity"));
    model::pod open;
    for (int i = 0; i < 65; ++i) open.host_ports.push_back({"TCP", "", 80 + i});
    EXPECT_THAT(refused(alike("w", 1, "", open)), HasSubstr("has 65 host ports"));
    model::pod tolerant;
    for (int i = 0; i < 257; ++i) tolerant.tolerations.push_back({std::to_string(i), "", "", ""});
    EXPECT_THAT(refused(alike("w", 1, "", tolerant)), HasSubstr("has 257 tolerations"));
    EXPECT_THAT(refused(alike("w", 1, "", terms(65)), {.best_effort = true}),
                HasSubstr("65 required terms"));
}

TEST_F(a_plan_within_bounds, refuses_too_many_kinds_of_members_with_terms) {
    make_nodes(1000);
    const auto like =
        with_terms("podAntiAffinity", list_of(20, [](int i) {
                       return fmt::format(R"("labelSelector":{{}},"topologyKey":"a{}")", i);
                   }));
    EXPECT_THAT(refused(different(65, like)), HasSubstr("are of 65 kinds"));
    const auto many = different(2000, like);
    for (int i = 0; i < 10; ++i) {
        EXPECT_THAT(refused(many), HasSubstr("are of 2000 kinds"));
        EXPECT_FALSE(shape_of(many, at.room).depends_on_facts);
    }
    const auto one = with_terms("podAntiAffinity", list_of(60, [](int i) {
                                    return fmt::format(
                                        R"("labelSelector":{{"matchLabels":{{"x":"y"}}}},
                                           "topologyKey":"a{}")",
                                        i);
                                }));
    EXPECT_THAT(refused(together(alike("o", 1, "", one), different(5000, {}))),
                HasSubstr("conditions: a gang is planned where the product is 1000000 at most"));
}

TEST_F(a_plan_within_bounds, ends_when_it_has_worked_for_long) {
    make_nodes(1000);
    auto like = with_terms("podAntiAffinity", list_of(60, [](int i) {
                               return fmt::format(
                                   R"("labelSelector":{{"matchLabels":{{"app":"a{}"}}}},
                                      "topologyKey":"kubernetes.io/hostname")",
                                   i);
                           }));
    std::vector<pod_pointer> members;
    for (int kind = 0; kind < 64; ++kind) {
        members = together(std::move(members), alike(fmt::format("w{}", kind), 64,
                                                     fmt::format("cpu={}m", 1000 + kind), like));
    }
    const auto result = at.fit(members, {.how = packing::spread});
    const auto* no = std::get_if<no_fit>(&result);
    ASSERT_TRUE(no);
    EXPECT_EQ(no->reason, no_fit_reason::no_room);
    EXPECT_GT(no->fitting, 1000);
    EXPECT_THAT(no->message, HasSubstr("; not all was tried"));
}

TEST_F(a_plan_within_bounds, asks_for_few_claims_and_namespaces) {
    make_nodes(1);
    model::pod claiming;
    for (std::size_t i = 0; i < most_claims; ++i) claiming.claims.push_back(std::to_string(i));
    EXPECT_EQ(needs_of(alike("w", 2, "", claiming)).claims.size(), most_claims);
    claiming.claims.emplace_back("more");
    EXPECT_TRUE(needs_of(alike("w", 1, "", claiming)).empty());
    EXPECT_EQ(refused(alike("w", 1, "", claiming)),
              "pod lab/w-0 has 17 PersistentVolumeClaims; a gang is planned with 16 for each pod "
              "at most");
    std::vector<pod_pointer> each_its_own;
    for (int i = 0; i < 1001; ++i) {
        model::pod one;
        one.claims = {fmt::format("c{}", i)};
        each_its_own.push_back(alike(fmt::format("w{}", i), 1, "", one).front());
    }
    EXPECT_TRUE(needs_of(each_its_own).empty());
    EXPECT_THAT(refused(each_its_own), HasSubstr("more than 1000 PersistentVolumeClaims"));

    const auto of_all =
        alike("w", 1, "", with_terms("podAffinity", fmt::format(R"([{{{}"zone"}}])", everybody)));
    for (int i = 1; i < 32; ++i) at.namespaces[fmt::format("ns{}", i)];
    EXPECT_EQ(needs_of(of_all, &at.namespaces).pods_of.size(), 32U);
    at.namespaces["one-more"];
    EXPECT_TRUE(needs_of(of_all, &at.namespaces).empty());
    EXPECT_THAT(refused(of_all), HasSubstr("the terms of pod lab/w-0 select by labels among too "
                                           "many namespaces, or mean the pods of more than 32"));
}

}  // namespace
}  // namespace esi::placement::planning
