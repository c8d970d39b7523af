// What blocks a plan or one of its jobs, for programs and for people: which object, since when,
// what frees it, and when that is likely. Pure.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/answers/forecast.h"
#include "scheduling/outlook.h"
#include "scheduling/wait_texts.h"

namespace esi::scheduling::answers {

struct reference {
    std::string kind;  ///< Testbed, BatchJob, Scheduling, Pod, Node
    std::string namespace_;
    std::string name;
    bool operator==(const reference&) const = default;
};
BOOST_DESCRIBE_STRUCT(reference, (), (kind, namespace_, name))

/// Reasons beside those of model::condition_reason.
namespace blocking_reason {
// For a job that waits for slots.
inline constexpr std::string_view too_few_free_slots = "TooFewFreeSlots";
inline constexpr std::string_view slots_not_free = "SlotsNotFree";  ///< it names its slots
/// Its workers could have their slots, and no coordinator place is free.
inline constexpr std::string_view coordinator_busy = "CoordinatorBusy";
inline constexpr std::string_view job_before = "JobBefore";      ///< another starts first
inline constexpr std::string_view not_acquired = "NotAcquired";  ///< none after it starts either
// For a job that waits although nothing blocks the job itself.
inline constexpr std::string_view other_job = "OtherJob";  ///< the plan acquires all jobs or none
// Why a slot is not free.
inline constexpr std::string_view slot_of_job = "SlotOfJob";  ///< a job of the plan has it
inline constexpr std::string_view slot_in_error = "SlotInError";
inline constexpr std::string_view slot_occupied = "SlotOccupied";  ///< a pod is still in it
inline constexpr std::string_view ghost_missing = "GhostMissing";  ///< its ghost does not run
// For what is about to end.
inline constexpr std::string_view run_ending = "RunEnding";
}  // namespace blocking_reason

/// One thing that has to change before a plan, or a job of it, starts.
struct blocking {
    std::string reason;  ///< of model::condition_reason or blocking_reason
    reference what;      ///< the object that blocks; with `holder`, the object that the holder has
    /// The Scheduling that has `what`, or the BatchJob of the plan that has `slots`.
    std::optional<reference> holder;
    /// Positions in the Testbed that are concerned.
    std::vector<int> slots;
    std::int64_t slots_left_out = 0;
    /// Since when it is so; absent if no object records it.
    std::optional<model::timestamp> since;
    std::string text;      ///< a sentence; the same as in the Scheduling's status
    std::string freed_by;  ///< what would free it, a sentence
    /// When it is likely to be free.
    std::optional<estimated_time> estimate;
    bool operator==(const blocking&) const = default;
};
BOOST_DESCRIBE_STRUCT(blocking, (),
                      (reason, what, holder, slots, slots_left_out, since, text, freed_by,
                       estimate))

/// What frees a slot in ERROR. A held Testbed keeps the layout of the hold: an edit of its spec or
/// of a node's labels mends nothing before the release. `testbed`: null if unknown.
std::string end_of_error(const model::testbed* testbed);

/// Turns the planner's findings into `blocking`. Made once for an answer; refers to the view.
class blocking_reader {
public:
    /// `ahead` is the outlook of `v.self`, and outlives the reader.
    blocking_reader(const view& v, const outlook& ahead, wall_time now);
    blocking_reader(const blocking_reader&) = delete;
    blocking_reader& operator=(const blocking_reader&) = delete;

    /// Adds what blocks the plan as a whole.
    void add_of_plan(std::vector<blocking>& list, std::int64_t& left_out);
    /// Adds what blocks jobs of the plan, if it has to acquire all of them or nothing: each of
    /// these blocks the plan as well.
    void add_of_entry(std::vector<blocking>& list, std::int64_t& left_out);
    /// Adds what blocks one job of it, and why the job gets no slots now.
    void add_of_job(const model::object_key& job, std::vector<blocking>& list,
                    std::int64_t& left_out);
    /// Adds the job of the plan that keeps `job` waiting, if nothing else does: the plan acquires
    /// all jobs or none.
    void add_other_job(const model::object_key& job, std::vector<blocking>& list,
                       std::int64_t& left_out);
    /// The reason why the end of a job's run is not recorded yet.
    static blocking of(const awaited_end& what);

    const forecast& times() const { return times_; }

private:
    blocking of(const blocker& what);
    void add_holder_of_failed(const model::object_key& key, blocking& to) const;
    /// Adds first the wait itself, then each cause on its own.
    void add_wait(std::vector<blocking>& list, std::int64_t& left_out,
                  const slot_blocker& what) const;
    std::vector<blocking> causes_of(const std::vector<int>& slots) const;
    void add_owners(std::vector<blocking>& list, std::int64_t& left_out) const;
    blocking of_owner(const model::assignment& owner, const std::vector<int>& slots) const;
    std::optional<model::timestamp> since(const blocker& what) const;
    std::string freed_by(const blocker& what) const;
    std::optional<estimated_time> release_by(const model::object_key& holder);
    /// Whether records of objects of that namespace may be shown.
    bool may_show(const std::string& ns) const;

    view v_;  ///< its `self` has the assignments of the starts of `ahead`, too
    wall_time now_;
    forecast times_;
    std::shared_ptr<const model::testbed> testbed_;
    std::vector<const blocker*> of_plan_;
    std::map<model::object_key, std::vector<const blocker*>> of_jobs_;
    /// The plan acquires all or nothing: the blockers of its jobs, in the order of the outlook.
    std::vector<const blocker*> of_entry_;
    std::map<model::object_key, const slot_blocker*> waits_;
    std::map<int, const model::assignment*> owners_;
    std::set<int> broken_;
    std::optional<slot_texts> texts_;
    std::map<model::object_key, std::optional<estimated_time>> releases_;
};

/// For this many holders the release is forecast, which reads their whole plans.
inline constexpr std::size_t most_holders_forecast = 16;

}  // namespace esi::scheduling::answers
