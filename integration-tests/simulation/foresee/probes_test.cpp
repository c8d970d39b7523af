// A planner that lies is caught: the answers are forged on their way to the judge.
#include <gtest/gtest.h>

#include <algorithm>

#include "foresee/explain_probe.h"
#include "foresee/preview_probe.h"

namespace esi::simulation::foresee {
namespace {

/// Seeds of which one at least has a state that a forged answer is wrong in.
constexpr std::uint64_t seeds = 15;

bool breaks(const std::vector<violation>& found, std::string_view rule) {
    return std::ranges::any_of(found, [&](const auto& each) { return each.rule == rule; });
}

/// The judge says of some forged preview that it breaks the rule.
bool breaks_in_previews(const forger& forge, std::string_view rule) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        if (breaks(probe_previews(seed, run_options(), forge).violations, rule)) return true;
    }
    return false;
}
bool breaks_in_explanations(const explanation_forger& forge, std::string_view rule) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        if (breaks(probe_explanations(seed, run_options(), forge).violations, rule)) return true;
    }
    return false;
}

// `esi-simulation foresee` asks the same of many more states.
TEST(probes, find_nothing_wrong_with_the_answers_of_the_planner) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        EXPECT_TRUE(probe_previews(seed, run_options(), nullptr).violations.empty()) << seed;
        EXPECT_TRUE(probe_explanations(seed, run_options(), nullptr).violations.empty()) << seed;
    }
}

TEST(probes, catch_a_preview_of_other_slots) {
    const auto forge = [](answers::preview& what) {
        for (auto& each : what.starts) {
            for (auto& slot : each.slots) ++slot;
        }
    };
    EXPECT_TRUE(breaks_in_previews(forge, "start-not-foreseen"));
}

TEST(probes, catch_a_preview_without_a_start_that_comes) {
    const auto forge = [](answers::preview& what) { what.starts.clear(); };
    EXPECT_TRUE(breaks_in_previews(forge, "start-not-foreseen"));
}

TEST(probes, catch_a_preview_with_a_start_that_does_not_come) {
    const auto forge = [](answers::preview& what) {
        if (what.starts.empty()) what.starts.push_back({"default", "spare-a", {0}, 0, {}});
    };
    EXPECT_TRUE(breaks_in_previews(forge, "foreseen-does-not-come"));
}

TEST(probes, catch_a_preview_that_names_what_is_not_in_the_way) {
    const auto forge = [](answers::preview& what) {
        what.blockers.emplace_back().reason = model::condition_reason::suspended;
    };
    EXPECT_TRUE(breaks_in_previews(forge, "acquired-though-blocked"));
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
    const auto forge = [](answers::preview& what) {
        what.starts.push_back({"default", "spare-a", {0}, 0, {}});
    };
    EXPECT_TRUE(breaks_in_previews(forge, "foreseen-twice"));
}

TEST(probes, catch_an_explanation_that_names_a_job_with_slots_of_another) {
    const auto forge = [](answers::explanation& what) {
        for (auto& job : what.jobs) {
            for (auto& each : job.blockers) {
                if (each.reason == answers::blocking_reason::slot_of_job) each.slots.push_back(99);
            }
        }
    };
    EXPECT_TRUE(breaks_in_explanations(forge, "owner-untrue"));
}

TEST(probes, catch_an_explanation_that_names_another_thing) {
    const auto forge = [](answers::explanation& what) {
        for_each_list(what, [](auto& list) {
            if (!list.empty()) list = {missing_job()};
        });
    };
    EXPECT_TRUE(breaks_in_explanations(forge, "still-named"));
}

TEST(probes, catch_an_explanation_that_names_one_thing_too_many) {
    const auto forge = [](answers::explanation& what) {
        for_each_list(what, [](auto& list) {
            if (!list.empty()) list.push_back(missing_job());
        });
    };
    EXPECT_TRUE(breaks_in_explanations(forge, "still-named"));
}

TEST(probes, catch_an_explanation_that_names_nothing_where_something_is_in_the_way) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= seeds && !found; ++seed) {
        // The first ones are true: something that waits is picked by them.
        int asked = 0;
        const auto forge = [&](answers::explanation& what) {
            if (++asked <= 8) return;
            what.problem.clear();
            for_each_list(what, [](auto& list) { list.clear(); });
        };
        found =
            breaks(probe_explanations(seed, run_options(), forge).violations, "nothing-else-named");
    }
    EXPECT_TRUE(found);
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
