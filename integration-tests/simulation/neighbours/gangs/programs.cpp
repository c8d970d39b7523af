#include "neighbours/gangs/programs.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/fields.h"

namespace esi::simulation {

namespace {

std::optional<int> number_at(const json& pod, std::string_view annotation) {
    const auto text = fields::annotation(pod, annotation);
    int out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return text.empty() || read.ec != std::errc() ? std::nullopt : std::optional(out);
}

}  // namespace

struct programs::state {
    state(surroundings& around, kubelet& machines) : in(around), nodes(machines) {}

    surroundings& in;
    kubelet& nodes;
    /// By uid: those that have begun.
    std::set<std::string, std::less<>> begun;
};

programs::programs(surroundings& in, kubelet& nodes) : state_(std::make_shared<state>(in, nodes)) {
    in.server.objects().on_change([weak = std::weak_ptr(state_)](const change& what) {
        const auto self = weak.lock();
        if (!self || what.type->plural != kinds::pod.plural) return;
        const auto& uid = what.after->uid();
        if (what.what == change_type::deleted) {
            self->begun.erase(uid);
            return;
        }
        const auto& body = what.after->body();
        if (fields::phase(body) != "Running") return;
        const auto time = number_at(body, "example.com/runs-ms");
        if (!time || !self->begun.insert(uid).second) return;
        const int code = number_at(body, "example.com/exit").value_or(0);
        self->in.time.after(milliseconds(*time), [weak, uid, code] {
            if (const auto there = weak.lock(); there && there->begun.contains(uid)) {
                there->nodes.finish(uid, code);
            }
        });
    });
}

}  // namespace esi::simulation
