// One run through the state machine: the view, the status that is being worked out, and the parts
// that decide.cpp, launch.cpp, progress.cpp, spec_check.cpp and summary.cpp add to it. Lives for
// one call of decide().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchjob/decide.h"

namespace esi::batchjob {

class pass {
public:
    pass(const view& seen, wall_time now);
    decision run();

private:
    // decide.cpp
    void unassigned();
    void over(const model::creation_request& order);
    void assigned(const model::creation_request& order);
    bool was_given(const model::creation_request& order);
    void clear_assignment();
    void drop_ended_placements();
    void take_reset();
    bool needs_proof_of_absence() const;
    bool kind_may_have_changed() const;
    bool about_to_start() const;
    void remove_leftovers(std::string_view keep_run, bool application_stays);
    bool coordinator_may_stay(const model::pod& pod);
    void tell_who_keeps(const model::object_meta& meta);
    void describe();

    // launch.cpp
    void launch(const model::creation_request& order);
    void fail_submission(const model::creation_request& order, std::string_view reason,
                         std::string message);

    // progress.cpp
    void progress(const model::creation_request& order, const application& app);
    void begin(const model::creation_request& order, const application& app);
    bool begin_attempt(const model::creation_request& order, const application& app);
    bool finish_when_final(const model::creation_request& order, const application& app);
    bool finish_as_told(std::string_view run, const application* there);
    void finish(std::string_view run, const application& app);
    bool end_when_overdue(const model::creation_request& order);
    void watch_deadlines(const model::creation_request& order, const application& app,
                         std::size_t placed, std::size_t bound);
    struct absence {
        std::string_view reason;
        std::string text;
        wall_time since;
    };
    std::optional<absence> absence_of_pods(const model::creation_request& order,
                                           const application& app, std::size_t placed) const;
    std::string show_deaths(const model::run_record& line) const;
    void watch_schedulers(const model::creation_request& order, std::size_t bound);
    model::timestamp end_of(std::string_view run, const application& app) const;
    void fail(std::string reason, std::string message);
    void end(std::string_view outcome, std::string_view reason, std::string message,
             model::timestamp stopped);
    std::string show_pod(const model::pod& pod) const;
    std::string unbound_words() const;

    // spec_check.cpp
    void check();

    // summary.cpp
    struct verdict {
        std::string_view status;
        std::string reason;
        std::string text;
    };
    verdict fits() const;
    std::optional<verdict> obstacle() const;
    bool waits_to_be_started() const;
    verdict startable() const;
    void tell_problems();
    void tell_failure(const std::optional<verdict>& against);
    void summarize();

    // Shared.
    const application* app() const;
    bool ours(const application* app) const;
    std::vector<pod_pointer> pods_of(std::string_view run, pod_role role) const;
    bool is_member(const pod_pointer& pod, pod_role role) const;
    bool is_left(const model::pod& pod) const;
    void tell_foreign_pods(const model::creation_request& order);
    bool failed() const;
    bool final() const;
    void set(std::string_view type, std::string_view status, std::string_view reason,
             std::string_view message);
    void problem(std::string text) { problems_.push_back(std::move(text)); }
    /// The problem that is the reason of the state: it is told before the others.
    void blame(std::string_view reason, const std::string& text) {
        reason_ = reason;
        reason_text_ = text;
        problem(text);
    }
    void look_again(std::chrono::microseconds time);
    void hold_back(milliseconds time);
    void refer(const application* app);
    model::timestamp stamp() const { return {now_}; }
    /// Ends `patience` after a time that other clocks than the API server's wrote (kubelets, Spark's
    /// operator): one that is further ahead than that is not waited for.
    bool is_near(wall_time time, seconds patience) const {
        return std::chrono::abs(now_ - time) < patience;
    }
    std::optional<wall_time> unseen_since(const model::pod& pod) const;
    std::string backend_missing() const;

    const view& seen_;
    wall_time now_;
    const model::batchjob& job_;
    decision out_;
    model::batchjob_status& status_;
    std::vector<std::string> problems_;
    /// status.reason while nothing has failed.
    std::string reason_;
    std::string reason_text_;
};

}  // namespace esi::batchjob
