// The messages that wait to be sent to one client: in order, bounded in number and bytes. No I/O.
// Owned by the client's connection.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "stomp/broker.h"

namespace esi::stomp {

struct outbox_limits {
    std::size_t messages = 4096;
    /// Applies from `few` waiting messages on: fewer are no sign of a client that reads too slowly.
    std::size_t bytes = 4u << 20;
    std::size_t few = 8;
};

class outbox {
public:
    struct entry {
        /// A whole frame, or the lines between the two parts of `shared`.
        std::string own;
        shared_message shared;

        std::size_t size() const { return own.size() + (shared ? shared->size() : 0); }
        std::string text() const { return shared ? shared->before + own + shared->after : own; }
    };

    explicit outbox(outbox_limits limits) : limits_(limits) {}

    /// False if it does not fit: the client reads too slowly. A few messages always fit, however
    /// large: a new client may get several large objects at once.
    bool push(entry what) {
        const auto size = what.size();
        const auto count = waiting_.size();
        if (count > 0 && count >= limits_.messages) return false;
        if (count >= limits_.few && bytes_ + size > limits_.bytes) return false;
        bytes_ += size;
        waiting_.push_back(std::move(what));
        return true;
    }
    std::optional<entry> pop() {
        if (waiting_.empty()) return std::nullopt;
        auto out = std::move(waiting_.front());
        waiting_.pop_front();
        bytes_ -= out.size();
        return out;
    }
    void clear() {
        waiting_ = {};
        bytes_ = 0;
    }
    bool empty() const { return waiting_.empty(); }
    std::size_t messages() const { return waiting_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    outbox_limits limits_;
    std::deque<entry> waiting_;
    std::size_t bytes_ = 0;
};

}  // namespace esi::stomp
