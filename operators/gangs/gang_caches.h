// The watches of the part for gangs beside the caches of the testbed operator: the objects of
// groups, of the kinds that the cluster has, and the objects that affect all of them. Made only
// with --gangs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/process.h"
#include "gangs/gang.h"
#include "gangs/planner.h"
#include "kube/watch/informer.h"

namespace esi::gangs {

/// scheduling.k8s.io/v1 PriorityClass.
struct priority_class {
    model::object_meta metadata;
    std::int64_t value = 0;
};
BOOST_DESCRIBE_STRUCT(priority_class, (), (metadata, value))

/// coordination.k8s.io/v1 Lease: only the fields that tell one start of its holder from another.
struct lease_spec {
    std::string holder_identity;
    std::int64_t lease_transitions = 0;
};
BOOST_DESCRIBE_STRUCT(lease_spec, (), (holder_identity, lease_transitions))
struct lease_object {
    model::object_meta metadata;
    lease_spec spec;
};
BOOST_DESCRIBE_STRUCT(lease_object, (), (metadata, spec))

/// Is notified of changes; must only note them.
class group_listener {
public:
    virtual ~group_listener() = default;
    /// An object of this group came, changed or went.
    virtual void group_changed(const gang_key& of) = 0;
    /// The namespace was labelled for gangs, or is no more.
    virtual void namespace_changed(std::string_view ns) = 0;
    /// Labels of namespaces, PriorityClasses, the scheduler's lease.
    virtual void surroundings_changed() = 0;
};

class gang_caches {
public:
    /// PodGroups of `namespaces` (none: all). `scheduler_lease`: namespace and name.
    gang_caches(kube::client& api, clock& time, std::vector<std::string> namespaces,
                const model::object_key& scheduler_lease);

    std::vector<controller::operator_part::cache> list();
    /// `listener` lives as long as this.
    void on_change(group_listener& listener);

    /// The object of the group; if two kinds of one way have one, the older.
    group_object find(const gang_key& key) const;
    /// Groups that have objects in the namespace.
    std::vector<gang_key> groups_in(std::string_view ns) const;
    /// Labels of all namespaces.
    const namespace_labels& namespaces() const { return labels_; }
    /// Gangs are started in the namespace: it has the label, and this operator works on it.
    bool enabled(std::string_view ns) const;
    /// By name.
    const std::map<std::string, std::int64_t, std::less<>>& classes() const { return values_; }
    /// The holder of the scheduler's lease and its number of transitions: another text is another
    /// start of the scheduler. Unchanged while none leads; nothing if there was no such lease.
    const std::optional<std::string>& scheduler() const { return scheduler_; }

    /// The stores that the watches fill, for tests that do it in their place; of kinds in the order
    /// of group_kinds().
    struct filled {
        kube::store<model::metadata_only>& namespaces;
        kube::store<priority_class>& classes;
        kube::store<lease_object>& leases;
        std::vector<kube::store<pod_group>*> groups;
    };
    filled fill();

private:
    struct kind_cache {
        const group_kind* kind;
        kube::informer<pod_group> from;
    };
    void note_namespace(const kube::change<model::metadata_only>& what);
    void note_class(const kube::change<priority_class>& what);
    void note_lease(const kube::change<lease_object>& what);

    clock& time_;
    std::set<std::string, std::less<>> limited_to_;
    model::object_key lease_name_;
    kube::informer<model::metadata_only> namespaces_;
    kube::informer<priority_class> classes_;
    kube::informer<lease_object> lease_;
    std::vector<std::unique_ptr<kind_cache>> kinds_;
    namespace_labels labels_;
    std::map<std::string, std::int64_t, std::less<>> values_;
    std::optional<std::string> scheduler_;
    group_listener* listener_ = nullptr;
};

}  // namespace esi::gangs
