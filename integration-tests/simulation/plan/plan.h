// One run, written down: the cluster, what people do in it, and every fault with its time. A seed
// makes a plan (plan/generate.h), a plan makes a run (run/run.h); a plan can be kept as a file, cut
// down (plan/shrink.h), and read by people.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace esi::simulation {

/// The namespace of a hostile author, whose objects ask for what belongs to others.
inline constexpr const char* hostile_namespace = "mallory";

/// What the testbed operator's flag begins with.
inline constexpr int most_listed_by_default = 4000;

/// The testbed operator's flags --gang-reserve-after and --gang-reserve-for in plans with gangs.
inline constexpr seconds gang_reserve_after{60};
inline constexpr seconds gang_reserve_for{120};

using json = nlohmann::json;

/// Something that is done at a time. `what` and the keys of `with`: plan/happenings.md lists them.
struct happening {
    milliseconds at{0};
    std::string what;
    json with = json::object();

    bool operator==(const happening&) const = default;
};

struct plan {
    /// Feeds every chance of the run: delays, choices of neighbours.
    std::uint64_t seed = 0;
    /// One word for people and tables: "queue", "relaxed", "extension", ...
    std::string scenario;
    /// "gate" or "extender"
    std::string placement = "gate";
    /// Replicas of each operator.
    int replicas = 1;
    /// False: the API server knows no streaming lists (WatchList off), as many that are in use.
    bool streaming_lists = true;
    /// The API server gives no more objects than this in one page of a list, as if there were more
    /// of them than pages hold; 0: as many as the client asks for.
    int page_size = 0;
    /// The flag of the scheduling operator: Schedulings name jobs of other namespaces.
    bool cross_namespace_jobs = true;
    /// How the testbed operator writes layouts: "listed" or "compact"; "alternating": each of its
    /// processes that starts in the other form than the one that started before it.
    std::string layouts = "listed";
    /// The flag of the testbed operator: a Testbed with more slots has its rows in slices, of two
    /// slots each where this is less than what the flag begins with.
    int most_listed_slots = most_listed_by_default;
    /// Gangs: the testbed operator alone, with --gangs, PodGroups, and the controllers of members.
    bool gangs = false;
    /// Part of the undisturbed run as well: nodes, testbeds, jobs, Schedulings, extensions,
    /// deletions.
    std::vector<happening> workload;
    /// What must not change the end, or must be survived.
    std::vector<happening> faults;
    /// How the applications of jobs go, by the job's name (neighbours/job_script.h); without an
    /// entry: 20 s, to a good end.
    json scripts = json::object();
    /// After the last happening: everything must be still by then.
    milliseconds patience{30 * 60 * 1000};

    /// When the last happening is.
    milliseconds last() const;
    bool operator==(const plan&) const = default;
};

json to_json(const plan& what);
/// As kept plans are written: each happening and each script in a line of its own.
std::string to_text(const json& plan);
result<plan> plan_from_json(const json& from);

}  // namespace esi::simulation
