#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "grid/grid.h"
#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/doctor/claims.h"
#include "kubectl-esi/doctor/mending.h"
#include "kubectl-esi/shown/words.h"
#include "model/conditions.h"
#include "model/names.h"
#include "scheduling/plan.h"

namespace esi::kubectl::doctor {

namespace {

namespace reason = model::condition_reason;
namespace type = model::condition_type;

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
         "kubectl -n kube-system get pods,leases   # does the scheduler of the message run? else "
         "set "
         "jobs.schedulerName of the chart"},
    word{reason::operator_silent, severity::error,
         "kubectl describe {2} {0} -n {1}   # does the operator of {3} run, and watch {1}?"},
    word{reason::driver_unschedulable, severity::error,
         "kubectl get nodes --show-labels   # one has to be in no Testbed"},
    word{"JobManagerUnschedulable", severity::error,
         "kubectl get nodes --show-labels   # one has to be in no Testbed"},
    word{reason::pods_missing, severity::error, "kubectl events -n {1} --types=Warning"},
    word{reason::create_failing, severity::error, "kubectl describe batchjob {0} -n {1}"},
    word{"NameTaken", severity::error, "kubectl get {2} {0} -n {1}"},
    word{"ApplicationStays", severity::error,
         "kubectl get {2} {0} -n {1} -o yaml   # the operator that has the finalizer has to run"},
    word{"PodStays", severity::warning,
         "kubectl get pods -n {1} -l esi.tu-berlin.de/job={0} -o yaml   # finalizers and node"},
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
    if (is_hidden(at, "batchjobs", found)) return;
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
                edit + "   # or larger spec.resourcesPerSlot in a Testbed");
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
                log_of(at, "esi-batchjob", meta.namespace_));
        }
    }
}

void look_at_accounts(const facts& at, std::vector<finding>& found) {
    for (const auto& [account, is] : at.accounts) {
        const auto key = model::object_key::from_text(account);
        if (is == presence::hidden) {
            add(found, severity::unknown, "ServiceAccount " + account, "you may not read it",
                "kubectl auth can-i list serviceaccounts -n " + key.namespace_);
        }
        if (is != presence::absent) continue;
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

/// Jobs of the plan for which the test holds.
template <class Test>
std::vector<std::string> jobs_of(const model::scheduling& plan, Test holds) {
    std::vector<std::string> out;
    for (const auto& each : scheduling::plan_of(plan).jobs) {
        if (holds(each.name) && std::ranges::find(out, each.name.name) == out.end()) {
            out.push_back(each.name.name);
        }
    }
    return out;
}

const model::batchjob* find_job(const facts& at, const model::object_key& key) {
    for (const auto& each : at.jobs) {
        if (each->metadata.key() == key) return each.get();
    }
    return nullptr;
}

std::string release_and_replace(const model::object_meta& of, std::string_view how) {
    return fmt::format("kubectl esi release {} -n {}   # then create it again {}", of.name,
                       of.namespace_, how);
}

/// Adds the namespace of the plan to those that may hold its Testbed.
std::string offer_testbed(const facts& at, const model::scheduling& plan) {
    const auto key = grid::testbed_of(plan);
    const auto* testbed = at.find_testbed(key);
    auto all = testbed != nullptr ? testbed->spec.allowed_namespaces : std::vector<std::string>();
    all.push_back(plan.metadata.namespace_);
    return fmt::format(R"(kubectl patch testbed {} -n {} --type=merge -p )"
                       R"('{{"spec":{{"allowedNamespaces":["{}"]}}}}'{})",
                       key.name, key.namespace_, fmt::join(all, R"(",")"),
                       testbed != nullptr ? "" : "   # beside those that it has");
}

std::string cancel_missing_jobs(const facts& at, const model::scheduling& plan) {
    const auto& meta = plan.metadata;
    const auto missing = jobs_of(plan, [&](const auto& job) { return !find_job(at, job); });
    const auto all = jobs_of(plan, [](const auto&) { return true; });
    if (missing.empty() || missing.size() == all.size()) {
        return release_and_replace(meta, "when its BatchJobs exist");
    }
    return fmt::format("kubectl esi cancel {} {} -n {}   # or create them", meta.name,
                       fmt::join(missing, " "), meta.namespace_);
}

std::string reset_failed_jobs(const facts& at, const model::scheduling& plan) {
    const auto failed = jobs_of(plan, [&](const auto& key) {
        const auto* job = find_job(at, key);
        return job != nullptr && (job->status.state == model::job_state::failed ||
                                  job->status.state == model::job_state::failed_submission);
    });
    return fmt::format("kubectl esi reset {} -n {}",
                       failed.empty() ? "--all" : fmt::format("{}", fmt::join(failed, " ")),
                       plan.metadata.namespace_);
}

constexpr std::string_view create_otherwise =
    "kubectl esi release {0} -n {1}   # then create it again without what the message names";

constexpr std::array plan_words{
    word{reason::testbed_missing, severity::error,
         "kubectl esi release {0} -n {1}   # then create it again with one of: kubectl get "
         "testbeds -n {1}; or create the Testbed"},
    word{reason::testbed_empty, severity::error, "kubectl esi explain scheduling {0} -n {1}"},
    word{reason::wait_cycle, severity::error,
         "kubectl esi release {0} -n {1}   # or one of the others"},
    word{reason::hold_lost, severity::error,
         "kubectl esi release {0} -n {1}   # then create another"},
    word{reason::testbed_owned, severity::error,
         "kubectl esi release {0} -n {1}   # then create it with another spec.testbed, or "
         "spec.claim"},
    word{reason::name_taken, severity::error,
         "kubectl get testbed {0} -n {1}   # delete it, or create the Scheduling under another "
         "name"},
    word{reason::plan_empty, severity::warning, "kubectl esi release {0} -n {1}"},
    word{reason::job_refused, severity::error,
         "kubectl describe scheduling {0} -n {1}   # a webhook or a policy refuses the change"},
    word{reason::claim_too_large, severity::error, "kubectl esi release {0} -n {1}"},
    word{reason::job_too_large, severity::error, create_otherwise},
    word{reason::slot_outside_layout, severity::error, create_otherwise},
    word{reason::slot_of_coordinator, severity::error, create_otherwise},
    word{reason::duplicate_job, severity::error, create_otherwise},
    word{reason::undecodable, severity::error, "kubectl edit scheduling {0} -n {1}"},
};

/// How a Scheduling that waits for this reason is mended, and how bad it is; nothing if no person
/// has to do anything.
std::optional<std::pair<std::string_view, std::string>> remedy_of(const facts& at,
                                                                  const model::scheduling& plan) {
    const auto& why = plan.status.reason;
    if (why == reason::not_allowed) return {{severity::error, offer_testbed(at, plan)}};
    if (why == reason::job_missing) return {{severity::error, cancel_missing_jobs(at, plan)}};
    if (why == reason::job_failed) return {{severity::error, reset_failed_jobs(at, plan)}};
    const auto known = std::ranges::find(plan_words, why, &word::reason);
    if (known == plan_words.end()) return std::nullopt;
    const auto& meta = plan.metadata;
    return {{known->how_bad, fmt::format(fmt::runtime(known->remedy), meta.name, meta.namespace_)}};
}

void look_at_plans(const facts& at, std::vector<finding>& found) {
    if (is_hidden(at, "schedulings", found)) return;
    for (const auto& each : at.schedulings) {
        const auto& meta = each->metadata;
        const auto& status = each->status;
        const auto object = text_of("Scheduling", meta);
        if (status.reason == reason::claim_refused) {
            look_at_refused_claim(at, *each, found);
        } else if (auto known = remedy_of(at, *each)) {
            const auto& text = !status.waiting_for.empty() ? status.waiting_for
                               : status.problems.empty()   ? status.reason
                                                           : status.problems.front();
            add(found, known->first, object, status.reason + ": " + text, std::move(known->second));
        } else if (status.state == model::scheduling_state::completed) {
            add(found, severity::warning, object,
                fmt::format("all its jobs have ended, and it still holds Testbed {} (no "
                            "releaseOnCompletion)",
                            scheduling::testbed_of(*each).text()),
                fmt::format("kubectl esi release {}{}", meta.name, in_namespace(meta)));
        } else if (status.state.empty() &&
                   is_older_than(meta.creation_timestamp, patience, at.now)) {
            add(found, severity::error, object, "esi-scheduling has not looked at it",
                log_of(at, "esi-scheduling", meta.namespace_));
        }
    }
}

/// Reports pods that ESI no longer keeps back, and that no scheduler has reported on.
void look_at_scheduler(const facts& at, std::vector<finding>& found) {
    if (is_hidden(at, "pods", found)) return;
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
    if (at.namespaces_seen != presence::there) {
        return add(found, severity::unknown, "namespaces", "you may not list them",
                   "kubectl auth can-i list namespaces");
    }
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

constexpr std::array table{check{"jobs", look_at_jobs}, check{"accounts", look_at_accounts},
                           check{"plans", look_at_plans}, check{"scheduler", look_at_scheduler},
                           check{"namespaces", look_at_namespaces}};

}  // namespace

std::span<const check> checks_of_objects() { return table; }

}  // namespace esi::kubectl::doctor
