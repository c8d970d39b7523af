// The stores that the testbed operator watches, the indexes over them, and the rules which nodes of
// which Testbeds a change of each object concerns. Owned by the operator; read by its reconcile and
// its endpoints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/watch/informer.h"
#include "testbed/caches/roster.h"
#include "testbed/extender/extender.h"
#include "testbed/view/view.h"

namespace esi::testbed {

/// Hears what a change concerns. Each call names a Testbed that is to be reconciled, and as little
/// of it as has to be computed again.
class change_listener {
public:
    virtual ~change_listener() = default;
    /// Only the report of the Testbed changed.
    virtual void report_changed(const model::object_key& testbed) = 0;
    virtual void node_changed(const model::object_key& testbed, std::string_view node) = 0;
    /// A pod with the Testbed's labels that is no ghost changed.
    virtual void pod_changed(const model::object_key& testbed, const model::object_key& pod) = 0;
    /// The orders of a job changed.
    virtual void job_changed(const model::object_key& testbed, const model::object_key& job) = 0;
    /// The hold changed, and with it which orders and pods count.
    virtual void hold_changed(const model::object_key& testbed) = 0;
    /// The set of nodes that carry the Testbed's label changed, or a number in it.
    virtual void labels_changed(const model::object_key& testbed) = 0;
    virtual void all_changed(const model::object_key& testbed) = 0;
    /// A slice of its rows changed; `first` is the position of the slice's first row.
    virtual void slice_changed(const model::object_key& testbed, int first) = 0;
    // Called on each change of a node or pod, after the calls for all that it concerns.
    virtual void node_seen(const kube::change<model::node>& what) = 0;
    virtual void pod_seen(const kube::change<model::pod>& what) = 0;
};

class caches final : public extender_facts {
public:
    /// Watches Testbeds, BatchJobs and Schedulings of `namespaces` (empty: all), and nodes and pods
    /// of the whole cluster, as all pods take room. `gangs`: pods keep what gangs need of them.
    caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces,
           bool gangs = false);

    /// Removes from a foreign pod what no part of this operator reads: there are many more of them
    /// than of ghosts and job pods. `gangs`: a pod that names a group stays whole; every other pod
    /// keeps what keeps the members of a gang away from its node.
    static void trim(model::pod& pod, bool gangs = false);
    std::vector<controller::operator_part::cache> list();
    /// Calls `listener` with what each change concerns; it must live as long as this.
    void on_change(change_listener& listener) { listener_ = &listener; }
    void feed(controller::write_gate& gate);

    const kube::store<model::testbed>& testbeds() const { return testbeds_.items(); }
    const kube::store<model::batchjob>& jobs() const { return jobs_.items(); }
    const kube::store<model::scheduling>& schedulings() const { return schedulings_.items(); }
    const kube::store<model::node>& nodes() const { return nodes_.items(); }
    const kube::store<model::pod>& pods() const { return pods_.items(); }
    const kube::store<model::slot_slice>& slices() const { return slices_.items(); }
    /// All slices that name the Testbed, whichever client wrote them.
    std::vector<grid::slice_pointer> slices_of(const model::object_key& testbed) const;
    /// False: the installed CRD is that of a release without slices.
    bool slices_served() const { return slices_.served(); }
    bool all_namespaces() const { return all_namespaces_; }
    /// The stores that the watches fill; tests fill them instead.
    struct filled {
        kube::store<model::testbed>& testbeds;
        kube::store<model::batchjob>& jobs;
        kube::store<model::scheduling>& schedulings;
        kube::store<model::node>& nodes;
        kube::store<model::pod>& pods;
        kube::store<model::slot_slice>& slices;
    };
    filled fill() {
        return {testbeds_.items(), jobs_.items(), schedulings_.items(),
                nodes_.items(),    pods_.items(), slices_.items()};
    }
    testbed_pointer find_testbed(const model::object_key& key) const {
        return testbeds().find(key);
    }
    const class roster& roster() const { return roster_; }

    bool synced() const;
    std::string hold_of(const model::object_key& testbed) const override;
    std::optional<seat> seat_of(const model::object_key& testbed, std::string_view run,
                                std::string_view pod_uid) const override;
    /// Returns each of these nodes with its pods.
    std::vector<node_view> with_pods(std::vector<model::node> nodes) const;

private:
    /// Registers one listener for each kind; it reports what a change concerns in a fixed order.
    void listen();
    void testbed_changed(const kube::change<model::testbed>& what);
    void node_changed(const kube::change<model::node>& what);
    void pod_changed(const kube::change<model::pod>& what);
    void job_changed(const kube::change<model::batchjob>& what);
    void scheduling_changed(const kube::change<model::scheduling>& what);
    void slice_changed(const kube::change<model::slot_slice>& what);

    /// Reports the node to all Testbeds that have to do with it as it is now.
    void concern_node(const std::string& name);
    /// Reports the node to these Testbeds.
    void concern(const roster_keys& testbeds, std::string_view node);
    void concern_slots(const model::object_key& testbed, const std::vector<int>& positions);
    /// Reports the nodes of the orders, records and pods of one version of the job.
    void concern_job(const model::batchjob& job);
    /// Reports the nodes of the pods with these uids to the Testbed and to those that share the
    /// nodes: a record of each pod was added or removed. `of_all_guests`: also the nodes of all
    /// pods that claim to belong to the Testbed.
    void concern_records(const model::object_key& testbed,
                         const std::vector<std::string_view>& uids, bool of_all_guests);
    /// Reports the nodes of the rows that differ.
    void concern_rows(const model::testbed& before, const model::testbed& after);

    kube::informer<model::testbed> testbeds_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::scheduling> schedulings_;
    kube::informer<model::node> nodes_;
    kube::informer<model::pod> pods_;
    kube::informer<model::slot_slice> slices_;
    class roster roster_;
    const clock& time_;
    change_listener* listener_ = nullptr;
    bool all_namespaces_;
};

/// The key of a node's numeric label in the index "number". "01" is 1.
std::string numbered(std::string_view label, std::int64_t id);
/// The key of an object of one Testbed in the indexes: "ns/tb@node-a", "ns/tb#17".
std::string in_testbed(const model::object_key& testbed, std::string_view kind,
                       std::string_view what);

}  // namespace esi::testbed
