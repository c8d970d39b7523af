// The controllers that follow nodes: the taints of nodes that are cordoned, not ready or silent,
// the eviction of pods that do not tolerate NoExecute taints, and the end of pods whose node is
// gone. Owned by the controller manager. What makes a node silent is the kubelets' matter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "neighbours/facts.h"
#include "neighbours/kube/duty.h"

namespace esi::simulation {

/// How long a pod bears the NoExecute taints of its node: nothing, for ever.
std::optional<seconds> bears(const pod_facts& pod, const node_facts& node);

class node_life {
public:
    explicit node_life(duty& of) : of_(of) {}

    void node_seen(const object_pointer& what, bool silent);
    void node_gone(std::string_view name);
    void pod_seen(const object_pointer& what);
    void pod_gone(std::string_view uid);
    /// The kubelet of a node reports no more, or again.
    void silence(std::string_view node, bool on);
    void forget();

private:
    struct eviction {
        steady_time due;
        std::uint64_t turn;
    };

    void taint(const std::string& node);
    void mark_silent(const std::string& node);
    /// Plans, moves or calls off the eviction of a bound pod.
    void look(const pod_facts& pod);
    void evict(const std::string& uid);
    void end_of_nodeless(const std::string& uid);
    void disrupt(const object& pod, std::string_view reason, std::string_view message, bool ended);

    duty& of_;
    std::map<std::string, node_pointer, std::less<>> nodes_;
    /// Bound ones, by uid.
    std::map<std::string, pod_pointer, std::less<>> pods_;
    std::map<std::string, eviction, std::less<>> evictions_;
    /// By node; a new number for each silence.
    std::map<std::string, std::uint64_t, std::less<>> silent_;
    std::uint64_t turns_ = 0;
};

}  // namespace esi::simulation
