// Whether the world has come to rest: which operator still writes what. Fed with each write of an
// operator that reached the API server, accepted or not (leases aside; of Events those that were
// accepted), and with the changes of the storage; it finds objects that are written in a loop.
// Owned by the run; changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "server/storage.h"

namespace esi::simulation {

struct quiet_settings {
    /// For so long it is known who wrote what.
    steady_time::duration kept = std::chrono::minutes(45);
    /// More writes by operators to one object within `window` are a loop.
    int most_writes = 120;
    steady_time::duration window = seconds(60);
    /// A pod of one name that operators make and delete more often within `window`, each time
    /// before it was bound, is one that they make in vain.
    int most_in_vain = 5;
};

class quiet {
public:
    /// `start`: where violation::at counts from.
    quiet(storage& objects, steady_time start, quiet_settings settings = quiet_settings());
    ~quiet();
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;

    /// A write of an operator, after it was answered. Those that were refused or changed nothing
    /// break the silence, too.
    void wrote(const write_record& what, steady_time at);

    /// When the last write was; `start` without one.
    steady_time last_write() const;
    /// Who wrote after `since`, most active first: "testbed PATCH testbeds default/grid status (12
    /// times): .status.state \"SUCCESS\" -> \"RUNNING\"". For the text of not-converged.
    std::vector<std::string> activity(steady_time since) const;
    /// The same of a world that was at rest from then on. A series of Events is closed six minutes
    /// after its last: until then its count may be written, which tells only of what was before.
    std::vector<std::string> unrest(steady_time since) const;
    /// Rules hot-loop and made-in-vain, once for each object.
    const std::vector<violation>& violations() const;

private:
    std::vector<std::string> lines(steady_time since, steady_time counts_since) const;
    struct state;
    std::unique_ptr<state> state_;
};

/// What differs between two states of an object, resourceVersion and managedFields aside: ".path
/// old -> new", at most `most` of them.
std::vector<std::string> changed_fields(const json& before, const json& after,
                                        std::size_t most = 4);

}  // namespace esi::simulation
