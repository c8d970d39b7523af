// The part of the testbed operator that finds places for claims, with --claims only: keeps a list
// of the claims that have none, plans the first of them that fits on the ledger of the cluster's
// room, and hands the layout to the Testbed's reconcile, which writes it in one guarded write.
// Owned by the testbed operator.
//
// Memory of a process only. What counts is the layout that is written: a process that dies before
// it has planned nothing; of two that lead one write finds the other's version and fails.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controller/process.h"
#include "testbed/caches.h"
#include "testbed/claims/claim.h"
#include "testbed/gangs/room_upkeep.h"

namespace esi::testbed::claims {

/// Passes are at least so far apart.
inline constexpr milliseconds pass_pause{100};
/// A plan that has not been written for so long is dropped, and another one made.
inline constexpr seconds plan_patience{10};
/// How long a node is left out after a place on it was given back.
inline constexpr std::chrono::minutes avoided_for{10};
/// How often it is asked whether that time is over.
inline constexpr std::chrono::minutes again_when_avoided{1};
/// How long what was read of a PriorityClass counts.
inline constexpr seconds class_patience{10};
/// Claims that are planned in one pass: more follow in the next.
inline constexpr int most_plans = 16;

class claims_operator {
public:
    using listener = std::function<void(const model::object_key&)>;
    /// `from` has been made for gangs, and has no objects yet; `room` is kept up from it. `changed`
    /// is called with each Testbed that has to be reconciled: it has a plan, or another standing.
    /// `compact`: the form of layouts.
    claims_operator(controller::environment& env, testbed::caches& from, gangs::room_upkeep& room,
                    bool compact, listener changed);

    void lead();
    asio::awaitable<void> stop(steady_time deadline);

    // What the testbed operator is told of its Testbeds (change_listener).
    /// Its spec, its layout, its hold, or it is gone.
    void testbed_changed(const model::object_key& key);
    /// Places of Testbeds have changed, and the ledger knows of it.
    void slots_changed() { wake(); }

    /// The layout that is to be written for the Testbed; null: none.
    const model::testbed_layout* plan_of(const model::testbed& testbed) const;
    /// What became of that write. What was planned is promised until the cache shows it.
    void written(const model::object_key& key, bool well);
    /// Places on these nodes were not free for long, and all are about to be given back.
    void gives_back(const model::object_key& key, const std::set<std::string>& nodes, standing at);
    /// Of a claim that has no places.
    standing standing_of(const model::object_key& key) const;

private:
    struct entry {
        /// Of the Testbed that the rest is about.
        std::string uid;
        standing at;
        std::map<std::string, steady_time> avoided;
        struct plan {
            model::testbed_layout layout;
            std::vector<std::string> promises;
            steady_time since{};
            bool written = false;
        };
        std::optional<plan> next;
        /// When it did not fit: cluster_room::freed(), its generation, how many nodes are avoided.
        std::optional<std::tuple<std::uint64_t, std::int64_t, std::size_t>> failed;
    };
    struct known_class {
        std::string problem;
        steady_time at{};
    };

    asio::awaitable<result<controller::outcome>> pass();
    /// Those that have no places and may get some, in order.
    std::vector<testbed_pointer> waiting() const;
    /// False: nothing is to be tried now.
    bool may_plan(const model::testbed& testbed, entry& own, controller::outcome& out);
    void plan(const testbed_pointer& testbed, entry& own, controller::outcome& out);
    std::set<std::string, std::less<>> nodes_left_out(entry& own) const;
    asio::awaitable<std::string> problem_of_class(int priority);
    void stand(const model::object_key& key, entry& own, std::string_view reason,
               std::string message);
    /// Its plan is over, and its promises with it.
    void drop(entry& own);
    /// A pass is due.
    void wake();

    controller::environment& env_;
    const testbed::caches& caches_;
    gangs::room_upkeep& ledger_;
    bool compact_;
    listener changed_;
    /// Of Testbeds with a claim, also those that have their places.
    std::map<model::object_key, entry> entries_;
    std::map<int, known_class> classes_;
    controller::controller controller_;
    std::optional<steady_time> last_pass_;
    bool leads_ = false;
};

}  // namespace esi::testbed::claims
