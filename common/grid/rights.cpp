#include "grid/rights.h"

#include <algorithm>

#include "grid/grid.h"
#include "model/names.h"

namespace esi::grid {

model::object_key testbed_of(const model::scheduling& of) {
    if (of.spec.claim) return of.metadata.key();
    return in_namespace(of.spec.testbed, of.metadata.namespace_);
}

const model::owner_reference* maker_of(const model::testbed& testbed) {
    const auto* owner = testbed.metadata.controller_owner();
    const bool made = owner != nullptr && owner->kind == "Scheduling" &&
                      owner->api_version.starts_with(model::names::prefix);
    return made ? owner : nullptr;
}

bool is_made_for(const model::testbed& testbed, const model::scheduling& of) {
    const auto* maker = maker_of(testbed);
    return maker != nullptr && maker->uid == of.metadata.uid &&
           testbed.metadata.namespace_ == of.metadata.namespace_;
}

model::testbed_layout shape_of(const model::scheduling_claim& claim) {
    model::testbed_layout out;
    out.nodes.emplace_back();
    for (const auto& shape : claim.shapes) {
        out.shapes.push_back({shape.name, shape.role, shape.count, shape.resources});
        // The bound of the CRD holds for the sum, which a spec may only seem to keep.
        const auto most = static_cast<int>(model::most_claimed_places) + 1;
        out.places.resize(out.places.size() +
                          static_cast<std::size_t>(std::clamp(shape.count, 0, most)));
    }
    return out;
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
