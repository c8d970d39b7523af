// Keeps the ledger of one Testbed up to date: notes each change and, when the Testbed is
// reconciled, assesses again the nodes, pods and jobs that it concerns. Memory of a process, made
// when it first reconciles the Testbed: then everything counts as changed. Owned by the operator.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbed/caches/caches.h"
#include "testbed/decide.h"

namespace esi::testbed {

class upkeep {
public:
    // Notes of changes (caches.h, change_listener).
    void report_changed() { ++marks_; }
    void node_changed(std::string_view node) { nodes_.emplace(node); }
    void pod_changed(const model::object_key& pod) { pods_.insert(pod); }
    void job_changed(const model::object_key& job) { jobs_.insert(job); }
    void hold_changed() { hold_ = true; }
    void labels_changed() { labels_ = true; }
    void all_changed() { all_ = true; }
    /// A slice that names the Testbed; `first`: the position of its first row.
    void slice_changed(int first) { unwritten_.insert(number_of_slice(first)); }

    /// Called before the first bring_up(). A Testbed with more than `most_listed` slots has its
    /// rows in slices, each with `rows_per_slice` of them.
    void divide_rows(int most_listed, int rows_per_slice) {
        of_.most_listed = most_listed;
        rows_per_slice_ = rows_per_slice;
    }

    /// Applies the noted changes to the ledger, without waiting. Returns the nodes that it has
    /// assessed again.
    std::set<std::string> bring_up(const caches& from, testbed_pointer testbed, const hints& known,
                                   const std::string& ghost_image, steady_time now, wall_time wall);

    const overview& of() const { return of_; }
    /// Sets why the claim has no places, for a report before the next bring_up().
    void see_claim(claims::standing at) {
        of_.claim = std::move(at);
        ++marks_;
    }
    const ledger& all() const { return all_states_; }
    /// After how long time alone changes something; nothing: it does not.
    std::optional<steady_time::duration> next_change(steady_time now, wall_time wall) const;
    /// The ledger of another layout of the Testbed, made from the caches alone.
    ledger of_layout(const caches& from, const model::testbed_layout& layout, const hints& known,
                     steady_time now, wall_time wall) const;
    int rows_per_slice() const { return rows_per_slice_; }
    /// How many slices the rows of the Testbed need.
    int count_of_slices() const;
    /// The number of the slice whose first row has this position; if no slice begins there, a
    /// number that no slice has.
    int number_of_slice(int first) const;
    /// Numbers of the slices (first position / rows per slice) whose rows may differ from those in
    /// the cache. The caller that takes a number out has to write that slice. A number that is not
    /// below count_of_slices() means that slices may have to be deleted.
    std::set<int>& unwritten() { return unwritten_; }
    /// The rows of a slice as they are now.
    std::vector<std::string> rows_of_slice(int number) const;
    /// Changes with everything that the report is made of.
    std::uint64_t version() const { return marks_ + all_states_.version(); }
    /// How many slots were assessed so far; each time counts.
    std::uint64_t slots_assessed() const { return assessed_; }

    /// The differences from a ledger made of a whole view of the same moment; empty: none.
    std::string differences(const caches& from, const hints& known, steady_time now,
                            wall_time wall) const;

private:
    void see(const caches& from, testbed_pointer testbed, const std::string& ghost_image,
             const hints& known);
    std::set<std::string> changed_nodes(const caches& from, steady_time now, wall_time wall);
    void note_deadlines(const std::string& node, const deadlines& before, const deadlines& after);
    ground here() const { return on(*of_.layout, *places_, what_for_); }
    ground on(const model::testbed_layout& layout, const grid::places& places,
              purpose what_for) const;
    void note_rows(const std::vector<row_line>& before, const std::vector<row_line>& after);
    void forget();

    overview of_;
    ledger all_states_;
    purpose what_for_ = purpose::keep;
    std::shared_ptr<const grid::places> places_;
    std::shared_ptr<const model::scheduling> holder_;
    std::shared_ptr<const std::set<int>> given_;

    bool all_ = true;
    bool hold_ = false;
    bool labels_ = true;
    std::set<std::string> nodes_;
    std::set<model::object_key> pods_;
    std::set<model::object_key> jobs_;
    /// Slots given before the holder changed.
    std::shared_ptr<const std::set<int>> were_given_;
    std::uint64_t marks_ = 0;
    std::uint64_t assessed_ = 0;
    int rows_per_slice_ = model::most_slice_rows;
    std::set<int> unwritten_;

    std::map<std::string, deadlines, std::less<>> deadlines_;
    std::set<std::pair<steady_time, std::string>> by_time_;
    std::set<std::pair<wall_time, std::string>> by_next_;
    std::set<std::pair<wall_time, std::string>> by_last_;
};

}  // namespace esi::testbed
