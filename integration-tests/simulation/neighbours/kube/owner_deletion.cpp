#include "neighbours/kube/owner_deletion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"

namespace esi::simulation {

namespace {

const json& owners_of(const json& body) {
    static const json none = json::array();
    const auto* found = fields::find(body, {"metadata", "ownerReferences"});
    return found && found->is_array() ? *found : none;
}

/// Null: not served here.
const kube::resource_type* kind_of(const json& owner) {
    const auto version = fields::text(owner, {"apiVersion"});
    const auto slash = version.find('/');
    const auto group =
        slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    const auto kind = fields::text(owner, {"kind"});
    for (const auto* type : all_kinds()) {
        if (type->group == group && type->kind == kind) return type;
    }
    return nullptr;
}

}  // namespace

bool owner_deletion::wanted(const change& made) {
    if (made.what == change_type::deleted) return true;
    const auto& now = owners_of(made.after->body());
    if (made.what == change_type::added) return !now.empty();
    return now != owners_of(made.before->body());
}

void owner_deletion::seen(const kube::resource_type& type, const object& what) {
    const auto& owners = owners_of(what.body());
    const dependent at{&type, what.ns(), what.name()};
    if (owners.empty()) return;
    known_.insert_or_assign(what.uid(), at);
    bool absent = false;
    for (const auto& owner : owners) {
        dependents_[std::string(fields::text(owner, {"uid"}))].insert(what.uid());
        absent = absent || !exists(what, owner);
    }
    if (absent) of_.soon([this, at, uid = what.uid()] { look(at, uid); });
}

void owner_deletion::gone(const object& what) {
    known_.erase(what.uid());
    const auto found = dependents_.find(what.uid());
    if (found == dependents_.end()) return;
    for (const auto& uid : found->second) {
        const auto at = known_.find(uid);
        if (at == known_.end()) continue;
        of_.soon([this, where = at->second, uid] { look(where, uid); });
    }
    dependents_.erase(found);
}

void owner_deletion::forget() {
    known_.clear();
    dependents_.clear();
}

bool owner_deletion::exists(const object& dependent, const json& owner) const {
    const auto* type = kind_of(owner);
    if (!type) return true;
    const auto found = of_.in.server.objects().find(
        *type, type->namespaced ? std::string_view(dependent.ns()) : std::string_view(),
        fields::text(owner, {"name"}));
    return found && found->uid() == fields::text(owner, {"uid"});
}

void owner_deletion::look(const dependent& at, const std::string& uid) {
    const auto now = of_.in.server.objects().find(*at.type, at.ns, at.name);
    if (!now || now->uid() != uid || fields::deleting(now->body())) return;
    const auto& owners = owners_of(now->body());
    const bool owned = std::any_of(owners.begin(), owners.end(),
                                   [&](const json& owner) { return exists(*now, owner); });
    if (owners.empty() || owned) return;
    of_.in.told.tell("garbage collector", [&] {
        return fmt::format("deletes {} {}/{}", at.type->plural, at.ns, at.name);
    });
    // Refused only where it changed or went meanwhile.
    (void)of_.api.remove(*at.type, at.ns, at.name, kube::preconditions(uid));
}

}  // namespace esi::simulation
