#include "neighbours/kube/deployments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/fields.h"
#include "neighbours/controller_rows.h"

namespace esi::simulation {

namespace {

bool ready(const json& pod) {
    const auto* list = fields::find(pod, {"status", "conditions"});
    return list && list->is_array() && std::ranges::any_of(*list, [](const json& one) {
               return fields::text(one, {"type"}) == "Ready" &&
                      fields::text(one, {"status"}) == "True";
           });
}

struct row : controller_row {
    deployment wanted;
    std::string replica_set;
    std::string replica_set_uid;
    std::string hash;
};

}  // namespace

struct deployment_controller::state : controller_rows<state, row> {
    explicit state(surroundings& around) : controller_rows(around, "deployments", "deployments") {}

    std::map<std::string, std::string, std::less<>> by_replica_set;  ///< uid -> key of its row
    std::vector<std::function<void(std::string_view, std::string_view)>> callbacks;

    void tell_of(const row& one) {
        for (const auto& each : callbacks) each(one.wanted.ns, one.wanted.name);
    }

    void noticed(const change& what) {
        const auto plural = what.type->plural;
        if (plural == kinds::pod.plural) {
            const auto found = by_replica_set.find(fields::controller(what.after->body()));
            if (found == by_replica_set.end()) return;
            tell_of(rows.at(found->second));
            return soon(found->second);
        }
        const bool space = plural == kinds::name_space.plural;
        if (space ? !fields::deleting(what.after->body()) : what.what != change_type::deleted)
            return;
        for (auto& [key, one] : rows) {
            if (space ? one.wanted.ns == what.after->name()
                      : one.wanted.owner_uid == what.after->uid()) {
                soon(key);
            }
        }
    }

    std::vector<object_pointer> pods_of(const row& one) const {
        std::vector<object_pointer> out;
        for (auto& pod : in.server.objects().all(kinds::pod, one.wanted.ns)) {
            if (fields::controller(pod->body()) == one.replica_set_uid) {
                out.push_back(std::move(pod));
            }
        }
        return out;
    }

    /// The owner is gone (garbage collector), or the namespace goes.
    bool doomed(const row& one) const {
        const auto& wanted = one.wanted;
        const auto owner = in.server.objects().find(*wanted.owner_type, wanted.ns, wanted.owner);
        if (!owner || owner->uid() != wanted.owner_uid) return true;
        const auto space = in.server.objects().find(kinds::name_space, {}, wanted.ns);
        return !space || fields::deleting(space->body());
    }

    void look(const std::string& key) {
        const auto found = rows.find(key);
        if (found == rows.end()) return;
        auto& one = found->second;
        one.look_due = false;
        if (!one.deleting && doomed(one)) one.deleting = true;
        const auto all = pods_of(one);
        if (one.deleting) {
            for (const auto& pod : all) {
                if (fields::deleting(pod->body())) continue;
                (void)own.remove(kinds::pod, pod->ns(), pod->name(),
                                 kube::preconditions(pod->uid()));
            }
            if (!pods_of(one).empty()) return;
            const auto gone = std::move(one);
            by_replica_set.erase(gone.replica_set_uid);
            rows.erase(found);
            return tell_of(gone);
        }
        const auto active = std::ranges::count_if(all, [](const object_pointer& pod) {
            return !fields::deleting(pod->body()) && !fields::terminal(pod->body());
        });
        for (auto i = active; i < one.wanted.replicas; ++i) {
            if (make_pod(one)) continue;
            return again(one, key);
        }
        one.retry = first_retry;
    }

    bool make_pod(const row& one) {
        json pod = one.wanted.pod;
        pod["apiVersion"] = "v1";
        pod["kind"] = "Pod";
        auto& metadata = pod["metadata"];
        metadata["namespace"] = one.wanted.ns;
        metadata["generateName"] = one.replica_set + "-";
        metadata["name"] = fmt::format("{}-{}", one.replica_set, word(5));
        metadata["labels"]["pod-template-hash"] = one.hash;
        metadata["ownerReferences"] = json::array({{{"apiVersion", "apps/v1"},
                                                    {"kind", "ReplicaSet"},
                                                    {"name", one.replica_set},
                                                    {"uid", one.replica_set_uid},
                                                    {"controller", true},
                                                    {"blockOwnerDeletion", true}}});
        const auto done = own.create(kinds::pod, one.wanted.ns, std::move(pod));
        if (done) return true;
        in.told.tell("deployments", [&] {
            return fmt::format("{}/{}: no pod: {}", one.wanted.ns, one.wanted.name,
                               done.error().text);
        });
        return false;
    }
};

deployment_controller::deployment_controller(surroundings& in)
    : state_(std::make_shared<state>(in)) {
    in.server.objects().on_change([weak = std::weak_ptr<state>(state_)](const change& what) {
        if (const auto self = weak.lock(); self && !self->rows.empty()) self->noticed(what);
    });
}
deployment_controller::~deployment_controller() = default;

void deployment_controller::crash() { state_->crash(); }
void deployment_controller::restart() { state_->restart(); }
void deployment_controller::set_pace(pace speed) { state_->speed = speed; }

bool deployment_controller::create(deployment what) {
    const auto key = state::key_of(what.ns, what.name);
    if (state_->rows.contains(key)) return false;
    row made;
    made.wanted = std::move(what);
    made.hash = state_->word(10);
    made.replica_set = fmt::format("{}-{}", made.wanted.name, made.hash);
    made.replica_set_uid = fmt::format("{:08x}-5e75-4000-8000-000000000000", ++state_->made);
    state_->by_replica_set[made.replica_set_uid] = key;
    state_->in.told.tell("deployments", [&] { return key + " is there"; });
    state_->rows.emplace(key, std::move(made));
    state_->soon(key);
    return true;
}

void deployment_controller::remove(std::string_view ns, std::string_view name) {
    const auto found = state_->rows.find(state::key_of(ns, name));
    if (found == state_->rows.end() || found->second.deleting) return;
    state_->in.told.tell("deployments", [&] { return found->first + " goes"; });
    found->second.deleting = true;
    state_->soon(found->first);
}

bool deployment_controller::exists(std::string_view ns, std::string_view name,
                                   std::string_view owner_uid) const {
    const auto found = state_->rows.find(state::key_of(ns, name));
    return found != state_->rows.end() &&
           (owner_uid.empty() || found->second.wanted.owner_uid == owner_uid);
}

bool deployment_controller::available(std::string_view ns, std::string_view name) const {
    const auto found = state_->rows.find(state::key_of(ns, name));
    if (found == state_->rows.end()) return false;
    const auto all = state_->pods_of(found->second);
    return std::ranges::count_if(all, [](const object_pointer& pod) {
               return !fields::deleting(pod->body()) && ready(pod->body());
           }) >= found->second.wanted.replicas;
}

std::vector<object_pointer> deployment_controller::pods(std::string_view ns,
                                                        std::string_view name) const {
    const auto found = state_->rows.find(state::key_of(ns, name));
    if (found == state_->rows.end()) return {};
    return state_->pods_of(found->second);
}

void deployment_controller::on_change(
    std::function<void(std::string_view ns, std::string_view name)> callback) {
    state_->callbacks.push_back(std::move(callback));
}

}  // namespace esi::simulation
