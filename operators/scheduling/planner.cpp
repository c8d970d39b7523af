#include "scheduling/planner.h"

#include <algorithm>
#include <map>

namespace esi::scheduling {

namespace {

using model::object_key;
using keys = std::set<object_key>;

next_starts next_of_queue(const plan& of, const keys& startable, const std::set<int>& free) {
    struct claim {
        std::vector<int> slots;
        bool complete = true;
    };
    std::map<object_key, claim> claims;
    auto slot = free.begin();
    for (const auto& entry : of.entries) {
        if (!startable.contains(entry)) continue;
        auto& mine = claims[entry];
        if (slot == free.end()) {
            mine.complete = false;
        } else {
            mine.slots.push_back(*slot++);
        }
    }
    next_starts out;
    const object_key* held_up = nullptr;
    for (const auto& job : of.jobs) {
        auto found = claims.find(job.name);
        if (found == claims.end()) continue;
        if (held_up != nullptr) {
            out.waits.push_back({job.name, hindrance::kind::job_before, {}, *held_up});
        } else if (!found->second.complete) {
            held_up = &job.name;
            out.waits.push_back({job.name, hindrance::kind::too_few_free, {}, {}});
        } else {
            out.starts.push_back({job.name, std::move(found->second.slots)});
        }
    }
    return out;
}

next_starts next_of_slots(const plan& of, const keys& startable, const keys& started,
                          std::set<int> free) {
    next_starts out;
    const object_key* held_up = nullptr;
    for (const auto& job : of.jobs) {
        if (started.contains(job.name)) continue;
        if (held_up != nullptr) {
            out.waits.push_back({job.name, hindrance::kind::job_before, {}, *held_up});
            continue;
        }
        const bool strict = of.mode == plan_mode::strict;
        if (!startable.contains(job.name)) {
            if (!strict) continue;
            held_up = &job.name;
            out.waits.push_back({job.name, hindrance::kind::not_ready, {}, {}});
            continue;
        }
        auto slots = job.slot_ids;
        std::ranges::sort(slots);
        std::vector<int> taken;
        std::ranges::copy_if(slots, std::back_inserter(taken),
                             [&](int id) { return !free.contains(id); });
        if (!taken.empty()) {
            if (strict) held_up = &job.name;
            out.waits.push_back({job.name, hindrance::kind::slots_taken, std::move(taken), {}});
            continue;
        }
        for (int id : slots) free.erase(id);
        out.starts.push_back({job.name, std::move(slots)});
    }
    return out;
}

}  // namespace

next_starts plan_next(const plan& of, const keys& startable, const keys& started,
                      const std::set<int>& free) {
    if (of.mode == plan_mode::queue) return next_of_queue(of, startable, free);
    return next_of_slots(of, startable, started, free);
}

}  // namespace esi::scheduling
