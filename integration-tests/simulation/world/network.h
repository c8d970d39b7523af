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
#include "world/requests.h"
#include "world/surroundings.h"

namespace esi::simulation {

/// Which operator, which of its replicas.
struct replica_name {
    std::string operator_;
    int index = 0;
    auto operator<=>(const replica_name&) const = default;
    std::string text() const { return "esi-" + operator_ + "/" + std::to_string(index); }
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
    /// Told of the writes (leases and Events aside, but for the two of leases) and of single reads.
    struct listener {
        virtual ~listener() = default;
        /// It leaves its sender, unless the sender dies before or has died already.
        enum class fate { goes, dies_before, dies_after };
        virtual fate sends(const replica_name& who, const kube::request& what) = 0;
        /// The API server answered it.
        virtual void arrived(const replica_name& who, const kube::request& what, int status) = 0;
        /// The write with fate dies_after has arrived; its sender never hears of it.
        virtual void dies(const replica_name& who) = 0;
        /// The API server took a lease that was signed so.
        virtual void lease_written(const replica_name& who, const std::string& holder,
                                   steady_time sent) = 0;
        /// A lease without a holder leaves its sender: whatever comes of it, it leads no more.
        virtual void lease_given_back(const replica_name& who) = 0;
        /// A fault that lay in wait hits a request of an operator (empty: the history of all), and
        /// hinders it for so long.
        virtual void struck(std::string_view operator_, steady_time::duration takes) = 0;
        /// It was shown that object as it is now ("namespace/name").
        virtual void looked(const replica_name& who, std::string_view plural,
                            const std::string& object) = 0;
        /// It was shown the pods of that node as they are now.
        virtual void listed_node(const replica_name& who, const std::string& node) = 0;
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
    /// so much later, for a while.
    void lag(const std::string& operator_, int replica, const std::string& plural,
             steady_time::duration by, steady_time::duration lasts);
    /// The next lists of this replica come from a cache that is so far behind; it catches up when
    /// they were answered.
    void show_past(const replica_name& who, steady_time::duration by);
    /// The next time that the operator asks for a further page of a list, this takes a while, and
    /// the history of all kinds is forgotten meanwhile: its token has expired.
    void expire_pages(const std::string& operator_);
    /// Faults of requests and pages that have hit nothing yet never will.
    void end_faults_in_wait();
    /// Refuses connections and cuts the open ones until called with false.
    void set_down(bool down);
    bool down() const;

    /// Faults that hit something, by class.
    const std::map<std::string, int>& effects() const;

    struct state;

private:
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
