// What a request of an operator says, and how the API server sounds when a fault makes it refuse
// one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/transport.h"

namespace esi::simulation {

/// POST, PUT, PATCH, DELETE, and no dry run.
bool is_write(const kube::request& what);
/// Plural, namespace/name and sub-resource of a request's path.
struct request_target {
    std::string plural;
    std::string object;
    std::string subresource;
};
request_target target_of(const kube::request& what);
/// The node whose pods a list asks for, all of them and as they are now; empty: another request.
std::string node_looked_at(std::string_view target);
/// The resourceVersion that it asks for; nothing when it does not.
std::optional<std::uint64_t> wanted_version(std::string_view target);
/// Who signed a lease; empty: it is given back.
std::string holder_of(const kube::request& lease);

/// What happens to a request; plan/happenings.md, "request".
struct request_fault {
    std::string what;
    /// "all", "reads", "writes", "lists" (of collections, and the opening of watches), "leases":
    /// those of the election, which no other sort touches.
    std::string of = "all";
    /// Requests of that sort that pass before it, and how many it then hits.
    int passing = 0;
    int times = 1;
    /// Of "delay" (the answer) and "late" (the request).
    steady_time::duration delay = seconds(1);
    /// Of "429-retry-after".
    int retry_after_seconds = 1;
};

/// Whether the server does what it is asked to, whatever becomes of the answer.
bool carried_out(std::string_view fault);
/// What the server says instead of carrying a request out.
kube::response refusal_of(const request_fault& fault, const kube::request& what);
kube::response status_answer(int code, std::string_view reason);

}  // namespace esi::simulation
