// A transport for tests: answers in the order they were given, and keeps the requests. Never waits
// for anything but the virtual clock.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/testing/fed_stream.h"

namespace esi::kube {

class scripted_transport final : public transport {
public:
    scripted_transport(asio::any_io_executor executor, clock& time)
        : executor_(std::move(executor)), time_(time) {}

    /// Answers a request; unset: by `answers`, in their order.
    std::function<result<response>(const request&)> respond;
    std::deque<result<response>> answers;
    /// Streams opened so far, each waiting for the test to send.
    std::vector<std::shared_ptr<stream_feed>> streams;
    /// Prepares the next streams (status, first pieces); in order, then plain ones.
    std::deque<std::function<void(stream_feed&)>> next_streams;
    /// "GET /api/v1/pods?..." in order.
    std::vector<std::string> asked;
    std::vector<std::string> bodies;
    /// The time that every request takes.
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
        auto end = std::make_shared<stream_feed>(executor_);
        if (!next_streams.empty()) {
            next_streams.front()(*end);
            next_streams.pop_front();
        }
        streams.push_back(end);
        if (const auto failure = end->failure) co_return std::unexpected(*failure);
        co_return std::make_unique<fed_stream>(time_, end);
    }

private:
    asio::any_io_executor executor_;
    clock& time_;
};

}  // namespace esi::kube
