#include "testbed/claims/claims_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/resource.h"
#include "model/conditions.h"
#include "model/text.h"
#include "testbed/room/ghosts.h"
#include "testbed/room/layout.h"
#include "testbed/view/words.h"

namespace esi::testbed::claims {

namespace reason = model::condition_reason;

namespace {

/// The one key of the queue: all claims are planned out of the same room.
const model::object_key all_claims{"", "claims"};

constexpr kube::resource_type class_type{"scheduling.k8s.io", "v1", "priorityclasses",
                                         "PriorityClass", false};

/// Finds the nodes of Testbeds with a label: nodes that have slots of one, or would have them. A
/// label may have other uses, too: of nodes with the same number none gets slots.
class labelled_nodes {
public:
    explicit labelled_nodes(const testbed::caches& from) : from_(from) {
        for (const auto& [key, node] : from.nodes().all()) {
            each_number(*node, [&](label_use& of, std::int64_t id) { ++of.counts[id]; });
        }
    }

    bool contain(const model::node& node) {
        bool out = false;
        each_number(node, [&](const label_use& of, std::int64_t id) {
            const bool alone = of.counts.at(id) == 1;
            out = out || (of.any && alone) || of.members.contains(node.metadata.name);
        });
        return out;
    }

private:
    struct label_use {
        /// A Testbed that can have slots names the label.
        bool any = false;
        /// Nodes in the layouts of such Testbeds.
        std::set<std::string_view> members;
        /// By number: how many nodes have it.
        std::map<std::int64_t, int> counts;
    };

    label_use use_of(const std::string& label) const {
        label_use out;
        for (const auto& key : from_.roster().with_label(label)) {
            const auto testbed = from_.find_testbed(key);
            if (!testbed || testbed->metadata.deleting()) continue;
            if (!problems_of(testbed->spec).empty()) continue;
            out.any = true;
            const auto index = from_.roster().index_of(key);
            if (!index) continue;
            for (const auto& [name, node] : index->places->members()) out.members.insert(name);
        }
        return out;
    }

    template <class F>
    void each_number(const model::node& node, const F& take) {
        for (const auto& [label, value] : node.metadata.labels) {
            if (!from_.roster().has_label(label)) continue;
            const auto id = parse_node_id(value);
            if (!id) continue;
            auto known = uses_.find(label);
            if (known == uses_.end()) known = uses_.emplace(label, use_of(label)).first;
            take(known->second, *id);
        }
    }

    const testbed::caches& from_;
    std::map<std::string, label_use, std::less<>> uses_;
};

}  // namespace

claims_operator::claims_operator(controller::environment& env, const testbed::caches& from,
                                 placement::room_upkeep& room, forms how, listener changed)
    : env_(env),
      caches_(from),
      ledger_(room),
      forms_(how),
      changed_(std::move(changed)),
      controller_(
          "claims", env.time, env.executor, env.numbers,
          [this](model::object_key) { return pass(); }, 1),
      numbers_(env.numbers) {}

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
        forget(key);
        if (leads_ && entries_.empty()) show_numbers();
    }
    if (!claims) {
        ++labelled_;
        return wake();
    }
    auto& own = entries_[key];
    if (own.uid.empty()) {
        own.without_since = env_.time.now();
        take_over_wait(key, own);
    }
    own.uid = testbed->metadata.uid;
    const auto& layout = testbed->status.layout;
    const bool shown = own.next && layout && layout->revision >= own.next->layout.revision;
    if (shown || !may_change(*testbed)) drop(own);
    wake();
}

seconds claims_operator::pause::next(seconds first, steady_time again) const {
    const bool soon = wait > seconds(0) && again - until <= wait + refused_patience;
    return soon ? std::max(first, std::min(wait * 2, refused_pause_at_most)) : first;
}

void claims_operator::forget(const model::object_key& key) {
    const auto found = entries_.find(key);
    auto& own = found->second;
    drop(own);
    const auto now = env_.time.now();
    if (!own.refusal.empty() && now >= own.refused.until) {
        own.refused.begin(own.refused.next(refused_pause, now), now);
    }
    std::erase_if(refused_before_, [&](const auto& each) { return each.second.wait.is_over(now); });
    if (own.refused.wait > seconds(0) && !own.refused.is_over(now)) {
        auto& kept = refused_before_[key.namespace_];
        if (own.refused.until >= kept.wait.until) {
            kept = {own.refused, key.name, std::move(own.refusal)};
        }
    }
    entries_.erase(found);
}

void claims_operator::take_over_wait(const model::object_key& key, entry& own) {
    const auto kept = refused_before_.find(key.namespace_);
    if (kept == refused_before_.end()) return;
    const auto& [wait, name, words] = kept->second;
    const auto now = env_.time.now();
    if (wait.is_over(now)) {
        refused_before_.erase(kept);
        return;
    }
    own.refused = wait;
    if (now >= own.refused.until) return;
    const auto at = env_.time.wall() + std::chrono::ceil<seconds>(own.refused.until - now);
    own.at = {std::string(reason::claim_waiting),
              fmt::format("the ghosts of claim {}, which is gone, were refused{}: claims of this "
                          "namespace are planned again at {}",
                          name, words.empty() ? "" : " (" + words + ")",
                          model::timestamp{at}.whole_seconds())};
}

const model::testbed_layout* claims_operator::plan_of(const model::testbed& testbed) const {
    const auto found = entries_.find(testbed.metadata.key());
    if (found == entries_.end() || found->second.uid != testbed.metadata.uid) return nullptr;
    const auto& next = found->second.next;
    if (!next || next->written.has_value() || is_formed(testbed) || !may_change(testbed))
        return nullptr;
    const auto& before = testbed.status.layout;
    const bool follows = next->layout.revision == (before ? before->revision : 0) + 1;
    return follows && !testbed.spec.claim->suspend ? &next->layout : nullptr;
}

std::optional<next_layout> claims_operator::layout_for(const model::testbed& testbed, hints& known,
                                                       const ledger& states, const view& seen,
                                                       std::optional<steady_time::duration>& look) {
    if (!may_change(testbed) || !is_formed(testbed)) {
        // A finalizer or a spec that is changed for a moment does not restart the time.
        const bool counts_anew =
            !is_formed(testbed) || is_held(testbed) || testbed.metadata.deleting();
        if (counts_anew) known.incomplete.reset();
        const auto* plan = plan_of(testbed);
        if (!plan) return std::nullopt;
        return next_layout{*plan};
    }
    const auto& counts = states.sums().counts;
    if (counts.free == counts.total) {
        known.incomplete.reset();
        sees_refusal(testbed, "");
        return std::nullopt;
    }
    const auto now = env_.time.now();
    const auto since = known.incomplete_since(counts.free, now);
    auto patience = seconds(testbed.spec.claim->timeout_seconds);
    const auto* refused = known.refused_since(since);
    sees_refusal(testbed, refused ? std::string_view(refused->text) : "");
    if (refused) patience = std::min(patience, refused_patience);
    if (now - since < patience) {
        // A refusal shows before `patience` is over: this checks for one after refused_patience.
        look = std::min<steady_time::duration>(since + patience - now, refused_patience);
        return std::nullopt;
    }
    next_layout out{layout_without_places(testbed)};
    if (refused) {
        out.back = as_refused(testbed.metadata.key(),
                              fmt::format("{} of {} without a ghost, which is refused: {}",
                                          counts.total - counts.free,
                                          count_of(counts.total, "place"), refused->text));
    } else {
        const auto& places = *seen.index_of(*seen.testbed).places;
        out.back = with_pause(testbed.metadata.key(),
                              as_not_free(testbed, states, places, known, now, patience),
                              known.incomplete->begin);
    }
    return out;
}

claims_operator::entry* claims_operator::entry_of(const model::testbed& testbed) {
    const auto found = entries_.find(testbed.metadata.key());
    const bool same = found != entries_.end() && found->second.uid == testbed.metadata.uid;
    return same ? &found->second : nullptr;
}

void claims_operator::writes(const model::testbed& testbed) {
    auto* own = entry_of(testbed);
    if (own && own->next) own->next->under_way = true;
}

void claims_operator::written(const model::testbed& testbed, std::optional<std::string> problem) {
    auto* own = entry_of(testbed);
    if (!own) return;
    if (!problem) own->unwritten = {};
    if (!own->next) return;
    own->next->under_way = false;
    if (problem) {
        // The layout may have been written all the same. Otherwise the plan is written again, or
        // dropped after plan_patience.
        constexpr std::size_t most_text = 500;
        own->next->problem = model::cut(*problem, most_text);
        return controller_.enqueue_after(all_claims, plan_patience);
    }
    own->next->written = env_.time.now();
    own->at = {};
    own->unsaid.clear();
    own->failed.reset();
}

void claims_operator::sees_refusal(const model::testbed& testbed, std::string_view words) {
    constexpr std::size_t most_text = 300;
    auto* own = entry_of(testbed);
    if (own && own->refusal != words) own->refusal = model::cut(std::string(words), most_text);
}

seconds claims_operator::next_wait(const model::object_key& key, pause entry::* of, seconds first,
                                   steady_time again) const {
    const auto found = entries_.find(key);
    const auto before = found == entries_.end() ? pause() : found->second.*of;
    return before.next(first, again);
}

give_back claims_operator::as_refused(const model::object_key& key, std::string_view why) const {
    const auto wait = next_wait(key, &entry::refused, refused_pause, env_.time.now());
    return {{std::string(reason::claim_waiting),
             fmt::format("{}. All places are given back, and planned again in {} s", why,
                         wait.count())},
            {},
            wait,
            true};
}

give_back claims_operator::with_pause(const model::object_key& key, give_back what,
                                      steady_time begin) const {
    if (!what.nodes.empty()) return what;
    what.wait = next_wait(key, &entry::not_free, not_free_pause, begin);
    what.at.message += fmt::format(" in {} s, as no node is at fault", what.wait.count());
    return what;
}

void claims_operator::gave_back(const model::testbed& testbed, give_back what) {
    auto* entry_now = entry_of(testbed);
    if (!entry_now) return;
    auto& own = *entry_now;
    const auto now = env_.time.now();
    // A plan that was made since the cache showed this layout does not know yet what failed.
    drop(own);
    if (what.wait > seconds(0)) (what.refused ? own.refused : own.not_free).begin(what.wait, now);
    for (const auto& node : what.nodes) {
        auto& entry = own.avoided[node];
        const bool first = entry.wait == steady_time::duration{};
        entry.wait = first ? steady_time::duration(avoided_for)
                           : std::min<steady_time::duration>(entry.wait * 2, avoided_at_most);
        entry.until = now + entry.wait;
    }
    own.failed.reset();
    own.at = std::move(what.at);
    own.unsaid.clear();
    own.without_since = now;
    numbers_.gave_back();
    wake();
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
    // By then the cache should show the layout. If it is only late, the write of the next plan is
    // refused, as its version is old.
    if (own.next && own.next->written && now - *own.next->written >= shown_patience) drop(own);
    const bool is_old = own.next && !own.next->written && !own.next->under_way &&
                        now - own.next->since >= plan_patience;
    if (is_old && own.next->problem.empty()) {
        // No reconcile came to write it.
        drop(own);
    } else if (is_old) {
        const auto why = ": " + own.next->problem;
        drop(own);
        auto& unwritten = own.unwritten;
        const bool first = unwritten.wait == seconds(0);
        unwritten.begin(
            first ? unwritten_pause : std::min(unwritten.wait * 2, refused_pause_at_most), now);
        again_in(unwritten.wait);
        stand(key, own, reason::claim_waiting,
              fmt::format("its layout could not be written within {} s{}. Its places are planned "
                          "again in {} s",
                          plan_patience.count(), why, unwritten.wait.count()));
        return false;
    }
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
        // These ghosts still take the room that was given back. A message that says why it was
        // given back stays.
        if (own.at.reason != reason::claim_waiting) {
            stand(key, own, reason::claim_waiting, "the ghosts of its earlier places are removed");
        }
        return false;
    }
    return true;
}

std::set<std::string, std::less<>> claims_operator::nodes_left_out(const entry& own) const {
    const auto now = env_.time.now();
    std::set<std::string, std::less<>> out;
    for (const auto& [node, each] : own.avoided) {
        if (now < each.until) out.insert(node);
    }
    // Nodes that Testbeds with a label use, or would use, are left out, too.
    labelled_nodes labelled(caches_);
    for (const auto& [key, node] : caches_.nodes().all()) {
        if (labelled.contain(*node)) out.insert(key.name);
    }
    return out;
}

claims_operator::surroundings claims_operator::around(const model::testbed& testbed, entry& own) {
    const auto now = env_.time.now();
    // After a node was left out, its failure is remembered for as long again: if it comes again
    // within this time, the node is left out for longer.
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
    // The refusal was about earlier places.
    own.refusal.clear();
    auto& room = ledger_.bring_up();
    placement::fit_options how;
    how.without = nodes_left_out(own);
    const auto places = places_asked_for(*testbed);
    how.how = testbed->spec.claim->packing == model::claim_packing::spread
                  ? placement::packing::spread
                  : placement::packing::fewest_nodes;
    how.members = "places";
    how.member = "place";
    how.tell_nodes = forms_.tell_nodes;
    how.left_out =
        "node(s) carry the label of a Testbed (kubectl get nodes --show-labels; spec.nodeLabel of "
        "the Testbeds), or gave back a place";
    auto found = placement::fit(places, room, {}, how);
    if (const auto* where = std::get_if<placement::chosen_nodes>(&found)) {
        entry::plan next{layout_of(*testbed, *where, room, forms_.compact), {}, env_.time.now()};
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
    auto& why = std::get<placement::no_fit>(found);
    log::debug("claim does not fit",
               {{"key", key.text()}, {"why", why.message}, {"most_left_on", why.most_left_on}});
    how.without.clear();
    const auto& never = never_fits(*testbed, own, places, how);
    if (const auto then = asks_empty_at(own)) {
        // This pass has planned another claim on empty nodes, or this claim was planned there a
        // short time ago.
        const auto now = env_.time.now();
        again_in(*then > now + pass_pause ? *then - now : steady_time::duration(pass_pause));
    }
    stand(key, own, never.empty() ? reason::claim_no_room : reason::claim_never_fits,
          never.empty() ? std::move(why.message) : never);
}

const std::string& claims_operator::never_fits(const model::testbed& testbed, entry& own,
                                               std::span<const pod_pointer> places,
                                               const placement::fit_options& how) {
    const auto now = env_.time.now();
    auto& never = own.never;
    const auto generation = testbed.metadata.generation;
    if (never.generation != generation) never = {};
    const bool asked = never.at && now - *never.at < never_pause;
    if (asked || !std::exchange(may_ask_empty_, false)) return never.why;
    placement::cluster_room empty;
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
    auto found = placement::fit(places, empty, {}, how);
    auto* why = std::get_if<placement::no_fit>(&found);
    never = {now, generation, why ? "on empty nodes " + why->message : std::string(),
             ledger_.room().freed()};
    return never.why;
}

std::optional<steady_time> claims_operator::asks_empty_at(const entry& own) const {
    if (!own.never.at) return steady_time{};
    // Nodes that have come since may take places that no node took before.
    if (own.never.why.empty() || own.never.freed == ledger_.room().freed()) return std::nullopt;
    return *own.never.at + never_pause;
}

asio::awaitable<standing> claims_operator::problem_of_class(int priority) {
    if (const auto known = classes_.find(priority); known != classes_.end()) {
        co_return known->second.problem;
    }
    auto found = co_await env_.api.get(class_type, "", claim_priority_class(priority));
    standing problem;
    // The right to read covers only the classes that the chart makes: a class beyond these counts
    // as missing.
    if (found || found.error().code == errc::not_found || found.error().code == errc::forbidden) {
        problem.message = class_problem(priority, found ? *found : std::string());
        if (!problem.message.empty()) problem.reason = reason::claim_class_missing;
    } else {
        problem.reason =
            found.error().transient() ? reason::claim_waiting : reason::claim_class_missing;
        problem.message =
            fmt::format("PriorityClass {} cannot be read, and is read again in {} s: {}",
                        claim_priority_class(priority), class_patience.count(), found.error().text);
    }
    classes_.insert_or_assign(priority, known_class{problem, env_.time.now()});
    co_return problem;
}

std::pair<testbed_pointer, claims_operator::entry*> claims_operator::as_it_is(
    const model::testbed& before) {
    const auto key = before.metadata.key();
    auto testbed = caches_.find_testbed(key);
    const auto found = entries_.find(key);
    if (!testbed || testbed->metadata.uid != before.metadata.uid || found == entries_.end() ||
        found->second.uid != before.metadata.uid) {
        return {};
    }
    // Order and class depend on the priority: a changed spec is planned in the next pass.
    const bool same = testbed->metadata.generation == before.metadata.generation;
    if (!same || !may_change(*testbed) || is_formed(*testbed)) return {};
    return {std::move(testbed), &found->second};
}

asio::awaitable<result<controller::outcome>> claims_operator::pass() {
    using controller::outcome;
    const auto now = env_.time.now();
    if (next_pass_ && now < *next_pass_) co_return outcome::again_in(*next_pass_ - now);
    again_.reset();
    may_ask_empty_ = true;
    planned_for_ = {};
    std::erase_if(classes_,
                  [&](const auto& each) { return now - each.second.at >= class_patience; });
    ledger_.bring_up();
    int plans = 0;
    bool any_left = false;
    for (const auto& before : waiting()) {
        const auto [testbed, own] = as_it_is(*before);
        if (!testbed || !may_plan(*testbed, *own)) continue;
        if (own->failed == around(*testbed, *own)) {
            const auto then = asks_empty_at(*own);
            if (then && *then > now) again_in(*then - now);
            if (!then || *then > now) continue;
        }
        if (const auto then = own->not_before(); now < then) {
            again_in(then - now);
            if (own->at.reason == reason::claim_suspended) {
                stand(testbed->metadata.key(), *own, reason::claim_waiting,
                      fmt::format("it was refused before it was suspended, and is planned again in "
                                  "{} s",
                                  std::chrono::ceil<seconds>(then - now).count()));
            }
            continue;
        }
        any_left = true;
        if (own->round >= round_) continue;
        if (++plans > most_plans) {
            again_in(pass_pause);
            break;
        }
        own->round = round_;
        // A plan takes time: other work of the loop that is due runs first.
        if (plans > 1) co_await asio::post(env_.executor, asio::use_awaitable);
        auto problem = co_await problem_of_class(testbed->spec.claim->priority);
        const auto [still, then] = as_it_is(*testbed);
        if (!still || now < then->not_before()) continue;
        if (!problem.reason.empty()) {
            stand(still->metadata.key(), *then, problem.reason, std::move(problem.message));
            // No event shows when the class is created or mended.
            const auto read = classes_.find(still->spec.claim->priority);
            then->class_until = (read == classes_.end() ? now : read->second.at) + class_patience;
            again_in(class_patience);
            continue;
        }
        const auto began = env_.time.now();
        plan(still, *then);
        planned_for_ += env_.time.now() - began;
    }
    if (plans <= most_plans) {
        // Each claim that waits was planned in this round: the next round begins.
        ++round_;
        if (any_left) again_in(pass_pause);
    }
    show_numbers();
    next_pass_ = env_.time.now() +
                 std::clamp<steady_time::duration>(planned_for_, pass_pause, longest_pass_pause);
    if (!again_) co_return outcome();
    co_return outcome::again_in(*again_);
}

}  // namespace esi::testbed::claims
