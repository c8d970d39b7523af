// What the testbed operator watches, and which Testbeds a change of each thing concerns. Owned by
// the operator; read by its reconcile and its endpoints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/informer.h"
#include "testbed/extender.h"
#include "testbed/node_setup.h"
#include "testbed/view.h"

namespace esi::testbed {

class caches_of_testbeds final : public extender_facts {
public:
    /// Testbeds, BatchJobs and Schedulings of `namespaces` (none: all); nodes and pods of the whole
    /// cluster, as room is a matter of all pods.
    caches_of_testbeds(kube::client& api, clock& time, const std::vector<std::string>& namespaces);

    std::vector<controller::operator_part::cache> list();
    /// `enqueue` is called with the key of each Testbed that a change concerns.
    void on_change(std::function<void(const model::object_key&)> enqueue);
    void on_pod_change(std::function<void(const kube::change<model::pod>&)> listener);
    void feed(controller::write_gate& gate);

    testbed_pointer find_testbed(const model::object_key& key) const;
    std::vector<testbed_pointer> testbeds() const;
    std::vector<job_pointer> jobs() const;
    /// Everything that one Testbed's reconcile looks at.
    view observe(testbed_pointer testbed) const;
    bool synced() const;
    std::string hold_of(const model::object_key& testbed) const override;
    std::optional<seat> seat_of(const model::object_key& testbed, std::string_view run,
                                std::string_view pod_uid) const override;
    /// Each of these nodes with its pods.
    std::vector<node_view> with_pods(std::vector<model::node> nodes) const;

private:
    /// It carries the label of a Testbed.
    bool is_labelled(const model::node& node) const;
    void concern_node(const model::node& node);
    void concern_all();

    kube::informer<model::testbed> testbeds_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::scheduling> schedulings_;
    kube::informer<model::node> nodes_;
    kube::informer<model::pod> pods_;
    std::function<void(const model::object_key&)> enqueue_;
    bool all_namespaces_;
};

}  // namespace esi::testbed
