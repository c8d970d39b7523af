// Events that wait to be sent, shared by namespaces: a full queue drops the last Event of the
// namespace with the most, and namespaces take turns, so that a busy one takes neither the Events
// of others nor their time. No I/O; bounded.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "controller/event_series.h"

namespace esi::controller {

/// The namespace in which an Event is written: that of its subject, `default` for subjects without
/// one.
const std::string& namespace_of(const event_write& write);

class event_queue {
public:
    explicit event_queue(std::size_t most) : most_(most) {}

    /// True: an Event was dropped for it, or it was dropped itself.
    bool push(event_write write);
    /// Events of one namespace come out in the order in which they were pushed.
    std::optional<event_write> pop();
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

private:
    std::size_t most_;
    std::size_t size_ = 0;
    /// Only namespaces that have some.
    std::map<std::string, std::deque<event_write>> by_namespace_;
    /// The namespace that had its turn last.
    std::string last_;
};

}  // namespace esi::controller
