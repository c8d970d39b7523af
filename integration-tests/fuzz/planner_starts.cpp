// Which jobs start next. Oracles: the rules of the three modes, written down again and checked on
// the answer: slots disjoint, free and inside, no job twice, order kept, and no job that could
// start is left waiting. Input: a byte for each choice.
#include <algorithm>

#include "choices.h"
#include "scheduling/plan.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using namespace scheduling;
using model::object_key;

const std::string names[] = {"a", "b", "c", "d", "e", "f"};
const std::string modes[] = {"strict", "relaxed", ""};

model::scheduling make(choices& from) {
    model::scheduling out;
    out.metadata.namespace_ = "ns";
    if (from.one_in(3)) {
        auto& jobs = out.spec.pool_based.emplace().jobs;
        for (int n = from.upto(7); n > 0; --n)
            jobs.push_back({{"", from.pick(names)}, 1 + from.upto(3)});
        return out;
    }
    if (from.one_in(2)) {
        auto& spec = out.spec.slot_based.emplace();
        spec.mode = from.pick(modes);
        for (int n = from.upto(7); n > 0; --n) {
            model::slot_job job;
            job.name = {from.one_in(8) ? "other" : "", from.pick(names)};
            for (int k = from.upto(4); k >= 0; --k) job.slot_ids.push_back(from.upto(12) - 1);
            spec.jobs.push_back(std::move(job));
        }
    } else {
        auto& queue = out.spec.queue_based.emplace();
        for (int n = from.upto(16); n > 0; --n) {
            queue.push_back({from.one_in(8) ? "other" : "", from.pick(names)});
        }
    }
    return out;
}

next_starts plan_next(const plan& of, const std::set<object_key>& startable,
                      const std::set<object_key>& started, const std::set<int>& free) {
    return of.chosen->next(of, {startable, started}, free_slots(free));
}

/// Whether a queue can be worked off: again and again the job at its head takes all its entries
/// away, the last of which must stand within the slots.
bool reaches(const plan& of, std::ptrdiff_t slots) {
    if (of.chosen != &queue_policy()) return true;
    auto left = of.entries;
    while (!left.empty()) {
        const auto head = left.front();
        const auto last = std::ranges::find(left.rbegin(), left.rend(), head);
        if (std::distance(last, left.rend()) > slots) return false;
        std::erase(left, head);
    }
    return true;
}

void check_plan(const plan& got, const model::scheduling& of) {
    std::set<object_key> seen;
    for (const auto& job : got.jobs) {
        require(seen.insert(job.name).second, "{} is planned twice", job.name.text());
        require(!job.name.namespace_.empty(), "a job without namespace");
        require(got.find(job.name) == &job, "{} is not found", job.name.text());
        if (got.chosen == &queue_policy()) {
            require(job.slots_wanted == std::ranges::count(got.entries, job.name),
                    "{} wants {} slots", job.name.text(), job.slots_wanted);
        } else if (got.chosen != &pool_policy()) {
            require(job.slots_wanted == static_cast<int>(job.slot_ids.size()), "{} wants {} slots",
                    job.name.text(), job.slots_wanted);
        }
    }
    if (of.spec.queue_based) {
        require(got.entries.size() == of.spec.queue_based->size(), "entries are lost");
    }
    const bool fits = std::ranges::all_of(got.jobs, [](const auto& job) {
        return job.slots_wanted <= 8 &&
               std::ranges::all_of(job.slot_ids, [](int id) { return id >= 0 && id < 8; });
    });
    require(!problem_of(got, 8) == (fits && reaches(got, 8)), "misfit is wrong");
}

struct checked {
    const plan& of;
    const std::set<object_key>& startable;
    const std::set<object_key>& started;
    std::set<int> free;
    const next_starts& got;

    const start* start_of(const object_key& name) const {
        const auto found = std::ranges::find(got.starts, name, &start::job);
        return found == got.starts.end() ? nullptr : &*found;
    }
    void run() {
        std::set<object_key> seen;
        std::set<int> given;
        for (const auto& each : got.starts) {
            require(seen.insert(each.job).second, "{} starts twice", each.job.text());
            require(startable.contains(each.job), "{} is not startable", each.job.text());
            require(of.find(each.job) != nullptr, "{} is not in the plan", each.job.text());
            require(std::ranges::is_sorted(each.slot_ids), "slots are not ascending");
            for (int id : each.slot_ids) {
                require(free.contains(id), "slot {} is not free", id);
                require(given.insert(id).second, "slot {} is given twice", id);
            }
        }
        for (const auto& each : got.waits) {
            require(seen.insert(each.job).second, "{} starts and waits, or waits twice",
                    each.job.text());
            require(of.find(each.job) != nullptr, "{} is not in the plan", each.job.text());
            require((each.why == slot_blocker::kind::job_before) == !each.before.name.empty(),
                    "{} waits for nobody", each.job.text());
        }
        if (of.chosen == &queue_policy()) {
            queue();
        } else if (of.chosen == &pool_policy()) {
            pool();
        } else {
            slots(of.chosen == &strict_policy());
        }
    }
    /// The entry at place i of what is left takes the i-th free slot.
    void queue() const {
        std::vector<int> row(free.begin(), free.end());
        std::size_t place = 0;
        std::map<object_key, std::vector<int>> wanted;
        std::set<object_key> incomplete;
        for (const auto& entry : of.entries) {
            if (!startable.contains(entry)) continue;
            if (place < row.size()) {
                wanted[entry].push_back(row[place]);
            } else {
                incomplete.insert(entry);
            }
            ++place;
        }
        bool stopped = false;
        for (const auto& job : of.jobs) {
            if (!startable.contains(job.name)) {
                require(start_of(job.name) == nullptr, "{} starts", job.name.text());
                continue;
            }
            stopped = stopped || incomplete.contains(job.name);
            const auto* begun = start_of(job.name);
            require((begun == nullptr) == stopped, "{} {}", job.name.text(),
                    stopped ? "starts before its turn" : "does not start");
            if (begun != nullptr) {
                require(begun->slot_ids == wanted[job.name], "{} has other slots", job.name.text());
            }
        }
    }
    /// Each job takes the lowest free slots if there are enough for it.
    void pool() {
        for (const auto& job : of.jobs) {
            if (!startable.contains(job.name)) continue;
            const auto* begun = start_of(job.name);
            const bool enough = std::ssize(free) >= job.slots_wanted;
            require((begun != nullptr) == enough, "{} {}", job.name.text(),
                    enough ? "does not start" : "starts");
            if (begun == nullptr) continue;
            const std::vector<int> lowest(free.begin(), std::next(free.begin(), job.slots_wanted));
            require(begun->slot_ids == lowest, "{} has other slots", job.name.text());
            for (int id : lowest) free.erase(id);
        }
    }
    void slots(bool strict) {
        bool stopped = false;
        for (const auto& job : of.jobs) {
            if (started.contains(job.name)) {
                require(start_of(job.name) == nullptr, "{} starts again", job.name.text());
                continue;
            }
            const bool ready = startable.contains(job.name);
            const bool open =
                std::ranges::all_of(job.slot_ids, [&](int id) { return free.contains(id); });
            const bool starts = ready && open && !stopped;
            const auto* begun = start_of(job.name);
            require((begun != nullptr) == starts, "{} {}", job.name.text(),
                    starts ? "does not start" : "starts");
            if (!starts && strict) stopped = true;
            if (begun == nullptr) continue;
            auto wanted = job.slot_ids;
            std::ranges::sort(wanted);
            require(begun->slot_ids == wanted, "{} has other slots", job.name.text());
            for (int id : wanted) free.erase(id);
        }
    }
};

void planner_starts(std::string_view input) {
    choices from(input);
    const auto object = make(from);
    const auto wants = plan_of(object);
    check_plan(wants, object);
    if (wants.wrong) return;
    // What the CRD refuses and claims rule out: a slot twice in one job.
    for (const auto& job : wants.jobs) {
        const std::set<int> different(job.slot_ids.begin(), job.slot_ids.end());
        if (different.size() != job.slot_ids.size()) return;
    }
    std::set<object_key> startable;
    std::set<object_key> started;
    for (const auto& job : wants.jobs) {
        const int state = from.upto(4);
        if (state == 1) started.insert(job.name);
        if (state == 0 || state == 3) startable.insert(job.name);
    }
    std::set<int> free;
    for (int id = 0; id < 12; ++id) {
        if (!from.one_in(3)) free.insert(id);
    }
    const auto got = plan_next(wants, startable, started, free);
    const auto again = plan_next(wants, startable, started, free);
    require(got.starts == again.starts && got.waits == again.waits, "not a function of its input");
    checked{wants, startable, started, free, got}.run();
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(planner_starts, esi::fuzz::planner_starts)
