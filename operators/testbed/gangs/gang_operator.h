// The part of the testbed operator that starts gangs, with --gangs only: keeps gangs and the ledger
// of room up from what the caches tell, makes a pass of decide when something has changed, and has
// its actions taken. Owned by the testbed operator, whose caches it shares: one process promises
// all room.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/process.h"
#include "testbed/caches.h"
#include "testbed/gangs/act.h"
#include "testbed/gangs/decide.h"
#include "testbed/gangs/gang_book.h"
#include "testbed/gangs/gang_caches.h"
#include "testbed/gangs/gang_options.h"
#include "testbed/gangs/room_upkeep.h"

namespace esi::testbed::gangs {

/// Passes are at least so far apart: a change seldom comes alone.
inline constexpr milliseconds pass_pause{10};
/// A pass that took long is followed by a pause of the same length, at most this one, so that the
/// rest of the process has half of the time however many groups there are.
inline constexpr seconds longest_pass_pause{2};

inline steady_time::duration pause_after(steady_time::duration pass) {
    return std::clamp<steady_time::duration>(pass, pass_pause, longest_pass_pause);
}

class gang_operator final : private group_listener {
public:
    /// `from` has been made for gangs, and has no objects yet; `room` is kept up from it.
    /// `tell_nodes`: --tell-nodes.
    gang_operator(controller::environment& env, const gang_options& chosen, testbed::caches& from,
                  room_upkeep& room, bool tell_nodes);

    std::vector<controller::operator_part::cache> caches() { return groups_.list(); }
    void lead();
    asio::awaitable<void> stop(steady_time deadline);

    /// Places of Testbeds have changed, and the ledger knows of it.
    void slots_changed() { wake(); }

    /// One line for each gang, at most `most`: GET /debug/gangs.
    std::string explain(std::size_t most) const;
    gang_caches& groups() { return groups_; }
    const cluster_room& room() const { return ledger_.room(); }

private:
    asio::awaitable<result<controller::outcome>> pass();
    void tell(const note& what);
    /// Tells those who wait at the gate and whom no pass sees. Nothing: all are told.
    std::optional<steady_time::duration> tell_stranded(steady_time now);
    /// A pass is due.
    void wake();

    // group_listener
    void group_changed(const gang_key& of) override;
    void namespace_changed(std::string_view ns) override;
    void surroundings_changed() override { wake(); }

    controller::environment& env_;
    gang_options options_;
    bool tell_nodes_;
    gang_caches groups_;
    gang_book book_;
    room_upkeep& ledger_;
    memory known_;
    gang_numbers numbers_;
    actor actor_;
    controller::controller controller_;
    std::optional<steady_time> next_pass_;
    steady_time next_stranded_{};
    bool leads_ = false;
};

}  // namespace esi::testbed::gangs
