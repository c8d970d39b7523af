// The part of the testbed operator that finds places for claims, with --claims only: keeps a list
// of the claims that have none, plans the first of them that fits on the ledger of the cluster's
// room, and hands the layout to the Testbed's reconcile, which writes it in one guarded write.
// Owned by the testbed operator.
//
// Memory of a process only. What counts is the layout that is written: a process that dies before
// it has planned nothing; of two that lead one write finds the other's version and fails.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "controller/process.h"
#include "placement/room_upkeep.h"
#include "testbed/caches/caches.h"
#include "testbed/claims/claim.h"
#include "testbed/claims/claim_numbers.h"

namespace esi::testbed::claims {

/// Passes are at least so far apart, and as long as the plans of the last one took.
inline constexpr milliseconds pass_pause{100};
/// A plan that has not been written for so long is dropped, and another one made.
inline constexpr seconds plan_patience{10};
/// A claim of which a ghost is refused, by a quota for example, keeps its room no longer than that:
/// its author may not keep room from other claims that he cannot use.
inline constexpr seconds refused_patience{20};
/// How long such a claim waits then: twice as long each time that this comes again soon. The next
/// claim of the namespace goes on where one was deleted.
inline constexpr seconds refused_pause{60};
inline constexpr seconds refused_pause_at_most{1800};
/// How long a claim waits whose plan was dropped as it could not be written: twice as long each
/// time until one is written, refused_pause_at_most in the end.
inline constexpr seconds unwritten_pause{10};
/// How long a claim waits whose places were given back though no node was at fault: twice as long
/// each time that this comes again soon.
inline constexpr seconds not_free_pause{10};
/// How long a layout that was written is waited for until the cache shows it.
inline constexpr seconds shown_patience{60};
/// A pass that took long is followed by a pause of the same length, at most this one.
inline constexpr seconds longest_pass_pause{2};
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

/// What is to become of the places of a claim: a layout with all of them, or one without any, and
/// why they are given back.
struct next_layout {
    model::testbed_layout layout;
    std::optional<give_back> back = std::nullopt;
};

class claims_operator final : public placement::planner {
public:
    using listener = std::function<void(const model::object_key&)>;
    struct forms {
        bool compact = false;     ///< layouts: --compact-layouts
        bool tell_nodes = false;  ///< messages: --tell-nodes
    };
    /// `from` has been made for planners, and has no objects yet; `room` is kept up from it, and
    /// this is told of its changes. `changed` is called with each Testbed that has to be
    /// reconciled: it has a plan, or another standing.
    claims_operator(controller::environment& env, const testbed::caches& from,
                    placement::room_upkeep& room, forms how, listener changed);

    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

    // What the testbed operator is told of its Testbeds (change_listener).
    /// Its spec, its layout, its hold, or it is gone.
    void testbed_changed(const model::object_key& key);
    // placement::planner
    void node_changed() override { wake(); }
    void pod_changed(const kube::change<model::pod>&) override { wake(); }
    void slots_changed() override { wake(); }

    /// The layout that is to be written for the Testbed next; nothing: its places stay as they are.
    /// `states` and `seen` are of the Testbed as it is now. `look`: set to the time after which one
    /// of its places will have been not free for long.
    std::optional<next_layout> layout_for(const model::testbed& testbed, hints& known,
                                          const ledger& states, const view& seen,
                                          std::optional<steady_time::duration>& look);
    /// The layout that is to be written for the Testbed; null: none.
    const model::testbed_layout* plan_of(const model::testbed& testbed) const;
    /// That layout is being written: until written() its plan stays.
    void writes(const model::testbed& testbed);
    /// What became of that write: nothing, or why it failed. What was planned is promised until the
    /// cache shows it.
    void written(const model::testbed& testbed, std::optional<std::string> problem = {});
    /// A ghost of a formed claim is refused, with these words of the API server; empty: none is.
    /// Where the claim is deleted then, the next one of its namespace waits.
    void sees_refusal(const model::testbed& testbed, std::string_view words);
    /// How all places are to be given back where their ghosts are refused: no node is at fault, and
    /// the claim waits for some time. `why`: the beginning of its words.
    give_back as_refused(const model::object_key& key, std::string_view why) const;
    /// The same where `what` names no node that is at fault; else as it is. `begin`: since when not
    /// all places are free.
    give_back with_pause(const model::object_key& key, give_back what, steady_time begin) const;
    /// They were given back: that layout is written.
    void gave_back(const model::testbed& testbed, give_back what);
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
    /// A wait that becomes longer with each time that its cause comes again.
    struct pause {
        seconds wait{};  ///< the last one
        steady_time until{};
        /// The next one, where its cause comes again at that time; what is seen some seconds after
        /// its end (refused_patience) comes soon, as at once.
        seconds next(seconds first, steady_time again) const;
        void begin(seconds for_, steady_time now) {
            wait = for_;
            until = now + for_;
        }
        /// It counts no more.
        bool is_over(steady_time now) const { return now > until + wait; }
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
            /// A request that writes it is under way.
            bool under_way = false;
            /// It stands, since then.
            std::optional<steady_time> written = {};
            /// Why the last write of it failed.
            std::string problem = {};
        };
        std::optional<plan> next;
        /// What it did not fit into.
        std::optional<surroundings> failed;
        /// The last round in which it was tried.
        std::uint64_t round = 0;
        steady_time words_since{};
        /// Other words with the same reason, which are shown when the time has come.
        std::string unsaid;
        /// Its class was read, and it is not tried before that.
        steady_time class_until{};
        /// A ghost of it was refused; one is now, as far as was seen, with these words.
        pause refused;
        std::string refusal;
        /// Its places were given back, and no node was at fault.
        pause not_free;
        /// Its layout could not be written.
        pause unwritten;
        /// Empty nodes were asked then, for its spec of that generation; why they do not take it.
        struct {
            std::optional<steady_time> at;
            std::int64_t generation = 0;
            std::string why;
            std::uint64_t freed = 0;  ///< cluster_room::freed() then
        } never;

        /// It is not tried before that.
        steady_time not_before() const {
            return std::max({class_until, refused.until, not_free.until, unwritten.until});
        }
    };
    struct known_class {
        standing problem;  ///< without a reason: none
        steady_time at{};
    };

    asio::awaitable<result<controller::outcome>> pass();
    /// The Testbed is another one, or gone: what its claim has waited for is kept for the next one
    /// of its namespace.
    void forget(const model::object_key& key);
    /// Of a claim that is new.
    void take_over_wait(const model::object_key& key, entry& own);
    /// How long the claim waits, where the cause of this wait comes again now.
    seconds next_wait(const model::object_key& key, pause entry::* of, seconds first,
                      steady_time again) const;
    /// Null: it is not about this Testbed.
    entry* entry_of(const model::testbed& testbed);
    /// The Testbed and its entry as they are after others have had their turn; null: nothing is to
    /// be planned for it in this pass any more.
    std::pair<testbed_pointer, entry*> as_it_is(const model::testbed& before);
    /// Those that have no places and may get some, in order.
    std::vector<testbed_pointer> waiting() const;
    /// False: nothing is to be tried now.
    bool may_plan(const model::testbed& testbed, entry& own);
    void plan(const testbed_pointer& testbed, entry& own);
    surroundings around(const model::testbed& testbed, entry& own);
    std::set<std::string, std::less<>> nodes_left_out(const entry& own) const;
    /// Why the places would not fit either if no pod were on any node; empty: they would, or it is
    /// not known.
    const std::string& never_fits(const model::testbed& testbed, entry& own,
                                  std::span<const pod_pointer> places,
                                  const placement::fit_options& how);
    /// When empty nodes are to be asked for it, as their answer is not known or not new; nothing:
    /// it is known.
    std::optional<steady_time> asks_empty_at(const entry& own) const;
    asio::awaitable<standing> problem_of_class(int priority);
    void stand(const model::object_key& key, entry& own, std::string_view reason,
               std::string message);
    /// A pass is due then, if none is before.
    void again_in(steady_time::duration wait) {
        if (!again_ || wait < *again_) again_ = wait;
    }
    /// Its plan is over, and its promises with it.
    void drop(entry& own);
    /// A pass is due.
    void wake();
    void show_numbers();

    controller::environment& env_;
    const testbed::caches& caches_;
    placement::room_upkeep& ledger_;
    forms forms_;
    listener changed_;
    /// Of Testbeds with a claim, also those that have their places.
    std::map<model::object_key, entry> entries_;
    /// Of a claim that is gone, whose ghosts were refused.
    struct refused_claim {
        pause wait;
        std::string name;
        std::string words;
    };
    /// By namespace: the one with the longest wait.
    std::map<std::string, refused_claim> refused_before_;
    std::map<int, known_class> classes_;
    controller::controller controller_;
    claim_numbers numbers_;
    /// There is no pass before that.
    std::optional<steady_time> next_pass_;
    std::optional<steady_time::duration> again_;
    /// All that wait are tried once in a round, in their order.
    std::uint64_t round_ = 1;
    /// Counts the changes of Testbeds with a label.
    std::uint64_t labelled_ = 0;
    /// Of this pass: empty nodes may be asked for one claim more; how long its plans took.
    bool may_ask_empty_ = false;
    steady_time::duration planned_for_{};
    bool leads_ = false;
};

}  // namespace esi::testbed::claims
