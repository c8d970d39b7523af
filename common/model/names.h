// Keys that ESI writes on objects: labels, annotations, finalizers, gates, taints, classes.
#pragma once

#include <array>
#include <string_view>

namespace esi::model::names {

inline constexpr std::string_view group = "esi.tu-berlin.de";
inline constexpr std::string_view prefix = "esi.tu-berlin.de/";

// On a Testbed: its holder. Labels carry the name, the annotation the token.
inline constexpr std::string_view active_scheduling_name =
    "esi.tu-berlin.de/active-scheduling-name";
inline constexpr std::string_view active_scheduling_namespace =
    "esi.tu-berlin.de/active-scheduling-namespace";
inline constexpr std::string_view hold = "esi.tu-berlin.de/hold";
/// On the Testbed of a Scheduling's claim: since when something else keeps the Scheduling from
/// acquiring.
inline constexpr std::string_view unused_since = "esi.tu-berlin.de/unused-since";

// On pods.
inline constexpr std::string_view testbed = "esi.tu-berlin.de/testbed";
inline constexpr std::string_view testbed_namespace = "esi.tu-berlin.de/testbed-namespace";
inline constexpr std::string_view ghost = "esi.tu-berlin.de/ghost";
inline constexpr std::string_view job = "esi.tu-berlin.de/job";
inline constexpr std::string_view run = "esi.tu-berlin.de/run";
/// On a Spark driver that its BatchJob has taken over: the uid of that BatchJob.
inline constexpr std::string_view job_uid = "esi.tu-berlin.de/job-uid";
inline constexpr std::string_view slots = "esi.tu-berlin.de/slots";
inline constexpr std::string_view slot = "esi.tu-berlin.de/slot";
inline constexpr std::string_view slot_node = "esi.tu-berlin.de/slot-node";
inline constexpr std::string_view slot_ghost = "esi.tu-berlin.de/slot-ghost";
/// On a gated pod: its resourceVersion when its nomination was last shown to kube-scheduler.
inline constexpr std::string_view nomination_shown = "esi.tu-berlin.de/nomination-shown";
inline constexpr std::string_view node = "esi.tu-berlin.de/node";
inline constexpr std::string_view index = "esi.tu-berlin.de/index";
/// On a ghost: the image that it was last given. Its container's image may differ: a webhook may
/// replace it by a mirror's name.
inline constexpr std::string_view ghost_image = "esi.tu-berlin.de/ghost-image";

/// The scheduling gate of job pods (gate path).
inline constexpr std::string_view gate = "esi.tu-berlin.de/slot";
/// Key of the taint on testbed nodes (isolation: Taint); the value is the Testbed's uid.
inline constexpr std::string_view taint = "esi.tu-berlin.de/testbed";

// Gangs: pods that start all or none.
/// The scheduling gate of their pods, and the label ("true") that the admission policy sets with
/// it.
inline constexpr std::string_view gang = "esi.tu-berlin.de/gang";
/// On a pod that was let in: the node that it was given.
inline constexpr std::string_view gang_node = "esi.tu-berlin.de/gang-node";
/// On a pod that is nominated: the plan of its place (gangs/plan_mark.h).
inline constexpr std::string_view gang_plan = "esi.tu-berlin.de/gang-plan";
/// On the object of a group, or on any pod of a group without one: "true" keeps it out of the
/// order.
inline constexpr std::string_view suspend = "esi.tu-berlin.de/suspend";
/// On the object of a group: Keep or Delete.
inline constexpr std::string_view on_partial = "esi.tu-berlin.de/on-partial";
/// On the object of a group: "true" plans without the constraints that cannot be planned.
inline constexpr std::string_view best_effort_constraints =
    "esi.tu-berlin.de/best-effort-constraints";
/// Label of a namespace: "enabled" lets ESI start the gangs in it.
inline constexpr std::string_view gangs = "esi.tu-berlin.de/gangs";
// How pods name their group, by the projects of these groups.
/// Annotations of kube-batch.
inline constexpr std::string_view group_name = "scheduling.k8s.io/group-name";
inline constexpr std::string_view group_min_member = "scheduling.k8s.io/group-min-member";
/// Label of coscheduling.
inline constexpr std::string_view pod_group = "scheduling.x-k8s.io/pod-group";
/// Label of tenstack.
inline constexpr std::string_view tenstack_group = "group.batch.scheduler.tencent.com";

/// On a BatchJob: a new value makes a failed job ready again.
inline constexpr std::string_view reset = "esi.tu-berlin.de/reset";

inline constexpr std::string_view scheduling_finalizer = "esi.tu-berlin.de/release";
inline constexpr std::string_view testbed_finalizer = "esi.tu-berlin.de/held";

/// Labels and annotations by which operators decide: these are kept of an object that has too many.
inline constexpr auto decisive = std::to_array<std::string_view>({active_scheduling_name,
                                                                  active_scheduling_namespace,
                                                                  hold,
                                                                  unused_since,
                                                                  testbed,
                                                                  testbed_namespace,
                                                                  ghost,
                                                                  job,
                                                                  run,
                                                                  job_uid,
                                                                  slots,
                                                                  slot,
                                                                  slot_node,
                                                                  slot_ghost,
                                                                  nomination_shown,
                                                                  node,
                                                                  index,
                                                                  ghost_image,
                                                                  gang,
                                                                  gang_node,
                                                                  gang_plan,
                                                                  suspend,
                                                                  on_partial,
                                                                  best_effort_constraints,
                                                                  gangs,
                                                                  group_name,
                                                                  group_min_member,
                                                                  pod_group,
                                                                  tenstack_group,
                                                                  reset});

}  // namespace esi::model::names
