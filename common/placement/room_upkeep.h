// Keeps the ledger of the cluster's room (cluster_room.h) up to date with the changes of nodes,
// pods and Testbeds. One for a process: all parts that plan promise out of the same room.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/watch/store.h"
#include "placement/cluster_room.h"

namespace esi::placement {

/// A part of a process that plans by the room. It is called for each change after the ledger has
/// it, and must only note it.
class planner {
public:
    virtual ~planner() = default;
    /// This process leads from now on.
    virtual void lead() = 0;
    virtual asio::awaitable<void> stop(steady_time deadline) = 0;
    virtual void node_changed() = 0;
    virtual void pod_changed(const kube::change<model::pod>& what) = 0;
    /// Places of Testbeds.
    virtual void slots_changed() = 0;
};

class room_upkeep {
public:
    /// The places that Testbeds have on the node now.
    using slots_on = std::function<slots_of_node(const std::string& node)>;

    explicit room_upkeep(slots_on of) : slots_on_(std::move(of)) {}
    room_upkeep(const room_upkeep&) = delete;
    room_upkeep& operator=(const room_upkeep&) = delete;

    // Each change in the order in which it happened, from the first object on.
    void node_changed(const kube::change<model::node>& what);
    void pod_changed(const kube::change<model::pod>& what);
    /// The places on this node may be others now.
    void slots_changed(std::string_view node);
    /// The same for all places of the Testbed, whose layout has these nodes now.
    void all_slots_changed(const model::object_key& testbed, std::set<std::string> nodes);

    /// Applies all pending changes to the ledger.
    cluster_room& bring_up();
    /// The ledger as it was last brought up; nodes and pods are up to date.
    cluster_room& room() { return room_; }
    const cluster_room& room() const { return room_; }

private:
    slots_on slots_on_;
    cluster_room room_;
    /// Nodes of which the places of Testbeds may have changed.
    std::set<std::string, std::less<>> stale_nodes_;
    /// The nodes of each Testbed's layout, as of its last change.
    std::map<model::object_key, std::set<std::string>> layouts_;
};

}  // namespace esi::placement
