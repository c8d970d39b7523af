// What the job state machine needs to know of one kind of application (SparkApplication,
// FlinkDeployment): how to build it, how to read its states, which pods belong to it.
// Implementations are stateless and do no I/O; the process owns them for its whole life. README.md
// of this folder says how to add a further kind.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/quantity.h"

namespace esi::batchjob {

using json = nlohmann::json;
using pod_pointer = std::shared_ptr<const model::pod>;

/// The progress of an application, in the terms that all kinds share.
enum class phase {
    underway,   ///< anything on the way to running, or to its end
    running,    ///< its coordinator runs
    succeeded,  ///< final
    failed,     ///< final
    paused,     ///< it was suspended
    unknown,    ///< a word unknown to this version: the job's state is kept
};

/// An application as the state machine sees it.
struct application {
    model::object_meta metadata;
    batchjob::phase phase = phase::underway;
    std::string word;     ///< the state in the application's own words
    std::string message;  ///< what its operator says of a failure
    /// Number of executions begun, from 1; 0 while nothing was submitted successfully.
    int attempt = 0;
    std::optional<model::timestamp> attempt_since;
    /// The pod that coordinates it, and its operator's name of the present submission; empty where
    /// the operator does not name them.
    std::string coordinator_pod;
    std::string submission;
    /// Times by the application's own clock; where it reports none, those of the pods count.
    std::optional<model::timestamp> started;
    std::optional<model::timestamp> ended;
    /// Times of the job alone, without the start of its pods, to the millisecond; where its
    /// operator reports them.
    std::optional<model::timestamp> job_started;
    std::optional<model::timestamp> job_stopped;

    std::string_view run() const;
    bool owned_by(const model::object_meta& job) const;
    bool final() const { return phase == phase::succeeded || phase == phase::failed; }
    /// True: its operator has written something into its status.
    bool taken_up() const { return !word.empty() || !message.empty() || attempt > 0; }
};

enum class pod_role {
    none,
    slot,         ///< executor, TaskManager: takes one slot
    coordinator,  ///< driver, JobManager: takes the coordinator place of its order, or no slot
};

/// How job pods get to their slots; flags of the operator.
struct placement_options {
    bool extender = false;  ///< --placement=extender; else the scheduling gate
    std::string job_scheduler_name = "default-scheduler";
    std::string job_priority_class = "esi-job";
    std::string extender_scheduler_name = "external-scheduler";
    std::string extender_priority_class = "esi-extender";
    /// Upper bound of a template's terminationGracePeriodSeconds.
    seconds max_termination_grace{120};

    const std::string& scheduler() const {
        return extender ? extender_scheduler_name : job_scheduler_name;
    }
    const std::string& priority_class() const {
        return extender ? extender_priority_class : job_priority_class;
    }
};

/// The slot that a coordinator takes.
struct coordinator_slot {
    int position = 0;
    model::resource_list size;
};

/// The input from which an application is built.
struct build_request {
    model::object_meta job;
    model::raw_json spec;  ///< the job's spec of an application
    model::object_key testbed;
    std::string node_label;
    /// The size of the workers' slots; where they differ, what each of them has.
    model::resource_list slot_size;
    std::vector<int> slot_ids;  ///< of the workers, ascending
    bool by_slot = false;       ///< see model::job_sizing
    /// Absent: the coordinator stays off the testbed.
    std::optional<coordinator_slot> coordinator;
    std::string run;
};

struct built {
    json object;
    /// Keys that the user has set and ESI overrides, in the order of the spec.
    std::vector<std::string> overridden;
    /// Keys of the user that have no counterpart.
    std::vector<std::string> ignored;
};

/// Why a spec cannot become an application; `reason` is CamelCase, `text` for people.
struct spec_problem {
    std::string reason;
    std::string text;
};

class backend {
public:
    virtual ~backend() = default;
    /// The kind's name: "Spark".
    virtual std::string_view type() const = 0;
    virtual const kube::resource_type& resource() const = 0;
    /// Builds the application of one run. Pure: the same request gives the same object.
    virtual std::expected<built, spec_problem> build(const build_request& request) const = 0;
    /// Builds the application with which the spec is checked before any assignment: one pod, the
    /// smallest legal size. Only ever created as a dry run. `by_slot`: see model::job_sizing.
    virtual std::expected<built, spec_problem> probe(const model::object_meta& job,
                                                     const model::raw_json& spec,
                                                     bool by_slot) const = 0;
    /// Reads an application from an answer of the API server.
    virtual result<application> read(std::string_view text) const = 0;
    /// The role of `pod` in the application `name`, by its labels.
    virtual pod_role role_of(const model::pod& pod, std::string_view name) const = 0;
    /// Why a pod with a role was not made for `app`, by its owner and by what the application's
    /// operator has written; empty if it was. `beside`: the pods of the job.
    virtual std::string foreign(const model::pod& pod, const application& app,
                                std::span<const pod_pointer> beside) const = 0;

    /// The usual name of the pod that coordinates: "driver", "JobManager".
    virtual std::string_view coordinator() const = 0;
    /// The usual name of the pods that it coordinates: "executor", "TaskManager".
    virtual std::string_view worker() const = 0;
    /// The command that shows why pods of the application are not created; by default the
    /// coordinator's log.
    virtual std::string where_to_look(const model::object_key& app,
                                      std::string_view coordinator_pod) const;
    /// Priority class of the pods in slots.
    virtual const std::string& priority_class() const = 0;
    /// Why a worker of the job can never run in a slot of this size; empty if it can.
    virtual std::optional<spec_problem> too_small(const model::raw_json& spec,
                                                  const model::resource_list& slot) const = 0;
    /// The same for the coordinator; empty also if that is not known.
    virtual std::optional<spec_problem> coordinator_too_small(const model::raw_json&,
                                                              const model::resource_list&) const {
        return std::nullopt;
    }
    /// What a pod of this role asks for at the least: by the user's own numbers, unless it gets
    /// those of its slot (`by_slot`), and by what its template has beside its main container. A
    /// smaller slot cannot hold it. Empty: not known.
    virtual model::amounts least_size(const model::raw_json&, pod_role, bool /*by_slot*/) const {
        return {};
    }
    /// True: controllers (Deployments) keep its pods: these exist, also after the end, until the
    /// application is deleted, and a deleted pod is replaced.
    virtual bool keeps_pods() const { return false; }
    /// True: its application is a pod that exists before the run. It is not created but taken over:
    /// build() makes the merge patch that marks it. After a release an ended one stays.
    virtual bool adopts() const { return false; }
    /// Only if adopts(): why this pod cannot be taken over for this job; empty if it can.
    virtual std::string unfit_for_adoption(const model::pod&, const model::batchjob&) const {
        return {};
    }
    /// Only if adopts(): whether the spec names this application. The marks of a pod alone prove
    /// nothing: the creator of the pod can write them.
    virtual bool is_named(const application&, const model::batchjob_spec&) const { return true; }
    /// Only if adopts(): the merge patch that makes a pod of this role a member of the run.
    virtual json marks(const build_request&, pod_role) const { return json::object(); }
    /// Text about what this kind cannot do by itself; empty if there is no such limit.
    virtual std::string_view limits() const { return {}; }
    /// Why this pod can never take its slot, whatever ESI does; empty if it can.
    virtual std::string pod_problem(const model::pod&) const { return {}; }

    /// Texts for people: applications of this kind can be made here, and why they cannot.
    virtual std::string served_text() const;
    virtual std::string not_served() const;

    /// Name of its CustomResourceDefinition: "sparkapplications.sparkoperator.k8s.io".
    std::string definition() const;
};

/// Whether `app`, which is of `kind`, is the application of `job`: the job owns it, and if it was
/// taken over, the job's spec names it, or its status once the run has begun.
bool belongs_to(const application& app, const backend& kind, const model::batchjob& job);

/// Text for the controlling owner: "ReplicaSet a-5d8 (uid 77)"; `nobody` if there is none.
std::string show_owner(const model::object_meta& meta);

/// The request for backend::probe: one slot with this much memory.
build_request probe_request(const model::object_meta& job, const model::raw_json& spec,
                            std::int64_t slot_mib);

}  // namespace esi::batchjob
