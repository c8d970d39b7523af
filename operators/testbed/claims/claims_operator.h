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
#include <span>
#include <string>
#include <vector>

#include "controller/process.h"
#include "testbed/caches.h"
#include "testbed/claims/claim.h"
#include "testbed/claims/claim_numbers.h"
#include "testbed/gangs/room_upkeep.h"

namespace esi::testbed::claims {

/// Passes are at least so far apart.
inline constexpr milliseconds pass_pause{100};
/// A plan that has not been written for so long is dropped, and another one made.
inline constexpr seconds plan_patience{10};
/// A claim of which a ghost is refused, by a quota for example, keeps its room no longer than that:
/// its author may not keep room from other claims that he cannot use.
inline constexpr seconds refused_patience{20};
/// How long such a claim waits then: twice as long each time that this comes again soon.
inline constexpr seconds refused_pause{60};
inline constexpr seconds refused_pause_at_most{1800};
/// How long a node is left out after a place on it was given back: twice as long each time that
/// this comes again soon.
inline constexpr std::chrono::minutes avoided_for{10};
inline constexpr std::chrono::hours avoided_at_most{4};
/// How often it is asked whether that time is over.
inline constexpr std::chrono::minutes again_when_avoided{1};
/// How often empty nodes are asked for a claim that waits.
inline constexpr seconds never_pause{10};
/// How long what was read of a PriorityClass counts.
inline constexpr seconds class_patience{10};
/// Claims that are planned in one pass: the others follow in the next, so that nothing else waits
/// long.
inline constexpr int most_plans = 4;
/// Other words with the same reason are not shown before that: what is missing changes with each
/// pod.
inline constexpr seconds words_pause{10};

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
    /// The same where the ghosts of places are refused: no node is at fault, and the claim waits
    /// for some time. `why`: the beginning of the words that it has from now on.
    standing gives_back_refused(const model::object_key& key, std::string_view why);
    /// Of a claim that has no places.
    standing standing_of(const model::object_key& key) const;

private:
    /// As long as this stands, what did not fit does not fit.
    struct surroundings {
        std::uint64_t freed = 0;  ///< cluster_room::freed()
        std::uint64_t labelled = 0;
        std::int64_t generation = 0;
        std::size_t avoided = 0;
        bool operator==(const surroundings&) const = default;
    };
    struct entry {
        /// Of the Testbed that the rest is about.
        std::string uid;
        standing at;
        /// Since when it has had no places, as far as this process has seen.
        steady_time without_since{};
        struct avoidance {
            steady_time until{};
            steady_time::duration wait{};
        };
        std::map<std::string, avoidance> avoided;
        struct plan {
            model::testbed_layout layout;
            std::vector<std::string> promises;
            steady_time since{};
            bool written = false;
        };
        std::optional<plan> next;
        /// What it did not fit into.
        std::optional<surroundings> failed;
        /// The last round in which it was tried.
        std::uint64_t round = 0;
        steady_time words_since{};
        /// Other words with the same reason, which are shown when the time has come.
        std::string unsaid;
        /// It is not tried before that.
        steady_time not_before{};
        /// How long it waited the last time that a ghost was refused.
        seconds refused_wait{};
        /// Empty nodes were asked then, for its spec of that generation; why they do not take it.
        struct {
            std::optional<steady_time> at;
            std::int64_t generation = 0;
            std::string why;
        } never;
    };
    struct known_class {
        std::string problem;
        steady_time at{};
    };

    asio::awaitable<result<controller::outcome>> pass();
    /// Those that have no places and may get some, in order.
    std::vector<testbed_pointer> waiting() const;
    /// False: nothing is to be tried now.
    bool may_plan(const model::testbed& testbed, entry& own);
    void plan(const testbed_pointer& testbed, entry& own);
    surroundings around(const model::testbed& testbed, entry& own);
    std::set<std::string, std::less<>> nodes_left_out(const entry& own) const;
    /// The node gives slots to a Testbed with a label, or would.
    bool is_labelled(const model::node& node) const;
    /// Why the places would not fit either if no pod were on any node; empty: they would, or it is
    /// not known.
    const std::string& never_fits(const model::testbed& testbed, entry& own,
                                  std::span<const pod_pointer> places,
                                  const gangs::fit_options& how);
    asio::awaitable<std::string> problem_of_class(int priority);
    void stand(const model::object_key& key, entry& own, std::string_view reason,
               std::string message);
    /// A pass is due then, if none is before.
    void again_in(steady_time::duration wait) {
        if (!again_ || wait < *again_) again_ = wait;
    }
    /// It has no places any more.
    void gave_back(entry& own, standing at);
    /// Its plan is over, and its promises with it.
    void drop(entry& own);
    /// A pass is due.
    void wake();
    void show_numbers();

    controller::environment& env_;
    const testbed::caches& caches_;
    gangs::room_upkeep& ledger_;
    bool compact_;
    listener changed_;
    /// Of Testbeds with a claim, also those that have their places.
    std::map<model::object_key, entry> entries_;
    std::map<int, known_class> classes_;
    controller::controller controller_;
    claim_numbers numbers_;
    std::optional<steady_time> last_pass_;
    std::optional<steady_time::duration> again_;
    /// All that wait are tried once in a round, in their order.
    std::uint64_t round_ = 1;
    /// Counts the changes of Testbeds with a label.
    std::uint64_t labelled_ = 0;
    /// Of this pass: empty nodes may be asked for one claim more.
    bool may_ask_empty_ = false;
    bool leads_ = false;
};

}  // namespace esi::testbed::claims
