// A stream whose far end is in the same process: for tests and the simulation. Never waits for
// anything but the clock that it is given.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/task_group.h"
#include "base/wait.h"
#include "kube/transport.h"

namespace esi::kube {

/// The far end: pushes pieces, and ends the stream once. Pieces after the end are lost.
struct stream_feed {
    explicit stream_feed(asio::any_io_executor executor) : more(std::move(executor)) {}

    bool over() const { return closed || failure.has_value(); }
    void push(std::string piece) {
        if (over() || piece.empty()) return;
        pieces.push_back(std::move(piece));
        more.notify();
    }
    void close() {
        closed = true;
        more.notify();
    }
    void cut(error why = error{errc::transport, "connection reset by peer"}) {
        if (!failure) failure = std::move(why);
        more.notify();
    }

    int status = 200;
    int retry_after_seconds = -1;
    std::optional<wall_time> date;
    std::deque<std::string> pieces;
    bool closed = false;
    std::optional<error> failure;
    notifier more;
};

/// The near end: gives the pieces in order, then the failure or the orderly end.
class fed_stream final : public stream {
public:
    fed_stream(clock& time, std::shared_ptr<stream_feed> feed)
        : time_(time), feed_(std::move(feed)) {}

    int status() const override { return feed_->status; }
    int retry_after_seconds() const override { return feed_->retry_after_seconds; }
    std::optional<wall_time> date() const override { return feed_->date; }
    asio::awaitable<result<std::string>> read(steady_time deadline) override {
        while (true) {
            if (!feed_->pieces.empty()) {
                auto piece = std::move(feed_->pieces.front());
                feed_->pieces.pop_front();
                co_return piece;
            }
            if (const auto failure = feed_->failure) co_return std::unexpected(*failure);
            if (feed_->closed) co_return std::string();
            bool in_time = co_await ends_by(time_, deadline, feed_->more.wait());
            if (!in_time) co_return fail(errc::timeout, "nothing came until the idle limit");
        }
    }

private:
    clock& time_;
    std::shared_ptr<stream_feed> feed_;
};

}  // namespace esi::kube
