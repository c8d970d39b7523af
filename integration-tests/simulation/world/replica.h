// One replica of an operator: the product's own code over a wire of the network, in a loop of its
// own. It may be killed between any two of its steps: the loop is shut down, which destroys every
// coroutine where it waits, and nothing of it runs again. Owned by the world.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/operator_life.h"
#include "world/network.h"

namespace esi::simulation {

class replica {
public:
    /// `make` makes the operator; `options` are its flags.
    replica(replica_name who, network& wires, timeline& time,
            const controller::process_options& options, controller::operator_factory make);
    ~replica();

    const replica_name& name() const { return who_; }
    /// Starts a new life with an empty memory; nothing when it lives.
    void start();
    /// SIGTERM: it drains, gives its lease back and ends by itself, as a process does
    /// (controller/process.cpp). This call does not wait for it.
    void stop();
    /// kill -9: at once. Never from inside poll().
    void kill();
    bool alive() const { return life_ != nullptr; }
    /// Lives, and has ended by itself (stopped, lease lost, caches not filled) or is to be killed.
    bool ended() const { return ended_; }
    /// Has ended by stop(), to the last line, though it led when it was asked: its lease is free.
    bool resigned() const { return ended_ && led_ && stopped_; }
    /// Told from inside: it computes nothing more and is killed after this step.
    void end() { ended_ = true; }

    /// SIGSTOP and SIGCONT.
    void pause(bool on) { paused_ = on; }
    bool paused() const { return paused_; }
    /// Moves its wall clock, for good.
    void jump(seconds by);

    /// Runs what is ready; false when there was nothing.
    bool poll();
    bool leading() const;
    /// Its readiness probe: the caches are full.
    bool ready() const;
    /// How many lives it began; how the present one signs its lease.
    int lives() const { return lives_; }
    std::string identity() const;
    /// Asks one of its HTTP routes; `done` gets the answer; it is not called when the replica dies
    /// before.
    void ask(http::server_request what, std::function<void(http::server_reply)> done);

private:
    struct life;
    replica_name who_;
    network& wires_;
    timeline& time_;
    const controller::process_options& options_;
    controller::operator_factory make_;
    seconds ahead_{0};
    int lives_ = 0;
    bool ended_ = false;
    bool paused_ = false;
    /// When it was asked to stop.
    bool led_ = false;
    bool stopped_ = false;
    std::unique_ptr<life> life_;
};

}  // namespace esi::simulation
