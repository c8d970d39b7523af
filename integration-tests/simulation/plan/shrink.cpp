#include "plan/shrink.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace esi::simulation {

namespace {

class shrinker {
public:
    shrinker(plan failing, const std::function<bool(const plan&)>& still_fails, int tries)
        : best_(std::move(failing)), still_fails_(still_fails), tries_(tries) {}

    plan run() {
        // Until a whole turn brings nothing: what is left may have been needed by what is gone.
        for (plan before = best_;; before = best_) {
            cut(&plan::faults);
            cut(&plan::workload);
            drop_scripts();
            simplify();
            round_times(&plan::faults);
            round_times(&plan::workload);
            shorten();
            if (best_ == before || tries_ <= 0) return best_;
        }
    }

private:
    /// What every installation has. Without it a plan may go red by the same rule for a reason that
    /// has nothing to do with what it is shrunk for.
    static bool is_stage(const happening& step) {
        if (step.what != "create" || !step.with.contains("object")) return false;
        const auto kind = step.with.at("object").value("kind", "");
        return kind == "Namespace" || kind == "PriorityClass";
    }

    bool try_it(plan candidate) {
        if (tries_ <= 0 || candidate == best_) return false;
        --tries_;
        if (!still_fails_(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }

    /// Delta debugging (Zeller and Hildebrandt): leaves out ever smaller pieces.
    void cut(std::vector<happening> plan::* list) {
        for (std::size_t piece = (best_.*list).size(); piece > 0; piece /= 2) {
            // From the end: what comes later depends on what was before.
            std::size_t end = (best_.*list).size();
            while (end > 0 && tries_ > 0) {
                const std::size_t from = end > piece ? end - piece : 0;
                plan candidate = best_;
                auto& all = candidate.*list;
                const auto cut_end = all.begin() + static_cast<std::ptrdiff_t>(end);
                all.erase(std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(from), cut_end,
                                         std::not_fn(is_stage)),
                          cut_end);
                try_it(std::move(candidate));
                end = from;
            }
        }
    }

    void drop_scripts() {
        std::vector<std::string> names;
        for (const auto& [name, script] : best_.scripts.items()) names.push_back(name);
        for (const auto& name : names) {
            plan candidate = best_;
            candidate.scripts.erase(name);
            try_it(std::move(candidate));
        }
    }

    void simplify() {
        plan candidate = best_;
        candidate.replicas = 1;
        try_it(std::move(candidate));
        candidate = best_;
        candidate.placement = "gate";
        try_it(std::move(candidate));
        candidate = best_;
        candidate.layouts = "listed";
        try_it(std::move(candidate));
        candidate = best_;
        candidate.page_size = 0;
        try_it(candidate);
        candidate.streaming_lists = true;
        try_it(std::move(candidate));
        candidate = best_;
        candidate.most_listed_slots = most_listed_by_default;
        try_it(std::move(candidate));
        // The chances of the run: a small seed is as good.
        candidate = best_;
        candidate.seed = 1;
        try_it(std::move(candidate));
    }

    void round_times(std::vector<happening> plan::* list) {
        for (std::size_t i = 0; i < (best_.*list).size(); ++i) {
            for (const std::int64_t unit : {1000, 100, 10}) {
                plan candidate = best_;
                auto& at = (candidate.*list)[i].at;
                at = milliseconds(at.count() / unit * unit);
                if (try_it(std::move(candidate))) break;
            }
        }
    }

    /// Numbers of the faults (delays, counts) as small and as round as may be.
    void shorten() {
        for (std::size_t i = 0; i < best_.faults.size(); ++i) {
            std::vector<std::string> keys;
            for (const auto& [key, value] : best_.faults[i].with.items()) {
                if (value.is_number_integer()) keys.push_back(key);
            }
            for (const auto& key : keys) {
                const auto now = best_.faults[i].with.at(key).get<std::int64_t>();
                for (const std::int64_t smaller : {std::int64_t{0}, now / 2, now / 1000 * 1000,
                                                   now / 100 * 100, now / 10 * 10}) {
                    if (smaller == now) continue;
                    plan candidate = best_;
                    candidate.faults[i].with[key] = smaller;
                    if (try_it(std::move(candidate))) break;
                }
            }
        }
    }

    plan best_;
    const std::function<bool(const plan&)>& still_fails_;
    int tries_;
};

}  // namespace

plan shrink(const plan& what, const std::function<bool(const plan&)>& still_fails, int tries) {
    return shrinker(what, still_fails, tries).run();
}

}  // namespace esi::simulation
