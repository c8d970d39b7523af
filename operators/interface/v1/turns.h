// Answers that take long to work out have the loop one after another, so that what else the process
// does waits for one of them at most: tenants (access/tenant.h) have it in turns, whichever has had
// none for the longest first, and few of each wait. Owned by the surface; used on the process'
// loop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/task_group.h"
#include "interface/v1/access/fair_share.h"

namespace esi::interface::v1 {

class turns {
public:
    struct bounds {
        /// That wait at a time, of one caller and of all. The latter are shared by tenants
        /// (access/fair_share.h).
        std::size_t of_caller = 32;
        std::size_t of_all = 512;
    };

    explicit turns(asio::any_io_executor executor) : turns(std::move(executor), bounds()) {}
    turns(asio::any_io_executor executor, bounds most)
        : executor_(std::move(executor)), most_(most), shared_(most.of_all) {}
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
    void begins(std::string_view tenant);
    void pass_on();

    asio::any_io_executor executor_;
    bounds most_;
    /// In the order in which they came.
    std::list<waiter*> waiting_;
    fair_count shared_;
    /// By tenant, of few more than wait: the number of its last turn.
    std::map<std::string, std::uint64_t, std::less<>> last_turns_;
    /// The last turn of all tenants that are forgotten: who comes back is behind those that wait.
    std::uint64_t forgotten_ = 0;
    std::uint64_t begun_ = 0;
    bool taken_ = false;
};

}  // namespace esi::interface::v1
