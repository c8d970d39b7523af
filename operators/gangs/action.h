// The actions for gangs, one alternative for each request or chain of requests, and their outcomes.
// Values: made by decide, taken by the actor, which answers each with an outcome. All are
// independent of each other and may be under way concurrently, also while further passes run:
// decide gives no second action with the name of one that is under way.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gangs/gang.h"
#include "gangs/planner.h"

namespace esi::gangs {

/// status.nominatedNodeName = node, with the mark of the plan. Guarded by uid and resourceVersion,
/// as all writes of pods.
struct nominate {
    gang_key of;
    pod_pointer pod;
    std::string node;
    std::string mark;
};
/// The nomination stands, and kube-scheduler may not know it: this updates the pod (the annotation
/// nomination-shown), which makes it known.
struct show_nomination {
    gang_key of;
    pod_pointer pod;
};
/// Takes the nomination and the mark off.
struct give_back {
    gang_key of;
    pod_pointer pod;
    std::string why;
};
struct place {
    pod_pointer pod;
    std::string node;
};
/// Reads each member and the pods of each node live, asks judge_look (look.h), and only if it says
/// go lets in the first of the places, and the others only when that has worked; each guarded by
/// the resourceVersion of its live read.
struct look_and_let_in {
    gang_key of;
    std::vector<place> places;
    /// The plan of these places; its first member, if it is among them, is in front.
    std::string mark;
    /// Uids of members of another gang whose places are reserved before there is room: promises to
    /// them take nothing from this gang.
    std::set<std::string> ahead = {};
};
/// Without a look: another member of the same places was let in, which proves that one was passed.
struct let_in {
    gang_key of;
    pod_pointer pod;
    std::string node;
};
/// DELETE with the uid and resourceVersion as preconditions; its controller makes another.
struct delete_pod {
    gang_key of;
    pod_pointer pod;
    std::string why;
    /// The scheduler has refused it on its node: its follower is counted.
    bool refused = false;
};
/// Merge patch of the object, {"status": {...}}, guarded; to the sub-resource where the API server
/// has one.
struct write_status {
    gang_key of;
    group_object group;
    nlohmann::json patch;
};
/// Reads facts that the caches do not have and a plan for these members needs; the answer is
/// outcome::read.
struct read_facts {
    gang_key of;
    needs what;
};

using action = std::variant<nominate, show_nomination, give_back, look_and_let_in, let_in,
                            delete_pod, write_status, read_facts>;

/// One line: "nominate lab/w-0 node-a".
std::string show(const action& what);
/// Names what is under way: a pod's uid, or "look lab/train (coscheduling)". No two actions with
/// one name are under way at a time.
std::string name_of(const action& what);
const gang_key& gang_of(const action& what);

/// How an action went. Each action that was given has one, also one that was not begun (cancelled,
/// not_leader).
struct outcome {
    /// Nothing: it went well. not_found and conflict are everyday: the next pass sees why.
    std::optional<error> failed;
    /// resourceVersions that own writes of pods, or of a group's object, gave, by uid: decide waits
    /// until the caches show them.
    std::map<std::string, std::string> written;
    /// For look_and_let_in: why judge_look refused; empty: it said go.
    std::string refused;
    /// For read_facts: what was read.
    facts read;
};

/// An Event that is due. Given once for each change of its text.
struct note {
    bool warning = false;
    std::string reason;
    std::string action;
    std::string text;
    gang_key of;
    /// About the group's object, or where there is none about its first pod.
    group_object group;
    /// About this pod (the object is the other one); null: about the group.
    pod_pointer pod;
};

}  // namespace esi::gangs
