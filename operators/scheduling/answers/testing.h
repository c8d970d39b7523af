// Questions to a `world` of scheduling/testing.h: the view of one of its Schedulings, or of one
// that could be created in it, from plain objects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "scheduling/answers/preview.h"
#include "scheduling/answers/snapshot.h"
#include "scheduling/testing.h"

namespace esi::scheduling::answers {

inline snapshot snapshot_of(world& w) {
    return {w.schedulings,          w.testbeds, w.jobs, w.all_pods(), {},
            w.cross_namespace_jobs, w.policies};
}

/// The objects are those of the moment at which it was made.
struct question {
    question(world& w, std::shared_ptr<const model::scheduling> self)
        : of(snapshot_of(w)), v(view_of(of, std::move(self))) {}
    question(world& w, const std::string& name)
        : question(w, w.schedulings.at(world::key_of(name))) {}
    question(const question&) = delete;
    question& operator=(const question&) = delete;

    snapshot of;
    view v;
};

/// "a:0,2 b:1,3"
inline std::string show(const std::vector<start>& starts) {
    std::string out;
    for (const auto& each : starts) {
        out += (out.empty() ? "" : " ") + each.job.name + ":" + grid::show_slot_list(each.slot_ids);
    }
    return out;
}

inline std::string show_starts(const preview& seen) {
    std::string out;
    for (const auto& each : seen.starts) {
        out += (out.empty() ? "" : " ") + each.name + ":" + grid::show_slot_list(each.slots);
    }
    return out;
}

/// "SlotsNotFree, SlotOfJob"
inline std::string show(const std::vector<blocking>& list) {
    std::string out;
    for (const auto& each : list) out += (out.empty() ? "" : ", ") + each.reason;
    return out;
}

/// A run of `seconds` that has ended well.
inline model::run_record line(int seconds_long, std::vector<std::string> beside = {},
                              const std::string& testbed = "t") {
    model::run_record out;
    out.run = "old.1.1";
    out.testbed = world::key_of(testbed);
    out.started = model::timestamp{start_of_time - seconds(10'000)};
    out.stopped = model::timestamp{out.started->value + seconds(seconds_long)};
    out.outcome = "Succeeded";
    for (auto& job : beside) out.neighbours.push_back({"n", {"ns/" + job}});
    return out;
}

/// Records earlier runs of a job, which took so many seconds.
inline void record(world& w, const std::string& job, const std::vector<int>& took) {
    w.edit(w.jobs, world::key_of(job), [&](model::batchjob& j) {
        std::vector<model::run_record> lines;
        for (const int each : took) lines.push_back(line(each));
        j.status.runs.insert(j.status.runs.begin(), lines.begin(), lines.end());
    });
}

/// The run under way of a job began so many seconds ago.
inline void began(world& w, const std::string& job, int seconds_ago) {
    w.edit(w.jobs, world::key_of(job), [&](model::batchjob& j) {
        j.status.runs.back().started = model::timestamp{w.now - seconds(seconds_ago)};
    });
}

}  // namespace esi::scheduling::answers
