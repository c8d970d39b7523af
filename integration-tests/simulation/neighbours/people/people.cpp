#include "neighbours/people/state.h"

#include <algorithm>
#include <utility>

#include "base/group_kinds.h"

namespace esi::simulation {

namespace deeds {

const kube::resource_type* kind_of(std::string_view plural) {
    for (const auto* one : all_kinds()) {
        if (known_as(*one) == plural) return one;
    }
    return nullptr;
}

const kube::resource_type* kind_of_object(const json& object) {
    const auto version = fields::text(object, {"apiVersion"});
    const auto kind = fields::text(object, {"kind"});
    for (const auto* one : all_kinds()) {
        if (one->kind == kind && one->api_version() == version) return one;
    }
    return nullptr;
}

std::string text_of(const json& with, std::string_view key, std::string_view otherwise) {
    const auto found = fields::text(with, {key});
    return std::string(found.empty() ? otherwise : found);
}

milliseconds ms_of(const json& with, std::string_view key, std::int64_t otherwise) {
    return milliseconds(fields::number(with, {key}, otherwise));
}

std::optional<int> grace_of(const json& with) {
    if (!fields::find(with, {"grace"})) return std::nullopt;
    return static_cast<int>(fields::number(with, {"grace"}));
}

json remade(const json& object) {
    json out{{"apiVersion", object.at("apiVersion")},
             {"kind", object.at("kind")},
             {"metadata", {{"name", fields::text(object, {"metadata", "name"})}}}};
    auto& metadata = out["metadata"];
    if (const auto ns = fields::text(object, {"metadata", "namespace"}); !ns.empty()) {
        metadata["namespace"] = ns;
    }
    for (const char* key : {"labels", "annotations"}) {
        const auto* map = fields::find(object, {"metadata", key});
        if (!map || !map->is_object()) continue;
        json kept = json::object();
        for (const auto& [name, value] : map->items()) {
            if (!name.starts_with(names::prefix)) kept[name] = value;
        }
        if (!kept.empty()) metadata[key] = std::move(kept);
    }
    if (const auto* spec = fields::find(object, {"spec"})) out["spec"] = *spec;
    if (out["kind"] == kinds::batchjob.kind && out.contains("spec")) {
        out["spec"].erase("activeScheduling");
        out["spec"].erase("creationRequest");
    }
    return out;
}

}  // namespace deeds

using namespace deeds;

const std::map<std::string_view, people::state::deed>& people::state::all_deeds() {
    static const std::map<std::string_view, deed> all{
        {"create", &state::create},
        {"delete", &state::remove},
        {"patch", &state::patch},
        {"extend", &state::extend},
        {"reset", &state::reset},
        {"edit-spec", &state::edit_spec},
        {"edit-status", &state::edit_status},
        {"strip", &state::strip},
        {"strip-ghost", &state::strip_ghost},
        {"strip-job-pod", &state::strip_job_pod},
        {"delete-ghost", &state::delete_ghost},
        {"keep-ghost", &state::keep_ghost},
        {"delete-job-pod", &state::delete_job_pod},
        {"evict", &state::evict},
        {"executor-crash", &state::executor_crash},
        {"driver-crash", &state::driver_crash},
        {"pod-hangs", &state::pod_hangs},
        {"delete-application", &state::delete_application},
        {"cancel-job", &state::cancel_job},
        {"recreate", &state::recreate},
        {"release-by-hand", &state::release_by_hand},
        {"take-hold", &state::take_hold},
        {"copy-token", &state::copy_token},
        {"forge-pod", &state::forge_pod},
        {"forge-order", &state::forge_order},
        {"forge-scheduling", &state::forge_scheduling},
        {"forge-testbed", &state::forge_testbed},
        {"keep-job-pod", &state::keep_job_pod},
        {"deep-spec", &state::deep_spec},
        {"node-gone", &state::node_gone},
        {"node-relabel", &state::node_relabel},
        {"node-cordon", &state::node_cordon},
        {"node-drain", &state::node_drain},
        {"node-shrink", &state::node_shrink},
        {"node-not-ready", &state::node_not_ready},
        {"namespace-delete", &state::namespace_delete}};
    return all;
}

// When something is done.

void people::state::noticed(const change& what) {
    for (auto at = waits.begin(); at != waits.end();) {
        const bool hit = at->type->plural == what.type->plural && at->name == what.after->name() &&
                         at->ns == what.after->ns() && at->reached(what);
        if (!hit) {
            ++at;
            continue;
        }
        // Not from within a change: it comes right after it.
        later(steady_time::duration::zero(), std::move(at->then));
        at = waits.erase(at);
    }
}

void people::state::act(const happening& what, bool fault) {
    const auto* when = fields::find(what.with, {"when"});
    if (!when) return perform(what, fault);
    const auto* type = kind_of(text_of(*when, "kind"));
    const auto pointer_text = text_of(*when, "at", "/status/state");
    if (!type || !pointer_text.starts_with('/')) return;
    waiting one;
    one.type = type;
    one.ns = type->namespaced ? text_of(*when, "ns", "default") : std::string();
    one.name = text_of(*when, "name");
    const auto* given = fields::find(*when, {"is"});
    const auto shows = [pointer = json::json_pointer(pointer_text),
                        is = given ? *given : json::array()](const json& object) {
        if (!object.contains(pointer)) return false;
        const auto& value = object.at(pointer);
        return is.empty() ? !value.is_null() : std::ranges::find(is, value) != is.end();
    };
    if (const auto now = objects().find(*type, one.ns, one.name); now && shows(now->body())) {
        return perform(what, fault);
    }
    one.reached = [shows](const change& changed) {
        return changed.what != change_type::deleted && shows(changed.after->body());
    };
    const auto done = std::make_shared<bool>(false);
    one.then = [what, done, fault](state& self) {
        if (!*done) self.perform(what, fault);
    };
    wait(std::move(one));
    later(ms_of(*when, "for_ms", 120000), [done](state&) { *done = true; });
}

void people::state::perform(const happening& what, bool fault) {
    const auto found = all_deeds().find(what.what);
    if (found == all_deeds().end()) return;
    const bool effect = (this->*found->second)(what.with);
    if (effect) ++(fault ? effects : works)[what.what];
    in.told.tell("people", [&] {
        return fmt::format("{} {}{}", what.what, what.with.dump(), effect ? "" : " (no effect)");
    });
}

people::people(surroundings& in, kubelet& nodes) : state_(std::make_shared<state>(in, nodes)) {
    in.server.objects().on_change([weak = std::weak_ptr<state>(state_)](const change& what) {
        if (const auto self = weak.lock(); self && !self->waits.empty()) self->noticed(what);
    });
}
people::~people() = default;

void people::cancel_by(application_end way) { state_->cancel = std::move(way); }
bool people::does(std::string_view what) { return state::all_deeds().contains(what); }
void people::act(const happening& what) { once_there(what, true); }
void people::work(const happening& what) { once_there(what, false); }
void people::once_there(const happening& what, bool fault) {
    state_->in.server.when_there([weak = std::weak_ptr<state>(state_), what, fault] {
        if (const auto self = weak.lock()) self->act(what, fault);
    });
}
void people::drop_what_waits() { state_->waits.clear(); }
const std::map<std::string, int>& people::effects() const { return state_->effects; }
const std::map<std::string, int>& people::works() const { return state_->works; }

}  // namespace esi::simulation
