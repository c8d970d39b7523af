// Events that wait to be sent, shared by namespaces: a full queue gives up what the namespace with
// the most has told last, and namespaces take turns, so that one in which much happens takes
// neither the Events of others nor their time. No I/O; bounded.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "controller/event_series.h"

namespace esi::controller {

/// In which an Event is written: the one of its subject, `default` for subjects without one.
const std::string& namespace_of(const event_write& write);

class event_queue {
public:
    explicit event_queue(std::size_t most) : most_(most) {}

    /// True: one was given up for it, or it was itself.
    bool push(event_write write);
    /// Those of one namespace in the order in which they came.
    std::optional<event_write> pop();
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

private:
    std::size_t most_;
    std::size_t size_ = 0;
    /// Of those alone that have some.
    std::map<std::string, std::deque<event_write>> by_namespace_;
    /// The namespace that had its turn last.
    std::string last_;
};

}  // namespace esi::controller
