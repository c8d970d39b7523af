// Chance on the decider: groups, pods, nodes and strangers come and go, requests fail or are
// answered late, the process and the scheduler restart. After every pass the invariants hold.
#include <gmock/gmock.h>

#include <random>

#include "gangs/testing/world.h"

namespace esi::gangs::tests {
namespace {

struct chance {
    std::mt19937 engine;
    explicit chance(unsigned seed) : engine(seed) {}
    int below(int count) {
        return static_cast<int>(engine() % static_cast<unsigned>(std::max(count, 1)));
    }
    bool one_in(int count) { return below(count) == 0; }
};

class random_gangs : public testing::TestWithParam<unsigned> {
protected:
    world w;
    chance luck{GetParam()};
    std::vector<action> under_way;
    int made = 0;
    /// Gangs of which a look has said go.
    std::set<gang_key> looked;

    std::string some_gang() { return fmt::format("g{}", luck.below(6)); }
    std::string some_pod() {
        if (w.pods.empty()) return "";
        return std::next(w.pods.begin(), luck.below(static_cast<int>(w.pods.size())))->first;
    }

    void something_happens() {
        switch (luck.below(14)) {
            case 0:
            case 1:
                if (const auto name = some_gang(); !w.groups.contains(world::key(name))) {
                    w.group(name, 1 + luck.below(4));
                }
                break;
            case 2:
            case 3:
            case 4: {
                const auto of = some_gang();
                auto pod = w.member(fmt::format("p{}", ++made), of,
                                    fmt::format("cpu={}", 1 + luck.below(2)));
                pod.priority = luck.below(2) * 10;
                if (luck.one_in(4)) pod.tolerations = {{"", "Exists", "", ""}};
                w.put(std::move(pod));
                break;
            }
            case 5:
                if (const auto name = some_pod(); !name.empty()) w.remove(name);
                break;
            case 6:
                if (const auto name = some_pod(); !name.empty() && w.pods.at(name)->bound()) {
                    w.edit(name, [](model::pod& pod) { pod.phase = "Succeeded"; });
                }
                break;
            case 7:
                if (luck.one_in(3)) w.remove_group(some_gang());
                break;
            case 8: {
                const auto node = fmt::format("node-{}", luck.below(3));
                if (!w.nodes.contains(node)) {
                    w.add_node(node, "cpu=4");
                } else if (luck.one_in(3)) {
                    auto changed = *w.nodes.at(node);
                    auto& flag = luck.one_in(2) ? changed.unschedulable : changed.ready;
                    flag = !flag;
                    w.put_node(changed);
                }
                break;
            }
            case 9:
                w.add_stranger(fmt::format("s{}", ++made), "cpu=1",
                               fmt::format("node-{}", luck.below(3)));
                break;
            case 10:
                if (const auto name = some_gang(); w.groups.contains(world::key(name))) {
                    auto& marks = w.change(name).metadata.annotations;
                    marks[std::string(names::suspend)] = luck.one_in(2) ? "true" : "false";
                }
                break;
            case 11:
                w.wait(seconds(luck.below(400)));
                break;
            case 12:
                if (luck.one_in(4)) {
                    w.restart();
                    under_way.clear();
                }
                break;
            case 13:
                w.scheduler = fmt::format("s/{}", luck.below(3));
                break;
        }
        if (luck.one_in(2)) w.bind();
    }

    /// Asserts the preconditions of an action at the time when it is carried out.
    void check(const action& what) {
        if (const auto* of = std::get_if<let_in>(&what)) {
            EXPECT_TRUE(looked.contains(of->of)) << show(what) << ": nobody has looked";
        }
        if (const auto* of = std::get_if<look_and_let_in>(&what)) {
            const auto found = w.known->gangs.find(of->of);
            ASSERT_NE(found, w.known->gangs.end());
            ASSERT_TRUE(found->second.has.has_value()) << show(what);
            EXPECT_FALSE(found->second.has->reservation) << show(what);
        }
    }

    void carry_out_some() {
        std::vector<action> later;
        for (auto& each : under_way) {
            if (luck.one_in(4)) {
                later.push_back(std::move(each));
                continue;
            }
            outcome how;
            if (luck.one_in(10)) {
                how.failed = error{luck.one_in(2) ? errc::conflict : errc::server, "by chance"};
                // The effect of a request that failed may be there.
                if (luck.one_in(2) && w.carry_out(each).refused.empty()) {
                    if (std::holds_alternative<look_and_let_in>(each)) looked.insert(gang_of(each));
                }
            } else {
                check(each);
                how = w.carry_out(each);
                if (std::holds_alternative<look_and_let_in>(each) && how.refused.empty()) {
                    looked.insert(gang_of(each));
                }
            }
            take_outcome(*w.known, each, how, w.now);
        }
        under_way = std::move(later);
    }

    void nobody_waits_beside_room() {
        for (const auto& [key, own] : w.known->gangs) {
            if (own.at.at != state::waiting || own.what.how == start::surplus) continue;
            std::vector<pod_pointer> next;
            for (const auto& uid : own.what.next) next.push_back(own.seen->find(uid)->pod);
            EXPECT_FALSE(next.empty());
            EXPECT_TRUE(std::holds_alternative<no_fit>(fit(next, *w.room, {})))
                << explain(*own.seen, own);
        }
    }

    void pass() {
        w.pass();
        std::set<std::string> names;
        for (const auto& each : under_way) names.insert(name_of(each));
        for (const auto& each : w.last.actions) {
            EXPECT_TRUE(names.insert(name_of(each)).second) << show(each) << " twice";
            under_way.push_back(each);
        }
        int reservations = 0;
        std::map<std::string, int> promised;
        for (const auto& [key, own] : w.known->gangs) {
            if (!own.has) continue;
            if (own.has->reservation) {
                ++reservations;
                EXPECT_EQ(w.known->reserving, key);
            }
            EXPECT_TRUE(!own.has->places.empty() ||
                        w.known->under_way.contains("look " + key.text()));
            for (const auto& [uid, node] : own.has->places) {
                EXPECT_EQ(w.room->promised_to(uid), node);
                ++promised[uid];
            }
            if (!own.has->looked && !own.has->reservation &&
                !w.known->under_way.contains("look " + key.text())) {
                EXPECT_EQ(own.has->places.size(), own.what.next.size()) << key.text();
            }
        }
        EXPECT_LE(reservations, 1);
        // Every promise belongs to a plan or to a pod that was let in.
        for (const auto& [uid, promise] : w.room->promises()) {
            const auto now = w.pods.find(promise.pod->metadata.name);
            const bool in = now != w.pods.end() && now->second->metadata.uid == uid &&
                            stage_of(*now->second) == stage::let_in;
            EXPECT_TRUE(promised.contains(uid) || in) << promise.pod->metadata.name;
        }
    }
};

TEST_P(random_gangs, keep_what_must_hold) {
    // In every second one, gangs wait for those that are on their way.
    if (GetParam() % 2 == 0) w.options.most_on_their_way = 4;
    for (int i = 0; i < 3; ++i) w.add_node(fmt::format("node-{}", i), "cpu=4");
    for (int step = 0; step < 400; ++step) {
        something_happens();
        pass();
        carry_out_some();
        w.wait(milliseconds(50));
        if (HasFailure()) FAIL() << "seed " << GetParam() << ", step " << step;
    }
    // Then nothing happens any more: it comes to rest, nothing that hangs is kept.
    under_way.clear();
    for (auto& [name, pod] : std::map(w.pods)) {
        if (!group_of(*pod)) w.remove(name);
    }
    for (int i = 0; i < 3; ++i) {
        auto node = *w.nodes.at(fmt::format("node-{}", i));
        node.unschedulable = false;
        node.ready = true;
        w.put_node(node);
    }
    w.known->under_way.clear();
    for (int i = 0; i < 60; ++i) {
        w.settle();
        w.bind();
        w.wait(seconds(60));
    }
    w.settle();
    nobody_waits_beside_room();
    // Nothing becomes free now; who asks for less may fit all the same.
    for (const auto& [key, of] : std::map(w.groups)) w.change(key.name).spec.min_member = 1;
    for (int i = 0; i < 10; ++i) {
        w.settle();
        w.bind();
        w.wait(seconds(60));
    }
    w.settle();
    nobody_waits_beside_room();
    EXPECT_TRUE(w.room->promises().empty() || w.known->reserving);
    for (const auto& [key, own] : w.known->gangs) {
        if (own.at.at == state::waiting) {
            EXPECT_TRUE(own.wait.failed_at.has_value()) << explain(*own.seen, own);
        }
        EXPECT_NE(own.at.at, state::reserved) << explain(*own.seen, own);
        EXPECT_NE(own.at.at, state::starting)
            << explain(*own.seen, own) << " " << own.attempt.reached.value_or(-1) << " "
            << own.attempt.since.has_value() << own.what.begun << own.what.let_in << own.what.bound
            << own.what.well_now;
    }
    for (const auto& [name, pod] : w.pods) {
        if (stage_of(*pod) != stage::reserved) continue;
        EXPECT_TRUE(w.known->reserving && group_of(*pod) == w.known->reserving) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, random_gangs, testing::Range(1U, 101U));

}  // namespace
}  // namespace esi::gangs::tests
