// From an order to an application: everything that can be refused before and at the create.
#include <fmt/format.h>

#include <algorithm>

#include "batchjob/backends/marks.h"
#include "batchjob/pass.h"
#include "batchjob/runs.h"
#include "grid/grid.h"

namespace esi::batchjob {

namespace state = model::job_state;

void pass::launch(const model::creation_request& order) {
    // The garbage collector would take it, or never come to it: nothing is begun for who goes.
    if (job_.metadata.deleting()) return;
    if (!seen_.kind || !seen_.served) {
        return fail_submission(order, reasons::backend_missing, backend_missing());
    }
    if (!job_.metadata.undecodable.empty()) {
        return fail_submission(order, reasons::undecodable, job_.metadata.undecodable_text());
    }
    const auto* accepted = model::find_condition(status_.conditions, condition_type::accepted);
    if (accepted && accepted->status == "False" && status_.spec_hash == hash_of(job_.spec)) {
        return fail_submission(order, reasons::spec_refused, accepted->message);
    }
    const auto* bed = seen_.testbed.get();
    const bool under_hold = bed && grid::is_under_hold(job_, *bed);
    if (!bed || !bed->status.layout || !under_hold) {
        // The assignment was made under a hold, which freezes the layout: the cache will show it. A
        // layout from before the hold may have other slots, of another size.
        status_.state = state::in_queue;
        const auto text = fmt::format("Testbed {} {}", testbed_of(job_).text(),
                                      !bed                  ? "is not there"
                                      : !bed->status.layout ? "has no layout yet"
                                                            : "does not show the hold of this run");
        blame("TestbedNotReady", text);
        set(condition_type::submitted, "False", reason_, text);
        return;
    }
    const auto& layout = *seen_.testbed->status.layout;
    const auto total = grid::count_of_slots(layout);
    for (const int slot : order.slot_ids) {
        if (slot >= 0 && slot < total) continue;
        return fail_submission(order, "SlotOutOfLayout",
                               fmt::format("slot {} is not in the layout of Testbed {}, which has "
                                           "{} slots",
                                           slot, testbed_of(job_).text(), total));
    }
    build_request request;
    request.job = job_.metadata;
    request.spec = *spec_of(job_.spec);
    request.testbed = testbed_of(job_);
    request.node_label = seen_.testbed->spec.node_label;
    request.slot_size = layout.resources_per_slot;
    request.slot_ids = order.slot_ids;
    std::ranges::sort(request.slot_ids);
    request.run = order.run;
    auto made = seen_.kind->build(request);
    if (!made) {
        return fail_submission(order, made.error().reason, std::move(made.error().text));
    }

    made->object["metadata"]["annotations"][std::string(spec_hash)] = hash_of(job_.spec);

    const auto& refused = seen_.live.create_error;
    if (!refused) {
        out_.next = create_application{std::move(made->object)};
        out_.act_first = true;
        return;
    }
    if (!refused->transient()) {
        const bool missing = refused->code == errc::not_found;
        return fail_submission(order, missing ? reasons::backend_missing : reasons::refused,
                               refused->text);
    }
    // The API server or a webhook is in trouble: tried again, as long as a submission may take.
    const auto* submitted = model::find_condition(status_.conditions, condition_type::submitted);
    const bool known = submitted && submitted->status == "Unknown";
    const auto since =
        known && submitted->last_transition_time ? submitted->last_transition_time->value : now_;
    const auto limit = grid::submit_timeout(order);
    if (now_ - since >= limit) {
        return fail_submission(order, "SubmitTimeout",
                               fmt::format("the application could not be created within {} s: {}",
                                           limit.count(), refused->text));
    }
    status_.state = state::in_queue;
    blame(reasons::create_failing, "the application could not be created yet: " + refused->text);
    set(condition_type::submitted, "Unknown", reason_, refused->text);
    out_.retry = true;
}

void pass::fail_submission(const model::creation_request& order, std::string_view reason,
                           std::string message) {
    if (!line_of(status_, order.run)) {
        begin_line(status_, order,
                   seen_.testbed && seen_.testbed->status.layout ? &*seen_.testbed->status.layout
                                                                 : nullptr,
                   std::nullopt);
    }
    set(condition_type::submitted, "False", reason, message);
    end(run_outcome::failed, reason, std::move(message), stamp());
    status_.state = state::failed_submission;
    refer(nullptr);
}

}  // namespace esi::batchjob
