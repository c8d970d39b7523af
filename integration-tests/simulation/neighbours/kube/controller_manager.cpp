#include "neighbours/kube/controller_manager.h"

#include <utility>
#include <vector>

#include "base/fields.h"
#include "neighbours/facts.h"
#include "neighbours/feed.h"
#include "neighbours/kube/duty.h"
#include "neighbours/kube/namespace_end.h"
#include "neighbours/kube/node_life.h"
#include "neighbours/kube/owner_deletion.h"

namespace esi::simulation {

namespace {

bool is(const kube::resource_type& type, const kube::resource_type& other) {
    return type.plural == other.plural;
}

/// Nodes before pods, so that a pod is not taken for one without a node; no Events and Leases: they
/// are many, and neither own nor are owned.
std::vector<const kube::resource_type*> followed() {
    std::vector<const kube::resource_type*> out{&kinds::node};
    for (const auto* type : all_kinds()) {
        if (is(*type, kinds::node) || is(*type, kinds::event) || is(*type, kinds::lease) ||
            is(*type, kinds::token_review)) {
            continue;
        }
        out.push_back(type);
    }
    return out;
}

bool wanted(const change& made) {
    if (is(*made.type, kinds::node) || is(*made.type, kinds::name_space)) return true;
    if (owner_deletion::wanted(made)) return true;
    if (!is(*made.type, kinds::pod)) return false;
    const auto part = [](const object& of) {
        return std::pair(fields::text(of.body(), {"spec", "nodeName"}),
                         fields::deleting(of.body()));
    };
    return !made.before || part(*made.before) != part(*made.after);
}

}  // namespace

struct controller_manager::state : std::enable_shared_from_this<controller_manager::state> {
    state(surroundings& around, kubelet* machines)
        : in(around),
          nodes(machines),
          chance(around.chance.fork("controllers")),
          api(around.server, "kube-controller-manager"),
          common{in, api, chance, [this](steady_time::duration time, std::function<void()> what) {
                     later(time, std::move(what));
                 }} {}

    surroundings& in;
    kubelet* nodes;
    random_source chance;
    desk api;
    duty common;
    owner_deletion garbage{common};
    namespace_end namespaces{common};
    node_life machines{common};
    std::unique_ptr<feed> sees;
    std::uint64_t life = 0;
    std::uint64_t lives = 0;

    void later(steady_time::duration time, std::function<void()> what) {
        in.time.after(time, [weak = weak_from_this(), life_then = life, what = std::move(what)] {
            auto self = weak.lock();
            if (self && self->life == life_then) what();
        });
    }

    void seen(const kube::resource_type& type, const object_pointer& what) {
        garbage.seen(type, *what);
        if (is(type, kinds::node)) {
            machines.node_seen(what, nodes && nodes->down(what->name()));
        } else if (is(type, kinds::pod)) {
            machines.pod_seen(what);
        } else if (is(type, kinds::name_space)) {
            namespaces.seen(*what);
        }
    }

    void changed(const change& made) {
        if (made.what != change_type::deleted) return seen(*made.type, made.after);
        garbage.gone(*made.after);
        if (is(*made.type, kinds::node)) machines.node_gone(made.after->name());
        if (is(*made.type, kinds::pod)) machines.pod_gone(made.after->uid());
    }

    void forget() {
        garbage.forget();
        namespaces.forget();
        machines.forget();
    }
};

controller_manager::controller_manager(surroundings& in, kubelet* nodes)
    : state_(std::make_shared<state>(in, nodes)) {
    auto* self = state_.get();
    feed::reader reader;
    reader.listed = [self](const kube::resource_type& type,
                           const std::vector<object_pointer>& objects) {
        for (const auto& one : objects) self->seen(type, one);
    };
    reader.changed = [self](const change& made) { self->changed(made); };
    reader.wanted = wanted;
    state_->sees = std::make_unique<feed>(in, "controllers see", followed(), std::move(reader));
    if (nodes) {
        nodes->on_silence([weak = std::weak_ptr(state_)](std::string_view node, bool silent) {
            auto to = weak.lock();
            if (to && to->life != 0) to->machines.silence(node, silent);
        });
    }
    restart();
}

controller_manager::~controller_manager() { crash(); }

void controller_manager::crash() {
    state_->life = 0;
    state_->sees->stop();
    state_->forget();
}

void controller_manager::restart() {
    if (state_->life != 0) return;
    state_->life = ++state_->lives;
    state_->sees->start();
}

void controller_manager::set_pace(pace speed) { state_->sees->set_pace(speed); }

}  // namespace esi::simulation
