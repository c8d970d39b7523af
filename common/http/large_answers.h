// A further answer that takes much of the memory shared by all connections is made only when there
// is room for it: otherwise it would be made, which may take long, and dropped. The last answer of
// the same path shows whether it is large.
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

    /// The right to make a large answer now; one request at a time has it.
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
    /// Waits in the order of the requests until `table` has room, which it makes by cutting slow
    /// connections. Null: there is none until `deadline`, or too many wait already.
    asio::awaitable<std::unique_ptr<turn>> wait_for_room(connection_table& table, clock& time,
                                                         steady_time deadline);
    /// Records the length of an answer of that path, in bytes.
    void made(const std::string& path, std::size_t bytes);
    /// A connection holds less memory than before.
    void freed() { freed_.notify(); }

private:
    notifier freed_;
    /// The requests that wait or have the turn, the first one first.
    std::list<turn*> waiting_;
    std::set<std::string> paths_;
};

}  // namespace esi::http
