// The testbed operator: keeps the slots of every Testbed filled by ghosts, lets job pods into the
// slots that were given to them, and answers the scheduler's extender. It never decides which job
// gets which slot, and the layout of a held Testbed is never changed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "testbed/act.h"
#include "testbed/caches/caches.h"
#include "testbed/claims/claims_operator.h"
#include "testbed/measures.h"
#include "testbed/options.h"
#include "testbed/slot_numbers.h"
#include "testbed/upkeep.h"

namespace esi::testbed {

/// How soon a reconcile checks whether its own last writes have come back; events are faster.
inline constexpr milliseconds own_writes_pause{20};

class testbed_operator final : public controller::operator_part, private change_listener {
public:
    testbed_operator(controller::environment& env, options chosen);

    /// Null unless options.needs_room().
    placement::room_upkeep* room() { return room_.get(); }
    const kube::store<model::node>& nodes() const { return caches_.nodes(); }
    /// `other` plans by room(), too, and lives as long as this. It is started, notified and stopped
    /// before the part for claims.
    void share_room_with(placement::planner& other) { planners_.insert(planners_.begin(), &other); }

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    /// What this process remembers of one Testbed.
    struct memory {
        std::shared_ptr<testbed::hints> known = std::make_shared<testbed::hints>();
        upkeep ledger;
        std::uint64_t assessed = 0;  ///< of its slots_assessed(), those counted in the metric
        /// An order or a placement has changed since the last reconcile began.
        bool urgent = false;
        /// The last decision had actions.
        bool acts = false;
        /// The version of the ledger that the last report was made of.
        std::optional<std::uint64_t> reported;
        /// The turn of the reconcile that is under way.
        std::weak_ptr<turn> at_work;
        /// When slices of rows were written last.
        std::optional<steady_time> slices_written;
    };

    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    /// Writes a layout, and the states of its slots.
    asio::awaitable<result<controller::outcome>> write_next_layout(testbed_pointer testbed,
                                                                   std::shared_ptr<memory> own,
                                                                   model::testbed_layout next);
    /// Writes the layout of a claim, and reports the result to claims_.
    asio::awaitable<result<controller::outcome>> write_layout_of_claim(testbed_pointer testbed,
                                                                       std::shared_ptr<memory> own,
                                                                       claims::next_layout next);
    asio::awaitable<result<controller::outcome>> change_finalizer_of(testbed_pointer testbed,
                                                                     bool present);
    /// The report that the reconcile is to write; nothing: there is none, or it is that of a large
    /// Testbed, which is enqueued and written beside its reconciles.
    std::optional<model::testbed_status> report_or_enqueue(const model::testbed& testbed,
                                                           const memory& own);
    /// Makes the memory if this process did not know the Testbed before.
    std::shared_ptr<memory> memory_of(const model::object_key& key);
    /// Forgets a Testbed that is gone.
    void forget(const model::object_key& key);
    /// Brings all that is known of the Testbed up to the caches. Returns the nodes that were
    /// assessed again.
    std::set<std::string> observe(const testbed_pointer& testbed, memory& own);
    /// Sets the gauges of slots.
    void show_slots(const model::testbed& testbed, const memory& own, int pods_waiting);
    /// Writes the report of a large Testbed, beside its reconciles.
    asio::awaitable<result<controller::outcome>> write_report(model::object_key key);
    /// Writes the rows of a Testbed that are not listed, beside its reconciles.
    asio::awaitable<result<controller::outcome>> write_slices(model::object_key key);
    /// Progress and result of one pass over the slices that are due.
    struct slices_pass {
        std::set<int> left;            ///< numbers of slices that this pass has not reached yet
        std::set<int> left_for_later;  ///< not written by this pass
        bool wrote = false;
        /// Why a slice is not written, for people; empty: none is refused.
        std::string problem = {};
        std::optional<error> failed = std::nullopt;
        std::optional<steady_time::duration> again = std::nullopt;

        void again_in(steady_time::duration wait) {
            if (!again || wait < *again) again = wait;
        }
    };
    /// Deletes the Testbed's own slices that its rows do not need.
    asio::awaitable<void> remove_slices(testbed_pointer testbed, const memory& own,
                                        slices_pass& pass);
    /// Writes one slice, if it differs from the one in the cache.
    asio::awaitable<void> write_slice(testbed_pointer testbed, const memory& own, int number,
                                      slices_pass& pass);
    void note_slice_write(const model::object_key& testbed, slices_pass& pass,
                          const result<std::string>& answer);
    /// How long until the next report may be written; nothing: now.
    std::optional<steady_time::duration> wait_to_report(const memory& of) const;
    std::shared_ptr<turn> begin_turn(const std::shared_ptr<memory>& own,
                                     std::vector<action> actions);
    /// Actions that let in pods which have come since `at` began, on the gate path or the extender
    /// path. Each is for a slot that has its ghost, so that no other action of the turn is about
    /// it.
    std::vector<action> newcomers(memory& own, turn& at);
    /// Brings the ledger up to the caches. Returns the nodes that were assessed again.
    std::set<std::string> bring_up(const testbed_pointer& testbed, memory& own);
    /// Gives the turn the present state of the nodes on which slots are to be opened.
    void see_nodes(memory& own, const std::vector<action>& actions, turn& at) const;
    /// Reports the notes of the decision, counts, and forgets entries that are over.
    void remember(const testbed_pointer& testbed, memory& own, const decision& decided);
    void remember_node(const model::object_key& testbed, memory& own, const std::string& name);
    void tell(const testbed_pointer& testbed, const note& what);
    void add_routes();

    // change_listener
    void report_changed(const model::object_key& testbed) override;
    void node_changed(const model::object_key& testbed, std::string_view node) override;
    void pod_changed(const model::object_key& testbed, const model::object_key& pod) override;
    void job_changed(const model::object_key& testbed, const model::object_key& job) override;
    void hold_changed(const model::object_key& testbed) override;
    void labels_changed(const model::object_key& testbed) override;
    void all_changed(const model::object_key& testbed) override;
    void slice_changed(const model::object_key& testbed, int first) override;
    void node_seen(const kube::change<model::node>& what) override;
    void pod_seen(const kube::change<model::pod>& what) override;
    /// Enqueues the Testbed, and returns find_memory().
    memory* changed(const model::object_key& testbed);
    /// Null before the Testbed's first reconcile; reconciles run only while this process leads.
    memory* find_memory(const model::object_key& testbed) const;

    controller::environment& env_;
    options options_;
    testbed::caches caches_;
    controller::write_gate gate_;
    /// For reports that are written beside the reconciles. Reconciles do not wait for these writes:
    /// decisions read nothing of them but the rows, and a row that the cache does not show yet
    /// counts as not written yet.
    controller::write_gate report_gate_;
    /// For slices, which are written beside both.
    controller::write_gate slice_gate_;
    gap_times gaps_;
    measures measures_;
    slot_numbers slots_;
    prometheus::Counter& assessed_;
    actor actor_;
    std::map<model::object_key, std::shared_ptr<memory>> hints_;
    controller::controller controller_;
    controller::controller reports_;
    controller::controller slices_writer_;
    std::unique_ptr<placement::room_upkeep> room_;
    /// The parts that plan by the room, in the order in which they are notified.
    std::vector<placement::planner*> planners_;
    /// Null without --claims.
    std::unique_ptr<claims::claims_operator> claims_;
};

}  // namespace esi::testbed
