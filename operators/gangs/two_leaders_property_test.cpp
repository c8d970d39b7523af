// Random steps of two processes that both believe they lead: each has a cache that is behind, plans
// for itself, and its requests arrive at any time and in any order. No gang ever begins without
// room for all, and in the end none is left in part.
#include <gmock/gmock.h>

#include <random>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

using placement::tests::shared;
/// The pods as the API server has them, and their changes in order.
struct server {
    struct change {
        std::string name;
        pod_pointer after;
    };
    std::map<std::string, pod_pointer> pods;
    std::vector<change> changes;
    int version = 1000;

    void put(model::pod pod) {
        pod.metadata.resource_version = std::to_string(++version);
        const auto name = pod.metadata.name;
        pods[name] = shared(std::move(pod));
        changes.push_back({name, pods[name]});
    }
    void remove(const std::string& name) {
        pods.erase(name);
        changes.push_back({name, nullptr});
    }
    /// A guarded write. Nothing: the pod has changed since, or is gone.
    template <class Change>
    std::optional<std::string> write(const pod_pointer& guard, Change change) {
        const auto found = pods.find(guard->metadata.name);
        if (found == pods.end() ||
            found->second->metadata.resource_version != guard->metadata.resource_version) {
            return std::nullopt;
        }
        auto pod = *found->second;
        change(pod);
        put(std::move(pod));
        return std::to_string(version);
    }
};

/// An action of a process, step by step.
struct request {
    action what;
    outcome how = {};
    bool was_read = false;
    live_view live = {};
    /// For a look: the members it lets in next.
    std::vector<place> left = {};
    bool first = true;
};

struct process {
    world w;
    std::size_t seen = 0;
    std::vector<request> requests;
    int pause = 0;
};

class two_leaders : public testing::TestWithParam<unsigned> {
protected:
    std::mt19937 engine{GetParam()};
    server api;
    process both[2];
    std::map<std::string, int> minimum;
    int gangs = 0;
    const std::map<std::string, int> sizes{{"node-a", 3}, {"node-b", 2}};

    int below(int count) {
        return static_cast<int>(engine() % static_cast<unsigned>(std::max(count, 1)));
    }
    bool one_in(int count) { return below(count) == 0; }

    void SetUp() override {
        for (int i = 0; i < 2; ++i) {
            both[i].w.known->process = fmt::format("process-{}", i);
            for (const auto& [name, cpus] : sizes) {
                both[i].w.add_node(name, fmt::format("cpu={}", cpus));
            }
        }
    }
    static std::string group_name(const model::pod& pod) { return group_of(pod)->name; }

    void add_gang() {
        const auto name = fmt::format("g{}", ++gangs);
        minimum[name] = 1 + below(5);
        for (auto& each : both) each.w.group(name, minimum[name]);
        for (int i = 0; i < minimum[name]; ++i) {
            auto pod = both[0].w.member(fmt::format("{}-{}", name, i), name, "cpu=1");
            // The first member of a plan is the one with the least uid.
            pod.metadata.uid = fmt::format("{:05}-{}", below(99999), pod.metadata.name);
            api.put(std::move(pod));
        }
    }
    int count(const std::string& of, auto which) const {
        return static_cast<int>(std::ranges::count_if(api.pods, [&](const auto& entry) {
            return group_name(*entry.second) == of && which(stage_of(*entry.second));
        }));
    }
    static bool is_in(stage at) { return at == stage::let_in || at == stage::bound; }

    bool let_one_in(const place& to, outcome& how) {
        const auto of = group_name(*to.pod);
        const int before = count(of, is_in);
        const auto written = api.write(to.pod, [&](model::pod& pod) {
            pod.scheduling_gates.clear();
            pod.metadata.annotations[std::string(names::gang_node)] = to.node;
        });
        if (!written) {
            how.failed = error{errc::conflict, "changed"};
            return false;
        }
        how.written[to.pod->metadata.uid] = *written;
        const int ready = count(of, [](stage at) { return is_in(at) || at == stage::reserved; });
        if (before == 0) {
            EXPECT_EQ(ready, minimum.at(of)) << to.pod->metadata.name << " was let in early";
        }
        int taken = 0;
        for (const auto& [name, pod] : api.pods) {
            taken += is_in(stage_of(*pod)) &&
                     pod->metadata.annotation(names::gang_node) == std::string_view(to.node);
        }
        EXPECT_LE(taken, sizes.at(to.node)) << to.pod->metadata.name << " has no room";
        return true;
    }

    /// One step of the request; true: it is answered.
    bool step(process& of, request& each) {
        const auto set = [&](const pod_pointer& pod, const std::string& node,
                             const std::string& mark) {
            const auto written = api.write(pod, [&](model::pod& now) {
                now.nominated_node_name = node;
                now.metadata.annotations[std::string(names::gang_plan)] = mark;
                if (node.empty()) now.metadata.annotations.erase(std::string(names::gang_plan));
            });
            if (written) each.how.written[pod->metadata.uid] = *written;
            if (!written) each.how.failed = error{errc::conflict, "changed"};
            return true;
        };
        if (const auto* to = std::get_if<nominate>(&each.what)) {
            return set(to->pod, to->node, to->mark);
        }
        if (const auto* to = std::get_if<give_back>(&each.what)) return set(to->pod, "", "");
        if (const auto* to = std::get_if<show_nomination>(&each.what)) {
            return set(to->pod, to->pod->nominated_node_name, std::string(mark_of(*to->pod)));
        }
        if (const auto* to = std::get_if<let_in>(&each.what)) {
            let_one_in({to->pod, to->node}, each.how);
            return true;
        }
        const auto* look = std::get_if<look_and_let_in>(&each.what);
        if (!look) return true;
        if (!each.was_read) {
            each.was_read = true;
            for (const auto& [name, pod] : api.pods) {
                each.live.members[pod->metadata.uid] = pod;
                if (pod->bound()) each.live.on_nodes[pod->node_name].push_back(pod);
            }
            for (const auto& [name, node] : of.w.nodes) {
                each.live.nodes[name] = node;
                each.live.on_nodes[name];
            }
            each.live.promised =
                promised_on(*of.w.room, of.w.shown, {"node-a", "node-b"}, look->ahead);
            return false;
        }
        if (each.first && each.left.empty()) {
            each.how.refused = judge_look(*look, each.live, *of.w.room, of.w.shown);
            if (!each.how.refused.empty()) return true;
            for (const auto& to : look->places) {
                each.left.push_back({each.live.members.at(to.pod->metadata.uid), to.node});
            }
            return false;
        }
        const auto next =
            each.left.begin() + (each.first ? 0 : below(static_cast<int>(each.left.size())));
        const bool was_first = std::exchange(each.first, false);
        const bool in = let_one_in(*next, each.how);
        each.left.erase(next);
        return each.left.empty() || (was_first && !in);
    }

    void take_turn(process& of) {
        if (of.pause > 0) {
            --of.pause;
            return;
        }
        if (one_in(60)) of.pause = below(60);
        // The cache is behind.
        for (int i = below(4); i > 0 && of.seen < api.changes.size(); --i) {
            const auto& next = api.changes[of.seen++];
            if (next.after) {
                of.w.cache_shows(next.after);
            } else {
                of.w.remove(next.name);
            }
        }
        if (one_in(2)) {
            of.w.pass();
            for (const auto& each : of.w.last.actions) of.requests.push_back({each});
        }
        for (int i = below(3); i > 0 && !of.requests.empty(); --i) {
            const auto one = of.requests.begin() + below(static_cast<int>(of.requests.size()));
            if (!step(of, *one)) continue;
            // Some answers are lost.
            if (one_in(30)) one->how = {error{errc::timeout, "no answer"}, {}, {}, {}};
            take_outcome(*of.w.known, one->what, one->how, of.w.now);
            of.requests.erase(one);
        }
        of.w.wait(milliseconds(40));
    }

    void bind() {
        for (const auto& [name, pod] : std::map(api.pods)) {
            if (stage_of(*pod) != stage::let_in || one_in(2)) continue;
            const auto of = group_name(*pod);
            const int ready =
                count(of, [](stage at) { return is_in(at) || at == stage::reserved; });
            if (!ending.contains(of)) {
                EXPECT_EQ(ready, minimum.at(of)) << name << " is bound, and others have no place";
            }
            auto bound = *pod;
            bound.node_name = std::string(pod->metadata.annotation(names::gang_node));
            bound.nominated_node_name.clear();
            bound.phase = "Running";
            api.put(std::move(bound));
        }
    }
    /// A gang that runs whole goes, one member at a time.
    void end_some() {
        for (const auto& [name, least] : minimum) {
            const bool ends = count(name, [](stage at) { return at == stage::bound; }) == least ||
                              ending.contains(name);
            if (!ends) continue;
            ending.insert(name);
            const auto found = std::ranges::find_if(
                api.pods, [&](const auto& entry) { return group_name(*entry.second) == name; });
            if (found != api.pods.end()) return api.remove(std::string(found->first));
        }
    }
    std::set<std::string> ending;
};

TEST_P(two_leaders, start_each_gang_whole_or_not_at_all) {
    for (int i = 0; i < 4; ++i) add_gang();
    for (int i = 0; i < 3000 && !HasFailure(); ++i) {
        if (one_in(100) && gangs < 12) add_gang();
        take_turn(both[below(2)]);
        if (one_in(10)) bind();
        if (one_in(40)) end_some();
    }
    if (HasFailure()) FAIL() << "seed " << GetParam();
    // All gangs get their turn, though both processes go on.
    for (int i = 0; i < 60000 && !api.pods.empty(); ++i) {
        take_turn(both[below(2)]);
        if (one_in(10)) bind();
        if (one_in(20)) end_some();
    }
    std::string left;
    for (const auto& [name, pod] : api.pods) {
        left += fmt::format("{} {} {} {}\n", name, static_cast<int>(stage_of(*pod)),
                            pod->nominated_node_name, mark_of(*pod));
    }
    EXPECT_EQ(left, "") << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(seeds, two_leaders, testing::Range(1U, 301U));

}  // namespace
}  // namespace esi::gangs::tests
