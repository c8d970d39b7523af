// Changes existing Schedulings and BatchJobs. Each change is one write, guarded by the uid and the
// resourceVersion that were read; on a conflict the object is read and the write tried again.
#pragma once

#include <string>
#include <vector>

#include "kubectl-esi/read/session.h"
#include "model/batchjob.h"
#include "model/scheduling.h"

namespace esi::kubectl {

/// A merge patch without its guard; null: there is nothing to do, and `text` says why.
struct change {
    kube::json patch;
    std::string text;  ///< "suspended"
};

/// The next four are pure; an error says why the change is not possible.
result<change> suspension(const model::scheduling& of, bool release_running);
result<change> resumption(const model::scheduling& of);
result<change> cancellation(const model::scheduling& of, const std::vector<std::string>& jobs);
result<change> resetting(const model::batchjob& of, wall_time now);

struct release_options {
    bool wait = true;
    seconds timeout{600};
};
/// Deletes Schedulings, which releases their Testbeds and jobs.
asio::awaitable<result<reply>> release(session& in, std::vector<std::string> names,
                                       release_options how);
asio::awaitable<result<reply>> suspend(session& in, std::vector<std::string> names,
                                       bool release_running);
asio::awaitable<result<reply>> resume(session& in, std::vector<std::string> names);
asio::awaitable<result<reply>> cancel(session& in, std::string name, std::vector<std::string> jobs);
/// `all`: every failed job of the namespace.
asio::awaitable<result<reply>> reset(session& in, std::vector<std::string> names, bool all);

}  // namespace esi::kubectl
