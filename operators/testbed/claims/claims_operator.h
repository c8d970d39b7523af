// The part of the testbed operator that finds places for claims, with --claims only: keeps a list
// of the claims that have none, plans the first of them that fits on the ledger of the cluster's
// room, and hands the layout to the Testbed's reconcile, which writes it in one guarded write.
// Owned by the testbed operator.
//
// Memory of a process only; the written layout alone counts. A process that dies before the write
// has planned nothing. If two processes lead, the second write fails on the version that the first
// one made.
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

/// The pause between two passes is as long as the plans of the last pass took, and at least this.
inline constexpr milliseconds pass_pause{100};
/// A plan that is not written within this time is dropped, and the claim is planned again.
inline constexpr seconds plan_patience{10};
/// A claim with a ghost that the API server refuses, by a quota for example, keeps its places at
/// most this long: its author must not keep room from other claims without using it.
inline constexpr seconds refused_patience{20};
/// How long such a claim then waits. The wait doubles each time that a refusal comes again soon, up
/// to refused_pause_at_most. If the claim is deleted, new claims of its namespace take the wait
/// over.
inline constexpr seconds refused_pause{60};
inline constexpr seconds refused_pause_at_most{1800};
/// How long a claim waits after its plan was dropped because the write failed. The wait doubles
/// until a layout is written, up to refused_pause_at_most.
inline constexpr seconds unwritten_pause{10};
/// How long a claim waits after its places were given back although no node was at fault. The wait
/// doubles each time that this comes again soon, up to refused_pause_at_most.
inline constexpr seconds not_free_pause{10};
/// A plan whose layout was written is dropped if the cache does not show it within this time.
inline constexpr seconds shown_patience{60};
/// A pass that took long is followed by a pause of the same length, at most this one.
inline constexpr seconds longest_pass_pause{2};
/// How long plans of a claim leave a node out after a place on it was given back. The time doubles
/// each time that this comes again soon, up to avoided_at_most.
inline constexpr std::chrono::minutes avoided_for{10};
inline constexpr std::chrono::hours avoided_at_most{4};
/// How often a pass checks whether that time is over.
inline constexpr std::chrono::minutes again_when_avoided{1};
/// A claim that waits is planned on empty nodes at most once in this time (never_fits()).
inline constexpr seconds never_pause{10};
/// How long the result of reading a PriorityClass is used.
inline constexpr seconds class_patience{10};
/// At most this many claims are planned in one pass. The others follow in the next, so that other
/// work of the loop does not wait long.
inline constexpr int most_plans = 4;
/// A message is replaced by another one with the same reason at most once in this time: the room
/// that is missing changes with each pod.
inline constexpr seconds words_pause{10};

/// The next layout of a claim: with all its places; or with none, and why they are given back.
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
    /// `from` was made for planners, and has no objects yet. `room` is kept up to date from it, and
    /// the owner reports each change of it to this object. `changed` is called with each Testbed
    /// that has to be reconciled because it has a plan, or another standing.
    claims_operator(controller::environment& env, const testbed::caches& from,
                    placement::room_upkeep& room, forms how, listener changed);

    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

    // The testbed operator reports changes of its Testbeds (change_listener).
    /// The spec, layout or hold of the Testbed has changed, or it is gone.
    void testbed_changed(const model::object_key& key);
    // placement::planner
    void node_changed() override { wake(); }
    void pod_changed(const kube::change<model::pod>&) override { wake(); }
    void slots_changed() override { wake(); }

    /// The layout that is to be written for the Testbed next; nothing: its places stay as they are.
    /// `states` and `seen` describe the Testbed as it is now. `look`: if some of its places are not
    /// free, set to the time after which this has to be asked again.
    std::optional<next_layout> layout_for(const model::testbed& testbed, hints& known,
                                          const ledger& states, const view& seen,
                                          std::optional<steady_time::duration>& look);
    /// The planned layout that is to be written for the Testbed; null: none.
    const model::testbed_layout* plan_of(const model::testbed& testbed) const;
    /// The write of that layout begins: before written() its plan does not become too old.
    void writes(const model::testbed& testbed);
    /// That write has ended; `problem`: why it failed. The promises of the plan stay until the
    /// cache shows the layout.
    void written(const model::testbed& testbed, std::optional<std::string> problem = {});
    /// Notes the API server's message about a refused ghost of a formed claim; empty: no ghost is
    /// refused. If the claim is deleted while there is a message, new claims of its namespace wait.
    void sees_refusal(const model::testbed& testbed, std::string_view words);
    /// How to give back all places of a claim whose ghosts are refused: no node is at fault, and
    /// the claim waits (refused_pause). `why`: the beginning of the message.
    give_back as_refused(const model::object_key& key, std::string_view why) const;
    /// Adds a wait (not_free_pause) to `what` if that names no node at fault; otherwise returns it
    /// unchanged. `begin`: since when not all places are free.
    give_back with_pause(const model::object_key& key, give_back what, steady_time begin) const;
    /// The layout without places is written: from now on the waits of `what` count, and plans leave
    /// its nodes out.
    void gave_back(const model::testbed& testbed, give_back what);
    /// Why the claim has no places; without a reason if that is not known.
    standing standing_of(const model::object_key& key) const;

private:
    /// While these values are unchanged, a claim that did not fit still does not fit.
    struct surroundings {
        std::uint64_t freed = 0;     ///< cluster_room::freed()
        std::uint64_t labelled = 0;  ///< labelled_
        std::int64_t generation = 0;
        std::size_t avoided = 0;  ///< nodes that are left out now
        bool operator==(const surroundings&) const = default;
    };
    /// A wait that becomes longer each time that its cause comes again soon.
    struct pause {
        seconds wait{};  ///< length of the last one
        steady_time until{};
        /// The length of the next wait if the cause comes again at the time `again`: twice the last
        /// one if no more than that and refused_patience have passed since its end, else `first`.
        seconds next(seconds first, steady_time again) const;
        void begin(seconds for_, steady_time now) {
            wait = for_;
            until = now + for_;
        }
        /// True: the last wait does not count for the next one any more.
        bool is_over(steady_time now) const { return now > until + wait; }
    };
    struct entry {
        /// UID of the Testbed that this entry is about.
        std::string uid;
        standing at;
        /// Since when the Testbed has had no places, as far as this process has seen.
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
            /// When its layout was written; absent before.
            std::optional<steady_time> written = {};
            /// Why the last write of it failed.
            std::string problem = {};
        };
        std::optional<plan> next;
        /// The surroundings in which it did not fit.
        std::optional<surroundings> failed;
        /// The last round in which it was tried.
        std::uint64_t round = 0;
        steady_time words_since{};
        /// A newer message with the same reason, which is shown when words_pause is over.
        std::string unsaid;
        /// Its PriorityClass was not right: the claim is not planned before this time, when the
        /// class is read again.
        steady_time class_until{};
        /// The wait after a ghost of it was refused.
        pause refused;
        /// The API server's message about a ghost that is refused now; empty: none, as far as seen.
        std::string refusal;
        /// The wait after its places were given back although no node was at fault.
        pause not_free;
        /// The wait after its layout could not be written.
        pause unwritten;
        /// The last plan on empty nodes: when, for which generation of the spec, and why the places
        /// did not fit; empty: they did.
        struct {
            std::optional<steady_time> at;
            std::int64_t generation = 0;
            std::string why;
            std::uint64_t freed = 0;  ///< cluster_room::freed() then
        } never;

        /// The claim is not planned before this time.
        steady_time not_before() const {
            return std::max({class_until, refused.until, not_free.until, unwritten.until});
        }
    };
    struct known_class {
        standing problem;  ///< without a reason: the class is right
        steady_time at{};
    };

    asio::awaitable<result<controller::outcome>> pass();
    /// Forgets a Testbed that is gone, or is another one by now. The wait after refused ghosts of
    /// its claim is kept for new claims of its namespace.
    void forget(const model::object_key& key);
    /// Gives a new claim the wait that forget() has kept for its namespace.
    void take_over_wait(const model::object_key& key, entry& own);
    /// How long the claim waits if the cause of its wait `of` comes again at the time `again`.
    seconds next_wait(const model::object_key& key, pause entry::* of, seconds first,
                      steady_time again) const;
    /// Null if there is no entry, or one of another Testbed of the name.
    entry* entry_of(const model::testbed& testbed);
    /// The Testbed and its entry as they are after other work of the loop has run; null: this pass
    /// plans nothing for it any more.
    std::pair<testbed_pointer, entry*> as_it_is(const model::testbed& before);
    /// The Testbeds whose claims have no places and may get some, in the order of comes_before().
    std::vector<testbed_pointer> waiting() const;
    /// Drops a plan that is too old. False: the claim is not to be planned now.
    bool may_plan(const model::testbed& testbed, entry& own);
    void plan(const testbed_pointer& testbed, entry& own);
    surroundings around(const model::testbed& testbed, entry& own);
    std::set<std::string, std::less<>> nodes_left_out(const entry& own) const;
    /// Why the places would not fit even if no pod were on any node; empty: they would, or this is
    /// not known.
    const std::string& never_fits(const model::testbed& testbed, entry& own,
                                  std::span<const pod_pointer> places,
                                  const placement::fit_options& how);
    /// When a plan on empty nodes is due, because there is none or nodes may have come since;
    /// nothing: its result still counts.
    std::optional<steady_time> asks_empty_at(const entry& own) const;
    asio::awaitable<standing> problem_of_class(int priority);
    void stand(const model::object_key& key, entry& own, std::string_view reason,
               std::string message);
    /// Makes a pass due after `wait`, unless one is due earlier.
    void again_in(steady_time::duration wait) {
        if (!again_ || wait < *again_) again_ = wait;
    }
    /// Drops the plan, and releases its promises.
    void drop(entry& own);
    /// Makes a pass due.
    void wake();
    void show_numbers();

    controller::environment& env_;
    const testbed::caches& caches_;
    placement::room_upkeep& ledger_;
    forms forms_;
    listener changed_;
    /// All Testbeds with a claim, also those that have their places.
    std::map<model::object_key, entry> entries_;
    /// A claim that is gone and whose ghosts were refused.
    struct refused_claim {
        pause wait;
        std::string name;
        std::string words;
    };
    /// By namespace: the claim whose wait ends last.
    std::map<std::string, refused_claim> refused_before_;
    std::map<int, known_class> classes_;
    controller::controller controller_;
    claim_numbers numbers_;
    /// No pass begins before this time.
    std::optional<steady_time> next_pass_;
    std::optional<steady_time::duration> again_;
    /// Each claim that waits is planned once in a round, in order.
    std::uint64_t round_ = 1;
    /// Counts the changes of Testbeds with a label.
    std::uint64_t labelled_ = 0;
    /// This pass may still plan one claim on empty nodes.
    bool may_ask_empty_ = false;
    /// How long the plans of this pass took.
    steady_time::duration planned_for_{};
    bool leads_ = false;
};

}  // namespace esi::testbed::claims
