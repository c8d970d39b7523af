#include "gangs/gang_caches.h"

#include <fmt/format.h>

#include "kube/resource.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

constexpr kube::resource_type class_type{"scheduling.k8s.io", "v1", "priorityclasses",
                                         "PriorityClass", false};

kube::watch_scope within(std::vector<std::string> namespaces) {
    kube::watch_scope out;
    out.namespaces = std::move(namespaces);
    return out;
}

kube::watch_scope only(const model::object_key& one) {
    auto out = within({one.namespace_});
    out.field_selector = "metadata.name=" + one.name;
    return out;
}

bool has_label(const model::metadata_only& ns) {
    return ns.metadata.label(names::gangs) == "enabled";
}

/// Drops the metadata that is not read of an object kept for its labels or its name alone.
model::object_meta trimmed(model::object_meta meta) {
    model::object_meta kept;
    kept.name = std::move(meta.name);
    kept.namespace_ = std::move(meta.namespace_);
    kept.uid = std::move(meta.uid);
    kept.resource_version = std::move(meta.resource_version);
    kept.labels = std::move(meta.labels);
    return kept;
}

template <class T>
void keep_little(kube::informer<T>& of) {
    of.set_transform([](T& object) { object.metadata = trimmed(std::move(object.metadata)); });
}

}  // namespace

gang_caches::gang_caches(kube::client& api, clock& time, std::vector<std::string> namespaces,
                         const model::object_key& scheduler_lease)
    : time_(time),
      limited_to_(namespaces.begin(), namespaces.end()),
      lease_name_(scheduler_lease),
      namespaces_(api, time, kube::types::name_space),
      classes_(api, time, class_type),
      lease_(api, time, kube::types::lease, only(scheduler_lease)) {
    for (const auto& kind : group_kinds()) {
        kinds_.push_back(std::unique_ptr<kind_cache>(new kind_cache{
            &kind, kube::informer<pod_group>(api, time, kind.type, within(namespaces))}));
        kinds_.back()->from.items().on_change(
            [this, by = kind.by](const kube::change<pod_group>& what) {
                const auto& meta = (what.after ? what.after : what.before)->metadata;
                if (listener_) listener_->group_changed({by, meta.namespace_, meta.name});
            });
    }
    keep_little(namespaces_);
    keep_little(classes_);
    keep_little(lease_);
    namespaces_.items().on_change([this](const auto& what) { note_namespace(what); });
    classes_.items().on_change([this](const auto& what) { note_class(what); });
    lease_.items().on_change([this](const auto& what) { note_lease(what); });
}

std::vector<controller::operator_part::cache> gang_caches::list() {
    using cache = controller::operator_part::cache;
    std::vector<cache> out{cache::of("namespaces", namespaces_),
                           cache::of("priorityclasses", classes_)};
    for (auto& each : kinds_) {
        out.push_back(cache::if_served(std::string(each->kind->definition), each->from, time_));
    }
    // Gangs are started without it, too: clusters whose scheduler has no such lease do not show it.
    auto lease = cache::of("scheduler-lease", lease_);
    lease.synced = lease.current = [] { return true; };
    lease.last_heard = nullptr;
    lease.missing = nullptr;
    lease.troubles = nullptr;
    out.push_back(std::move(lease));
    return out;
}

void gang_caches::on_change(group_listener& listener) { listener_ = &listener; }

group_object gang_caches::find(const gang_key& key) const {
    group_object out;
    for (const auto& each : kinds_) {
        if (each->kind->by != key.by) continue;
        auto found = each->from.items().find({key.namespace_, key.name});
        if (!found) continue;
        const bool second = out.object != nullptr;
        if (!second || model::older(found->metadata, out.object->metadata)) {
            out.kind = each->kind;
            out.object = std::move(found);
        }
        out.doubled = second;
    }
    return out;
}

std::vector<gang_key> gang_caches::groups_in(std::string_view ns) const {
    std::vector<gang_key> out;
    for (const auto& each : kinds_) {
        each->from.items().each([&](const group_pointer& object) {
            const auto& meta = object->metadata;
            if (meta.namespace_ == ns) out.push_back({each->kind->by, meta.namespace_, meta.name});
        });
    }
    return out;
}

bool gang_caches::enabled(std::string_view ns) const {
    if (!limited_to_.empty() && !limited_to_.contains(ns)) return false;
    const auto found = labels_.find(ns);
    if (found == labels_.end()) return false;
    const auto label = found->second.find(names::gangs);
    return label != found->second.end() && label->second == "enabled";
}

void gang_caches::note_namespace(const kube::change<model::metadata_only>& what) {
    const auto& name = (what.after ? what.after : what.before)->metadata.name;
    if (what.after) {
        labels_.insert_or_assign(name, what.after->metadata.labels);
    } else {
        labels_.erase(name);
    }
    if (!listener_) return;
    const bool was = what.before && has_label(*what.before);
    const bool is = what.after && has_label(*what.after);
    if (was != is) listener_->namespace_changed(name);
    listener_->surroundings_changed();
}

void gang_caches::note_class(const kube::change<priority_class>& what) {
    const auto& name = (what.after ? what.after : what.before)->metadata.name;
    if (what.after) {
        values_.insert_or_assign(name, what.after->value);
    } else {
        values_.erase(name);
    }
    if (listener_) listener_->surroundings_changed();
}

void gang_caches::note_lease(const kube::change<lease_object>& what) {
    // While no scheduler leads, nominations are shown to none.
    if (!what.after || what.after->spec.holder_identity.empty()) return;
    const auto& spec = what.after->spec;
    auto now = fmt::format("{} {}", spec.holder_identity, spec.lease_transitions);
    // It is renewed every few seconds.
    if (now == scheduler_) return;
    scheduler_ = std::move(now);
    if (listener_) listener_->surroundings_changed();
}

gang_caches::filled gang_caches::fill() {
    filled out{namespaces_.items(), classes_.items(), lease_.items(), {}};
    for (auto& each : kinds_) out.groups.push_back(&each->from.items());
    return out;
}

}  // namespace esi::gangs
