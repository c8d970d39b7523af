// A planner that lies is caught: the answers are forged on their way to the judge.
#include <gtest/gtest.h>

#include <algorithm>

#include "foresee/explain_probe.h"
#include "foresee/preview_probe.h"

namespace esi::simulation::foresee {
namespace {

constexpr std::uint64_t seeds = 15;

template <class Probe, class Forge>
std::map<std::string, int> rules_broken(Probe probe, const Forge& forge) {
    std::map<std::string, int> out;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        for (const auto& each : probe(seed, run_options(), forge).violations) ++out[each.rule];
    }
    return out;
}

std::map<std::string, int> with_previews(const forger& forge) {
    return rules_broken(probe_previews, forge);
}
std::map<std::string, int> with_explanations(const explanation_forger& forge) {
    return rules_broken(probe_explanations, forge);
}

TEST(probes, find_nothing_wrong_with_the_answers_of_the_planner) {
    EXPECT_TRUE(with_previews(nullptr).empty());
    EXPECT_TRUE(with_explanations(nullptr).empty());
}

TEST(probes, catch_a_preview_of_other_slots) {
    const auto found = with_previews([](answers::preview& what) {
        for (auto& each : what.starts) {
            for (auto& slot : each.slots) ++slot;
        }
    });
    EXPECT_TRUE(found.contains("start-not-foreseen"));
}

TEST(probes, catch_a_preview_without_a_start_that_comes) {
    const auto found = with_previews([](answers::preview& what) { what.starts.clear(); });
    EXPECT_TRUE(found.contains("start-not-foreseen"));
}

TEST(probes, catch_a_preview_with_a_start_that_does_not_come) {
    const auto found = with_previews([](answers::preview& what) {
        if (what.starts.empty()) what.starts.push_back({"default", "spare-a", {0}, 0, {}});
    });
    EXPECT_TRUE(found.contains("foreseen-does-not-come"));
}

TEST(probes, catch_a_preview_that_names_what_is_not_in_the_way) {
    const auto found = with_previews([](answers::preview& what) {
        what.blockers.emplace_back().reason = model::condition_reason::suspended;
    });
    EXPECT_TRUE(found.contains("acquired-though-blocked"));
}

answers::blocking missing_job() {
    answers::blocking out;
    out.reason = model::condition_reason::job_missing;
    out.what = {"BatchJob", "default", "not-wanted"};
    return out;
}

void for_each_list(answers::explanation& what, auto change) {
    change(what.blockers);
    for (auto& job : what.jobs) change(job.blockers);
}

TEST(probes, catch_two_previews_that_promise_the_same_slot) {
    // With the same name whoever asks: each Scheduling seems to start the job of the other, too.
    const auto found = with_previews(
        [](answers::preview& what) { what.starts.push_back({"default", "spare-a", {0}, 0, {}}); });
    EXPECT_TRUE(found.contains("foreseen-twice"));
}

TEST(probes, catch_an_explanation_that_names_a_job_with_slots_of_another) {
    const auto found = with_explanations([](answers::explanation& what) {
        for (auto& job : what.jobs) {
            for (auto& each : job.blockers) {
                if (each.reason == answers::blocking_reason::slot_of_job) each.slots.push_back(99);
            }
        }
    });
    EXPECT_TRUE(found.contains("owner-untrue"));
}

TEST(probes, catch_an_explanation_that_names_another_thing) {
    const auto found = with_explanations([](answers::explanation& what) {
        for_each_list(what, [](auto& list) {
            if (!list.empty()) list = {missing_job()};
        });
    });
    EXPECT_TRUE(found.contains("still-named"));
}

TEST(probes, catch_an_explanation_that_names_one_thing_too_many) {
    const auto found = with_explanations([](answers::explanation& what) {
        for_each_list(what, [](auto& list) {
            if (!list.empty()) list.push_back(missing_job());
        });
    });
    EXPECT_TRUE(found.contains("still-named"));
}

TEST(probes, catch_an_explanation_that_names_nothing_where_something_is_in_the_way) {
    std::map<std::string, int> found;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        // The first ones are true: something that waits is picked by them.
        int asked = 0;
        const auto forge = [&](answers::explanation& what) {
            if (++asked <= 8) return;
            what.problem.clear();
            for_each_list(what, [](auto& list) { list.clear(); });
        };
        for (const auto& each : probe_explanations(seed, run_options(), forge).violations) {
            ++found[each.rule];
        }
    }
    EXPECT_TRUE(found.contains("nothing-else-named"));
}

TEST(bounds, a_share_of_exempted_states_beyond_them_is_told) {
    std::map<std::string, int> counts;
    for (const auto& each : bounds()) counts[each.whole.front()] = 1000;
    EXPECT_TRUE(beyond_bounds(counts).empty());
    for (const auto& each : bounds()) {
        auto more = counts;
        more[each.part] = 4000;
        EXPECT_FALSE(beyond_bounds(more).empty()) << each.part;
    }
}

}  // namespace
}  // namespace esi::simulation::foresee
