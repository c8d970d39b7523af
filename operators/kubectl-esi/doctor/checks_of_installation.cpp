#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/version.h"
#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/doctor/mending.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::doctor {

namespace {

using shown::duration_text;

/// A lease that was not renewed for this many of its durations has no working holder.
constexpr int most_durations = 2;
constexpr std::size_t most_fields_named = 5;

void look_at_server(const facts& at, std::vector<finding>& found) {
    if (!at.server) {
        return add(found, severity::unknown, "API server", "its version cannot be read",
                   "kubectl version");
    }
    if (auto fault = kube::too_old(*at.server); !fault.empty()) {
        add(found, severity::error, "API server", std::move(fault),
            fmt::format("upgrade the cluster to Kubernetes 1.{} or later", kube::oldest_minor));
    }
}

void look_at_definitions(const facts& at, std::vector<finding>& found) {
    for (const auto& each : at.definitions) {
        const auto object = "CustomResourceDefinition " + each.name;
        const auto* from = each.is == presence::there ? &each.from : nullptr;
        const auto apply = apply_again(at, from, each.file);
        if (each.is == presence::absent) {
            add(found, severity::error, object, "it does not exist", apply);
        } else if (each.is == presence::hidden) {
            add(found, severity::unknown, object, "you may not read it",
                "kubectl auth can-i get customresourcedefinitions");
        } else if (!each.established) {
            add(found, severity::error, object, "the API server does not serve it yet",
                "kubectl describe crd " + each.name);
        } else if (!each.missing.empty()) {
            std::string fields;
            for (std::size_t i = 0; i < std::min(each.missing.size(), most_fields_named); ++i) {
                fields += (i == 0 ? "" : ", ") + each.missing[i];
            }
            if (each.missing.size() > most_fields_named) {
                fields += fmt::format(" and {} more", each.missing.size() - most_fields_named);
            }
            add(found, severity::error, object,
                fmt::format("it is of an older release than {}: it lacks {}", version(), fields),
                each.from.release.empty()
                    ? apply
                    : apply + " --force-conflicts   # Helm 3 does not have this flag or need it");
        }
    }
}

void look_at_rights(const facts& at, std::vector<finding>& found) {
    for (const auto& each : at.rights) {
        if (each.allowed) continue;
        const auto where = each.ns.empty() ? std::string("-A") : "-n " + each.ns;
        const bool reads = each.verb == "get" || each.verb == "list" || each.verb == "watch";
        const std::string role = reads ? "view" : "edit";
        add(found, severity::warning, "you",
            fmt::format(
                "may not {} {}{}: {} does not work", each.verb, each.resource,
                each.ns.empty() ? std::string(" of all namespaces") : " in namespace " + each.ns,
                each.needed_for),
            each.ns.empty()
                ? fmt::format("kubectl create clusterrolebinding esi-{} --clusterrole={} "
                              "--user=YOU   # check: kubectl auth can-i {} {} {}",
                              role, role, each.verb, each.resource, where)
                : fmt::format(
                      "kubectl create rolebinding esi-{} --clusterrole={} --user=YOU {}   # "
                      "check: kubectl auth can-i {} {} {}",
                      role, role, where, each.verb, each.resource, where));
    }
}

/// The operator has no Lease, and its Deployment exists.
void look_at_missing_lease(const facts& at, const operator_fact& of, std::vector<finding>& found) {
    // It does not ask for one, or the check of Deployments reports why no pod does.
    if (of.argument("--leader-elect") == "false" || of.wanted == 0) return;
    const auto& ns = at.operators_namespace;
    add(found, severity::error, fmt::format("Lease {}/{}", ns, of.name),
        "it does not exist: no pod of " + of.name + " has ever led in this namespace",
        fmt::format("kubectl -n {} get pods; kubectl -n {} logs deploy/{}", ns, ns, of.name));
}

/// These operators have neither a Lease nor a Deployment that the user sees. They may run all the
/// same, as those of the demo do, so that no remedy here installs others beside them.
void look_at_unseen(const facts& at, const std::string& names, std::vector<finding>& found) {
    const auto object = "operators in " + at.operators_namespace;
    if (!at.other_operators_namespace.empty()) {
        return add(found, severity::warning, object,
                   fmt::format("it has no Lease and no Deployment of {}; namespace {} has", names,
                               at.other_operators_namespace),
                   "kubectl esi doctor --operators-namespace " + at.other_operators_namespace);
    }
    add(found, severity::unknown, object,
        fmt::format("it has no Lease and no Deployment of {} that you may read: they run without "
                    "leader election (--leader-elect=false), or in another namespace, or not at "
                    "all",
                    names),
        "kubectl get deployments -A -l app.kubernetes.io/part-of=esi   # the namespace for "
        "--operators-namespace");
}

void look_at_leases(const facts& at, std::vector<finding>& found) {
    const auto& ns = at.operators_namespace;
    std::string unseen;
    for (const auto& each : at.operators) {
        const auto object = fmt::format("Lease {}/{}", ns, each.name);
        const auto logs = runs_as_processes(at)
                              ? log_of(at, each.name, {})
                              : fmt::format("kubectl -n {} get pods; kubectl -n {} logs deploy/{}",
                                            ns, ns, each.name);
        if (each.lease == presence::hidden) {
            add(found, severity::unknown, object, "you may not read it",
                "kubectl auth can-i get leases -n " + ns);
        } else if (each.lease == presence::absent && each.deployment == presence::there) {
            look_at_missing_lease(at, each, found);
        } else if (each.lease == presence::absent) {
            unseen += (unseen.empty() ? "" : ", ") + each.name;
        } else if (each.holder.empty() || !each.renewed) {
            add(found, severity::error, object, "no replica of " + each.name + " leads", logs);
        } else if (at.now - each.renewed->value > seconds(most_durations * each.lease_seconds)) {
            add(found, severity::error, object,
                fmt::format("{} has not renewed it for {}", each.holder,
                            duration_text(at.now - each.renewed->value)),
                logs);
        }
    }
    if (!unseen.empty()) look_at_unseen(at, unseen, found);
}

/// Checks the Deployment's flags, if the user may read it.
void look_at_tokens(const facts& at, std::vector<finding>& found) {
    const auto* who = at.find_operator("esi-scheduling");
    if (who == nullptr || !who->argument("--tls-cert-file").empty()) return;
    if (!who->has("--api-plain-tokens")) return;
    add(found, severity::warning, "Deployment " + at.operators_namespace + "/esi-scheduling",
        "it takes bearer tokens over plain HTTP: who reads the network can use them",
        who->from.of_chart
            ? apply_again(at, &who->from, manifests,
                          "tls.mode=generate,interface.api.plainTokens=false")
            : fmt::format("kubectl -n {} edit deploy/esi-scheduling   # --tls-cert-file and "
                          "--tls-private-key-file in place of --api-plain-tokens",
                          at.operators_namespace));
}

void look_at_deployments(const facts& at, std::vector<finding>& found) {
    const auto& ns = at.operators_namespace;
    std::string image;
    for (const auto& each : at.operators) {
        if (each.deployment == presence::hidden) {
            add(found, severity::unknown, fmt::format("Deployment {}/{}", ns, each.name),
                "you may not read it", "kubectl auth can-i get deployments.apps -n " + ns);
        }
        if (each.deployment != presence::there) continue;
        const auto object = fmt::format("Deployment {}/{}", ns, each.name);
        if (each.wanted > 0 && each.ready == 0) {
            add(found, severity::error, object,
                fmt::format("none of its {} pods is ready", each.wanted),
                fmt::format("kubectl -n {} describe deploy/{}", ns, each.name));
        } else if (each.wanted == 0) {
            add(found, severity::error, object, "it is scaled to 0",
                fmt::format("kubectl -n {} scale deploy/{} --replicas=2", ns, each.name));
        }
        const auto colon = each.image.rfind(':');
        const auto tag =
            colon == std::string::npos || each.image.find('/', colon) != std::string::npos
                ? std::string()
                : each.image.substr(colon + 1);
        if (!image.empty() && !tag.empty() && tag != image) {
            add(found, severity::error, object,
                fmt::format("it runs version {}, another operator runs {}", tag, image),
                apply_again(at, &each.from, std::string(manifests) + "/install/install.yaml"));
        }
        if (image.empty()) image = tag;
    }
    if (!image.empty() && image != version()) {
        add(found, severity::warning, "operators in " + ns,
            fmt::format("they run version {}, this program is {}: what it plans may differ", image,
                        version()),
            "use the kubectl-esi of version " + image);
    }
    look_at_tokens(at, found);
}

const priority_class_fact* find(const facts& at, const std::string& name) {
    const auto found = std::ranges::find(at.classes, name, &priority_class_fact::name);
    return found == at.classes.end() ? nullptr : &*found;
}

/// Reads the operators' flags, if the user may read them.
std::string class_name(const facts& at, std::string_view of, std::string_view flag,
                       const char* otherwise) {
    const auto* who = at.find_operator(of);
    const auto given = who == nullptr ? std::string() : who->argument(flag);
    return given.empty() ? otherwise : given;
}

/// What keeps pods of a class that is not ESI's from evicting ghosts: the taint of their nodes. A
/// Testbed of a claim has the priority that its claim names, which is its author's choice.
std::string taint_testbeds(const facts& at) {
    constexpr int most_patched = 5;
    std::string out;
    int patched = 0;
    for (const auto& each : at.testbeds) {
        const auto& spec = each->spec;
        if (spec.claim || spec.isolation == model::isolation::taint) continue;
        if (++patched > most_patched) return out + "   # and the other Testbeds";
        const auto& meta = each->metadata;
        out += fmt::format("{}kubectl patch testbed {}{} --type=merge -p ",
                           out.empty() ? "" : " && ", meta.name, in_namespace(meta));
        out += R"('{"spec":{"isolation":"Taint"}}')";
    }
    return out;
}

void look_at_foreign_classes(const facts& at, const priority_class_fact& ghosts,
                             std::string_view job, std::vector<finding>& found) {
    const auto taint = taint_testbeds(at);
    if (taint.empty() && !at.testbeds.empty()) return;
    for (const auto& each : at.classes) {
        if (each.part_of == "esi" || each.name == ghosts.name || each.name == job) continue;
        if (each.name.starts_with("system-") || each.preemption == "Never") continue;
        if (each.value < ghosts.value) continue;
        add(found, severity::warning, "PriorityClass " + each.name,
            fmt::format("its value {} is not below that of {}, {}: its pods may evict ghosts and "
                        "take the room of free slots",
                        each.value, ghosts.name, ghosts.value),
            taint.empty()
                ? "kubectl esi doctor -A   # names the Testbeds that need isolation: Taint"
                : taint);
    }
}

void look_at_classes(const facts& at, std::vector<finding>& found) {
    const auto file = std::string(manifests) + "/priority-classes.yaml";
    if (at.classes_seen == presence::hidden) {
        return add(found, severity::unknown, "PriorityClasses", "you may not list them",
                   "kubectl auth can-i list priorityclasses");
    }
    const auto ghost = class_name(at, "esi-testbed", "--ghost-priority-class", "esi-ghost");
    const auto job = class_name(at, "esi-batchjob", "--job-priority-class", "esi-job");
    // A class's value and policy cannot be changed.
    const auto again = [&](const priority_class_fact& known) {
        return fmt::format("kubectl delete priorityclass {} && {}", known.name,
                           apply_again(at, nullptr, file));
    };
    for (const auto& name : {ghost, job}) {
        const auto* known = find(at, name);
        if (known == nullptr) {
            add(found, severity::error, "PriorityClass " + name,
                "it does not exist: the API server refuses pods of this class",
                apply_again(at, nullptr, file));
        } else if (known->preemption != "Never") {
            add(found, severity::error, "PriorityClass " + name,
                "its preemptionPolicy is not Never: its pods may evict others", again(*known));
        }
    }
    const auto* ghosts = find(at, ghost);
    const auto* jobs = find(at, job);
    if (ghosts == nullptr) return;
    if (jobs != nullptr && jobs->value <= ghosts->value) {
        add(found, severity::error, "PriorityClass " + job,
            fmt::format("its value {} is not above that of {}, {}: nominations of job pods do not "
                        "count against ghosts",
                        jobs->value, ghost, ghosts->value),
            again(*jobs));
    }
    look_at_foreign_classes(at, *ghosts, job, found);
}

void look_at_policies(const facts& at, std::vector<finding>& found) {
    constexpr std::string_view enforce = "policies.mode=Enforce";
    if (at.policies_seen == presence::hidden) {
        return add(found, severity::unknown, "ValidatingAdmissionPolicies", "you may not list them",
                   "kubectl auth can-i list validatingadmissionpolicies");
    }
    if (std::ranges::none_of(at.policies, &policy_fact::there)) {
        return add(found, severity::warning, "ValidatingAdmissionPolicies",
                   "ESI has none here: other accounts may write what only the operators should",
                   apply_again(at, nullptr, manifests, enforce));
    }
    for (const auto& each : at.policies) {
        const auto object = "ValidatingAdmissionPolicy " + each.name;
        const auto file = file_of_policy(each.name);
        if (!each.there) {
            add(found, severity::error, object, "it does not exist",
                apply_again(at, nullptr, file));
        } else if (!each.bound) {
            add(found, severity::error, object, "it has no binding, so that it is not asked",
                apply_again(at, &each.from, file));
        } else if (!each.denies) {
            // Helm does not take a field from the account that has changed it by hand.
            add(found, severity::warning, object,
                "its binding does not deny: what it forbids is done all the same",
                fmt::format("kubectl delete validatingadmissionpolicybinding {} && {}", each.name,
                            apply_again(at, &each.from, file, enforce)));
        }
    }
}

void look_at_backends(const facts& at, std::vector<finding>& found) {
    for (const auto& each : at.backends) {
        const auto& kind = *each.of;
        const bool used = std::ranges::any_of(
            at.jobs, [&](const auto& job) { return (job->spec.*kind.spec).has_value(); });
        const auto object = fmt::format("CustomResourceDefinition {}", kind.definition);
        if (each.kind == presence::hidden && used) {
            add(found, severity::unknown, object, "you may not read it",
                "kubectl auth can-i get customresourcedefinitions");
        } else if (each.kind == presence::absent && used) {
            add(found, severity::error, object,
                fmt::format("it does not exist, and there are BatchJobs that are {} jobs",
                            kind.type),
                std::string(kind.install));
        } else if (each.kind == presence::there && !each.established) {
            add(found, severity::error, object, "the API server does not serve it",
                fmt::format("kubectl describe crd {}", kind.definition));
        }
        if (each.deployments == presence::there && each.ready == 0) {
            const auto slash = each.deployment.find('/');
            add(found, severity::error, "Deployment " + each.deployment,
                fmt::format("the operator of {} jobs has no pod that is ready", kind.type),
                fmt::format("kubectl -n {} describe deploy/{}", each.deployment.substr(0, slash),
                            each.deployment.substr(slash + 1)));
        }
    }
}

void look_at_extender(const facts& at, std::vector<finding>& found) {
    if (!at.extender) return;
    const auto& ns = at.operators_namespace;
    const auto object = fmt::format("Service {}/{}", ns, at.extender->name);
    if (at.extender->is == presence::absent) {
        add(found, severity::error, object,
            "it does not exist, and esi-batchjob runs with --placement=extender: the second "
            "scheduler cannot ask the extender",
            apply_again(at, nullptr, std::string(manifests) + "/install/install.yaml",
                        "extender.enabled=true"));
    } else if (at.extender->is == presence::hidden) {
        add(found, severity::unknown, object, "you may not read it or its EndpointSlices",
            "kubectl auth can-i list endpointslices.discovery.k8s.io -n " + ns);
    } else if (at.extender->is == presence::there && at.extender->ready == 0) {
        add(found, severity::error, object,
            "it has no endpoint that is ready: the second scheduler cannot ask the extender",
            fmt::format("kubectl -n {} get pods,endpointslices", ns));
    }
    if (at.classes_seen == presence::there && find(at, "esi-extender") == nullptr) {
        add(found, severity::error, "PriorityClass esi-extender",
            "it does not exist, and esi-batchjob runs with --placement=extender",
            apply_again(at, nullptr, std::string(manifests) + "/extender",
                        "extender.enabled=true"));
    }
}

constexpr std::array table{
    check{"server", look_at_server},           check{"definitions", look_at_definitions},
    check{"rights", look_at_rights},           check{"leases", look_at_leases},
    check{"deployments", look_at_deployments}, check{"priority classes", look_at_classes},
    check{"policies", look_at_policies},       check{"backends", look_at_backends},
    check{"extender", look_at_extender}};

}  // namespace

std::span<const check> checks_of_installation() { return table; }

}  // namespace esi::kubectl::doctor
