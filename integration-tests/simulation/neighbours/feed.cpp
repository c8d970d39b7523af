#include "neighbours/feed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/group_kinds.h"

namespace esi::simulation {

struct feed::state {
    struct stream {
        const kube::resource_type* type;
        steady_time last{};
    };

    surroundings& in;
    random_source chance;
    std::vector<stream> streams;
    reader to;
    pace speed;
    /// 0: stopped. A new one for each start, by which what is under way knows its life.
    std::uint64_t life = 0;
    std::uint64_t lives = 0;
    bool listed = false;

    stream* of(const kube::resource_type& type) {
        for (auto& one : streams) {
            if (known_as(*one.type) == known_as(type)) return &one;
        }
        return nullptr;
    }

    void list() {
        listed = true;
        for (auto& one : streams) {
            one.last = in.time.now();
            to.listed(*one.type, in.server.objects().all(*one.type));
        }
    }
};

feed::feed(surroundings& in, std::string_view name, std::vector<const kube::resource_type*> kinds,
           reader to)
    : state_(std::make_shared<state>(in, in.chance.fork(name))) {
    for (const auto* one : kinds) state_->streams.push_back({one});
    state_->to = std::move(to);
    in.server.objects().on_change([weak = std::weak_ptr(state_)](const change& made) {
        auto self = weak.lock();
        if (!self || self->life == 0 || !self->listed) return;
        auto* stream = self->of(*made.type);
        if (!stream || (self->to.wanted && !self->to.wanted(made))) return;
        const auto due =
            self->in.time.now() + self->chance.between(self->speed.least, self->speed.most);
        stream->last = std::max(stream->last, due);
        self->in.time.at(stream->last, [weak, made, life = self->life] {
            auto again = weak.lock();
            if (!again || again->life != life) return;
            again->in.server.when_there([weak, made, life] {
                auto there = weak.lock();
                if (there && there->life == life) there->to.changed(made);
            });
        });
    });
}

feed::~feed() { stop(); }

void feed::start() {
    if (state_->life != 0) return;
    state_->life = ++state_->lives;
    state_->listed = false;
    const auto lag = state_->chance.between(state_->speed.least, state_->speed.most);
    state_->in.time.after(lag, [weak = std::weak_ptr(state_), life = state_->life] {
        auto self = weak.lock();
        if (!self || self->life != life) return;
        self->in.server.when_there([weak, life] {
            auto again = weak.lock();
            if (again && again->life == life) again->list();
        });
    });
}

void feed::stop() { state_->life = 0; }

void feed::set_pace(pace speed) { state_->speed = speed; }

}  // namespace esi::simulation
