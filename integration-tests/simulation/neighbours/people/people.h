// All people with kubectl: users who make and delete objects, and people who meddle with objects of
// ESI. Performs the happenings that are addressed to people (plan/happenings.md, second table);
// decides nothing by itself. Owned by the world.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/application_kinds.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"
#include "plan/plan.h"

namespace esi::simulation {

/// Ends the program of the application of that name from within (flink cancel). Returns its kind;
/// null: no program of that name listens.
using application_end =
    std::function<const application_kind*(std::string_view ns, std::string_view name)>;

class people {
public:
    people(surroundings& in, kubelet& nodes);
    ~people();
    people(const people&) = delete;
    people& operator=(const people&) = delete;

    /// How they end a program from within. Without it they cannot.
    void cancel_by(application_end way);
    /// Whether `what` is in the second table.
    static bool does(std::string_view what);
    /// Does it now, or when its "when" comes. One that is refused, or finds nothing to act on, has
    /// no effect.
    void act(const happening& what);
    /// The same as part of the day's work: it counts for no fault.
    void work(const happening& what);
    /// What waits for its "when", or for the end of an object, is never done.
    void drop_what_waits();
    /// How many had an effect, by happening::what, those of work() aside.
    const std::map<std::string, int>& effects() const;
    /// The same of work().
    const std::map<std::string, int>& works() const;

private:
    struct state;
    /// While the API server is away people do nothing; what they wanted to do follows when it is
    /// back.
    void once_there(const happening& what, bool fault);

    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
