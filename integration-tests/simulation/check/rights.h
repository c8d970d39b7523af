// Rules of the chain of rights: layout, hold, assignment, order, application, placement. Each looks
// at one change, after the records have taken it.
#pragma once

#include "check/context.h"

namespace esi::simulation::checks {

class rights_rules {
public:
    explicit rights_rules(context& here) : here_(here), all_(here.all), out_(here.out) {}

    void testbed_changed(const testbed_record& before, const testbed_record& after);
    void testbed_gone(const testbed_record& before);
    void scheduling_changed(const scheduling_record& before, const scheduling_record& after);
    void scheduling_gone(const scheduling_record& before);
    void job_changed(const job_record& before, const job_record& after);
    void application_added(const application_record& made);

private:
    // Testbed
    void hold_names_its_holder(const testbed_record& after);
    void hold_is_set_once(const testbed_record& before, const testbed_record& after);
    void hold_is_of_a_ready_testbed(const testbed_record& before, const testbed_record& after);
    void hold_is_of_an_offered_testbed(const testbed_record& before, const testbed_record& after);
    void hold_is_removed_last(const testbed_record& before);
    void layout_is_frozen(const testbed_record& before, const testbed_record& after);
    void revision_counts_layouts(const testbed_record& before, const testbed_record& after);
    // Scheduling
    void epoch_rises(const scheduling_record& before, const scheduling_record& after);
    void assignments_only_grow_and_end(const scheduling_record& before,
                                       const scheduling_record& after);
    void assignment_is_new(const scheduling_record& before, const scheduling_record& after,
                           const model::assignment& given);
    void assignments_are_disjoint(const scheduling_record& after);
    void assignment_ends_without_pods(const scheduling_record& after,
                                      const model::assignment& ended);
    void coordinator_is_assigned(const scheduling_record& after, const model::assignment& given,
                                 const testbed_record& bed);
    void start_is_wanted(const scheduling_record& before, const model::assignment& given);
    void retry_follows_a_failure(const scheduling_record& before, const scheduling_record& after,
                                 const model::assignment& given);
    void order_of_starts_is_kept(const scheduling_record& after, const model::assignment& given);
    // BatchJob
    void job_is_acquired_when_ready(const job_record& before, const job_record& after);
    void job_is_released_by_its_holder(const job_record& before, const job_record& after);
    void order_follows_the_assignment(const job_record& before, const job_record& after);
    void placements_are_of_the_run(const job_record& before, const job_record& after);
    void ready_means_nothing_is_left(const job_record& after);
    void running_means_an_application_of_the_run(const job_record& after);
    void result_is_what_the_application_said(const job_record& before, const job_record& after);

    context& here_;
    records& all_;
    verdicts& out_;
};

}  // namespace esi::simulation::checks
