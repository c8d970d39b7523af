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

/// A gang with more claims is refused before anything is read: one for each of the most members.
inline constexpr std::size_t most_claims_read = 5000;
/// How long the list of a namespace serves other gangs.
inline constexpr seconds listed_counts_for{5};

/// Pods of a namespace are listed once for all gangs that asked for them before the list began, and
/// one namespace at a time, so that there is one copy of them and not one for each gang.
class fact_reader {
public:
    fact_reader(asio::any_io_executor executor, clock& time, kube::client& api,
                request_slots& slots)
        : time_(time), api_(api), slots_(slots), listing_(std::move(executor), 1) {}

    /// A request takes a ticket; it is not given what was listed before.
    std::uint64_t ticket() { return ++tickets_; }

    /// The caller fills in facts::namespaces. A claim that does not exist reads as not bound. All
    /// or nothing: a plan made from a part of it would be wrong.
    asio::awaitable<result<facts>> read(needs what, std::uint64_t ticket);

    /// No request waits for the lists any more.
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
