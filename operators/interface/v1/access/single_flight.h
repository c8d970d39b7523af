// Callers that ask the same at the same time share one question and its answer. No task of its own:
// the first one asks for all; when it is cancelled, one of those that wait asks again.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/task_group.h"

namespace esi::interface::v1 {

template <class Answer>
class single_flight {
public:
    explicit single_flight(asio::any_io_executor executor) : executor_(std::move(executor)) {}
    single_flight(const single_flight&) = delete;
    single_flight& operator=(const single_flight&) = delete;

    using question = std::function<asio::awaitable<Answer>()>;
    /// Called before `ask` is begun for `key`, and only by the caller that would begin it: an
    /// answer instead of it, for example because too many are under way.
    using obstacle = std::function<std::optional<Answer>()>;

    asio::awaitable<Answer> ask(std::string key, obstacle stops, question ask) {
        for (;;) {
            if (const auto known = flights_.find(key); known != flights_.end()) {
                const auto other = known->second;
                co_await other->landed.wait();
                if (other->answer) co_return *other->answer;
                continue;
            }
            if (auto instead = stops()) co_return std::move(*instead);
            const takeoff own(*this, key);
            auto answer = co_await ask();
            own.shared->answer = answer;
            co_return answer;
        }
    }

private:
    struct flight {
        explicit flight(const asio::any_io_executor& executor) : landed(executor) {}
        std::optional<Answer> answer;
        notifier landed;
    };
    /// Informs the others at its end, however it ends.
    struct takeoff {
        takeoff(single_flight& of_, std::string key_)
            : of(of_), key(std::move(key_)), shared(std::make_shared<flight>(of.executor_)) {
            of.flights_.emplace(key, shared);
        }
        ~takeoff() {
            of.flights_.erase(key);
            shared->landed.notify();
        }
        takeoff(const takeoff&) = delete;
        takeoff& operator=(const takeoff&) = delete;

        single_flight& of;
        std::string key;
        std::shared_ptr<flight> shared;
    };

    asio::any_io_executor executor_;
    std::map<std::string, std::shared_ptr<flight>, std::less<>> flights_;
};

}  // namespace esi::interface::v1
