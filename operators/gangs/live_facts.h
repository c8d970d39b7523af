// Reads what the caches do not have and a plan needs (needs_of): pods of namespaces as whole as the
// API server has them, and the volumes of claims.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gangs/planner.h"
#include "gangs/request_slots.h"
#include "kube/client.h"

namespace esi::gangs {

/// More claims of one gang are refused before anything is read: one for each of the most members.
inline constexpr std::size_t most_claims_read = 5000;
/// What was listed of a namespace serves other gangs for so long at most.
inline constexpr seconds listed_counts_for{5};

/// Pods of a namespace are listed once for all gangs that asked for them before the list began, and
/// one namespace at a time, so that there is one copy of them and not one for each gang.
class fact_reader {
public:
    fact_reader(asio::any_io_executor executor, clock& time, kube::client& api,
                request_slots& slots)
        : time_(time), api_(api), slots_(slots), listing_(std::move(executor), 1) {}

    /// To be taken when somebody asks; what was listed before it is not given to them.
    std::uint64_t ticket() { return ++tickets_; }

    /// facts::namespaces is left to the caller. A claim that is not there is one that is not bound.
    /// All or nothing: a plan made of a part of it would be a wrong one.
    asio::awaitable<result<facts>> read(needs what, std::uint64_t ticket);

    /// Nobody waits for more.
    void forget() { listed_.clear(); }

private:
    struct listed {
        std::vector<pod_pointer> pods;
        /// Tickets up to this one were given when the list began.
        std::uint64_t after = 0;
        steady_time at{};
    };
    asio::awaitable<result<std::vector<pod_pointer>>> list(std::string ns, std::uint64_t ticket);

    clock& time_;
    kube::client& api_;
    request_slots& slots_;
    request_slots listing_;
    std::uint64_t tickets_ = 0;
    std::map<std::string, listed> listed_;
};

}  // namespace esi::gangs
