#include "kubectl-esi/commands/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl {

namespace types = kube::types;
using shown::json;
using shown::tint;

namespace {

tint tint_of(std::string_view outcome) {
    if (outcome == model::run_outcome::succeeded) return tint::good;
    if (outcome == model::run_outcome::failed) return tint::bad;
    if (outcome == model::run_outcome::running) return tint::busy;
    return tint::wait;
}

/// Names each job once, in the order of its first node.
std::vector<std::string> neighbours_of(const model::run_record& run) {
    std::vector<std::string> out;
    for (const auto& node : run.neighbours) {
        for (const auto& job : node.jobs) {
            if (std::ranges::find(out, job) == out.end()) out.push_back(job);
        }
    }
    return out;
}

std::string names_text(const std::vector<std::string>& names, const std::string& ns) {
    std::vector<std::string> out;
    for (const auto& each : names) {
        out.push_back(shown::name_in(model::object_key::from_text(each), ns));
    }
    return shown::list_text(out);
}

/// The number of unnamed neighbours on the node that had the most of them.
int unnamed_neighbours_of(const model::run_record& run) {
    int out = 0;
    for (const auto& node : run.neighbours) out = std::max(out, node.others.value_or(0));
    return out;
}

/// The neighbours as text: "b,x/c,+2".
std::string beside_text(const model::run_record& run, const std::string& ns) {
    const auto named = neighbours_of(run);
    const auto more = unnamed_neighbours_of(run);
    if (more == 0) return names_text(named, ns);
    return named.empty() ? fmt::format("+{}", more)
                         : fmt::format("{},+{}", names_text(named, ns), more);
}

json json_of(const recorded_run& of) {
    auto out = model::encode(of.run);
    out["job"] = model::encode(of.job);
    out["type"] = of.type;
    out["number"] = of.number;
    return out;
}

/// A text that begins like a formula of a spreadsheet gets an apostrophe in front, which
/// spreadsheets do not show (OWASP, "CSV Injection"); control characters of a terminal become
/// blanks.
std::string csv_field(std::string_view from) {
    auto text = shown::printable(from);
    if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) text.insert(0, "'");
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

std::string time_text(const std::optional<model::timestamp>& of) {
    return of ? of->micro() : std::string();
}

std::string joined(const auto& list) { return fmt::format("{}", fmt::join(list, " ")); }

std::int64_t micros(const model::timestamp& of) { return of.value.time_since_epoch().count(); }

asio::awaitable<result<std::vector<recorded_run>>> read_runs(session& in, std::string job) {
    std::vector<std::shared_ptr<const model::batchjob>> jobs;
    if (job.empty()) {
        auto list = co_await read_listed<model::batchjob>(in, types::batchjob);
        if (!list) co_return std::unexpected(std::move(list).error());
        jobs = std::move(*list);
    } else {
        auto one = co_await read_one<model::batchjob>(in, types::batchjob,
                                                      {in.own_namespace(), std::move(job)});
        if (!one) co_return std::unexpected(std::move(one).error());
        jobs.push_back(std::move(*one));
    }
    co_return runs_of(jobs);
}

}  // namespace

std::vector<recorded_run> runs_of(const std::vector<std::shared_ptr<const model::batchjob>>& jobs) {
    std::vector<recorded_run> out;
    for (const auto& job : jobs) {
        const auto& lines = job->status.runs;
        const auto count = static_cast<std::int64_t>(lines.size());
        auto number = std::max<std::int64_t>(job->status.run_count - count, 0);
        for (const auto& line : lines) {
            out.push_back({job->metadata.key(), job->status.type, ++number, line});
        }
    }
    return out;
}

std::string runs_text(const std::vector<recorded_run>& of, bool namespaces, bool wide,
                      const shown::look& as, wall_time now) {
    std::vector<std::string> headings;
    if (namespaces) headings.emplace_back("NAMESPACE");
    for (const char* each : {"JOB", "RUN", "TESTBED", "SLOTS", "NODES", "BESIDE", "AGE", "TO-PLACE",
                             "TO-START", "TIME", "OUTCOME"}) {
        headings.emplace_back(each);
    }
    if (wide) {
        headings.insert(headings.end(),
                        {"TYPE", "SCHEDULING", "JOB-TIME", "TOKEN", "REASON", "MESSAGE"});
    }
    shown::table rows(std::move(headings));
    for (const auto& [job, type, number, run] : of) {
        const auto& ns = job.namespace_;
        std::vector<shown::cell> row;
        if (namespaces) row.emplace_back(ns);
        row.emplace_back(job.name);
        row.emplace_back(std::to_string(number));
        row.emplace_back(shown::name_in(run.testbed, ns));
        row.emplace_back(shown::slots_text(run.slots));
        row.emplace_back(shown::list_text(run.nodes));
        row.emplace_back(beside_text(run, ns));
        row.emplace_back(shown::age_text(run.submitted ? run.submitted : run.started, now));
        row.emplace_back(shown::between_text(run.submitted, run.scheduled));
        row.emplace_back(shown::between_text(run.scheduled, run.started));
        row.emplace_back(shown::between_text(run.started, run.stopped));
        row.emplace_back(shown::or_none(run.outcome), tint_of(run.outcome));
        if (wide) {
            row.emplace_back(shown::or_none(type));
            row.emplace_back(shown::name_in(run.scheduling, ns));
            row.emplace_back(shown::between_text(run.job_started, run.job_stopped));
            row.emplace_back(run.run);
            row.emplace_back(shown::or_none(run.reason));
            row.emplace_back(shown::or_none(run.message));
        }
        rows.add(std::move(row));
    }
    return rows.text(as);
}

std::string csv_text(const std::vector<recorded_run>& of) {
    std::string out =
        "namespace,job,type,number,run,scheduling_namespace,scheduling,testbed_namespace,testbed,"
        "slots,nodes,neighbours,submitted,scheduled,started,stopped,job_started,job_stopped,"
        "seconds,outcome,reason,message,other_neighbours\r\n";
    for (const auto& [job, type, number, run] : of) {
        std::string took;
        if (run.started && run.stopped) {
            took = fmt::format(
                "{:.6f}",
                std::chrono::duration<double>(run.stopped->value - run.started->value).count());
        }
        const std::vector<std::string> fields{job.namespace_,
                                              job.name,
                                              type,
                                              std::to_string(number),
                                              run.run,
                                              run.scheduling.namespace_,
                                              run.scheduling.name,
                                              run.testbed.namespace_,
                                              run.testbed.name,
                                              joined(run.slots),
                                              joined(run.nodes),
                                              joined(neighbours_of(run)),
                                              time_text(run.submitted),
                                              time_text(run.scheduled),
                                              time_text(run.started),
                                              time_text(run.stopped),
                                              time_text(run.job_started),
                                              time_text(run.job_stopped),
                                              took,
                                              run.outcome,
                                              run.reason,
                                              run.message,
                                              std::to_string(unnamed_neighbours_of(run))};
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) out += ',';
            out += csv_field(fields[i]);
        }
        out += "\r\n";
    }
    return out;
}

std::string jsonl_text(const std::vector<recorded_run>& of) {
    std::string out;
    for (const auto& each : of) {
        out += json_of(each).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    }
    return out;
}

std::string trace_text(const std::vector<recorded_run>& of, wall_time now) {
    std::map<model::object_key, int> testbeds;
    std::set<std::pair<int, int>> slots;
    json events = json::array();
    for (const auto& each : of) {
        const auto& run = each.run;
        if (!run.started) continue;
        const int pid =
            testbeds.try_emplace(run.testbed, static_cast<int>(testbeds.size()) + 1).first->second;
        const auto stopped = run.stopped.value_or(model::timestamp{now});
        auto details = json_of(each);
        for (const int slot : run.slots) {
            slots.emplace(pid, slot);
            events.push_back({{"ph", "X"},
                              {"name", each.job.text()},
                              {"cat", run.outcome},
                              {"pid", pid},
                              {"tid", slot},
                              {"ts", micros(*run.started)},
                              {"dur", micros(stopped) - micros(*run.started)},
                              {"args", details}});
        }
    }
    for (const auto& [testbed, pid] : testbeds) {
        events.push_back({{"ph", "M"},
                          {"name", "process_name"},
                          {"pid", pid},
                          {"args", {{"name", "Testbed " + testbed.text()}}}});
    }
    for (const auto& [pid, slot] : slots) {
        events.push_back({{"ph", "M"},
                          {"name", "thread_name"},
                          {"pid", pid},
                          {"tid", slot},
                          {"args", {{"name", fmt::format("slot {}", slot)}}}});
        // Otherwise by the name: slot 10 would come before slot 2.
        events.push_back({{"ph", "M"},
                          {"name", "thread_sort_index"},
                          {"pid", pid},
                          {"tid", slot},
                          {"args", {{"sort_index", slot}}}});
    }
    const json whole = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
    return whole.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

asio::awaitable<result<reply>> runs(session& in, std::string job) {
    auto all = co_await read_runs(in, std::move(job));
    if (!all) co_return std::unexpected(std::move(all).error());
    reply out;
    if (!in.tables()) {
        json items = json::array();
        for (const auto& each : *all) items.push_back(json_of(each));
        out.out = shown::object_text({{"items", std::move(items)}}, in.flags.output);
    } else if (all->empty()) {
        out.note = "No runs recorded.\n";
    } else {
        out.out = runs_text(*all, in.flags.all_namespaces, in.wide(), in.look(), in.now());
    }
    co_return out;
}

asio::awaitable<result<reply>> export_runs(session& in, export_form as) {
    auto all = co_await read_runs(in, {});
    if (!all) co_return std::unexpected(std::move(all).error());
    reply out;
    switch (as) {
        case export_form::csv:
            out.out = csv_text(*all);
            break;
        case export_form::jsonl:
            out.out = jsonl_text(*all);
            break;
        case export_form::trace:
            out.out = trace_text(*all, in.now());
            break;
    }
    co_return out;
}

}  // namespace esi::kubectl
