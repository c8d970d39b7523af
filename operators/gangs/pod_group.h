// The object that describes a group, of any kind (kinds.h): all fields that ESI reads in one
// record. The kinds belong to other projects; a field of another form than expected reads as
// absent, never as an error, so that no object can stall a cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gangs/kinds.h"
#include "model/json.h"

namespace esi::gangs {

/// A condition in the form of kube-batch.
struct group_condition {
    std::string type;
    std::string status;
    std::string transition_id;
    std::optional<model::timestamp> last_transition_time;
    std::string reason;
    std::string message;
    bool operator==(const group_condition&) const = default;
};

struct pod_group_spec {
    /// Nothing: absent, or no whole number.
    std::optional<std::int64_t> min_member;
    std::string priority_class_name;
    /// spec.scheduleTimeoutSeconds, or spec.maxScheduleTime ("1m30s"); nothing: absent, unreadable
    /// or not above zero.
    std::optional<milliseconds> attempt;
    bool operator==(const pod_group_spec&) const = default;
};

/// Absent numbers are nothing, since the wanted status is compared with the present one.
struct pod_group_status {
    std::string phase;
    std::string occupied_by;
    std::optional<std::int64_t> scheduled;
    std::optional<std::int64_t> running;
    std::optional<std::int64_t> succeeded;
    std::optional<std::int64_t> failed;
    std::optional<model::timestamp> schedule_start_time;
    std::vector<group_condition> conditions;
    bool operator==(const pod_group_status&) const = default;
};

struct pod_group {
    model::object_meta metadata;
    pod_group_spec spec;
    pod_group_status status;

    /// esi.tu-berlin.de/suspend is "true".
    bool suspended() const;
    /// esi.tu-berlin.de/on-partial is "Delete".
    bool deletes_partial() const;
    /// esi.tu-berlin.de/best-effort-constraints is "true".
    bool best_effort() const;
};

/// "1h30m5s", "500ms", "90s", as Go writes durations; nothing if it is no duration, or does not
/// fit.
std::optional<milliseconds> go_duration(std::string_view text);

}  // namespace esi::gangs

namespace esi::model {

template <>
struct codec<esi::gangs::pod_group> {
    static result<void> decode(const element& from, esi::gangs::pod_group& out);
    static json encode(const esi::gangs::pod_group& value);
};

}  // namespace esi::model
