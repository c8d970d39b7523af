// Everybody with kubectl: users who make and delete objects, and those who meddle with what is
// ESI's. Performs the happenings that are addressed to people (plan/happenings.md, second table);
// decides nothing by itself. Owned by the world.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neighbours/kubelet.h"
#include "neighbours/neighbour.h"
#include "plan/plan.h"

namespace esi::simulation {

class people {
public:
    people(surroundings& in, kubelet& nodes);
    ~people();
    people(const people&) = delete;
    people& operator=(const people&) = delete;

    /// How they reach a Flink job (flink cancel); false: it does not listen. Without it they do
    /// not.
    void cancel_by(std::function<bool(std::string_view ns, std::string_view name)> way);
    /// Whether `what` is in the second table.
    static bool does(std::string_view what);
    /// Does it now, or when its "when" comes. One that is refused, or finds nothing to act on, has
    /// no effect.
    void act(const happening& what);
    /// The same as part of the day's work: it counts for no fault.
    void work(const happening& what);
    /// How many had an effect, by happening::what, those of work() aside.
    const std::map<std::string, int>& effects() const;
    /// The same of work().
    const std::map<std::string, int>& works() const;

private:
    struct state;
    /// Nobody does anything while the API server is away; they come back to it.
    void once_there(const happening& what, bool fault);

    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
