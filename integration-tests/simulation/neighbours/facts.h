// Pods and nodes as schedulers, kubelets and controllers look at them: read once from the object,
// then asked. Pure. Read from the JSON by code of their own, not by that of the operators, so that
// a mistake there is not repeated here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity.h"
#include "server/storage.h"

namespace esi::simulation {

/// The texts point into the object, which it keeps.
struct pod_facts {
    object_pointer object;
    std::string_view uid;
    std::string_view ns;
    std::string_view name;
    std::string_view node;  ///< spec.nodeName
    std::string_view phase;
    std::string_view nominated;  ///< status.nominatedNodeName
    std::string_view scheduler;
    std::string_view created;
    std::int64_t priority = 0;
    bool never_preempts = false;
    bool gated = false;
    bool deleting = false;
    /// Effective requests (KEP-753), in thousandths.
    model::amounts requests;

    const json& body() const { return object->body(); }
    bool bound() const { return !node.empty(); }
    bool terminal() const { return phase == "Succeeded" || phase == "Failed"; }
    /// "namespace/name"
    std::string text() const { return std::string(ns) + "/" + std::string(name); }
};
using pod_pointer = std::shared_ptr<const pod_facts>;
pod_pointer read_pod(object_pointer object);

struct node_facts {
    object_pointer object;
    std::string_view name;
    model::amounts allocatable;
    bool unschedulable = false;

    const json& body() const { return object->body(); }
    /// The most pods at one time.
    std::int64_t most_pods() const;
};
using node_pointer = std::shared_ptr<const node_facts>;
node_pointer read_node(object_pointer object);

/// nodeSelector and required node affinity.
bool selects(const pod_facts& pod, const node_facts& node);
/// The only nodes by name that the required affinity can match (matchFields metadata.name in every
/// term); nothing: it is not pinned so.
std::optional<std::set<std::string, std::less<>>> pinned_to(const pod_facts& pod);
bool tolerates(const json& toleration, const json& taint);
bool tolerates(const pod_facts& pod, const json& taint);
/// spec.tolerations; an empty list without any.
const json& tolerations_of(const pod_facts& pod);
/// The first taint with one of these effects that the pod does not tolerate; null: none.
const json* untolerated(const pod_facts& pod, const node_facts& node,
                        std::initializer_list<std::string_view> effects);
/// spec.taints; an empty list without any.
const json& taints_of(const json& node);

/// `conditions` of a status with one of them set; lastTransitionTime moves with the status only.
/// Null: the object has it already, word for word.
json with_condition(const json& object, std::string_view type, std::string_view status,
                    std::string_view reason, std::string_view message, wall_time now);
/// "2026-11-21T09:34:07Z"
std::string stamp(wall_time when);

}  // namespace esi::simulation
