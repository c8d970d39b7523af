// Topics and who subscribed to them, without I/O. Each message is made once, however many get it.
// Owned by the endpoint; listeners have to forget() themselves before they go.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace esi::stomp {

/// The parts of a MESSAGE frame that all its readers share. Between them stand the lines of
/// session::message_headers().
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
    /// Must only note it: the broker is in the middle of telling all.
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
    /// Tells all that subscribed to it, in the order of their subscriptions; those with a pattern
    /// last. `body` is called at most once, and not where nobody listens; an empty one is told to
    /// nobody. Returns how many got it.
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
    /// Who subscribed to what: id -> destination.
    std::map<listener*, std::map<std::string, std::string, std::less<>>> listeners_;
    std::size_t count_ = 0;
};

}  // namespace esi::stomp
