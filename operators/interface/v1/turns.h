// Large answers use the loop one after another, so that other work of the process waits for at most
// one of them. Tenants (access/tenant.h) take turns, the one whose last turn is longest ago first,
// and few requests of each wait. Owned by the surface; used on the process' loop.
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
        /// How many may wait at a time, of one caller and of all. The latter are shared by tenants
        /// (access/fair_share.h).
        std::size_t of_caller = 32;
        std::size_t of_all = 512;
    };

    explicit turns(asio::any_io_executor executor) : turns(std::move(executor), bounds()) {}
    turns(asio::any_io_executor executor, bounds most)
        : executor_(std::move(executor)), most_(most), shared_(most.of_all) {}
    turns(const turns&) = delete;
    turns& operator=(const turns&) = delete;

    /// No other turn begins until it is destroyed.
    class turn {
    public:
        explicit turn(turns& of) : of_(of) {}
        ~turn() { of_.pass_on(); }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

    private:
        turns& of_;
    };

    /// Null: too many wait already. Ready work on the loop runs before the turn begins.
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
    /// The number of the last turn by tenant, for few more tenants than wait.
    std::map<std::string, std::uint64_t, std::less<>> last_turns_;
    /// The last turn of all forgotten tenants: one that comes back is after those that wait.
    std::uint64_t forgotten_ = 0;
    std::uint64_t begun_ = 0;
    bool taken_ = false;
};

}  // namespace esi::interface::v1
