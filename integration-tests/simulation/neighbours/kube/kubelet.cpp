#include "neighbours/kube/kubelet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "neighbours/facts.h"
#include "neighbours/feed.h"

namespace esi::simulation {

namespace {

/// From admission to Running: the image is there, the sandbox takes its time.
constexpr pace start_time{milliseconds(200), milliseconds(900)};
/// From the end of containers to the end of the object.
constexpr pace completion_time{milliseconds(10), milliseconds(40)};
constexpr pace report_time{milliseconds(1), milliseconds(15)};
/// A container that ended is started again at once, then after 10 s, 20 s, ...
/// (MaxContainerBackOff).
constexpr auto first_back_off = seconds(10);
constexpr auto longest_back_off = seconds(300);

struct refusal {
    std::string reason;
    std::string message;
};

/// lifecycle.predicateAdmitHandler: room first, then affinity, then taints; the first one is named.
std::optional<refusal> refuse(const pod_facts& pod, const node_facts& node,
                              const std::vector<pod_pointer>& active) {
    model::amounts used;
    for (const auto& one : active) model::add(used, one->requests);
    if (static_cast<std::int64_t>(active.size()) + 1 > node.most_pods()) {
        return refusal{
            "OutOfpods",
            fmt::format("Node didn't have enough resource: pods, requested: 1, used: {}, "
                        "capacity: {}",
                        active.size(), node.most_pods())};
    }
    std::vector<std::string> order{"cpu", "memory", "ephemeral-storage"};
    for (const auto& [resource, amount] : pod.requests) {
        if (std::find(order.begin(), order.end(), resource) == order.end()) {
            order.push_back(resource);
        }
    }
    for (const auto& resource : order) {
        const auto wanted = pod.requests.find(resource);
        const auto there = node.allocatable.find(resource);
        if (wanted == pod.requests.end() || wanted->second == 0) continue;
        // Extended resources that the node does not know are left out.
        if (there == node.allocatable.end() && resource.find('/') != std::string::npos) continue;
        const auto capacity = there == node.allocatable.end() ? 0 : there->second;
        const auto taken = used.contains(resource) ? used.find(resource)->second : 0;
        if (wanted->second <= capacity - taken) continue;
        // cpu is counted in thousandths, all else in units.
        const std::int64_t unit = resource == "cpu" ? 1 : 1000;
        return refusal{"OutOf" + resource,
                       fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, "
                                   "capacity: {}",
                                   resource, wanted->second / unit, taken / unit, capacity / unit)};
    }
    if (!selects(pod, node)) {
        return refusal{"NodeAffinity",
                       "Predicate NodeAffinity failed: node(s) didn't match Pod's "
                       "node affinity/selector"};
    }
    if (untolerated(pod, node, {"NoExecute"})) {
        return refusal{"TaintToleration",
                       "Predicate TaintToleration failed: node(s) had taints that the pod didn't "
                       "tolerate"};
    }
    return std::nullopt;
}

}  // namespace

struct kubelet::state : std::enable_shared_from_this<kubelet::state> {
    explicit state(surroundings& around)
        : in(around), chance(around.chance.fork("kubelet")), api(around.server, "kubelet") {}

    surroundings& in;
    random_source chance;
    desk api;
    std::unique_ptr<feed> sees;
    std::uint64_t life = 0;
    std::uint64_t lives = 0;
    steady_time::duration stop_time = milliseconds(200);
    pace room_time{steady_time::duration(0), steady_time::duration(0)};
    std::vector<std::function<void(std::string_view, bool)>> silence;

    // What is so on the machines, whether a kubelet runs or not.
    struct container {
        wall_time started;
        std::optional<int> exit_code;
        int restarts = 0;
    };
    /// By the pod's uid.
    std::map<std::string, container, std::less<>> runs;
    std::set<std::string, std::less<>> hung;
    std::set<std::string, std::less<>> silent;

    // The memory of the kubelets.
    struct here {
        pod_pointer pod;
        bool admitted = false;
        /// Refused, or its containers have ended: it takes no room.
        bool over = false;
        bool starting = false;
        bool reporting = false;
        bool ending = false;
    };
    std::map<std::string, here, std::less<>> pods;
    std::map<std::string, node_pointer, std::less<>> nodes;

    void later(steady_time::duration time, std::function<void()> what) {
        in.time.after(time, [weak = weak_from_this(), life_then = life, what = std::move(what)] {
            auto self = weak.lock();
            if (self && self->life == life_then) what();
        });
    }
    steady_time::duration some(const pace& of) { return chance.between(of.least, of.most); }

    void tell(const pod_facts& pod, std::string_view what) {
        in.told.tell(fmt::format("kubelet {}", pod.node),
                     [&] { return fmt::format("{} {}", what, pod.text()); });
    }

    bool works(std::string_view node) const {
        return life != 0 && nodes.find(node) != nodes.end() && silent.find(node) == silent.end();
    }

    // What they see.

    void listed(const kube::resource_type& type, const std::vector<object_pointer>& objects) {
        if (type.plural == kinds::node.plural) {
            for (const auto& one : objects) nodes.emplace(one->name(), read_node(one));
            return;
        }
        for (const auto& one : objects) {
            auto pod = read_pod(one);
            if (pod->bound()) pods[std::string(pod->uid)].pod = pod;
        }
        std::erase_if(runs, [&](const auto& one) { return !pods.contains(one.first); });
        react_all([](const here&) { return true; });
    }

    void changed(const change& made) {
        if (made.type->plural == kinds::node.plural) return node_changed(made);
        const auto& uid = made.after->uid();
        if (made.what == change_type::deleted) return gone(uid);
        auto pod = read_pod(made.after);
        if (!pod->bound()) return;
        pods[uid].pod = std::move(pod);
        react(uid);
    }

    void node_changed(const change& made) {
        const auto& node = made.after->name();
        if (made.what == change_type::deleted) {
            // The machine is gone, and what ran on it.
            nodes.erase(node);
            for (auto& [uid, one] : pods) {
                if (one.pod->node != node) continue;
                one = here{one.pod};
                runs.erase(uid);
            }
            return;
        }
        const bool came = std::exchange(nodes[node], read_node(made.after)) == nullptr;
        if (came) react_all([&](const here& one) { return one.pod->node == node; });
    }

    void gone(const std::string& uid) {
        hung.erase(uid);
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        const auto rest = some(room_time);
        if (found->second.admitted && !found->second.over && rest.count() > 0) {
            later(rest, [this, uid] { pods.erase(uid); });
        } else {
            pods.erase(found);
        }
        runs.erase(uid);
    }

    /// Oldest first, as HandlePodAdditions.
    void react_all(const std::function<bool(const here&)>& which) {
        std::vector<pod_pointer> order;
        for (const auto& [uid, one] : pods) {
            if (which(one)) order.push_back(one.pod);
        }
        std::sort(order.begin(), order.end(), [](const pod_pointer& a, const pod_pointer& b) {
            return std::tuple(a->created, a->name) < std::tuple(b->created, b->name);
        });
        for (const auto& one : order) react(std::string(one->uid));
    }

    // What they do.

    /// Looks at one pod and begins what is to be done for it next.
    void react(const std::string& uid) {
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        auto& one = found->second;
        const auto& pod = *one.pod;
        if (!works(pod.node)) return;
        if (pod.terminal()) one.over = true;
        if (!one.admitted && !one.over && !pod.deleting) admit(uid, one);
        if (pod.deleting) return begin_end(uid, one);
        if (one.over) return;
        const auto container = runs.find(uid);
        if (container == runs.end()) {
            if (one.starting) return;
            one.starting = true;
            later(some(start_time), [this, uid] { start(uid); });
        } else if (container->second.exit_code && !one.reporting && !one.starting) {
            one.reporting = true;
            later(some(report_time), [this, uid] { report_end(uid); });
        }
    }

    void admit(const std::string& uid, here& one) {
        std::vector<pod_pointer> active;
        for (const auto& [other, there] : pods) {
            if (other != uid && there.pod->node == one.pod->node && there.admitted && !there.over) {
                active.push_back(there.pod);
            }
        }
        const auto why = refuse(*one.pod, *nodes.find(one.pod->node)->second, active);
        one.admitted = !why;
        if (!why) return;
        one.over = true;
        tell(*one.pod, why->reason + ":");
        in.seen.refused(one.pod->body(), why->reason);
        later(some(report_time), [this, pod = one.pod, why = *why] {
            (void)patch_status(*pod, {{"phase", "Failed"},
                                      {"reason", why.reason},
                                      {"message", "Pod was rejected: " + why.message},
                                      {"startTime", stamp(in.time.wall())}});
            runs.erase(std::string(pod->uid));
        });
    }

    void start(const std::string& uid) {
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        auto& one = found->second;
        one.starting = false;
        if (!works(one.pod->node) || hung.contains(uid) || one.over || one.pod->deleting ||
            runs.contains(uid)) {
            return;
        }
        const auto now = in.server.objects().find(kinds::pod, one.pod->ns, one.pod->name);
        if (!now || now->uid() != uid) return;
        runs[uid] = {in.time.wall(), std::nullopt};
        say_running(*one.pod, *now);
    }

    void say_running(const pod_facts& pod, const object& now) {
        tell(pod, "runs");
        json status = {{"phase", "Running"}, {"conditions", ready(now, true)}};
        if (!fields::find(now.body(), {"status", "startTime"})) {
            status["startTime"] = stamp(in.time.wall());
        }
        status["containerStatuses"] =
            containers(now, {{"running", {{"startedAt", stamp(in.time.wall())}}}}, true,
                       runs[std::string(pod.uid)].restarts);
        (void)patch_status(pod, std::move(status));
    }

    void report_end(const std::string& uid) {
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        auto& one = found->second;
        one.reporting = false;
        const auto container = runs.find(uid);
        if (!works(one.pod->node) || container == runs.end() || !container->second.exit_code)
            return;
        if (fields::text(one.pod->body(), {"spec", "restartPolicy"}) == "Always" &&
            !one.pod->deleting && !one.over) {
            return start_again(uid, one);
        }
        end_containers(one, *container->second.exit_code);
    }

    /// The pod keeps its node and its room while its container comes back.
    void start_again(const std::string& uid, here& one) {
        const auto now = in.server.objects().find(kinds::pod, one.pod->ns, one.pod->name);
        if (!now || now->uid() != uid) return;
        const auto& run = runs[uid];
        const int code = *run.exit_code;
        tell(*one.pod, fmt::format("ended with {}, comes back:", code));
        json ended = {{"exitCode", code},
                      {"reason", code == 0 ? "Completed" : "Error"},
                      {"startedAt", stamp(run.started)},
                      {"finishedAt", stamp(in.time.wall())}};
        steady_time::duration wait = some(start_time);
        json told = {{"terminated", ended}};
        if (run.restarts > 0) {
            const auto back_off =
                std::min(first_back_off * (1 << std::min(run.restarts - 1, 5)), longest_back_off);
            wait += back_off;
            told = {{"waiting",
                     {{"reason", "CrashLoopBackOff"},
                      {"message", "back-off restarting failed container"}}}};
        }
        auto list = containers(*now, told, false, run.restarts);
        for (auto& each : list) each["lastState"] = {{"terminated", ended}};
        (void)patch_status(
            *one.pod, {{"conditions", ready(*now, false)}, {"containerStatuses", std::move(list)}});
        one.starting = true;
        later(wait, [this, uid] { come_back(uid); });
    }

    void come_back(const std::string& uid) {
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        auto& one = found->second;
        one.starting = false;
        const auto run = runs.find(uid);
        if (run == runs.end() || !run->second.exit_code || one.over || one.pod->deleting) return;
        // A silent node's kubelet cannot report; it looks again when it is back.
        if (!works(one.pod->node) || hung.contains(uid)) return;
        const auto now = in.server.objects().find(kinds::pod, one.pod->ns, one.pod->name);
        if (!now || now->uid() != uid) return;
        run->second = {in.time.wall(), std::nullopt, run->second.restarts + 1};
        say_running(*one.pod, *now);
    }

    /// Writes that the containers have ended.
    void end_containers(here& one, int exit_code) {
        const std::string uid(one.pod->uid);
        one.over = true;
        const auto container = runs.find(uid);
        const auto started = container == runs.end() ? in.time.wall() : container->second.started;
        const auto now = in.server.objects().find(kinds::pod, one.pod->ns, one.pod->name);
        if (now && now->uid() == uid) {
            tell(*one.pod, fmt::format("ended with {}:", exit_code));
            json ended = {{"exitCode", exit_code},
                          {"reason", exit_code == 0 ? "Completed" : "Error"},
                          {"startedAt", stamp(started)},
                          {"finishedAt", stamp(in.time.wall())}};
            (void)patch_status(
                *one.pod, {{"phase", exit_code == 0 ? "Succeeded" : "Failed"},
                           {"conditions", ready(*now, false)},
                           {"containerStatuses",
                            containers(*now, {{"terminated", std::move(ended)}}, false,
                                       container == runs.end() ? 0 : container->second.restarts)}});
        }
        runs.erase(uid);
    }

    /// Deletion with grace: the containers stop, then the object goes.
    void begin_end(const std::string& uid, here& one) {
        if (one.ending || hung.contains(uid)) return;
        one.ending = true;
        auto time = some(completion_time);
        if (runs.contains(uid)) {
            const auto grace = seconds(
                fields::number(one.pod->body(), {"metadata", "deletionGracePeriodSeconds"}));
            time += std::min<steady_time::duration>(grace, stop_time);
        }
        later(time, [this, uid] { end(uid); });
    }

    void end(const std::string& uid) {
        const auto found = pods.find(uid);
        if (found == pods.end()) return;
        auto& one = found->second;
        if (!works(one.pod->node) || hung.contains(uid)) {
            one.ending = false;
            return;
        }
        const auto pod = one.pod;
        const auto container = runs.find(uid);
        // 143: ended by SIGTERM.
        if (container != runs.end()) end_containers(one, container->second.exit_code.value_or(143));
        one.over = true;
        tell(*pod, "completes the deletion of");
        (void)api.remove(kinds::pod, pod->ns, pod->name, kube::preconditions(uid), 0);
    }

    // What they write. An answer that is not a success means that the pod is gone: nothing to do.

    result<json> patch_status(const pod_facts& pod, json status) {
        return api.patch(kinds::pod, pod.ns, pod.name, kube::patch_kind::merge,
                         {{"metadata", {{"uid", pod.uid}}}, {"status", std::move(status)}},
                         "status");
    }

    json ready(const object& pod, bool is) {
        json body = {{"status", {{"conditions", json::array()}}}};
        if (const auto* have = fields::find(pod.body(), {"status", "conditions"})) {
            body["status"]["conditions"] = *have;
        }
        const auto set = [&](std::string_view type, bool holds, std::string_view reason) {
            auto list =
                with_condition(body, type, holds ? "True" : "False", reason, "", in.time.wall());
            if (!list.is_null()) body["status"]["conditions"] = std::move(list);
        };
        const std::string_view why = is ? "" : "PodCompleted";
        set("PodReadyToStartContainers", is, "");
        set("Initialized", true, "");
        set("Ready", is, why);
        set("ContainersReady", is, why);
        return std::move(body["status"]["conditions"]);
    }

    static json containers(const object& pod, const json& in_state, bool is_ready, int restarts) {
        json out = json::array();
        const auto* list = fields::find(pod.body(), {"spec", "containers"});
        if (!list || !list->is_array()) return out;
        for (const auto& one : *list) {
            out.push_back({{"name", fields::text(one, {"name"})},
                           {"image", fields::text(one, {"image"})},
                           {"imageID", ""},
                           {"ready", is_ready},
                           {"started", is_ready},
                           {"restartCount", restarts},
                           {"state", in_state}});
        }
        return out;
    }

    // Nodes.

    void say_ready(const std::string& node) {
        const auto now = in.server.objects().find(kinds::node, {}, node);
        if (!now || silent.contains(node)) return;
        auto conditions = with_condition(now->body(), "Ready", "True", "KubeletReady",
                                         "kubelet is posting ready status", in.time.wall());
        if (conditions.is_null()) return;
        (void)api.patch(kinds::node, {}, node, kube::patch_kind::merge,
                        {{"metadata", {{"uid", now->uid()}}},
                         {"status", {{"conditions", std::move(conditions)}}}},
                        "status");
    }
};

kubelet::kubelet(surroundings& in) : state_(std::make_shared<state>(in)) {
    auto* self = state_.get();
    feed::reader reader;
    reader.listed = [self](const kube::resource_type& type,
                           const std::vector<object_pointer>& objects) {
        self->listed(type, objects);
    };
    reader.changed = [self](const change& made) { self->changed(made); };
    // A kubelet is told only of pods that are bound.
    reader.wanted = [](const change& made) {
        return made.type->plural == kinds::node.plural ||
               !fields::text(made.after->body(), {"spec", "nodeName"}).empty();
    };
    state_->sees = std::make_unique<feed>(
        in, "kubelet sees", std::vector<const kube::resource_type*>{&kinds::node, &kinds::pod},
        std::move(reader));
    restart();
}

kubelet::~kubelet() { crash(); }

void kubelet::crash() {
    state_->life = 0;
    state_->sees->stop();
    state_->pods.clear();
    state_->nodes.clear();
}

void kubelet::restart() {
    if (state_->life != 0) return;
    state_->life = ++state_->lives;
    state_->sees->start();
}

void kubelet::set_pace(pace speed) { state_->sees->set_pace(speed); }

void kubelet::node_down(std::string_view node) {
    if (!state_->silent.emplace(node).second) return;
    for (const auto& one : state_->silence) one(node, true);
}

void kubelet::node_up(std::string_view node) {
    const auto found = state_->silent.find(node);
    if (found == state_->silent.end()) return;
    const std::string name = *found;
    state_->silent.erase(found);
    for (const auto& one : state_->silence) one(name, false);
    // It registers, looks at its pods, and goes on.
    state_->in.time.after(seconds(1), [weak = std::weak_ptr(state_), name] {
        auto self = weak.lock();
        if (!self || self->life == 0) return;
        self->say_ready(name);
        self->react_all([&](const state::here& one) { return one.pod->node == name; });
    });
}

bool kubelet::down(std::string_view node) const {
    return state_->silent.find(node) != state_->silent.end();
}

void kubelet::on_silence(std::function<void(std::string_view node, bool silent)> callback) {
    state_->silence.push_back(std::move(callback));
}

void kubelet::finish(std::string_view uid, int exit_code) {
    const auto found = state_->runs.find(uid);
    if (found == state_->runs.end() || found->second.exit_code) return;
    found->second.exit_code = exit_code;
    state_->react(std::string(uid));
}

void kubelet::hang(std::string_view uid, bool on) {
    if (on) {
        state_->hung.emplace(uid);
        return;
    }
    const auto found = state_->hung.find(uid);
    if (found == state_->hung.end()) return;
    state_->hung.erase(found);
    state_->react(std::string(uid));
}

void kubelet::set_stop_time(steady_time::duration time) { state_->stop_time = time; }

void kubelet::set_room_time(steady_time::duration least, steady_time::duration most) {
    state_->room_time = {least, most};
}

}  // namespace esi::simulation
