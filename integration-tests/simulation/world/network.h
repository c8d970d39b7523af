// Everything between the operators and the API server: how long requests and events are under way,
// and which of them are lost, late, refused or mangled. Owned by the world; each life of a replica
// talks through two wires of it (requests, lease), which end with that life. What was sent goes on
// after its sender was killed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/transport.h"
#include "neighbours/neighbour.h"
#include "run/run.h"

namespace esi::simulation {

/// Which operator, which of its replicas.
struct replica_name {
    std::string operator_;
    int index = 0;
    auto operator<=>(const replica_name&) const = default;
    std::string text() const { return "esi-" + operator_ + "/" + std::to_string(index); }
};

/// What happens to a request; plan/happenings.md, "request".
struct request_fault {
    std::string what;
    /// "all", "reads", "writes", "leases": those of the election, which no other sort touches.
    std::string of = "all";
    /// Requests of that sort that pass before it, and how many it then hits.
    int passing = 0;
    int times = 1;
    /// Of "delay" (the answer) and "late" (the request).
    steady_time::duration delay = seconds(1);
    /// Of "429-retry-after".
    int retry_after_seconds = 1;
};

/// What happens to the open watches of a kind; plan/happenings.md, "watch".
struct watch_fault {
    std::string plural;
    std::string what;
    /// Of "silent" and "bookmark-only".
    steady_time::duration lasts = seconds(5);
};

class network {
public:
    /// Told of the writes (leases and Events aside, but for lease_written) and of single reads.
    struct listener {
        virtual ~listener() = default;
        /// It leaves its sender, unless the sender dies before or has died already.
        enum class fate { goes, dies_before, dies_after };
        virtual fate sends(const replica_name& who, const kube::request& what) = 0;
        /// The API server answered it.
        virtual void arrived(const replica_name& who, const kube::request& what, int status) = 0;
        /// The write with fate dies_after has arrived; its sender never hears of it.
        virtual void dies(const replica_name& who) = 0;
        virtual void lease_written(const replica_name& who, steady_time sent) = 0;
        /// It was shown that object as it is now ("namespace/name").
        virtual void looked(const replica_name& who, std::string_view plural,
                            const std::string& object) = 0;
    };

    network(surroundings& in, listener& to);
    ~network();

    /// A wire for one life of a replica. `lease`: writes on it are the election's.
    std::unique_ptr<kube::transport> connect(const replica_name& who,
                                             asio::any_io_executor executor, clock& time,
                                             bool lease);

    void fail_requests(const std::string& operator_, request_fault how);
    void fail_watches(const std::string& operator_, const watch_fault& how);
    /// Events and cached lists of the kind (empty: all) reach the replica (-1: all of the operator)
    /// so much later.
    void lag(const std::string& operator_, int replica, const std::string& plural,
             steady_time::duration by);
    /// The next lists of this replica come from a cache that is so far behind; it catches up when
    /// they were answered.
    void show_past(const replica_name& who, steady_time::duration by);
    /// Refuses connections and cuts the open ones until called with false.
    void set_down(bool down);
    bool down() const;

    /// Faults that hit something, by class.
    const std::map<std::string, int>& effects() const;

    struct state;

private:
    std::shared_ptr<state> state_;
};

/// POST, PUT, PATCH, DELETE, and no dry run.
bool is_write(const kube::request& what);
/// Plural, namespace/name and sub-resource of a request's path.
struct request_target {
    std::string plural;
    std::string object;
    std::string subresource;
};
request_target target_of(const kube::request& what);

}  // namespace esi::simulation
