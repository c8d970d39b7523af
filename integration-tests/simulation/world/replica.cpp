#include "world/replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace esi::simulation {

namespace {

/// A loop that can be stopped for good while the objects that used it still exist: pending
/// handlers, and with them the coroutines that wait, are destroyed.
class mortal_loop : public asio::io_context {
public:
    mortal_loop() : asio::io_context(1) {}
    void die() { shutdown(); }
};

/// The common time; the wall clock may go wrong.
class skewed_clock final : public clock {
public:
    skewed_clock(virtual_clock& base, const seconds& ahead) : base_(base), ahead_(ahead) {}
    steady_time now() const override { return base_.now(); }
    wall_time wall() const override { return base_.wall() + ahead_; }
    asio::awaitable<void> sleep_until(steady_time when) override { return base_.sleep_until(when); }

private:
    virtual_clock& base_;
    const seconds& ahead_;
};

asio::awaitable<void> answer(const http::router& routes, http::server_request what,
                             std::function<void(http::server_reply)> done) {
    auto reply = co_await routes.answer(std::move(what));
    done(std::move(reply));
}

}  // namespace

struct replica::life {
    explicit life(replica& of)
        : time(of.time_.clock(), of.ahead_),
          wire(of.wires_.connect(of.who_, loop.get_executor(), time, false)),
          lease_wire(of.wires_.connect(of.who_, loop.get_executor(), time, true)),
          tasks(loop.get_executor()),
          whole(controller::ground{loop.get_executor(), time, *wire, lease_wire.get(), numbers,
                                   routes, of.options_, "esi-" + of.who_.operator_, of.identity(),
                                   "", "api-server", nullptr},
                of.make_, [&of] {
                    of.led_ = false;  // nothing is left to give back
                    of.end();
                }) {
        tasks.spawn("life", run(of));
    }

    asio::awaitable<void> run(replica& of) {
        co_await whole.run();
        co_await whole.stop();
        of.stopped_ = true;
        of.end();
    }

    // The order is that of the needs: the loop goes last.
    mortal_loop loop;
    skewed_clock time;
    std::unique_ptr<kube::transport> wire;
    std::unique_ptr<kube::transport> lease_wire;
    controller::metrics numbers;
    http::router routes;
    task_group tasks;
    controller::operator_life whole;
};

replica::replica(replica_name who, network& wires, timeline& time,
                 const controller::process_options& options, controller::operator_factory make)
    : who_(std::move(who)), wires_(wires), time_(time), options_(options), make_(std::move(make)) {}
replica::~replica() { kill(); }

void replica::start() {
    if (life_) return;
    ended_ = false;
    paused_ = false;
    led_ = stopped_ = false;
    ++lives_;
    life_ = std::make_unique<life>(*this);
}

void replica::stop() {
    if (!life_) return;
    led_ = leading();
    life_->whole.ask_to_stop();
}

void replica::kill() {
    if (!life_) return;
    life_->loop.die();
    life_.reset();
    ended_ = false;
    paused_ = false;
}

void replica::jump(seconds by) { ahead_ += by; }

bool replica::poll() {
    if (!life_ || paused_ || ended_) return false;
    life_->loop.restart();
    return life_->loop.poll() > 0;
}

bool replica::leading() const { return life_ && life_->whole.leading(); }

bool replica::ready() const {
    if (!life_ || ended_) return false;
    return std::ranges::all_of(life_->whole.checks(), [](const auto& one) { return one.passed; });
}

std::string replica::identity() const {
    return fmt::format("replica-{}_{}", who_.index, lives_ - 1);
}

void replica::ask(http::server_request what, std::function<void(http::server_reply)> done) {
    if (!life_) return done(http::server_reply(0, "", ""));
    life_->tasks.spawn("request", answer(life_->routes, std::move(what), std::move(done)));
}

}  // namespace esi::simulation
