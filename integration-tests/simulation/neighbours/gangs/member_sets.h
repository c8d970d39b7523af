// The controllers that make the members of gangs, as the job and replicaset controllers do: a
// member that is deleted or fails is made anew. Their objects are kept here and not in the API
// server, as no operator of ESI reads them, only their pods: the table is as durable as objects
// would be, what the controllers do stops when they crash. Owned by the world.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neighbours/neighbour.h"

namespace esi::simulation {

/// What its author asks for.
struct member_set {
    std::string ns;
    std::string name;
    /// metadata and spec of its pods.
    json pod;
    int count = 1;
    /// "always": as a ReplicaSet, also those that ended well. "failed": as a Job, until `count`
    /// have ended well.
    std::string again = "failed";
    /// CPU of the members in their order, from the start again where there are more members.
    std::vector<std::string> cpus;
    /// So many attempts of the first member fail.
    int fails = 0;
};

class member_sets : public neighbour {
public:
    explicit member_sets(surroundings& in);
    ~member_sets() override;

    std::string_view name() const override { return "member-controllers"; }
    void crash() override;
    void restart() override;
    void set_pace(pace speed) override;

    // The API of their objects; works also while the controllers are down.

    /// A new one, or another count and template of one that is there.
    void put(member_set what);
    /// It and its pods.
    void remove(std::string_view ns, std::string_view name);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
