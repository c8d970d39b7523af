// Rules of gangs: who is let in and when, what is promised of a node, who is evicted, how long a
// gang waits, and what is left at the end. Judged from the objects in the API server, from what the
// schedulers did, and from which looks at nodes the operator was given; nothing that the operator
// says of itself is believed but nominations, gates and the annotation of let-in. Looks at one
// change after the records have taken it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/context.h"
#include "kube/transport.h"

namespace esi::simulation::checks {

/// A pod that was bound, or a group that was edited, so short ago may be unknown to the operator.
inline constexpr seconds cache_is_behind{3};

struct gang_times {
    /// The operator's flags.
    steady_time::duration reserve_after = seconds(60);
    steady_time::duration reserve_for = seconds(120);
};

class gang_rules {
public:
    gang_rules(context& here, const storage& objects, gang_times times = gang_times());

    /// A pod of any sort, after the records have taken it; null: it is gone.
    void pod_changed(const std::string& uid, const pod_record* after);
    void preempted(const json& victim, const json& by);
    /// The operator was shown the pods of that node as they are now.
    void listed(const std::string& node);
    /// A write of the testbed operator leaves it.
    void sent(const kube::request& what);
    /// The default scheduler is down or slow until then.
    void scheduler_hindered(steady_time until);
    /// Every second or so.
    void time_passes();
    void at_end();
    /// A member waits at its gate: a reservation may begin or end.
    bool under_way() const;

private:
    /// Way, namespace, name.
    using key = std::tuple<std::string, std::string, std::string>;
    static std::string text_of(const key& which);
    struct member {
        std::string uid;
        std::string name;  ///< namespace/name
        key group;
        model::amounts needs;
        std::int64_t priority = 0;
        std::string scheduler;
        bool gated = false;
        bool other_gate = false;
        bool let_in = false;
        std::string let_in_node;
        std::string bound;
        std::string nominated;
        /// To this node, and to any node.
        std::optional<steady_time> nominated_since, kept_since;
        /// The last update with that nomination.
        std::optional<steady_time> touched;
        bool deleting = false;
        bool ended = false;
        bool unschedulable = false;
        steady_time created;
        std::optional<steady_time> let_in_at;
        object_pointer raw;

        bool live() const { return !deleting && !ended; }
        bool waits() const { return live() && gated && !other_gate; }
        /// On its way to its node.
        bool coming() const { return !ended && let_in && bound.empty(); }
        /// The node that is promised to it; empty: none.
        const std::string& promised() const;
    };
    struct gang {
        std::set<std::string> members;  ///< by uid
        /// The minimum was bound at one time, and somebody lives since.
        bool started = false;
        /// The last minimum that was bound; what it has grown by since is beyond the minimum.
        std::optional<std::int64_t> reached;
        std::optional<steady_time> fits_since;
        std::optional<steady_time> suspended_since;
    };
    struct look {
        steady_time at;
        /// allocatable, less who is bound there and who is on the way there.
        model::amounts free;
    };
    struct group_view {
        const json* object = nullptr;
        std::optional<std::int64_t> least;
        bool suspended = false;
        bool enabled = false;
        bool deletes_partial = false;
        object_pointer kept;
    };

    void take(member& into, const pod_record& from);
    /// True: the minimum is bound now.
    bool see_reached(const key& which, const group_view& seen, gang& of) const;
    void let_in(const member& before, const member& after);
    void pinned_everywhere(const member& after);
    void node_takes(const member& who, const std::string& node);
    void minimum_was_seen(const member& after);
    bool promises_fit(const std::string& node) const;
    void promises_have_room();
    void promises_are_kept(const pod_record& stranger);
    void reserves_end();
    void gangs_start_in_time();

    group_view group_of_key(const key& which) const;
    bool namespace_enabled(const std::string& ns) const;
    std::vector<const member*> members_of(const key& which) const;
    /// How many members are where. `well`: have ended well, of a controller with others that live.
    /// `begun`: one of them was let in and lives, or was of such a controller.
    struct tally {
        std::int64_t waiting = 0, coming = 0, bound = 0, well = 0;
        bool begun = false;
        std::int64_t placed() const { return coming + bound + well; }
    };
    /// `except`: as if it were not there.
    tally count(const key& which, std::string_view except = {}) const;
    /// allocatable less bound live pods; `since`: those bound later do not count. Nothing: no node.
    std::optional<model::amounts> free_on(const std::string& node,
                                          std::optional<steady_time> since = {}) const;
    /// What is promised of a node to members, `except` of those gangs.
    model::amounts promised_on(const std::string& node, const std::set<key>& except = {}) const;
    bool waits_for_room(const key& which, const group_view& seen) const;
    /// Whoever places them one by one finds room for all that miss to the minimum.
    bool surely_fits(const key& which, const group_view& seen) const;
    /// Taints, cordon, nodeSelector and required node affinity let the pod come to the node.
    bool takes(const json& node, const json& pod) const;
    bool scheduler_quiet() const { return here_.now() > hindered_until_ + seconds(10); }
    bool somebody_came(const std::string& node, steady_time since) const;
    void came(const std::string& node);
    void chosen_before(const std::string& node);
    void evictions_have_reasons(steady_time until);

    context& here_;
    records& all_;
    verdicts& out_;
    const storage& objects_;
    gang_times times_;
    std::map<std::string, member, std::less<>> members_;
    std::map<key, gang> gangs_;
    std::map<std::string, std::deque<look>> looks_;
    /// Pods that are no members and came to a node: when last.
    std::map<std::string, steady_time> came_;
    std::map<std::string, steady_time> preempted_on_;
    struct eviction {
        std::string node;
        std::string uid;  ///< of the member
        steady_time at;
        std::string text;
    };
    /// For members, on nodes to which nobody has come since they were promised the room.
    std::vector<eviction> evictions_;
    std::set<std::string> ever_enabled_;
    steady_time hindered_until_;
    steady_time next_sample_;
};

}  // namespace esi::simulation::checks
