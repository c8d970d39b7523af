// A bound on what is under way at a time: later callers wait for their turn.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "base/task_group.h"

namespace esi::gangs {

class request_slots {
public:
    request_slots(asio::any_io_executor executor, std::size_t count)
        : executor_(std::move(executor)), free_(count) {}

    /// Held until it is destroyed.
    class slot {
    public:
        explicit slot(request_slots& of) : of_(&of) {}
        slot(slot&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        slot& operator=(slot&&) = delete;
        ~slot() {
            if (of_) of_->leave();
        }

    private:
        request_slots* of_;
    };

    /// In the order of the calls. Cancelled only together with all others.
    asio::awaitable<slot> enter() {
        if (free_ > 0) {
            --free_;
            co_return slot(*this);
        }
        auto turn = std::make_shared<notifier>(executor_);
        waiting_.push_back(turn);
        co_await turn->wait();
        co_return slot(*this);
    }

private:
    void leave() {
        if (waiting_.empty()) {
            ++free_;
            return;
        }
        // It goes from hand to hand.
        waiting_.front()->notify();
        waiting_.pop_front();
    }

    asio::any_io_executor executor_;
    std::size_t free_;
    std::deque<std::shared_ptr<notifier>> waiting_;
};

}  // namespace esi::gangs
