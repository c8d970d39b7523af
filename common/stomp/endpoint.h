// STOMP over WebSocket for many clients: connections, their bounded queues, and how they end. Owned
// by an operator's interface; routes hand connections over to serve(). No client, by sending or by
// not reading, may grow anything without bound or delay another client.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/line_limit.h"
#include "base/task_group.h"
#include "controller/metrics.h"
#include "http/server.h"
#include "stomp/broker.h"
#include "stomp/outbox.h"
#include "stomp/session.h"

namespace esi::stomp {

struct endpoint_options {
    session_options session;
    outbox_limits queue;
    std::size_t most_connections = 2000;
    /// Subscriptions of all connections together; each takes some 2 KB.
    std::size_t most_subscriptions = 20'000;
    std::size_t message_limit = 128u << 10;  ///< of a client's WebSocket message
    seconds idle_time{60};                   ///< see http::websocket_options
};

class endpoint {
public:
    endpoint(asio::any_io_executor executor, controller::metrics& numbers,
             endpoint_options options);
    ~endpoint();
    endpoint(const endpoint&) = delete;
    endpoint& operator=(const endpoint&) = delete;

    /// sockjs: the frames of SockJS around each message ("o", a["..."], c[...]).
    enum class framing { plain, sockjs };
    /// One conversation. Refuses with 503 when there are too many, or when it stops.
    asio::awaitable<std::optional<http::server_reply>> serve(
        std::shared_ptr<http::upgrade> from, framing how,
        std::vector<std::pair<std::string, std::string>> headers = {});

    /// The present state of a destination, sent to a new subscriber; null: nothing is sent.
    /// `since`: the number of the next change, so that none is sent twice or after a later one.
    struct present {
        shared_message state;
        std::uint64_t since = 0;
    };
    void on_subscribe(std::function<present(const std::string& destination)> asked) {
        asked_ = std::move(asked);
    }

    bool empty() const;
    /// See broker::publish.
    void publish(const std::string& destination, std::uint64_t number,
                 const broker::body_maker& body);
    /// Lets the clients' queues proceed: at least once round the loop, and up to `longest` while a
    /// client that reads has much to read. Dead ones are not awaited.
    asio::awaitable<void> let_them_read(milliseconds longest);

    /// Sends 1001 to all and waits until they are gone, at most until `deadline`.
    asio::awaitable<void> stop(clock& time, steady_time deadline);

private:
    struct client;
    struct listed;
    using shared_client = std::shared_ptr<client>;

    static asio::awaitable<void> write_all(endpoint& own, shared_client to);
    /// Wakes writers that have something to send, some each turn of the loop: a message to a
    /// thousand must not block the rest of the process.
    static asio::awaitable<void> wake_ready(endpoint& own);
    void receive(client& from, std::string message);
    void perform(client& of, std::vector<action> actions);
    void push(client& to, outbox::entry what);
    void drop(client& which, int code, std::string_view why, std::string reason);
    void tell_dropped(const std::string& peer, std::string_view reason);
    void count();

    asio::any_io_executor executor_;
    controller::metrics& numbers_;
    endpoint_options options_;
    std::string name_;  ///< begins the message ids of this process
    std::uint64_t sessions_ = 0;
    broker broker_;
    std::list<shared_client> clients_;
    std::deque<shared_client> ready_;
    bool waking_ = false;
    std::function<present(const std::string&)> asked_;
    prometheus::Gauge& connections_;
    prometheus::Gauge& subscriptions_;
    prometheus::Counter& messages_;
    bool stopping_ = false;
    /// Any client can be dropped at any rate.
    log::line_limit told_drops_{10, std::chrono::minutes(1)};
    task_group writers_;
};

}  // namespace esi::stomp
