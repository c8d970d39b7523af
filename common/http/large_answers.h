// Of answers that take much of the memory that all connections share, a further one is made only
// when there is room for it: else it would be made, which may take long, and thrown away. Which
// answers are large is known from the last one of the same path.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/task_group.h"
#include "http/connection_table.h"

namespace esi::http {

class large_answers {
public:
    explicit large_answers(asio::any_io_executor executor) : freed_(std::move(executor)) {}

    /// The right to make a large answer now: one request at a time has it.
    class turn {
    public:
        ~turn();
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

    private:
        friend class large_answers;
        explicit turn(large_answers& of);
        large_answers& of_;
        std::list<turn*>::iterator at_;
    };
    bool is_large(const std::string& path) const { return paths_.contains(path); }
    /// Waits in the order of the requests until `table` has room, which it makes where a connection
    /// is slow. Null: there is none until `deadline`, or too many wait already.
    asio::awaitable<std::unique_ptr<turn>> wait_for_room(connection_table& table, clock& time,
                                                         steady_time deadline);
    /// An answer of that path has so many bytes.
    void made(const std::string& path, std::size_t bytes);
    /// A connection holds less memory than before.
    void freed() { freed_.notify(); }

private:
    notifier freed_;
    /// Who waits or has the turn, the first one first.
    std::list<turn*> waiting_;
    std::set<std::string> paths_;
};

}  // namespace esi::http
