#include "batchjob/backends/spark/pod_template.h"

#include <fmt/format.h>

#include <set>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/pod_template.h"

namespace esi::batchjob::spark {

namespace {

/// Volumes with this prefix are Spark's scratch space: the operator passes them on as
/// configuration, also without its webhook.
constexpr std::string_view local_dir_prefix = "spark-local-dir-";

bool has_named(const json& list, std::string_view name) {
    for (const auto& item : list) {
        if (name_of(item) == name) return true;
    }
    return false;
}

/// A role (driver, executor) and its template.
class role_template {
public:
    role_template(json& spec, std::string role, std::string container)
        : spec_(spec),
          name_(std::move(role)),
          role_(spec[name_]),
          whole_(role_, "template", "sparkSpec", name_, std::move(container)) {}

    pod_template& whole() { return whole_; }

    bool move_volumes(std::set<std::string>& moved) {
        auto mounts = role_.find("volumeMounts");
        if (mounts == role_.end() || mounts->is_null()) return true;
        if (!mounts->is_array()) return wrong("volumeMounts", "a list");
        auto& container = whole_.container();
        auto* to = typed_in(container, "volumeMounts", json::array());
        auto* volumes = typed_in(whole_.pod(), "volumes", json::array());
        if (!to || !volumes) return wrong("template.spec", "a pod's spec");
        json stay = json::array();
        for (const auto& mount : *mounts) {
            const auto name = name_of(mount);
            if (name.empty() || name.starts_with(local_dir_prefix)) {
                stay.push_back(mount);
                continue;
            }
            to->push_back(mount);
            moved.insert(name);
            if (has_named(*volumes, name)) continue;
            const auto all = spec_.find("volumes");
            if (all == spec_.end() || !all->is_array()) continue;
            for (const auto& volume : *all) {
                if (name_of(volume) == name) volumes->push_back(volume);
            }
        }
        if (stay.empty()) {
            role_.erase("volumeMounts");
        } else {
            *mounts = std::move(stay);
        }
        if (to->empty()) container.erase("volumeMounts");
        if (volumes->empty()) whole_.pod().erase("volumes");
        return true;
    }

    bool move_tolerations() {
        auto at = role_.find("tolerations");
        if (at == role_.end() || at->is_null()) return true;
        if (!at->is_array()) return wrong("tolerations", "a list");
        for (const auto& item : *at) {
            if (!whole_.append("tolerations", item)) return false;
        }
        role_.erase("tolerations");
        return true;
    }

    void limit_grace(seconds most, std::vector<std::string>& overridden) {
        whole_.limit_grace(most, overridden);
        if (limit_grace_of(role_, most)) {
            overridden.push_back(name_ + ".terminationGracePeriodSeconds");
        }
    }

    /// The webhook sets these and does not append: the same value twice is harmless.
    void copy_settings() {
        copy("securityContext", whole_.container(), "securityContext");
        copy("podSecurityContext", whole_.pod(), "securityContext");
        copy("nodeSelector", whole_.pod(), "nodeSelector");
        copy("affinity", whole_.pod(), "affinity");
    }

    /// The webhook, if it runs, replaces the template's affinity by the role's.
    void copy_affinity_back() {
        if (const auto* affinity = member(whole_.pod(), "affinity")) role_["affinity"] = *affinity;
    }

    const spec_problem& problem() const {
        return problem_.reason.empty() ? whole_.problem() : problem_;
    }

private:
    bool wrong(std::string_view part, std::string_view what) {
        problem_ = {"SpecMalformed", fmt::format("sparkSpec.{}.{} must be {}", name_, part, what)};
        return false;
    }
    void copy(const std::string& from, json& to, const std::string& key) {
        if (const auto* value = member(role_, from)) to[key] = *value;
    }

    json& spec_;
    std::string name_;
    json& role_;
    pod_template whole_;
    spec_problem problem_;
};

/// Removes from the spec what was moved into the templates.
void drop_moved_volumes(json& spec, const std::set<std::string>& moved) {
    const auto all = spec.find("volumes");
    if (all == spec.end() || !all->is_array()) return;
    json stay = json::array();
    for (const auto& volume : *all) {
        if (!moved.contains(name_of(volume))) stay.push_back(volume);
    }
    if (stay.empty()) {
        spec.erase("volumes");
    } else {
        *all = std::move(stay);
    }
}

}  // namespace

std::optional<spec_problem> fill_templates(json& spec, const build_request& request,
                                           const placement_options& options,
                                           std::vector<std::string>& overridden) {
    role_template driver(spec, "driver", "spark-kubernetes-driver");
    role_template executor(spec, "executor", "spark-kubernetes-executor");
    std::set<std::string> moved;
    for (auto* role : {&driver, &executor}) {
        if (!role->whole().open() || !role->move_volumes(moved) || !role->move_tolerations() ||
            !role->whole().clean_metadata(overridden)) {
            return role->problem();
        }
        role->copy_settings();
        role->limit_grace(options.max_termination_grace, overridden);
    }
    drop_moved_volumes(spec, moved);

    const bool placed = request.coordinator
                            ? driver.whole().take_slots(request, options, overridden)
                            : driver.whole().stay_off(request, overridden);
    if (!placed) return driver.problem();
    if (!executor.whole().take_slots(request, options, overridden)) return executor.problem();
    driver.copy_affinity_back();
    executor.copy_affinity_back();
    return std::nullopt;
}

}  // namespace esi::batchjob::spark
