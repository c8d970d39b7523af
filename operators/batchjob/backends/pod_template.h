// A user's pod template (PodTemplateSpec) with ESI's additions: these make a pod take a slot, or
// keep one off the testbed. The same for every kind of application. Changes the JSON in place;
// owned by a mapping for the length of one call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

/// Limits `of.terminationGracePeriodSeconds`, if it is set, to that value; true: it was changed.
bool limit_grace_of(json& of, seconds most);

class pod_template {
public:
    /// `parent.template_key` is the template; `path` is the name of `parent` below `root`
    /// ("sparkSpec") in refusals and overridden keys; `container` the one that the application's
    /// framework uses as its own.
    pod_template(json& parent, std::string template_key, std::string root, std::string path,
                 std::string container);

    /// Makes the absent parts; false: one has a wrong type, see `problem`. To be called first.
    bool open();
    json& pod() { return *pod_; }
    json& container() { return *container_; }

    bool has_node_affinity() const;
    /// Adds the requirement to every term of the required node affinity.
    bool require_node(const json& requirement);
    /// Sets (null: removes) a member of the pod's spec, and names it if the user had one.
    void override_pod(const std::string& key, const json& value,
                      std::vector<std::string>& overridden);
    /// Bounds the time in which the pod ends, whatever the user wrote: what it keeps (a slot, or
    /// the driver's executors) is free by then.
    void limit_grace(seconds most, std::vector<std::string>& overridden);
    /// Adds to a list of the pod's spec.
    bool append(const std::string& key, const json& item);
    /// Removes ESI's keys from labels and annotations, and all finalizers.
    bool clean_metadata(std::vector<std::string>& overridden);
    /// Sets labels and annotations.
    bool mark(const json& labels, const json& annotations);

    /// Keeps the pods off the testbed's nodes, unless the user's own node affinity says where they
    /// go. Removes a nodeName, which bypasses the scheduler and so the ghosts.
    bool stay_off(const build_request& request, std::vector<std::string>& overridden);
    /// Sends the pods into slots: scheduler, priority, gate, toleration.
    bool take_slots(const build_request& request, const placement_options& options,
                    std::vector<std::string>& overridden);

    const spec_problem& problem() const { return problem_; }

private:
    bool wrong(std::string_view part, std::string_view what);

    json& parent_;
    std::string key_;
    std::string root_;
    std::string path_;
    std::string container_name_;
    json* pod_ = nullptr;
    json* container_ = nullptr;
    spec_problem problem_;
};

}  // namespace esi::batchjob
