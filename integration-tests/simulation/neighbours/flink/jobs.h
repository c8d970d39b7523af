// The JobManagers in their pods, each with its one job: it waits until all its TaskManagers have
// come, works for as long as its script says, fails or starts anew when one is lost, and ends. It
// lives and dies with the process in its pod (no high availability: a new process begins the job
// anew); the operator may come and go meanwhile. Owned by the model Flink operator, which tells it
// of changes of pods and asks it as the operator asks Flink's REST interface. Facts: Flink 1.17,
// standalone application mode, default scheduler.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "neighbours/job_script.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class flink_jobs : public std::enable_shared_from_this<flink_jobs> {
public:
    flink_jobs(surroundings& in, kubelet& nodes, json scripts);

    void noticed(const change& what);
    const json& scripts() const { return scripts_; }

    struct overview {
        /// CREATED also while tasks wait for their slots, as the operator counts it.
        std::string state;
        std::string id;
        wall_time started;
        std::string error;  ///< why it FAILED
    };
    /// Nothing: the JobManager of this cluster does not answer.
    std::optional<overview> ask(std::string_view ns, std::string_view cluster) const;
    /// PATCH ?mode=cancel. False: no JobManager answers, or the job has ended.
    bool cancel(std::string_view ns, std::string_view cluster);

private:
    struct job_manager {
        std::string ns;
        std::string cluster;
        std::string pod;
        std::string uid;
        std::string process;
        /// Null: it was gone when the process started.
        object_pointer deployment;
        job_script script;
        steady_time up;
        wall_time started;
        std::string state = "CREATED";
        std::string error;
        /// Processes of the TaskManagers that it runs on.
        std::set<std::string> on;
        std::optional<steady_time> working_since;
        std::size_t vanished = 0;
        bool look_due = false;
    };

    void start(const object_pointer& pod, std::string process);
    void soon(job_manager& of);
    void at(const job_manager& of, steady_time when);
    void look(const std::string& uid);
    std::vector<object_pointer> task_managers(const job_manager& of) const;
    void go_on(job_manager& of, const std::vector<object_pointer>& workers);
    void lose(job_manager& of, const std::vector<object_pointer>& workers);
    void fail(job_manager& of, std::string why);
    void set(job_manager& of, std::string state);
    const job_manager* find(std::string_view ns, std::string_view cluster) const;

    surroundings& in_;
    kubelet& nodes_;
    json scripts_;
    desk own_;
    random_source chance_;
    std::map<std::string, job_manager, std::less<>> all_;  // by the pod's uid
};

}  // namespace esi::simulation
