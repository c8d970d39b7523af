#include "testbed/caches/observe.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "grid/records.h"
#include "model/names.h"
#include "testbed/room/isolation.h"
#include "testbed/room/layout.h"

namespace esi::testbed {

namespace {

/// The part of an existing node's view that does not depend on Testbeds.
node_view pods_on(node_pointer node, const caches& from) {
    const auto& name = node->metadata.name;
    auto pods = from.pods().by_index("node", name);
    auto waiting = from.pods().by_index("door", name);
    return {std::move(node), std::move(pods), std::move(waiting)};
}

void find_doubled(node_view& into, const caches& from, const std::vector<testbed_pointer>& others) {
    const auto& node = *into.node;
    for (const auto& other : others) {
        auto label = node.metadata.labels.find(other->spec.node_label);
        if (label == node.metadata.labels.end()) continue;
        const auto id = parse_node_id(label->second);
        if (id && from.nodes().by_index("number", numbered(label->first, *id)).size() > 1) {
            into.doubled.insert(label->first);
        }
    }
}

bool concerns(const model::node& node, const model::testbed& testbed, const grid::places& places) {
    return places.member(node.metadata.name) || has_taint_of(node, testbed.metadata.uid) ||
           node.metadata.labels.contains(testbed.spec.node_label);
}

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Sorts by key and removes duplicates.
template <class T>
void tidy(std::vector<std::shared_ptr<const T>>& list) {
    std::ranges::sort(list, {}, [](const auto& each) { return each->metadata.key(); });
    const auto rest =
        std::ranges::unique(list, {}, [](const auto& each) { return each->metadata.key(); });
    list.erase(rest.begin(), rest.end());
}

}  // namespace

view observe_testbed(const caches& from, testbed_pointer testbed) {
    view out;
    out.all_namespaces = from.all_namespaces();
    out.slices_served = from.slices_served();
    out.indexes[testbed.get()] = from.roster().index_of(testbed->metadata.key());
    if (auto holder = from.schedulings().find(testbed->holder());
        holder && holder->metadata.uid == grid::scheduling_uid_of_hold(testbed->hold())) {
        out.holder = std::move(holder);
    }
    out.testbed = std::move(testbed);
    return out;
}

view observe(const caches& from, testbed_pointer testbed) {
    auto out = observe_testbed(from, std::move(testbed));
    const auto& places = *out.index_of(*out.testbed).places;
    for (const auto& [key, other] : from.testbeds().all()) {
        if (other->metadata.uid == out.testbed->metadata.uid) continue;
        out.indexes[other.get()] = from.roster().index_of(key);
        out.others.push_back(other);
    }
    for (const auto& [name, member] : places.members()) out.nodes.try_emplace(name);
    for (const auto& [key, node] : from.nodes().all()) {
        if (!concerns(*node, *out.testbed, places)) continue;
        auto& entry = out.nodes[key.name];
        entry = pods_on(node, from);
        find_doubled(entry, from, out.others);
    }
    const auto key = out.testbed->metadata.key().text();
    out.pods = from.pods().by_index("ghosts", key);
    append(out.pods, from.pods().by_index("guests", key));
    tidy(out.pods);
    out.jobs = from.jobs().by_index("testbed", key);
    return out;
}

view observe_node(const caches& from, const view& whole, const std::string& node,
                  const grid::places& places) {
    view out;
    out.testbed = whole.testbed;
    out.ghost_image = whole.ghost_image;
    out.all_namespaces = whole.all_namespaces;
    out.slices_served = whole.slices_served;
    out.holder = whole.holder;
    out.given = whole.given;
    out.indexes = whole.indexes;
    const auto& testbed = *out.testbed;
    const auto key = testbed.metadata.key();
    const auto found = from.nodes().find({"", node});

    // These are the Testbeds that have to do with the node.
    auto keys = from.roster().of_node(node, found.get());
    auto here = found ? pods_on(found, from) : node_view();
    for (const auto* list : {&here.pods, &here.ghosts_at_the_door}) {
        for (const auto& pod : *list) {
            if (auto of = pod->testbed(); !of.name.empty()) keys.insert(std::move(of));
        }
    }
    for (const auto& each : keys) {
        auto other = from.find_testbed(each);
        if (!other || other->metadata.uid == testbed.metadata.uid) continue;
        out.indexes[other.get()] = from.roster().index_of(each);
        out.others.push_back(std::move(other));
    }

    if (places.member(node)) out.nodes.try_emplace(node);
    if (found && concerns(*found, testbed, places)) {
        find_doubled(here, from, out.others);
        out.nodes[node] = std::move(here);
    }

    const auto at_home = in_testbed(key, "@", node);
    out.pods = from.pods().by_index("home", at_home);
    const auto slots = places.on(node);
    for (const auto& slot : slots) {
        const auto place = in_testbed(key, "#", std::to_string(slot.position));
        append(out.jobs, from.jobs().by_index("ordered", place));
        append(out.jobs, from.jobs().by_index("recorded", place));
    }
    for (const auto& pod : out.pods) {
        if (pod->is_ghost()) continue;
        append(out.jobs, from.jobs().by_index("uid", pod->metadata.uid));
        if (auto job = from.jobs().find(
                {pod->metadata.namespace_, std::string(pod->metadata.label(model::names::job))})) {
            out.jobs.push_back(std::move(job));
        }
    }
    tidy(out.jobs);
    // These are the pods recorded for its slots, and the jobs that also order a slot for which one
    // of these pods is recorded.
    std::set<int> positions;
    for (const auto& slot : slots) positions.insert(slot.position);
    std::vector<job_pointer> rivals;
    for (const auto& job : out.jobs) {
        std::map<std::string_view, int> times;
        for (const auto& entry : job->status.placements) ++times[entry.pod_uid];
        std::set<std::string_view> twice;
        for (const auto& entry : job->status.placements) {
            if (!positions.contains(entry.slot)) continue;
            auto pod = from.pods().find({job->metadata.namespace_, entry.pod_name});
            if (pod && pod->testbed() == key) out.pods.push_back(std::move(pod));
            if (times[entry.pod_uid] > 1) twice.insert(entry.pod_uid);
        }
        for (const auto& entry : job->status.placements) {
            if (!twice.contains(entry.pod_uid)) continue;
            const auto place = in_testbed(key, "#", std::to_string(entry.slot));
            append(rivals, from.jobs().by_index("ordered", place));
        }
    }
    append(out.jobs, std::move(rivals));
    tidy(out.pods);
    tidy(out.jobs);
    // Jobs of other Testbeds are not part of the view.
    std::erase_if(out.jobs, [&](const auto& job) {
        return testbed_of(*job) != key && grid::placed_in(*job) != key;
    });
    return out;
}

}  // namespace esi::testbed
