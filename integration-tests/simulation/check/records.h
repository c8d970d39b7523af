// What the rules know of the world: each object once, typed, and what was seen of it before. Fed
// with every change in order; judges nothing. Owned by the invariants.
#pragma once

#include <simdjson.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grid/grid.h"
#include "grid/slot_slices.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/json.h"
#include "model/scheduling.h"
#include "model/testbed.h"
#include "server/storage.h"

namespace esi::simulation::checks {

template <class T>
using seen = std::shared_ptr<const T>;

/// A slot by where it is: what a position means may change between two holds.
struct place {
    model::object_key testbed;
    std::string node;
    int index = 0;
    auto operator<=>(const place&) const = default;
    std::string text() const;
};

/// spec.cancelledJobs names the job.
bool is_cancelled(const model::scheduling& who, const model::object_key& job);

struct pod_record {
    seen<model::pod> pod;
    object_pointer raw;
    /// Of the backend's operator, for a slot; one that a person made with copied labels is not.
    bool genuine = false;
    /// Made by a hostile author to be taken for a pod of a run.
    bool forged = false;
    bool ever_gated = false;
    /// Came to its node without a scheduler.
    bool by_name = false;
    std::int64_t priority = 0;
    steady_time created;
    std::optional<steady_time> bound_at;
    std::optional<steady_time> deleting_since;
    std::optional<steady_time> nominated_since;
    /// Of a ghost: its slot. Of a job pod: the slot that it was let in to (or committed to).
    std::optional<place> seat;

    bool ghost() const { return pod->is_ghost(); }
    bool live() const { return pod->live(); }
    /// A container of it runs or may: by a rule of this folder, not by that of the operators.
    bool may_run() const { return live() && (pod->bound() || !pod->metadata.deleting()); }
    /// Nothing runs in it any more, and its author's finalizer keeps the object.
    bool only_kept() const;
    /// A pod of a run, for a slot.
    bool of_slot() const { return genuine && !ghost(); }
    /// A pod of a run that was let in to its slot and takes its room, whatever is on record.
    bool in_its_slot() const { return of_slot() && live() && pod->bound() && seat.has_value(); }
    /// Neither a ghost nor a pod of a run.
    bool stranger() const;
    std::string name() const { return pod->metadata.key().text(); }
};

struct node_record {
    seen<model::node> node;
    /// The most that it ever had.
    model::amounts largest;
    /// It shrank, was deleted or relabelled.
    std::optional<steady_time> disturbed;
    /// Since when it carries ESI's taint.
    std::optional<steady_time> tainted;
    /// When its labels, taints or cordon were changed last.
    std::optional<steady_time> changed;
};

struct testbed_record {
    seen<model::testbed> testbed;
    object_pointer raw;
    /// When its hold was last set or removed.
    steady_time hold_changed;
    /// Positions that it calls ERROR, and since when.
    std::map<int, steady_time> broken_since;
};

struct job_record {
    seen<model::batchjob> job;
    object_pointer raw;
    steady_time created;
    /// When spec.activeScheduling was last set or cleared.
    steady_time claim_changed;
};

struct scheduling_record {
    seen<model::scheduling> scheduling;
    steady_time spec_changed;
    std::optional<steady_time> release_began;
};

struct application_record {
    model::object_meta metadata;
    std::string kind;
    std::string run;
    std::string owner_uid;
};

/// An assignment as it was first seen.
struct right {
    std::string scheduling_uid;
    model::object_key testbed;
    model::assignment given;
};

class records {
public:
    using key = model::object_key;

    std::map<std::string, pod_record> pods;  ///< by uid
    std::map<std::string, node_record> nodes;
    std::map<key, testbed_record> testbeds;
    std::map<key, job_record> jobs;
    std::map<key, scheduling_record> schedulings;
    std::map<key, grid::slice_pointer> slices;
    std::map<std::string, application_record> applications;  ///< by uid

    /// Bound live pods of a node, by uid.
    std::map<std::string, std::set<std::string>, std::less<>> on_node;
    /// Job pods that are let in to a place and live, by uid; bound or not.
    std::map<place, std::set<std::string>> in_place;
    std::map<place, std::set<std::string>> ghosts_of;

    // What was, ever.
    std::map<std::string, right, std::less<>> rights;              ///< by run
    std::set<std::string, std::less<>> holds;                      ///< tokens that a Testbed showed
    std::set<std::string, std::less<>> finalized;                  ///< uids of Schedulings
    std::set<std::pair<std::string, int>> recorded;                ///< pod uid, slot
    std::map<std::string, std::string, std::less<>> runs_of_pods;  ///< pod uid -> run
    std::map<std::string, std::string, std::less<>> owners_of_apps;  ///< application uid -> owner
    std::map<std::string, int, std::less<>> applications_of_run;
    std::set<std::string, std::less<>> reported_apps;  ///< uids that a BatchJob's status named
    std::map<std::string, steady_time, std::less<>>
        finished_runs;  ///< whose application said that all went well, and when first
    /// The uid that a name had last: "pods default/a".
    std::map<std::string, std::string, std::less<>> last_uid;

    /// Null when there is none.
    const testbed_record* testbed(const key& name) const;
    const job_record* job(const key& name) const;
    const scheduling_record* scheduling_by_uid(std::string_view uid) const;
    /// The BatchJob whose pod it says it is.
    const job_record* job_of(const model::pod& pod) const;
    /// Uid of the job of a pod, of the Testbed of a place; empty when there is none.
    std::string_view job_uid(const model::pod& pod) const;
    std::string_view testbed_uid(const key& name) const;
    /// Testbeds whose layout has the node.
    std::vector<const testbed_record*> testbeds_on(std::string_view node) const;
    /// What the bound live pods of a node take, "pods" included, without `except`.
    model::amounts taken(std::string_view node, std::string_view except = {}) const;

    /// Decodes; nothing when it cannot be read.
    template <class T>
    seen<T> decode(const object& from) {
        auto root = parser_.parse(from.text());
        if (root.error() != simdjson::SUCCESS) return nullptr;
        auto out = model::decode<T>(root.value_unsafe());
        return out ? std::make_shared<const T>(std::move(*out)) : nullptr;
    }
    /// What the Testbed says of its slots, in its status or in its slices.
    std::vector<model::slot_status> rows_of(const model::testbed& of) const;
    /// The job that the pod was made for is there.
    bool has_its_job(const pod_record& pod) const;
    /// It lives, and an operator has written which slot it takes: its job once, or, where that is
    /// gone, the Testbed in the row of the slot.
    bool on_record(const pod_record& pod) const;
    /// It is on record, or takes its slot's room while its job is there: a job that is deleted
    /// takes its records with it, and the Testbed may not have written its row yet.
    bool keeps_its_slot(const pod_record& pod) const;
    /// The Testbed's isolation is Taint, its layout has that node, and no older Testbed of another
    /// namespace keeps the node open.
    bool wants_taint(const model::testbed& testbed, const model::node& node) const;
    /// A job pod was let in there, or a ghost that was bound stands.
    bool is_filled(const place& where) const;
    /// All slots on the node of Testbeds that are older than `than`, and have or will have slots
    /// there, are filled.
    bool elders_are_whole(const model::testbed& than, const std::string& node) const;
    /// Puts a pod into on_node, in_place and ghosts_of, or takes it out.
    void index(const pod_record& what);
    void unindex(const pod_record& what);

private:
    simdjson::dom::parser parser_;
};

/// Where a position is in a layout; nothing outside of it.
std::optional<place> place_of(const model::testbed& testbed, int position);
/// The position of a place; nothing when the layout does not have it.
std::optional<int> position_of(const model::testbed& testbed, const place& where);
/// What the slot there takes of its node, by the layout; it is one of the layout's.
model::amounts size_of(const model::testbed& testbed, const place& where);
/// The place there is for a driver or JobManager, by the shapes of the layout.
bool is_of_coordinator(const model::testbed_layout& layout, int position);
/// How many places the layout has for the workers of jobs.
int workers_of(const model::testbed_layout& layout);
/// The Scheduling whose claim the Testbed is says the Testbed's controller; null: nobody's.
const model::owner_reference* maker_of(const model::testbed& testbed);
/// It is a driver or JobManager.
bool coordinates(const model::pod& pod);
/// The node has a taint of its user; ghosts tolerate ESI's, and what says that a node is not well.
bool keeps_ghosts_away(const model::node& node);
/// A pod's requests and its place in the node's `pods`.
model::amounts demand_of(const model::pod& pod);
/// `what` fits into `free`.
bool fits(const model::amounts& what, const model::amounts& free);
std::string show(const model::amounts& what);
/// Namespaces default to that of the object.
model::object_key testbed_of(const model::scheduling& scheduling);
model::object_key testbed_of(const model::batchjob& job);
/// The job's orders are of the hold that the Testbed shows, and it has not ended.
bool has_right(const model::batchjob& job, const model::testbed& testbed);
/// The taint of ESI on a node (its value is the uid of the Testbed); null without it.
const model::taint* taint_of(const model::node& node);
/// A value in JSON, null where there is none: at(pod, "spec", "affinity").
const json& at(const json& from, std::initializer_list<std::string_view> path);

}  // namespace esi::simulation::checks
