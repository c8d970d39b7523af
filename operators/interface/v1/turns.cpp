#include "interface/v1/turns.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "interface/v1/access/tenant.h"

namespace esi::interface::v1 {

asio::awaitable<std::unique_ptr<turns::turn>> turns::take(std::string caller) {
    if (taken_) {
        const std::string tenant(tenant_of(caller));
        const auto own = std::ranges::count(waiting_, caller, &waiter::caller);
        if (!shared_.has_room(tenant) || static_cast<std::size_t>(own) >= most_.of_caller) {
            co_return nullptr;
        }
        const fair_count::one counted(shared_, tenant);
        waiter self{std::move(caller), notifier(executor_)};
        /// Removes the entry also if the wait is cancelled, before or after its turn.
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
        begins(tenant_of(caller));
    }
    auto out = std::make_unique<turn>(*this);
    co_await asio::post(executor_, asio::use_awaitable);
    co_return out;
}

void turns::begins(std::string_view tenant) {
    const auto waits = [&](std::string_view which) {
        return std::ranges::any_of(
            waiting_, [&](const auto* each) { return tenant_of(each->caller) == which; });
    };
    if (last_turns_.size() > waiting_.size()) {
        std::erase_if(last_turns_, [&](const auto& each) {
            if (waits(each.first)) return false;
            forgotten_ = std::max(forgotten_, each.second);
            return true;
        });
    }
    last_turns_.insert_or_assign(std::string(tenant), ++begun_);
}

void turns::pass_on() {
    taken_ = !waiting_.empty();
    if (!taken_) return;
    const auto last_turn = [&](const waiter* each) -> std::uint64_t {
        const auto found = last_turns_.find(tenant_of(each->caller));
        return found == last_turns_.end() ? forgotten_ : found->second;
    };
    const auto next = std::ranges::min_element(waiting_, {}, last_turn);
    auto* of = *next;
    waiting_.erase(next);
    begins(tenant_of(of->caller));
    of->called = true;
    of->bell.notify();
}

}  // namespace esi::interface::v1
