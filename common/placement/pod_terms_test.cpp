#include "placement/pod_terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace esi::placement {
namespace {

model::pod with_affinity(std::string_view kind, std::string_view terms) {
    model::pod out;
    out.metadata.namespace_ = "lab";
    out.affinity.text = fmt::format(
        R"({{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":{}}}}})", kind, terms);
    return out;
}

pod_term term_of(std::string_view text) {
    const auto rules = near_rules_of(with_affinity("podAffinity", fmt::format("[{}]", text)));
    EXPECT_EQ(rules.affinity.size(), 1U);
    return rules.affinity.front();
}

TEST(a_label_selector, holds_as_kubernetes_says) {
    const model::string_map labels{{"app", "x"}, {"tier", "1"}};
    const std::pair<const char*, bool> rows[] = {
        {R"({"matchLabels":{"app":"x"}})", true},
        {R"({"matchLabels":{"app":"y"}})", false},
        {R"({"matchLabels":{"app":"x","tier":"2"}})", false},
        {R"({"matchExpressions":[{"key":"app","operator":"In","values":["y","x"]}]})", true},
        {R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["x"]}]})", false},
        {R"({"matchExpressions":[{"key":"none","operator":"NotIn","values":["x"]}]})", true},
        {R"({"matchExpressions":[{"key":"none","operator":"In","values":["x"]}]})", false},
        {R"({"matchExpressions":[{"key":"app","operator":"Exists"}]})", true},
        {R"({"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]})", false},
        {R"({"matchExpressions":[{"key":"none","operator":"DoesNotExist"}]})", true},
        {R"({"matchExpressions":[{"key":"app","operator":"Odd"}]})", false},
        {"{}", true},
        {"null", false},
        {"7", false},
    };
    for (const auto& [selector, expected] : rows) {
        const auto term = term_of(fmt::format(R"({{"labelSelector":{}}})", selector));
        EXPECT_EQ(term.pods.matches(labels), expected) << selector;
    }
    EXPECT_FALSE(term_of("{}").pods.matches(labels)) << "no selector selects nobody";
}

TEST(a_pod_term, means_pods_of_the_namespaces_that_it_names) {
    const namespace_labels known{{"prod", {{"team", "b"}}}, {"lab", {}}};
    const auto means = [&](std::string_view more, std::string_view ns,
                           const namespace_labels* labels = nullptr) {
        return term_of(fmt::format(R"({{"labelSelector":{{}}{}}})", more)).means(ns, {}, labels);
    };
    EXPECT_TRUE(means("", "lab")) << "its own";
    EXPECT_FALSE(means("", "prod"));
    EXPECT_TRUE(means(R"(,"namespaces":["prod"])", "prod"));
    EXPECT_FALSE(means(R"(,"namespaces":["prod"])", "lab"));
    const auto* const all = R"(,"namespaceSelector":{})";
    EXPECT_TRUE(means(all, "prod", &known));
    EXPECT_TRUE(means(all, "unheard-of"));
    const auto* const of_team = R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})";
    EXPECT_TRUE(means(of_team, "prod", &known));
    EXPECT_FALSE(means(of_team, "lab", &known));
    EXPECT_FALSE(means(of_team, "prod"));
    EXPECT_TRUE(means(R"(,"namespaces":["lab"],"namespaceSelector":{"matchLabels":{"team":"b"}})",
                      "prod", &known))
        << "either is enough";
}

TEST(near_rules, are_only_those_that_must_hold) {
    model::pod pod;
    EXPECT_TRUE(near_rules_of(pod).empty());
    pod.affinity.text =
        R"({"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}})";
    EXPECT_TRUE(near_rules_of(pod).empty());
    pod.affinity.text = "no JSON";
    EXPECT_TRUE(near_rules_of(pod).empty());
    pod.topology_spread.text = R"([{"whenUnsatisfiable":"ScheduleAnyway"},
        {"whenUnsatisfiable":"DoNotSchedule","topologyKey":"zone","maxSkew":3,"minDomains":2}])";
    const auto rules = near_rules_of(pod);
    ASSERT_EQ(rules.spread.size(), 1U);
    EXPECT_EQ(rules.spread[0].topology_key, "zone");
    EXPECT_EQ(rules.spread[0].max_skew, 3);
    EXPECT_EQ(rules.spread[0].min_domains, 2);
    EXPECT_TRUE(rules.spread[0].honors_affinity);
    EXPECT_FALSE(rules.spread[0].honors_taints);
}

TEST(the_terms_that_keep_others_away, are_the_same_bound_or_not) {
    const std::string terms = R"([{"topologyKey":"zone"}])";
    EXPECT_EQ(repelling_text_of(with_affinity("podAntiAffinity", terms)), terms);
    EXPECT_EQ(repelling_text_of(with_affinity("podAntiAffinity", "[]")), "");
    EXPECT_EQ(repelling_text_of(with_affinity("podAffinity", terms)), "");
    EXPECT_EQ(repelling_text_of({}), "");
    model::pod bound;
    bound.node_name = "a";
    bound.anti_affinity.text = terms;
    EXPECT_EQ(repelling_text_of(bound), terms);
    EXPECT_EQ(repelling_terms_of(terms, "lab").exact.at(0).topology_key, "zone");
    EXPECT_TRUE(repelling_terms_of("", "lab").exact.empty());
}

TEST(the_terms_that_keep_others_away, mean_all_pods_where_there_are_too_many) {
    const auto some = [](std::size_t count, std::string_view more) {
        std::vector<std::string> out;
        for (std::size_t i = 0; i < count; ++i) {
            out.push_back(fmt::format(R"({{"topologyKey":"k{}"{}}})", i % 5, more));
        }
        return fmt::format("[{}]", fmt::join(out, ","));
    };
    const auto most = repelling_terms_of(some(most_repelling_terms, ""), "lab");
    EXPECT_EQ(most.exact.size(), most_repelling_terms);
    EXPECT_TRUE(most.for_all.empty());
    const auto more = repelling_terms_of(some(most_repelling_terms + 1, ""), "lab");
    EXPECT_TRUE(more.exact.empty());
    EXPECT_EQ(more.for_all, (std::set<std::string, std::less<>>{"k0", "k1", "k2", "k3", "k4"}));
    const auto value = fmt::format(R"(,"labelSelector":{{"matchLabels":{{"a":"{}"}}}})",
                                   std::string(most_repelling_text, 'v'));
    const auto longer = repelling_terms_of(some(1, value), "lab");
    EXPECT_TRUE(longer.exact.empty());
    EXPECT_EQ(longer.for_all.size(), 1U);
}

}  // namespace
}  // namespace esi::placement
