// The Schedulings of each Testbed in the order in which they go first.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kubectl-esi/read/session.h"
#include "scheduling/answers/run_times.h"
#include "scheduling/answers/snapshot.h"

namespace esi::kubectl {

struct queued {
    model::object_key testbed;
    /// From 1; 0: it has ended.
    int place = 0;
    std::string namespace_;
    std::string name;
    std::string mode;
    std::string state;
    std::string reason;
    std::string progress;  ///< "3/5"
    int priority = 0;
    std::optional<model::timestamp> created;
    std::optional<model::timestamp> started;
    std::optional<model::timestamp> ended;
    /// The text of what it waits for; empty: it does not wait.
    std::string waits_for;
    std::optional<scheduling::answers::estimated_time> start;
    std::optional<scheduling::answers::estimated_time> end;
};
BOOST_DESCRIBE_STRUCT(queued, (),
                      (testbed, place, namespace_, name, mode, state, reason, progress, priority,
                       created, started, ended, waits_for, start, end))

/// The Schedulings of `ns` (empty: of all namespaces), by Testbed; first those that hold it, then
/// those that wait, in their order; with `finished` also those that have ended, the newest first.
/// The place counts all visible Schedulings of the Testbed. Pure.
std::vector<queued> queue_of(const scheduling::answers::snapshot& of, const std::string& ns,
                             bool finished, wall_time now);

std::string queue_text(const std::vector<queued>& of, bool namespaces, bool wide,
                       const shown::look& as, wall_time now);

asio::awaitable<result<reply>> queue(session& in, bool finished);

/// The planner estimates this many Schedulings; those behind them are shown without estimates.
inline constexpr std::size_t most_planned = 200;

}  // namespace esi::kubectl
