#include "neighbours/people/state.h"
#include "plan/cast.h"

namespace esi::simulation {

using namespace deeds;

namespace {

/// The merge patch that takes another one back.
json taken_back(const json& before, const json& patch) {
    json out = json::object();
    for (const auto& [key, value] : patch.items()) {
        const auto old = before.find(key);
        if (old == before.end()) {
            out[key] = nullptr;
        } else if (value.is_object() && old->is_object()) {
            out[key] = taken_back(*old, value);
        } else {
            out[key] = *old;
        }
    }
    return out;
}

/// The queue or the jobs with slots of a Scheduling, after a user has edited one entry; null: there
/// is no entry, or the edit changes nothing.
json entries_edited(json list, const std::string& how, std::size_t nth, const json& slots) {
    if (!list.is_array() || list.empty()) return nullptr;
    nth %= list.size();
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(nth);
    if (how == "drop") {
        list.erase(at);
    } else if (how == "swap") {
        std::swap(list[nth], list[(nth + 1) % list.size()]);
    } else if (how == "again") {
        const json copy = *at;
        list.push_back(copy);
    } else if (how == "slots" && at->contains("slotIds")) {
        (*at)["slotIds"] = slots;
    } else {
        return nullptr;
    }
    return list;
}

}  // namespace

bool people::state::create(const json& with) {
    const auto* object = fields::find(with, {"object"});
    const auto* type = object ? kind_of_object(*object) : nullptr;
    if (!type) return false;
    std::string ns;
    if (type->namespaced) {
        ns = fields::text(*object, {"metadata", "namespace"});
        if (ns.empty()) ns = "default";
    }
    const auto name = fields::text(*object, {"metadata", "name"});
    if (type->plural == kinds::pod.plural && fields::find(*object, {"spec", "nodeName"})) {
        meddled(fmt::format("bound {}/{} by hand", ns, name));
    }
    if (type->plural == kinds::batchjob.plural &&
        (fields::find(*object, {"spec", "activeScheduling"}) ||
         fields::find(*object, {"spec", "creationRequest"}))) {
        meddled(fmt::format("edited batchjobs {}/{} spec", ns, name));
    }
    const auto made = own.create(*type, ns, *object);
    if (!made) return false;
    const auto* status = fields::find(*object, {"status"});
    if (type->plural == kinds::node.plural && status &&
        !fields::find(*made, {"status", "allocatable"})) {
        return merge(*type, {}, name, {{"status", *status}}, "status");
    }
    return true;
}

bool people::state::remove(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    if (!type) return false;
    return own
        .remove(*type, type->namespaced ? text_of(with, "ns", "default") : "",
                text_of(with, "name"), kube::preconditions(), grace_of(with))
        .has_value();
}

bool people::state::patch(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    const auto* body = fields::find(with, {"patch"});
    if (!type || !body) return false;
    const auto form = text_of(with, "type", "merge");
    if (type->plural == kinds::batchjob.plural) {
        // These two are the scheduling operator's to write.
        const auto text = body->dump(-1, ' ', false, json::error_handler_t::replace);
        for (const char* part : {"activeScheduling", "creationRequest"}) {
            if (text.find(part) == std::string::npos) continue;
            meddled(fmt::format("edited batchjobs {}/{} spec: {}", text_of(with, "ns", "default"),
                                text_of(with, "name"), part));
        }
    }
    const auto how = form == "json"        ? kube::patch_kind::json
                     : form == "strategic" ? kube::patch_kind::strategic
                                           : kube::patch_kind::merge;
    return own
        .patch(*type, type->namespaced ? text_of(with, "ns", "default") : "", text_of(with, "name"),
               how, *body, text_of(with, "subresource"))
        .has_value();
}

bool people::state::extend(const json& with) {
    const auto* jobs = fields::find(with, {"jobs"});
    if (!jobs || !jobs->is_array()) return false;
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto object = objects().find(kinds::scheduling, ns, name);
    const auto* spec = object ? fields::find(object->body(), {"spec"}) : nullptr;
    const auto at = spec ? list_of_jobs(*spec) : std::nullopt;
    if (!at) return false;
    json body = json::array();
    for (const auto& job : *jobs) {
        body.push_back(
            {{"op", "add"}, {"path", fmt::format("/spec{}/-", at->to_string())}, {"value", job}});
    }
    return own.patch(kinds::scheduling, ns, name, kube::patch_kind::json, std::move(body))
        .has_value();
}

bool people::state::edit_spec(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    if (!type) return false;
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto object = objects().find(*type, ns, name);
    const auto* spec = object ? fields::find(object->body(), {"spec"}) : nullptr;
    if (!spec || !spec->is_object()) return false;
    json patch = json::object();
    if (const auto* given = fields::find(with, {"patch"}); given && given->is_object()) {
        patch = *given;
    } else {
        const auto at = list_of_jobs(*spec);
        if (!at) return false;
        const auto* ids = fields::find(with, {"slots"});
        auto list = entries_edited(spec->at(*at), text_of(with, "entry"),
                                   static_cast<std::size_t>(fields::number(with, {"nth"})),
                                   ids ? *ids : json::array());
        if (list.is_null()) return false;
        patch[*at] = std::move(list);
    }
    if (fields::find(with, {"back_ms"})) {
        later(ms_of(with, "back_ms", 0),
              [type, ns, name, uid = object->uid(), back = taken_back(*spec, patch)](state& self) {
                  (void)self.merge(*type, ns, name, {{"metadata", {{"uid", uid}}}, {"spec", back}});
              });
    }
    return merge(*type, ns, name, {{"spec", std::move(patch)}});
}

bool people::state::reset(const json& with) {
    return merge(kinds::batchjob, text_of(with, "ns", "default"), text_of(with, "name"),
                 {{"metadata", {{"annotations", {{names::reset, text_of(with, "value")}}}}}});
}

}  // namespace esi::simulation
