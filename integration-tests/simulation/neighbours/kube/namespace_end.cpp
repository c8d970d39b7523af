#include "neighbours/kube/namespace_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/application_kinds.h"
#include "base/fields.h"
#include "base/group_kinds.h"

namespace esi::simulation {

namespace {

/// Kinds of custom resources are seen only while their definition is there.
bool served(const storage& objects, const kube::resource_type& type) {
    if (!is_application(type) && !is_pod_group(type)) return true;
    return objects.find(kinds::custom_resource_definition, {},
                        fmt::format("{}.{}", type.plural, type.group)) != nullptr;
}

}  // namespace

void namespace_end::seen(const object& what) {
    if (!fields::deleting(what.body()) || !under_way_.insert(what.name()).second) return;
    of_.soon([this, name = what.name()] { work(name, seconds(1)); });
}

void namespace_end::work(const std::string& name, steady_time::duration wait) {
    const auto now = of_.in.server.objects().find(kinds::name_space, {}, name);
    if (!now || !fields::deleting(now->body())) {
        under_way_.erase(name);
        return;
    }
    bool done = empty(kinds::pod, name);
    if (done) {
        for (const auto* type : all_kinds()) {
            if (!type->namespaced || !served(of_.in.server.objects(), *type)) continue;
            if (!empty(*type, name)) done = false;
        }
    }
    if (done) {
        json body = now->body();
        if (const auto spec = body.find("spec"); spec != body.end() && spec->is_object()) {
            spec->erase("finalizers");
        }
        of_.in.told.tell("namespaces", [&] { return name + " is empty and goes"; });
        if (of_.api.update(kinds::name_space, {}, name, std::move(body), "finalize")) {
            under_way_.erase(name);
            return;
        }
    }
    of_.later(wait, [this, name, wait] {
        work(name, std::min<steady_time::duration>(wait * 2, seconds(15)));
    });
}

bool namespace_end::empty(const kube::resource_type& type, const std::string& ns) {
    for (const auto& one : of_.in.server.objects().all(type, ns)) {
        if (fields::deleting(one->body())) continue;
        (void)of_.api.remove(type, ns, one->name(), kube::preconditions(one->uid()));
    }
    return of_.in.server.objects().all(type, ns).empty();
}

}  // namespace esi::simulation
