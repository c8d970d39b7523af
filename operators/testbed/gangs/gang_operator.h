// The part of the testbed operator that starts gangs, with --gangs only: keeps gangs and the ledger
// of room up from what the caches tell, makes a pass of decide when something has changed, and has
// its actions taken. Owned by the testbed operator, whose caches it shares: one process promises
// all room.
#pragma once

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

namespace esi::testbed::gangs {

/// Passes are at least so far apart: a change seldom comes alone.
inline constexpr milliseconds pass_pause{10};

class gang_operator final : private group_listener {
public:
    /// `from` has been made for gangs, and has no objects yet.
    gang_operator(controller::environment& env, const gang_options& chosen, testbed::caches& from);

    std::vector<controller::operator_part::cache> caches() { return groups_.list(); }
    void lead();
    asio::awaitable<void> stop(steady_time deadline);

    // What the testbed operator is told of its Testbeds (change_listener).
    void slots_changed(std::string_view node);
    /// All slots of the Testbed, as it is in the caches now.
    void all_slots_changed(const model::object_key& testbed);

    /// One line for each gang, at most `most`: GET /debug/gangs.
    std::string explain(std::size_t most) const;
    gang_caches& groups() { return groups_; }
    const cluster_room& room() const { return room_; }

private:
    asio::awaitable<result<controller::outcome>> pass();
    void bring_up_slots();
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
    const testbed::caches& caches_;
    gang_caches groups_;
    gang_book book_;
    cluster_room room_;
    memory known_;
    gang_numbers numbers_;
    actor actor_;
    controller::controller controller_;
    /// Nodes of which the places of Testbeds may have changed.
    std::set<std::string, std::less<>> stale_nodes_;
    /// The nodes of each Testbed's layout, as they were told last.
    std::map<model::object_key, std::set<std::string>> layouts_;
    std::optional<steady_time> last_pass_;
    steady_time next_stranded_{};
    bool leads_ = false;
};

}  // namespace esi::testbed::gangs
