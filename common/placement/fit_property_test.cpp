// Random gangs and clusters: each plan is compared with a second, slow opinion that is independent
// of the first: a scheduler that is asked pod after pod, in every order.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "placement/testing/builders.h"

namespace esi::placement {
namespace {

using tests::make_node;
using tests::make_pod;
using tests::shared;

/// A rule as the plain checker has it; the pod has it as text.
struct rule {
    std::string key;
    std::string app;
};
struct spread_rule {
    std::string key;
    std::string app;
    int skew = 1;
};

struct kind {
    model::pod pod;
    std::string app;
    std::optional<rule> near;
    std::optional<rule> away;
    std::optional<spread_rule> spread;
};

/// A pod on a node.
struct placed {
    const kind* of = nullptr;
    int node = 0;
};

struct sample {
    std::vector<model::node> nodes;
    std::vector<kind> kinds;
    std::vector<kind> bound_kinds;
    std::vector<placed> bound;
    /// By member.
    std::vector<const kind*> gang;
};

// --- the slow opinion ---

std::string label(const model::node& node, const std::string& key) {
    const auto found = node.metadata.labels.find(key);
    return found == node.metadata.labels.end() ? "" : found->second;
}

bool tolerates_all(const model::pod& pod) { return !pod.tolerations.empty(); }

bool suits(const sample& in, const kind& of, int at) {
    const auto& node = in.nodes[static_cast<std::size_t>(at)];
    for (const auto& [key, value] : of.pod.node_selector) {
        if (label(node, key) != value) return false;
    }
    return node.ready && !node.unschedulable && (tolerates_all(of.pod) || node.taints.empty());
}

/// The verdict of kube-scheduler's filters on one pod for one node, with these pods on nodes.
bool admits(const sample& in, const std::vector<placed>& there, const kind& of, int at) {
    if (!suits(in, of, at)) return false;
    const auto& node = in.nodes[static_cast<std::size_t>(at)];
    auto need = of.pod.requests;
    need["pods"] += 1000;
    for (const auto& [resource, amount] : need) {
        if (amount <= 0) continue;
        std::int64_t left = node.allocatable.contains(resource) ? node.allocatable.at(resource) : 0;
        for (const auto& each : there) {
            if (each.node != at) continue;
            if (resource == "pods") left -= 1000;
            const auto& requests = each.of->pod.requests;
            if (requests.contains(resource)) left -= requests.at(resource);
        }
        if (left < amount) return false;
    }
    const auto node_of = [&](const placed& each) -> const model::node& {
        return in.nodes[static_cast<std::size_t>(each.node)];
    };
    const auto same_domain = [&](const placed& each, const std::string& key) {
        return !label(node, key).empty() && label(node, key) == label(node_of(each), key);
    };
    for (const auto& each : there) {
        if (each.node == at) {
            for (const auto& port : of.pod.host_ports) {
                for (const auto& other : each.of->pod.host_ports) {
                    if (port.port == other.port) return false;
                }
            }
        }
        if (of.away && of.away->app == each.of->app && same_domain(each, of.away->key))
            return false;
        const auto& theirs = each.of->away;
        if (theirs && theirs->app == of.app && same_domain(each, theirs->key)) return false;
    }
    if (of.near) {
        if (label(node, of.near->key).empty()) return false;
        bool anybody = false;
        bool here = false;
        for (const auto& each : there) {
            if (each.of->app != of.near->app || label(node_of(each), of.near->key).empty())
                continue;
            anybody = true;
            here = here || same_domain(each, of.near->key);
        }
        if (!here && (anybody || of.app != of.near->app)) return false;
    }
    if (of.spread) {
        const auto& key = of.spread->key;
        if (label(node, key).empty()) return false;
        std::map<std::string, int> domains;
        for (const auto& each : in.nodes) {
            bool selected = true;
            for (const auto& [name, value] : of.pod.node_selector) {
                selected = selected && label(each, name) == value;
            }
            if (!label(each, key).empty() && selected) domains[label(each, key)];
        }
        for (const auto& each : there) {
            const auto& on = node_of(each);
            bool selected = true;
            for (const auto& [name, value] : of.pod.node_selector) {
                selected = selected && label(on, name) == value;
            }
            if (each.of->app == of.spread->app && !label(on, key).empty() && selected) {
                ++domains[label(on, key)];
            }
        }
        int least = INT32_MAX;
        for (const auto& [name, count] : domains) least = std::min(least, count);
        const int mine = domains[label(node, key)] + (of.app == of.spread->app ? 1 : 0);
        if (mine - least > of.spread->skew) return false;
    }
    return true;
}

/// In some order the scheduler would take each member on its node.
bool holds(const sample& in, std::vector<placed>& there,
           std::vector<std::pair<const kind*, int>> left) {
    if (left.empty()) return true;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (!admits(in, there, *left[i].first, left[i].second)) continue;
        auto rest = left;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        there.push_back({left[i].first, left[i].second});
        const bool out = holds(in, there, rest);
        there.pop_back();
        if (out) return true;
    }
    return false;
}

/// Whether some way places all; `any_order`: the order of placing counts.
bool possible(const sample& in, std::vector<placed>& there, const std::vector<const kind*>& left,
              bool any_order) {
    if (left.empty()) return true;
    std::set<const kind*> tried;
    for (std::size_t i = 0; i < (any_order ? left.size() : 1); ++i) {
        if (!tried.insert(left[i]).second) continue;
        auto rest = left;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        for (int at = 0; at < static_cast<int>(in.nodes.size()); ++at) {
            if (!admits(in, there, *left[i], at)) continue;
            there.push_back({left[i], at});
            const bool out = possible(in, there, rest, any_order);
            there.pop_back();
            if (out) return true;
        }
    }
    return false;
}

// --- by chance ---

struct maker {
    std::mt19937 chance;
    /// Rules between pods, too.
    bool near = true;

    int upto(int n) { return static_cast<int>(chance() % static_cast<unsigned>(n)); }
    bool one_in(int n) { return upto(n) == 0; }

    static std::string term(const char* name, const rule& of) {
        return fmt::format(R"("{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[
            {{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}]}})",
                           name, of.key, of.app);
    }
    std::string key() { return one_in(2) ? "zone" : "kubernetes.io/hostname"; }
    std::string app() { return one_in(2) ? "x" : "y"; }

    kind make_kind(int number) {
        kind out;
        out.app = app();
        out.pod = make_pod(fmt::format("k{}", number), fmt::format("cpu={}", upto(5)));
        if (one_in(3)) out.pod.requests["memory"] = 1000 * (1 + upto(4));
        if (one_in(6)) out.pod.requests["gpu"] = 1000;
        out.pod.metadata.labels["app"] = out.app;
        if (one_in(5)) out.pod.tolerations = {{"", "Exists", "", ""}};
        if (one_in(5)) out.pod.node_selector = {{"zone", one_in(2) ? "a" : "b"}};
        if (!near) return out;
        if (one_in(6)) out.pod.host_ports = {{"TCP", "", 80 + upto(2)}};
        if (one_in(4)) out.near = rule{key(), app()};
        if (one_in(4)) out.away = rule{key(), app()};
        if (one_in(4)) out.spread = spread_rule{key(), app(), 1 + upto(2)};
        std::vector<std::string> parts;
        if (out.near) parts.push_back(term("podAffinity", *out.near));
        if (out.away) parts.push_back(term("podAntiAffinity", *out.away));
        if (!parts.empty()) out.pod.affinity.text = fmt::format("{{{}}}", fmt::join(parts, ","));
        if (out.spread) {
            out.pod.topology_spread.text = fmt::format(
                R"([{{"maxSkew":{},"topologyKey":"{}","whenUnsatisfiable":"DoNotSchedule",
                    "labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}])",
                out.spread->skew, out.spread->key, out.spread->app);
        }
        return out;
    }

    sample make(int most_members) {
        sample out;
        const int nodes = 1 + upto(4);
        for (int i = 0; i < nodes; ++i) {
            auto node = make_node(fmt::format("n{}", i),
                                  fmt::format("cpu={} memory={}", 1 + upto(8), 1 + upto(8)),
                                  one_in(5) ? "" : (one_in(2) ? "a" : "b"));
            if (one_in(3)) node.allocatable["gpu"] = 1000 * (1 + upto(2));
            if (one_in(4)) node.allocatable["pods"] = 1000 * (1 + upto(3));
            if (one_in(8)) node.taints = {{"k", "v", "NoSchedule"}};
            if (one_in(12)) node.unschedulable = true;
            if (one_in(12)) node.ready = false;
            out.nodes.push_back(std::move(node));
        }
        // Where they are told apart by address.
        out.kinds.reserve(3);
        out.bound_kinds.reserve(8);
        const int kinds = 1 + upto(3);
        for (int i = 0; i < kinds; ++i) out.kinds.push_back(make_kind(i));
        const int bound = upto(4);
        for (int i = 0; i < bound; ++i) {
            auto one = make_kind(10 + i);
            one.pod.requests["cpu"] = 1000 * upto(3);
            out.bound_kinds.push_back(std::move(one));
            out.bound.push_back({&out.bound_kinds.back(), upto(nodes)});
        }
        const int members = 1 + upto(most_members);
        for (int i = 0; i < members; ++i) {
            out.gang.push_back(&out.kinds[static_cast<std::size_t>(upto(kinds))]);
        }
        return out;
    }
};

fit_result plan(const sample& of, packing how) {
    tests::cluster at;
    for (const auto& node : of.nodes) at.add(node);
    for (const auto& each : of.bound) {
        auto pod = each.of->pod;
        pod.node_name = of.nodes[static_cast<std::size_t>(each.node)].metadata.name;
        pod.phase = "Running";
        pod.scheduling_gates.clear();
        if (each.of->away) {
            pod.anti_affinity.text = fmt::format(
                R"([{{"topologyKey":"{}","labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}])",
                each.of->away->key, each.of->away->app);
        }
        at.add(std::move(pod));
    }
    std::vector<pod_pointer> members;
    for (std::size_t i = 0; i < of.gang.size(); ++i) {
        auto pod = of.gang[i]->pod;
        pod.metadata.name = fmt::format("m{}", i);
        pod.metadata.uid = pod.metadata.name;
        members.push_back(shared(std::move(pod)));
    }
    return at.fit(members, {.how = how});
}

std::vector<std::pair<const kind*, int>> assignment(const sample& of, const chosen_nodes& where) {
    std::vector<std::pair<const kind*, int>> out;
    for (std::size_t i = 0; i < of.gang.size(); ++i) {
        for (std::size_t at = 0; at < of.nodes.size(); ++at) {
            if (of.nodes[at].metadata.name == where.nodes[i]) {
                out.emplace_back(of.gang[i], static_cast<int>(at));
            }
        }
    }
    return out;
}

/// The results of many samples.
struct tally {
    int placed = 0;
    int refused = 0;
    int missed = 0;
};

tally try_many(unsigned seeds, bool near, int most_members) {
    tally out;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        const auto of = maker{std::mt19937(seed), near}.make(most_members);
        auto there = of.bound;
        std::optional<bool> can;
        for (const auto how : {packing::fewest_nodes, packing::spread}) {
            const auto result = plan(of, how);
            if (const auto* where = std::get_if<chosen_nodes>(&result)) {
                ++out.placed;
                EXPECT_EQ(where->nodes.size(), of.gang.size());
                const auto all = assignment(of, *where);
                EXPECT_EQ(all.size(), of.gang.size()) << "seed " << seed;
                EXPECT_TRUE(holds(of, there, all))
                    << "seed " << seed << ": " << tests::show(result);
                continue;
            }
            const auto& no = std::get<no_fit>(result);
            EXPECT_EQ(no.reason, no_fit_reason::no_room);
            EXPECT_EQ(no.members, static_cast<int>(of.gang.size()));
            EXPECT_LT(no.fitting, no.members);
            ++out.refused;
            if (!can) can = possible(of, there, of.gang, near);
            if (!*can) continue;
            ++out.missed;
            EXPECT_TRUE(near) << "seed " << seed << ": " << no.message;
        }
    }
    return out;
}

TEST(a_fit_by_chance, holds_and_misses_nothing_where_only_nodes_have_a_say) {
    const auto all = try_many(4000, false, 6);
    EXPECT_GT(all.placed, 1000);
    EXPECT_GT(all.refused, 500);
    EXPECT_EQ(all.missed, 0);
}

TEST(a_fit_by_chance, holds_where_pods_have_rules_for_each_other) {
    const auto all = try_many(4000, true, 5);
    EXPECT_GT(all.placed, 1000);
    EXPECT_GT(all.refused, 500);
    EXPECT_EQ(all.missed, 0);
}

}  // namespace
}  // namespace esi::placement
