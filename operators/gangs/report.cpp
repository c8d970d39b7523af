#include "gangs/report.h"

#include <fmt/format.h>

namespace esi::gangs {

std::string before_text(const gang& of, const standing& now) {
    auto out = fmt::format("; {} group{} before it", now.before, now.before == 1 ? "" : "s");
    if (now.behind && now.behind->namespace_ == of.key.namespace_) {
        out += fmt::format(", the next is {}/{}", now.behind->namespace_, now.behind->name);
    }
    return out;
}

std::string explain(const gang& of, const gang_memory& known) {
    const auto& now = known.at;
    auto out = fmt::format("{}: {}", of.key.text(), show(now.at));
    // `since` counts through all reasons while the gang waits.
    const bool waits = now.at == state::waiting || now.at == state::reserving;
    const auto since = waits && known.waits_since ? known.waits_since : now.since;
    if (since) out += " since " + model::timestamp{*since}.whole_seconds();
    if (waits && now.behind) {
        out += fmt::format(", {} group{} before it (next {})", now.before,
                           now.before == 1 ? "" : "s", now.behind->text());
    }
    if (!now.reason.empty() && now.reason != show(now.at)) out += "; " + now.reason;
    if (!now.message.empty()) out += ": " + now.message;
    // Only for /debug, whose readers are admins; the text before it is also given to tenants.
    const bool lacks_room = now.reason == "NoRoom" || now.reason == "NeverFits";
    if (lacks_room && !known.most_left_on.empty()) {
        out += fmt::format("; most is left on node {}", known.most_left_on);
    }
    if (!now.surplus.empty()) out += "; a member beyond the minimum waits: " + now.surplus;
    return out;
}

}  // namespace esi::gangs
