#include "run/pool.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <thread>

namespace esi::simulation {
namespace {

using std::chrono::seconds;

/// What became of each piece, by its number.
std::map<std::size_t, std::string> all_of(std::size_t count, seconds limit,
                                          const std::function<nlohmann::json(std::size_t)>& work) {
    std::map<std::size_t, std::string> out;
    run_all(count, {2, limit}, work, [&](const piece& one) {
        out[one.number] = one.failure.empty() ? one.result.get<std::string>() : one.failure;
        return true;
    });
    return out;
}

TEST(pool, a_piece_that_computes_without_end_costs_itself_alone) {
    const auto work = [](std::size_t number) -> nlohmann::json {
        for (volatile bool on = number == 1; on;) {
        }
        return "well";
    };
    EXPECT_EQ(
        all_of(3, seconds(1), work),
        (std::map<std::size_t, std::string>{{0, "well"}, {1, "no end within 1 s"}, {2, "well"}}));
}

TEST(pool, a_branch_goes_on_alone_and_gives_its_result) {
    int here = 1;
    const auto from_there = [&](auto work) -> std::string {
        branch copy;
        const auto ended = copy.begin(seconds(1));
        if (!ended) {
            here = 2;
            work();
            copy.end("well");
        }
        return ended->failure.empty() ? ended->result.get<std::string>() : ended->failure;
    };
    EXPECT_EQ(from_there([] {}), "well");
    EXPECT_EQ(from_there([] { std::abort(); }), "killed by signal 6");
    EXPECT_EQ(from_there([] { std::_Exit(3); }), "ended with exit code 3");
    EXPECT_EQ(from_there([] {
                  for (volatile bool on = true; on;) {
                  }
              }),
              "no end within 1 s");
    EXPECT_EQ(here, 1);
}

TEST(pool, a_piece_that_waits_for_its_turn_may_take_longer) {
    const auto work = [](std::size_t) -> nlohmann::json {
        std::this_thread::sleep_for(seconds(2));
        return "well";
    };
    EXPECT_EQ(all_of(1, seconds(1), work), (std::map<std::size_t, std::string>{{0, "well"}}));
}

TEST(pool, a_piece_that_dies_is_named_with_its_signal) {
    const auto work = [](std::size_t number) -> nlohmann::json {
        if (number == 0) abort();
        return "well";
    };
    EXPECT_EQ(all_of(2, seconds(60), work),
              (std::map<std::size_t, std::string>{{0, "killed by signal 6"}, {1, "well"}}));
}

}  // namespace
}  // namespace esi::simulation
