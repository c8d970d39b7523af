#include "http/admission.h"

#include <boost/asio/this_coro.hpp>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "http/problem.h"

namespace esi::http {

namespace {

server_reply too_late() {
    problem_details what;
    what.status = 503;
    what.detail = "whether this request may be answered could not be found out in time";
    what.retryable = true;
    what.retry_after_seconds = 2;
    return reply_of(what);
}

asio::awaitable<void> ask(const admission& admit, server_request& head,
                          std::optional<server_reply>& into) {
    into = co_await admit(head);
}

}  // namespace

asio::awaitable<std::optional<server_reply>> refusal_by(const admission& admit,
                                                        server_request& head, clock& time,
                                                        steady_time deadline) {
    std::optional<server_reply> out;
    std::exception_ptr thrown;
    try {
        const bool ended = co_await ends_by(time, deadline, ask(admit, head, out));
        if (!ended) out = too_late();
    } catch (...) {
        thrown = std::current_exception();
    }
    if (!thrown) co_return out;
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) std::rethrow_exception(thrown);
    std::string why = "unknown exception";
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {
    }
    log::error("an admission failed inside",
               {{"request", head.method + " " + head.raw_path}, {"error", why}});
    co_return problem(500, "this is a fault of the server; its log says more");
}

}  // namespace esi::http
