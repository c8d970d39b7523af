#include "grid/rights.h"

#include <algorithm>

#include "grid/grid.h"

namespace esi::grid {

model::object_key in_namespace(model::object_key reference, std::string_view ns) {
    if (reference.namespace_.empty()) reference.namespace_ = ns;
    return reference;
}

model::object_key testbed_of(const model::scheduling& of) {
    return in_namespace(of.spec.testbed, of.metadata.namespace_);
}

model::object_key testbed_of(const model::batchjob& job) {
    if (!job.spec.creation_request) return {};
    return in_namespace(job.spec.creation_request->testbed_name, job.metadata.namespace_);
}

std::string_view owner_of_run(std::string_view run) {
    return scheduling_uid_of_hold(hold_of_run(run));
}

bool is_under_hold(std::string_view run, const model::testbed& testbed) {
    return !testbed.hold().empty() && hold_of_run(run) == testbed.hold();
}

bool is_under_hold(const model::batchjob& job, const model::testbed& testbed) {
    const auto& order = job.spec.creation_request;
    return order && testbed_of(job) == testbed.metadata.key() && is_under_hold(order->run, testbed);
}

bool is_assigned(const model::batchjob& job, const model::scheduling& by) {
    const auto& order = job.spec.creation_request;
    if (!order || owner_of_run(order->run) != by.metadata.uid) return false;
    const auto& all = by.status.assignments;
    return std::any_of(all.begin(), all.end(), [&](const model::assignment& each) {
        return !each.ended && each.run == order->run && each.job.uid == job.metadata.uid &&
               each.slot_ids == order->slot_ids;
    });
}

bool has_right(const model::batchjob& job, const model::testbed& testbed,
               const model::scheduling* holder) {
    return is_under_hold(job, testbed) && !job.metadata.deleting() &&
           !model::is_final(job.status.state) && holder && is_assigned(job, *holder);
}

seconds submit_timeout(const model::creation_request& order) {
    const int given = order.submit_timeout_seconds;
    return seconds(given > 0 ? given : default_submit_timeout_seconds);
}

seconds schedule_timeout(const model::creation_request& order) {
    const int given = order.schedule_timeout_seconds;
    return seconds(given > 0 ? given : default_schedule_timeout_seconds);
}

wall_time binding_deadline(const model::creation_request& order, wall_time submitted,
                           wall_time newest) {
    return std::min(newest, submitted + submit_timeout(order)) + schedule_timeout(order);
}

}  // namespace esi::grid
