#include "gangs/report.h"

#include <fmt/format.h>

namespace esi::gangs {

std::string before_text(const gang& of, const wait_memory& its) {
    auto out = fmt::format("; {} group{} before it", its.before, its.before == 1 ? "" : "s");
    if (its.behind && its.behind->namespace_ == of.key.namespace_) {
        out += fmt::format(", the next is {}/{}", its.behind->namespace_, its.behind->name);
    }
    return out;
}

std::string explain(const gang& of, const gang_memory& known) {
    const auto& now = known.at;
    auto out = fmt::format("{}: {}", of.key.text(), show(now.at));
    // `since` counts through all reasons while the gang waits.
    const bool waits = now.at == state::waiting || now.at == state::reserving;
    const auto since = waits && known.wait.since ? known.wait.since : now.since;
    if (since) out += " since " + model::timestamp{*since}.whole_seconds();
    if (waits && known.wait.behind) {
        out += fmt::format(", {} group{} before it (next {})", known.wait.before,
                           known.wait.before == 1 ? "" : "s", known.wait.behind->text());
    }
    if (!now.reason.empty() && now.reason != show(now.at)) out += "; " + now.reason;
    if (!now.message.empty()) out += ": " + now.message;
    // Only for /debug, whose readers are admins; the text before it is also given to tenants.
    const bool lacks_room = now.reason == "NoRoom" || now.reason == "NeverFits";
    if (lacks_room && !known.wait.most_left_on.empty()) {
        out += fmt::format("; most is left on node {}", known.wait.most_left_on);
    }
    if (const auto& why = known.wait.surplus; !why.empty()) {
        out += "; a member beyond the minimum waits: " + why;
    }
    return out;
}

}  // namespace esi::gangs
