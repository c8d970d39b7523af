// The result of a plan now: which of its jobs start, and what the others wait for, before the
// Scheduling is created or changed. It is the outlook (scheduling/outlook.h) for programs and
// people. Pure; nothing is written.
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
    /// Blockers of this job, or the job of the plan that it waits with; none if the plan is blocked
    /// only by what concerns none of its jobs.
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
    /// Blockers of the whole plan: it acquires all or nothing, so a blocker of one of its jobs is
    /// here, too, until it has begun.
    std::vector<blocking> blockers;
    std::int64_t blockers_left_out = 0;
    std::vector<previewed_start> starts;
    std::int64_t starts_left_out = 0;
    std::vector<previewed_wait> waits;
    std::int64_t waits_left_out = 0;
    std::vector<previewed_refusal> refused;
    std::int64_t refused_left_out = 0;
    /// Parts of the spec that have no effect, one sentence each.
    std::vector<std::string> ignored;
    std::int64_t ignored_left_out = 0;
    /// When all jobs are likely to have ended.
    std::optional<estimated_time> end;
};
BOOST_DESCRIBE_STRUCT(preview, (),
                      (verdict, mode, testbed, blockers, blockers_left_out, starts, starts_left_out,
                       waits, waits_left_out, refused, refused_left_out, ignored, ignored_left_out,
                       end))

/// The preview of `v.self`, which need not exist (draft_of makes one).
preview preview_of(const view& v, wall_time now);

/// The Scheduling as it would be after creating it with `spec`, or, if `existing` is set, after
/// changing it to `spec`. A new one is the youngest of all.
std::shared_ptr<const model::scheduling> draft_of(const model::object_key& name,
                                                  model::scheduling_spec spec,
                                                  const model::scheduling* existing, wall_time now);

}  // namespace esi::scheduling::answers
