#include "testbed/ledger/ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grid/rights.h"
#include "model/names.h"

namespace esi::testbed {

namespace names = model::names;

namespace {

void enter(totals::names& into, const std::string& name, bool belongs, int sign) {
    if (!belongs) return;
    if (sign > 0) {
        into.insert(name);
    } else {
        into.erase(name);
    }
}

template <class Key>
void add(std::map<Key, int>& counts, const Key& key, int sign) {
    const auto entry = counts.try_emplace(key).first;
    entry->second += sign;
    if (entry->second == 0) counts.erase(entry);
}

template <class Value>
void add(std::multiset<Value>& values, const Value& value, int sign) {
    if (sign > 0) {
        values.insert(value);
    } else if (const auto found = values.find(value); found != values.end()) {
        values.erase(found);
    }
}

}  // namespace

pod_state assess_pod(const view& seen, const pod_pointer& pod, bool accepted, bool inside,
                     purpose what_for) {
    pod_state out;
    out.pod = pod;
    if (pod->is_ghost()) return out;
    out.damaged = is_damaged_ghost(*pod, *seen.testbed) && !pod->metadata.deleting();
    if (what_for == purpose::leave || pod->terminal() || pod->metadata.deleting()) return out;
    const bool gated = !grid::let_in(*pod);
    const bool committed = pod->metadata.annotations.contains(names::slot_ghost);
    out.withdrawn = !pod->bound() && !accepted &&
                    ((gated && !pod->nominated_node_name.empty()) || (!gated && committed));
    if (inside) return out;

    std::string why;
    const bool claims = !pod->metadata.annotation(names::slot).empty();
    const bool runs = std::ranges::any_of(seen.jobs, [&](const auto& job) {
        return has_right(*job, seen) && job->spec.creation_request->run == pod->run();
    });
    if (pod->run().empty()) {
        if (claims || gated) why = "it carries no run of a BatchJob";
    } else if (grid::hold_of_run(pod->run()) != seen.testbed->hold()) {
        why = "its run is not of the present hold of the Testbed";
    } else if (claims && (gated || runs)) {
        why = "it names a slot that was not given to it";
    } else if (gated && !runs) {
        why = "its run is not the present one of a BatchJob";
    }
    if (why.empty() || (pod->bound() && !claims)) return out;
    out.refused =
        note{true,    "PodRefused",
             "Place", fmt::format("pod {} gets no slot: {}", pod->metadata.key().text(), why),
             pod,     "pretender/" + pod->metadata.uid};
    return out;
}

std::vector<dispute> assess_job(const view& seen, const model::batchjob& job,
                                const grid::places& places) {
    std::vector<dispute> out;
    if (!has_right(job, seen)) return out;
    const auto& given = job.spec.creation_request->slot_ids;
    for (std::size_t nth = 0; nth < given.size(); ++nth) {
        if (given[nth] >= 0 && given[nth] < places.count()) continue;
        out.push_back({job.metadata.key(), nth,
                       fmt::format("BatchJob {} is given slot {}, which is not there",
                                   job.metadata.key().text(), given[nth])});
    }
    return out;
}

void ledger::count(const std::string& name, const node_state& of, int sign) {
    auto& all = sums_;
    all.counts.nodes += sign * of.counts.nodes;
    all.counts.total += sign * of.counts.total;
    all.counts.free += sign * of.counts.free;
    all.counts.reserved += sign * of.counts.reserved;
    all.counts.occupied += sign * of.counts.occupied;
    all.counts.error += sign * of.counts.error;
    all.under_way += sign * of.under_way;
    all.beside += sign * of.beside;
    all.beside_elsewhere += sign * of.beside_elsewhere;
    all.pods_waiting += sign * of.pods_waiting;
    if (of.problem.empty()) all.without_room += sign * of.without_room;
    enter(all.out_of_use, name, !of.problem.empty(), sign);
    enter(all.with_slot_problems, name, !of.slot_problems.empty(), sign);
    enter(all.short_of_room, name, of.problem.empty() && of.without_room > 0, sign);
    enter(all.open, name, of.open, sign);
    enter(all.taint_refused, name, !of.taint_problem.empty(), sign);
    enter(all.tainted, name, of.tainted, sign);
    enter(all.with_beside, name, !of.beside_names.empty(), sign);
    enter(all.acting, name, of.has_actions(), sign);
    enter(all.with_notes, name, !of.notes.empty() || !of.kept_subjects.empty(), sign);
    enter(all.with_old_images, name, !of.old_images.empty(), sign);
    enter(all.using_hold, name, of.uses_hold, sign);
    for (const auto& [why, ghosts] : of.failing) {
        auto& entry = all.failing[why];
        entry.ghosts += sign * ghosts;
        enter(entry.nodes, name, true, sign);
        if (entry.nodes.empty()) all.failing.erase(why);
    }
    for (const auto& scheduler : of.schedulers) add(all.schedulers, scheduler, sign);
    for (const auto& other : of.sharers) {
        auto& entry = all.shared[other.name];
        enter(entry, name, true, sign);
        if (entry.empty()) all.shared.erase(other.name);
    }
    for (const auto& each : of.disputes) add(all.disputes, each, sign);
    for (const auto& each : of.unbound) add(all.unbound, each, sign);
    for (const auto& each : of.accepted) add(all.accepted, each, sign);
    for (const auto& each : of.inside) add(all.inside, each, sign);
}

void ledger::put_node(const std::string& name, node_state state) {
    static const node_state nothing;
    const auto found = nodes_.find(name);
    const auto& old = found == nodes_.end() ? nothing : found->second;
    if (found != nodes_.end()) count(name, old, -1);
    if (old.accepted != state.accepted || old.inside != state.inside) {
        for (const node_state* each : {&old, &std::as_const(state)}) {
            moved_.insert(each->accepted.begin(), each->accepted.end());
            moved_.insert(each->inside.begin(), each->inside.end());
        }
    }
    if (static_cast<const node_report&>(old) != state) ++version_;
    if (state.empty()) {
        if (found != nodes_.end()) nodes_.erase(found);
        return;
    }
    count(name, state, 1);
    nodes_.insert_or_assign(name, std::move(state));
}

void ledger::put_pod(const model::object_key& key, pod_state state) {
    if (state.empty()) {
        pods_.erase(key);
    } else {
        pods_.insert_or_assign(key, std::move(state));
    }
}

void ledger::put_job(const model::object_key& key, std::vector<dispute> disputes) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() && disputes.empty()) return;
    ++version_;
    if (found != jobs_.end()) {
        for (const auto& each : found->second) add(sums_.disputes, each, -1);
        jobs_.erase(found);
    }
    if (disputes.empty()) return;
    for (const auto& each : disputes) add(sums_.disputes, each, 1);
    jobs_.emplace(key, std::move(disputes));
}

std::string ledger::text() const {
    const auto list = [](const auto& names) { return fmt::format("{}", fmt::join(names, " ")); };
    const auto& all = sums_;
    std::string out = fmt::format(
        "nodes {} slots {}/{}/{}/{} of {} under way {} room {} beside {} {} waiting {}\nout of "
        "use: "
        "{}\nproblems: {}\nshort: {}\nopen: {}\nrefused: {}\ntainted: {}\nbeside: {}\nacting: "
        "{}\nnotes: {}\nimages: {}\nunbound: {}\n",
        all.counts.nodes, all.counts.free, all.counts.reserved, all.counts.occupied,
        all.counts.error, all.counts.total, all.under_way, all.without_room, all.beside,
        all.beside_elsewhere, all.pods_waiting, list(all.out_of_use), list(all.with_slot_problems),
        list(all.short_of_room), list(all.open), list(all.taint_refused), list(all.tainted),
        list(all.with_beside), list(all.acting), list(all.with_notes), list(all.with_old_images),
        list(all.unbound));
    for (const auto& [why, each] : all.failing) {
        out += fmt::format("failing {} {}: {}\n", each.ghosts, why, list(each.nodes));
    }
    for (const auto& [name, count] : all.schedulers) out += fmt::format("{} {}\n", name, count);
    for (const auto& [name, nodes] : all.shared) out += fmt::format("{}: {}\n", name, list(nodes));
    for (const auto& each : all.disputes) out += each.text + "\n";
    for (const auto& [name, node] : nodes_) out += fmt::format("node {} {}\n", name, node.text());
    for (const auto& [key, pod] : pods_) {
        out += fmt::format("pod {} {} {} {}\n", key.text(), pod.withdrawn, pod.damaged,
                           pod.refused ? pod.refused->text : "");
    }
    return out;
}

}  // namespace esi::testbed
