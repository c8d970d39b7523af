// What plans are made of: a cluster with its nodes, testbeds, jobs, Schedulings and strangers, put
// into the workload of a plan one by one. All objects are such as a user would write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/application_kinds.h"
#include "plan/plan.h"

namespace esi::simulation {

struct bed {
    std::string name = "grid";
    /// Label of its nodes.
    std::string label = "example.com/slots";
    /// Positions 0 .. nodes * slots_per_node - 1.
    int nodes = 2;
    int slots_per_node = 2;
    bool taint = true;

    int slots() const { return nodes * slots_per_node; }
};

struct job_name {
    std::string ns = "default";
    std::string name;
    json reference() const { return {{"namespace", ns}, {"name", name}}; }
    bool operator==(const job_name&) const = default;
};

/// A job and its slots, of a slot-based Scheduling.
struct placing {
    job_name job;
    std::vector<int> slots;
    json entry() const { return {{"name", job.reference()}, {"slotIds", slots}}; }
};

/// A job and how many slots it gets, of a Scheduling with a pool.
struct pooled {
    job_name job;
    int slots = 1;
    json entry() const { return {{"name", job.reference()}, {"slots", slots}}; }
};

/// Where below its spec a Scheduling has the jobs of its plan; nothing if it has none.
std::optional<json::json_pointer> list_of_jobs(const json& spec);

/// A manifest; globalDefault is false.
json priority_class(std::string_view name, int value, std::string_view policy = "Never");

/// Adds happenings to the workload of one plan. Times are those of the call.
class cast {
public:
    /// Namespaces, priority classes and a plain node, at 0.
    explicit cast(plan& to);

    void at(milliseconds when) { now_ = when; }
    milliseconds now() const { return now_; }
    void add(std::string what, json with);

    /// `labels`: label of a testbed -> its id there. Room for so many slots and a little more.
    void node(const std::string& name, const std::vector<std::pair<std::string, int>>& labels,
              int slots);
    /// The nodes worker-0.. of a bed.
    void workers(const bed& of);
    void testbed(const bed& what);
    void job(const job_name& name, int seconds, std::string_view end = "succeeds",
             const application_kind& kind = application_kinds().front());
    void queue(const std::string& name, const std::string& testbed,
               const std::vector<job_name>& entries, bool release = true);
    void pool(const std::string& name, const std::string& testbed, const std::vector<pooled>& jobs,
              bool release = true);
    void slots(const std::string& name, const std::string& testbed, std::string_view mode,
               const std::vector<placing>& jobs, bool release = true);
    /// Ordinary pods that want a slot's room on the nodes of the bed, as soon as its ghosts are
    /// bound.
    void strangers(const bed& near, int count, bool tolerate);
    /// An ordinary pod that fits nowhere: the scheduler tries it for ever.
    void giant(const bed& near);
    /// A deletion when a Scheduling of this name shows one of these states.
    void remove_when(const std::string& kind, const std::string& name,
                     const std::string& watched_kind, const std::string& watched, json states,
                     const std::string& ns = "default");

    static json when(const std::string& kind, const std::string& name, json states);

private:
    void create(json object);
    /// `member`: of the spec, which has the jobs.
    void scheduling(const std::string& name, const std::string& testbed, const char* member,
                    json jobs, bool release);

    plan& to_;
    milliseconds now_{0};
};

/// Pods that may sit down in a slot's room during a gap: they tolerate the taint, or there is none.
bool has_strangers_that_may_enter(const plan& what);

}  // namespace esi::simulation
