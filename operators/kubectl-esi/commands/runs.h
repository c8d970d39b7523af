// Lists and exports the runs that BatchJobs have recorded (status.runs: the last 20 of each job).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kubectl-esi/read/session.h"
#include "model/batchjob.h"

namespace esi::kubectl {

struct recorded_run {
    model::object_key job;
    std::string type;         ///< Spark or Flink
    std::int64_t number = 0;  ///< number among all runs of the job, from 1
    model::run_record run;
};

/// Sorted by job, the oldest run first. Pure.
std::vector<recorded_run> runs_of(const std::vector<std::shared_ptr<const model::batchjob>>& jobs);

/// Pure.
std::string runs_text(const std::vector<recorded_run>& of, bool namespaces, bool wide,
                      const shown::look& as, wall_time now);

/// The formats of export.
enum class export_form { csv, jsonl, trace };

/// RFC 4180, with a line of headings; times as RFC 3339, lists joined by blanks. Pure.
std::string csv_text(const std::vector<recorded_run>& of);
/// One object a line: the run as status.runs has it, with the members job, type and number. Pure.
std::string jsonl_text(const std::vector<recorded_run>& of);
/// Chrome's trace event format ("JSON Object Format"): a process for each Testbed, a thread for
/// each slot, a complete event for each run and slot. A run without an end lasts until `now`. Pure.
std::string trace_text(const std::vector<recorded_run>& of, wall_time now);

/// `job`: the runs of this job; empty: those of all jobs of the namespace.
asio::awaitable<result<reply>> runs(session& in, std::string job);
asio::awaitable<result<reply>> export_runs(session& in, export_form as);

}  // namespace esi::kubectl
