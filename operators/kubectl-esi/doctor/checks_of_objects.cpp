#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "grid/grid.h"
#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/shown/words.h"
#include "model/conditions.h"
#include "model/names.h"
#include "scheduling/plan.h"

namespace esi::kubectl::doctor {

namespace {

namespace reason = model::condition_reason;
namespace type = model::condition_type;

/// A step that takes longer is no longer under way.
constexpr seconds patience{60};

void add(std::vector<finding>& to, std::string_view how_bad, std::string object, std::string text,
         std::string remedy) {
    to.push_back({"", std::string(how_bad), std::move(object), std::move(text), std::move(remedy)});
}

std::string text_of(std::string_view kind, const model::object_meta& of) {
    return fmt::format("{} {}", kind, of.key().text());
}

std::string in_namespace(const model::object_meta& of) { return " -n " + of.namespace_; }

bool is_older_than(const std::optional<model::timestamp>& since, seconds time, wall_time now) {
    return since && now - since->value > time;
}

/// The condition, if it is False with this reason; else null.
const model::condition* failed(const std::vector<model::condition>& list, std::string_view of,
                               std::string_view why) {
    const auto* found = model::find_condition(list, of);
    return found != nullptr && found->status == "False" && found->reason == why ? found : nullptr;
}

bool is_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && at == text.data() + text.size();
}

const model::node* find_node(const facts& at, std::string_view name) {
    for (const auto& each : at.nodes) {
        if (each->metadata.name == name) return each.get();
    }
    return nullptr;
}

void look_at_nodes_of(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto& label = testbed.spec.node_label;
    const auto object = text_of("Testbed", testbed.metadata);
    if (at.nodes_seen != presence::there) return;
    bool any = false;
    for (const auto& node : at.nodes) {
        const auto value = node->metadata.labels.find(label);
        if (value == node->metadata.labels.end()) continue;
        any = true;
        if (is_number(value->second)) continue;
        add(found, severity::error, object,
            fmt::format("node {} has the label {}={}, which is no whole number: it gives no slots",
                        node->metadata.name, label, value->second),
            fmt::format(
                "kubectl label node {} {}=0 --overwrite   # a number that no other node has",
                node->metadata.name, label));
    }
    if (any) return;
    add(found, severity::error, object, "no node has its label " + label,
        fmt::format("kubectl esi nodes {} --count 3{}", testbed.metadata.name,
                    in_namespace(testbed.metadata)));
}

void look_at_nodes_out_of_use(const facts& at, const model::testbed& testbed,
                              std::vector<finding>& found) {
    const auto& out = testbed.status.nodes_out_of_use;
    if (!out) return;
    for (const auto& name : out->names) {
        const auto* node = find_node(at, name);
        const bool cordoned = node != nullptr && node->unschedulable;
        add(found, severity::error, text_of("Testbed", testbed.metadata),
            fmt::format("no slot on node {} can be used: {}", name,
                        cordoned          ? "it is cordoned"
                        : node == nullptr ? "it does not exist or cannot be read"
                        : node->ready     ? "status.nodeProblems of the Testbed says why"
                                          : "it is not ready"),
            cordoned ? "kubectl uncordon " + name : "kubectl describe node " + name);
    }
}

void look_at_hold(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto holder = testbed.holder();
    if (holder.name.empty()) return;
    const auto exists = std::ranges::any_of(
        at.schedulings, [&](const auto& each) { return each->metadata.key() == holder; });
    if (exists) return;
    const auto& meta = testbed.metadata;
    // It may be in a namespace that the user does not see.
    const bool seen = std::ranges::any_of(at.schedulings, [&](const auto& each) {
        return each->metadata.namespace_ == holder.namespace_;
    });
    if (!seen && holder.namespace_ != meta.namespace_) return;
    add(found, severity::error, text_of("Testbed", meta),
        fmt::format("Scheduling {} holds it and does not exist", holder.text()),
        fmt::format("kubectl annotate testbed {} {}-{}", meta.name, model::names::hold,
                    in_namespace(meta)));
}

void look_at_testbed(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto& meta = testbed.metadata;
    const auto& status = testbed.status;
    const auto object = text_of("Testbed", meta);
    look_at_hold(at, testbed, found);
    if (meta.deleting()) {
        if (is_older_than(meta.deletion_timestamp, patience, at.now)) {
            const auto holder = testbed.holder();
            add(found, severity::warning, object,
                fmt::format("it has been being deleted for {}",
                            shown::age_text(meta.deletion_timestamp, at.now)),
                holder.name.empty()
                    ? fmt::format("kubectl -n {} logs deploy/esi-testbed", at.operators_namespace)
                    : fmt::format("kubectl esi release {} -n {}", holder.name, holder.namespace_));
        }
        return;
    }
    if (status.observed_generation < meta.generation &&
        is_older_than(meta.creation_timestamp, patience, at.now)) {
        add(found, severity::error, object,
            "esi-testbed has not looked at it, or not at its change",
            fmt::format("kubectl -n {} logs deploy/esi-testbed   # does it run, and does "
                        "watchNamespaces name {}?",
                        at.operators_namespace, meta.namespace_));
    }
    if (status.reason == reason::spec_invalid) {
        add(found, severity::error, object, status.message,
            fmt::format("kubectl edit testbed {}{}", meta.name, in_namespace(meta)));
        return;
    }
    look_at_nodes_of(at, testbed, found);
    look_at_nodes_out_of_use(at, testbed, found);
    if (const auto* room =
            failed(status.conditions, type::capacity_sufficient, reason::not_enough_room)) {
        add(found, severity::error, object, room->message,
            fmt::format("smaller slots, or other nodes: kubectl esi nodes {} --count N{}",
                        meta.name, in_namespace(meta)));
    }
    if (const auto* taint = failed(status.conditions, type::isolated, reason::not_tainted)) {
        add(found, severity::warning, object, taint->message,
            fmt::format("kubectl apply -f helm/manifests/isolation   # or isolation: None in {}",
                        meta.key().text()));
    }
    if (const auto* ghosts = failed(status.conditions, type::ghosts_running, reason::ghosts_fail)) {
        add(found, severity::error, object, ghosts->message,
            "helm upgrade with ghost.image set to an image that the nodes can have");
    }
}

void look_at_testbeds(const facts& at, std::vector<finding>& found) {
    for (const auto& each : at.testbeds) look_at_testbed(at, *each, found);
}

/// Drivers and JobManagers are kept off the nodes of their job's Testbed.
void look_at_driver_nodes(const facts& at, std::vector<finding>& found) {
    if (at.nodes_seen != presence::there || at.nodes.empty() || at.testbeds.empty()) return;
    if (at.jobs.empty()) return;
    for (const auto& node : at.nodes) {
        const bool slots = std::ranges::any_of(at.testbeds, [&](const auto& each) {
            return node->metadata.labels.contains(each->spec.node_label);
        });
        if (!slots && node->ready && !node->unschedulable) return;
    }
    add(found, severity::warning, "nodes",
        "every node that is ready has slots of a Testbed: drivers and JobManagers stay Pending",
        fmt::format("kubectl label node NODE {}-   # keep a node that is in no Testbed",
                    at.testbeds.front()->spec.node_label));
}

struct word {
    std::string_view reason;
    std::string_view how_bad;
    /// {0} is the name, {1} the namespace, {2} each resource of applications for kubectl, {3} the
    /// names of their kinds.
    std::string_view remedy;
};

constexpr std::array job_words{
    word{reason::refused, severity::error, "kubectl edit batchjob {0} -n {1}"},
    word{reason::spec_refused, severity::error, "kubectl edit batchjob {0} -n {1}"},
    word{reason::scheduler_absent, severity::error,
         "start the scheduler that the message names, or set jobs.schedulerName of the chart"},
    word{reason::operator_silent, severity::error,
         "does the operator of {3} run, and watch namespace {1}? kubectl describe {2} {0} -n {1}"},
    word{reason::driver_unschedulable, severity::error,
         "keep a node that is in no Testbed: kubectl get nodes --show-labels"},
    word{"JobManagerUnschedulable", severity::error,
         "keep a node that is in no Testbed: kubectl get nodes --show-labels"},
    word{reason::pods_missing, severity::error, "kubectl events -n {1} --types=Warning"},
    word{reason::create_failing, severity::error, "kubectl describe batchjob {0} -n {1}"},
    word{"NameTaken", severity::error, "kubectl get {2} {0} -n {1}"},
    word{"ApplicationStays", severity::error,
         "start the operator of {3}, whose finalizer keeps it"},
    word{
        "PodStays", severity::warning,
        "kubectl get pods -n {1} -l esi.tu-berlin.de/job={0} -o yaml: look at finalizers and node"},
    word{reason::undecodable, severity::error, "kubectl edit batchjob {0} -n {1}"},
};

/// The kinds whose applications an operator runs, by one member of their rows.
std::string names_of_kinds(std::string_view between,
                           std::string_view model::application_kind::* member) {
    std::string out;
    for (const auto& each : model::application_kinds) {
        if (each.resource.empty()) continue;
        out += fmt::format("{}{}", out.empty() ? "" : between, each.*member);
    }
    return out;
}

void look_at_jobs(const facts& at, std::vector<finding>& found) {
    const auto resources = names_of_kinds(",", &model::application_kind::resource);
    const auto kinds = names_of_kinds(" or ", &model::application_kind::type);
    for (const auto& each : at.jobs) {
        const auto& meta = each->metadata;
        const auto& status = each->status;
        const auto object = text_of("BatchJob", meta);
        const auto problem = status.problems.empty() ? status.reason : status.problems.front();
        const auto edit = fmt::format("kubectl edit batchjob {}{}", meta.name, in_namespace(meta));
        const auto* accepted = model::find_condition(status.conditions, type::accepted);
        if (accepted != nullptr && accepted->status == "False") {
            add(found, severity::error, object, accepted->reason + ": " + accepted->message, edit);
            continue;
        }
        const auto* fits = model::find_condition(status.conditions, type::fits);
        if (fits != nullptr && fits->status == "False") {
            add(found, severity::error, object, fits->reason + ": " + fits->message,
                "larger spec.resourcesPerSlot in a Testbed, or " + edit);
            continue;
        }
        const auto known = std::ranges::find(job_words, status.reason, &word::reason);
        if (known != job_words.end()) {
            add(found, known->how_bad, object, status.reason + ": " + problem,
                fmt::format(fmt::runtime(known->remedy), meta.name, meta.namespace_, resources,
                            kinds));
            continue;
        }
        if (status.state == model::job_state::failed ||
            status.state == model::job_state::failed_submission) {
            add(found, severity::warning, object,
                fmt::format("it has failed and is not started again: {}", shown::or_none(problem)),
                fmt::format("kubectl esi reset {}{}", meta.name, in_namespace(meta)));
        } else if (status.state.empty() &&
                   is_older_than(meta.creation_timestamp, patience, at.now)) {
            add(found, severity::error, object, "esi-batchjob has not looked at it",
                fmt::format("kubectl -n {} logs deploy/esi-batchjob   # does it run, and does "
                            "watchNamespaces name {}?",
                            at.operators_namespace, meta.namespace_));
        }
    }
}

void look_at_accounts(const facts& at, std::vector<finding>& found) {
    for (const auto& [account, is] : at.accounts) {
        if (is != presence::absent) continue;
        const auto key = model::object_key::from_text(account);
        std::string jobs;
        int count = 0;
        for (const auto& each : at.jobs) {
            if (account_of(*each) != key) continue;
            if (++count <= 3) jobs += (count == 1 ? "" : ", ") + each->metadata.name;
        }
        if (count > 3) jobs += fmt::format(" and {} more", count - 3);
        const bool has_example =
            std::ranges::any_of(model::application_kinds,
                                [&](const auto& kind) { return kind.example_account == key.name; });
        add(found, severity::error, "ServiceAccount " + account,
            "it does not exist; the pods of these BatchJobs run with it: " + jobs,
            has_example
                ? fmt::format("kubectl apply -f examples/{}-account.yaml -n {}", key.name,
                              key.namespace_)
                : fmt::format("kubectl create serviceaccount {} -n {}", key.name, key.namespace_));
    }
}

constexpr std::array plan_words{
    word{reason::testbed_missing, severity::error,
         "create the Testbed, or: kubectl edit scheduling {0} -n {1}"},
    word{reason::testbed_empty, severity::error, "kubectl esi explain scheduling {0} -n {1}"},
    word{reason::job_missing, severity::error,
         "create the BatchJob, or: kubectl edit scheduling {0} -n {1}"},
    word{reason::job_failed, severity::error, "kubectl esi reset JOB -n {1}"},
    word{reason::not_allowed, severity::error,
         "spec.allowedNamespaces of the Testbed has to name {1}"},
    word{reason::wait_cycle, severity::error,
         "kubectl esi release {0} -n {1}   # or one of the others"},
    word{reason::hold_lost, severity::error, "kubectl esi release {0} -n {1}, then create another"},
    word{reason::testbed_owned, severity::error,
         "kubectl esi release {0} -n {1}   # then create it with another spec.testbed, or "
         "spec.claim"},
    word{reason::name_taken, severity::error,
         "kubectl get testbed {0} -n {1}   # delete it, or create the Scheduling under another "
         "name"},
    word{reason::claim_refused, severity::error,
         "kubectl describe testbed {0} -n {1}   # the condition Formed"},
    word{reason::plan_empty, severity::warning, "kubectl esi release {0} -n {1}"},
    word{reason::job_refused, severity::error,
         "kubectl describe scheduling {0} -n {1}   # a webhook or a policy refuses the change"},
    word{reason::claim_too_large, severity::error, "kubectl esi release {0} -n {1}"},
    word{reason::job_too_large, severity::error, "kubectl edit scheduling {0} -n {1}"},
    word{reason::slot_outside_layout, severity::error, "kubectl edit scheduling {0} -n {1}"},
    word{reason::slot_of_coordinator, severity::error, "kubectl edit scheduling {0} -n {1}"},
    word{reason::duplicate_job, severity::error, "kubectl edit scheduling {0} -n {1}"},
    word{reason::undecodable, severity::error, "kubectl edit scheduling {0} -n {1}"},
};

void look_at_plans(const facts& at, std::vector<finding>& found) {
    for (const auto& each : at.schedulings) {
        const auto& meta = each->metadata;
        const auto& status = each->status;
        const auto object = text_of("Scheduling", meta);
        const auto known = std::ranges::find(plan_words, status.reason, &word::reason);
        if (known != plan_words.end()) {
            const auto& text = !status.waiting_for.empty() ? status.waiting_for
                               : status.problems.empty()   ? status.reason
                                                           : status.problems.front();
            add(found, known->how_bad, object, status.reason + ": " + text,
                fmt::format(fmt::runtime(known->remedy), meta.name, meta.namespace_));
        } else if (status.state == model::scheduling_state::completed) {
            add(found, severity::warning, object,
                fmt::format("all its jobs have ended, and it still holds Testbed {} (no "
                            "releaseOnCompletion)",
                            scheduling::testbed_of(*each).text()),
                fmt::format("kubectl esi release {}{}", meta.name, in_namespace(meta)));
        } else if (status.state.empty() &&
                   is_older_than(meta.creation_timestamp, patience, at.now)) {
            add(found, severity::error, object, "esi-scheduling has not looked at it",
                fmt::format("kubectl -n {} logs deploy/esi-scheduling   # does it run, and does "
                            "watchNamespaces name {}?",
                            at.operators_namespace, meta.namespace_));
        }
    }
}

/// Reports pods that ESI no longer keeps back, and that no scheduler has reported on.
void look_at_scheduler(const facts& at, std::vector<finding>& found) {
    std::map<std::string, std::pair<int, model::object_key>> silent;
    for (const auto& pod : at.pods) {
        if (pod->bound() || pod->terminal() || !grid::let_in(*pod) || pod->metadata.deleting())
            continue;
        if (!pod->scheduled_status.empty()) continue;
        if (!is_older_than(pod->metadata.creation_timestamp, patience, at.now)) continue;
        auto& [count, example] = silent[pod->scheduler_name];
        if (count++ == 0) example = pod->metadata.key();
    }
    for (const auto& [name, pods] : silent) {
        add(found, severity::error, "scheduler " + name,
            fmt::format("it has not looked at {} {} of ESI for {}, such as {}", pods.first,
                        pods.first == 1 ? "pod" : "pods", shown::duration_text(patience),
                        pods.second.text()),
            fmt::format(
                "kubectl -n kube-system get pods,leases   # does a scheduler with the profile "
                "{} run? else set jobs.schedulerName of the chart",
                name));
    }
}

void look_at_namespaces(const facts& at, std::vector<finding>& found) {
    for (const auto& ns : at.ending_namespaces) {
        std::string left;
        for (const auto& each : at.schedulings) {
            if (each->metadata.namespace_ == ns) left = text_of("Scheduling", each->metadata);
        }
        for (const auto& each : at.testbeds) {
            if (each->metadata.namespace_ == ns) left = text_of("Testbed", each->metadata);
        }
        if (left.empty()) continue;
        add(found, severity::error, "Namespace " + ns,
            "it is being deleted, and " + left +
                " still has a finalizer that an operator of ESI takes away",
            fmt::format("kubectl -n {} get pods   # the operators have to run; kubectl get "
                        "schedulings,testbeds -n {}",
                        at.operators_namespace, ns));
    }
}

constexpr std::array table{check{"testbeds", look_at_testbeds},
                           check{"driver nodes", look_at_driver_nodes},
                           check{"jobs", look_at_jobs},
                           check{"accounts", look_at_accounts},
                           check{"plans", look_at_plans},
                           check{"scheduler", look_at_scheduler},
                           check{"namespaces", look_at_namespaces}};

}  // namespace

std::span<const check> checks_of_objects() { return table; }

}  // namespace esi::kubectl::doctor
