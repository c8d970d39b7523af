#include "kube/reach.h"

#include <fmt/format.h>

#include "base/log.h"

namespace esi::kube {

namespace {

/// An API server that comes and goes must not fill the log.
constexpr auto tell_pause = std::chrono::seconds(30);

}  // namespace

reach::reach(std::string server, std::string who)
    : name_(fmt::format("API server {} ({})", server, who)) {}

void reach::answered(steady_time now) {
    last_answer_ = now;
    if (!lost_) return;
    lost_ = false;
    log::info(name_ + " is reached");
}

void reach::failed(const error& why, steady_time asked, steady_time now) {
    // Other requests were answered meanwhile: the fault was this request's, or its connection's.
    if (lost_ || (last_answer_ && *last_answer_ >= asked)) return;
    if (last_told_ && now - *last_told_ < tell_pause) return;
    lost_ = true;
    last_told_ = now;
    log::error(fmt::format("{} cannot be reached: {}; trying again", name_, why.text));
}

template <class Answer>
void reaching_transport::note(const Answer& answer, steady_time asked) {
    if (answer) {
        notes_.answered(time_.now());
    } else {
        notes_.failed(answer.error(), asked, time_.now());
    }
}

asio::awaitable<result<response>> reaching_transport::send(request what, steady_time deadline) {
    const auto asked = time_.now();
    auto answer = co_await next_.send(std::move(what), deadline);
    note(answer, asked);
    co_return answer;
}

asio::awaitable<result<std::unique_ptr<stream>>> reaching_transport::open(request what,
                                                                          steady_time deadline) {
    const auto asked = time_.now();
    auto opened = co_await next_.open(std::move(what), deadline);
    note(opened, asked);
    co_return opened;
}

}  // namespace esi::kube
