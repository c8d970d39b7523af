// From an order to an application: all refusals before and at the create.
#include <fmt/format.h>

#include <algorithm>

#include "batchjob/backends/kind.h"
#include "batchjob/backends/marks.h"
#include "batchjob/decider.h"
#include "batchjob/fitting.h"
#include "grid/grid.h"
#include "grid/rights.h"

namespace esi::batchjob {

namespace state = model::job_state;

namespace {

/// How soon the caches are checked again for the kind of the spec.
constexpr seconds kind_pause{1};

/// The size that all these slots have: the least amount of each resource. All pods of a role are
/// made alike.
model::resource_list common_size(const model::testbed_layout& layout, std::span<const int> slots) {
    if (slots.empty()) return {};
    auto out = grid::size_of(layout, slots.front());
    for (const int slot : slots.subspan(1)) {
        const auto& size = grid::size_of(layout, slot);
        std::erase_if(out, [&](const auto& each) { return !size.contains(each.first); });
        for (auto& [name, amount] : out) {
            const auto& other = size.find(name)->second;
            if (other.milli < amount.milli) amount = other;
        }
    }
    return out;
}

}  // namespace

void decider::launch(const model::creation_request& order) {
    // Nothing is created for a job that is being deleted: the garbage collector would have to
    // delete it, and may have passed the job already.
    if (job_.metadata.deleting()) return;
    // A cache that is behind still shows an application of the kind that the spec had before.
    if (seen_.kind && seen_.spec_kind && seen_.kind->type() != seen_.spec_kind->type()) {
        status_.state = state::in_queue;
        return reconcile_in(kind_pause);
    }
    if (auto why = judge_launch()) return fail_launch(order, why->reason, std::move(why->text));
    if (!testbed_is_ready()) return;
    if (auto why = judge_slots(order)) return fail_launch(order, why->reason, std::move(why->text));

    const auto request = request_for(order);
    if (auto why = judge_size(request)) {
        return fail_launch(order, why->reason, std::move(why->text));
    }
    auto made = seen_.kind->build(request);
    if (!made) {
        return fail_launch(order, made.error().reason, std::move(made.error().text));
    }
    made->object["metadata"]["annotations"][std::string(spec_hash)] = spec_hash_now();

    if (const auto& refused = seen_.live.create_error) {
        return report_refused_create(order, *refused);
    }
    if (seen_.kind->adopts()) {
        out_.next = adopt_application{std::move(made->object)};
    } else {
        out_.next = create_application{std::move(made->object)};
    }
    out_.act_first = true;
}

/// Why no application can be created for this job, whatever its order is.
std::optional<decider::launch_problem> decider::judge_launch() const {
    if (!seen_.kind || !seen_.spec_kind || !seen_.served) {
        return launch_problem{reasons::backend_missing, backend_missing()};
    }
    if (!job_.metadata.undecodable.empty()) {
        return launch_problem{reasons::undecodable, job_.metadata.undecodable_text()};
    }
    const auto* accepted = model::find_condition(status_.conditions, condition_type::accepted);
    if (accepted && accepted->status == "False" && accepted->reason != reasons::undecodable &&
        status_.spec_hash == spec_hash_now()) {
        return launch_problem{reasons::spec_refused, accepted->message};
    }
    return std::nullopt;
}

/// The assignment was made under a hold, which freezes the layout. The cache may still show the
/// Testbed as it was before the hold, with other slots of another size: the launch waits for it.
bool decider::testbed_is_ready() {
    const auto* bed = seen_.testbed.get();
    const bool under_hold = bed && grid::is_under_hold(job_, *bed);
    if (bed && bed->status.layout && under_hold) return true;
    status_.state = state::in_queue;
    const auto text = fmt::format("Testbed {} {}", grid::testbed_of(job_).text(),
                                  !bed                  ? "is not there"
                                  : !bed->status.layout ? "has no layout yet"
                                                        : "does not show the hold of this run");
    set_reason("TestbedNotReady", text);
    set_condition(condition_type::submitted, "False", reason_, text);
    return false;
}

std::optional<decider::launch_problem> decider::judge_slots(
    const model::creation_request& order) const {
    const auto& layout = *seen_.testbed->status.layout;
    const auto total = grid::count_of_slots(layout);
    for (const int slot : order.slot_ids) {
        if (slot >= 0 && slot < total) continue;
        return launch_problem{"SlotOutOfLayout",
                              fmt::format("slot {} is not in the layout of Testbed {}, which has "
                                          "{} slots",
                                          slot, grid::testbed_of(job_).text(), total)};
    }
    const auto coordinators =
        grid::with_role(layout, order.slot_ids, model::slot_role::coordinator);
    if (coordinators.size() > 1 || coordinators.size() == order.slot_ids.size()) {
        return launch_problem{
            "SlotRolesUnsuited",
            fmt::format("of slots {} of Testbed {} {} are coordinator places: a job takes slots of "
                        "workers and at most one coordinator place",
                        grid::show_slot_list(order.slot_ids), grid::testbed_of(job_).text(),
                        coordinators.size())};
    }
    return std::nullopt;
}

/// A pod of the spec is larger than its slot: it would wait at its gate for ever.
std::optional<spec_problem> decider::judge_size(const build_request& request) const {
    fitting fit(*seen_.kind, request.spec, request.by_slot);
    auto why = fit.worker(request.slot_size);
    if (why || !request.coordinator) return why;
    return fit.coordinator(request.coordinator->size);
}

build_request decider::request_for(const model::creation_request& order) const {
    build_request request;
    request.job = job_.metadata;
    request.spec = *spec();
    request.testbed = grid::testbed_of(job_);
    request.node_label = seen_.testbed->spec.node_label;
    const auto& layout = *seen_.testbed->status.layout;
    request.slot_ids = slots_of_workers(order.slot_ids, order.run);
    std::ranges::sort(request.slot_ids);
    request.slot_size = common_size(layout, request.slot_ids);
    if (const auto place = slot_of_coordinator(order.slot_ids, order.run)) {
        request.coordinator = coordinator_slot{*place, grid::size_of(layout, *place)};
    }
    request.run = order.run;
    request.by_slot = is_sized_by_slot();
    return request;
}

/// The API server has answered the create with an error. Where the same create may succeed later
/// (the API server or a webhook is overloaded or away), it is sent again for as long as a
/// submission may take.
void decider::report_refused_create(const model::creation_request& order, const error& refused) {
    if (!refused.transient()) {
        const bool missing = refused.code == errc::not_found;
        return fail_launch(order, missing ? reasons::backend_missing : reasons::refused,
                           refused.text);
    }
    const auto* submitted = model::find_condition(status_.conditions, condition_type::submitted);
    const bool known = submitted && submitted->status == "Unknown";
    const auto since =
        known && submitted->last_transition_time ? submitted->last_transition_time->value : now_;
    const auto limit = grid::submit_timeout(order);
    if (now_ - since >= limit) {
        return fail_launch(order, "SubmitTimeout",
                           fmt::format("the application could not be created within {} s: {}",
                                       limit.count(), refused.text));
    }
    status_.state = state::in_queue;
    set_reason(reasons::create_failing,
               "the application could not be created yet: " + refused.text);
    set_condition(condition_type::submitted, "Unknown", reason_, refused.text);
    out_.retry = true;
}

}  // namespace esi::batchjob
