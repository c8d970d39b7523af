#include "placement/passes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace esi::placement::planning {

namespace {

/// Authors of groups choose how many members of how many kinds they have: members without a place
/// are tried again only within this much work.
constexpr std::int64_t most_work_of_a_pass = 10'000'000;

std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// A class in its turn, with what decides the turn.
struct turn {
    int of = 0;
    /// The largest part of what the whole cluster has left of a resource.
    double size = 0;
    int suitable = 0;
    bool follows = false;
};

std::vector<turn> turns_of(board& on, order how) {
    const auto classes = on.classes();
    std::vector<turn> out(classes.size());
    std::map<int, double> whole;
    for (const auto& each : classes) {
        for (const auto& [resource, amount] : each.requests) whole[resource] = 0;
    }
    for (auto& [resource, sum] : whole) {
        for (int at = 0; at < on.nodes(); ++at) {
            sum += static_cast<double>(std::max<std::int64_t>(on.left(at, resource), 0));
        }
    }
    for (std::size_t c = 0; c < out.size(); ++c) {
        auto& each = out[c];
        each.of = static_cast<int>(c);
        for (const auto& [resource, amount] : classes[c].requests) {
            const double part = static_cast<double>(amount) / std::max(whole[resource], 1.0);
            each.size = std::max(each.size, part);
        }
        each.follows = !classes[c].near.affinity.empty();
        if (how == order::choosiest_first) {
            for (int at = 0; at < on.nodes(); ++at) {
                each.suitable += on.copies(each.of, at, 1);
            }
        }
    }
    std::ranges::sort(
        out, {}, [](const turn& each) { return std::tuple(each.suitable, -each.size, each.of); });
    return out;
}

/// The members that are left, by class in turn.
class chooser {
public:
    chooser(board& on, const pass& how, std::vector<turn> turns)
        : on_(on), how_(how), turns_(std::move(turns)), left_(on.classes().size()) {
        for (std::size_t c = 0; c < left_.size(); ++c) left_[c] = on.classes()[c].count();
    }

    /// -1: no node takes it.
    int node_for(int of) {
        const bool anchored = how_.begin.of == of && !begun_;
        int out = -1;
        switch (how_.nodes) {
            case choice::fewest_nodes:
                out = fullest_used(of, anchored);
                if (out < 0) out = most_helpful(of, anchored);
                break;
            case choice::fullest:
                out = best(of, anchored, [&](int at) { return on_.slack(of, at); });
                break;
            case choice::emptiest:
                out = best(of, anchored, [&](int at) {
                    return std::tuple(on_.placed_on(at), -on_.slack(of, at));
                });
                break;
        }
        if (out < 0) return out;
        begun_ = begun_ || how_.begin.of == of;
        --left_[index(of)];
        if (on_.placed_on(out) == 0) used_.push_back(out);
        return out;
    }

private:
    /// The first node of the least rank; nodes with room now come before others.
    template <class Rank>
    int best(int of, bool anchored, Rank rank_of) {
        int out = -1;
        std::optional<std::pair<bool, decltype(rank_of(0))>> least;
        for (int at = 0; at < on_.nodes(); ++at) {
            if (!may(of, at, anchored)) continue;
            auto rank = std::pair(!on_.free_now(of, at), rank_of(at));
            if (least && !(rank < *least)) continue;
            least = std::move(rank);
            out = at;
        }
        return out;
    }
    bool may(int of, int at, bool anchored) {
        return (!anchored || on_.in_domain(at, how_.begin)) && on_.takes(of, at);
    }
    int fullest_used(int of, bool anchored) {
        int out = -1;
        std::pair<bool, double> least;
        for (const int at : used_) {
            if (!may(of, at, anchored)) continue;
            const std::pair rank(!on_.free_now(of, at), on_.slack(of, at));
            if (out >= 0 && !(rank < least)) continue;
            least = rank;
            out = at;
        }
        return out;
    }
    int most_helpful(int of, bool anchored) {
        return best(of, anchored,
                    [&](int at) { return std::pair(-helps(of, at), on_.slack(of, at)); });
    }
    /// How many of the members that are left the node would take, this class first.
    int helps(int of, int at) {
        int out = on_.copies(of, at, left_[index(of)]);
        if (turns_.size() == 1) return out;
        // For the other classes: the room left beside these members.
        static constexpr std::size_t most_classes = 8;
        const auto left = on_.left_of(at);
        room_.assign(left.begin(), left.end());
        const auto take = [&](int other, std::int64_t count) {
            for (const auto& [resource, amount] : on_.classes()[index(other)].requests) {
                room_[index(resource)] -= amount * count;
            }
        };
        take(of, out);
        std::size_t asked = 0;
        for (const auto& each : turns_) {
            if (each.of == of || left_[index(each.of)] == 0) continue;
            if (++asked > most_classes) break;
            std::int64_t fits = on_.copies(each.of, at, left_[index(each.of)]);
            if (fits == 0) continue;
            for (const auto& [resource, amount] : on_.classes()[index(each.of)].requests) {
                fits = std::min(fits, std::max<std::int64_t>(room_[index(resource)], 0) / amount);
            }
            take(each.of, fits);
            out += static_cast<int>(fits);
        }
        return out;
    }

    board& on_;
    const pass& how_;
    std::vector<turn> turns_;
    std::vector<int> left_;
    std::vector<int> used_;
    /// Scratch space of `helps`, kept for the next node.
    std::vector<std::int64_t> room_;
    bool begun_ = false;
};

/// The members in the order of their classes' turns.
std::vector<std::pair<int, int>> in_order(const board& on, const std::vector<turn>& turns) {
    std::vector<std::pair<int, int>> out;
    for (const auto& each : turns) {
        for (const int member : on.classes()[index(each.of)].members) {
            out.emplace_back(each.of, member);
        }
    }
    return out;
}

int count_members(const board& on) {
    int out = 0;
    for (const auto& each : on.classes()) out += each.count();
    return out;
}

class searcher {
public:
    searcher(board& on, int steps)
        : on_(on),
          steps_(steps),
          questions_(std::int64_t{100} * steps),
          turns_(turns_of(on, order::choosiest_first)),
          set_(on.classes().size()) {
        // A class that has to be near others comes after them.
        std::ranges::sort(turns_, {}, [](const turn& each) {
            return std::tuple(each.follows, each.suitable, -each.size, each.of);
        });
        out_.nodes.assign(index(count_members(on)), -1);
        left_ = static_cast<int>(out_.nodes.size());
    }

    bool run() {
        if (left_ == 0) return true;
        for (const auto& each : turns_) {
            const int of = each.of;
            if (set_[index(of)].size() == on_.classes()[index(of)].members.size()) continue;
            if (set_one_of(of)) return true;
            // Otherwise the order of the members does not matter.
            if (!on_.order_matters() || steps_ < 0 || questions_ < 0) return false;
        }
        return false;
    }
    outcome take() {
        out_.fitting = static_cast<int>(out_.nodes.size());
        return std::move(out_);
    }

private:
    bool set_one_of(int of) {
        auto& set = set_[index(of)];
        const auto& members = on_.classes()[index(of)].members;
        const int member = members[set.size()];
        const bool last = set.size() + 1 == members.size();
        // Members that are alike are interchangeable.
        const int from = set.empty() || on_.order_matters() ? 0 : set.back();
        std::set<std::vector<std::int64_t>> tried;
        for (int at = from; at < on_.nodes(); ++at) {
            if (--questions_ < 0 || on_.work() > most_work_of_a_plan) return false;
            if (!on_.takes(of, at)) continue;
            // The next of its kind begins at this node: then it matters which of two it is.
            if (on_.plain() && last && !tried.insert(looks_of(at)).second) continue;
            if (--steps_ < 0) return false;
            set.push_back(at);
            --left_;
            on_.put(of, at);
            out_.nodes[index(member)] = at;
            if (is_new() && run()) return true;
            on_.take_off(of, at);
            out_.nodes[index(member)] = -1;
            ++left_;
            set.pop_back();
        }
        return false;
    }

    /// Two nodes that look alike take the same members.
    std::vector<std::int64_t> looks_of(int at) {
        const auto left = on_.left_of(at);
        std::vector<std::int64_t> out(left.begin(), left.end());
        for (std::size_t c = 0; c < on_.classes().size(); ++c) {
            out.push_back(on_.copies(static_cast<int>(c), at, 1));
        }
        return out;
    }

    /// The members that are set were not on the same nodes before, in another order.
    bool is_new() {
        if (!on_.order_matters()) return true;
        auto where = set_;
        for (auto& each : where) std::ranges::sort(each);
        return seen_.insert(std::move(where)).second;
    }

    board& on_;
    std::int64_t steps_;
    std::int64_t questions_;
    std::vector<turn> turns_;
    /// By class: where its first members are.
    std::vector<std::vector<int>> set_;
    std::set<std::vector<std::vector<int>>> seen_;
    int left_ = 0;
    outcome out_;
};

}  // namespace

outcome run(board& on, const pass& how) {
    const auto turns = turns_of(on, how.members);
    chooser choose(on, how, turns);
    outcome out;
    out.nodes.assign(index(count_members(on)), -1);
    auto waiting = in_order(on, turns);
    // A member without a place may find one when others are set: near them, or evenly beside them.
    const auto most_work = on.work() + most_work_of_a_pass;
    for (bool again = true; again && !waiting.empty();) {
        again = false;
        std::vector<std::pair<int, int>> still;
        std::set<int> refused;
        for (const auto& [of, member] : waiting) {
            const bool ended = on.work() > most_work_of_a_plan;
            const int node = ended || refused.contains(of) ? -1 : choose.node_for(of);
            if (node < 0) {
                // A class that was refused is refused again until another member is set.
                refused.insert(of);
                still.emplace_back(of, member);
                continue;
            }
            on.put(of, node);
            out.nodes[index(member)] = node;
            ++out.fitting;
            again = on.order_matters() && on.work() < most_work;
            if (again) refused.clear();
        }
        waiting = std::move(still);
    }
    return out;
}

namespace {

template <class Step>
void for_each_set(const board& on, const outcome& what, Step step) {
    for (std::size_t c = 0; c < on.classes().size(); ++c) {
        for (const int member : on.classes()[c].members) {
            const int node = what.nodes[index(member)];
            if (node >= 0) step(static_cast<int>(c), node);
        }
    }
}

}  // namespace

void clear(board& on, const outcome& what) {
    for_each_set(on, what, [&](int of, int node) { on.take_off(of, node); });
}

void set_again(board& on, const outcome& what) {
    for_each_set(on, what, [&](int of, int node) { on.put(of, node); });
}

std::optional<outcome> search(board& on, int steps) {
    searcher all(on, steps);
    if (!all.run()) return std::nullopt;
    return all.take();
}

bool cannot_fit(board& on) {
    std::map<int, double> needed;
    std::map<int, double> there;
    for (std::size_t c = 0; c < on.classes().size(); ++c) {
        const auto& each = on.classes()[c];
        int fitting = 0;
        for (int at = 0; at < on.nodes() && fitting < each.count(); ++at) {
            fitting += on.copies(static_cast<int>(c), at, each.count() - fitting);
        }
        if (fitting < each.count()) return true;
        for (const auto& [resource, amount] : each.requests) {
            needed[resource] += static_cast<double>(amount) * each.count();
        }
    }
    if (on.classes().size() < 2) return false;
    for (int at = 0; at < on.nodes(); ++at) {
        for (const auto& [resource, amount] : needed) {
            there[resource] +=
                static_cast<double>(std::max<std::int64_t>(on.left(at, resource), 0));
        }
    }
    // Sums of large numbers are not exact; a close result is left to the search.
    return std::ranges::any_of(
        needed, [&](const auto& each) { return each.second > there[each.first] * (1 + 1e-9); });
}

}  // namespace esi::placement::planning
