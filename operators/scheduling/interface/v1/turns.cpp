#include "scheduling/interface/v1/turns.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace esi::scheduling::v1 {

asio::awaitable<std::unique_ptr<turns::turn>> turns::take(std::string caller) {
    if (taken_) {
        const auto own = std::ranges::count(waiting_, caller, &waiter::caller);
        if (waiting_.size() >= most_.of_all || static_cast<std::size_t>(own) >= most_.of_caller) {
            co_return nullptr;
        }
        waiter self{std::move(caller), notifier(executor_)};
        /// Also where the wait is cancelled, before or after it was called.
        struct entry {
            turns& of;
            waiter& self;
            std::list<waiter*>::iterator at;
            bool has_turn = false;
            ~entry() {
                if (!self.called) of.waiting_.erase(at);
                if (self.called && !has_turn) of.pass_on();
            }
        } place{*this, self, waiting_.insert(waiting_.end(), &self)};
        while (!self.called) co_await self.bell.wait();
        place.has_turn = true;
    } else {
        taken_ = true;
        last_ = std::move(caller);
    }
    auto out = std::make_unique<turn>(*this);
    co_await asio::post(executor_, asio::use_awaitable);
    co_return out;
}

void turns::pass_on() {
    taken_ = !waiting_.empty();
    if (!taken_) return;
    auto next =
        std::ranges::find_if(waiting_, [&](const auto* each) { return each->caller != last_; });
    if (next == waiting_.end()) next = waiting_.begin();
    auto* of = *next;
    waiting_.erase(next);
    last_ = of->caller;
    of->called = true;
    of->bell.notify();
}

}  // namespace esi::scheduling::v1
