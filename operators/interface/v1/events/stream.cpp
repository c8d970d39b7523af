#include "interface/v1/events/stream.h"

#include <fmt/format.h>

#include <expected>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "interface/v1/events/conversation.h"
#include "interface/v1/wire/problems.h"

namespace esi::interface::v1::events {

namespace {

http::server_reply refused(const http::problem_details& why, const http::server_request& request) {
    return http::reply_of(why, request.raw_path);
}

asio::awaitable<std::expected<std::vector<kind>, http::problem_details>> allowed(
    access& rights, const http::identity& who, const selection& asked) {
    std::vector<kind> out;
    std::optional<http::problem_details> last;
    for (const auto each : asked.kinds) {
        std::optional<http::problem_details> why;
        for (const auto* verb : {"list", "watch"}) {
            if (why) break;
            why = co_await rights.refusal(who, permission{verb, std::string(type_of(each).plural)},
                                          asked.ns, "");
        }
        if (!why) {
            out.push_back(each);
        } else if (asked.kinds_asked || why->status != 403) {
            co_return std::unexpected(std::move(*why));
        } else {
            last = std::move(why);
        }
    }
    if (out.empty() && last) co_return std::unexpected(std::move(*last));
    co_return out;
}

}  // namespace

asio::awaitable<http::server_reply> open_stream(hub& of, http::server_request request) {
    auto asked = select(request);
    if (!asked) co_return refused(asked.error(), request);
    auto caller = request.caller;
    if (!caller) {
        auto who = co_await of.rights().authenticate(request);
        if (!who) co_return refused(who.error(), request);
        caller = *who;
    }
    if (of.feeds().select(asked->kinds, asked->ns).empty()) {
        co_return refused(
            problem_of(404, problem_code::namespace_not_watched,
                       fmt::format("ESI does not watch the namespace {} (--namespace)", asked->ns)),
            request);
    }
    auto kinds = co_await allowed(of.rights(), *caller, *asked);
    if (!kinds) co_return refused(kinds.error(), request);
    if (of.stopping())
        co_return refused(unavailable(problem_code::stopping, "the operator is ending"), request);
    if (!of.synced()) {
        co_return refused(
            unavailable(problem_code::caches_not_synced, "the caches are not filled yet"), request);
    }
    if (of.streams() >= of.options().most_streams) {
        co_return refused(
            unavailable(
                "TooManyStreams",
                fmt::format("{} streams of events are open, no more are taken", of.streams())),
            request);
    }
    std::optional<quota::lease> place;
    if (auto* limits = of.limits()) {
        place = limits->take(*caller, quota::kind::stream);
        if (!place) co_return refused(limits->refused(quota::kind::stream), request);
    }
    asked->kinds = std::move(*kinds);
    http::server_reply out(200, std::string(media_type(asked->how)), "");
    out.headers = {{"Cache-Control", "no-store"},
                   // Asks proxies not to hold events back.
                   {"X-Accel-Buffering", "no"}};
    auto talk =
        std::make_shared<conversation>(of, std::move(*asked), std::move(request), std::move(place));
    out.stream = [talk = std::move(talk)](http::stream_writer& to) { return talk->run(to); };
    co_return out;
}

}  // namespace esi::interface::v1::events
