// One operator as a standby has it: all caches full, with their transforms, indexes and listeners;
// it never leads. What its watches show is pushed by the oracle.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/virtual_clock.h"
#include "controller/operator_life.h"
#include "kube/testing/fed_stream.h"

namespace esi::memory {

/// Answers each watch with an empty list and what is pushed; refuses everything else.
class shown_transport final : public kube::transport {
public:
    shown_transport(asio::any_io_executor executor, clock& time)
        : executor_(std::move(executor)), time_(time) {}
    asio::awaitable<result<kube::response>> send(kube::request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request what,
                                                                steady_time deadline) override;
    /// By the path of the list; of two watches of one kind the last.
    std::map<std::string, std::shared_ptr<kube::stream_feed>> watches;

private:
    asio::any_io_executor executor_;
    clock& time_;
};

class standby {
public:
    standby(std::string name, const controller::operator_factory& make);
    ~standby();

    /// Paths of the lists of all kinds that it watches.
    std::vector<std::string> watched() const;
    void show(const std::string& list, std::string event_line);

private:
    void settle();

    asio::io_context loop_;
    virtual_clock time_;
    shown_transport wire_{loop_.get_executor(), time_};
    shown_transport no_lease_{loop_.get_executor(), time_};
    controller::metrics numbers_;
    http::router routes_;
    controller::process_options options_;
    controller::operator_life life_;
    task_group tasks_{loop_.get_executor()};
};

}  // namespace esi::memory
