// How the jobs of a plan take slots: one object per mode (queue, strict, relaxed), which knows its
// part of the spec, which jobs can never start under it, and which start next. Everything else asks
// the policy of the plan and does not know which one it is. Stateless, pure; lives as long as the
// process.
//
// To add one: a file beside policy_queue.cpp, a line in the table of policies.h, its member of the
// spec in the CRD and in the model.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/slot_table.h"
#include "model/scheduling.h"

namespace esi::scheduling {

struct plan;

/// Why a plan, or a job of it, cannot be started: a reason of model::condition_reason for programs,
/// a sentence for people.
struct problem {
    std::string_view reason;
    std::string text;
    bool operator==(const problem&) const = default;
};

struct start {
    model::object_key job;
    /// The slots of workers, ascending; if the layout has coordinator places, one of them is the
    /// last.
    std::vector<int> slot_ids;
    bool operator==(const start&) const = default;
};

/// Why a job that could start gets no slots now.
struct slot_blocker {
    enum class kind {
        too_few_free,  ///< fewer free slots than it needs, or than its last entry needs
        slots_taken,   ///< it names its slots, and `slots` are not free
        /// Its workers could have their slots, and none of the coordinator places `slots` is free.
        coordinator_busy,
        job_before,  ///< `before` has to start first
        not_ready,   ///< not acquired, and nothing after it may start
    };
    model::object_key job;
    kind why = kind::too_few_free;
    std::vector<int> slots;
    model::object_key before;
    bool operator==(const slot_blocker&) const = default;
};

struct next_starts {
    std::vector<start> starts;
    std::vector<slot_blocker> waits;
};

/// The jobs of a plan by their progress. Jobs in neither set are not acquired.
struct plan_progress {
    std::set<model::object_key> startable;  ///< acquired, and have not started
    std::set<model::object_key> started;    ///< have started, ended or not
};

/// The positions of a layout as plans see them: entries and slotIds mean places of workers, and if
/// the layout has coordinator places (grid::role_of), each job takes one of these with them.
class plan_places {
public:
    /// As many places, all of workers.
    plan_places(int workers) : count_(workers) {}
    explicit plan_places(const model::testbed_layout& layout);

    /// The number of all places: positions go from 0 to count() - 1.
    int count() const { return count_; }
    int workers() const { return count_ - static_cast<int>(coordinators_.size()); }
    /// Empty if coordinators stay off the slots.
    const std::set<int>& coordinators() const { return coordinators_; }
    /// How many of `slots` are places of workers.
    int workers_among(std::span<const int> slots) const;

private:
    int count_ = 0;
    std::set<int> coordinators_;
};

/// The slots that a plan may take, in ascending order: those of workers, and beside them the
/// coordinator places. They are taken out one by one, so that a policy that needs three of 50,000
/// reads three. Refers to the positions that it was made of.
class free_slots {
public:
    /// `positions` without `taken`; those of `coordinators` are no places of workers, free or not.
    explicit free_slots(const std::set<int>& positions, std::set<int> taken = {},
                        std::set<int> coordinators = {})
        : positions_(positions), taken_(std::move(taken)), coordinators_(std::move(coordinators)) {}
    /// The free slots of the table without `taken`; the table counts the reads.
    free_slots(const grid::slot_table& table, std::set<int> taken);

    /// The first free place of a worker from `position` on.
    std::optional<int> next(int position) const;
    /// It is free, and a worker's.
    bool contains(int position) const;
    /// How many places of workers are free.
    std::size_t size() const;

    /// The first free coordinator place from `position` on.
    std::optional<int> next_coordinator(int position) const;
    /// All coordinator places, free or not; if there are some, each job needs one.
    const std::set<int>& coordinators() const { return coordinators_; }

private:
    void count() const {
        if (counts_ != nullptr) counts_->count_read();
    }

    const std::set<int>& positions_;
    std::set<int> taken_;
    std::set<int> coordinators_;
    const grid::slot_table* counts_ = nullptr;
};

/// Gives the coordinator places of one round to its jobs, the lowest free one first. Refers to
/// `free`.
class coordinator_turns {
public:
    explicit coordinator_turns(const free_slots& free) : free_(free) {}

    /// Adds one to the slots of a job. False, and nothing is added, if none is left; a layout
    /// without coordinator places needs none.
    bool give(std::vector<int>& slots);
    /// Why `job` gets none.
    slot_blocker busy(const model::object_key& job) const;

private:
    const free_slots& free_;
    int from_ = 0;
};

class policy {
public:
    virtual ~policy() = default;

    /// As status.mode spells it.
    virtual std::string_view mode() const = 0;
    /// The member of the spec that its plans are written in.
    virtual std::string_view field() const = 0;
    /// The spec has that member, and means this policy by it.
    virtual bool is_asked_for(const model::scheduling_spec& spec) const = 0;
    /// Copies what the first assignment keeps of the member into status.plan: nothing, if all of it
    /// may change afterwards.
    virtual void freeze(model::scheduling_spec&, const model::scheduling_spec&) const {}
    /// Only if freeze() keeps something: takes over from `now`, the present spec, what may change
    /// after the first assignment. Returns what was changed without effect, as a sentence; empty if
    /// there is nothing of that kind.
    virtual std::string follow(model::scheduling_spec&, const model::scheduling_spec&) const {
        return {};
    }

    /// Adds the jobs of the spec, and `wrong` if they cannot be started on any Testbed. A job
    /// without a namespace belongs to `ns`.
    virtual void read(plan& into, const model::scheduling_spec& spec,
                      std::string_view ns) const = 0;
    /// Adds to `known` the jobs that can never start in a layout with so many places of workers
    /// because of the order of the plan: none, if no job depends on those before it. `known`: jobs
    /// that cannot for a reason of their own. Jobs of `started` have left the plan's order.
    virtual void find_problems(const plan&, int /*slots*/,
                               const std::set<model::object_key>& /*started*/,
                               std::map<model::object_key, problem>& /*known*/) const {}
    /// Which jobs start next, and in which slots: the same input gives the same starts. If the
    /// layout has coordinator places, each start has one (coordinator_turns).
    virtual next_starts next(const plan& of, const plan_progress& jobs,
                             const free_slots& free) const = 0;
};

/// Policies to choose from (scheduling/policies.h has those of this operator).
using policy_table = std::span<const policy* const>;

}  // namespace esi::scheduling
