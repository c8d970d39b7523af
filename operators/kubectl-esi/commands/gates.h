// Why a pod waits at a scheduling gate of ESI though it is in no run: a member of a gang, or a
// Spark driver without an operator, or an executor of one. Which object it waits for, and what
// frees it.
#pragma once

#include <boost/describe.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubectl-esi/read/session.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "scheduling/answers/blocking.h"

namespace esi::kubectl {

/// The answer about one pod.
struct gated_pod {
    std::string namespace_;
    std::string name;
    std::string gate;
    std::string reason;  ///< of docs/gangs.md, or of the Scheduling
    scheduling::answers::reference waits_for;
    std::optional<model::timestamp> created;
    std::string text;
    std::string freed_by;  ///< a sentence, or a command
    bool operator==(const gated_pod&) const = default;
};
BOOST_DESCRIBE_STRUCT(gated_pod, (),
                      (namespace_, name, gate, reason, waits_for, created, text, freed_by))

/// The PodGroup that a pod names.
struct named_group {
    std::string resource;  ///< podgroups.scheduling.x-k8s.io: the first kind of its project
    std::string name;
    bool exists = false;
    /// The user may not read it.
    bool hidden = false;
    bool suspended = false;
    bool deleting = false;
    /// spec.minMember; without a PodGroup, what the members say. Nothing: no whole number.
    std::optional<std::int64_t> minimum;
};

/// An Event that an operator of ESI has written about the pod or its group.
struct told_event {
    std::string reason;
    std::string text;
    std::string time;  ///< RFC 3339
};

/// What was read of the objects that a pod at a gate depends on.
struct gate_facts {
    /// Nothing: the pod names no group.
    std::optional<named_group> group;
    std::vector<std::shared_ptr<const model::pod>> members;
    /// The namespace has the label of gangs; nothing: the user may not read it.
    std::optional<bool> enabled;
    std::vector<told_event> events;  ///< the last one is the newest
    /// For a driver, the objects that esi-batchjob has made for it.
    std::shared_ptr<const model::batchjob> job;
    std::shared_ptr<const model::scheduling> plan;
};

/// The pod waits at a gate of ESI, and no run has it.
bool is_at_gate(const model::pod& pod);
/// Pure.
gated_pod explain_gate(const model::pod& pod, const gate_facts& of);
/// Pure.
std::string gated_pod_text(const gated_pod& of, wall_time now);

/// Reads what `pod` depends on, with the user's own rights.
asio::awaitable<result<gate_facts>> read_gate(session& in, const model::pod& pod);

}  // namespace esi::kubectl
