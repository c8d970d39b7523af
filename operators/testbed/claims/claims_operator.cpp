#include "testbed/claims/claims_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/resource.h"
#include "model/conditions.h"
#include "testbed/room/ghosts.h"
#include "testbed/room/layout.h"

namespace esi::testbed::claims {

namespace reason = model::condition_reason;

namespace {

/// All claims are planned out of the same room.
const model::object_key all_claims{"", "claims"};

constexpr kube::resource_type class_type{"scheduling.k8s.io", "v1", "priorityclasses",
                                         "PriorityClass", false};

}  // namespace

claims_operator::claims_operator(controller::environment& env, testbed::caches& from,
                                 gangs::room_upkeep& room, bool compact, listener changed)
    : env_(env),
      caches_(from),
      ledger_(room),
      compact_(compact),
      changed_(std::move(changed)),
      controller_(
          "claims", env.time, env.executor, env.numbers,
          [this](model::object_key) { return pass(); }, 1),
      numbers_(env.numbers) {
    from.on_node_change([this](const kube::change<model::node>&) { wake(); });
    from.on_pod_change([this](const kube::change<model::pod>&) { wake(); });
}

void claims_operator::lead() {
    leads_ = true;
    controller_.start();
    controller_.enqueue(all_claims);
}

asio::awaitable<void> claims_operator::stop(steady_time deadline) {
    co_await controller_.stop(deadline);
}

void claims_operator::wake() {
    if (leads_ && !entries_.empty()) controller_.enqueue(all_claims);
}

void claims_operator::testbed_changed(const model::object_key& key) {
    const auto testbed = caches_.find_testbed(key);
    const auto found = entries_.find(key);
    const bool claims = testbed && testbed->spec.claim;
    if (found != entries_.end() && (!claims || found->second.uid != testbed->metadata.uid)) {
        drop(found->second);
        entries_.erase(found);
        if (leads_ && entries_.empty()) show_numbers();
    }
    if (!claims) {
        ++labelled_;
        return wake();
    }
    auto& own = entries_[key];
    if (own.uid.empty()) own.without_since = env_.time.now();
    own.uid = testbed->metadata.uid;
    const auto& layout = testbed->status.layout;
    const bool shown = own.next && layout && layout->revision >= own.next->layout.revision;
    if (shown || !may_change(*testbed)) drop(own);
    wake();
}

const model::testbed_layout* claims_operator::plan_of(const model::testbed& testbed) const {
    const auto found = entries_.find(testbed.metadata.key());
    if (found == entries_.end() || found->second.uid != testbed.metadata.uid) return nullptr;
    const auto& next = found->second.next;
    if (!next || next->written || is_formed(testbed) || !may_change(testbed)) return nullptr;
    const auto& before = testbed.status.layout;
    const bool follows = next->layout.revision == (before ? before->revision : 0) + 1;
    return follows && !testbed.spec.claim->suspend ? &next->layout : nullptr;
}

void claims_operator::written(const model::object_key& key, bool well) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.next) return;
    // It may have been written all the same: the plan is written again, or dropped in time.
    if (!well) return controller_.enqueue_after(all_claims, plan_patience);
    found->second.next->written = true;
    found->second.at = {};
    found->second.unsaid.clear();
    found->second.failed.reset();
}

void claims_operator::gives_back(const model::object_key& key, const std::set<std::string>& nodes,
                                 standing at) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    auto& own = found->second;
    const auto now = env_.time.now();
    for (const auto& node : nodes) {
        auto& entry = own.avoided[node];
        const bool first = entry.wait == steady_time::duration{};
        entry.wait = first ? steady_time::duration(avoided_for)
                           : std::min<steady_time::duration>(entry.wait * 2, avoided_at_most);
        entry.until = now + entry.wait;
    }
    gave_back(own, std::move(at));
}

standing claims_operator::gives_back_refused(const model::object_key& key, std::string_view why) {
    auto& own = entries_[key];
    const auto now = env_.time.now();
    // It was refused again within as long a time as it had waited.
    const bool again = own.refused_wait > seconds(0) &&
                       now - own.not_before <= own.refused_wait + refused_patience;
    own.refused_wait =
        again ? std::min(own.refused_wait * 2, refused_pause_at_most) : refused_pause;
    own.not_before = now + own.refused_wait;
    gave_back(own, {std::string(reason::claim_waiting),
                    fmt::format("{}. All places are given back, and planned again in {} s", why,
                                own.refused_wait.count())});
    return own.at;
}

void claims_operator::gave_back(entry& own, standing at) {
    own.failed.reset();
    own.at = std::move(at);
    own.unsaid.clear();
    own.without_since = env_.time.now();
    numbers_.gave_back();
}

standing claims_operator::standing_of(const model::object_key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? standing() : found->second.at;
}

void claims_operator::drop(entry& own) {
    if (!own.next) return;
    for (const auto& uid : own.next->promises) ledger_.room().release(uid);
    own.next.reset();
}

void claims_operator::stand(const model::object_key& key, entry& own, std::string_view why,
                            std::string message) {
    standing said{std::string(why), std::move(message)};
    own.unsaid.clear();
    if (own.at == said) return;
    const auto now = env_.time.now();
    if (own.at.reason == said.reason && now - own.words_since < words_pause) {
        own.unsaid = std::move(said.message);
        return again_in(own.words_since + words_pause - now);
    }
    own.at = std::move(said);
    own.words_since = now;
    changed_(key);
}

void claims_operator::show_numbers() {
    std::map<std::string_view, int> by_reason;
    for (const auto& [key, own] : entries_) {
        const auto testbed = caches_.find_testbed(key);
        if (!testbed) continue;
        const bool placed = is_formed(*testbed);
        ++by_reason[placed                  ? reason::claim_placed
                    : own.at.reason.empty() ? reason::claim_waiting
                                            : std::string_view(own.at.reason)];
    }
    numbers_.show(by_reason);
}

std::vector<testbed_pointer> claims_operator::waiting() const {
    std::vector<testbed_pointer> out;
    for (const auto& [key, own] : entries_) {
        auto testbed = caches_.find_testbed(key);
        if (!testbed || !may_change(*testbed) || is_formed(*testbed)) continue;
        if (!problems_of(testbed->spec).empty()) continue;
        out.push_back(std::move(testbed));
    }
    std::ranges::sort(out, [](const auto& a, const auto& b) { return comes_before(*a, *b); });
    return out;
}

bool claims_operator::may_plan(const model::testbed& testbed, entry& own) {
    const auto key = testbed.metadata.key();
    const auto now = env_.time.now();
    if (own.next && !own.next->written && now - own.next->since >= plan_patience) drop(own);
    if (!own.unsaid.empty()) stand(key, own, own.at.reason, std::string(own.unsaid));
    if (own.next) {
        again_in(plan_patience);
        return false;
    }
    if (testbed.spec.claim->suspend) {
        stand(key, own, reason::claim_suspended, "spec.claim.suspend is true");
        return false;
    }
    bool ghosts = false;
    caches_.pods().each_by_index("ghosts", key.text(), [&](const pod_pointer& pod) {
        ghosts = ghosts || is_own_ghost(*pod, testbed);
    });
    if (ghosts) {
        // They take the room that is given back. Why it was stays told.
        if (own.at.reason != reason::claim_waiting) {
            stand(key, own, reason::claim_waiting, "the ghosts of its earlier places are removed");
        }
        return false;
    }
    return true;
}

bool claims_operator::is_labelled(const model::node& node) const {
    const auto& roster = caches_.roster();
    return std::ranges::any_of(node.metadata.labels, [&](const auto& label) {
        if (!roster.has_label(label.first) || !parse_node_id(label.second)) return false;
        const auto keys = roster.with_label(label.first);
        return std::ranges::any_of(keys, [&](const auto& key) {
            const auto testbed = caches_.find_testbed(key);
            return testbed && !testbed->metadata.deleting() && problems_of(testbed->spec).empty();
        });
    });
}

std::set<std::string, std::less<>> claims_operator::nodes_left_out(const entry& own) const {
    const auto now = env_.time.now();
    std::set<std::string, std::less<>> out;
    for (const auto& [node, each] : own.avoided) {
        if (now < each.until) out.insert(node);
    }
    // Nodes of labelled Testbeds are theirs.
    for (const auto& [key, node] : caches_.nodes().all()) {
        if (is_labelled(*node)) out.insert(key.name);
    }
    return out;
}

claims_operator::surroundings claims_operator::around(const model::testbed& testbed, entry& own) {
    const auto now = env_.time.now();
    // What has failed counts for as long again as the node was left out.
    std::erase_if(own.avoided,
                  [&](const auto& each) { return each.second.until + each.second.wait <= now; });
    const auto left_out = std::ranges::count_if(
        own.avoided, [&](const auto& each) { return now < each.second.until; });
    if (left_out > 0) again_in(again_when_avoided);
    return {ledger_.room().freed(), labelled_, testbed.metadata.generation,
            static_cast<std::size_t>(left_out)};
}

void claims_operator::plan(const testbed_pointer& testbed, entry& own) {
    const auto key = testbed->metadata.key();
    auto& room = ledger_.bring_up();
    gangs::fit_options how;
    how.without = nodes_left_out(own);
    const auto places = places_asked_for(*testbed);
    how.how = testbed->spec.claim->packing == model::claim_packing::spread
                  ? gangs::packing::spread
                  : gangs::packing::fewest_nodes;
    how.members = "places";
    how.member = "place";
    how.left_out = "node(s) carry the label of a Testbed, or gave back a place";
    auto found = gangs::fit(places, room, {}, how);
    if (const auto* where = std::get_if<gangs::placement>(&found)) {
        entry::plan next{layout_of(*testbed, *where, room, compact_), {}, env_.time.now()};
        for (std::size_t i = 0; i < places.size(); ++i) {
            next.promises.push_back(places[i]->metadata.uid);
            room.promise(promise_for(*places[i]), where->nodes[i]);
        }
        own.next = std::move(next);
        own.failed.reset();
        numbers_.planned(env_.time.now() - own.without_since);
        return changed_(key);
    }
    own.failed = around(*testbed, own);
    auto& why = std::get<gangs::no_fit>(found);
    how.without.clear();
    const auto& never = never_fits(*testbed, own, places, how);
    if (!own.never.at) {
        // Others were asked about in this pass.
        own.failed.reset();
        again_in(pass_pause);
    }
    stand(key, own, never.empty() ? reason::claim_no_room : reason::claim_never_fits,
          never.empty() ? std::move(why.message) : never);
}

const std::string& claims_operator::never_fits(const model::testbed& testbed, entry& own,
                                               std::span<const pod_pointer> places,
                                               const gangs::fit_options& how) {
    const auto now = env_.time.now();
    auto& never = own.never;
    const auto generation = testbed.metadata.generation;
    if (never.generation != generation) never = {};
    const bool asked = never.at && now - *never.at < never_pause;
    if (asked || !std::exchange(may_ask_empty_, false)) return never.why;
    gangs::cluster_room empty;
    for (const auto& [key, node] : caches_.nodes().all()) {
        if (node->ready) {
            empty.node_changed(key.name, node);
            continue;
        }
        auto well = std::make_shared<model::node>(*node);
        well->ready = true;
        std::erase_if(well->taints, [](const auto& taint) {
            return taint.key.starts_with("node.kubernetes.io/");
        });
        empty.node_changed(key.name, std::move(well));
    }
    auto found = gangs::fit(places, empty, {}, how);
    auto* why = std::get_if<gangs::no_fit>(&found);
    never = {now, generation, why ? "on empty nodes " + why->message : std::string()};
    return never.why;
}

asio::awaitable<std::string> claims_operator::problem_of_class(int priority) {
    if (const auto known = classes_.find(priority); known != classes_.end()) {
        co_return known->second.problem;
    }
    auto found = co_await env_.api.get(class_type, "", claim_priority_class(priority));
    std::string problem;
    // Those that the chart has not made may not be read either.
    if (found || found.error().code == errc::not_found || found.error().code == errc::forbidden) {
        problem = class_problem(priority, found ? *found : std::string());
    } else {
        problem = fmt::format("PriorityClass {} cannot be read: {}", claim_priority_class(priority),
                              found.error().text);
    }
    classes_.insert_or_assign(priority, known_class{problem, env_.time.now()});
    co_return problem;
}

asio::awaitable<result<controller::outcome>> claims_operator::pass() {
    using controller::outcome;
    const auto now = env_.time.now();
    if (last_pass_ && now - *last_pass_ < pass_pause) {
        co_return outcome::again_in(*last_pass_ + pass_pause - now);
    }
    last_pass_ = now;
    again_.reset();
    may_ask_empty_ = true;
    std::erase_if(classes_,
                  [&](const auto& each) { return now - each.second.at >= class_patience; });
    ledger_.bring_up();
    int plans = 0;
    bool any_left = false;
    for (const auto& testbed : waiting()) {
        const auto key = testbed->metadata.key();
        auto found = entries_.find(key);
        if (found == entries_.end() || !may_plan(*testbed, found->second)) continue;
        if (found->second.failed == around(*testbed, found->second)) continue;
        if (now < found->second.not_before) {
            again_in(found->second.not_before - now);
            continue;
        }
        any_left = true;
        if (found->second.round >= round_) continue;
        if (++plans > most_plans) {
            again_in(pass_pause);
            break;
        }
        found->second.round = round_;
        auto problem = co_await problem_of_class(testbed->spec.claim->priority);
        // It may have gone meanwhile.
        found = entries_.find(key);
        if (found == entries_.end() || found->second.uid != testbed->metadata.uid) continue;
        if (!problem.empty()) {
            stand(key, found->second, reason::claim_class_missing, std::move(problem));
            // Nothing tells when it comes.
            found->second.not_before = now + class_patience;
            again_in(class_patience);
            continue;
        }
        plan(testbed, found->second);
    }
    if (plans <= most_plans) {
        // What was tried in this round has its turn again in the next one.
        ++round_;
        if (any_left) again_in(pass_pause);
    }
    show_numbers();
    if (!again_) co_return outcome();
    co_return outcome::again_in(*again_);
}

}  // namespace esi::testbed::claims
