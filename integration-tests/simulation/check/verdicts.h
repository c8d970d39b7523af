// What the rules found. A rule asks require(); what people edited by hand excuses what hangs on it,
// also when the edit is told after the change that it made, within the same instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/outcome.h"
#include "world/timeline.h"

namespace esi::simulation::checks {

class verdicts {
public:
    explicit verdicts(const timeline& time) : time_(time), start_(time.now()) {}

    /// One look at a rule. `about`: uids (or "uid/status") whose edit by hand excuses it. Returns
    /// `holds`: what is excused is no less untrue, and what builds on it must not go on.
    template <class Text>
    bool require(bool holds, std::string_view rule, std::initializer_list<std::string_view> about,
                 Text text) {
        ++checks_;
        if (holds) return true;
        for (auto each : about) {
            if (edited_.contains(each)) return false;
        }
        add(rule, about, text());
        return false;
    }
    void edited(std::string_view what);
    bool was_edited(std::string_view what) const { return edited_.contains(what); }

    const std::vector<violation>& found() const { return found_; }
    std::uint64_t checks() const { return checks_; }

private:
    static constexpr std::size_t most = 20;

    void add(std::string_view rule, std::initializer_list<std::string_view> about,
             std::string text);

    const timeline& time_;
    steady_time start_;
    std::uint64_t checks_ = 0;
    std::set<std::string, std::less<>> edited_;
    std::vector<violation> found_;
    /// Of each of found_: what it is about, and when it was found.
    std::vector<std::vector<std::string>> about_;
};

}  // namespace esi::simulation::checks
