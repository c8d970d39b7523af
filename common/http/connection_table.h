// Which connections of a server have a place, and how much memory all of them hold together: bounds
// that hold before any right is known. No I/O: connections are cut by a function. The connection
// with the least progress is cut first, so that clients that send or read nothing lock out no
// others.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/clock.h"

namespace esi::http {

struct connection_limits {
    /// Connections at a time, without streams and those that another protocol took over.
    int connections = 1024;
    /// Further places if no other connection can be cut, for probes alone.
    int reserved = 16;
    /// Connections of one address; loopback is exempt, as a proxy on this machine may be behind it.
    int per_peer = 256;
    /// Answers that are streams, at a time. They hold no place of `connections`: a thousand
    /// listeners would leave none to probes and requests.
    int streams = 2000;
    /// Bytes of bodies and answers, all connections together.
    std::size_t bytes = 16u << 20;
    /// Bytes of one connection that are not counted in `bytes`.
    std::size_t free_bytes = 4u << 10;
};

class connection_table {
public:
    explicit connection_table(connection_limits limits) : limits_(limits) {}

    enum class phase {
        waiting,    ///< for a request
        reading,    ///< a request
        queued,     ///< until there is room for its answer
        working,    ///< on its answer: the peer is not to blame for the time
        sending,    ///< the answer
        streaming,  ///< an answer without an end, see begin_stream
        upgraded,   ///< another protocol, which has limits of its own
    };

    /// The place of one connection, until it is destroyed.
    class place {
    public:
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        void enter(phase next, steady_time now);
        /// Enters the phase `streaming`; false: there are too many.
        bool begin_stream(steady_time now);
        /// Bytes were received or sent in this phase.
        void moved(std::size_t bytes) { moved_ += bytes; }
        /// Holds this many bytes from now on; false: there is no room for them, and none could be
        /// made. A connection that comes while there is room gets all that it asks for.
        bool hold(std::size_t bytes, steady_time now);
        std::size_t held() const { return held_; }
        /// The place is one of the reserved ones.
        bool reserved() const { return reserved_; }
        bool was_cut() const { return cut_; }

    private:
        friend class connection_table;
        place(connection_table& table, std::string peer, std::function<void()> close,
              steady_time now);
        /// Seconds for each byte that moved; greatest for the connection with the least progress.
        double slowness(steady_time now) const;
        bool slow(steady_time now) const;
        std::size_t counted() const;
        void cut();

        connection_table& table_;
        std::list<place*>::iterator at_;
        std::string peer_;
        std::function<void()> close_;
        phase phase_ = phase::waiting;
        steady_time since_;
        std::size_t moved_ = 0;
        std::size_t held_ = 0;
        bool reserved_ = false;
        bool cut_ = false;
    };

    /// A place for one more connection of `peer` (empty: exempt from the limit of one peer); if all
    /// are taken, the one with the least progress is cut by its `close`. Null: none is left.
    std::unique_ptr<place> admit(std::string peer, std::function<void()> close, steady_time now);

    /// Whether there is room for one more answer; slow connections are cut for it.
    bool has_room(steady_time now);

    std::size_t size() const { return places_.size(); }
    std::size_t streams() const;
    /// Bytes that are held, without the free ones.
    std::size_t bytes() const { return bytes_; }
    /// Closes connections that wait for a request.
    void close_waiting();
    void close_all();

private:
    template <class Which>
    bool cut_slowest(Which which, steady_time now);
    template <class Which>
    std::size_t count(Which which) const;

    connection_limits limits_;
    std::list<place*> places_;
    std::size_t bytes_ = 0;
};

}  // namespace esi::http
