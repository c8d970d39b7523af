// The kinds that ESI uses, and their paths in the API.
#pragma once

#include <string>
#include <string_view>

namespace esi::kube {

struct resource_type {
    std::string_view group;  ///< empty for the core group
    std::string_view version;
    std::string_view plural;
    std::string_view kind;
    bool namespaced = true;

    /// "esi.tu-berlin.de/v1alpha1", "v1"
    std::string api_version() const;
    /// "/apis/GROUP/VERSION/namespaces/NS/PLURAL[/NAME[/SUBRESOURCE]]"; parts are percent-encoded.
    /// An empty namespace of a namespaced kind means all namespaces.
    std::string path(std::string_view ns, std::string_view name = {},
                     std::string_view subresource = {}) const;
};

namespace types {
inline constexpr resource_type testbed{"esi.tu-berlin.de", "v1alpha1", "testbeds", "Testbed"};
inline constexpr resource_type batchjob{"esi.tu-berlin.de", "v1alpha1", "batchjobs", "BatchJob"};
inline constexpr resource_type scheduling{"esi.tu-berlin.de", "v1alpha1", "schedulings",
                                          "Scheduling"};
inline constexpr resource_type slot_slice{"esi.tu-berlin.de", "v1alpha1", "testbedslotslices",
                                          "TestbedSlotSlice"};
inline constexpr resource_type pod{"", "v1", "pods", "Pod"};
inline constexpr resource_type node{"", "v1", "nodes", "Node", false};
inline constexpr resource_type name_space{"", "v1", "namespaces", "Namespace", false};
inline constexpr resource_type spark_application{"sparkoperator.k8s.io", "v1beta2",
                                                 "sparkapplications", "SparkApplication"};
inline constexpr resource_type flink_deployment{"flink.apache.org", "v1beta1", "flinkdeployments",
                                                "FlinkDeployment"};
inline constexpr resource_type custom_resource_definition{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
inline constexpr resource_type lease{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr resource_type event{"events.k8s.io", "v1", "events", "Event"};
}  // namespace types

}  // namespace esi::kube
