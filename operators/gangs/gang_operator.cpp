#include "gangs/gang_operator.h"

#include <fmt/format.h>

#include <chrono>

#include "gangs/report.h"
#include "kube/resource.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;
namespace types = kube::types;

namespace {

/// One key: all gangs are decided on together.
const model::object_key all_gangs{"", "gangs"};
constexpr std::size_t most_stale = 1000;
/// Any account that may create pods can create many stranded ones. At most this many are reported
/// at a time, so that other Events keep their place in the queue.
constexpr std::size_t most_stranded = 10;
constexpr seconds stranded_pause{1};
/// Lines of GET /debug/gangs.
constexpr std::size_t most_explained = 10000;

settings settings_of(const gang_options& chosen) {
    settings out;
    out.reserve_after = chosen.reserve_after;
    out.reserve_for = chosen.reserve_for;
    out.how = chosen.packing == "Spread" ? packing::spread : packing::fewest_nodes;
    return out;
}

}  // namespace

gang_operator::gang_operator(controller::environment& env, const gang_options& chosen,
                             const kube::store<model::node>& nodes, placement::room_upkeep& room,
                             bool tell_nodes)
    : env_(env),
      options_(chosen),
      tell_nodes_(tell_nodes),
      groups_(env.api, env.time, env.options.namespaces,
              model::object_key::from_text(chosen.scheduler_lease)),
      book_(env.options.namespaces),
      ledger_(room),
      numbers_(env.numbers),
      actor_(env.executor, env.time, env.api, nodes, room.room(), shown_, numbers_,
             [this](const action& what, outcome how) {
                 take_outcome(known_, what, how, env_.time.now());
                 wake();
             }),
      controller_(
          "gangs", env.time, env.executor, env.numbers,
          [this](model::object_key) { return pass(); }, 1) {
    known_.process = env.identity;
    groups_.on_change(*this);
}

void gang_operator::lead() {
    leads_ = true;
    controller_.start();
    controller_.enqueue(all_gangs);
}

asio::awaitable<void> gang_operator::stop(steady_time deadline) {
    co_await controller_.stop(deadline);
    co_await actor_.stop(deadline);
}

void gang_operator::wake() {
    if (leads_) {
        controller_.enqueue(all_gangs);
    } else if (book_.stale() >= most_stale) {
        // Names of groups that have long gone must not gather in a standby.
        book_.bring_up(groups_);
    }
}

void gang_operator::pod_changed(const kube::change<model::pod>& what) {
    shown_.pod_changed(what.before, what.after);
    book_.pod_changed(what.before, what.after);
    wake();
}

void gang_operator::group_changed(const gang_key& of) {
    book_.group_changed(of);
    wake();
}

void gang_operator::namespace_changed(std::string_view ns) {
    book_.namespace_changed(ns, groups_);
    wake();
}

asio::awaitable<result<controller::outcome>> gang_operator::pass() {
    using controller::outcome;
    const auto now = env_.time.now();
    if (next_pass_ && now < *next_pass_) co_return outcome::again_in(*next_pass_ - now);
    next_pass_ = now + pass_pause;
    book_.bring_up(groups_);
    auto& room = ledger_.bring_up();
    const auto loose = book_.loose();
    outcome out;
    out.after = tell_stranded(now);
    // No gangs: nothing to decide, and none remembered that has left something behind.
    if (book_.gangs().empty() && loose.empty() && known_.gangs.empty()) co_return out;
    const auto began = std::chrono::steady_clock::now();
    view seen{book_.gangs()};
    seen.loose = loose;
    seen.scheduler = groups_.scheduler();
    seen.scheduler_name = options_.scheduler_name;
    seen.classes = &groups_.classes();
    seen.namespaces = &groups_.namespaces();
    seen.options = settings_of(options_);
    seen.options.tell_nodes = tell_nodes_;
    seen.now = now;
    seen.wall = env_.time.wall();
    auto decided = decide(seen, known_, room);
    for (const auto& each : decided.notes) tell(each);
    for (const auto& each : decided.actions) {
        const auto* gone = std::get_if<delete_pod>(&each);
        if (gone && gone->refused) numbers_.refused();
    }
    actor_.take(std::move(decided.actions));
    numbers_.show(known_);
    numbers_.pass(std::chrono::steady_clock::now() - began);
    const auto ended = env_.time.now();
    if (ended > now) next_pass_ = ended + pause_after(ended - now);
    if (decided.again && (!out.after || *decided.again < *out.after)) out.after = decided.again;
    co_return out;
}

std::optional<steady_time::duration> gang_operator::tell_stranded(steady_time now) {
    if (!book_.any_stranded()) return std::nullopt;
    if (now >= next_stranded_) {
        for (auto& each : book_.take_stranded(groups_, most_stranded)) {
            note what{true, "NotEnabled", "Start", {}, each.of, std::move(each.group), {}};
            if (each.of.name.empty()) {
                what.reason = "GroupNameInvalid";
                what.pod = each.pod;
                what.text =
                    fmt::format("pod {} waits at the gate {} and is a member of no group: {}",
                                each.pod->metadata.name, names::gang, why_no_group(*each.pod));
            } else {
                if (!what.group) what.pod = each.pod;
                what.text = fmt::format(
                    "namespace {} has not the label {}=enabled; who may label namespaces enables "
                    "it",
                    each.of.namespace_, names::gangs);
            }
            tell(what);
        }
        next_stranded_ = now + stranded_pause;
        if (!book_.any_stranded()) return std::nullopt;
    }
    return next_stranded_ - now;
}

void gang_operator::tell(const note& what) {
    using subject = controller::event_subject;
    std::optional<subject> whole;
    if (what.group) whole.emplace(what.group.kind->type, what.group.object->metadata);
    std::optional<subject> about;
    if (what.pod) {
        about.emplace(types::pod, what.pod->metadata);
    } else if (whole) {
        about = std::exchange(whole, std::nullopt);
    } else if (const auto found = book_.gangs().find(what.of);
               found != book_.gangs().end() && !found->second->members.empty()) {
        about.emplace(types::pod, found->second->members.front().pod->metadata);
    }
    const auto level = what.warning ? log::level::warn : log::level::info;
    log::write(level, what.reason,
               {{"group", what.of.text()},
                {"pod", what.pod ? what.pod->metadata.key().text() : std::string()},
                {"note", what.text}});
    if (!about) return;
    if (what.warning) {
        env_.events.warning(*about, what.reason, what.action, what.text, whole);
    } else {
        env_.events.normal(*about, what.reason, what.action, what.text, whole);
    }
}

void gang_operator::add_debug_route(http::router& routes) const {
    routes.add("GET", "/debug/gangs",
               [this](http::server_request) -> asio::awaitable<http::server_reply> {
                   co_return http::server_reply(200, "text/plain", explain(most_explained));
               });
}

std::string gang_operator::explain(std::size_t most) const {
    std::string out;
    std::size_t left = most;
    for (const auto& [key, known] : known_.gangs) {
        const auto found = book_.gangs().find(key);
        if (found == book_.gangs().end()) continue;
        if (left-- == 0) return out + "...\n";
        out += gangs::explain(*found->second, known) + "\n";
    }
    return out;
}

}  // namespace esi::gangs
