#include "kubectl-esi/doctor/mending.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace esi::kubectl::doctor {

namespace {

/// The origin of the first object that the chart has made.
origin origin_of_installation(const facts& at) {
    origin out;
    const auto look = [&](const auto& list) {
        for (const auto& each : list) {
            if (!out.of_chart && each.from.of_chart) out = each.from;
        }
    };
    look(at.operators);
    look(at.policies);
    look(at.classes);
    look(at.definitions);
    return out;
}

std::string with_helm(const facts& at, const origin& from, std::string_view values) {
    const auto set = values.empty() ? std::string() : fmt::format(" --set {}", values);
    if (!from.release.empty()) {
        return fmt::format("helm upgrade {} helm/esi -n {} --reset-then-reuse-values{}",
                           from.release, from.ns, set);
    }
    return fmt::format(
        "helm template esi helm/esi -n {} --values VALUES{} | kubectl apply --server-side "
        "--force-conflicts -f -   # VALUES: those of this installation; Argo CD, Flux: sync it",
        at.operators_namespace, set);
}

/// What the demo applies: later files have the policies that earlier ones have, with more rights.
std::string files_of_demo(std::string_view more) {
    std::string out = fmt::format("kubectl apply -f {}", manifests);
    for (const char* each : {"nodes", "isolation", "debug", "extender"}) {
        out += fmt::format(" -f {}/{}", manifests, each);
    }
    if (!more.empty()) out += fmt::format(" -f {}/{}", manifests, more);
    return out;
}

}  // namespace

bool runs_as_processes(const facts& at) {
    return std::ranges::all_of(
        at.operators, [](const auto& each) { return each.deployment == presence::absent; });
}

std::string apply_again(const facts& at, const origin* of, std::string_view path,
                        std::string_view values) {
    const auto from = of != nullptr ? *of : origin_of_installation(at);
    if (from.of_chart) return with_helm(at, from, values);
    if (runs_as_processes(at) && path.starts_with(manifests)) return files_of_demo({});
    return fmt::format("kubectl apply --server-side --force-conflicts -f {}", path);
}

std::string run_with_flag(const facts& at, std::string_view name, std::string_view flag,
                          std::string_view values, std::string_view folder) {
    const auto from = origin_of_installation(at);
    if (from.of_chart) return with_helm(at, from, values);
    if (runs_as_processes(at)) {
        return fmt::format("{}   # and start {} with {}", files_of_demo(folder), name, flag);
    }
    const auto files =
        folder.empty() ? std::string()
                       : fmt::format("kubectl apply --server-side --force-conflicts -f {}/{} && ",
                                     manifests, folder);
    return fmt::format(
        "{}kubectl -n {} patch deploy/{} --type=json -p "
        R"('[{{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"{}"}}]')",
        files, at.operators_namespace, name, flag);
}

/// The file of helm/manifests that has the policy. Policies for one operator are in the file of
/// that operator; the others are named here.
std::string file_of_policy(std::string_view name) {
    // Policies for one operator are in the file of that operator; the others are named here.
    struct row {
        std::string_view file;
        std::array<std::string_view, 4> policies;
    };
    static constexpr row rows[] = {
        {"operators", {"esi-operator-leases", "esi-operator-events"}},
        {"orders", {"esi-orders", "esi-holds", "esi-slices", "esi-keys"}},
        {"bounds", {"esi-bounds"}},
        {"pods", {"esi-pod-marks", "esi-bindings", "esi-resizes"}},
        {"priority-classes", {"esi-claim-classes", "esi-priority-classes"}},
        {"nodes", {"esi-testbed-nodes"}}};
    for (const auto& each : rows) {
        if (std::ranges::find(each.policies, name) != each.policies.end()) {
            return fmt::format("{}/policies-{}.yaml", manifests, each.file);
        }
    }
    name.remove_prefix(std::min(name.size(), std::string_view("esi-").size()));
    return fmt::format("{}/policies-{}.yaml", manifests, name.substr(0, name.find('-')));
}

std::string log_of(const facts& at, std::string_view name, std::string_view ns) {
    if (runs_as_processes(at)) {
        return fmt::format("pgrep -a {}   # it has no Deployment here; its log has the reason",
                           name);
    }
    return fmt::format(
        "kubectl -n {} logs deploy/{}   # does it run, and does watchNamespaces "
        "name {}?",
        at.operators_namespace, name, ns);
}

}  // namespace esi::kubectl::doctor
