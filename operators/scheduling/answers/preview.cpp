#include "scheduling/answers/preview.h"

#include <set>
#include <utility>

#include "scheduling/answers/lists.h"

namespace esi::scheduling::answers {

namespace {

using model::object_key;

/// A uid that no object of the API server has, and that is greater than all of them.
constexpr std::string_view uid_of_draft = "~draft";

void refuse(preview& out, answer_size& size, const object_key& job, const problem& why) {
    add(out.refused, out.refused_left_out, size, [&] {
        return previewed_refusal{job.namespace_, job.name, std::string(why.reason), why.text};
    });
}

/// Refuses the whole plan, and each job of it that can never start in the layout.
std::set<object_key> refuse_all(preview& out, answer_size& size, const view& v,
                                const outlook& ahead) {
    std::set<object_key> refused;
    for (const auto& job : ahead.wants.cancelled) refused.insert(job);
    if (ahead.wrong) refuse(out, size, {}, *ahead.wrong);
    for (const auto& each : ahead.skipped.list) {
        refused.insert(each.name);
        refuse(out, size, each.name, each.why);
    }
    if (ahead.at != stage::entering) return refused;
    for (const auto& job : ahead.wants.jobs) {
        if (!ahead.wants.cancelled.contains(job.name) || ahead.skipped.keys.contains(job.name)) {
            continue;
        }
        refuse(out, size, job.name, cancelled_before_start(job.name));
    }
    if (!ahead.wrong) return refused;
    const auto& claim = v.self->spec.claim;
    const auto testbed = v.find_testbed(testbed_of(*v.self));
    if (!claim && (!testbed || !testbed->status.layout)) return refused;
    if (testbed_not_allowed(v, *v.self)) return refused;
    const auto layout = claim ? grid::shape_of(*claim) : *testbed->status.layout;
    const auto problems = problems_by_job(ahead.wants, plan_places(layout), ahead.wants.cancelled);
    for (const auto& job : ahead.wants.jobs) {
        const auto found = problems.find(job.name);
        if (found == problems.end() || !refused.insert(job.name).second) continue;
        refuse(out, size, job.name, found->second);
    }
    return refused;
}

std::string_view verdict_of(const preview& seen, const outlook& ahead) {
    if (ahead.at != stage::entering && ahead.at != stage::running) return verdict::over;
    if (!seen.starts.empty()) return verdict::starts;
    if (ahead.wrong) return verdict::refused;
    if (!seen.waits.empty() || !seen.blockers.empty()) return verdict::waits;
    return verdict::started;
}

}  // namespace

preview preview_of(const view& v, wall_time now) {
    const auto ahead = outlook_of(v, now);
    preview out;
    answer_size size;
    out.mode = ahead.wants.chosen->mode();
    out.testbed = testbed_of(*v.self);
    out.ignored = first_of(ahead.wants.ignored, out.ignored_left_out);
    if (ahead.at != stage::entering && ahead.at != stage::running) {
        out.verdict = verdict_of(out, ahead);
        return out;
    }
    blocking_reader read(v, ahead, now);
    out.end = read.times().end;

    read.add_of_plan(out.blockers, out.blockers_left_out);
    read.add_of_entry(out.blockers, out.blockers_left_out);
    std::set<object_key> starting;
    for (const auto& each : ahead.next.starts) {
        starting.insert(each.job);
        add(out.starts, out.starts_left_out, size, [&] {
            previewed_start one{each.job.namespace_, each.job.name, {}, 0, {}};
            one.slots = first_of(each.slot_ids, one.slots_left_out);
            const auto end = read.times().ends.find(each.job);
            if (end != read.times().ends.end()) one.end = end->second;
            return one;
        });
    }

    const auto refused = refuse_all(out, size, v, ahead);
    for (const auto& job : ahead.wants.jobs) {
        const auto& key = job.name;
        if (refused.contains(key) || starting.contains(key)) continue;
        if (ahead.progress.started.contains(key) || ahead.wrong) continue;
        add(out.waits, out.waits_left_out, size, [&] {
            previewed_wait one{key.namespace_, key.name, job.slots_wanted, {}, 0, {}};
            read.add_of_job(key, one.blockers, one.blockers_left_out);
            if (one.blockers.empty()) {
                read.add_other_job(key, one.blockers, one.blockers_left_out);
            }
            const auto start = read.times().starts.find(key);
            if (start != read.times().starts.end()) one.start = start->second;
            return one;
        });
    }
    out.verdict = verdict_of(out, ahead);
    return out;
}

std::shared_ptr<const model::scheduling> draft_of(const object_key& name,
                                                  model::scheduling_spec spec,
                                                  const model::scheduling* existing,
                                                  wall_time now) {
    model::scheduling out;
    if (existing != nullptr) {
        out = *existing;
        ++out.metadata.generation;
    } else {
        out.metadata.namespace_ = name.namespace_;
        out.metadata.name = name.name;
        out.metadata.uid = uid_of_draft;
        out.metadata.generation = 1;
        out.metadata.creation_timestamp = model::timestamp{now};
    }
    out.spec = std::move(spec);
    return std::make_shared<const model::scheduling>(std::move(out));
}

}  // namespace esi::scheduling::answers
