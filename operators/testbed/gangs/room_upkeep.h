// Keeps the ledger of the cluster's room (cluster_room.h) up from what the caches tell. One for a
// process, whoever plans by it: gangs and claims promise out of the same room.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "testbed/caches.h"
#include "testbed/gangs/cluster_room.h"

namespace esi::testbed::gangs {

class room_upkeep {
public:
    /// `from` has been made for gangs, has no objects yet, and lives as long as this. Who makes
    /// plans by the room listens to the same changes, later than this.
    explicit room_upkeep(testbed::caches& from);
    room_upkeep(const room_upkeep&) = delete;
    room_upkeep& operator=(const room_upkeep&) = delete;

    // What the testbed operator is told of its Testbeds (change_listener).
    void slots_changed(std::string_view node);
    /// All slots of the Testbed, as it is in the caches now.
    void all_slots_changed(const model::object_key& testbed);

    /// The ledger as the caches are now.
    cluster_room& bring_up();
    /// The ledger as it was last brought up; nodes and pods are as in the caches.
    cluster_room& room() { return room_; }
    const cluster_room& room() const { return room_; }

private:
    const testbed::caches& caches_;
    cluster_room room_;
    /// Nodes of which the places of Testbeds may have changed.
    std::set<std::string, std::less<>> stale_nodes_;
    /// The nodes of each Testbed's layout, as they were told last.
    std::map<model::object_key, std::set<std::string>> layouts_;
};

}  // namespace esi::testbed::gangs
