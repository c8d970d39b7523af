// The summary of a job, for people and for tools that wait: the conditions Fits, Startable, Failed,
// Reconciling and Stalled, status.reason and status.problems.
#include <fmt/format.h>

#include <algorithm>

#include "base/contains.h"
#include "batchjob/decider.h"
#include "batchjob/fitting.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "model/names.h"
#include "model/text.h"

namespace esi::batchjob {

namespace state = model::job_state;
namespace names = model::names;

namespace {

using sizes = std::vector<const model::resource_list*>;

/// The sizes of slots of this role that a start would find: those of the layout; those of the spec
/// as long as the layout has no slots (none yet, or a claim has given its places back).
sizes slot_sizes(const model::testbed& bed, std::string_view role) {
    const auto& layout = bed.status.layout;
    if (layout && grid::count_of_slots(*layout) > 0) return grid::sizes_of(*layout, role);
    const bool of_worker = role == model::slot_role::worker;
    sizes out;
    if (bed.spec.claim) {
        for (const auto& shape : bed.spec.claim->shapes) {
            const bool is_worker = shape.role != model::slot_role::coordinator;
            if (is_worker == of_worker) out.push_back(&shape.resources);
        }
    } else if (of_worker) {
        out.push_back(&bed.spec.resources_per_slot);
    }
    return out;
}

std::int64_t memory_of(const model::resource_list& size) {
    const auto memory = size.find("memory");
    return memory == size.end() ? 0 : memory->second.milli;
}

/// The largest size; of an empty list: no size.
const model::resource_list& largest_of(const sizes& list) {
    static const model::resource_list none;
    const model::resource_list* out = nullptr;
    for (const auto* each : list) {
        if (!out || memory_of(*each) > memory_of(*out)) out = each;
    }
    return out ? *out : none;
}

std::int64_t slot_memory(const model::testbed& bed) {
    return memory_of(largest_of(slot_sizes(bed, model::slot_role::worker)));
}

/// Why no slot of the Testbed can hold a worker of the job, or no coordinator place the
/// coordinator; without such places the coordinator stays off the Testbed.
std::optional<spec_problem> against(fitting& fit, const model::testbed& bed) {
    const auto workers = slot_sizes(bed, model::slot_role::worker);
    const auto holds_worker = [&](auto* each) { return !fit.worker(*each); };
    if (std::ranges::none_of(workers, holds_worker)) return fit.worker(largest_of(workers));
    const auto places = slot_sizes(bed, model::slot_role::coordinator);
    const auto holds = [&](auto* each) { return !fit.coordinator(*each); };
    if (places.empty() || std::ranges::any_of(places, holds)) return std::nullopt;
    return fit.coordinator(largest_of(places));
}

bool is_about_the_spec(std::string_view reason) {
    return reason == reasons::spec_refused || reason == reasons::undecodable;
}

}  // namespace

bool decider::is_sized_by_slot() const { return job_.spec.sizing == model::job_sizing::slot; }

/// Fits: whether some slot is as large as a pod of the spec has to be.
decider::verdict decider::fits() const {
    const auto* text = spec();
    if (!seen_.kind || !text) return {"Unknown", std::string(reasons::backend_missing), ""};
    if (seen_.usable.empty()) {
        return {"Unknown", "NoTestbed",
                fmt::format("no Testbed is in namespace {}, or names it in spec.allowedNamespaces",
                            job_.metadata.namespace_)};
    }
    const model::testbed* largest = nullptr;
    fitting fit(*seen_.kind, *text, is_sized_by_slot());
    for (const auto& bed : seen_.usable) {
        if (!against(fit, *bed)) {
            // The text leaves out the Testbed's name: otherwise each Testbed that is created or
            // deleted would change the status of all jobs.
            return {"True", "SlotLargeEnough",
                    fmt::format("a slot can hold one {}", seen_.kind->worker())};
        }
        if (!largest || slot_memory(*bed) > slot_memory(*largest)) largest = bed.get();
    }
    const auto why = against(fit, *largest);
    return {"False", why->reason,
            fmt::format("Testbed {} has the largest slots: {}", largest->metadata.key().text(),
                        why->text)};
}

/// Why no Scheduling can start the job.
std::optional<decider::verdict> decider::start_problem() const {
    const auto* accepted = model::find_condition(status_.conditions, condition_type::accepted);
    if (accepted && accepted->status == "False") {
        const bool unread = accepted->reason == reasons::undecodable;
        return verdict{"False", std::string(unread ? reasons::undecodable : reasons::spec_refused),
                       fmt::format("{} was refused: {}", spec_field(), accepted->message)};
    }
    if (!seen_.kind || !seen_.served) {
        return verdict{"False", std::string(reasons::backend_missing), backend_missing()};
    }
    const auto* fit = model::find_condition(status_.conditions, condition_type::fits);
    if (fit && fit->status == "False") return verdict{"False", fit->reason, fit->message};
    if (!accepted) return verdict{"Unknown", "Checking", ""};
    if (accepted->status != "True") return verdict{"Unknown", accepted->reason, accepted->message};
    return std::nullopt;
}

bool decider::waits_to_be_started() const {
    return status_.state == state::ready || status_.state == state::in_queue;
}

/// Startable: whether a Scheduling can start the job now.
decider::verdict decider::startable() const {
    const auto& meta = job_.metadata;
    const auto holder = status_.active_scheduling ? status_.active_scheduling->key().text() : "";
    if (failed()) {
        return {"False", "NotReset",
                fmt::format("the last run has failed; the job can be started again once its "
                            "{} has changed, or after: kubectl annotate --overwrite -n {} "
                            "batchjob {} {}=\"$(date)\"",
                            spec_field(), meta.namespace_, meta.name, names::reset)};
    }
    if (status_.state == state::completed) {
        return {"False", "NotReleased",
                fmt::format("the last run has ended; Scheduling {} has not released the job yet",
                            holder)};
    }
    if (status_.state == state::pending_deletion) {
        return {"False", "Releasing", "waits until application and pods are gone"};
    }
    if (!waits_to_be_started()) {
        return {"False", "RunUnderWay", fmt::format("Scheduling {} runs the job", holder)};
    }
    if (meta.deleting()) return {"False", "Deleting", "the BatchJob is being deleted"};
    if (auto against = start_problem()) return std::move(*against);
    if (status_.state == state::in_queue) {
        return {"False", "Acquired", fmt::format("Scheduling {} has acquired the job", holder)};
    }
    return {"True", "Ready", ""};
}

/// status.reason, and status.problems with the text of that reason first.
void decider::report_problems() {
    std::vector<std::string> texts;
    status_.reason = reason_;
    if (failed() && !status_.runs.empty()) {
        const auto& line = status_.runs.back();
        texts.push_back(fmt::format("{}: {}", line.reason, line.message));
        status_.reason = line.reason;
    }
    if (!reason_.empty()) texts.push_back(reason_text_);
    const auto against = start_problem();
    const bool lasts =
        against && (is_about_the_spec(against->reason) || !seen_.kind || !seen_.served);
    if (lasts || (against && waits_to_be_started() && against->reason != "Checking")) {
        if (status_.reason.empty()) status_.reason = against->reason;
        // The text is not repeated: the run has failed for the same reason.
        if (!failed() || status_.reason != against->reason) texts.push_back(against->text);
    }
    if (!(seen_.kind && seen_.served)) texts.push_back(backend_missing());
    for (auto& text : problems_) texts.push_back(std::move(text));
    std::vector<std::string> unique;
    for (auto& text : texts) {
        text = model::cut(text);
        if (!contains(unique, text)) unique.push_back(std::move(text));
    }
    status_.problems = std::move(unique);
}

/// Failed: also True if no application can be made of the spec.
void decider::report_failure(const std::optional<verdict>& against) {
    const auto* succeeded = model::find_condition(status_.conditions, condition_type::succeeded);
    const auto* line = status_.runs.empty() ? nullptr : &status_.runs.back();
    if (failed()) {
        set_condition(condition_type::failed, "True", line ? line->reason : status_.state,
                      line ? line->message : "");
    } else if (against && is_about_the_spec(against->reason)) {
        set_condition(condition_type::failed, "True", against->reason, against->text);
    } else if (line && line->outcome == run_outcome::failed) {
        set_condition(condition_type::failed, "False", "Reset",
                      "the failure of the last run was forgotten");
    } else {
        set_condition(condition_type::failed, "False", succeeded ? succeeded->reason : "NotRunYet",
                      "");
    }
}

/// Startable, Failed, and the conditions of kstatus: Reconciling and Stalled exist only while they
/// are true, and never both.
void decider::summarize() {
    const auto start = startable();
    set_condition(condition_type::startable, start.status, start.reason, start.text);
    const auto against = waits_to_be_started() ? start_problem() : std::nullopt;
    report_failure(against);

    // After its end a job waits only until the leftovers of the run are deleted.
    const bool ends = status_.state == state::pending_deletion ||
                      (final() && (!status_.placements.empty() || !reason_.empty()));
    const bool stalls = !ends && (failed() || (against && against->status == "False"));
    const bool starts = status_.state == state::submitted || status_.state == state::scheduled ||
                        (status_.state == state::in_queue && !status_.slot_ids.empty());
    const bool works = ends || (!stalls && (starts || against));
    if (works) {
        std::string why = reason_;
        if (why.empty()) why = ends ? "Ending" : starts ? "Starting" : against->reason;
        auto text = reason_text_;
        if (text.empty() && !ends && !status_.problems.empty()) text = status_.problems.front();
        set_condition(condition_type::reconciling, "True", why, text);
    } else {
        model::remove_condition(status_.conditions, condition_type::reconciling);
    }
    if (stalls) {
        set_condition(condition_type::stalled, "True", status_.reason,
                      failed() ? start.text : against->text);
    } else {
        model::remove_condition(status_.conditions, condition_type::stalled);
    }
}

}  // namespace esi::batchjob
