// The cluster's nodes while a gang is being placed on them: members are set on nodes and taken off
// again, and each node says whether it would take one more, and if not, why. Every rule that one
// pod makes for another is kept as counts by topology domain, so that setting a member costs its
// rules and asking a node costs next to nothing. Made for one plan.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/member_class.h"

namespace esi::placement::planning {

/// In the order in which kube-scheduler's plugins are asked.
enum class refusal : std::uint8_t {
    none,
    left_out,
    unschedulable,
    not_ready,
    taint,
    node_affinity,
    ports,
    resources,
    volume_affinity,
    volume_zone,
    spread_label,
    spread,
    repelled,
    pod_affinity,
    pod_anti_affinity,
};

/// Which room of the nodes counts.
enum class ground_of_plan {
    free,     ///< the room that is left now
    emptied,  ///< the room that is left when all that ends has ended
};

class board {
public:
    /// All live as long as this.
    board(std::span<const member_class> classes, const cluster_room& room, const facts& known,
          const fit_options& options, ground_of_plan ground);

    int nodes() const { return static_cast<int>(nodes_.size()); }
    const model::node& node(int at) const { return *nodes_[index(at)]->node; }
    std::span<const member_class> classes() const { return classes_; }

    /// Whether the node would take one more of the class.
    bool takes(int of, int node) { return refusal_of(of, node) == refusal::none; }
    /// The first reason in no particular order; quick.
    refusal refusal_of(int of, int node);
    /// The first reason in kube-scheduler's order; for messages.
    refusal explain(int of, int node);
    /// Resources of which the node has too little for one more, by number.
    std::vector<int> missing_on(int of, int node) const;

    void put(int of, int node) { move(of, node, 1); }
    void take_off(int of, int node) { move(of, node, -1); }
    int placed_on(int node) const { return placed_[index(node)]; }

    /// How many members of the class fit into the node's room, at most `most`. Other members count
    /// only if they are set on it.
    int copies(int of, int node, int most);
    /// How much is left of the node in terms of the member: the smallest ratio over its resources.
    double slack(int of, int node) const;
    /// The room is there now (ground_of_plan::free), whatever the ground of the plan.
    bool free_now(int of, int node) const;
    std::int64_t left(int node, int resource) const {
        return left_[index(node) * width_ + index(resource)];
    }
    std::span<const std::int64_t> left_of(int node) const {
        return {&left_[index(node) * width_], width_};
    }

    /// Work done so far: questions to nodes, members set and taken off, rules compared, each
    /// counted by the entries that it visited.
    std::int64_t work() const { return work_; }

    /// No rules between pods concern the members: only the nodes' room and their own properties
    /// count.
    bool plain() const { return plain_; }
    /// The node of one member may restrict the nodes of later members.
    bool order_matters() const { return order_matters_; }

    /// A way to begin: the first member of the class `of` is set in this domain of the topology.
    struct anchor {
        int of = -1;
        int topology = -1;
        int domain = -1;
    };
    /// If members must be near others of the gang and none of these is placed yet: the domains to
    /// begin in, those with room for most of them first. Empty if there is no choice.
    std::vector<anchor> anchors(std::size_t most);
    bool in_domain(int node, const anchor& where) const {
        return topologies_[index(where.topology)].domain_of[index(node)] == where.domain;
    }

private:
    struct topology {
        std::string key;
        /// -1: the node does not have the label.
        std::vector<int> domain_of;
        int domains = 0;
    };
    /// Pods by domain of a topology.
    struct counter {
        int of = 0;
        std::vector<int> by_domain;
    };
    struct spread_state {
        counter pods;
        /// The node's pods count, and its domain is one.
        std::vector<char> included;
        std::vector<char> is_domain;
        int domains = 0;
        bool counts_itself = false;
        /// The smallest count of a domain; -1: not known.
        int least = -1;
    };
    /// Pods that match all terms of an affinity.
    struct company {
        /// By term.
        std::vector<counter> near;
        /// By term and node that has its label.
        std::int64_t pods = 0;
    };
    struct near_state {
        company affinity;
        /// The same for pods that are promised a node and not bound: kube-scheduler checks once
        /// with them and once without.
        company promised;
        bool means_itself = false;
        std::vector<counter> anti_affinity;
        /// Pods whose anti-affinity repels such a member; `repelled_at` has the place of each
        /// topology.
        std::vector<counter> repelled;
        std::map<int, std::size_t> repelled_at;
        std::vector<spread_state> spread;
        // What a member of each class counts for: by class.
        std::vector<char> attracted_by;
        std::vector<std::vector<char>> anti_means;
        std::vector<std::vector<char>> spread_means;

        bool empty() const {
            return affinity.near.empty() && anti_affinity.empty() && repelled.empty() &&
                   spread.empty();
        }
    };

    static std::size_t index(int number) { return static_cast<std::size_t>(number); }
    int topology_of(const std::string& key);
    counter make_counter(int topology) const;
    counter make_counter(const std::string& key) { return make_counter(topology_of(key)); }
    void count(counter& into, int node, int sign);
    int count_at(const counter& in, int node) const;

    void read_near_rules();
    void count_repelling();
    void count_for_all(const std::string& key, std::span<const std::pair<int, int>> there);
    void count_pods();
    void count_pod(const model::pod& pod, int node, bool bound, bool repels);
    void count(company& into, int node, int sign);
    bool near_company(const near_state& of, int node, bool with_promised) const;
    void make_spread(int of);

    bool suits(int of, int node);
    refusal static_refusal(int of, int node) const;
    refusal near_refusal(int of, int node);
    bool has_room(int of, int node) const;
    bool ports_taken_by_peers(int of, int node) const;
    void move(int of, int node, int sign);
    counter& repelled_counter(int of, int topology);

    std::span<const member_class> classes_;
    const cluster_room& room_;
    const facts& known_;
    const fit_options& options_;
    ground_of_plan ground_;

    std::vector<const node_ledger*> nodes_;
    std::size_t width_;
    std::vector<std::int64_t> left_;
    std::vector<int> placed_;
    struct fixed_answer {
        bool asked = false;
        refusal why = refusal::none;
    };
    /// By class and node.
    std::vector<std::vector<fixed_answer>> suits_;
    std::vector<topology> topologies_;
    std::map<std::string, int, std::less<>> topology_numbers_;
    std::vector<near_state> near_;
    /// Pods that repel all members, by topology.
    std::map<int, counter> repel_all_;
    /// The cost of a question to a node, by the near rules of the class.
    std::vector<std::int64_t> near_cost_;
    /// The cost of setting a member on a node.
    std::int64_t move_cost_ = 1;
    /// Classes set on a node, of those with ports.
    std::map<int, std::vector<int>> with_ports_;
    std::int64_t work_ = 0;
    bool plain_ = true;
    bool order_matters_ = false;
    bool has_ports_ = false;
};

}  // namespace esi::placement::planning
