// What a plan would come to now: the answer to "which of my jobs start, and what do the others wait
// for", before the Scheduling is created or changed. It is the outlook (scheduling/outlook.h) for
// programs and people. Pure; nothing is written.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/answers/blocking.h"

namespace esi::scheduling::answers {

/// A job that would get slots at once, and start.
struct previewed_start {
    std::string namespace_;
    std::string name;
    std::vector<int> slots;  ///< ascending positions
    std::int64_t slots_left_out = 0;
    std::optional<estimated_time> end;  ///< of its run, by its earlier ones
};
BOOST_DESCRIBE_STRUCT(previewed_start, (), (namespace_, name, slots, slots_left_out, end))

/// A job of the plan that would not start now, but may later.
struct previewed_wait {
    std::string namespace_;
    std::string name;
    int slots_wanted = 0;
    /// What this job waits for, or the job of the plan that it waits with; none where only what is
    /// about none of the jobs blocks the plan.
    std::vector<blocking> blockers;
    std::int64_t blockers_left_out = 0;
    std::optional<estimated_time> start;
};
BOOST_DESCRIBE_STRUCT(previewed_wait, (),
                      (namespace_, name, slots_wanted, blockers, blockers_left_out, start))

/// A job, or with an empty name the whole plan, that can never start as it is.
struct previewed_refusal {
    std::string namespace_;
    std::string name;
    std::string reason;  ///< of model::condition_reason, or Cancelled
    std::string text;
};
BOOST_DESCRIBE_STRUCT(previewed_refusal, (), (namespace_, name, reason, text))

namespace verdict {
inline constexpr std::string_view starts = "Starts";    ///< a job starts now
inline constexpr std::string_view waits = "Waits";      ///< none starts now, some may later
inline constexpr std::string_view refused = "Refused";  ///< none can start as the plan is
inline constexpr std::string_view started = "Started";  ///< every job has started already
/// The Scheduling exists, and is being released or deleted, or is finished.
inline constexpr std::string_view over = "Over";
}  // namespace verdict

struct preview {
    std::string verdict;  ///< see answers::verdict
    std::string mode;     ///< queue, strict, relaxed
    model::object_key testbed;
    /// What keeps the whole plan from starting: it acquires all or nothing, so that also what
    /// blocks one of its jobs is here, until it has begun.
    std::vector<blocking> blockers;
    std::int64_t blockers_left_out = 0;
    std::vector<previewed_start> starts;
    std::int64_t starts_left_out = 0;
    std::vector<previewed_wait> waits;
    std::int64_t waits_left_out = 0;
    std::vector<previewed_refusal> refused;
    std::int64_t refused_left_out = 0;
    /// What of the spec is not acted on, one sentence each.
    std::vector<std::string> ignored;
    std::int64_t ignored_left_out = 0;
    /// When all jobs are likely to have ended.
    std::optional<estimated_time> end;
};
BOOST_DESCRIBE_STRUCT(preview, (),
                      (verdict, mode, testbed, blockers, blockers_left_out, starts, starts_left_out,
                       waits, waits_left_out, refused, refused_left_out, ignored, ignored_left_out,
                       end))

/// Of `v.self`, which need not exist (draft_of makes one).
preview preview_of(const view& v, wall_time now);

/// The Scheduling that a person would have after creating it with `spec`, or, where `existing` is
/// set, after changing it to `spec`. A new one is the youngest of all.
std::shared_ptr<const model::scheduling> draft_of(const model::object_key& name,
                                                  model::scheduling_spec spec,
                                                  const model::scheduling* existing, wall_time now);

}  // namespace esi::scheduling::answers
