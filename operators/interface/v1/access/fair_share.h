// Shares a scarce resource among tenants: a tenant may take another one as long as it has fewer
// than four times what is free. So a tenant alone may have four fifths; several tenants that take
// all they can have the same each, and something stays free for a new one: with ten tenants the
// 41st part. No I/O and no clock of its own; memory is bounded.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "interface/v1/access/token_bucket.h"

namespace esi::interface::v1 {

/// The part that tenants that are not known yet may have together: the rest is for those that are
/// known.
inline constexpr double part_of_strangers = 0.8;

enum class acquaintance { known, stranger };

inline bool may_have_another(double its, double all, double most) {
    constexpr double greed = 4;
    const auto left = most - all;
    return left >= 1 && its < greed * left;
}

/// The sum of all tenants, and the part of strangers.
struct shared_sum {
    double all = 0;
    double of_strangers = 0;

    bool has_room_for(double its, acquaintance who, double most) const {
        if (!may_have_another(its, all, most)) return false;
        return who == acquaintance::known ||
               may_have_another(its, of_strangers, part_of_strangers * most);
    }
    void add(acquaintance who, double amount) {
        all += amount;
        if (who == acquaintance::stranger) of_strangers += amount;
    }
};

/// A share of a rate: usage is forgotten at that rate, for each tenant in proportion to its usage.
class fair_bucket {
public:
    explicit fair_bucket(rate of) : rate_(of) {}

    /// Takes one and returns nothing, or tells how long to wait.
    std::optional<steady_time::duration> take(std::string_view tenant, steady_time now,
                                              acquaintance who = acquaintance::known) {
        forget(now);
        auto known = taken_.find(tenant);
        const double its = known == taken_.end() ? 0 : known->second * scale_;
        if (!sum_.has_room_for(its, who, rate_.burst)) return seconds(1);
        if (known == taken_.end()) known = taken_.emplace(tenant, 0).first;
        known->second += 1 / scale_;
        sum_.add(who, 1);
        // Tenants with half a unit or more are at most twice the burst.
        if (static_cast<double>(taken_.size()) > 4 * rate_.burst + 64) settle(0.5);
        return std::nullopt;
    }
    std::size_t size() const { return taken_.size(); }

private:
    void forget(steady_time now) {
        const std::chrono::duration<double> passed = now - std::exchange(last_, now);
        const auto gone = passed.count() * rate_.per_second;
        if (gone <= 0) return;
        if (gone >= sum_.all) {
            taken_.clear();
            sum_ = {};
            scale_ = 1;
            return;
        }
        const auto left = (sum_.all - gone) / sum_.all;
        scale_ *= left;
        sum_ = {sum_.all * left, sum_.of_strangers * left};
        if (scale_ < 1e-6) settle(1e-3);
    }
    /// Drops tenants with less than `least`, whose usage has no effect any more.
    void settle(double least) {
        std::erase_if(taken_, [&](const auto& each) { return each.second * scale_ < least; });
        for (auto& [tenant, amount] : taken_) amount *= scale_;
        scale_ = 1;
    }

    rate rate_;
    steady_time last_{};
    shared_sum sum_;
    /// By tenant, in units of `scale_`: all become less at once.
    std::map<std::string, double, std::less<>> taken_;
    double scale_ = 1;
};

/// A share of what is held for a while.
class fair_count {
public:
    explicit fair_count(std::size_t most) : most_(static_cast<double>(most)) {}

    bool has_room(std::string_view tenant, acquaintance who = acquaintance::known) const {
        const auto known = under_way_.find(tenant);
        return sum_.has_room_for(known == under_way_.end() ? 0 : known->second, who, most_);
    }

    /// One unit of the tenant, until it is destroyed.
    class one {
    public:
        one(fair_count& of, const std::string& tenant, acquaintance who = acquaintance::known)
            : of_(of), at_(of.under_way_.try_emplace(tenant).first), who_(who) {
            ++at_->second;
            of_.sum_.add(who_, 1);
        }
        ~one() {
            of_.sum_.add(who_, -1);
            if (--at_->second == 0) of_.under_way_.erase(at_);
        }
        one(const one&) = delete;
        one& operator=(const one&) = delete;

    private:
        fair_count& of_;
        std::map<std::string, int, std::less<>>::iterator at_;
        acquaintance who_;
    };

private:
    double most_;
    shared_sum sum_;
    std::map<std::string, int, std::less<>> under_way_;
};

}  // namespace esi::interface::v1
