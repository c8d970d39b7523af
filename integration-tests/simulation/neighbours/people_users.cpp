#include "neighbours/people_state.h"

namespace esi::simulation {

using namespace deeds;

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
    json body = json::array();
    for (const auto& job : *jobs) {
        body.push_back({{"op", "add"}, {"path", "/spec/queueBased/-"}, {"value", job}});
    }
    return own
        .patch(kinds::scheduling, text_of(with, "ns", "default"), text_of(with, "name"),
               kube::patch_kind::json, std::move(body))
        .has_value();
}

bool people::state::reset(const json& with) {
    return merge(kinds::batchjob, text_of(with, "ns", "default"), text_of(with, "name"),
                 {{"metadata", {{"annotations", {{names::reset, text_of(with, "value")}}}}}});
}

}  // namespace esi::simulation
