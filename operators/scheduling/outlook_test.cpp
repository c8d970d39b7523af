// decide() then does what the outlook has foreseen, step by step.
#include "scheduling/outlook.h"

#include <gtest/gtest.h>

#include <random>

#include "scheduling/answers/testing.h"

namespace esi::scheduling {
namespace {

using answers::draft_of;
using answers::question;
using answers::show;

/// The actions of one Scheduling alone, until it assigns slots or has nothing to do.
struct driven {
    std::vector<std::string> acquired;
    std::map<object_key, std::vector<int>> assigned;
};

driven drive(world& w, const object_key& key) {
    driven out;
    w.memory.erase(key);
    const auto written = w.writes.size();
    std::set<std::string> known;
    for (const auto& a : w.schedulings.at(key)->status.assignments) known.insert(a.run);
    for (int i = 0; i < 300 && w.step_of(key) && w.schedulings.contains(key); ++i) {
        if (w.writes.size() == written || w.writes.back() != "Assigned " + key.name) continue;
        for (const auto& a : w.schedulings.at(key)->status.assignments) {
            if (!known.contains(a.run)) out.assigned[a.job.key()] = a.slot_ids;
        }
        break;
    }
    for (auto i = written; i < w.writes.size(); ++i) {
        if (!w.writes[i].starts_with("acquire ")) continue;
        out.acquired.push_back(w.writes[i].substr(8, w.writes[i].find(" by ") - 8));
    }
    return out;
}

std::map<object_key, std::vector<int>> by_job(const std::vector<start>& starts) {
    std::map<object_key, std::vector<int>> out;
    for (const auto& each : starts) out[each.job] = each.slot_ids;
    return out;
}

std::vector<std::string> names(const std::vector<object_key>& keys) {
    std::vector<std::string> out;
    for (const auto& key : keys) out.push_back(key.name);
    return out;
}

/// A world with some Schedulings, and all that people and clusters do to them.
class random_world {
public:
    explicit random_world(unsigned seed) : random_(seed) {
        w.add_testbed("t", 3, 2);
        w.add_testbed("u", 2, 2);
        w.add_testbed("other/o", 2, 1);
        w.offer("other/o", {"ns"});
        for (const char* name : {"a", "b", "c", "d", "e", "f"}) w.add_job(name);
        const int count = below(4);
        for (int i = 0; i < count; ++i) create("s" + std::to_string(i), spec());
    }

    int below(int bound) { return std::uniform_int_distribution(0, bound - 1)(random_); }
    bool once_in(int n) { return below(n) == 0; }

    std::string job() { return std::string(1, static_cast<char>('a' + below(6))); }

    model::scheduling_spec spec() {
        model::scheduling_spec out;
        out.testbed = world::key_of(once_in(5)   ? "u"
                                    : once_in(6) ? "other/o"
                                    : once_in(9) ? "missing"
                                                 : "t");
        if (once_in(2)) {
            out.queue_based = queue();
        } else {
            out.slot_based.emplace();
            out.slot_based->mode = once_in(2) ? "strict" : "relaxed";
            std::set<std::string> named;
            const int count = 1 + below(4);
            for (int i = 0; i < count; ++i) {
                const auto name = job();
                if (!named.insert(name).second && !once_in(10)) continue;
                std::set<int> slots;
                for (int k = 1 + below(3); k > 0; --k) slots.insert(below(once_in(12) ? 8 : 4));
                out.slot_based->jobs.push_back({{"", name}, {slots.begin(), slots.end()}});
            }
        }
        out.release_on_completion = once_in(3);
        if (once_in(8)) out.suspend = true;
        if (once_in(4)) out.priority = below(5) - 2;
        wish(out);
        return out;
    }

    std::vector<object_key> queue() {
        std::vector<object_key> out;
        const int count = below(8) + (once_in(10) ? 0 : 1);
        for (int i = 0; i < count; ++i) out.push_back({"", job()});
        return out;
    }

    void wish(model::scheduling_spec& of) {
        if (once_in(6)) of.cancelled_jobs = {{"", job()}};
        if (once_in(8)) of.cancelled_jobs.clear();
        if (once_in(5)) of.job_policies = {{{"", job()}, 1 + below(2), below(15)}};
        if (once_in(10)) of.active_deadline_seconds = 1 + below(40);
    }

    void create(const std::string& name, model::scheduling_spec of) {
        model::scheduling out;
        out.metadata = w.meta(name);
        out.spec = std::move(of);
        w.schedulings[out.metadata.key()] = std::make_shared<const model::scheduling>(out);
    }

    std::string scheduling() {
        const auto at =
            std::next(w.schedulings.begin(), below(static_cast<int>(std::ssize(w.schedulings))));
        return at->first.name;
    }

    void disturb() {
        w.now += seconds(below(12));
        for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
            const auto& one = w.job(name);
            if (one.status.state == "RunningState" && one.spec.creation_request && once_in(3)) {
                w.end_job(name, once_in(5) ? "FailedState" : "CompletedState");
            } else if (one.status.state == "FailedState" && once_in(3)) {
                w.edit(w.jobs, {"ns", name}, [&](model::batchjob& j) {
                    j.metadata.annotations[std::string(names_of::reset)] = w.next_version();
                });
            }
        }
        if (once_in(6)) {
            w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
                t.status.slots.clear();
                if (once_in(2)) return;
                model::slot_status row;
                row.position = below(6);
                row.state = "ERROR";
                t.status.slots = {row};
            });
        }
        if (once_in(9))
            w.offer("other/o",
                    once_in(2) ? std::vector<std::string>{"ns"} : std::vector<std::string>{});
        if (w.schedulings.empty()) return;
        w.change(scheduling(), [&](model::scheduling_spec& of) {
            if (of.queue_based && once_in(2)) of.queue_based = queue();
            if (once_in(3)) of.suspend = once_in(3);
            if (once_in(5)) of.suspend_policy = once_in(2) ? "Release" : "Keep";
            wish(of);
        });
        if (once_in(3)) w.erase_scheduling(scheduling());
        if (once_in(3)) create("n" + std::to_string(++created_), spec());
    }

    world w;

private:
    std::mt19937 random_;
    int created_ = 0;
};

class over_seeds : public testing::TestWithParam<int> {
protected:
    static constexpr int seeds = 100;
};

INSTANTIATE_TEST_SUITE_P(outlook, over_seeds, testing::Range(0, 8));

TEST_P(over_seeds, what_is_foreseen_of_a_new_plan_is_what_it_does_first) {
    int starts = 0;
    for (int i = 0; i < seeds; ++i) {
        const auto seed = static_cast<unsigned>(GetParam() * seeds + i);
        random_world random(seed);
        auto& w = random.w;
        w.settle();
        for (int round = static_cast<int>(seed % 4); round > 0; --round) {
            random.disturb();
            w.settle();
        }
        const auto wanted = random.spec();
        // Creation takes a second in this world.
        const question asked(w, draft_of({"ns", "new"}, wanted, nullptr, w.now + seconds(1)));
        const auto seen = outlook_of(asked.v, w.now + seconds(1));
        const auto answer = answers::preview_of(asked.v, w.now + seconds(1));
        random.create("new", wanted);
        const auto done = drive(w, {"ns", "new"});
        ASSERT_EQ(by_job(seen.next.starts), done.assigned) << "seed " << seed;
        ASSERT_EQ(names(seen.acquires), done.acquired) << "seed " << seed;
        ASSERT_EQ(answers::show_starts(answer), show(seen.next.starts)) << "seed " << seed;
        ASSERT_EQ(answer.verdict == "Starts", !done.assigned.empty()) << "seed " << seed;
        starts += !done.assigned.empty();
    }
    EXPECT_GT(starts, seeds / 8) << "most of it was not tested";
}

TEST_P(over_seeds, what_is_foreseen_of_a_plan_under_way_is_what_it_does_next) {
    int starts = 0;
    for (int i = 0; i < seeds; ++i) {
        const auto seed = static_cast<unsigned>(10'000 + GetParam() * seeds + i);
        random_world random(seed);
        auto& w = random.w;
        if (seed % 3 != 0) w.settle();
        for (int round = 0; round < 16; ++round) {
            random.disturb();
            for (const auto& [key, unused] : objects<model::scheduling>(w.schedulings)) {
                if (!w.schedulings.contains(key)) continue;
                const question asked(w, w.schedulings.at(key));
                const auto before = model::encode(asked.v.self->status).dump();
                const auto seen = outlook_of(asked.v, w.now);
                const auto answer = answers::preview_of(asked.v, w.now);
                ASSERT_EQ(model::encode(asked.v.self->status).dump(), before)
                    << "nothing is written";
                const auto done = drive(w, key);
                ASSERT_EQ(by_job(seen.next.starts), done.assigned)
                    << "seed " << seed << " round " << round << " " << key.name;
                if (!done.assigned.empty()) {
                    ASSERT_EQ(names(seen.acquires), done.acquired)
                        << "seed " << seed << " round " << round << " " << key.name;
                }
                ASSERT_EQ(answers::show_starts(answer), show(seen.next.starts));
                starts += !done.assigned.empty();
                if (random.once_in(2)) w.sweep_jobs();
            }
            if (random.once_in(2)) w.settle();
        }
    }
    EXPECT_GT(starts, seeds) << "most of it was not tested";
}

TEST(outlook, asks_for_as_few_slots_as_decide_does) {
    world w;
    w.add_testbed("t", 1000, 2);
    for (const char* name : {"a", "b"}) w.add_job(name);
    w.add_queue("s", "t", {"a", "a", "b"});
    const question asked(w, "s");
    const auto before = asked.v.slots->slots_read();
    EXPECT_EQ(show(outlook_of(asked.v, w.now).next.starts), "a:0,1 b:2");
    EXPECT_LT(asked.v.slots->slots_read() - before, 10u);
}

}  // namespace
}  // namespace esi::scheduling
