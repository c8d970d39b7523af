// The Spark programs in the driver pods that run: each makes its executors, replaces lost ones,
// works for as long as its script says, and ends. It lives and dies with its pod; the operator may
// come and go meanwhile. Owned by the model Spark operator, which tells it of changes of pods.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "neighbours/job_script.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class spark_programs : public std::enable_shared_from_this<spark_programs> {
public:
    spark_programs(surroundings& in, kubelet& nodes, json scripts);

    void noticed(const change& what);
    const json& scripts() const { return scripts_; }

private:
    struct program {
        std::string ns;
        std::string driver;
        std::string uid;
        object_pointer application;
        job_script script;
        steady_time started;
        steady_time next_round;
        std::optional<steady_time> working_since;
        std::size_t vanished = 0;
        int made = 0;
        std::set<std::string> failed;
        bool ending = false;
        bool look_due = false;
    };

    void start(const object_pointer& driver);
    void soon(program& of, steady_time::duration least, steady_time::duration most);
    void at(program& of, steady_time when);
    void look(const std::string& uid);
    std::vector<object_pointer> executors(const program& of) const;
    void make_executors(program& of, int missing);
    void work(program& of, const std::vector<object_pointer>& live, int running);
    void end(program& of, int code, bool orderly);
    void end_orphan(const object_pointer& executor);

    surroundings& in_;
    kubelet& nodes_;
    json scripts_;
    desk own_;
    random_source chance_;
    std::map<std::string, program, std::less<>> running_;  // by the driver's uid
};

}  // namespace esi::simulation
