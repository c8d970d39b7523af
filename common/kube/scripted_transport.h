// A transport for tests: answers in the order they were given, and keeps what was asked. Never
// waits for anything but the virtual clock.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task_group.h"
#include "base/wait.h"
#include "kube/transport.h"

namespace esi::kube {

/// The far end of one stream. The test pushes pieces and ends it.
struct scripted_stream {
    explicit scripted_stream(asio::any_io_executor executor) : more(std::move(executor)) {}

    void send(std::string piece) {
        pieces.push_back(std::move(piece));
        more.notify();
    }
    void close() {
        closed = true;
        more.notify();
    }
    void cut(error why) {
        failure = std::move(why);
        more.notify();
    }

    int status = 200;
    int retry_after_seconds = -1;
    std::deque<std::string> pieces;
    bool closed = false;
    std::optional<error> failure;
    notifier more;
};

class scripted_transport final : public transport {
public:
    scripted_transport(asio::any_io_executor executor, clock& time)
        : executor_(std::move(executor)), time_(time) {}

    /// Answers a request; unset: by `answers`, in their order.
    std::function<result<response>(const request&)> respond;
    std::deque<result<response>> answers;
    /// Streams opened so far, each waiting for the test to send.
    std::vector<std::shared_ptr<scripted_stream>> streams;
    /// Prepares the next streams (status, first pieces); in order, then plain ones.
    std::deque<std::function<void(scripted_stream&)>> next_streams;
    /// "GET /api/v1/pods?..." in order.
    std::vector<std::string> asked;
    std::vector<std::string> bodies;
    /// Every request takes so long.
    steady_time::duration latency{};

    asio::awaitable<result<response>> send(request what, steady_time deadline) override {
        asked.push_back(what.method + " " + what.target);
        bodies.push_back(what.body);
        const bool late = time_.now() + latency > deadline;
        auto until = late ? deadline : time_.now() + latency;
        if (latency > steady_time::duration::zero()) co_await time_.sleep_until(until);
        if (late) co_return fail(errc::timeout, "the deadline passed");
        if (respond) co_return respond(what);
        if (answers.empty()) co_return fail(errc::transport, "connection refused");
        auto next = std::move(answers.front());
        answers.pop_front();
        co_return next;
    }

    asio::awaitable<result<std::unique_ptr<stream>>> open(request what, steady_time) override {
        asked.push_back(what.method + " " + what.target);
        bodies.push_back(what.body);
        auto end = std::make_shared<scripted_stream>(executor_);
        if (!next_streams.empty()) {
            next_streams.front()(*end);
            next_streams.pop_front();
        }
        streams.push_back(end);
        if (end->failure) co_return std::unexpected(*end->failure);
        co_return std::make_unique<near_end>(time_, end);
    }

private:
    class near_end final : public stream {
    public:
        near_end(clock& time, std::shared_ptr<scripted_stream> end)
            : time_(time), end_(std::move(end)) {}
        int status() const override { return end_->status; }
        int retry_after_seconds() const override { return end_->retry_after_seconds; }
        asio::awaitable<result<std::string>> read(steady_time deadline) override {
            while (true) {
                if (!end_->pieces.empty()) {
                    auto piece = std::move(end_->pieces.front());
                    end_->pieces.pop_front();
                    co_return piece;
                }
                if (end_->failure) co_return std::unexpected(*end_->failure);
                if (end_->closed) co_return std::string();
                bool in_time = co_await ends_by(time_, deadline, end_->more.wait());
                if (!in_time) co_return fail(errc::timeout, "nothing came until the idle limit");
            }
        }

    private:
        clock& time_;
        std::shared_ptr<scripted_stream> end_;
    };

    asio::any_io_executor executor_;
    clock& time_;
};

}  // namespace esi::kube
