#include "http/websocket.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/tcp_connection.h"

namespace esi::http {

namespace beast = boost::beast;
using boost::system::error_code;

namespace {

/// Messages up to this size are copied together; larger ones are sent from where they are.
constexpr std::size_t short_bytes = 16u << 10;

/// The order of writes: Beast's control frames and the owner's messages, each of them whole.
struct write_turns {
    bool taken = false;
    /// A close frame was sent: nothing may follow it (RFC 6455 5.5.1).
    bool closed = false;
    std::deque<std::move_only_function<void()>> waiting;

    void take(std::move_only_function<void()> then) {
        if (std::exchange(taken, true)) {
            waiting.push_back(std::move(then));
        } else {
            then();
        }
    }
    void give(const asio::any_io_executor& executor) {
        taken = !waiting.empty();
        if (!taken) return;
        asio::post(executor, std::move(waiting.front()));
        waiting.pop_front();
    }
};

/// The layer below Beast's stream: the connection, preceded by what was read with the request.
/// Messages are framed here and not by Beast, which writes one frame for each call: each of a
/// thousand clients gets all its waiting messages in one write.
class layer {
public:
    using executor_type = tcp_connection::executor_type;

    layer(std::shared_ptr<tcp_connection> connection, std::string early)
        : connection_(std::move(connection)), early_(std::move(early)) {}

    executor_type get_executor() { return connection_->get_executor(); }
    tcp_connection& connection() { return *connection_; }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(
            [this](auto done, const Buffers& into) {
                if (early_.empty()) {
                    connection_->async_read_some(into, std::move(done));
                    return;
                }
                const auto count = asio::buffer_copy(into, asio::buffer(early_));
                early_.erase(0, count);
                asio::post(get_executor(),
                           beast::bind_front_handler(std::move(done), error_code(), count));
            },
            token, buffers);
    }
    /// Writes all of it. An operation owns its data: it may end after the stream has gone.
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(
            [](auto done, const Buffers& from, std::shared_ptr<tcp_connection> to,
               std::shared_ptr<write_turns> turns) {
                auto& order = *turns;
                order.take([from, to = std::move(to), turns = std::move(turns),
                            done = std::move(done)]() mutable {
                    const auto where = asio::get_associated_executor(done, to->get_executor());
                    if (turns->closed) {
                        turns->give(to->get_executor());
                        asio::post(where, beast::bind_front_handler(std::move(done), error_code(),
                                                                    asio::buffer_size(from)));
                        return;
                    }
                    auto& connection = *to;
                    asio::async_write(
                        connection, from,
                        asio::bind_executor(
                            where,
                            [to = std::move(to), turns = std::move(turns), done = std::move(done)](
                                error_code failure, std::size_t count) mutable {
                                turns->give(to->get_executor());
                                std::move(done)(failure, count);
                            }));
                });
            },
            token, buffers, connection_, turns_);
    }

    /// Later writes are dropped.
    void say_no_more() { turns_->closed = true; }

private:
    std::shared_ptr<tcp_connection> connection_;
    std::string early_;
    std::shared_ptr<write_turns> turns_ = std::make_shared<write_turns>();
};

constexpr unsigned char text_frame = 0x81;
constexpr unsigned char close_frame = 0x88;

/// The head of one frame of a server (RFC 6455 5.2).
struct frame_head {
    std::array<unsigned char, 10> bytes{};
    std::size_t size = 2;

    frame_head(unsigned char kind, std::uint64_t payload) {
        bytes[0] = kind;
        const std::size_t width = payload < 126 ? 0 : payload < (1u << 16) ? 2 : 8;
        bytes[1] = static_cast<unsigned char>(width == 0 ? payload : width == 2 ? 126 : 127);
        for (std::size_t i = 0; i < width; ++i) {
            bytes[1 + width - i] = static_cast<unsigned char>(payload >> (8 * i));
        }
        size += width;
    }
    asio::const_buffer buffer() const { return asio::buffer(bytes.data(), size); }
};

/// Found by Beast through the type's namespace. The HTTP server closes gently after the last
/// message.
template <class Handler>
void async_teardown(beast::role_type, layer& of, Handler&& done) {
    asio::post(of.get_executor(),
               beast::bind_front_handler(std::forward<Handler>(done), error_code()));
}
void beast_close_socket(layer& of) { of.connection().close(); }

using stream_type = beast::websocket::stream<layer, false>;

std::string address_of(tcp_connection& of) {
    error_code failure;
    const auto peer = of.socket().remote_endpoint(failure);
    if (failure) return "?";
    return fmt::format("{}:{}", peer.address().to_string(), peer.port());
}

/// The first known one of the client's offers.
std::string chosen(std::string_view offers, const std::vector<std::string>& known) {
    while (!offers.empty()) {
        const auto end = std::min(offers.find(','), offers.size());
        auto each = offers.substr(0, end);
        offers.remove_prefix(std::min(end + 1, offers.size()));
        while (each.starts_with(' ') || each.starts_with('\t')) each.remove_prefix(1);
        while (each.ends_with(' ') || each.ends_with('\t')) each.remove_suffix(1);
        if (std::ranges::find(known, each) != known.end()) return std::string(each);
    }
    return {};
}

}  // namespace

struct websocket::state {
    state(std::shared_ptr<tcp_connection> connection_, std::string early)
        : connection(connection_),
          peer(address_of(*connection_)),
          stream(std::move(connection_), std::move(early)) {}

    std::shared_ptr<tcp_connection> connection;
    std::string peer;
    stream_type stream;
    seconds close_time{0};
    std::string end;

    void ended(const error_code& failure) {
        if (!end.empty()) return;
        if (failure == beast::websocket::error::closed) {
            end = fmt::format("closed by the client with {}",
                              static_cast<unsigned>(stream.reason().code));
        } else if (failure == beast::error::timeout || connection->timed_out()) {
            end = "the client does not answer";
        } else {
            end = failure.message();
        }
    }
};

websocket::websocket(std::unique_ptr<state> own) : state_(std::move(own)) {}
websocket::~websocket() = default;

asio::awaitable<std::shared_ptr<websocket>> websocket::accept(std::shared_ptr<upgrade> from,
                                                              websocket_options options) {
    auto own = std::make_unique<state>(from->connection, std::move(from->early));
    auto& stream = own->stream;
    beast::http::request<beast::http::empty_body> head;
    head.version(11);
    head.method(beast::http::verb::get);
    head.target(from->request.raw_path);
    for (const auto& [name, value] : from->request.headers) head.insert(name, value);

    beast::websocket::stream_base::timeout times;
    own->close_time = options.close_time;
    times.handshake_timeout = options.close_time;
    times.idle_timeout = options.idle_time;
    times.keep_alive_pings = true;
    stream.set_option(times);
    stream.read_message_max(options.message_limit);
    const auto protocol =
        chosen(from->request.header("sec-websocket-protocol"), options.subprotocols);
    stream.set_option(beast::websocket::stream_base::decorator(
        [protocol, more = std::move(options.headers)](beast::websocket::response_type& reply) {
            reply.set(beast::http::field::server, "ESI");
            for (const auto& [name, value] : more) reply.insert(name, value);
            if (!protocol.empty()) {
                reply.set(beast::http::field::sec_websocket_protocol, protocol);
            }
        }));
    error_code failure;
    co_await stream.async_accept(head, asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_return nullptr;
    // The request is of no more use, the conversation may last for days.
    from->request = server_request();
    stream.set_option(
        beast::websocket::stream_base::decorator([](beast::websocket::response_type&) {}));
    co_return std::shared_ptr<websocket>(new websocket(std::move(own)));
}

asio::awaitable<std::optional<std::string>> websocket::read() {
    std::string out;
    auto into = asio::dynamic_buffer(out);
    error_code failure;
    co_await state_->stream.async_read(into, asio::redirect_error(asio::use_awaitable, failure));
    if (!failure) co_return std::move(out);
    state_->ended(failure);
    co_return std::nullopt;
}

asio::awaitable<bool> websocket::write(std::vector<parts> messages) {
    error_code failure;
    std::string together;
    for (std::size_t i = 0; i < messages.size() && !failure;) {
        if (!state_->stream.is_open()) co_return false;
        together.clear();
        for (; i < messages.size(); ++i) {
            const auto size = asio::buffer_size(messages[i]);
            if (together.size() + size > short_bytes) break;
            const frame_head head(text_frame, size);
            for (const auto& part :
                 {head.buffer(), messages[i][0], messages[i][1], messages[i][2]}) {
                together.append(static_cast<const char*>(part.data()), part.size());
            }
        }
        auto& to = state_->stream.next_layer();
        if (!together.empty()) {
            co_await to.async_write_some(asio::buffer(together),
                                         asio::redirect_error(asio::use_awaitable, failure));
            continue;
        }
        const frame_head head(text_frame, asio::buffer_size(messages[i]));
        const std::array<asio::const_buffer, 4> whole{head.buffer(), messages[i][0], messages[i][1],
                                                      messages[i][2]};
        ++i;
        co_await to.async_write_some(whole, asio::redirect_error(asio::use_awaitable, failure));
    }
    if (failure) state_->ended(failure);
    co_return !failure;
}

asio::awaitable<void> websocket::close(int code, std::string reason) {
    // A control frame holds 125 bytes, two of them for the code.
    reason.resize(std::min<std::size_t>(reason.size(), 123));
    std::string frame;
    const frame_head head(close_frame, 2 + reason.size());
    frame.append(static_cast<const char*>(head.buffer().data()), head.size);
    frame += static_cast<char>(code >> 8);
    frame += static_cast<char>(code & 0xFF);
    frame += reason;
    cut_at(std::chrono::steady_clock::now() + state_->close_time);
    auto& to = state_->stream.next_layer();
    error_code failure;
    co_await to.async_write_some(asio::buffer(frame),
                                 asio::redirect_error(asio::use_awaitable, failure));
    to.say_no_more();
}

void websocket::cut_at(steady_time when) { state_->connection->close_at(when); }
const std::string& websocket::end() const { return state_->end; }
const std::string& websocket::peer() const { return state_->peer; }

}  // namespace esi::http
