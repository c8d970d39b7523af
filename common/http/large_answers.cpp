#include "http/large_answers.h"

#include <algorithm>

#include "base/wait.h"

namespace esi::http {

namespace {

/// Smaller answers are made at once: waiting has no benefit.
constexpr std::size_t large_bytes = 1u << 20;
/// Paths that are known to have a large answer. There are as many as large objects; requests for
/// other paths add none.
constexpr std::size_t most_paths = 64;
/// The most requests that wait: more could not be answered in the time that a client waits.
constexpr std::size_t most_waiting = 64;
/// How soon a reader that has become too slow is noticed.
constexpr milliseconds look_again{250};

}  // namespace

large_answers::turn::turn(large_answers& of) : of_(of) {
    at_ = of.waiting_.insert(of.waiting_.end(), this);
}

large_answers::turn::~turn() {
    of_.waiting_.erase(at_);
    of_.freed_.notify();
}

asio::awaitable<std::unique_ptr<large_answers::turn>> large_answers::wait_for_room(
    connection_table& table, clock& time, steady_time deadline) {
    if (waiting_.size() >= most_waiting) co_return nullptr;
    std::unique_ptr<turn> own(new turn(*this));
    while (waiting_.front() != own.get() || !table.has_room(time.now())) {
        const auto now = time.now();
        if (now >= deadline) co_return nullptr;
        co_await ends_by(time, std::min<steady_time>(deadline, now + look_again), freed_.wait());
    }
    co_return own;
}

void large_answers::made(const std::string& path, std::size_t bytes) {
    if (bytes < large_bytes) {
        paths_.erase(path);
        return;
    }
    if (paths_.size() >= most_paths) paths_.clear();
    paths_.insert(path);
}

}  // namespace esi::http
