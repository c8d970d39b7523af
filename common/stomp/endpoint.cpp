#include "stomp/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "base/log.h"
#include "base/wait.h"
#include "http/problem.h"
#include "http/websocket.h"

namespace esi::stomp {

namespace {

using nlohmann::json;

constexpr int going_away = 1001;
constexpr int policy = 1008;
/// How long a client that is dropped may take to read what is under way.
constexpr seconds last_words{2};
/// A client that read something this short ago still reads.
constexpr milliseconds reads_within{250};
constexpr std::size_t much = 64;
constexpr std::size_t wakes_per_turn = 64;
constexpr std::size_t messages_per_write = 64;
/// Bytes taken out of the queue are not counted there any more: few at a time.
constexpr std::size_t bytes_per_write = 64u << 10;

steady_time now() { return std::chrono::steady_clock::now(); }

std::string random_name() {
    std::random_device source;
    return fmt::format("{:08x}{:08x}", source(), source());
}

http::websocket::parts parts_of(const outbox::entry& of) {
    if (!of.shared) return {asio::buffer(of.own)};
    return {asio::buffer(of.shared->before), asio::buffer(of.own), asio::buffer(of.shared->after)};
}

/// One frame as SockJS sends it.
std::string sockjs_frame(std::string_view text) {
    return "a[" + json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace) +
           "]";
}

/// The messages of a SockJS client: a list of strings, or one string. Nothing: neither.
std::optional<std::vector<std::string>> sockjs_messages(const std::string& text) {
    std::vector<std::string> out;
    if (text.empty()) return out;
    const auto parsed = json::parse(text, nullptr, false);
    if (parsed.is_string()) {
        out.push_back(parsed.get<std::string>());
        return out;
    }
    if (!parsed.is_array()) return std::nullopt;
    for (const auto& each : parsed) {
        if (!each.is_string()) return std::nullopt;
        out.push_back(each.get<std::string>());
    }
    return out;
}

}  // namespace

struct endpoint::client final : listener, std::enable_shared_from_this<endpoint::client> {
    client(endpoint& own, framing how_, std::string id)
        : owner(own),
          how(how_),
          talk(own.options_.session, std::move(id), now()),
          waiting(own.options_.queue),
          wake(own.executor_, steady_time::max()),
          last_read(now()) {}

    void deliver(const std::string& subscription, const shared_message& what) override {
        if (closing) return;
        owner.push(*this, {talk.message_headers(subscription), what});
    }

    endpoint& owner;
    framing how;
    std::shared_ptr<http::websocket> wire;
    session talk;
    outbox waiting;
    asio::steady_timer wake;  ///< of the writer
    steady_time last_read;    ///< when a message was last taken by the connection
    bool ready = false;       ///< among those that are woken next
    bool closing = false;
    int close_code = 1000;
    std::string close_reason;
    bool gone = false;
};

/// On the list while its reader runs, however the reader ends.
struct endpoint::listed {
    endpoint& owner;
    std::list<shared_client>::iterator at;
    listed(endpoint& own, shared_client who) : owner(own) {
        at = owner.clients_.insert(owner.clients_.end(), std::move(who));
    }
    listed(const listed&) = delete;
    listed& operator=(const listed&) = delete;
    ~listed() {
        auto who = *at;
        owner.broker_.forget(*who);
        owner.clients_.erase(at);
        who->gone = true;
        who->waiting.clear();
        who->wake.cancel();
        owner.count();
    }
};

endpoint::endpoint(asio::any_io_executor executor, controller::metrics& numbers,
                   endpoint_options options)
    : executor_(executor),
      numbers_(numbers),
      options_(options),
      name_(random_name()),
      connections_(numbers.gauge("esi_stomp_connections", "Open STOMP connections.")),
      subscriptions_(numbers.gauge("esi_stomp_subscriptions", "STOMP subscriptions.")),
      messages_(numbers.counter("esi_stomp_messages_total", "MESSAGE frames for STOMP clients.")),
      writers_(executor) {
    count();
}

endpoint::~endpoint() = default;

bool endpoint::empty() const { return clients_.empty(); }

void endpoint::count() {
    connections_.Set(static_cast<double>(clients_.size()));
    subscriptions_.Set(static_cast<double>(broker_.subscriptions()));
}

asio::awaitable<std::optional<http::server_reply>> endpoint::serve(
    std::shared_ptr<http::upgrade> from, framing how,
    std::vector<std::pair<std::string, std::string>> headers) {
    if (stopping_ || clients_.size() >= options_.most_connections) {
        auto refused = http::problem(
            503, stopping_ ? std::string("the operator is ending")
                           : fmt::format("{} STOMP connections are open, no more are taken "
                                         "(--stomp-max-connections)",
                                         clients_.size()));
        refused.headers.emplace_back("Retry-After", "2");
        co_return refused;
    }
    auto who = std::make_shared<client>(*this, how, fmt::format("{}-{}", name_, ++sessions_));
    const listed entry(*this, who);
    http::websocket_options wanted;
    wanted.message_limit = options_.message_limit;
    wanted.idle_time = options_.idle_time;
    wanted.subprotocols = {"v12.stomp", "v11.stomp", "v10.stomp"};
    wanted.headers = std::move(headers);
    who->wire = co_await http::websocket::accept(std::move(from), std::move(wanted));
    if (!who->wire) co_return std::nullopt;
    count();
    log::debug("STOMP client came", {{"client", who->wire->peer()}});
    // No more writes are allowed; the server closes the connection.
    if (stopping_) co_return std::nullopt;
    writers_.spawn("STOMP writer", write_all(*this, who));
    for (;;) {
        auto message = co_await who->wire->read();
        if (!message) break;
        receive(*who, std::move(*message));
    }
    const auto& why = who->wire->end();
    log::debug("STOMP client gone", {{"client", who->wire->peer()}, {"why", why}});
    if (!who->closing && why == "the client does not answer") {
        tell_dropped(who->wire->peer(), why);
        numbers_
            .counter("esi_stomp_dropped_total", "STOMP clients that ESI ended.",
                     {{"reason", "dead"}})
            .Increment();
    }
    co_return std::nullopt;
}

void endpoint::receive(client& from, std::string message) {
    if (from.closing) return;
    if (from.how == framing::plain) {
        perform(from, from.talk.receive(message, now()));
    } else if (const auto all = sockjs_messages(message)) {
        for (const auto& each : *all) perform(from, from.talk.receive(each, now()));
    } else {
        drop(from, policy, "protocol", "not a message of SockJS");
    }
    // The frame may bring its next deadline forward.
    from.wake.cancel();
}

void endpoint::perform(client& of, std::vector<action> actions) {
    for (auto& each : actions) {
        if (of.closing) return;
        if (auto* send = std::get_if<todo::send>(&each)) {
            push(of, {std::move(send->text), nullptr});
        } else if (auto* add = std::get_if<todo::subscribe>(&each)) {
            if (broker_.subscriptions() >= options_.most_subscriptions) {
                drop(of, policy, "full",
                     fmt::format("{} subscriptions are open, no more are taken",
                                 broker_.subscriptions()));
                return;
            }
            present state;
            if (asked_) state = asked_(add->destination);
            if (state.state) of.deliver(add->id, state.state);
            broker_.subscribe(of, std::move(add->id), std::move(add->destination), state.since);
            count();
        } else if (auto* remove = std::get_if<todo::unsubscribe>(&each)) {
            broker_.unsubscribe(of, remove->id);
            count();
        } else if (auto* close = std::get_if<todo::close>(&each)) {
            drop(of, close->code, close->why, std::move(close->reason));
        }
    }
}

void endpoint::push(client& to, outbox::entry what) {
    const auto messages = to.waiting.messages();
    const auto bytes = to.waiting.bytes();
    if (what.shared) messages_.Increment();
    if (to.waiting.push(std::move(what))) {
        if (messages > 0 || std::exchange(to.ready, true)) return;
        ready_.push_back(to.shared_from_this());
        if (!std::exchange(waking_, true)) writers_.spawn("STOMP wake-ups", wake_ready(*this));
        return;
    }
    to.waiting.clear();
    drop(to, policy, "slow",
         fmt::format("too slow: {} messages with {} bytes wait", messages, bytes));
}

/// Queued messages are still sent, if the client takes them in time.
void endpoint::drop(client& which, int code, std::string_view why, std::string reason) {
    if (which.closing) return;
    // Not broker_.forget(): the broker may be in the middle of delivering.
    which.closing = true;
    which.close_code = code;
    if (which.wire) which.wire->cut_at(now() + last_words);
    which.wake.cancel();
    if (why == "left") return;
    numbers_
        .counter("esi_stomp_dropped_total", "STOMP clients that ESI ended.",
                 {{"reason", std::string(why)}})
        .Increment();
    const auto peer = which.wire ? which.wire->peer() : std::string("?");
    if (why == "stop") {
        log::debug("STOMP client dropped", {{"client", peer}, {"why", reason}});
    } else {
        tell_dropped(peer, reason);
    }
    // For a protocol fault the close reason is the text of the ERROR frame.
    if (why != "protocol") which.close_reason = std::move(reason);
}

void endpoint::tell_dropped(const std::string& peer, std::string_view reason) {
    const auto left_out = told_drops_.take(now());
    if (!left_out) return;
    log::warn("STOMP client dropped",
              {{"client", peer},
               {"why", reason},
               {"lines_left_out", *left_out == 0 ? std::string() : std::to_string(*left_out)}});
}

asio::awaitable<void> endpoint::wake_ready(endpoint& own) {
    while (!own.ready_.empty()) {
        for (std::size_t i = 0; i < wakes_per_turn && !own.ready_.empty(); ++i) {
            const auto next = std::move(own.ready_.front());
            own.ready_.pop_front();
            next->ready = false;
            next->wake.cancel();
        }
        co_await asio::post(own.executor_, asio::use_awaitable);
    }
    own.waking_ = false;
}

/// Sends the queue, in order, then the close frame. Ends with the connection.
asio::awaitable<void> endpoint::write_all(endpoint& own, shared_client to) {
    const auto wire = to->wire;
    const bool sockjs = to->how == framing::sockjs;
    std::vector<outbox::entry> entries;
    std::vector<std::string> texts;
    bool alive = true;
    if (sockjs) alive = co_await wire->write({{asio::buffer("o", 1)}});
    while (alive && !to->gone) {
        if (!to->waiting.empty()) {
            entries.clear();
            texts.clear();
            std::vector<http::websocket::parts> messages;
            std::size_t bytes = 0;
            while (entries.size() < messages_per_write && bytes < bytes_per_write) {
                auto next = to->waiting.pop();
                if (!next) break;
                bytes += next->size();
                entries.push_back(std::move(*next));
            }
            for (const auto& each : entries) {
                if (sockjs) texts.push_back(sockjs_frame(each.text()));
            }
            for (std::size_t i = 0; i < entries.size(); ++i) {
                messages.push_back(sockjs ? http::websocket::parts{asio::buffer(texts[i])}
                                          : parts_of(entries[i]));
            }
            alive = co_await wire->write(std::move(messages));
            to->last_read = now();
            to->talk.sent(to->last_read);
            continue;
        }
        entries = {};
        texts = {};
        if (to->closing) {
            if (sockjs) {
                const auto reason =
                    json(to->close_reason).dump(-1, ' ', false, json::error_handler_t::replace);
                const auto text = fmt::format("c[{},{}]", to->close_code, reason);
                co_await wire->write({{asio::buffer(text)}});
            }
            co_await wire->close(to->close_code, to->close_reason);
            co_return;
        }
        own.perform(*to, to->talk.tick(now()));
        if (!to->waiting.empty() || to->closing) continue;
        to->wake.expires_at(to->talk.deadline());
        boost::system::error_code ignored;
        co_await to->wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) {
            throw boost::system::system_error(asio::error::operation_aborted);
        }
    }
}

void endpoint::publish(const std::string& destination, std::uint64_t number,
                       const broker::body_maker& body) {
    broker_.publish(destination, number, body);
}

asio::awaitable<void> endpoint::let_them_read(milliseconds longest) {
    const auto limit = now() + longest;
    co_await asio::post(executor_, asio::use_awaitable);
    const auto behind = [this] {
        return std::ranges::any_of(clients_, [](const shared_client& each) {
            return each->waiting.messages() > much && now() - each->last_read < reads_within;
        });
    };
    asio::steady_timer pause(executor_);
    while (now() < limit && behind()) {
        pause.expires_after(milliseconds(1));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> endpoint::stop(clock& time, steady_time deadline) {
    stopping_ = true;
    ready_.clear();
    const auto all = clients_;
    for (const auto& each : all) drop(*each, going_away, "stop", "the operator is ending");
    co_await ends_by(time, std::min(deadline, time.now() + 2 * last_words), writers_.join());
    co_await writers_.stop();
}

}  // namespace esi::stomp
