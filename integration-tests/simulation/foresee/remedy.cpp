#include "foresee/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/fields.h"
#include "grid/places.h"
#include "model/conditions.h"
#include "model/json.h"
#include "model/names.h"
#include "plan/cast.h"

namespace esi::simulation::foresee {

namespace {

namespace why = model::condition_reason;
namespace slot_why = answers::blocking_reason;
namespace pod_why = answers::waiting_reason;

happening deed(std::string what, json with) {
    return {milliseconds(0), std::move(what), std::move(with)};
}

json named_object(std::string_view plural, const object_key& key) {
    json out{{"kind", plural}, {"name", key.name}};
    if (!key.namespace_.empty()) out["ns"] = key.namespace_;
    return out;
}

happening removal(const kube::resource_type& type, const object_key& key, bool at_once = false) {
    auto with = named_object(type.plural, key);
    if (at_once) with["grace"] = 0;
    return deed("delete", std::move(with));
}

happening change(const kube::resource_type& type, const object_key& key, json patch) {
    auto with = named_object(type.plural, key);
    with["patch"] = std::move(patch);
    return deed("patch", std::move(with));
}

object_key key_of(const answers::reference& what) { return {what.namespace_, what.name}; }

class helper {
public:
    helper(const named& what, const waiting& who, const picture& seen, const plan& made_of)
        : reason_(what.reason), of_(what.what), who_(who), seen_(seen), made_of_(made_of) {}

    remedy find() {
        using way = void (helper::*)();
        static const std::map<std::string_view, way> all{
            {why::suspended, &helper::resume},
            {why::testbed_held, &helper::release_holder},
            {why::job_held, &helper::release_holder},
            {why::older_first, &helper::release_holder},
            {why::priority_first, &helper::release_holder},
            {why::wait_cycle, &helper::leave_the_cycle},
            {why::testbed_missing, &helper::make_testbed},
            {why::testbed_owned, &helper::release_maker},
            {why::testbed_empty, &helper::label_a_node},
            {why::not_allowed, &helper::allow},
            {why::job_missing, &helper::make_job},
            {why::job_failed, &helper::reset_job},
            {why::job_not_ready, &helper::wait},
            {why::plan_empty, &helper::write_plan},
            {why::waits_for_claim, &helper::make_room_for_claim},
            {named_reason::problem, &helper::write_plan},
            {slot_why::slot_of_job, &helper::cancel_holder},
            {slot_why::job_before, &helper::cancel_it},
            {slot_why::slot_in_error, &helper::mend_nodes},
            {slot_why::slot_occupied, &helper::remove_occupants},
            {slot_why::ghost_missing, &helper::make_room},
            {pod_why::not_bound, &helper::make_room},
            {pod_why::not_bound_in_time, &helper::make_room},
            {pod_why::surplus, &helper::remove_one_beside},
            {pod_why::slot_in_error, &helper::mend_nodes},
            {pod_why::slot_occupied, &helper::remove_occupants}};
        const auto found = all.find(reason_);
        if (found == all.end()) {
            wait();
        } else {
            (this->*found->second)();
        }
        return std::move(out_);
    }

private:
    void wait() { out_.by_itself = true; }
    void add(happening what) { out_.deeds.push_back(std::move(what)); }

    void resume() {
        add(change(kinds::scheduling, key_of(of_.what), {{"spec", {{"suspend", nullptr}}}}));
    }

    void release_holder() {
        const bool is_itself = of_.what.kind == "Scheduling";
        if (!of_.holder && !is_itself) {
            return add(deed("take-hold", {{"ns", of_.what.namespace_}, {"name", of_.what.name}}));
        }
        const auto holder = key_of(is_itself ? of_.what : *of_.holder);
        const auto found = seen_.scheduling(holder);
        // One that is gone, or goes, lets go by itself.
        if (!found || found->metadata.deleting()) return wait();
        add(removal(kinds::scheduling, holder));
    }

    void leave_the_cycle() {
        const auto self = seen_.scheduling(who_.scheduling);
        for (const auto& each : self->status.waiting_for_schedulings) {
            if (each != who_.scheduling) return add(removal(kinds::scheduling, each));
        }
        wait();
    }

    /// The object of that name as the plan makes it.
    const json* made(std::string_view kind, const object_key& key) const {
        for (const auto& each : made_of_.workload) {
            const auto* object = fields::find(each.with, {"object"});
            if (!object || fields::text(*object, {"kind"}) != kind) continue;
            if (fields::text(*object, {"metadata", "name"}) == key.name &&
                fields::text(*object, {"metadata", "namespace"}) == key.namespace_) {
                return object;
            }
        }
        return nullptr;
    }

    void make_testbed() {
        const auto key = key_of(of_.what);
        json object;
        if (const auto* as_made = made("Testbed", key)) {
            object = *as_made;
        } else {
            plan one;
            cast all(one);
            all.testbed(bed{key.name});
            object = one.workload.back().with.at("object");
            object["metadata"]["namespace"] = key.namespace_;
        }
        if (key.namespace_ != who_.scheduling.namespace_) {
            object["spec"]["allowedNamespaces"] = json::array({who_.scheduling.namespace_});
        }
        add(deed("create", {{"object", std::move(object)}}));
    }

    /// The claim of another Scheduling is never anybody else's: its name becomes free with it.
    void release_maker() {
        const auto key = key_of(of_.what);
        const auto claim = seen_.testbed(key);
        const auto* maker = claim ? grid::maker_of(*claim) : nullptr;
        const auto found = maker ? seen_.scheduling({key.namespace_, maker->name}) : nullptr;
        if (!found || found->metadata.deleting()) return wait();
        add(removal(kinds::scheduling, {key.namespace_, maker->name}));
    }

    void make_job() {
        const auto key = key_of(of_.what);
        if (const auto* object = made("BatchJob", key)) {
            return add(deed("create", {{"object", *object}}));
        }
        plan one;
        cast all(one);
        all.job({key.namespace_, key.name}, 5);
        add(deed("create", one.workload.back().with));
    }

    void reset_job() {
        const auto key = key_of(of_.what);
        if (of_.holder) release_holder();
        out_.by_itself = false;
        const auto job = seen_.job(key);
        add(deed("reset", {{"ns", key.namespace_},
                           {"name", key.name},
                           {"value", "freed-" + (job ? job->metadata.resource_version : "")}}));
    }

    void label_a_node() {
        const auto bed = seen_.testbed(key_of(of_.what));
        if (!bed) return wait();
        add(deed("node-relabel",
                 {{"name", "plain-0"}, {"label", bed->spec.node_label}, {"value", "77"}}));
    }

    void allow() {
        const auto key = key_of(of_.what);
        if (of_.what.kind != "Testbed") return cancel(key);
        if (!seen_.testbed(key)) return make_testbed();
        add(change(kinds::testbed, key,
                   {{"spec", {{"allowedNamespaces", json::array({who_.scheduling.namespace_})}}}}));
    }

    /// Another plan of one job that nobody has.
    void write_plan() {
        const auto self = seen_.scheduling(who_.scheduling);
        for (const auto& [key, job] : seen_.all().jobs) {
            if (key.namespace_ != who_.scheduling.namespace_ || job->spec.active_scheduling ||
                job->status.state != model::job_state::ready || job->metadata.deleting()) {
                continue;
            }
            json spec{
                {"queueBased", json::array({{{"namespace", key.namespace_}, {"name", key.name}}})}};
            if (self->spec.claim) {
                // A claim is not changed.
                spec["claim"] = made("Scheduling", who_.scheduling)->at("spec").at("claim");
            } else {
                const auto testbed = grid::testbed_of(*self);
                spec["testbed"] = {{"namespace", testbed.namespace_}, {"name", testbed.name}};
            }
            auto with = named_object(kinds::scheduling.plural, who_.scheduling);
            with["type"] = "json";
            with["patch"] =
                json::array({{{"op", "replace"}, {"path", "/spec"}, {"value", std::move(spec)}}});
            return add(deed("patch", std::move(with)));
        }
        out_.impossible = true;
    }

    void cancel(const object_key& job) {
        const auto self = seen_.scheduling(who_.scheduling);
        json list = json::array();
        for (const auto& each : self->spec.cancelled_jobs) {
            list.push_back(
                {{"namespace", grid::in_namespace(each, who_.scheduling.namespace_).namespace_},
                 {"name", each.name}});
        }
        list.push_back({{"namespace", job.namespace_}, {"name", job.name}});
        add(change(kinds::scheduling, who_.scheduling, {{"spec", {{"cancelledJobs", list}}}}));
    }
    void cancel_holder() { cancel(key_of(*of_.holder)); }
    void cancel_it() { cancel(key_of(of_.what)); }

    void make_room_for_claim() {
        for (const auto& node : nodes()) restore(node);
        make_room();
    }

    std::set<std::string> nodes() const {
        std::set<std::string> out;
        if (of_.reason == why::waits_for_claim) {
            // Its places may be on any node.
            for (const auto& each : made_of_.workload) {
                if (fields::text(each.with, {"object", "kind"}) == "Node") {
                    out.emplace(fields::text(each.with, {"object", "metadata", "name"}));
                }
            }
            return out;
        }
        if (of_.what.kind == "Node") return {of_.what.name};
        const auto bed = seen_.testbed(key_of(of_.what));
        if (!bed || !bed->status.layout) return out;
        for (const auto& slot : grid::slots_of(*bed->status.layout)) {
            if (std::ranges::find(of_.slots, slot.position) != of_.slots.end())
                out.insert(slot.node);
        }
        return out;
    }

    /// The node as it was made.
    void restore(const std::string& node) {
        const auto* as_made = made("Node", {"", node});
        if (!as_made) return;
        add(deed("create", {{"object", *as_made}}));
        add(change(kinds::node, {"", node}, {{"spec", {{"unschedulable", nullptr}}}}));
        for (const auto& [label, value] : as_made->at("metadata").at("labels").items()) {
            add(deed("node-relabel", {{"name", node}, {"label", label}, {"value", value}}));
        }
        add(deed("node-shrink",
                 {{"name", node}, {"allocatable", as_made->at("status").at("allocatable")}}));
    }

    void mend_nodes() {
        for (const auto& node : nodes()) restore(node);
        leave_them_to_this_testbed();
        make_room();
    }

    /// An older Testbed has the room of nodes that both have.
    void leave_them_to_this_testbed() {
        const auto all = nodes();
        const auto own = grid::testbed_of(*seen_.scheduling(who_.scheduling));
        for (const auto& [key, other] : seen_.all().testbeds) {
            if (key == own || !other->status.layout) continue;
            const bool shared =
                std::ranges::any_of(other->status.layout->nodes,
                                    [&](const auto& each) { return all.contains(each.name); });
            if (!shared || other->metadata.deleting()) continue;
            const auto holder = other->holder();
            if (!holder.name.empty() && holder != who_.scheduling) {
                add(removal(kinds::scheduling, holder));
            }
            add(removal(kinds::testbed, key));
        }
    }

    /// Whoever sits on the nodes, or wants to, and is no pod of ESI.
    void make_room() {
        const auto all = nodes();
        for (const auto& [key, pod] : seen_.pods()) {
            if (pod->bound() && !all.contains(pod->node_name)) continue;
            if (pod->is_ghost() || pod->terminal()) continue;
            if (!pod->metadata.label(model::names::job).empty()) continue;
            add(removal(kinds::pod, key, true));
        }
        if (out_.deeds.empty()) wait();
    }

    void remove_occupants() {
        if (of_.what.kind == "Pod") return add(removal(kinds::pod, key_of(of_.what), true));
        // A pod of another namespace is not named: its slot is.
        const auto all = nodes();
        for (const auto& [key, pod] : seen_.pods()) {
            if (!all.contains(pod->node_name) || pod->is_ghost() || key == who_.pod) continue;
            if (key.namespace_ == who_.scheduling.namespace_) continue;
            if (pod->metadata.label(model::names::job).empty()) continue;
            add(removal(kinds::pod, key, true));
        }
        if (out_.deeds.empty()) wait();
    }

    void remove_one_beside() {
        const auto job = seen_.job(who_.job);
        if (!job) return wait();
        for (const auto& each : job->status.placements) {
            for (const auto& [key, pod] : seen_.pods()) {
                if (pod->metadata.uid == each.pod_uid && !pod->terminal()) {
                    return add(removal(kinds::pod, key, true));
                }
            }
        }
        wait();
    }

    const std::string& reason_;
    const answers::blocking& of_;
    const waiting& who_;
    const picture& seen_;
    const plan& made_of_;
    remedy out_;
};

}  // namespace

std::string waiting::text() const {
    switch (what) {
        case kind::plan:
            return "Scheduling " + scheduling.text();
        case kind::job:
            return fmt::format("BatchJob {} of Scheduling {}", job.text(), scheduling.text());
        case kind::pod:
            break;
    }
    return fmt::format("Pod {} of Scheduling {}", pod.text(), scheduling.text());
}

std::string named::text() const {
    std::string out = fmt::format("{} {} {}", reason, what.what.kind, key_of(what.what).text());
    if (what.holder) out += " of " + key_of(*what.holder).text();
    if (!what.slots.empty()) out += " slots " + grid::show_slot_list(what.slots);
    return out;
}

bool is_summary(std::string_view reason) {
    return reason == slot_why::too_few_free_slots || reason == slot_why::slots_not_free ||
           reason == slot_why::not_acquired;
}

remedy remedy_for(const named& what, const waiting& who, const picture& seen, const plan& made_of) {
    return helper(what, who, seen, made_of).find();
}

happening unrelated_deed(const std::vector<named>& in_the_way, const waiting& who,
                         const picture& seen, random_source& chance) {
    std::set<object_key> schedulings{who.scheduling};
    std::set<object_key> jobs;
    for (const auto& each : in_the_way) {
        if (each.what.holder) schedulings.insert(key_of(*each.what.holder));
        schedulings.insert(key_of(each.what.what));
        jobs.insert(key_of(each.what.what));
        if (each.what.holder) jobs.insert(key_of(*each.what.holder));
    }
    std::vector<happening> all;
    for (const auto& [key, one] : seen.all().schedulings) {
        if (!schedulings.contains(key)) all.push_back(removal(kinds::scheduling, key));
    }
    const auto self = seen.scheduling(who.scheduling);
    const auto wanted = model::encode(self->spec).dump() + model::encode(self->status).dump();
    for (const auto& [key, job] : seen.all().jobs) {
        const bool needed = wanted.find('"' + key.name + '"') != wanted.npos;
        if (!needed && !jobs.contains(key)) all.push_back(removal(kinds::batchjob, key));
    }
    all.push_back(deed("node-cordon", {{"name", "plain-0"}}));
    return chance.one_of(all);
}

}  // namespace esi::simulation::foresee
