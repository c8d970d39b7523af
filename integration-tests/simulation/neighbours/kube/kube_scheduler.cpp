#include "neighbours/kube/kube_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/fields.h"
#include "model/meta.h"
#include "neighbours/facts.h"
#include "neighbours/feed.h"
#include "neighbours/kube/scheduler_extender.h"
#include "neighbours/kube/scheduling_queue.h"

namespace esi::simulation {

namespace {

using std::chrono::microseconds;

/// Of a thousand preemptions so many begin late, as on a busy machine.
constexpr int slow_preemptions = 100;

/// Of a thousand times that room comes so many are lost on a pod of the extender path.
constexpr int lost_wake_ups = 50;

/// RetryPeriod of kube-scheduler's election.
constexpr auto lease_renewed = std::chrono::seconds(2);

/// Where an attempt ends that found no place.
struct failure {
    std::string message;
    /// Empty: an error, not a rejection.
    std::set<rejector> by;
    /// What becomes of the nomination: unset, it stands as it is on the object.
    std::optional<std::string> nominated;
    bool error = false;
};

/// One turn of the loop for one pod, over the cluster as it was when the turn began.
struct attempt {
    pod_pointer pod;
    snapshot on;
    verdicts why;
    std::set<rejector> by;
};
using attempt_pointer = std::shared_ptr<attempt>;

/// DisruptionTarget of a pod that goes for another one.
bool being_preempted(const pod_facts& pod) {
    if (!pod.deleting) return false;
    const auto* conditions = fields::find(pod.body(), {"status", "conditions"});
    if (!conditions || !conditions->is_array()) return false;
    return std::any_of(conditions->begin(), conditions->end(), [](const json& one) {
        return fields::text(one, {"type"}) == "DisruptionTarget" &&
               fields::text(one, {"reason"}) == "PreemptionByScheduler";
    });
}

}  // namespace

struct kube_scheduler::state : std::enable_shared_from_this<kube_scheduler::state> {
    state(surroundings& around, scheduler_settings chosen)
        : in(around),
          settings(std::move(chosen)),
          name(settings.scheduler == "default-scheduler" ? "kube-scheduler" : settings.scheduler),
          chance(in.chance.fork(name)),
          api(in.server, name),
          queue([this] { return in.time.now(); }) {}

    surroundings& in;
    scheduler_settings settings;
    std::string name;
    random_source chance;
    desk api;
    std::unique_ptr<feed> sees;
    /// 0: crashed.
    std::uint64_t life = 0;
    std::uint64_t lives = 0;

    // Its memory.
    std::map<std::string, node_pointer, std::less<>> nodes;
    /// By uid; those that have ended are not in it.
    std::map<std::string, pod_pointer, std::less<>> pods;
    struct assumption {
        pod_pointer pod;
        std::string node;
    };
    std::map<std::string, assumption, std::less<>> assumed;
    scheduling_queue queue;
    /// A turn of the loop is under way, or about to begin.
    bool busy = false;
    std::optional<steady_time> armed;

    void forget() {
        nodes.clear();
        pods.clear();
        assumed.clear();
        queue = scheduling_queue([this] { return in.time.now(); });
        busy = false;
        armed.reset();
    }

    /// Runs later, unless it has crashed until then.
    void later(steady_time::duration time, std::function<void()> what) {
        in.time.after(time, [weak = weak_from_this(), life_then = life, what = std::move(what)] {
            auto self = weak.lock();
            if (self && self->life == life_then) what();
        });
    }

    // What it sees.

    void listed(const kube::resource_type& type, const std::vector<object_pointer>& objects) {
        if (type.plural == kinds::node.plural) {
            in.seen.scheduler_started(settings.scheduler);
            in.told.tell(name, [] { return "begins, with an empty memory"; });
            for (const auto& one : objects) nodes.emplace(one->name(), read_node(one));
            if (settings.lease) hold_lease(true);
            return;
        }
        for (const auto& one : objects) {
            auto pod = read_pod(one);
            if (!pod->terminal()) pod_came(pod);
        }
        kick();
    }

    void hold_lease(bool begins) {
        const auto now = model::timestamp{in.time.wall()}.micro();
        const auto held = in.server.objects().find(kinds::lease, "kube-system", name);
        json spec{{"renewTime", now}};
        if (begins) {
            spec["holderIdentity"] = fmt::format("control-plane_{}", lives);
            spec["acquireTime"] = now;
            spec["leaseDurationSeconds"] = 15;
            spec["leaseTransitions"] =
                held ? fields::number(held->body(), {"spec", "leaseTransitions"}) + 1 : 0;
        }
        if (held) {
            (void)api.patch(kinds::lease, "kube-system", name, kube::patch_kind::merge,
                            {{"spec", std::move(spec)}});
        } else if (begins) {
            (void)api.create(kinds::lease, "kube-system",
                             {{"metadata", {{"name", name}, {"namespace", "kube-system"}}},
                              {"spec", std::move(spec)}});
        }
        later(lease_renewed, [this] { hold_lease(false); });
    }

    void changed(const change& made) {
        if (made.type->plural == kinds::node.plural) {
            node_changed(made);
        } else {
            // It watches with status.phase!=Succeeded,status.phase!=Failed.
            auto pod = made.what == change_type::deleted ? nullptr : read_pod(made.after);
            if (pod && pod->terminal()) pod = nullptr;
            const auto known = pods.find(made.after->uid());
            if (known == pods.end()) {
                if (pod) pod_came(pod);
            } else if (pod) {
                pod_changed(known->second, pod);
            } else {
                pod_went(known->second);
            }
        }
        kick();
    }

    void node_changed(const change& made) {
        if (made.what == change_type::deleted) {
            nodes.erase(made.after->name());
            return queue.move(cluster_event::other);
        }
        const auto node = read_node(made.after);
        const auto before = std::exchange(nodes[made.after->name()], node);
        if (!before) return queue.move(cluster_event::node_added);
        const auto part = [](const node_pointer& of, std::initializer_list<std::string_view> path) {
            const auto* found = fields::find(of->body(), path);
            return found ? *found : json();
        };
        bool known = false;
        if (before->allocatable != node->allocatable) {
            queue.move(cluster_event::node_room);
            known = true;
        }
        if (part(before, {"metadata", "labels"}) != part(node, {"metadata", "labels"})) {
            queue.move(cluster_event::node_labels);
            known = true;
        }
        if (before->unschedulable != node->unschedulable ||
            taints_of(before->body()) != taints_of(node->body())) {
            queue.move(cluster_event::node_taints);
            known = true;
        }
        if (!known) queue.move(cluster_event::other);
    }

    bool mine(const pod_facts& pod) const { return pod.scheduler == settings.scheduler; }

    void pod_came(const pod_pointer& pod) {
        pods.emplace(pod->uid, pod);
        if (pod->bound()) {
            queue.move(cluster_event::other);
        } else if (mine(*pod)) {
            queue.add(pod);
        }
    }

    void pod_changed(pod_pointer before, const pod_pointer& pod) {
        pods[std::string(pod->uid)] = pod;
        if (before->bound()) return queue.move(cluster_event::other);
        if (pod->bound()) {
            drop_assumption(pod->uid);
            queue.remove(pod->uid);
            return queue.move(cluster_event::other);
        }
        if (!mine(*pod)) return;
        if (assumed.contains(pod->uid)) {
            if (pod->deleting && !before->deleting) {
                drop_assumption(pod->uid);
                queue.move(cluster_event::pod_gone);
            }
            return;
        }
        queue.update(*before, pod);
        if (!before->nominated.empty() && before->nominated != pod->nominated) {
            queue.move(cluster_event::pod_gone, before->priority);
        }
    }

    void pod_went(pod_pointer before) {
        pods.erase(pods.find(before->uid));
        queue.victim_gone(before->uid);
        if (before->bound()) return room_came();
        if (!mine(*before)) return;
        queue.remove(before->uid);
        if (drop_assumption(before->uid)) {
            queue.move(cluster_event::pod_gone);
        } else if (!before->nominated.empty()) {
            queue.move(cluster_event::pod_gone, before->priority);
        }
    }

    /// A pod of the extender path can be about to preempt, in vain, the ghost that has just gone,
    /// and miss that it went. The course of that is in begin_eviction; chance seldom meets its
    /// window, so some miss it here.
    void room_came() {
        std::set<std::string, std::less<>> deaf;
        for (const auto& [uid, pod] : pods) {
            if (!settings.extender || pod->bound() || !mine(*pod) || pod->never_preempts) continue;
            if (chance.chance(lost_wake_ups)) deaf.insert(uid);
        }
        queue.move(cluster_event::pod_gone, scheduling_queue::any_priority, deaf);
    }

    bool drop_assumption(std::string_view uid) {
        const auto found = assumed.find(uid);
        if (found == assumed.end()) return false;
        assumed.erase(found);
        return true;
    }

    // The loop.

    void kick() {
        arm();
        if (busy || !queue.ready()) return;
        busy = true;
        later(chance.between(microseconds(100), milliseconds(1)), [this] { begin(); });
    }

    void arm() {
        const auto due = queue.next_due();
        if (!due || (armed && *armed <= *due)) return;
        armed = due;
        later(*due - in.time.now(), [this, at = *due] {
            if (armed == at) armed.reset();
            queue.flush();
            kick();
        });
    }

    void end_turn() {
        busy = false;
        kick();
    }

    snapshot look() const {
        snapshot out;
        for (const auto& [node, facts] : nodes) out[node].node = facts;
        const auto place = [&](std::string_view node, const pod_pointer& pod) {
            const auto found = out.find(node);
            if (found != out.end()) found->second.add(pod);
        };
        for (const auto& [uid, pod] : pods) {
            if (pod->bound()) place(pod->node, pod);
        }
        for (const auto& [uid, one] : assumed) place(one.node, one.pod);
        return out;
    }

    void begin() {
        auto pod = queue.pop();
        if (!pod) return end_turn();
        if (pod->deleting || assumed.contains(pod->uid)) {
            queue.done(pod->uid);
            return end_turn();
        }
        auto turn = std::make_shared<attempt>();
        turn->pod = std::move(pod);
        turn->on = look();
        later(chance.between(milliseconds(1), milliseconds(4)),
              [this, turn] { try_nominated(turn); });
    }

    /// Pods nominated to the node that count against `pod`.
    std::vector<pod_pointer> nominated(std::string_view node, const pod_facts& pod) const {
        std::vector<pod_pointer> out;
        for (const auto& uid : queue.nominated_to(node)) {
            if (uid == pod.uid) continue;
            const auto found = pods.find(uid);
            if (found != pods.end() && found->second->priority >= pod.priority) {
                out.push_back(found->second);
            }
        }
        return out;
    }

    bool passes(attempt& turn, const std::string& node) {
        auto out = judge(*turn.pod, turn.on.find(node)->second, nominated(node, *turn.pod));
        if (out.answer == fits::yes) return true;
        turn.by.insert(out.by);
        turn.why[node] = std::move(out);
        return false;
    }

    void try_nominated(const attempt_pointer& turn) {
        const std::string node(turn->pod->nominated);
        if (node.empty() || !turn->on.contains(node) || !passes(*turn, node)) {
            return try_all(turn);
        }
        if (!settings.extender) return assume(turn, node);
        ask_filter(turn, {node}, [this, turn, node](result<filter_answer> answer) {
            if (answer && !answer->nodes.empty()) return assume(turn, node);
            try_all(turn);
        });
    }

    void try_all(const attempt_pointer& turn) {
        if (turn->on.empty()) {
            return fail_turn(turn, {"no nodes available to schedule pods", {}, "", false});
        }
        const auto pinned = pinned_to(*turn->pod);
        if (pinned) turn->by.insert(rejector::affinity);
        std::vector<std::string> feasible;
        for (const auto& [node, view] : turn->on) {
            if (pinned && !pinned->contains(node)) continue;
            if (passes(*turn, node)) feasible.push_back(node);
        }
        if (!settings.extender || feasible.empty()) return choose(turn, feasible);
        ask_filter(turn, feasible, [this, turn, feasible](result<filter_answer> answer) {
            if (!answer) return fail_turn(turn, {answer.error().text, {}, "", true});
            if (answer->nodes.size() != feasible.size()) turn->by.insert(rejector::extender);
            for (const auto& [node, why] : answer->refused) turn->why[node] = why;
            choose(turn, answer->nodes);
        });
    }

    void choose(const attempt_pointer& turn, const std::vector<std::string>& feasible) {
        if (feasible.empty()) return preempt(turn);
        std::vector<std::string> best;
        std::int64_t most = -1;
        for (const auto& node : feasible) {
            const auto points = score(*turn->pod, turn->on.find(node)->second);
            if (points < most) continue;
            if (points > most) best.clear();
            most = points;
            best.push_back(node);
        }
        assume(turn, chance.one_of(best));
    }

    // Binding, beside the loop.

    void assume(const attempt_pointer& turn, const std::string& node) {
        const auto& pod = turn->pod;
        queue.nominate(pod->uid, {});
        // It may have gone, or been bound by another client, since the turn began.
        const auto known = pods.find(pod->uid);
        if (known == pods.end() || known->second->bound()) {
            queue.done(pod->uid);
            return end_turn();
        }
        assumed.insert_or_assign(std::string(pod->uid), assumption{pod, node});
        const auto life_then = life;
        in.time.after(chance.between(milliseconds(1), milliseconds(8)),
                      [weak = weak_from_this(), life_then, turn, node] {
                          if (auto self = weak.lock()) self->bind(turn, node, life_then);
                      });
        end_turn();
    }

    void bind(const attempt_pointer& turn, const std::string& node, std::uint64_t life_then) {
        const auto& pod = *turn->pod;
        const bool orphan = life != life_then;
        if (orphan && !chance.chance(500)) return;
        auto done = api.bind(pod.ns, pod.name, pod.uid, node);
        in.told.tell(name, [&] {
            return fmt::format("binds {} to {}{}", pod.text(), node,
                               done ? "" : ": " + done.error().text);
        });
        if (orphan) return;
        if (done) return queue.done(pod.uid);
        if (drop_assumption(pod.uid)) queue.move(cluster_event::pod_gone);
        put_back(pod.uid, {"binding rejected: " + done.error().text, {}, "", true});
        kick();
    }

    // Failure and preemption.

    void fail_turn(const attempt_pointer& turn, failure why) {
        put_back(turn->pod->uid, std::move(why));
        end_turn();
    }

    void put_back(std::string_view uid, failure why) {
        const auto known = pods.find(uid);
        if (known == pods.end() || known->second->bound()) return queue.remove(uid);
        const auto pod = known->second;
        queue.failed(pod, std::move(why.by));
        queue.nominate(pod->uid, why.nominated ? *why.nominated : pod->nominated);
        const auto now = in.server.objects().find(kinds::pod, pod->ns, pod->name);
        if (!now || now->uid() != pod->uid) return;
        json status = json::object();
        auto conditions = with_condition(now->body(), "PodScheduled", "False",
                                         why.error ? "SchedulerError" : "Unschedulable",
                                         why.message, in.time.wall());
        if (!conditions.is_null()) status["conditions"] = std::move(conditions);
        if (why.nominated && *why.nominated != pod->nominated) {
            status["nominatedNodeName"] = why.nominated->empty() ? json() : json(*why.nominated);
        }
        if (status.empty()) return;
        in.told.tell(name, [&] { return fmt::format("{}: {}", pod->text(), why.message); });
        // Whoever was first has changed more than this patch touches, or the pod is gone.
        (void)patch_status(*now, std::move(status));
    }

    result<json> patch_status(const object& pod, json status) {
        return api.patch(kinds::pod, pod.ns(), pod.name(), kube::patch_kind::merge,
                         {{"metadata", {{"uid", pod.uid()}}}, {"status", std::move(status)}},
                         "status");
    }

    /// The message of an attempt that filters rejected.
    std::string rejection(const attempt& turn, const std::string& preemption) const {
        return fit_error(turn.on.size(), turn.why,
                         "node(s) didn't satisfy plugin(s) [NodeAffinity]") +
               (preemption.empty() ? "" : " preemption: " + preemption);
    }

    void preempt(const attempt_pointer& turn) {
        const auto end = [this, turn](const std::string& text,
                                      std::optional<std::string> node = std::nullopt) {
            fail_turn(turn, {rejection(*turn, text), turn->by, std::move(node), false});
        };
        const auto known = pods.find(turn->pod->uid);
        if (known == pods.end()) return end("pod not found");
        // As it is by now, not as it was when its turn began (Evaluator.Preempt).
        const auto pod = known->second;
        if (pod->never_preempts) return end("not eligible due to preemptionPolicy=Never.");
        const auto nominated_node = turn->on.find(pod->nominated);
        const auto nominated_why = turn->why.find(pod->nominated);
        const bool hopeless =
            nominated_why != turn->why.end() && nominated_why->second.answer == fits::never;
        if (nominated_node != turn->on.end() && !hopeless) {
            for (const auto& one : nominated_node->second.pods) {
                if (one->priority < pod->priority && being_preempted(*one)) {
                    return end("not eligible due to a terminating pod on the nominated node.");
                }
            }
        }
        candidates among;
        verdicts helpless;
        for (const auto& [node, why] : turn->why) {
            const auto view = turn->on.find(node);
            if (why.answer != fits::no || view == turn->on.end()) continue;
            auto victims = victims_on(*pod, view->second, nominated(node, *pod));
            if (victims && !victims->empty()) {
                among.emplace(node, std::move(*victims));
            } else {
                helpless[node] = {
                    fits::never, rejector::none, {"No preemption victims found for incoming pod"}};
            }
        }
        if (among.empty()) {
            return end(
                fit_error(turn->on.size(), helpless, "Preemption is not helpful for scheduling"),
                "");
        }
        if (!settings.extender) return evict(turn, pod, among);
        ask("preemption", preemption_question(*pod, among),
            [this, turn, pod, end](int status, const json& answer) {
                auto chosen = read_preemption_answer(status, answer, turn->on);
                if (!chosen) return end(chosen.error().text);
                if (chosen->empty()) return end("no candidate node for preemption");
                evict(turn, pod, *chosen);
            });
    }

    void evict(const attempt_pointer& turn, const pod_pointer& by, const candidates& among) {
        const auto node = least_harm(among);
        std::vector<pod_pointer> victims = among.find(node)->second;
        std::erase_if(victims, [](const pod_pointer& one) { return one->deleting; });
        if (!victims.empty()) {
            // Executor.prepareCandidateAsync: its goroutine begins when the processor has time.
            queue.preempting_somebody(by->uid);
            const auto begins = chance.chance(slow_preemptions)
                                    ? chance.between(milliseconds(20), milliseconds(400))
                                    : chance.between(microseconds(50), milliseconds(1));
            later(begins, [this, by, node, victims] { begin_eviction(by, node, victims); });
        }
        fail_turn(turn, {rejection(*turn, ""), turn->by, node, false});
    }

    void begin_eviction(const pod_pointer& by, const std::string& node,
                        const std::vector<pod_pointer>& victims) {
        clear_lower_nominations(*by, node);
        // The pod waits while its last victim exists; a victim that is gone already delays no pod.
        const auto& last = victims.back()->uid;
        queue.preempting(by->uid, pods.contains(last) ? last : std::string_view());
        later(chance.between(milliseconds(1), milliseconds(4)),
              [this, by, node, victims] { delete_victims(*by, node, victims); });
    }

    void clear_lower_nominations(const pod_facts& by, const std::string& node) {
        // Lower pods nominated to this node may fit no longer.
        for (const auto& uid : queue.nominated_to(node)) {
            const auto found = pods.find(uid);
            if (found == pods.end() || found->second->priority >= by.priority) continue;
            if (found->second->nominated.empty()) continue;
            in.told.tell(name, [&] {
                return fmt::format("clears the nomination of {}", found->second->text());
            });
            (void)patch_status(*found->second->object, {{"nominatedNodeName", nullptr}});
        }
    }

    void delete_victims(const pod_facts& by, const std::string& node,
                        const std::vector<pod_pointer>& victims) {
        bool failed = false;
        for (const auto& victim : victims) {
            // By name only, as the real one.
            const auto now = in.server.objects().find(kinds::pod, victim->ns, victim->name);
            if (!now) continue;
            auto conditions = with_condition(
                now->body(), "DisruptionTarget", "True", "PreemptionByScheduler",
                settings.scheduler + ": preempting to accommodate a higher priority pod",
                in.time.wall());
            if (!conditions.is_null()) {
                (void)patch_status(*now, {{"conditions", std::move(conditions)}});
            }
            in.told.tell(name, [&] {
                return fmt::format("preempts {} on {} for {}", victim->text(), node, by.text());
            });
            in.seen.preempted(now->body(), by.body());
            const auto gone = api.remove(kinds::pod, victim->ns, victim->name);
            failed = failed || (!gone && gone.error().code != errc::not_found);
        }
        queue.preempting(by.uid, {});
        if (failed) queue.activate(by.uid);
        kick();
    }

    // The extender; the loop waits for it.

    void ask(std::string verb, json body, std::function<void(int, const json&)> then) {
        auto open = std::make_shared<bool>(true);
        auto end = [open, then = std::move(then)](int status, const json& answer) {
            if (!std::exchange(*open, false)) return;
            then(status, answer);
        };
        later(settings.extender_timeout, [end] { end(0, json()); });
        settings.extender(
            std::move(verb), std::move(body),
            [weak = weak_from_this(), life_then = life, end](int status, json answer) {
                auto self = weak.lock();
                if (self && self->life == life_then) end(status, answer);
            });
    }

    void ask_filter(const attempt_pointer& turn, std::vector<std::string> nodes_asked,
                    std::function<void(result<filter_answer>)> then) {
        auto body = filter_question(*turn->pod, nodes_asked);
        ask("filter", std::move(body),
            [nodes_asked = std::move(nodes_asked), then = std::move(then)](int status,
                                                                           const json& answer) {
                then(read_filter_answer(status, answer, nodes_asked));
            });
    }
};

kube_scheduler::kube_scheduler(surroundings& in, scheduler_settings settings)
    : state_(std::make_shared<state>(in, std::move(settings))) {
    auto* self = state_.get();
    feed::reader reader;
    reader.listed = [self](const kube::resource_type& type,
                           const std::vector<object_pointer>& objects) {
        self->listed(type, objects);
    };
    reader.changed = [self](const change& made) { self->changed(made); };
    state_->sees = std::make_unique<feed>(
        in, state_->name + " sees",
        std::vector<const kube::resource_type*>{&kinds::node, &kinds::pod}, std::move(reader));
    restart();
}

kube_scheduler::~kube_scheduler() { crash(); }

std::string_view kube_scheduler::name() const { return state_->name; }

void kube_scheduler::crash() {
    state_->life = 0;
    state_->sees->stop();
    state_->forget();
}

void kube_scheduler::restart() {
    if (state_->life != 0) return;
    state_->life = ++state_->lives;
    state_->sees->start();
}

void kube_scheduler::set_pace(pace speed) { state_->sees->set_pace(speed); }

}  // namespace esi::simulation
