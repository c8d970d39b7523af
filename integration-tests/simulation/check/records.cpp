#include "check/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/application_kinds.h"
#include "grid/places.h"
#include "grid/rights.h"
#include "model/names.h"

namespace esi::simulation::checks {

namespace names = model::names;

namespace {

constexpr std::int64_t one_pod = 1000;

/// The layout's nodes in the order of their ids.
std::vector<const model::layout_node*> in_order(const model::testbed_layout& layout) {
    std::vector<const model::layout_node*> out;
    for (const auto& node : layout.nodes) out.push_back(&node);
    std::ranges::sort(out, [](const auto* a, const auto* b) {
        return std::tie(a->id, a->name) < std::tie(b->id, b->name);
    });
    return out;
}

template <class Record>
void drop_from(std::map<Record, std::set<std::string>>& map, const Record& key,
               const std::string& uid) {
    auto found = map.find(key);
    if (found == map.end()) return;
    found->second.erase(uid);
    if (found->second.empty()) map.erase(found);
}

}  // namespace

bool is_cancelled(const model::scheduling& who, const model::object_key& job) {
    return std::ranges::any_of(who.spec.cancelled_jobs, [&](const auto& each) {
        return grid::in_namespace(each, who.metadata.namespace_) == job;
    });
}

std::string place::text() const {
    return fmt::format("slot {} on {} of Testbed {}", index, node, testbed.text());
}

bool pod_record::stranger() const {
    return !pod->is_ghost() && pod->metadata.label(names::testbed).empty() && pod->run().empty();
}

const testbed_record* records::testbed(const key& name) const {
    auto found = testbeds.find(name);
    return found == testbeds.end() ? nullptr : &found->second;
}

const job_record* records::job(const key& name) const {
    auto found = jobs.find(name);
    return found == jobs.end() ? nullptr : &found->second;
}

const scheduling_record* records::scheduling_by_uid(std::string_view uid) const {
    for (const auto& [name, record] : schedulings) {
        if (record.scheduling->metadata.uid == uid) return &record;
    }
    return nullptr;
}

const job_record* records::job_of(const model::pod& pod) const {
    return job({pod.metadata.namespace_, std::string(pod.metadata.label(names::job))});
}

std::string_view records::job_uid(const model::pod& pod) const {
    const auto* found = job_of(pod);
    return found ? std::string_view(found->job->metadata.uid) : std::string_view();
}

/// Another job may bear the name by now, made within the second in which the pod was.
bool records::has_its_job(const pod_record& pod) const {
    const auto* job = job_of(*pod.pod);
    return job && job->created <= pod.created;
}

bool pod_record::only_kept() const {
    return pod->metadata.deleting() && !may_run() && !pod->metadata.finalizers.empty();
}

bool records::on_record(const pod_record& pod) const {
    if (!pod.may_run()) return false;
    const auto& uid = pod.pod->metadata.uid;
    if (has_its_job(pod)) {
        const auto found = recorded.lower_bound({uid, std::numeric_limits<int>::min()});
        return found != recorded.end() && found->first == uid;
    }
    const auto* bed = testbed(pod.pod->testbed());
    if (!bed) return false;
    const auto rows = rows_of(*bed->testbed);
    return std::ranges::find(rows, uid, &model::slot_status::pod_u_id) != rows.end();
}

std::vector<model::slot_status> records::rows_of(const model::testbed& of) const {
    if (!grid::has_slices(of)) return of.status.slots;
    std::vector<grid::slice_pointer> all;
    for (const auto& [name, slice] : slices) all.push_back(slice);
    const grid::slice_list believed(of, all);
    std::vector<model::slot_status> out;
    for (const auto& slot : grid::slots_of(*of.status.layout)) {
        auto row = grid::row_of_line(believed.text_at(slot.position), slot);
        if (row) out.push_back(std::move(*row));
    }
    return out;
}

bool records::keeps_its_slot(const pod_record& pod) const {
    return on_record(pod) || (pod.in_its_slot() && has_its_job(pod));
}

std::string_view records::testbed_uid(const key& name) const {
    const auto* found = testbed(name);
    return found ? std::string_view(found->testbed->metadata.uid) : std::string_view();
}

std::vector<const testbed_record*> records::testbeds_on(std::string_view node) const {
    std::vector<const testbed_record*> out;
    for (const auto& [name, record] : testbeds) {
        const auto& layout = record.testbed->status.layout;
        if (layout && std::ranges::find(layout->nodes, node, &model::layout_node::name) !=
                          layout->nodes.end()) {
            out.push_back(&record);
        }
    }
    return out;
}

model::amounts records::taken(std::string_view node, std::string_view except) const {
    model::amounts out;
    auto there = on_node.find(node);
    if (there == on_node.end()) return out;
    for (const auto& uid : there->second) {
        if (uid == except) continue;
        model::add(out, demand_of(*pods.at(uid).pod));
    }
    return out;
}

void records::index(const pod_record& what) {
    const auto& uid = what.pod->metadata.uid;
    if (what.live() && what.pod->bound()) on_node[what.pod->node_name].insert(uid);
    if (!what.seat) return;
    if (what.ghost()) {
        ghosts_of[*what.seat].insert(uid);
    } else if (what.of_slot() && what.live()) {
        in_place[*what.seat].insert(uid);
    }
}

void records::unindex(const pod_record& what) {
    const auto& uid = what.pod->metadata.uid;
    if (what.pod->bound()) {
        auto there = on_node.find(what.pod->node_name);
        if (there != on_node.end()) there->second.erase(uid);
    }
    if (!what.seat) return;
    drop_from(ghosts_of, *what.seat, uid);
    drop_from(in_place, *what.seat, uid);
}

std::optional<place> place_of(const model::testbed& testbed, int position) {
    const auto& layout = testbed.status.layout;
    if (!layout || position < 0 || position >= grid::count_of_slots(*layout)) return std::nullopt;
    if (!layout->places.empty()) {
        const auto here = layout->places.begin() + position;
        const auto index = std::count(layout->places.begin(), here, *here);
        return place{testbed.metadata.key(), layout->nodes[static_cast<std::size_t>(*here)].name,
                     static_cast<int>(index)};
    }
    const auto nodes = in_order(*layout);
    const auto at = static_cast<std::size_t>(position);
    return place{testbed.metadata.key(), nodes[at % nodes.size()]->name,
                 static_cast<int>(at / nodes.size())};
}

std::optional<int> position_of(const model::testbed& testbed, const place& where) {
    const auto& layout = testbed.status.layout;
    if (!layout || where.index < 0) return std::nullopt;
    for (int position = 0; position < std::ssize(layout->places); ++position) {
        if (place_of(testbed, position) == where) return position;
    }
    if (where.index >= layout->slots_per_node) return std::nullopt;
    const auto nodes = in_order(*layout);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i]->name == where.node) {
            return static_cast<int>(static_cast<std::size_t>(where.index) * nodes.size() + i);
        }
    }
    return std::nullopt;
}

model::amounts size_of(const model::testbed& testbed, const place& where) {
    const auto& layout = *testbed.status.layout;
    auto out = model::to_amounts(layout.resources_per_slot);
    if (const auto position = position_of(testbed, where); position && !layout.places.empty()) {
        int before = 0;
        for (const auto& shape : layout.shapes) {
            if (*position >= before && *position < before + shape.count) {
                out = model::to_amounts(shape.resources);
            }
            before += shape.count;
        }
    }
    out["pods"] = one_pod;
    return out;
}

bool is_of_coordinator(const model::testbed_layout& layout, int position) {
    int before = 0;
    for (const auto& shape : layout.shapes) {
        if (position >= before && position < before + shape.count) {
            return shape.role == model::slot_role::coordinator;
        }
        before += shape.count;
    }
    return false;
}

int workers_of(const model::testbed_layout& layout) {
    int out = grid::count_of_slots(layout);
    for (const auto& shape : layout.shapes) {
        if (shape.role == model::slot_role::coordinator) out -= shape.count;
    }
    return out;
}

const model::owner_reference* maker_of(const model::testbed& testbed) {
    const auto* owner = testbed.metadata.controller_owner();
    return owner && owner->kind == "Scheduling" ? owner : nullptr;
}

bool coordinates(const model::pod& pod) {
    return std::ranges::any_of(application_kinds(), [&](const auto& kind) {
        return pod.metadata.label(kind.coordinator.label) == kind.coordinator.value;
    });
}

bool keeps_ghosts_away(const model::node& node) {
    return std::ranges::any_of(node.taints, [](const auto& taint) {
        return taint.effect != "PreferNoSchedule" && taint.key != names::taint &&
               !taint.key.starts_with("node.kubernetes.io/");
    });
}

model::amounts demand_of(const model::pod& pod) {
    auto out = pod.requests;
    out["pods"] = one_pod;
    return out;
}

bool fits(const model::amounts& what, const model::amounts& free) {
    return std::ranges::all_of(what, [&](const auto& entry) {
        if (entry.second <= 0) return true;
        auto found = free.find(entry.first);
        return found != free.end() && found->second >= entry.second;
    });
}

std::string show(const model::amounts& what) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : what) {
        parts.push_back(fmt::format("{} {}", name, model::show(name, amount)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

model::object_key testbed_of(const model::scheduling& scheduling) {
    if (scheduling.spec.claim) return scheduling.metadata.key();
    auto out = scheduling.spec.testbed;
    if (out.namespace_.empty()) out.namespace_ = scheduling.metadata.namespace_;
    return out;
}

model::object_key testbed_of(const model::batchjob& job) {
    auto out =
        job.spec.creation_request ? job.spec.creation_request->testbed_name : model::object_key();
    if (out.namespace_.empty()) out.namespace_ = job.metadata.namespace_;
    return out;
}

bool has_right(const model::batchjob& job, const model::testbed& testbed) {
    const auto& order = job.spec.creation_request;
    return order && !testbed.hold().empty() && testbed_of(job) == testbed.metadata.key() &&
           grid::hold_of_run(order->run) == testbed.hold() && !model::is_final(job.status.state);
}

const model::taint* taint_of(const model::node& node) {
    auto found = std::ranges::find_if(node.taints, [](const auto& each) {
        return each.key == model::names::taint && each.effect == "NoSchedule";
    });
    return found == node.taints.end() ? nullptr : &*found;
}

namespace {

/// It has the node in its layout, and is not about to go.
bool uses(const model::testbed& testbed, const model::node& node) {
    if (!testbed.status.layout) return false;
    if (testbed.metadata.deleting() && testbed.hold().empty()) return false;
    return std::ranges::any_of(testbed.status.layout->nodes, [&](const auto& member) {
        return member.name == node.metadata.name && member.uid == node.metadata.uid;
    });
}

}  // namespace

bool records::wants_taint(const model::testbed& testbed, const model::node& node) const {
    if (testbed.spec.isolation != "Taint" || !uses(testbed, node)) return false;
    return std::ranges::none_of(testbeds, [&](const auto& entry) {
        const auto& other = *entry.second.testbed;
        return other.spec.isolation != "Taint" &&
               other.metadata.namespace_ != testbed.metadata.namespace_ &&
               model::older(other.metadata, testbed.metadata) && uses(other, node);
    });
}

bool records::is_filled(const place& where) const {
    if (in_place.contains(where)) return true;
    const auto there = ghosts_of.find(where);
    return there != ghosts_of.end() && std::ranges::any_of(there->second, [&](const auto& uid) {
               return pods.at(uid).pod->bound();
           });
}

bool records::elders_are_whole(const model::testbed& than, const std::string& node) const {
    const auto found = nodes.find(node);
    if (found == nodes.end() || !found->second.node) return false;
    const auto& labels = found->second.node->metadata.labels;
    return std::ranges::all_of(testbeds, [&](const auto& entry) {
        const auto& elder = *entry.second.testbed;
        if (elder.spec.claim || !model::older(elder.metadata, than.metadata)) return true;
        const auto& layout = elder.status.layout;
        std::size_t there = 0;
        for (const auto& slot : layout ? grid::slots_of(*layout) : std::vector<grid::slot>()) {
            if (slot.node != node) continue;
            ++there;
            if (!is_filled({entry.first, node, slot.index})) return false;
        }
        return there > 0 || !labels.contains(elder.spec.node_label);
    });
}

const json& at(const json& from, std::initializer_list<std::string_view> path) {
    static const json none;
    const json* here = &from;
    for (auto name : path) {
        if (!here->is_object()) return none;
        auto found = here->find(name);
        if (found == here->end()) return none;
        here = &*found;
    }
    return *here;
}

}  // namespace esi::simulation::checks
