// Pods' rules about other pods near them: label selectors, required terms of pod affinity and
// anti-affinity, topology spread constraints; read once from the texts that the API server has
// checked. Pure; the rules are kube-scheduler's (InterPodAffinity, PodTopologySpread).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "placement/node_rules.h"

namespace esi::placement {

/// Labels of namespaces, by name.
using namespace_labels = std::map<std::string, model::string_map, std::less<>>;

/// metav1.LabelSelector. A selector that cannot be read matches nothing.
struct label_selector {
    /// Absent: it selects nothing. Present without requirements: it selects everything.
    bool present = false;
    std::vector<match_requirement> requirements;

    bool matches(const model::string_map& labels) const;
};

/// A required term of podAffinity or podAntiAffinity.
struct pod_term {
    std::string topology_key;
    label_selector pods;
    /// The named namespaces; if the term names none and selects none, the one of its pod.
    std::set<std::string, std::less<>> namespaces;
    label_selector selected_namespaces;

    /// The term means pods with these labels in this namespace. `known` may be null: then no
    /// namespace has a label.
    bool means(std::string_view namespace_, const model::string_map& labels,
               const namespace_labels* known) const;
    bool means_namespace(std::string_view namespace_, const namespace_labels* known) const;
};
using pod_terms = std::vector<pod_term>;

/// A constraint with whenUnsatisfiable DoNotSchedule.
struct spread_constraint {
    std::string topology_key;
    int max_skew = 1;
    int min_domains = 1;
    label_selector pods;
    /// Nodes that the pod's nodeSelector and affinity exclude are no domains (the default).
    bool honors_affinity = true;
    /// Nodes whose taints the pod does not tolerate are no domains.
    bool honors_taints = false;
};

/// The terms of one pod.
struct near_rules {
    pod_terms affinity;
    pod_terms anti_affinity;
    std::vector<spread_constraint> spread;

    bool empty() const { return affinity.empty() && anti_affinity.empty() && spread.empty(); }
};
/// The rules of a pod that is not bound.
near_rules near_rules_of(const model::pod& pod);
/// The required terms of the anti-affinity of a pod, bound or not, as one text; empty: none.
std::string repelling_text_of(const model::pod& pod);
/// The terms of such a text, for a pod of this namespace. Authors of pods choose how long it is: a
/// text of more than most_repelling_terms terms, or of more than most_repelling_text bytes, is read
/// as if each of its topology keys repelled all pods.
struct repelling_terms {
    pod_terms exact;
    /// If the text is too long: its topology keys.
    std::set<std::string, std::less<>> for_all;
};
constexpr std::size_t most_repelling_terms = 64;
constexpr std::size_t most_repelling_text = 16 * 1024;
repelling_terms repelling_terms_of(const std::string& text, const std::string& own_namespace);

}  // namespace esi::placement
