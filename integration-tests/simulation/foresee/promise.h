// What preview and explain said of one Scheduling, moment by moment, and whether what it does then
// is what they said. Pure: it is told the answers and the deeds, and keeps a verdict.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduling/answers/preview.h"

namespace esi::simulation::foresee {

namespace answers = scheduling::answers;

/// What counts of a preview: which jobs start in which slots, or none.
struct foreseen {
    std::string verdict;  ///< of answers::verdict
    /// By job; ascending positions.
    std::map<model::object_key, std::vector<int>> starts;
    /// Something keeps the whole plan from starting, or is wrong with it.
    bool plan_blocked = false;

    static foreseen of(const answers::preview& from);
    /// "Starts default/a in 0,2", "Waits"
    std::string text() const;
    bool operator==(const foreseen&) const = default;
};

struct patience {
    /// An operator decides by what it saw so long ago at most: its caches may have been cut off
    /// until a moment before.
    steady_time::duration behind = seconds(60);
    /// Longer than every back-off (5 min).
    steady_time::duration start = seconds(360);
};

class promise {
public:
    enum class state {
        open,            ///< it starts nothing, as was said, or may start yet
        as_foreseen,     ///< the first start is that of the first answer, which never changed
        after_a_change,  ///< the first answer was that none starts; the start is that of the last
        overtaken,       ///< another start than that of the first answer, as the last one has it
        behind,          ///< the start is that of an answer before the last one
        gone,            ///< the Scheduling is gone
        broken,
    };

    /// `first`: the answer that is judged.
    promise(std::string about, foreseen first, steady_time now, patience limits = patience());

    /// Answers before the one that is judged: an operator may decide by them still.
    void was(const foreseen& what, steady_time at);
    /// The answer after a change of an object. `own`: the change was a step of the Scheduling
    /// itself or of what it takes, and may not change what was said to start.
    void is(const foreseen& what, steady_time at, bool own);
    /// New assignments of one write.
    void assigned(const std::map<model::object_key, std::vector<int>>& starts, steady_time at);
    /// It has taken its Testbed.
    void acquired(steady_time at);
    void gone() { settle(state::gone); }
    /// Time passes.
    void look(steady_time at);

    state is_now() const { return state_; }
    bool open() const { return state_ == state::open; }
    /// It should start and has not yet.
    bool due() const { return open() && !history_.back().what.starts.empty(); }
    const foreseen& first() const { return first_; }
    /// Empty unless broken: the rule and a sentence.
    const std::string& rule() const { return rule_; }
    const std::string& text() const { return text_; }

private:
    struct moment {
        steady_time at;
        foreseen what;
    };
    void add(const foreseen& what, steady_time at);
    void settle(state how) {
        if (open()) state_ = how;
    }
    void broken(std::string_view rule, std::string text);
    /// Answers that an operator may decide by at that time, newest first.
    std::vector<const foreseen*> in_force(steady_time at) const;

    std::string about_;
    foreseen first_;
    patience limits_;
    state state_ = state::open;
    /// The present answer is the last one. Of the first one on, and `was()`.
    std::deque<moment> history_;
    bool changed_ = false;
    std::string rule_;
    std::string text_;
};

}  // namespace esi::simulation::foresee
