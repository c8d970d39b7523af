#include "controller/event_queue.h"

#include <algorithm>
#include <utility>

namespace esi::controller {

const std::string& namespace_of(const event_write& write) {
    static const std::string without = "default";
    const auto& own = write.what.subject.namespace_;
    return own.empty() ? without : own;
}

bool event_queue::push(event_write write) {
    const bool full = size_ >= most_;
    if (full) {
        const auto most = std::ranges::max_element(
            by_namespace_, {}, [](const auto& each) { return each.second.size(); });
        const auto own = by_namespace_.find(namespace_of(write));
        const auto its = own == by_namespace_.end() ? 0 : own->second.size();
        if (most == by_namespace_.end() || most->second.size() <= its) return true;
        most->second.pop_back();
        if (most->second.empty()) by_namespace_.erase(most);
        --size_;
    }
    auto& into = by_namespace_[namespace_of(write)];
    into.push_back(std::move(write));
    ++size_;
    return full;
}

std::optional<event_write> event_queue::pop() {
    if (size_ == 0) return std::nullopt;
    auto next = by_namespace_.upper_bound(last_);
    if (next == by_namespace_.end()) next = by_namespace_.begin();
    last_ = next->first;
    std::optional out = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) by_namespace_.erase(next);
    --size_;
    return out;
}

}  // namespace esi::controller
