// What the played controllers have in common: a row for each of their objects, which is looked at
// some time after it has changed, and a life that ends with a crash. The state of one controller.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "neighbours/neighbour.h"

namespace esi::simulation {

inline constexpr auto first_retry = seconds(1);
inline constexpr auto longest_retry = seconds(15);

/// The part of a row that its state keeps.
struct controller_row {
    bool deleting = false;
    bool look_due = false;
    steady_time::duration retry = first_retry;
};

/// `State` is made from this, and has look(key). `Row` is made from controller_row.
template <class State, class Row>
struct controller_rows : std::enable_shared_from_this<State> {
    controller_rows(surroundings& around, std::string_view actor, std::string_view chances)
        : in(around), own(around.server, std::string(actor)), chance(around.chance.fork(chances)) {}

    surroundings& in;
    desk own;
    random_source chance;
    pace speed;
    bool up = true;
    /// What was begun in an earlier life is void.
    int life = 0;
    std::uint64_t made = 0;
    /// By "namespace/name".
    std::map<std::string, Row, std::less<>> rows;

    static std::string key_of(std::string_view ns, std::string_view name) {
        return fmt::format("{}/{}", ns, name);
    }
    /// The letters of k8s.io/apimachinery/pkg/util/rand.
    std::string word(int length) {
        constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
        std::string out;
        for (int i = 0; i < length; ++i) out += letters[chance.below(letters.size())];
        return out;
    }

    void soon(const std::string& key) {
        const auto found = rows.find(key);
        if (!up || found == rows.end() || found->second.look_due) return;
        found->second.look_due = true;
        at(chance.between(speed.least, speed.most), key);
    }
    /// It could not do all; the next look is later each time.
    void again(controller_row& one, const std::string& key) {
        one.look_due = true;
        at(one.retry, key);
        one.retry = std::min<steady_time::duration>(one.retry * 2, longest_retry);
    }

    void crash() {
        up = false;
        ++life;
    }
    void restart() {
        if (up) return;
        up = true;
        for (auto& [key, one] : rows) {
            one.look_due = false;
            one.retry = first_retry;
            soon(key);
        }
    }

private:
    void at(steady_time::duration time, std::string key) {
        in.time.after(time, [weak = this->weak_from_this(), born = life, key = std::move(key)] {
            const auto self = weak.lock();
            if (self && self->up && self->life == born) self->look(key);
        });
    }
};

}  // namespace esi::simulation
