#include "neighbours/kube/scheduler_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/fields.h"

namespace esi::simulation {

namespace {

std::int64_t amount(const model::amounts& of, std::string_view resource) {
    const auto found = of.find(resource);
    return found == of.end() ? 0 : found->second;
}

verdict resources_fit(const pod_facts& pod, const node_view& on) {
    verdict out;
    const auto refuse = [&](fits how, std::string reason) {
        out.by = rejector::resources;
        out.answer = std::max(out.answer, how);
        out.reasons.push_back(std::move(reason));
    };
    if (static_cast<std::int64_t>(on.pods.size()) + 1 > on.node->most_pods()) {
        refuse(fits::no, "Too many pods");
    }
    for (const auto& [resource, wanted] : pod.requests) {
        if (wanted == 0) continue;
        const auto there = amount(on.node->allocatable, resource);
        if (wanted <= there - amount(on.used, resource)) continue;
        refuse(wanted > there ? fits::never : fits::no, "Insufficient " + resource);
    }
    return out;
}

verdict filter(const pod_facts& pod, const node_view& on) {
    static const json cordon{{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}};
    const auto& node = *on.node;
    if (node.unschedulable && !tolerates(pod, cordon)) {
        return {fits::never, rejector::node, {"node(s) were unschedulable"}};
    }
    if (const auto* taint = untolerated(pod, node, {"NoSchedule", "NoExecute"})) {
        return {fits::never,
                rejector::taints,
                {fmt::format("node(s) had untolerated taint {{{}: {}}}",
                             fields::text(*taint, {"key"}), fields::text(*taint, {"value"}))}};
    }
    if (!selects(pod, node)) {
        return {
            fits::never, rejector::affinity, {"node(s) didn't match Pod's node affinity/selector"}};
    }
    return resources_fit(pod, on);
}

/// util.MoreImportantPod: higher priority, then who is there longer.
bool more_important(const pod_pointer& a, const pod_pointer& b) {
    const auto since = [](const pod_pointer& pod) {
        const auto started = fields::text(pod->body(), {"status", "startTime"});
        return started.empty() ? pod->created : started;
    };
    if (a->priority != b->priority) return a->priority > b->priority;
    return std::tuple(since(a), a->uid) < std::tuple(since(b), b->uid);
}

}  // namespace

void node_view::add(const pod_pointer& pod) {
    pods.push_back(pod);
    model::add(used, pod->requests);
}

void node_view::remove(const pod_facts& pod) {
    std::erase_if(pods, [&](const pod_pointer& one) { return one->uid == pod.uid; });
    model::take(used, pod.requests);
}

verdict judge(const pod_facts& pod, const node_view& on,
              const std::vector<pod_pointer>& nominated) {
    if (!nominated.empty()) {
        node_view fuller = on;
        for (const auto& one : nominated) fuller.add(one);
        if (auto out = filter(pod, fuller); out.answer != fits::yes) return out;
    }
    return filter(pod, on);
}

std::optional<std::vector<pod_pointer>> victims_on(const pod_facts& pod, const node_view& on,
                                                   const std::vector<pod_pointer>& nominated) {
    std::vector<pod_pointer> lower;
    for (const auto& one : on.pods) {
        if (one->priority < pod.priority) lower.push_back(one);
    }
    if (lower.empty()) return std::nullopt;
    node_view without = on;
    for (const auto& one : lower) without.remove(*one);
    if (judge(pod, without, nominated).answer != fits::yes) return std::nullopt;
    std::sort(lower.begin(), lower.end(), more_important);
    std::vector<pod_pointer> out;
    for (const auto& one : lower) {
        without.add(one);
        if (judge(pod, without, nominated).answer == fits::yes) continue;
        without.remove(*one);
        out.push_back(one);
    }
    return out;
}

std::string least_harm(const candidates& among) {
    // Of equal candidates the first by name; the real one takes any.
    std::string out;
    std::tuple<std::int64_t, std::int64_t, std::size_t> best;
    for (const auto& [node, victims] : among) {
        std::int64_t highest = 0;
        std::int64_t sum = 0;
        for (const auto& one : victims) {
            highest = &one == &victims.front() ? one->priority : std::max(highest, one->priority);
            sum += one->priority;
        }
        const std::tuple harm(highest, sum, victims.size());
        if (!out.empty() && harm >= best) continue;
        out = node;
        best = harm;
    }
    return out;
}

std::int64_t score(const pod_facts& pod, const node_view& on) {
    std::int64_t out = 0;
    for (const std::string_view resource : {"cpu", "memory"}) {
        const auto there = amount(on.node->allocatable, resource);
        if (there == 0) continue;
        const auto left = there - amount(on.used, resource) - amount(pod.requests, resource);
        out += std::max<std::int64_t>(left, 0) / std::max<std::int64_t>(there / 100, 1);
    }
    return out;
}

std::string fit_error(std::size_t nodes, const verdicts& why, std::string_view absent) {
    std::map<std::string, std::size_t, std::less<>> counts;
    for (const auto& [node, one] : why) {
        for (const auto& reason : one.reasons) ++counts[reason];
    }
    if (!absent.empty() && nodes > why.size()) counts[std::string(absent)] += nodes - why.size();
    std::vector<std::string> parts;
    for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
    std::sort(parts.begin(), parts.end());
    std::string out = fmt::format("0/{} nodes are available:", nodes);
    for (const auto& part : parts) out += (&part == &parts.front() ? " " : ", ") + part;
    return parts.empty() ? out : out + ".";
}

}  // namespace esi::simulation
