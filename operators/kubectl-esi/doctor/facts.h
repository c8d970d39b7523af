// The objects and rights that doctor has read of a cluster: its checks are pure functions of these.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/server_version.h"
#include "model/application_kinds.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::kubectl::doctor {

/// Whether an object exists; a user may not be allowed to read it.
enum class presence { there, absent, hidden };

/// How an object came into the cluster, by its label managed-by and Helm's annotations.
struct origin {
    /// The chart rendered it. Without a release another tool than `helm install` applied it.
    bool of_chart = false;
    std::string release = {};
    std::string ns = {};  ///< of the release
};

/// A CustomResourceDefinition of ESI.
struct definition_fact {
    std::string name;  ///< testbeds.esi.tu-berlin.de
    std::string file;  ///< crds/testbed.yaml
    presence is = presence::hidden;
    bool established = false;
    std::vector<std::string> missing = {};  ///< fields of this release that it lacks
    origin from = {};
};

/// The state of an operator of ESI: its Lease and its Deployment.
struct operator_fact {
    std::string name;  ///< esi-testbed
    presence lease = presence::hidden;
    std::string holder = {};
    std::optional<model::timestamp> renewed = {};
    std::int64_t lease_seconds = 0;
    presence deployment = presence::hidden;
    std::int64_t wanted = 0;
    std::int64_t ready = 0;
    std::string image = {};
    std::vector<std::string> arguments = {};
    origin from = {};  ///< of the Deployment

    /// The value of a flag --NAME=VALUE; empty if it is not given.
    std::string argument(std::string_view flag) const;
    /// The flag is given without a value.
    bool has(std::string_view flag) const;
};

struct priority_class_fact {
    std::string name;
    std::int64_t value = 0;
    std::string preemption;    ///< preemptionPolicy
    std::string part_of = {};  ///< its label
    origin from = {};
};

/// An admission policy of ESI.
struct policy_fact {
    std::string name;
    bool there = false;
    bool bound = false;
    bool denies = false;
    origin from = {};
};

/// A right of the user.
struct right_fact {
    std::string verb;
    std::string resource;  ///< batchjobs.esi.tu-berlin.de, pods
    std::string ns;        ///< empty: all namespaces
    std::string needed_for;
    bool allowed = false;
};

/// The operator of a kind of applications.
struct backend_fact {
    const model::application_kind* of;  ///< a row of model::application_kinds
    presence kind = presence::hidden;
    bool established = false;
    /// Deployments that are this operator's by their label.
    presence deployments = presence::hidden;
    std::int64_t ready = 0;       ///< replicas of all its Deployments
    std::string deployment = {};  ///< "namespace/name" of one of them
};

struct service_fact {
    std::string name;
    presence is = presence::hidden;
    int ready = 0;  ///< number of ready endpoints
};

struct facts {
    wall_time now{};
    std::string operators_namespace;
    std::optional<kube::server_version> server;
    std::vector<definition_fact> definitions;
    std::vector<right_fact> rights;
    std::vector<operator_fact> operators;
    /// Another namespace that has Deployments of operators; looked for if there are none here.
    std::string other_operators_namespace;
    presence classes_seen = presence::hidden;
    std::vector<priority_class_fact> classes;
    presence policies_seen = presence::hidden;
    std::vector<policy_fact> policies;
    std::vector<backend_fact> backends;
    /// The Service of the extender path, if esi-batchjob uses it.
    std::optional<service_fact> extender;

    /// Plurals of the kinds below that the user may not list.
    std::set<std::string> hidden;
    std::vector<std::shared_ptr<const model::testbed>> testbeds;
    std::vector<std::shared_ptr<const model::batchjob>> jobs;
    std::vector<std::shared_ptr<const model::scheduling>> schedulings;
    /// Pods with a Testbed's label.
    std::vector<std::shared_ptr<const model::pod>> pods;
    presence nodes_seen = presence::hidden;
    std::vector<std::shared_ptr<const model::node>> nodes;
    presence namespaces_seen = presence::hidden;
    std::set<std::string> ending_namespaces;
    /// Service accounts that jobs name: "namespace/name" -> whether they exist.
    std::map<std::string, presence> accounts;

    const operator_fact* find_operator(std::string_view name) const;
    /// Null if there is none, or none that the user sees.
    const model::testbed* find_testbed(const model::object_key& key) const;
};

/// The service account of a job's driver or JobManager, by its spec or by ESI's default; an empty
/// name: it needs none. Pure.
model::object_key account_of(const model::batchjob& job);

}  // namespace esi::kubectl::doctor
