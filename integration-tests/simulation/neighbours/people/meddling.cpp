#include "neighbours/people/state.h"

#include <algorithm>
#include <utility>

namespace esi::simulation {

using namespace deeds;

namespace {

/// All keys of ESI's in a map, each as null.
json nulls_for_own(const json* map) {
    json out = json::object();
    if (map && map->is_object()) {
        for (const auto& [key, value] : map->items()) {
            if (key.starts_with(names::prefix)) out[key] = nullptr;
        }
    }
    return out;
}

}  // namespace

// Whom it meets.

std::vector<object_pointer> people::state::pods(
    std::string_view ns, const std::function<bool(const json&)>& which) const {
    std::vector<object_pointer> out;
    for (auto& pod : objects().all(kinds::pod, ns)) {
        if (!fields::deleting(pod->body()) && !fields::terminal(pod->body()) &&
            which(pod->body())) {
            out.push_back(std::move(pod));
        }
    }
    return out;
}

object_pointer people::state::ghost_of(const json& with) const {
    const auto name = text_of(with, "name");
    const auto found = pods(text_of(with, "ns", "default"), [&](const json& pod) {
        return fields::label(pod, names::testbed) == name &&
               fields::label(pod, names::ghost) == "true";
    });
    if (found.empty()) return nullptr;
    return found[static_cast<std::size_t>(fields::number(with, {"nth"})) % found.size()];
}

object_pointer people::state::job_pod_of(const json& with, bool running, bool coordinator) const {
    const auto name = text_of(with, "name");
    const auto plays = [coordinator](const json& pod) {
        return std::ranges::any_of(application_kinds(), [&](const auto& kind) {
            const auto& mark = coordinator ? kind.coordinator : kind.worker;
            return fields::label(pod, mark.label) == mark.value;
        });
    };
    const auto found = pods(text_of(with, "ns", "default"), [&](const json& pod) {
        return fields::label(pod, names::job) == name && plays(pod) &&
               (!running || fields::phase(pod) == "Running");
    });
    if (found.empty()) return nullptr;
    return found[static_cast<std::size_t>(fields::number(with, {"nth"})) % found.size()];
}

bool people::state::merge(const kube::resource_type& type, std::string_view ns,
                          std::string_view name, json body, std::string_view subresource) {
    return own.patch(type, ns, name, kube::patch_kind::merge, std::move(body), subresource)
        .has_value();
}

bool people::state::strip_object(const kube::resource_type& type, const object_pointer& object,
                                 std::string_view part) {
    if (!object) return false;
    json metadata = json::object();
    if (part == "labels" || part == "annotations") {
        auto nulls = nulls_for_own(fields::find(object->body(), {"metadata", part}));
        if (nulls.empty()) return false;
        metadata[std::string(part)] = std::move(nulls);
    } else if (part == "finalizers" || part == "owner") {
        const char* key = part == "owner" ? "ownerReferences" : "finalizers";
        if (!fields::find(object->body(), {"metadata", key})) return false;
        metadata[key] = nullptr;
    } else {
        return false;
    }
    meddled(
        fmt::format("edited {} {}/{} without {}", type.plural, object->ns(), object->name(), part));
    return merge(type, object->ns(), object->name(), {{"metadata", std::move(metadata)}});
}

bool people::state::remove_pod(const object_pointer& pod, const json& with) {
    if (!pod) return false;
    meddled(fmt::format("deleted pods {}/{}", pod->ns(), pod->name()));
    return own.remove(kinds::pod, pod->ns(), pod->name(), pod->uid(), grace_of(with)).has_value();
}

// Those who meddle.

bool people::state::edit_status(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    const auto* body = fields::find(with, {"patch"});
    if (!type || !body) return false;
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    meddled(fmt::format("edited {} {}/{} status", type->plural, ns, name));
    return merge(*type, ns, name, {{"status", *body}}, "status");
}

bool people::state::strip(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    if (!type) return false;
    return strip_object(
        *type,
        objects().find(*type, type->namespaced ? text_of(with, "ns", "default") : "",
                       text_of(with, "name")),
        text_of(with, "part"));
}

bool people::state::strip_ghost(const json& with) {
    return strip_object(kinds::pod, ghost_of(with), text_of(with, "part"));
}

bool people::state::strip_job_pod(const json& with) {
    return strip_object(kinds::pod, job_pod_of(with), text_of(with, "part"));
}

bool people::state::delete_ghost(const json& with) { return remove_pod(ghost_of(with), with); }

bool people::state::keep_ghost(const json& with) {
    const auto ghost = ghost_of(with);
    if (!ghost) return false;
    const bool kept = merge(kinds::pod, ghost->ns(), ghost->name(),
                            {{"metadata", {{"finalizers", json::array({"example.com/keep"})}}}});
    later(ms_of(with, "for_ms", 10000),
          [ns = ghost->ns(), name = ghost->name(), uid = ghost->uid()](state& self) {
              (void)self.merge(kinds::pod, ns, name,
                               {{"metadata", {{"uid", uid}, {"finalizers", nullptr}}}});
          });
    return kept;
}

bool people::state::delete_job_pod(const json& with) { return remove_pod(job_pod_of(with), with); }

bool people::state::evict(const json& with) {
    const auto pod = text_of(with, "of", "job") == "testbed" ? ghost_of(with) : job_pod_of(with);
    if (!pod) return false;
    meddled(fmt::format("deleted pods {}/{} (evicted)", pod->ns(), pod->name()));
    kube::request what("POST", kinds::pod.path(pod->ns(), pod->name(), "eviction"));
    what.content_type = "application/json";
    what.body = json{{"apiVersion", "policy/v1"},
                     {"kind", "Eviction"},
                     {"metadata", {{"name", pod->name()}, {"namespace", pod->ns()}}}}
                    .dump();
    const auto answer = in.server.answer(what, "people");
    if (answer.status < 300) return true;
    return own.remove(kinds::pod, pod->ns(), pod->name(), pod->uid()).has_value();
}

bool people::state::executor_crash(const json& with) {
    const auto pod = job_pod_of(with, true);
    if (!pod) return false;
    meddled(fmt::format("crashed pods {}/{}", pod->ns(), pod->name()));
    nodes.finish(pod->uid(), static_cast<int>(fields::number(with, {"code"}, 137)));
    return true;
}

bool people::state::driver_crash(const json& with) {
    const auto pod = job_pod_of(with, true, true);
    if (!pod) return false;
    meddled(fmt::format("crashed pods {}/{}", pod->ns(), pod->name()));
    nodes.finish(pod->uid(), static_cast<int>(fields::number(with, {"code"}, 1)));
    return true;
}

bool people::state::pod_hangs(const json& with) {
    const auto pod = job_pod_of(with, true);
    if (!pod) return false;
    nodes.hang(pod->uid(), true);
    later(ms_of(with, "for_ms", 30000),
          [uid = pod->uid()](state& self) { self.nodes.hang(uid, false); });
    return true;
}

bool people::state::delete_application(const json& with) {
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    for (const auto& kind : application_kinds()) {
        if (!objects().find(*kind.type, ns, name)) continue;
        meddled(fmt::format("deleted {} {}/{}", kind.type->plural, ns, name));
        return own.remove(*kind.type, ns, name).has_value();
    }
    return false;
}

bool people::state::cancel_job(const json& with) {
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto* kind = cancel ? cancel(ns, name) : nullptr;
    if (!kind) return false;
    meddled(fmt::format("cancelled {} {}/{}", kind->type->plural, ns, name));
    return true;
}

bool people::state::recreate(const json& with) {
    const auto* type = kind_of(text_of(with, "kind"));
    if (!type) return false;
    const auto ns = type->namespaced ? text_of(with, "ns", "default") : std::string();
    const auto object = objects().find(*type, ns, text_of(with, "name"));
    if (!object) return false;
    const auto make = [type, ns, body = remade(object->body()),
                       after = ms_of(with, "after_ms", 0)](state& self) {
        self.later(after,
                   [type, ns, body](state& then) { (void)then.own.create(*type, ns, body); });
    };
    const auto waits_for =
        wait({type, ns, object->name(),
              [uid = object->uid()](const change& what) {
                  return what.what == change_type::deleted && what.after->uid() == uid;
              },
              make});
    meddled(fmt::format("deleted {} {}/{} to make it anew", type->plural, ns, object->name()));
    if (own.remove(*type, ns, object->name(), object->uid())) return true;
    waits.erase(waits_for);
    return false;
}

bool people::state::release_by_hand(const json& with) {
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto job = objects().find(kinds::batchjob, ns, name);
    if (!job || !fields::find(job->body(), {"spec", "activeScheduling"})) return false;
    meddled(fmt::format("edited batchjobs {}/{} spec: activeScheduling taken", ns, name));
    return merge(kinds::batchjob, ns, name, {{"spec", {{"activeScheduling", nullptr}}}});
}

bool people::state::take_hold(const json& with) {
    const auto ns = text_of(with, "ns", "default");
    const auto name = text_of(with, "name");
    const auto bed = objects().find(kinds::testbed, ns, name);
    if (!bed || fields::annotation(bed->body(), names::hold).empty()) return false;
    meddled(fmt::format("edited testbeds {}/{} without hold", ns, name));
    return merge(kinds::testbed, ns, name,
                 {{"metadata",
                   {{"labels",
                     {{names::active_scheduling_name, nullptr},
                      {names::active_scheduling_namespace, nullptr}}},
                    {"annotations", {{names::hold, nullptr}}}}}});
}

bool people::state::copy_token(const json& with) {
    const auto source = job_pod_of(with);
    if (!source) return false;
    json metadata{{"name", text_of(with, "pod", "copy")}, {"namespace", source->ns()}};
    for (const char* key : {"labels", "annotations"}) {
        const auto* map = fields::find(source->body(), {"metadata", key});
        if (!map || !map->is_object()) continue;
        for (const auto& [name, value] : map->items()) {
            if (name.starts_with(names::prefix)) metadata[key][name] = value;
        }
    }
    json spec{
        {"restartPolicy", "Never"},
        {"terminationGracePeriodSeconds", 1},
        {"tolerations", json::array({{{"key", names::taint}, {"operator", "Exists"}}})},
        {"containers",
         json::array({{{"name", "main"},
                       {"image", "example/other:1"},
                       {"resources", {{"requests", {{"cpu", "600m"}, {"memory", "1Gi"}}}}}}})}};
    if (const auto node = text_of(with, "node"); !node.empty()) {
        spec["nodeSelector"] = {{"kubernetes.io/hostname", node}};
    }
    meddled(fmt::format("edited pods {}/{} metadata: a copy of a run", source->ns(),
                        metadata["name"].get<std::string>()));
    const auto made =
        own.create(kinds::pod, source->ns(),
                   {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}});
    if (!made) return false;
    if (fields::find(with, {"for_ms"})) {
        later(ms_of(with, "for_ms", 0),
              [ns = source->ns(), name = text_of(with, "pod", "copy"),
               uid = std::string(fields::text(*made, {"metadata", "uid"}))](state& self) {
                  (void)self.own.remove(kinds::pod, ns, name, uid);
              });
    }
    return true;
}

}  // namespace esi::simulation
