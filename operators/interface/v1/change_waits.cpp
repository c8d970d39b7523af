#include "interface/v1/change_waits.h"

#include <algorithm>

#include "base/wait.h"
#include "interface/v1/wire/parameters.h"

namespace esi::interface::v1 {

std::uint64_t number_of_version(std::string_view version) {
    return parse_number(version).value_or(0);
}

void change_waits::changed(const wait_place& at, std::uint64_t version) {
    const wait_place ns{at.kind, {at.key.namespace_, ""}};
    const wait_place all{at.kind, {}};
    for (const auto* whole : {&ns, &all}) {
        auto& last = last_[*whole];
        last = std::max(last, version);
    }
    for (const auto* each : {&at, &ns, &all}) ring(*each);
}

void change_waits::ring(const wait_place& at) {
    for (auto [begin, end] = waiting_.equal_range(at); begin != end; ++begin) {
        begin->second->notify();
    }
}

asio::awaitable<change_waits::outcome> change_waits::until(wait_place at,
                                                           std::function<bool()> is_due,
                                                           steady_time deadline,
                                                           std::function<bool()> has_left) {
    if (is_due()) co_return outcome::due;
    notifier bell(executor_);
    /// Removes the entry also if the wait is cancelled.
    struct entry {
        std::multimap<wait_place, notifier*>& in;
        std::multimap<wait_place, notifier*>::iterator at;
        ~entry() { in.erase(at); }
    } entry{waiting_, waiting_.emplace(at, &bell)};
    while (!stopping_) {
        const auto next = has_left ? std::min(deadline, time_.now() + look_for_caller) : deadline;
        const bool rung = co_await ends_by(time_, next, bell.wait());
        if (is_due()) co_return outcome::due;
        if (!rung && has_left && has_left()) co_return outcome::left;
        if (!rung && time_.now() >= deadline) co_return outcome::time_up;
    }
    co_return outcome::stopping;
}

void change_waits::stop() {
    stopping_ = true;
    for (const auto& [unused, bell] : waiting_) bell->notify();
}

}  // namespace esi::interface::v1
