// The watches of the scheduling operator, their indexes, and which change enqueues which key. Owned
// by the operator; all else reads from it. Only the watches write.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "grid/grid.h"
#include "grid/slot_table.h"
#include "kube/watch/informer.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"
#include "scheduling/live_facts.h"
#include "scheduling/plan.h"

namespace esi::scheduling {

class caches {
public:
    /// The queues that take the keys of objects that a change concerns.
    struct queues {
        std::function<void(const model::object_key&)> scheduling;
        /// A Testbed, or a BatchJob, whose holder may be gone.
        std::function<void(const model::object_key&)> testbed_orphan;
        std::function<void(const model::object_key&)> job_orphan;
    };

    /// Watches objects of `namespaces` alone (none: all); of pods those with the label of a
    /// Testbed. `api` and `time` outlive the caches.
    caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces);

    /// Drops from a pod what neither decisions nor the interfaces read.
    static void trim(model::pod& pod);

    /// For the process, which fills them.
    std::vector<controller::operator_part::cache> list();
    /// From now on every change enqueues the keys that it concerns.
    void on_change(queues into);
    /// `gate` holds an object back until these caches show its last write.
    void feed(controller::write_gate& gate);
    /// Enqueues the Schedulings that let this one go first.
    void enqueue_younger(const model::object_key& than) const;

    const kube::store<model::scheduling>& schedulings() const { return schedulings_.items(); }
    kube::store<model::scheduling>& schedulings() { return schedulings_.items(); }
    const kube::store<model::testbed>& testbeds() const { return testbeds_.items(); }
    kube::store<model::testbed>& testbeds() { return testbeds_.items(); }
    const kube::store<model::batchjob>& jobs() const { return jobs_.items(); }
    kube::store<model::batchjob>& jobs() { return jobs_.items(); }
    const kube::store<model::pod>& pods() const { return pods_.items(); }
    kube::store<model::pod>& pods() { return pods_.items(); }
    /// Slices with the rows of large Testbeds.
    kube::store<model::slot_slice>& slices() { return slices_.items(); }

    /// Keys of the jobs whose activeScheduling has this name.
    std::vector<model::object_key> jobs_naming(const model::object_key& scheduling) const;
    /// The contents of the slots of a Testbed, kept up with every change; never null.
    std::shared_ptr<const grid::slot_table> slots_of(const model::object_key& testbed) const;
    /// How many slots of all Testbeds were read so far.
    std::uint64_t slots_read() const { return *slots_read_; }
    /// Schedulings that name this Testbed or one of the jobs of `wants`, in the order of their
    /// keys.
    std::vector<std::shared_ptr<const model::scheduling>> sharing(const model::object_key& testbed,
                                                                  const plan& wants) const;
    /// Jobs that a Scheduling has or had under way, by its uid: their right, order or application
    /// names it.
    objects<model::batchjob> jobs_of_holder(std::string_view scheduling_uid) const;
    /// Jobs whose placements are in the Testbed.
    objects<model::batchjob> jobs_placed_in(const model::object_key& testbed) const;

private:
    void scheduling_changed(const kube::change<model::scheduling>& what) const;
    void testbed_changed(const kube::change<model::testbed>& what) const;
    void job_changed(const kube::change<model::batchjob>& what) const;
    void pod_changed(const kube::change<model::pod>& what) const;
    /// The slots of the Testbed have changed, though none of its pods and jobs has.
    void rows_changed(const model::object_key& testbed) const;
    /// Enqueues all Schedulings that want something that this one wants.
    void enqueue_rivals(const model::scheduling& of) const;
    void enqueue_by(std::string_view index, const model::object_key& key) const;
    /// Enqueues the Testbeds whose hold is of one of these Schedulings, and may be an orphan's.
    void enqueue_held_by(const std::set<std::string>& scheduling_uids) const;

    void keep_tables();
    void keep_slices();
    grid::slot_table& table_of(const model::object_key& testbed);
    void drop_if_empty(const model::object_key& testbed);

    kube::informer<model::scheduling> schedulings_;
    kube::informer<model::testbed> testbeds_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::pod> pods_;
    kube::informer<model::slot_slice> slices_;
    const clock& time_;
    queues into_;
    std::shared_ptr<std::uint64_t> slots_read_ = std::make_shared<std::uint64_t>(0);
    std::map<model::object_key, std::shared_ptr<grid::slot_table>> tables_;
};

}  // namespace esi::scheduling
