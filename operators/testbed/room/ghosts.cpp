#include "testbed/room/ghosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/names.h"

namespace esi::testbed {

using nlohmann::json;
namespace names = model::names;

namespace {

constexpr std::string_view container_name = "ghost";

/// The shape of the claim that has the place at the position; null: the Testbed has no claim.
const model::claim_shape* shape_of(const model::testbed& testbed, int position) {
    if (!testbed.spec.claim) return nullptr;
    for (const auto& shape : testbed.spec.claim->shapes) {
        if (position < shape.count) return &shape;
        position -= shape.count;
    }
    return nullptr;
}

json tolerations_of(const model::claim_shape* shape) {
    json out = json::array();
    for (const auto& each : ghost_tolerations(shape)) {
        json entry = json::object();
        if (!each.key.empty()) entry["key"] = each.key;
        if (!each.operator_.empty()) entry["operator"] = each.operator_;
        if (!each.value.empty()) entry["value"] = each.value;
        if (!each.effect.empty()) entry["effect"] = each.effect;
        out.push_back(std::move(entry));
    }
    return out;
}

}  // namespace

std::string claim_priority_class(int priority) {
    if (priority >= 0) return fmt::format("esi-claim-{}", priority);
    return fmt::format("esi-claim-minus-{}", -static_cast<std::int64_t>(priority));
}

model::string_map ghost_labels(const model::testbed& testbed) {
    return {{std::string(names::testbed), testbed.metadata.name},
            {std::string(names::testbed_namespace), testbed.metadata.namespace_},
            {std::string(names::ghost), "true"}};
}

std::vector<model::toleration> ghost_tolerations(const model::claim_shape* shape) {
    std::vector<model::toleration> out;
    for (const std::string_view key :
         {std::string_view(names::taint), std::string_view("node.kubernetes.io/not-ready"),
          std::string_view("node.kubernetes.io/unreachable"),
          std::string_view("node.kubernetes.io/memory-pressure"),
          std::string_view("node.kubernetes.io/disk-pressure"),
          std::string_view("node.kubernetes.io/pid-pressure")}) {
        out.push_back({std::string(key), "Exists", {}, {}});
    }
    if (shape) std::ranges::copy(shape->constraints.tolerations, std::back_inserter(out));
    return out;
}

json ghost_object(const model::testbed& testbed, const model::testbed_layout& layout,
                  const grid::slot& place, const ghost_options& options) {
    json requests = json::object();
    json limits = json::object();
    for (const auto& [name, amount] : grid::size_of(layout, place.position)) {
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
        {"tolerations", tolerations_of(shape_of(testbed, place.position))},
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
    json annotations = {{names::node, place.node},
                        {names::index, std::to_string(place.index)},
                        {names::ghost_image, options.image}};
    if (testbed.spec.claim) {
        spec["priorityClassName"] = claim_priority_class(testbed.spec.claim->priority);
        // All Testbeds share the nodes: an autoscaler that took one away would take a place.
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
    } else if (!options.priority_class.empty()) {
        spec["priorityClassName"] = options.priority_class;
    }
    return {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", grid::ghost_name(meta.name, meta.uid, place.node, place.index)},
          {"namespace", meta.namespace_},
          {"labels", ghost_labels(testbed)},
          {"annotations", std::move(annotations)},
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
    // Found by the container's name: a webhook may have put another container before it.
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
