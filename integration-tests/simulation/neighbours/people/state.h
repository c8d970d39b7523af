// What people know and can do; the inside of people.h, which the sources of this folder share. Each
// of them has the deeds of one role. Nothing outside of the folder includes it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "model/names.h"
#include "neighbours/people/people.h"

namespace esi::simulation {

namespace deeds {

namespace names = model::names;

/// Null: such a kind is not served.
const kube::resource_type* kind_of(std::string_view plural);
const kube::resource_type* kind_of_object(const json& object);
std::string text_of(const json& with, std::string_view key, std::string_view otherwise = {});
milliseconds ms_of(const json& with, std::string_view key, std::int64_t otherwise);
std::optional<int> grace_of(const json& with);
/// What a person would write down to make the object again.
json remade(const json& object);

}  // namespace deeds

struct people::state : std::enable_shared_from_this<people::state> {
    state(surroundings& surround, kubelet& agents)
        : in(surround), nodes(agents), own(surround.server, "people") {}

    surroundings& in;
    kubelet& nodes;
    desk own;
    std::map<std::string, int> effects;
    std::map<std::string, int> works;
    application_end cancel;

    /// One that waits for a state of an object, or for its end.
    struct waiting {
        const kube::resource_type* type;
        std::string ns;
        std::string name;
        std::function<bool(const change&)> reached;
        std::function<void(state&)> then;
    };
    std::list<waiting> waits;

    using deed = bool (state::*)(const json& with);
    /// By happening::what.
    static const std::map<std::string_view, deed>& all_deeds();

    storage& objects() const { return in.server.objects(); }
    void meddled(const std::string& text) { in.seen.meddled(text); }
    /// Who does not reach the API server tries again until it is there.
    template <class What>
    void later(steady_time::duration time, What what) {
        in.time.after(time, [weak = weak_from_this(), what = std::move(what)] {
            const auto self = weak.lock();
            if (!self) return;
            self->in.server.when_there([weak, what] {
                if (const auto again = weak.lock()) what(*again);
            });
        });
    }

    void noticed(const change& what);
    std::list<waiting>::iterator wait(waiting one) {
        return waits.insert(waits.end(), std::move(one));
    }
    void act(const happening& what, bool fault);
    void perform(const happening& what, bool fault);

    std::vector<object_pointer> pods(std::string_view ns,
                                     const std::function<bool(const json&)>& which) const;
    object_pointer ghost_of(const json& with) const;
    object_pointer job_pod_of(const json& with, bool running = false,
                              bool coordinator = false) const;
    bool merge(const kube::resource_type& type, std::string_view ns, std::string_view name,
               json body, std::string_view subresource = {});
    bool strip_object(const kube::resource_type& type, const object_pointer& object,
                      std::string_view part);
    bool remove_pod(const object_pointer& pod, const json& with);
    /// It is there, or made now.
    bool own_namespace(const std::string& name);

    // Deeds, by happening::what.
    bool create(const json& with);
    bool remove(const json& with);
    bool patch(const json& with);
    bool extend(const json& with);
    bool reset(const json& with);
    bool edit_spec(const json& with);
    bool edit_status(const json& with);
    bool strip(const json& with);
    bool strip_ghost(const json& with);
    bool strip_job_pod(const json& with);
    bool delete_ghost(const json& with);
    bool keep_ghost(const json& with);
    bool delete_job_pod(const json& with);
    bool evict(const json& with);
    bool executor_crash(const json& with);
    bool driver_crash(const json& with);
    bool pod_hangs(const json& with);
    bool delete_application(const json& with);
    bool cancel_job(const json& with);
    bool recreate(const json& with);
    bool release_by_hand(const json& with);
    bool take_hold(const json& with);
    bool copy_token(const json& with);
    bool forge_pod(const json& with);
    bool forge_order(const json& with);
    bool forge_scheduling(const json& with);
    bool forge_testbed(const json& with);
    bool keep_job_pod(const json& with);
    bool deep_spec(const json& with);
    bool node_gone(const json& with);
    bool node_relabel(const json& with);
    bool node_cordon(const json& with);
    bool node_drain(const json& with);
    bool node_shrink(const json& with);
    bool node_not_ready(const json& with);
    bool namespace_delete(const json& with);
    /// As soon as the namespace is gone: it again, and in it these.
    void make_anew(const std::string& name, const json& objects_of_it);
};

}  // namespace esi::simulation
