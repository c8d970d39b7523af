// Starts gangs: takes the changes of pods and groups, makes a pass of decide when something has
// changed, and has its actions taken. It plans by the ledger of room that its process shares with
// the claims of Testbeds: one process promises all room.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/process.h"
#include "gangs/act.h"
#include "gangs/decide.h"
#include "gangs/gang_book.h"
#include "gangs/gang_caches.h"
#include "gangs/gang_options.h"
#include "placement/room_upkeep.h"

namespace esi::gangs {

/// The least time between passes: a change seldom comes alone.
inline constexpr milliseconds pass_pause{10};
/// A pass that took long is followed by a pause of the same length, at most this one, so that the
/// rest of the process has half of the time however many groups there are.
inline constexpr seconds longest_pass_pause{2};

inline steady_time::duration pause_after(steady_time::duration pass) {
    return std::clamp<steady_time::duration>(pass, pass_pause, longest_pass_pause);
}

class gang_operator final : public placement::planner, private group_listener {
public:
    /// The caller keeps `nodes` and `room` up to date and passes their changes on; pods that name a
    /// group come complete. `tell_nodes`: --tell-nodes.
    gang_operator(controller::environment& env, const gang_options& chosen,
                  const kube::store<model::node>& nodes, placement::room_upkeep& room,
                  bool tell_nodes);

    std::vector<controller::operator_part::cache> caches() { return groups_.list(); }
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

    // placement::planner
    void node_changed() override { wake(); }
    void pod_changed(const kube::change<model::pod>& what) override;
    void slots_changed() override { wake(); }

    /// GET /debug/gangs.
    void add_debug_route(http::router& routes) const;
    /// One line for each gang, at most `most`.
    std::string explain(std::size_t most) const;
    gang_caches& groups() { return groups_; }
    const cluster_room& room() const { return ledger_.room(); }

private:
    asio::awaitable<result<controller::outcome>> pass();
    void tell(const note& what);
    /// Reports the pods that wait at the gate and are in no pass. Nothing: all are reported.
    std::optional<steady_time::duration> tell_stranded(steady_time now);
    /// Makes a pass due.
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
    placement::room_upkeep& ledger_;
    shown_plans shown_;
    memory known_;
    gang_numbers numbers_;
    actor actor_;
    controller::controller controller_;
    std::optional<steady_time> next_pass_;
    steady_time next_stranded_{};
    bool leads_ = false;
};

}  // namespace esi::gangs
