// WebSocket /scheduler: the Java original's topics over STOMP, and the paths of SockJS beside it.
// Owned by the operator; every replica serves it from its own caches, as it does REST. A change is
// sent once it is in the cache, in the order of the watch, each one: none is merged or left out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/task_group.h"
#include "controller/metrics.h"
#include "http/access.h"
#include "http/router.h"
#include "interface/legacy/json.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"
#include "stomp/endpoint.h"

namespace CLI {
class App;
}

namespace esi::interface::legacy {

struct stomp_options {
    int max_connections = 2000;
    int max_subscriptions = 1024;
    int queue_bytes = 4 << 20;

    void add_to(CLI::App& app);
};

/// What the topics need; all of it outlives them.
struct stomp_sources {
    asio::any_io_executor executor;
    clock& time;
    controller::metrics& numbers;
    kube::store<model::testbed>& testbeds;
    kube::store<model::batchjob>& jobs;
    kube::store<model::scheduling>& schedulings;
    /// A Testbed as REST shows it.
    std::function<ordered_json(const model::testbed&)> shown;
};

class stomp_topics {
public:
    stomp_topics(stomp_sources from, std::string ns, http::local_access access,
                 stomp_options options);
    /// Adds all paths; `this` must stay where it is from then on.
    void add_to(http::router& router);
    /// Ends all conversations with 1001.
    asio::awaitable<void> stop(steady_time deadline);

private:
    using reply = http::server_reply;
    using request = http::server_request;
    using some_change = std::variant<kube::change<model::testbed>, kube::change<model::batchjob>,
                                     kube::change<model::scheduling>>;
    struct noted {
        std::uint64_t number = 0;
        some_change what;
    };

    asio::awaitable<std::optional<reply>> talk(std::shared_ptr<http::upgrade> from,
                                               stomp::endpoint::framing how, bool sockjs);

    template <class T>
    void follow(kube::store<T>& of);
    void note(some_change what);
    asio::awaitable<void> tell_noted();
    template <class T>
    void tell(std::uint64_t number, const kube::change<T>& what);
    template <class T>
    void say(std::uint64_t number, std::string_view action, const T& about);
    bool is_repeat(const std::string& destination, std::string_view action,
                   const std::string& body);
    ordered_json resource(const model::testbed& of) const { return from_.shown(of); }
    ordered_json resource(const model::batchjob& of) const { return external(of); }
    ordered_json resource(const model::scheduling& of) const { return external(of); }

    stomp::endpoint::present present(const std::string& destination);
    template <class T>
    stomp::shared_message present_of(const kube::store<T>& of, const std::string& destination,
                                     std::string_view name);

    stomp_sources from_;
    std::string namespace_;
    http::local_access access_;
    stomp_options options_;
    stomp::endpoint endpoint_;
    std::deque<noted> noted_;
    std::uint64_t number_ = 0;
    bool telling_ = false;
    /// States that were sent to new subscribers, by destination: a thousand that wait for one
    /// object get the same message.
    struct told {
        std::shared_ptr<const void> object;
        stomp::shared_message state;
        std::size_t hash = 0;
        steady_time until;
    };
    std::map<std::string, told, std::less<>> told_;
    /// Hashes of the last messages of single objects, by destination, if all subscribers there have
    /// received them.
    std::map<std::string, std::size_t, std::less<>> last_;
    task_group tasks_;
};

}  // namespace esi::interface::legacy
