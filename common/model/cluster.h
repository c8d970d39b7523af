// Foreign objects that ESI reads, trimmed to the fields it decides by: pods, nodes,
// SparkApplications, CustomResourceDefinitions. Caches keep pods packed (model/packed.h).
#pragma once

#include "model/meta.h"
#include "model/quantity.h"

namespace esi::model {

struct toleration {
    std::string key;
    std::string operator_;  ///< "Equal" (default) or "Exists"
    std::string value;
    std::string effect;  ///< empty: every effect
    bool operator==(const toleration&) const = default;
};
BOOST_DESCRIBE_STRUCT(toleration, (), (key, operator_, value, effect))

struct taint {
    std::string key;
    std::string value;
    std::string effect;
    bool operator==(const taint&) const = default;
};
BOOST_DESCRIBE_STRUCT(taint, (), (key, value, effect))

/// A port of the node that a container takes for itself.
struct host_port {
    std::string protocol;  ///< TCP UDP SCTP
    std::string ip;        ///< empty: every address of the node
    std::int64_t port = 0;
    auto operator<=>(const host_port&) const = default;
};

struct pod {
    object_meta metadata;
    std::string node_name;
    std::string phase;  ///< Pending Running Succeeded Failed Unknown
    std::string scheduler_name;
    std::string nominated_node_name;
    std::string priority_class_name;
    /// Effective requests: the larger of init containers and the sum of containers and sidecars,
    /// plus overhead (KEP-753). In thousandths.
    amounts requests;
    std::vector<std::string> scheduling_gates;
    /// Kept only while the pod is not bound.
    std::vector<toleration> tolerations;
    /// Kept only while the pod is not bound: the text of spec.affinity, null when absent.
    raw_json affinity;
    string_map node_selector;
    /// status.conditions PodScheduled: status, reason, message.
    std::string scheduled_status;
    std::string scheduled_reason;
    std::string scheduled_message;
    std::optional<timestamp> scheduled_time;
    /// First container's start, last container's end, from container statuses.
    std::optional<timestamp> started_at;
    std::optional<timestamp> finished_at;
    /// How a container of it ended badly, also one that was started again: "OOMKilled (exit code
    /// 137)"; or why the pod has failed without that: "Evicted". Empty if none did.
    std::string died_of;
    /// First container's terminated or waiting reason and message, or status.reason/message.
    std::string reason;
    std::string message;

    // Fields for gangs. Most pods have none of them; they come last, so that they cost nothing.
    /// spec.priority, which the API server takes from the class.
    std::int64_t priority = 0;
    /// Ports of containers and sidecars.
    std::vector<host_port> host_ports;
    /// Kept only while the pod is bound (`affinity` has it before): the text of the list of
    /// required terms of spec.affinity.podAntiAffinity, empty if there are none.
    raw_json anti_affinity;
    // Kept only while the pod is gated and not bound.
    /// The text of spec.topologySpreadConstraints, empty if there are none.
    raw_json topology_spread;
    /// Names of the PersistentVolumeClaims of its volumes, in its namespace.
    std::vector<std::string> claims;
    /// Parts of the spec that decide where the pod can run and are not read here: "resourceClaims",
    /// "volumes.ephemeral". Each word once.
    std::vector<std::string> unplanned;

    bool bound() const { return !node_name.empty(); }
    /// Succeeded or Failed: holds no room any more.
    bool terminal() const { return phase == "Succeeded" || phase == "Failed"; }
    /// Holds room on its node, or will.
    bool live() const { return !terminal(); }
    /// A container of it runs, or may come to run. False for a pod that has ended, as reported by
    /// its kubelet, or by the controller that collects pods if the node is gone; and for one that
    /// is deleted and has no node, as the API server binds no such pod. Finalizers change neither.
    bool may_run() const { return live() && (bound() || !metadata.deleting()); }
    bool is_ghost() const;
    object_key testbed() const;
    std::string_view run() const;
};

struct node {
    object_meta metadata;
    amounts allocatable;
    std::vector<taint> taints;
    /// metadata.resourceVersion guards writes of the taint list, which is one atomic list.
    bool unschedulable = false;
    bool ready = false;
};

/// sparkoperator.k8s.io/v1beta2 SparkApplication.
struct spark_application {
    object_meta metadata;
    std::string state;  ///< status.applicationState.state
    std::string error_message;
    std::string submission_id;
    std::string driver_pod_name;
    int execution_attempts = 0;
    int submission_attempts = 0;
    std::optional<timestamp> last_submission_attempt;
    std::optional<timestamp> termination_time;
};

struct custom_resource_definition {
    object_meta metadata;
    std::string group;
    std::string kind;
    bool established = false;
};

}  // namespace esi::model
