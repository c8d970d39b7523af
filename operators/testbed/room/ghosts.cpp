#include "testbed/room/ghosts.h"

#include <algorithm>
#include <array>

#include "model/names.h"

namespace esi::testbed {

using nlohmann::json;
namespace names = model::names;

namespace {

constexpr std::string_view container_name = "ghost";

json exists(std::string_view key) { return {{"key", key}, {"operator", "Exists"}}; }

}  // namespace

json ghost_object(const model::testbed& testbed, const model::testbed_layout& layout,
                  const grid::slot& place, const ghost_options& options) {
    json requests = json::object();
    json limits = json::object();
    for (const auto& [name, amount] : layout.resources_per_slot) {
        requests[name] = amount.text;
        // Extended resources must be limited to what is requested. cpu and memory are not: with
        // both limited the static CPU policy of a kubelet would hand out whole cores to a pause.
        if (name.find('/') != std::string::npos || name.starts_with("hugepages-")) {
            limits[name] = amount.text;
        }
    }
    json resources = {{"requests", std::move(requests)}};
    if (!limits.empty()) resources["limits"] = std::move(limits);

    const auto& meta = testbed.metadata;
    json container = {
        {"name", container_name},
        {"image", options.image},
        {"imagePullPolicy", "IfNotPresent"},
        {"resources", std::move(resources)},
        {"securityContext",
         {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", {{"drop", {"ALL"}}}}}},
    };
    json term = {{"matchFields",
                  {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {place.node}}}}}};
    json spec = {
        {"affinity",
         {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", json::array({std::move(term)})}}}}}}},
        // A ghost stays where it is: a cordoned or lost node's ghosts are left alone, and node
        // controllers are not to evict them while the node is away.
        {"tolerations",
         {exists(names::taint), exists("node.kubernetes.io/not-ready"),
          exists("node.kubernetes.io/unreachable"), exists("node.kubernetes.io/memory-pressure"),
          exists("node.kubernetes.io/disk-pressure"), exists("node.kubernetes.io/pid-pressure")}},
        {"terminationGracePeriodSeconds", 0},
        {"automountServiceAccountToken", false},
        {"enableServiceLinks", false},
        {"securityContext",
         {{"runAsNonRoot", true},
          {"runAsUser", 65535},
          {"runAsGroup", 65535},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
        {"containers", json::array({std::move(container)})},
    };
    if (!options.priority_class.empty()) spec["priorityClassName"] = options.priority_class;
    return {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", grid::ghost_name(meta.name, meta.uid, place.node, place.index)},
          {"namespace", meta.namespace_},
          {"labels",
           {{names::testbed, meta.name},
            {names::testbed_namespace, meta.namespace_},
            {names::ghost, "true"}}},
          {"annotations",
           {{names::node, place.node},
            {names::index, std::to_string(place.index)},
            {names::ghost_image, options.image}}},
          {"ownerReferences", json::array({{{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                                            {"kind", "Testbed"},
                                            {"name", meta.name},
                                            {"uid", meta.uid},
                                            {"controller", true},
                                            {"blockOwnerDeletion", true}}})}}},
        {"spec", std::move(spec)},
    };
}

json ghost_image_patch(const model::pod& ghost, const std::string& image) {
    // By the container's name: somebody's webhook may have put another one before it.
    json container = {{"name", container_name}, {"image", image}};
    return {
        {"metadata", {{"uid", ghost.metadata.uid}, {"annotations", {{names::ghost_image, image}}}}},
        {"spec", {{"containers", json::array({std::move(container)})}}}};
}

std::string ghost_failure(const model::pod& ghost) {
    // Reasons of a waiting container: pkg/kubelet/images/types.go, kuberuntime_container.go and
    // kubelet_pods.go of Kubernetes 1.36.
    static constexpr std::array<std::string_view, 7> pulls{
        "ErrImagePull",      "ImagePullBackOff",    "InvalidImageName",         "ImageInspectError",
        "ErrImageNeverPull", "RegistryUnavailable", "SignatureValidationFailed"};
    static constexpr std::array<std::string_view, 7> starts{
        "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
        "CrashLoopBackOff",           "PreCreateHookError",   "PreStartHookError",
        "PostStartHookError"};
    if (!ghost.bound() || !ghost.live() || ghost.metadata.deleting()) return {};
    if (std::ranges::find(pulls, ghost.reason) != pulls.end()) {
        return "image " + std::string(ghost.metadata.annotation(names::ghost_image)) +
               " cannot be pulled";
    }
    if (std::ranges::find(starts, ghost.reason) != starts.end()) {
        return std::string(keeps_ending);
    }
    return {};
}

}  // namespace esi::testbed
