// How the jobs of a plan take slots: one object per mode (queue, strict, relaxed), which knows its
// part of the spec, which jobs can never start under it, and which start next. Everything else asks
// the policy of the plan and does not know which one it is. Stateless, pure; lives as long as the
// process.
//
// To add one: a file beside policy_queue.cpp, a line in the table of policies.cpp, its member of
// the spec in the CRD and in the model.
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
    std::vector<int> slot_ids;  ///< ascending
    bool operator==(const start&) const = default;
};

/// Why a job that could start is not given slots now.
struct slot_blocker {
    enum class kind {
        too_few_free,  ///< fewer free slots than it needs, or than its last entry needs
        slots_taken,   ///< it names its slots, and `slots` are not free
        job_before,    ///< `before` has to start first
        not_ready,     ///< not acquired, and nothing after it may start
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

/// The jobs of a plan by how far each is. Jobs in neither set are not acquired.
struct plan_progress {
    std::set<model::object_key> startable;  ///< acquired, and have not started
    std::set<model::object_key> started;    ///< have started, ended or not
};

/// The slots that a plan may take, in ascending order. They are taken out one by one, so that a
/// policy that needs three of 50,000 reads three. Refers to the positions that it was made of.
class free_slots {
public:
    /// `positions` without `taken`.
    explicit free_slots(const std::set<int>& positions, std::set<int> taken = {})
        : positions_(positions), taken_(std::move(taken)) {}
    /// Those of the table without `taken`; the table counts what is read.
    free_slots(const grid::slot_table& table, std::set<int> taken)
        : positions_(table.free()), taken_(std::move(taken)), counts_(&table) {}

    /// The first one from `position` on.
    std::optional<int> next(int position) const;
    bool contains(int position) const;
    std::size_t size() const;

private:
    void count() const {
        if (counts_ != nullptr) counts_->count_read();
    }

    const std::set<int>& positions_;
    std::set<int> taken_;
    const grid::slot_table* counts_ = nullptr;
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
    /// The member is the same in both.
    virtual bool is_same(const model::scheduling_spec& a,
                         const model::scheduling_spec& b) const = 0;
    /// Copies what of the member the first assignment freezes: into status.plan.
    virtual void freeze(model::scheduling_spec& into, const model::scheduling_spec& from) const = 0;

    /// Adds the jobs of the spec, and `wrong` where they cannot be started on any Testbed. A job
    /// without a namespace is of `ns`.
    virtual void read(plan& into, const model::scheduling_spec& spec,
                      std::string_view ns) const = 0;
    /// Adds to `known` the jobs that can never start in a layout of `slots` positions for a reason
    /// that lies in the order of the plan. `known`: those that cannot for a reason of their own.
    /// Jobs of `started` have left the plan's order.
    virtual void find_problems(const plan& of, int slots,
                               const std::set<model::object_key>& started,
                               std::map<model::object_key, problem>& known) const = 0;
    /// Which jobs start next, and in which slots: the same input gives the same starts.
    virtual next_starts next(const plan& of, const plan_progress& jobs,
                             const free_slots& free) const = 0;
};

/// Policies to choose from (scheduling/policies.h has those of this operator).
using policy_table = std::span<const policy* const>;

}  // namespace esi::scheduling
