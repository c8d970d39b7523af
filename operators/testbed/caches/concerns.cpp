// The part of the caches (caches.h) that says what a change concerns: which nodes of which Testbeds
// have to be computed again. If a node is forgotten here, its state is out of date until another
// change concerns it; the simulation compares after each reconcile.
#include <algorithm>
#include <functional>
#include <ranges>

#include "testbed/caches/caches.h"
#include "testbed/room/layout.h"

namespace esi::testbed {

namespace {

/// Compares what a Testbed's slots depend on; a node's heartbeat changes none of it.
bool same_for_slots(const model::node& a, const model::node& b) {
    return a.metadata.uid == b.metadata.uid && a.metadata.labels == b.metadata.labels &&
           a.metadata.deleting() == b.metadata.deleting() && a.allocatable == b.allocatable &&
           a.taints == b.taints && a.unschedulable == b.unschedulable && a.ready == b.ready;
}

/// Compares what a pod changes for the room on its node, also if it is not in a slot there.
bool same_for_room(const model::pod& a, const model::pod& b) {
    return a.node_name == b.node_name && a.live() == b.live() && a.requests == b.requests &&
           a.metadata.uid == b.metadata.uid && a.metadata.labels == b.metadata.labels &&
           a.metadata.annotations == b.metadata.annotations &&
           a.metadata.owner_references == b.metadata.owner_references &&
           a.metadata.deleting() == b.metadata.deleting() &&
           a.nominated_node_name == b.nominated_node_name;
}

bool same_for_slots(const model::batchjob& a, const model::batchjob& b) {
    return a.metadata.uid == b.metadata.uid && a.spec.creation_request == b.spec.creation_request &&
           a.status.placements == b.status.placements && a.status.state == b.status.state &&
           a.metadata.deleting() == b.metadata.deleting() &&
           grid::placed_in(a) == grid::placed_in(b);
}

/// Compares what decides the state of each slot, its own and that of other Testbeds on the nodes.
bool same_for_slots(const model::testbed& a, const model::testbed& b) {
    // Another Testbed takes over from a deleted one when the hold is removed.
    const bool goes = a.metadata.deleting();
    return a.metadata.generation == b.metadata.generation && a.metadata.uid == b.metadata.uid &&
           a.metadata.deleting() == b.metadata.deleting() && (!goes || a.hold() == b.hold()) &&
           a.metadata.finalizers == b.metadata.finalizers &&
           a.metadata.undecodable == b.metadata.undecodable && a.status.layout == b.status.layout;
}

std::string door_or_node(const model::pod& pod) {
    return pod.bound() ? pod.node_name : std::string(door_of(pod));
}

/// Calls `use` with each element that the other list does not have at the same place.
void each_difference(const auto& was, const auto& is, auto same, auto use) {
    for (std::size_t i = 0; i < std::max(was.size(), is.size()); ++i) {
        if (i < was.size() && i < is.size() && same(was[i], is[i])) continue;
        if (i < was.size()) use(was[i]);
        if (i < is.size()) use(is[i]);
    }
}

}  // namespace

void caches::listen() {
    testbeds_.items().on_change([this](const kube::change<model::testbed>& what) {
        const auto key = (what.after ? what.after : what.before)->metadata.key();
        roster_.put(key, what.after, slices_of(key));
        if (listener_) testbed_changed(what);
    });
    slices_.items().on_change([this](const kube::change<model::slot_slice>& what) {
        std::set<model::object_key> testbeds;
        for (const auto& side : {what.before, what.after}) {
            if (side) testbeds.insert(side->testbed());
        }
        for (const auto& key : testbeds) roster_.put_slices(key, slices_of(key));
        if (listener_) slice_changed(what);
    });
    nodes_.items().on_change([this](const kube::change<model::node>& what) {
        if (!listener_) return;
        node_changed(what);
        listener_->node_seen(what);
    });
    pods_.items().on_change([this](const kube::change<model::pod>& what) {
        if (!listener_) return;
        pod_changed(what);
        listener_->pod_seen(what);
    });
    jobs_.items().on_change([this](const kube::change<model::batchjob>& what) {
        if (listener_) job_changed(what);
    });
    schedulings_.items().on_change([this](const kube::change<model::scheduling>& what) {
        if (listener_) scheduling_changed(what);
    });
}

void caches::concern(const roster_keys& of, std::string_view node) {
    for (const auto& key : of) listener_->node_changed(key, node);
}

void caches::concern_node(const std::string& name) {
    concern(roster_.of_node(name, nodes().find({"", name}).get()), name);
}

void caches::concern_slots(const model::object_key& testbed, const std::vector<int>& positions) {
    const auto index = roster_.index_of(testbed);
    if (!index) return;
    for (const int position : positions) {
        if (const auto place = index->places->at(position)) {
            listener_->node_changed(testbed, place->node);
        }
    }
}

void caches::concern_records(const model::object_key& testbed,
                             const std::vector<std::string_view>& uids, bool of_all_guests) {
    std::set<std::string> concerned;
    const auto add = [&](const pod_pointer& pod) {
        concerned.insert(pod->node_name);
        concerned.emplace(home_of(*pod));
    };
    if (of_all_guests) pods().each_by_index("guests", testbed.text(), add);
    // The index has neither ghosts nor pods that are gone.
    for (const auto uid : uids) pods().each_by_index("uid", uid, add);
    for (const auto& name : concerned) {
        listener_->node_changed(testbed, name);
        concern_node(name);
    }
}

void caches::concern_rows(const model::testbed& before, const model::testbed& after) {
    const auto& was = before.status.slots;
    const auto& is = after.status.slots;
    std::vector<std::string_view> uids;
    each_difference(
        was, is,
        [](const auto& a, const auto& b) {
            return a.position == b.position && a.pod_u_id == b.pod_u_id;
        },
        [&](const auto& row) { uids.push_back(row.pod_u_id); });
    // Without rows other Testbeds believe what the Testbed's pods say.
    concern_records(
        after.metadata.key(), uids,
        was.empty() != is.empty() || grid::has_slices(before) != grid::has_slices(after));
}

void caches::slice_changed(const kube::change<model::slot_slice>& what) {
    std::set<model::object_key> testbeds;
    for (const auto& side : {what.before, what.after}) {
        if (!side) continue;
        testbeds.insert(side->testbed());
        listener_->slice_changed(side->testbed(), side->spec.first);
    }
    for (const auto& key : testbeds) {
        const auto testbed = find_testbed(key);
        if (!testbed) continue;
        const auto rows_of = [&](const grid::slice_pointer& side) -> std::span<const std::string> {
            if (!side || !grid::is_believed(*side, *testbed)) return {};
            return side->spec.rows;
        };
        const auto was = rows_of(what.before);
        const auto is = rows_of(what.after);
        std::vector<std::string_view> uids;
        each_difference(was, is, std::equal_to<>(), [&](const std::string& text) {
            const auto line = grid::read_slot_line(text);
            if (line && !line->record().empty()) uids.push_back(line->record());
        });
        // Without the row other Testbeds believe what the pod says.
        concern_records(key, uids, was.size() != is.size());
    }
}

void caches::testbed_changed(const kube::change<model::testbed>& what) {
    const auto& some = what.after ? *what.after : *what.before;
    const auto key = some.metadata.key();
    listener_->report_changed(key);
    if (what.before && what.after && same_for_slots(*what.before, *what.after)) {
        if (what.before->hold() != what.after->hold() ||
            what.before->holder() != what.after->holder()) {
            listener_->hold_changed(key);
        }
        concern_rows(*what.before, *what.after);
        return;
    }
    listener_->all_changed(key);
    // Testbeds on common nodes count each other's demand, and each other's taints.
    for (const auto& side : {what.before, what.after}) {
        if (!side) continue;
        std::set<std::string> concerned;
        if (side->status.layout) {
            for (const auto& member : side->status.layout->nodes) concerned.insert(member.name);
        }
        for (const auto& node : nodes().by_index("taint", side->metadata.uid)) {
            concerned.insert(node->metadata.name);
        }
        for (const auto& index : {"ghosts", "guests"}) {
            pods().each_by_index(index, key.text(), [&](const pod_pointer& pod) {
                if (auto on = door_or_node(*pod); !on.empty()) concerned.insert(std::move(on));
            });
        }
        for (const auto& [node_key, node] : nodes().all()) {
            if (node->metadata.labels.contains(side->spec.node_label)) {
                concerned.insert(node_key.name);
            }
        }
        for (const auto& name : concerned) concern_node(name);
    }
}

void caches::node_changed(const kube::change<model::node>& what) {
    if (what.before && what.after && same_for_slots(*what.before, *what.after)) return;
    const auto& name = (what.after ? what.after : what.before)->metadata.name;
    auto concerned = roster_.of_node(name, what.after.get());
    if (what.before) concerned.merge(roster_.of_node(name, what.before.get()));
    concern(concerned, name);
    const bool same_node =
        what.before && what.after && what.before->metadata.uid == what.after->metadata.uid;
    for (const auto& side : {what.before, what.after}) {
        if (!side) continue;
        const auto& other_side = side == what.before ? what.after : what.before;
        for (const auto& [label, value] : side->metadata.labels) {
            if (!roster_.has_label(label)) continue;
            const auto& others = same_node ? other_side->metadata.labels : side->metadata.labels;
            const auto same = others.find(label);
            if (same_node && same != others.end() && same->second == value) continue;
            for (const auto& key : roster_.with_label(label)) listener_->labels_changed(key);
            // A number that is duplicate now, or no longer is, decides what an older Testbed needs
            // on another node.
            const auto id = parse_node_id(value);
            if (!id) continue;
            for (const auto& other : nodes().by_index("number", numbered(label, *id))) {
                concern_node(other->metadata.name);
            }
        }
    }
}

void caches::pod_changed(const kube::change<model::pod>& what) {
    for (const auto& side : {what.before, what.after}) {
        if (!side || testbed_key_of(*side).empty()) continue;
        const auto key = side->testbed();
        listener_->node_changed(key, home_of(*side));
        if (side->is_ghost()) continue;
        listener_->pod_changed(key, side->metadata.key());
        for (const auto& job : jobs().by_index("uid", side->metadata.uid)) {
            std::vector<int> positions;
            for (const auto& entry : job->status.placements) {
                if (entry.pod_uid == side->metadata.uid) positions.push_back(entry.slot);
            }
            concern_slots(key, positions);
        }
    }
    if (what.before && what.after && same_for_room(*what.before, *what.after)) return;
    for (const auto& side : {what.before, what.after}) {
        if (!side) continue;
        const auto name = door_or_node(*side);
        if (!name.empty()) concern_node(name);
    }
}

void caches::concern_job(const model::batchjob& job) {
    const auto& order = job.spec.creation_request;
    const auto ordered = testbed_of(job);
    if (order) {
        listener_->job_changed(ordered, job.metadata.key());
        concern_slots(ordered, order->slot_ids);
        for (const auto& pod : pods().by_index("run", order->run)) {
            listener_->pod_changed(pod->testbed(), pod->metadata.key());
        }
        // Other jobs that order one of these slots may have one pod on record for several slots.
        for (const int position : order->slot_ids) {
            const auto place = in_testbed(ordered, "#", std::to_string(position));
            for (const auto& other : jobs().by_index("ordered", place)) {
                if (other->metadata.key() == job.metadata.key()) continue;
                for (const auto& entry : other->status.placements) {
                    concern_slots(ordered, {entry.slot});
                }
            }
        }
    }
    std::vector<int> positions;
    for (const auto& entry : job.status.placements) {
        positions.push_back(entry.slot);
        for (const auto& pod : pods().by_index("uid", entry.pod_uid)) {
            listener_->node_changed(pod->testbed(), home_of(*pod));
        }
    }
    if (const auto placed = grid::placed_in(job); !placed.name.empty()) {
        concern_slots(placed, positions);
    }
    if (order) concern_slots(ordered, positions);
    for (const auto& pod : pods().by_index("job", job.metadata.key().text())) {
        listener_->node_changed(pod->testbed(), home_of(*pod));
        listener_->pod_changed(pod->testbed(), pod->metadata.key());
    }
}

void caches::job_changed(const kube::change<model::batchjob>& what) {
    if (what.before && what.after && same_for_slots(*what.before, *what.after)) return;
    for (const auto& side : {what.before, what.after}) {
        if (side) concern_job(*side);
    }
}

void caches::scheduling_changed(const kube::change<model::scheduling>& what) {
    const auto key = (what.after ? what.after : what.before)->metadata.key();
    const auto concerned = roster_.held_by(key);
    if (concerned.empty()) return;
    if (!what.before || !what.after || what.before->metadata.uid != what.after->metadata.uid) {
        for (const auto& testbed : concerned) listener_->hold_changed(testbed);
        return;
    }
    const auto& was = what.before->status.assignments;
    const auto& is = what.after->status.assignments;
    if (was == is) return;
    for (const auto& testbed : concerned) {
        for (const auto& [from, in] : {std::pair(&was, &is), std::pair(&is, &was)}) {
            for (std::size_t i = 0; i < from->size(); ++i) {
                const auto& each = (*from)[i];
                if (i < in->size() && (*in)[i] == each) continue;
                concern_slots(testbed, each.slot_ids);
                if (auto job = jobs().find(each.job.key())) concern_job(*job);
            }
        }
    }
}

}  // namespace esi::testbed
