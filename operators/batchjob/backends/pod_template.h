// A user's pod template (PodTemplateSpec) that ESI adds to: what makes a pod take a slot, or keeps
// one off the testbed. The same for every kind of application. Changes the JSON in place; owned by
// a mapping for the length of one call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

/// Makes `of.terminationGracePeriodSeconds`, where it is set, at most that; true when it was
/// changed.
bool limit_grace_of(json& of, seconds most);

class pod_template {
public:
    /// `parent.template_key` is the template, `path` how refusals and overridden keys name `parent`
    /// below `root` ("sparkSpec"), `container` the one that the application's framework takes as
    /// its own.
    pod_template(json& parent, std::string template_key, std::string root, std::string path,
                 std::string container);

    /// Makes the parts that are absent; false when one has a wrong type, see `problem`. Before all
    /// else.
    bool open();
    json& pod() { return *pod_; }
    json& container() { return *container_; }

    bool has_node_affinity() const;
    /// Adds the requirement to every term of the required node affinity.
    bool require_node(const json& requirement);
    /// Sets (null: removes) a member of the pod's spec, and names it where the user had one.
    void override_pod(const std::string& key, const json& value,
                      std::vector<std::string>& overridden);
    /// The pod ends in so much time, whatever the user wrote: what it keeps (a slot, or the
    /// driver's executors) is free by then.
    void limit_grace(seconds most, std::vector<std::string>& overridden);
    /// Adds to a list of the pod's spec.
    bool append(const std::string& key, const json& item);
    /// Takes ESI's keys out of labels and annotations, and finalizers away.
    bool clean_metadata(std::vector<std::string>& overridden);
    /// Sets labels and annotations.
    bool mark(const json& labels, const json& annotations);

    /// The pods stay off the testbed's nodes, unless the user's own node affinity says where they
    /// go. A nodeName, which goes past the scheduler and so past the ghosts, is taken out.
    bool stay_off(const build_request& request, std::vector<std::string>& overridden);
    /// The pods take slots: scheduler, priority, gate, toleration.
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
