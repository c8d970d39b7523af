#include "scheduling/wait_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scheduling/acquire.h"
#include "scheduling/plan.h"
#include "scheduling/wait_graph.h"
#include "scheduling/words.h"

namespace esi::scheduling {

using model::object_key;

std::string slot_texts::of(const slot_blocker& what) const {
    auto job = job_text(what.job);
    switch (what.why) {
        case slot_blocker::kind::too_few_free:
            return job + " waits for more free slots: " + busy_text();
        case slot_blocker::kind::slots_taken:
            return job + " waits for " + slots_text(what.slots) + detail_of(what.slots);
        case slot_blocker::kind::coordinator_busy:
            return job + " could have slots for its workers and waits for a coordinator place: " +
                   slots_text(what.slots) + detail_of(what.slots);
        case slot_blocker::kind::job_before:
            return job + " starts after " + job_text(what.before);
        case slot_blocker::kind::not_ready:
            return job + " is not acquired";
    }
    return job;
}

/// Why slots are not free: the job that has them, that they are in ERROR, or that there is no
/// running ghost.
std::string slot_texts::detail_of(const std::vector<int>& slots) const {
    std::map<int, std::string> owners;
    for (const auto& a : v_.self->status.assignments) {
        if (a.ended) continue;
        for (int id : a.slot_ids) owners[id] = job_text(a.job.key());
    }
    std::vector<std::string> texts;
    const auto broken = v_.in_error();
    for (int id : slots) {
        if (auto owner = owners.find(id); owner != owners.end()) {
            texts.push_back(fmt::format("{}: {}", id, owner->second));
        } else if (id >= 0 && id < v_.slots->size()) {
            const auto row = v_.slots->at(id);
            texts.push_back(fmt::format("{}: on node {}, {}", id, row.place.node,
                                        broken.contains(id)
                                            ? "in ERROR: " + node_problem(row.place.node)
                                        : row.job_pods.empty() ? "its ghost does not stand"
                                                               : pod_in(row) + " is still in it"));
        }
    }
    return texts.empty() ? "" : " (" + enumerate(texts, 5) + ")";
}

/// A pod of another namespace may belong to the Scheduling that held the Testbed before.
std::string slot_texts::pod_in(const grid::slot_table::row& slot) const {
    const auto& pod = slot.job_pods.front()->metadata;
    if (pod.namespace_ != v_.self->metadata.namespace_) return std::string(grid::foreign_pod);
    return "Pod " + pod.name;
}

std::string slot_texts::node_problem(const std::string& node) const {
    // Its text may name pods of the Testbed's namespace.
    if (testbed_.metadata.namespace_ != v_.self->metadata.namespace_) {
        return "its nodeProblems say why";
    }
    const auto& problems = testbed_.status.node_problems;
    auto found = problems.find(node);
    if (found == problems.end() || found->second.empty()) return "the Testbed does not say why";
    return found->second.front();
}

std::string slot_texts::busy_text() const {
    std::vector<std::string> texts;
    auto broken = v_.in_error();
    for (const auto& a : v_.self->status.assignments) {
        if (a.ended) continue;
        texts.push_back(job_text(a.job.key()) + " has " + slots_text(a.slot_ids));
        for (int id : a.slot_ids) broken.erase(id);
    }
    const auto& layout = testbed_.status.layout;
    const auto places = layout ? plan_places(*layout) : plan_places(0);
    auto out = fmt::format("{} of {} {}are free{}", free_, places.workers(),
                           places.coordinators().empty() ? "" : "for workers ",
                           texts.empty() ? "" : ", " + enumerate(texts, 5));
    if (broken.empty()) return out;
    return out + ", in ERROR " + (broken.size() == 1 ? "is " : "are ") +
           slots_text({broken.begin(), broken.end()}) + " (nodeProblems of " +
           testbed_text(testbed_of(*v_.self)) + ")";
}

std::vector<object_key> wait_cycle_of(const view& v) {
    auto waits_for = [&v](const object_key& key) {
        std::vector<object_key> out;
        const auto who = v.find_scheduling(key);
        if (!who || !is_running(who->status) || !who->status.releasing.empty()) return out;
        std::set<object_key> started;
        for (const auto& a : who->status.assignments) started.insert(a.job.key());
        const auto wants = plan_of(*who, v.policies);
        for (const auto& wanted : wants.jobs) {
            if (started.contains(wanted.name) || wants.cancelled.contains(wanted.name)) continue;
            // It is a wait without end, but not for a Scheduling.
            if (!v.may_start(key.namespace_, wanted.name)) continue;
            const auto job = v.find_job(wanted.name);
            if (!job || !job->spec.active_scheduling || acquired_by(*job, *who)) continue;
            const auto holder = v.find_scheduling(job->spec.active_scheduling->key());
            if (holder && acquired_by(*job, *holder)) out.push_back(holder->metadata.key());
        }
        return out;
    };
    auto cycle = cycle_through(v.self->metadata.key(), waits_for);
    if (!cycle.empty()) std::ranges::rotate(cycle, std::ranges::min_element(cycle));
    return cycle;
}

std::string cycle_text(const std::vector<object_key>& cycle) {
    std::vector<std::string> links;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
        links.push_back(scheduling_text(cycle[i]) + " waits for a job of " +
                        scheduling_text(cycle[(i + 1) % cycle.size()]));
    }
    return enumerate(links, 10) + "; take entries out of one of them, or delete one";
}

}  // namespace esi::scheduling
