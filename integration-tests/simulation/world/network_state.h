// The inside of the network: its requests and the open watches. Included by its own sources only.
#pragma once

#include <set>
#include <tuple>

#include "kube/testing/fed_stream.h"
#include "world/faults_in_wait.h"
#include "world/network.h"

namespace esi::simulation {

/// The way of a request, and of its answer.
inline constexpr steady_time::duration least_way = std::chrono::microseconds(200);
inline constexpr steady_time::duration most_way = std::chrono::milliseconds(2);
/// The network checks this often whether a cache has caught up.
inline constexpr auto cache_poll = milliseconds(100);

/// One request under way, as its sender sees it.
struct exchange {
    explicit exchange(asio::any_io_executor executor) : done(std::move(executor)) {}
    std::optional<result<kube::response>> answer;
    notifier done;

    void give(result<kube::response> what) {
        if (answer) return;
        answer.emplace(std::move(what));
        done.notify();
    }
};

/// The far end of one open watch. Its client owns it; the network knows it while it lives.
struct stream_end : kube::stream_feed {
    stream_end(replica_name who_, asio::any_io_executor executor)
        : stream_feed(std::move(executor)), who(std::move(who_)) {}

    replica_name who;
    std::string plural;
    std::unique_ptr<watch> source;
    std::string last_line;
    /// When it sends next.
    std::optional<steady_time> armed;
    bool half_next = false;
    /// Nothing but bookmarks goes out before this.
    steady_time held_until{};
    std::uint64_t shown = 0;
};

struct network::state : std::enable_shared_from_this<network::state> {
    state(surroundings& in_, listener& to_) : in(in_), to(to_), chance(in.chance.fork("network")) {}

    surroundings& in;
    listener& to;
    random_source chance;
    bool down = false;
    std::map<std::string, faults_in_wait<request_fault>> faults;
    /// By operator, replica (-1: all) and plural (empty: all); of several the longest counts.
    std::map<std::tuple<std::string, int, std::string>, std::multiset<steady_time::duration>> lags;
    struct past {
        std::uint64_t version;
        steady_time until;
    };
    std::map<replica_name, past> pasts;
    /// Operators whose next further page has expired.
    std::set<std::string> pages_expire;
    /// The next watch of this operator on this kind is answered 410.
    std::map<std::pair<std::string, std::string>, int> refusals;
    std::vector<std::weak_ptr<stream_end>> streams;
    std::map<std::string, int> effects;

    /// What the API server's answers carry as Date.
    wall_time date() const;
    steady_time::duration way() { return chance.between(least_way, most_way); }
    steady_time::duration lag_of(const replica_name& who, const std::string& plural) const {
        for (const int index : {who.index, -1}) {
            for (const auto& of : {plural, std::string()}) {
                auto found = lags.find({who.operator_, index, of});
                if (found != lags.end()) return *found->second.rbegin();
            }
        }
        return steady_time::duration::zero();
    }
    std::uint64_t visible(const replica_name& who, const std::string& plural) const {
        const auto& objects = in.server.objects();
        auto out = objects.version_at(in.time.now() - lag_of(who, plural));
        if (auto found = pasts.find(who);
            found != pasts.end() && in.time.now() < found->second.until)
            out = std::min(out, found->second.version);
        return std::max(out, objects.compacted());
    }

    // Requests (network.cpp).
    std::optional<request_fault> fault_of(const replica_name& who, bool lease,
                                          const kube::request& what);
    /// The fault that hits this request, told and counted.
    std::optional<request_fault> strike(const replica_name& who, bool lease,
                                        const kube::request& what, std::string_view counted_as);
    void launch(const replica_name& who, bool lease, kube::request what,
                std::weak_ptr<exchange> back);
    /// A request on its way.
    struct flight {
        replica_name who;
        bool lease;
        /// Its sender dies when it has arrived.
        bool fatal;
        kube::request what;
        std::optional<request_fault> fault;
        std::weak_ptr<exchange> back;
        steady_time sent;
        /// The server waits no longer for its cache.
        steady_time give_up;
        /// The history is forgotten before it arrives.
        bool forgets = false;
    };
    void arrive(flight that);
    void answer(std::weak_ptr<exchange> back, result<kube::response> what,
                steady_time::duration later);

    // Watches (network_watches.cpp).
    void open(const std::shared_ptr<stream_end>& end, const kube::request& what);
    static void refuse(stream_end& end, kube::response how);
    void changed(const change& what);
    /// Lets it send at `when`, unless it will sooner.
    void arm(const std::shared_ptr<stream_end>& end, steady_time when);
    /// Sends what may be seen by now.
    void pump(const std::shared_ptr<stream_end>& end);
    void keep_bookmarks(std::weak_ptr<stream_end> end);
    template <class Do>
    void each_stream(const std::string& operator_, const std::string& plural, Do act) {
        for (const auto& weak : streams) {
            auto end = weak.lock();
            if (end && !end->over() && end->who.operator_ == operator_ && end->plural == plural)
                act(end);
        }
    }
};

}  // namespace esi::simulation
