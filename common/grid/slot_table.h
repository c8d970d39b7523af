// The contents of each slot of one Testbed, kept up change by change: the same answers as
// grid::look over all members of the Testbed, at a cost that does not depend on the number of
// slots. A change of one pod, job or row touches the slots that it names; a change of the layout,
// or another Testbed of the name, builds everything again.
//
// Ghosts are not kept, only counted by the slots that they claim: there are as many as slots, and
// the only question about a ghost is whether it holds its slot. Job pods are kept.
//
// Pure: it takes the version of an object before and after each change (null: there was, or is,
// none), in the order in which one watch shows them; objects of different kinds may come in any
// order. Not thread safe. References and iterators that it returns are invalid after the next
// change.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "grid/places.h"
#include "grid/records.h"
#include "grid/slot_slices.h"

namespace esi::grid {

class slot_table {
public:
    /// `read`: where slots_read() counts; several tables may share one.
    explicit slot_table(model::object_key testbed,
                        std::shared_ptr<std::uint64_t> read = std::make_shared<std::uint64_t>(0))
        : of_(std::move(testbed)), read_(std::move(read)) {}

    using testbed_pointer = std::shared_ptr<const model::testbed>;
    void change_testbed(testbed_pointer after);
    /// For pods with the labels of this Testbed.
    void change_pod(const pod_pointer& before, const pod_pointer& after);
    /// For all jobs: those whose placements are not in this Testbed add nothing. The placements of
    /// a deleted job stay on record for its pods that were let in and live: no row may name them
    /// yet. (They are known for as long as the table exists; after a restart only rows have them.)
    void change_job(const model::batchjob* before, const model::batchjob* after);
    /// For all slices that name a Testbed of this name: those that are not believed add nothing.
    /// True if an answer may have changed.
    bool change_slice(const slice_pointer& before, const slice_pointer& after);

    /// The Testbed that the answers are for; null before its first change and after its deletion.
    const testbed_pointer& testbed() const { return testbed_; }
    /// Nothing is known of the Testbed: the table may be dropped.
    bool empty() const {
        return !testbed_ && ghosts_.empty() && pods_.empty() && recorded_.empty() &&
               departed_.empty() && slices_.empty();
    }

    int size() const { return static_cast<int>(holding_.size()); }
    /// One slot without its ghost.
    struct row {
        slot place;
        /// As slot_view has them, by key.
        std::vector<pod_pointer> job_pods;
    };
    /// Where `position` is and which job pods are in it; from 0 to size() - 1.
    row at(int position) const;
    /// Positions whose slot is free (slot_view::free) and not in error, ascending.
    const std::set<int>& free() const { return free_; }
    /// Positions that the Testbed shows as ERROR (slots_in_error).
    const std::set<int>& in_error() const { return errors_; }
    /// The same for another version of the Testbed with the same layout.
    std::set<int> in_error(const model::testbed& other) const;

    /// The believed slices of `of`, a version of the Testbed.
    slice_list slices_of(const model::testbed& of) const;

    /// The job pods that are on record for a slot of the Testbed (records::has), also those that
    /// have ended; in the order of their keys.
    std::vector<pod_pointer> recorded_pods() const;
    /// The job pods on record that carry this run.
    std::vector<pod_pointer> recorded_pods_of_run(std::string_view run) const;
    /// The job pods on record that carry a run of this Scheduling.
    std::vector<pod_pointer> recorded_pods_of(std::string_view scheduling_uid) const;
    /// The pod of this uid that is no ghost; null if there is none.
    pod_pointer job_pod(std::string_view uid) const;

    /// How many slots were touched so far, by changes and by questions: the cost of the table grows
    /// with it.
    std::uint64_t slots_read() const { return *read_; }
    /// For a reader that takes positions from free() one by one.
    void count_read(std::uint64_t slots = 1) const { *read_ += slots; }

private:
    /// Ghosts of one owner that claim one slot of one node. A ghost holds its slot while it is
    /// bound, live and not being deleted; one that does is better than any that does not
    /// (is_better_ghost), so that it need not be known which of several is the slot's.
    struct claim {
        int index = 0;
        int ghosts = 0;
        int holding = 0;
    };
    using claims = std::vector<claim>;  ///< by index
    /// Namespace and uid of the owner.
    using maker = std::pair<std::string, std::string>;
    /// In the order of namespace and name.
    struct by_key {
        bool operator()(const pod_pointer& a, const pod_pointer& b) const;
    };

    using record = std::pair<std::string_view, int>;  ///< pod uid, position

    void lay_out();
    /// Files the pod by the present records and layout, or removes it there.
    void file(const pod_pointer& pod);
    void unfile(const pod_pointer& pod);
    /// The position of a job pod.
    std::optional<int> position_of(const model::pod& pod) const;
    void count_ghost(const model::pod& ghost, int by);
    /// Ghosts of the Testbed itself count in the slots.
    bool is_of_testbed(const maker& made_by) const;
    void hold(const std::string& node, int index, int by);
    bool is_recorded(const model::pod& pod) const;
    bool is_recorded(const model::pod& pod, int position) const;
    /// Adds `position` to free() or removes it.
    void judge(int position);
    /// Removes records, adds others, and files the pods that they name again.
    void change_records(std::vector<record> before, std::vector<record> after);
    void count_record(const record& what, int by);
    /// Moves placements of a deleted job to departed_; returns those that still count.
    std::vector<record> keep(const model::batchjob& deleted);
    /// The slot for which departed_ keeps the pod on record.
    std::optional<int> kept_place(const model::pod& pod) const;
    void change_errors(std::set<int> now);
    /// Adds the records of pods and errors in the slices that `of` believes, or removes them.
    void count_slices(const model::testbed* of, int by);
    void count_slice_error(int position, int by);

    model::object_key of_;
    testbed_pointer testbed_;

    /// Never null; shared with copies.
    std::shared_ptr<const places> places_ = std::make_shared<const places>();
    /// By position: how many own ghosts hold it.
    std::vector<int> holding_;
    /// By position: job pods in it.
    std::map<int, std::vector<pod_pointer>> inside_;
    std::set<int> free_;
    std::set<int> errors_;

    /// Slices with the Testbed's name, by their own; believed or not.
    std::map<std::string, slice_pointer, std::less<>> slices_;
    /// Positions that believed slices call ERROR, with how many do so.
    std::map<int, int> slice_errors_;

    /// All ghosts with the labels of the Testbed: by their controller, by the node that they name.
    /// Ghosts that claim no slot are not there.
    std::map<maker, std::map<std::string, claims, std::less<>>> ghosts_;
    /// Pods with the labels of the Testbed that are no ghosts.
    std::set<pod_pointer, by_key> pods_;
    /// Job pods by uid. The views are of the pods themselves.
    std::multimap<std::string_view, pod_pointer> job_pods_;
    /// Job pods on record, by run.
    std::map<std::string, std::set<pod_pointer, by_key>, std::less<>> runs_;
    /// Pod uid -> position -> number of records.
    std::map<std::string, std::map<int, int>, std::less<>> recorded_;
    /// Placements of deleted jobs: uid of a pod in job_pods_ -> positions. In recorded_ while the
    /// pod is let in there and lives.
    std::map<std::string, std::set<int>, std::less<>> departed_;
    std::shared_ptr<std::uint64_t> read_;
};

/// Positions that the Testbed shows as ERROR. The status may be stale; use it only to exclude
/// slots, never to add them: a slot is free if the pods show it as free and this does not name it.
/// The ghosts of a node that is cordoned, not ready or being deleted keep running. A Testbed so
/// large that its status lists no slots names such nodes in nodesOutOfUse, and its slices name
/// slots; if an older testbed operator writes neither, each node with a problem is excluded.
std::set<int> slots_in_error(const model::testbed& testbed, const slice_list& slices = {});

}  // namespace esi::grid
