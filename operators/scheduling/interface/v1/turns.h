// Answers that take long to work out have the loop one after another, so that what else the process
// does waits for one of them at most: a request for a turn waits behind those of other callers, and
// behind few of its own. Owned by the surface; used on the process' loop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "base/task_group.h"

namespace esi::scheduling::v1 {

class turns {
public:
    struct bounds {
        /// That wait at a time, of one caller and of all.
        std::size_t of_caller = 32;
        std::size_t of_all = 512;
    };

    explicit turns(asio::any_io_executor executor) : turns(std::move(executor), bounds()) {}
    turns(asio::any_io_executor executor, bounds most)
        : executor_(std::move(executor)), most_(most) {}
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    /// Until it is destroyed no other turn begins.
    class turn {
    public:
        explicit turn(turns& of) : of_(of) {}
        ~turn() { of_.pass_on(); }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

    private:
        turns& of_;
    };

    /// Null: too many wait already. What is ready on the loop runs before the turn begins.
    asio::awaitable<std::unique_ptr<turn>> take(std::string caller);

private:
    struct waiter {
        std::string caller;
        notifier bell;
        bool called = false;
    };
    void pass_on();

    asio::any_io_executor executor_;
    bounds most_;
    /// In the order in which they came.
    std::list<waiter*> waiting_;
    std::string last_;
    bool taken_ = false;
};

}  // namespace esi::scheduling::v1
