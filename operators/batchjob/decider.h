// One step of the state machine of a BatchJob: a view, the status that is worked out of it, and the
// rules, each a member function. A class, because nearly every rule reads the view and changes the
// wanted status; README.md says what the files decider_*.cpp hold. Lives for one call of decide()
// and keeps references to its arguments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batchjob/decision.h"
#include "model/conditions.h"

namespace esi::batchjob {

namespace condition_type = model::condition_type;
namespace reasons = model::condition_reason;

class decider {
public:
    decider(const view& seen, wall_time now);
    /// Call it once.
    decision run();

private:
    // decider.cpp: which of the three situations the job is in, and the parts that all of them
    // share.
    /// The job has no order of a Scheduling that counts.
    void unassigned();
    /// The order's run has started, or may start now.
    void assigned(const model::creation_request& order);
    /// The order's run has ended, or the job had failed before: the leftovers are deleted, the
    /// state is kept.
    void after_end(const model::creation_request& order);
    /// The order to start, if it counts: the job is acquired, the order has a run token, and both
    /// are of one Scheduling. Else null; if there is an order, its problem is reported.
    const model::creation_request* find_order();
    bool order_is_assigned(const model::creation_request& order);
    bool was_just_assigned(const model::creation_request& order) const;
    void show_assignment(const model::creation_request& order);
    void release_by_others(const model::run_record& line);
    void apply_reset();
    bool needs_proof_of_absence() const;
    bool kind_may_have_changed() const;
    bool about_to_start() const;
    void describe();
    const application* app() const;
    bool ours(const application* app) const;
    std::vector<pod_pointer> pods_of(std::string_view run, pod_role role) const;
    bool is_member(const pod_pointer& pod, pod_role role) const;
    /// The slot of the coordinator among the slots of an order or of a line of status.runs; nothing
    /// if the coordinator stays off the testbed.
    std::optional<int> slot_of_coordinator(std::span<const int> slots, std::string_view run) const;
    /// The slots of the workers among these.
    std::vector<int> slots_of_workers(std::span<const int> slots, std::string_view run) const;
    /// The pods of the order's run that take its slots: workers, and the coordinator if the order
    /// has a slot for it.
    std::vector<pod_pointer> pods_in_slots(const model::creation_request& order) const;
    /// The layout of the Testbed as the cache has it; null if there is none.
    const model::testbed_layout* layout() const;
    /// Jobs that this job's status may name.
    neighbour_names nameable() const { return {job_.metadata.namespace_, seen_.names_all_jobs}; }
    bool failed() const;
    bool final() const;
    void set_condition(std::string_view type, std::string_view status, std::string_view reason,
                       std::string_view message);
    void add_problem(std::string text) { problems_.push_back(std::move(text)); }
    /// The problem that is the reason of the state: it is listed before the others.
    void set_reason(std::string_view reason, const std::string& text);
    void read_application_first();
    /// Reconciles again after this time at the latest.
    void reconcile_in(std::chrono::microseconds time);
    void hold_back(milliseconds time);
    /// Sets status.application; null: there is none.
    void name_application(const application* app);
    model::timestamp stamp() const { return {now_}; }
    /// True: less than `patience` since `time`, which another clock than the API server's wrote (a
    /// kubelet's, an application operator's). A time that is further ahead does not count.
    bool is_near(wall_time time, seconds patience) const {
        return std::chrono::abs(now_ - time) < patience;
    }
    /// The text of the application spec in the job's spec; null if its kind is not known.
    const model::raw_json* spec() const;
    std::string spec_hash_now() const;
    /// The field's name in texts for people.
    std::string_view spec_field() const;
    std::string backend_missing() const;

    // decider_leftovers.cpp: the leftovers of an ended or released run.
    bool is_handed_back(const application& app) const;
    bool is_handed_back(const model::pod& pod) const;
    bool is_leftover(const model::pod& pod) const;
    void clear_assignment();
    void drop_ended_placements();
    bool coordinator_may_stay(const model::pod& pod);
    void remove_leftovers(std::string_view keep_run, bool application_stays);
    void report_stuck_deletion(const model::object_meta& meta);
    std::string why_it_stays(const model::pod& pod, const model::timestamp& deleted) const;
    void report_stuck_pods();
    bool is_only_kept(const application& app) const;

    // decider_launch.cpp: from the order to the application.
    struct launch_problem {
        std::string_view reason;
        std::string text;
    };
    void launch(const model::creation_request& order);
    std::optional<launch_problem> judge_launch() const;
    bool testbed_is_ready();
    std::optional<launch_problem> judge_slots(const model::creation_request& order) const;
    std::optional<spec_problem> judge_size(const build_request& request) const;
    bool is_sized_by_slot() const;
    build_request request_for(const model::creation_request& order) const;
    void report_refused_create(const model::creation_request& order, const error& refused);

    // decider_progress.cpp: a run under way, from its first pod on.
    struct slot_pods {
        std::vector<pod_pointer> all;    ///< pods_in_slots() of the present attempt
        std::vector<pod_pointer> bound;  ///< those of them that are placed and bound
        std::size_t placed = 0;          ///< entries of status.placements that count
        std::size_t running = 0;
    };
    std::string pod_larger_than_its_slots(const model::creation_request& order) const;
    void progress(const model::creation_request& order, const application& app);
    void delete_pods_of_other_runs(const model::creation_request& order);
    bool mark_workers(const model::creation_request& order, const application& app);
    bool record_placements(const model::creation_request& order);
    void report_foreign_pods(const model::creation_request& order);
    void withdraw_result(model::run_record& line, const application& app) const;
    slot_pods count_pods(const model::run_record& line, std::vector<pod_pointer> all,
                         bool again) const;
    void advance(model::run_record& line, const slot_pods& pods, const application& app,
                 std::size_t wanted);
    void report_application(const application& app);

    // decider_waits.cpp: the waits of a run under way, and their time-outs.
    struct absence {
        std::string_view reason;
        std::string text;
        wall_time since;
    };
    void report_scheduling(const model::creation_request& order, std::size_t bound);
    void report_unschedulable_coordinators(const std::vector<pod_pointer>& coordinators);
    bool report_absent_scheduler(const std::vector<pod_pointer>& pods);
    bool report_rejected_pod(const std::vector<pod_pointer>& pods);
    std::optional<absence> absence_of_pods(const model::creation_request& order,
                                           const application& app, std::size_t placed) const;
    std::string describe_missing_workers(const model::creation_request& order,
                                         std::size_t placed) const;
    void check_timeouts(const model::creation_request& order, const application& app,
                        std::size_t placed, std::size_t bound);
    void check_submit_timeout(const model::creation_request& order, const application& app,
                              std::size_t placed, wall_time submitted);
    std::optional<wall_time> unseen_since(const model::pod& pod) const;
    std::string describe_pod(const model::pod& pod) const;
    std::string describe_unbound() const;

    // decider_end.cpp: how the line of a run (status.runs) begins and ends.
    //
    //   start_run        the first time that the run's application is seen: its line is added
    //   start_attempt    its operator has started it again: the line is closed, one more is added
    //   fail_launch      no application could be created: FailedSubmission
    //   fail_run         ESI ends the run (time-out, deleted application): Failed
    //   close_with_...   the application has ended by itself: Completed or Failed, as it reports
    //   close_run        what all of these have in common
    void start_run(const model::creation_request& order, const application& app);
    /// True: the application is in its second attempt or a later one.
    bool start_attempt(const model::creation_request& order, const application& app);
    void fail_launch(const model::creation_request& order, std::string_view reason,
                     std::string message);
    void fail_run(std::string_view reason, std::string message);
    /// True: the run has lasted longer than the job's spec allows, and is closed.
    bool fail_when_overdue(const model::creation_request& order);
    /// True: the application has ended. The run is closed, or its line has the result already and
    /// waits a moment for the coordinator's pod, which knows the exact end.
    bool close_when_final(const model::creation_request& order, const application& app);
    bool ends_unproven() const;
    /// Closes with the result that the application (null: it does not exist any more) reports or
    /// has last reported. False: it never reported one, and nothing is closed.
    bool close_with_last_result(std::string_view run, const application* there);
    void close_with_result(std::string_view run, const application& app);
    void close_run(std::string_view outcome, std::string_view reason, std::string message,
                   model::timestamp stopped);
    model::timestamp end_time_of(std::string_view run, const application& app) const;
    pod_pointer newest_coordinator(std::string_view run) const;
    std::string describe_deaths(const model::run_record& line) const;

    // decider_check.cpp: the early dry run of the job's spec.
    void check();

    // decider_summary.cpp: the job at one glance.
    struct verdict {
        std::string_view status;
        std::string reason;
        std::string text;
    };
    verdict fits() const;
    std::optional<verdict> start_problem() const;
    bool waits_to_be_started() const;
    verdict startable() const;
    void report_problems();
    void report_failure(const std::optional<verdict>& against);
    void summarize();

    const view& seen_;
    const wall_time now_;
    const model::batchjob& job_;
    decision out_;
    model::batchjob_status& status_;
    std::vector<std::string> problems_;
    /// status.reason unless a failure sets it.
    std::string reason_;
    std::string reason_text_;
};

}  // namespace esi::batchjob
