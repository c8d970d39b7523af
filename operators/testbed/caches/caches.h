// What the testbed operator watches, the indexes by which a thing finds what it concerns, and which
// nodes of which Testbeds a change of each thing concerns. Owned by the operator; read by its
// reconcile and its endpoints.
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

/// What a change concerns. Each call names a Testbed that is to be reconciled, and as little of it
/// as has to be worked out anew.
class change_listener {
public:
    virtual ~change_listener() = default;
    /// Its report alone.
    virtual void report_changed(const model::object_key& testbed) = 0;
    virtual void node_changed(const model::object_key& testbed, std::string_view node) = 0;
    /// A pod with its labels that is no ghost.
    virtual void pod_changed(const model::object_key& testbed, const model::object_key& pod) = 0;
    /// The orders of a job.
    virtual void job_changed(const model::object_key& testbed, const model::object_key& job) = 0;
    /// Whose orders and pods count: all that depends on the hold.
    virtual void hold_changed(const model::object_key& testbed) = 0;
    /// Which nodes carry its label, and with what number.
    virtual void labels_changed(const model::object_key& testbed) = 0;
    virtual void all_changed(const model::object_key& testbed) = 0;
    /// A slice of its rows, whose first row is that of this position.
    virtual void slice_changed(const model::object_key& testbed, int first) = 0;
    // Each change of a node or pod itself, after all that it concerns was told.
    virtual void node_seen(const kube::change<model::node>& what) = 0;
    virtual void pod_seen(const kube::change<model::pod>& what) = 0;
};

class caches final : public extender_facts {
public:
    /// Testbeds, BatchJobs and Schedulings of `namespaces` (none: all); nodes and pods of the whole
    /// cluster, as room is a matter of all pods. `gangs`: pods keep what gangs need of them.
    caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces,
           bool gangs = false);

    /// Takes from a pod of others what no part of this operator reads of it: there are many more
    /// of them than of ghosts and job pods. `gangs`: a pod that names a group stays whole; of every
    /// other pod stays what keeps the members of a gang away from its node.
    static void trim(model::pod& pod, bool gangs = false);
    std::vector<controller::operator_part::cache> list();
    /// `listener` is called with what each change concerns, and lives as long as this.
    void on_change(change_listener& listener) { listener_ = &listener; }
    void feed(controller::write_gate& gate);

    const kube::store<model::testbed>& testbeds() const { return testbeds_.items(); }
    const kube::store<model::batchjob>& jobs() const { return jobs_.items(); }
    const kube::store<model::scheduling>& schedulings() const { return schedulings_.items(); }
    const kube::store<model::node>& nodes() const { return nodes_.items(); }
    const kube::store<model::pod>& pods() const { return pods_.items(); }
    const kube::store<model::slot_slice>& slices() const { return slices_.items(); }
    /// Those that name the Testbed, whoever wrote them.
    std::vector<grid::slice_pointer> slices_of(const model::object_key& testbed) const;
    /// False: the CRD is that of a release without them.
    bool slices_served() const { return slices_.served(); }
    bool all_namespaces() const { return all_namespaces_; }
    /// The stores that the watches fill, for tests that do it in their place.
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
    /// Each of these nodes with its pods.
    std::vector<node_view> with_pods(std::vector<model::node> nodes) const;

private:
    /// One listener of each kind, which tells what it concerns in a fixed order.
    void listen();
    void testbed_changed(const kube::change<model::testbed>& what);
    void node_changed(const kube::change<model::node>& what);
    void pod_changed(const kube::change<model::pod>& what);
    void job_changed(const kube::change<model::batchjob>& what);
    void scheduling_changed(const kube::change<model::scheduling>& what);
    void slice_changed(const kube::change<model::slot_slice>& what);

    /// The node, for all Testbeds that have to do with it as it is now.
    void concern_node(const std::string& name);
    /// The node, for these Testbeds.
    void concern(const roster_keys& testbeds, std::string_view node);
    void concern_slots(const model::object_key& testbed, const std::vector<int>& positions);
    /// The nodes of one side's orders, records and pods.
    void concern_job(const model::batchjob& job);
    /// The nodes of the pods with these uids, for the Testbed and for those that share the nodes:
    /// a record of each came or went. `of_all_guests`: the nodes of all pods that say that they
    /// belong to the Testbed, too.
    void concern_records(const model::object_key& testbed,
                         const std::vector<std::string_view>& uids, bool of_all_guests);
    /// Those of the rows that differ.
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

/// A label of a node whose value is a number, as the index "number" files it. "01" is 1.
std::string numbered(std::string_view label, std::int64_t id);
/// Something of one Testbed, as indexes file it: "ns/tb@node-a", "ns/tb#17".
std::string in_testbed(const model::object_key& testbed, std::string_view kind,
                       std::string_view what);

}  // namespace esi::testbed
