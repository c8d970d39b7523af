// What the part for gangs watches beside the caches of the testbed operator: the objects of groups, of
// the kinds that the cluster has, and what decides about them all. Made only with --gangs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/watch/informer.h"
#include "testbed/gangs/pod_group.h"
#include "testbed/gangs/pod_terms.h"

namespace esi::testbed::gangs {

/// scheduling.k8s.io/v1 PriorityClass.
struct priority_class {
    model::object_meta metadata;
    std::int64_t value = 0;
    bool global_default = false;
};
BOOST_DESCRIBE_STRUCT(priority_class, (), (metadata, value, global_default))

/// coordination.k8s.io/v1 Lease, by which a scheduler that was started anew is known.
struct lease_spec {
    std::string holder_identity;
    int lease_transitions = 0;
};
BOOST_DESCRIBE_STRUCT(lease_spec, (), (holder_identity, lease_transitions))
struct lease {
    model::object_meta metadata;
    lease_spec spec;
};
BOOST_DESCRIBE_STRUCT(lease, (), (metadata, spec))

class gang_caches {
public:
    /// PodGroups of `namespaces` (none: all). `scheduler_lease`: namespace and name.
    gang_caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces,
                const model::object_key& scheduler_lease);

    std::vector<controller::operator_part::cache> list();
    /// `listener` is called after each change of what is watched here.
    void on_change(std::function<void()> listener);
    void feed(controller::write_gate& gate);

    /// A kind of group objects, served or not.
    struct groups {
        const group_kind* kind;
        kube::informer<pod_group> cache;
    };
    const std::vector<std::unique_ptr<groups>>& kinds() const { return kinds_; }
    /// Labels of all namespaces.
    const namespace_labels& namespaces() const { return labels_; }
    /// It has the label by which gangs are started in it.
    bool enabled(std::string_view ns) const;
    const kube::store<priority_class>& classes() const { return classes_.items(); }
    /// Who holds the scheduler's lease, and for which time: another text is another start of the
    /// scheduler. Empty where there is no lease.
    const std::string& scheduler() const { return scheduler_; }

private:
    kube::informer<model::metadata_only> namespaces_;
    kube::informer<priority_class> classes_;
    kube::informer<lease> leases_;
    std::vector<std::unique_ptr<groups>> kinds_;
    clock& time_;
    model::object_key lease_name_;
    namespace_labels labels_;
    std::string scheduler_;
};

}  // namespace esi::testbed::gangs
