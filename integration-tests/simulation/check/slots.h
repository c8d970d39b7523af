// Rules of the places: which pods are let in, bound, kept out, refused; and that no stranger takes
// the room of a slot while a ghost and a job pod change places. Each looks at one change, after the
// records have taken it.
#pragma once

#include "check/context.h"
#include "kube/transport.h"

namespace esi::simulation::checks {

class slot_rules {
public:
    explicit slot_rules(context& here) : here_(here), all_(here.all), out_(here.out) {}

    void pod_added(const pod_record& after);
    void pod_changed(const pod_record& before, const pod_record& after);
    void pod_gone(const pod_record& before);
    void preempted(const json& victim, const json& by);
    void refused(const json& pod, std::string_view reason);
    /// Nodes of a layout with isolation Taint have it; to be asked again as time passes.
    void taints_stand();
    /// A slot that has room has its ghost; to be asked again as time passes.
    void slots_come_back();
    /// A write of the testbed operator leaves it.
    void sent(const kube::request& what, const json& body);
    /// The testbed operator was shown that pod ("namespace/name").
    void looked(const std::string& pod) { looks_[pod] = here_.now(); }
    /// A person did something to that pod: nothing is concluded from its end.
    void touched(const std::string& uid);

private:
    /// Room that is kept for a pod while no pod is in it.
    struct guard {
        place where;
        /// Whose room it is; empty: of the ghost that should be there by now.
        std::string pod_uid;
        model::amounts room;
        steady_time since;
        std::string why;
        /// The ghost whose end began it.
        std::string after_ghost;
        /// It was known long enough that the room would come free: the ghost should be at the door,
        /// nominated.
        bool due = false;
        /// Since when the leader leads that sent the end of that ghost.
        std::optional<steady_time> leader_since = std::nullopt;
        /// Up to then it is known to the operator who was preempted on the node; nothing: no more
        /// is known than that it happened.
        std::optional<steady_time> looked_at = std::nullopt;
    };

    // Ghosts
    void ghost_is_for_the_scheduler(const pod_record& ghost);
    void ghost_comes_after_the_taint(const pod_record& ghost);
    // Job pods
    void pod_is_let_in_by_right(const pod_record& before, const pod_record& after);
    void forged_pod_is_not_heeded(const pod_record& before, const pod_record& after);
    void pod_is_pinned_everywhere(const pod_record& after);
    void ghost_is_gone_before(const pod_record& after);
    void pod_has_its_slot_alone(const pod_record& after);
    void pod_is_bound_in_its_slot(const pod_record& after);
    // Nodes
    /// Two schedulers do not know of each other's bindings at once: on a node of both, nothing but
    /// the taint keeps them from taking the same room.
    bool another_scheduler_was_there(const pod_record& bound) const;
    /// The same of pods that have gone since: the kubelet may count them yet, and the scheduler
    /// that bound the one may not have known the other.
    bool another_scheduler_had_been_there(const pod_record& bound) const;
    void node_is_not_over_committed(const pod_record& bound);
    void taint_is_not_taken_away(std::string_view node, const json& patch);
    void taint_keeps_strangers_out(const pod_record& stranger);
    void room_is_kept(const pod_record& stranger);
    void pod_is_let_in_to_room(const json& patch);
    void slot_is_not_passed_by(const pod_record& stranger);
    /// An empty slot of `bed` on the node; nothing where none is empty, where an older Testbed has
    /// one that is, and where something happened to the node or the operator.
    std::optional<place> slot_without_ghost(const testbed_record& bed,
                                            const std::string& node) const;
    /// A ghost waits at the door of that slot, and the stranger has the higher priority.
    bool goes_before_its_ghost(const pod_record& stranger, const place& where) const;
    /// A pod came into a slot there, or left it.
    void slots_moved(const pod_record& what);
    /// What happened to the node or its scheduler lets the guard's pod down, and no operator could
    /// have known of it before the room was opened.
    bool was_let_down(const guard& what, const pod_record* keeper,
                      const pod_record& stranger) const;

    void keep_room_for_the_placed(const pod_record& ghost);
    void keep_room_for_the_ghost(const pod_record& job_pod);
    /// The guard still says something.
    bool stands(const guard& what) const;
    std::string_view scheduler_of(const guard& what) const;

    context& here_;
    records& all_;
    verdicts& out_;
    std::vector<guard> guards_;
    std::map<std::string, steady_time> taint_wanted_;  ///< since when, by node
    /// Since when it is missing though the operator could have set it, by node.
    std::map<std::string, steady_time> taint_missing_;
    std::map<std::string, steady_time> preempted_on_;  ///< by node
    /// Since when a slot of the Testbed (by uid) is empty on the node and pods of others take the
    /// room that is enough for it.
    std::map<std::pair<std::string, std::string>, steady_time> passed_by_;
    /// Since when the room is free and the slot empty.
    std::map<std::pair<std::string, std::string>, steady_time> free_since_;
    /// When the last of those that have gone was bound, by node and scheduler.
    std::map<std::pair<std::string, std::string>, steady_time> gone_from_;
    std::map<std::string, steady_time> looks_;  ///< by namespace/name
    /// Node and time of a placement that was taken back, by the pod's uid.
    std::map<std::string, std::pair<std::string, steady_time>, std::less<>> withdrawn_;
    std::map<std::string, steady_time> nominated_;  ///< by uid of a job pod
    /// When a write last set the nomination or showed it, by uid of a job pod.
    std::map<std::string, steady_time> shown_;
    struct removal {
        steady_time leader_since;  ///< since when its sender leads
        steady_time sent;
    };
    /// By the uid of the ghost whose deletion was sent.
    std::map<std::string, removal> removed_;
};

}  // namespace esi::simulation::checks
