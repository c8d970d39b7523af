// Rules for the end: what holds when the faults have ended and nothing moves any more. Looks at the
// records once. What people edited excuses nothing here: it is mended or told by then. But what a
// Scheduling's or a BatchJob's status alone remembers is lost with it.
#pragma once

#include "check/context.h"

namespace esi::simulation::checks {

class rest_rules {
public:
    /// `objects`: for what the records do not keep (what is still being deleted).
    rest_rules(context& here, const storage& objects)
        : all_(here.all), out_(here.out), objects_(objects) {}

    void judge();

private:
    void nothing_is_being_deleted();
    void holds_have_holders();
    void jobs_name_who_exists();
    void schedulings_rest_for_a_reason(const model::scheduling& who);
    void reason_is_true(const model::scheduling& who);
    void who_waits_holds_nothing(const model::scheduling& who);
    /// The node is there and not ready: its kubelet tells nothing.
    bool is_silent(const std::string& node) const;
    /// A pod whose run begins so is being deleted on such a node.
    bool a_pod_cannot_end(std::string_view of) const;
    void end_is_under_way(const model::scheduling& who, const model::assignment& given);
    void assignments_have_ended(const model::scheduling& who);
    void no_start_is_withheld(const model::scheduling& who);
    void no_pod_is_left_over(const pod_record& pod);
    void no_application_is_left_over(const application_record& app);
    void no_pod_waits_for_nothing(const pod_record& pod);
    void layout_is_current(const testbed_record& bed);
    /// Another Testbed has its label on that node.
    bool wanted_by_others(const std::string& node, const model::testbed& than) const;
    void slots_are_filled(const testbed_record& bed);
    void nobody_younger_is_in_the_way(const testbed_record& bed);
    /// The ghost of a slot that is assigned to no job, of a Testbed younger than that.
    bool is_free_ghost_of_younger(const pod_record& pod, const model::testbed& than) const;
    void taints_are_where_they_belong();
    void testbed_tells_the_truth(const testbed_record& bed);
    /// Those that it owns are believed: of its layout, none too many.
    void slices_are_those_of(const model::testbed& bed);
    void job_tells_the_truth(const model::batchjob& job);

    /// A slot's room on a node beside everybody who is there but the Testbed's own pods.
    bool has_room(const testbed_record& bed, const place& where) const;
    bool may_start(const model::scheduling& who, const model::object_key& name) const;
    std::set<int> free_slots_of(const model::testbed& bed) const;
    bool healthy(const model::testbed& bed, const std::string& node) const;
    /// The assignment that has not ended and counts; null when there is none.
    const model::assignment* counting(std::string_view run) const;

    records& all_;
    verdicts& out_;
    const storage& objects_;
};

}  // namespace esi::simulation::checks
