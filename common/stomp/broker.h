// Topics and their subscribers, without I/O. Each message is made once, whatever the number of its
// readers. Owned by the endpoint; listeners have to forget() themselves before they go.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace esi::stomp {

/// The parts of a MESSAGE frame that all its readers share. The lines of session::message_headers()
/// come between them.
struct message {
    std::string before;  ///< command, destination, content type
    std::string after;   ///< content-length, the body, NUL

    std::size_t size() const { return before.size() + after.size(); }
};
using shared_message = std::shared_ptr<const message>;

/// `destination` is fit for a header as it is.
shared_message make_message(std::string_view destination, std::string_view body);

class listener {
public:
    virtual ~listener() = default;
    /// Must only note the message: the broker is in the middle of delivering to all.
    virtual void deliver(const std::string& subscription, const shared_message& what) = 0;
};

class broker {
public:
    using body_maker = std::function<std::string()>;

    /// Changes with a number below `since` are not for it: it has seen a later state.
    void subscribe(listener& who, std::string id, std::string destination, std::uint64_t since = 0);
    void unsubscribe(listener& who, const std::string& id);
    void forget(listener& who);

    std::size_t subscriptions() const { return count_; }
    /// Delivers to all its subscribers, in the order of their subscriptions; those with a pattern
    /// last. `body` is called at most once, and not without a subscriber; an empty one is not
    /// delivered. Returns how many got it.
    std::size_t publish(const std::string& destination, std::uint64_t number,
                        const body_maker& body) const;

private:
    struct subscription {
        listener* who = nullptr;
        std::string id;
        std::uint64_t since = 0;
    };
    using listed = std::map<std::string, std::vector<subscription>, std::less<>>;
    listed& list_of(std::string_view destination);

    listed exact_;     ///< by destination
    listed patterns_;  ///< by pattern
    /// Subscriptions by listener: id -> destination.
    std::map<listener*, std::map<std::string, std::string, std::less<>>> listeners_;
    std::size_t count_ = 0;
};

}  // namespace esi::stomp
