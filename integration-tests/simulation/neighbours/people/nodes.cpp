#include "neighbours/people/state.h"

namespace esi::simulation {

using namespace deeds;

bool people::state::node_gone(const json& with) {
    const auto name = text_of(with, "name");
    const auto node = objects().find(kinds::node, {}, name);
    if (!node) return false;
    meddled("node gone " + name);
    nodes.node_down(name);
    if (!own.remove(kinds::node, {}, name)) return false;
    if (!fields::find(with, {"back_ms"})) return true;
    json body = remade(node->body());
    for (const char* key : {"labels", "status"}) {
        const bool labels = std::string_view(key) == "labels";
        const auto* part = labels ? fields::find(node->body(), {"metadata", "labels"})
                                  : fields::find(node->body(), {"status"});
        if (!part) continue;
        (labels ? body["metadata"]["labels"] : body["status"]) = *part;
    }
    // A new node has neither the taints nor the cordon of the old one.
    body.erase("spec");
    later(ms_of(with, "back_ms", 0), [name, body](state& self) {
        self.meddled("node back " + name);
        self.create({{"object", body}});
        self.nodes.node_up(name);
    });
    return true;
}

bool people::state::node_relabel(const json& with) {
    const auto name = text_of(with, "name");
    const auto label = text_of(with, "label");
    const auto node = objects().find(kinds::node, {}, name);
    if (!node || label.empty()) return false;
    const auto write = [name, label](state& self, const json& value) {
        self.meddled("node relabelled " + name);
        return self.merge(kinds::node, {}, name, {{"metadata", {{"labels", {{label, value}}}}}});
    };
    const auto* before = fields::find(node->body(), {"metadata", "labels", label});
    const auto* value = fields::find(with, {"value"});
    if (!write(*this, value ? *value : json())) return false;
    if (!fields::find(with, {"back_ms"})) return true;
    later(ms_of(with, "back_ms", 0),
          [write, old = before ? *before : json()](state& self) { (void)write(self, old); });
    return true;
}

bool people::state::node_cordon(const json& with) {
    const auto name = text_of(with, "name");
    if (!objects().find(kinds::node, {}, name)) return false;
    meddled("node cordoned " + name);
    if (!merge(kinds::node, {}, name, {{"spec", {{"unschedulable", true}}}})) return false;
    if (!fields::find(with, {"back_ms"})) return true;
    later(ms_of(with, "back_ms", 0), [name](state& self) {
        self.meddled("node uncordoned " + name);
        (void)self.merge(kinds::node, {}, name, {{"spec", {{"unschedulable", nullptr}}}});
    });
    return true;
}

bool people::state::node_drain(const json& with) {
    const auto name = text_of(with, "name");
    if (!node_cordon(with)) return false;
    for (const auto& pod : objects().all(kinds::pod)) {
        const auto& body = pod->body();
        if (fields::text(body, {"spec", "nodeName"}) != name || fields::deleting(body)) continue;
        if (!fields::label(body, names::ghost).empty()) continue;
        meddled(fmt::format("deleted pods {}/{} (drained)", pod->ns(), pod->name()));
        (void)own.remove(kinds::pod, pod->ns(), pod->name(), kube::preconditions(pod->uid()));
    }
    return true;
}

bool people::state::node_shrink(const json& with) {
    const auto name = text_of(with, "name");
    const auto node = objects().find(kinds::node, {}, name);
    const auto* less = fields::find(with, {"allocatable"});
    if (!node || !less || !less->is_object()) return false;
    const auto write = [name](state& self, const json& to) {
        self.meddled("node resized " + name);
        return self.merge(kinds::node, {}, name, {{"status", {{"allocatable", to}}}}, "status");
    };
    json old = json::object();
    for (const auto& [key, value] : less->items()) {
        const auto* now = fields::find(node->body(), {"status", "allocatable", key});
        old[key] = now ? *now : json();
    }
    if (!write(*this, *less)) return false;
    if (!fields::find(with, {"back_ms"})) return true;
    later(ms_of(with, "back_ms", 0), [write, old](state& self) { (void)write(self, old); });
    return true;
}

bool people::state::node_not_ready(const json& with) {
    const auto name = text_of(with, "name");
    if (!objects().find(kinds::node, {}, name) || nodes.down(name)) return false;
    meddled("node silent " + name);
    nodes.node_down(name);
    if (!fields::find(with, {"back_ms"})) return true;
    later(ms_of(with, "back_ms", 0), [name](state& self) {
        self.meddled("node back " + name);
        self.nodes.node_up(name);
    });
    return true;
}

bool people::state::namespace_delete(const json& with) {
    const auto name = text_of(with, "name");
    meddled("deleted namespaces " + name);
    if (fields::find(with, {"back_ms"})) {
        json list = json::array();
        for (const auto* type : {&kinds::testbed, &kinds::batchjob, &kinds::scheduling}) {
            for (const auto& one : objects().all(*type, name)) list.push_back(remade(one->body()));
        }
        later(ms_of(with, "back_ms", 0),
              [name, list = std::move(list)](state& self) { self.make_anew(name, list); });
    }
    return own.remove(kinds::name_space, {}, name).has_value();
}

void people::state::make_anew(const std::string& name, const json& objects_of_it) {
    if (objects().find(kinds::name_space, {}, name)) {
        return later(seconds(1),
                     [name, objects_of_it](state& self) { self.make_anew(name, objects_of_it); });
    }
    (void)own.create(kinds::name_space, {},
                     {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    for (const auto& one : objects_of_it) {
        if (const auto* type = kind_of_object(one)) (void)own.create(*type, name, one);
    }
}

}  // namespace esi::simulation
