// Faults that lie in wait for what comes by: each lets some pass and then hits some.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace esi::simulation {

/// `Fault` has `int passing` (how many pass before it) and `int times` (how many it then hits).
template <class Fault>
class faults_in_wait {
public:
    void add(Fault one) { waiting_.push_back(std::move(one)); }
    /// One comes by that concerns those for which `concerns(fault)` holds: the fault that hits it.
    /// It counts for the others as one that passes; each is hit by one fault at most.
    template <class Concerns>
    std::optional<Fault> meet(Concerns concerns) {
        std::optional<Fault> out;
        for (auto& one : waiting_) {
            if (!concerns(one)) continue;
            if (one.passing > 0) {
                --one.passing;
            } else if (!out && one.times > 0) {
                --one.times;
                out = one;
            }
        }
        std::erase_if(waiting_, [](const Fault& one) { return one.times <= 0; });
        return out;
    }
    void clear() { waiting_.clear(); }

private:
    std::vector<Fault> waiting_;
};

}  // namespace esi::simulation
