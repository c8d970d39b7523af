#include "kubectl-esi/commands/explain.h"

#include <fmt/format.h>

#include "kubectl-esi/commands/gates.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/blockers.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"
#include "model/conditions.h"
#include "model/names.h"
#include "scheduling/answers/preview.h"

namespace esi::kubectl {

namespace answers = scheduling::answers;
namespace types = kube::types;
using model::object_key;

namespace {

/// All lines after a table have the same indent.
shown::look inner(shown::look as) {
    as.indent += 2;
    return as;
}

std::string blocked_jobs_text(const answers::explanation& of, bool wide, const shown::look& as,
                              wall_time now) {
    std::vector<answers::blocking> all;
    std::vector<std::string> jobs;
    std::int64_t left_out = 0;
    for (const auto& job : of.jobs) {
        left_out += job.blockers_left_out;
        for (const auto& each : job.blockers) {
            all.push_back(each);
            jobs.push_back(shown::name_in({job.namespace_, job.name}, of.namespace_));
        }
    }
    if (all.empty()) return {};
    return "Blockers of its jobs:\n" +
           shown::blockers_text(all, jobs, of.namespace_, wide, inner(as), now) +
           shown::left_out_text(left_out);
}

std::string jobs_text(const answers::explanation& of, bool wide, const shown::look& as,
                      wall_time now) {
    if (of.jobs.empty()) return {};
    std::vector<std::string> headings{"PLACE", "JOB",   "STATE", "WANTS",  "SLOTS",
                                      "SINCE", "START", "END",   "OUTCOME"};
    if (wide) headings.insert(headings.end(), {"ATTEMPT", "RUN", "PROBLEM"});
    shown::table rows(std::move(headings));
    for (const auto& job : of.jobs) {
        std::string start = job.starts_now ? "now" : shown::estimate_text(job.start);
        std::string end = shown::estimate_text(job.end);
        if (job.ended) end = shown::ago_text(job.ended, now);
        std::string outcome = job.refused.empty() ? job.outcome : "never started";
        if (!job.ending.empty() && job.outcome.empty()) outcome = "ending: " + job.ending;
        std::vector<shown::cell> row{job.place == 0 ? std::string("-") : std::to_string(job.place),
                                     shown::name_in({job.namespace_, job.name}, of.namespace_),
                                     job.state,
                                     std::to_string(job.slots_wanted),
                                     shown::slots_text(job.slots),
                                     shown::age_text(job.since, now),
                                     std::move(start),
                                     std::move(end),
                                     shown::or_none(std::move(outcome))};
        if (wide) {
            row.emplace_back(std::to_string(job.attempt));
            row.emplace_back(shown::or_none(job.run));
            row.emplace_back(shown::or_none(job.refused.empty() ? job.last_error : job.refused));
        }
        rows.add(std::move(row));
    }
    return "Jobs:\n" + rows.text(inner(as)) + shown::left_out_text(of.jobs_left_out);
}

std::string pods_text(const answers::explanation& of, bool wide, const shown::look& as,
                      wall_time now) {
    if (of.pods.empty()) return {};
    std::vector<std::string> headings{"POD", "REASON", "SLOT", "NODE", "AGE", "FAILS", "FREED-BY"};
    if (wide) headings.emplace_back("MESSAGE");
    shown::table rows(std::move(headings));
    for (const auto& pod : of.pods) {
        std::vector<shown::cell> row{
            shown::name_in({pod.namespace_, pod.name}, of.namespace_),
            shown::cell(pod.reason, shown::tint::wait),
            pod.slot ? std::to_string(*pod.slot) : std::string(shown::none),
            shown::or_none(pod.node),
            shown::age_text(pod.created, now),
            pod.deadline ? "in " + shown::duration_text(pod.deadline->value - now)
                         : std::string(shown::none),
            shown::or_none(pod.freed_by)};
        if (wide) row.emplace_back(pod.text);
        rows.add(std::move(row));
    }
    return "Pods that wait:\n" + rows.text(inner(as)) + shown::left_out_text(of.pods_left_out);
}

bool is_blocked(const answers::explanation& of) {
    if (!of.problem.empty() || !of.blockers.empty()) return true;
    return std::ranges::any_of(of.jobs, [](const auto& job) { return !job.blockers.empty(); });
}

asio::awaitable<result<reply>> explained(session& in, object_key name,
                                         std::optional<object_key> only, explain_options how) {
    auto seen = co_await read_world(in, {{in.own_namespace(), name.namespace_}});
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto found = seen->objects.schedulings.find(name);
    if (found == seen->objects.schedulings.end()) {
        co_return fail(errc::not_found,
                       "Scheduling " + name.text() +
                           " does not exist; those that do: kubectl get schedulings -n " +
                           name.namespace_);
    }
    const auto now = in.now();
    auto why = answers::explain(answers::view_of(seen->objects, found->second), now,
                                seen->objects.pods, only);
    repeat_refusal(*found->second, why);
    reply out;
    out.note = notes_text(seen->hidden);
    out.out = in.tables() ? explanation_text(why, in.wide(), in.look(), now)
                          : shown::object_text(model::encode(why), in.flags.output);
    if (how.exit_code && is_blocked(why)) out.code = exit_code::starts_nothing;
    co_return out;
}

/// The Scheduling that has the job, else the first unfinished one whose plan names it.
std::optional<object_key> scheduling_of(const answers::snapshot& of, const model::batchjob& job) {
    if (job.spec.active_scheduling) {
        const auto key = job.spec.active_scheduling->key();
        if (of.schedulings.contains(key)) return key;
    }
    const auto name = job.metadata.key();
    for (const auto& [key, each] : of.schedulings) {
        if (scheduling::stage_of(*each) == scheduling::stage::over) continue;
        if (scheduling::plan_of(*each).find(name) != nullptr) return key;
    }
    return std::nullopt;
}

reply free_job(session& in, const model::batchjob& job) {
    const auto* startable =
        model::find_condition(job.status.conditions, model::condition_type::startable);
    reply out;
    if (!in.tables()) {
        kube::json body = {{"namespace", job.metadata.namespace_},
                           {"name", job.metadata.name},
                           {"state", job.status.state}};
        if (startable != nullptr) body["startable"] = model::encode(*startable);
        out.out = shown::object_text(body, in.flags.output);
        return out;
    }
    shown::facts lines;
    lines.add("Job", job.metadata.name);
    lines.add("Namespace", job.metadata.namespace_);
    lines.add("State", shown::or_none(job.status.state));
    lines.add("Scheduling", "<none>: no Scheduling that runs or waits names it");
    if (startable != nullptr && startable->status != "True") {
        lines.add("Cannot start", startable->reason + ": " + startable->message);
    } else {
        lines.add("To start it", "kubectl esi schedule -f FILE, with a plan that names it");
    }
    out.out = lines.text();
    return out;
}

asio::awaitable<result<reply>> explained_gate(session& in, model::pod pod, explain_options how) {
    const auto read = co_await read_gate(in, pod);
    if (!read) co_return std::unexpected(read.error());
    const auto why = explain_gate(pod, *read);
    reply out;
    out.out = in.tables() ? gated_pod_text(why, in.now())
                          : shown::object_text(model::encode(why), in.flags.output);
    if (how.exit_code) out.code = exit_code::starts_nothing;
    co_return out;
}

/// A Scheduling in place of an unknown one, for the pod: it names the pod's Testbed at least.
std::shared_ptr<const model::scheduling> stand_in(const model::pod& pod, wall_time now) {
    model::scheduling_spec spec;
    spec.testbed = pod.testbed();
    spec.queue_based.emplace();
    return answers::draft_of({pod.metadata.namespace_, "~none"}, std::move(spec), nullptr, now);
}

}  // namespace

void repeat_refusal(const model::scheduling& of, answers::explanation& why) {
    namespace reason = model::condition_reason;
    const auto* acquired =
        model::find_condition(of.status.conditions, model::condition_type::acquired);
    if (acquired == nullptr || acquired->reason != reason::claim_refused) return;
    for (auto& each : why.blockers) {
        if (each.reason != reason::waits_for_claim) continue;
        each.reason = reason::claim_refused;
        each.text = acquired->message;
        each.since = acquired->last_transition_time;
        each.freed_by =
            "claims are switched on (claims.enabled=true of the chart), or what else refuses the "
            "Testbed is mended: kubectl esi doctor";
        each.estimate.reset();
    }
}

std::string explanation_text(const answers::explanation& of, bool wide, const shown::look& as,
                             wall_time now) {
    shown::facts lines;
    lines.add("Scheduling", of.name);
    lines.add("Namespace", of.namespace_);
    lines.add("Testbed", shown::name_in(of.testbed, of.namespace_));
    lines.add("Mode", shown::or_none(of.mode));
    lines.add("State", shown::or_none(of.state) +
                           (of.reason.empty() ? std::string() : " (" + of.reason + ")"));
    if (of.waits_since) lines.add("Waits since", shown::age_text(of.waits_since, now));
    if (!of.problem.empty()) lines.add("Problem", of.problem);
    lines.add("End", shown::estimate_text(of.end));
    if (!of.cycle.empty()) {
        std::string cycle;
        for (const auto& each : of.cycle) cycle += (cycle.empty() ? "" : " -> ") + each.text();
        lines.add("Wait in a circle", cycle);
    }
    auto out = lines.text();
    if (!of.blockers.empty()) {
        out += "Blockers:\n" +
               shown::blockers_text(of.blockers, {}, of.namespace_, wide, inner(as), now) +
               shown::left_out_text(of.blockers_left_out);
    }
    out += jobs_text(of, wide, as, now);
    out += blocked_jobs_text(of, wide, as, now);
    out += pods_text(of, wide, as, now);
    return out;
}

std::string waiting_pod_text(const answers::waiting_pod& of, wall_time now) {
    shown::facts lines;
    lines.add("Pod", of.name);
    lines.add("Namespace", of.namespace_);
    if (!of.job.name.empty()) lines.add("Job", shown::name_in(of.job, of.namespace_));
    lines.add("Reason", of.reason);
    if (of.slot) lines.add("Slot", fmt::format("{} on {}", *of.slot, shown::or_none(of.node)));
    lines.add("Age", shown::age_text(of.created, now));
    if (of.deadline) {
        lines.add("Its run fails", "in " + shown::duration_text(of.deadline->value - now));
    }
    lines.add("Message", of.text);
    lines.add("Freed by", shown::or_none(of.freed_by));
    return lines.text();
}

asio::awaitable<result<reply>> explain_scheduling(session& in, std::string name,
                                                  explain_options how) {
    co_return co_await explained(in, {in.own_namespace(), std::move(name)}, std::nullopt, how);
}

asio::awaitable<result<reply>> explain_job(session& in, std::string name, explain_options how) {
    const object_key key{in.own_namespace(), std::move(name)};
    auto job = co_await read_one<model::batchjob>(in, types::batchjob, key);
    if (!job) co_return std::unexpected(std::move(job).error());
    auto seen = co_await read_world(in, {{key.namespace_}, false});
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto by = scheduling_of(seen->objects, **job);
    if (!by) co_return free_job(in, **job);
    co_return co_await explained(in, *by, key, how);
}

asio::awaitable<result<reply>> explain_pod(session& in, std::string name, explain_options how) {
    const object_key key{in.own_namespace(), std::move(name)};
    auto pod = co_await read_one<model::pod>(in, types::pod, key);
    if (!pod) co_return std::unexpected(std::move(pod).error());
    if (is_at_gate(**pod)) co_return co_await explained_gate(in, **pod, how);
    auto seen = co_await read_world(in, {{key.namespace_, (*pod)->testbed().namespace_}});
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto now = in.now();
    const object_key job_name{key.namespace_,
                              std::string((*pod)->metadata.label(model::names::job))};
    std::optional<object_key> by;
    if (const auto job = seen->objects.jobs.find(job_name); job != seen->objects.jobs.end()) {
        by = scheduling_of(seen->objects, *job->second);
    }
    const auto self = by ? seen->objects.schedulings.at(*by) : stand_in(**pod, now);
    const auto why =
        answers::wait_of_pod(answers::view_of(seen->objects, self), **pod, seen->objects.pods, now);
    reply out;
    out.note = notes_text(seen->hidden);
    if (!why) {
        const auto& p = **pod;
        out.out = in.tables()
                      ? fmt::format("Pod {} does not wait: it is {}\n", key.text(),
                                    p.terminal() ? "over (" + shown::printable(p.phase) + ")"
                                                 : "bound to node " + p.node_name)
                      : shown::object_text(kube::json::object(), in.flags.output);
        co_return out;
    }
    out.out = in.tables() ? waiting_pod_text(*why, now)
                          : shown::object_text(model::encode(*why), in.flags.output);
    if (how.exit_code) out.code = exit_code::starts_nothing;
    co_return out;
}

}  // namespace esi::kubectl
