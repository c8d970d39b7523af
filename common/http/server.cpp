#include "http/server.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <ctime>
#include <list>
#include <utility>

#include "base/log.h"
#include "base/tcp_connection.h"
#include "base/wait.h"
#include "http/access.h"
#include "http/certificate.h"
#include "http/large_answers.h"
#include "http/problem.h"
#include "http/request_reader.h"
#include "http/stream.h"
#include "http/tls_files.h"

namespace esi::http {

using boost::system::error_code;

namespace {

constexpr auto handshake_time = std::chrono::seconds(10);
constexpr auto linger_time = std::chrono::seconds(1);
constexpr std::size_t linger_bytes = 1u << 20;
/// Bytes that the kernel keeps for a client that reads slowly; by default it keeps megabytes for
/// each.
constexpr int send_buffer_bytes = 128 << 10;
constexpr std::size_t send_piece_bytes = 64u << 10;

asio::ip::address address_of(const tcp_connection::socket_type& socket) {
    error_code failure;
    const auto peer = socket.remote_endpoint(failure);
    return failure ? asio::ip::address() : peer.address();
}

bool fit_for_a_header(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
    }
    return true;
}

/// "Sat, 21 Nov 2026 09:23:00 GMT" (RFC 9110 5.6.7)
std::string http_date(wall_time when) {
    const auto whole = std::chrono::floor<seconds>(when).time_since_epoch().count();
    return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time_t{whole}));
}

/// How the end of a body is marked.
enum class body_framing { length, chunks, close };

/// Status line, headers and the empty line.
std::string head_of(const server_reply& reply, body_framing framing, std::string_view connection,
                    wall_time now) {
    auto out = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_phrase(reply.status));
    const bool bodiless = reply.status == 204 || reply.status == 304;
    if (framing == body_framing::length && !bodiless) {
        out += fmt::format("Content-Length: {}\r\n", reply.body.size());
    }
    if (framing == body_framing::chunks) out += "Transfer-Encoding: chunked\r\n";
    if (!reply.content_type.empty() && fit_for_a_header(reply.content_type)) {
        out += "Content-Type: " + reply.content_type + "\r\n";
    }
    for (const auto& [name, value] : reply.headers) {
        if (!fit_for_a_header(name) || !fit_for_a_header(value)) {
            log::error("header left out: control characters", {{"header", name}});
            continue;
        }
        out += name + ": " + value + "\r\n";
    }
    // An answer must never be taken for a page or a script.
    out += "X-Content-Type-Options: nosniff\r\n";
    out += "Date: " + http_date(now) + "\r\n";
    if (!connection.empty()) out += fmt::format("Connection: {}\r\n", connection);
    return out + "\r\n";
}

/// Sends in pieces, so that the client's pace is visible.
asio::awaitable<error_code> send_text(std::shared_ptr<tcp_connection> connection,
                                      connection_table::place& place, std::string head,
                                      std::string body) {
    error_code failure;
    std::string_view rest = body;
    for (bool first = true; !failure && (first || !rest.empty()); first = false) {
        const auto piece = rest.substr(0, send_piece_bytes);
        rest.remove_prefix(piece.size());
        const std::array<asio::const_buffer, 2> parts{
            first ? asio::buffer(head) : asio::const_buffer(), asio::buffer(piece)};
        const auto count = co_await asio::async_write(
            *connection, parts, asio::redirect_error(asio::use_awaitable, failure));
        place.moved(count);
    }
    co_return failure;
}

/// The reply of a route; an exception of it becomes a 500.
asio::awaitable<server_reply> reply_of(const route_handler& handler, server_request request) {
    const auto what = request.method + " " + request.raw_path;
    server_reply reply;
    std::exception_ptr thrown;
    try {
        reply = co_await handler(std::move(request));
    } catch (...) {
        thrown = std::current_exception();
    }
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (thrown && cancellation.cancelled() != asio::cancellation_type::none) {
        std::rethrow_exception(thrown);
    }
    if (!thrown && reply.status >= 200 && reply.status <= 599) co_return reply;
    std::string why = fmt::format("status {}", reply.status);
    if (thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& e) {
            why = e.what();
        } catch (...) {
            why = "unknown exception";
        }
    }
    log::error("a request failed inside", {{"request", what}, {"error", why}});
    co_return problem(500, "this is a fault of the server; its log says more");
}

/// Another protocol's conversation; an exception of it ends the connection, not the process.
asio::awaitable<std::optional<server_reply>> hand_over(const upgrade_handler& handler,
                                                       std::shared_ptr<upgrade> over) {
    std::optional<server_reply> refused;
    std::exception_ptr thrown;
    auto connection = over->connection;
    try {
        refused = co_await handler(std::move(over));
    } catch (...) {
        thrown = std::current_exception();
    }
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (!thrown) co_return refused;
    if (cancellation.cancelled() != asio::cancellation_type::none) std::rethrow_exception(thrown);
    std::string why = "unknown exception";
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {
    }
    log::error("a conversation failed inside", {{"error", why}});
    connection->close();
    co_return std::nullopt;
}

/// Announces the end and reads the client's remaining bytes, so that the answer is not lost to a
/// reset (RFC 9112 9.6).
asio::awaitable<void> close_gently(std::shared_ptr<tcp_connection> connection) {
    connection->close_at(std::chrono::steady_clock::now() + linger_time);
    error_code failure;
    if (auto* tls = connection->tls()) {
        co_await tls->async_shutdown(asio::redirect_error(asio::use_awaitable, failure));
    }
    connection->socket().shutdown(asio::socket_base::shutdown_send, failure);
    std::array<char, 4096> away;
    for (std::size_t total = 0; !failure && total < linger_bytes;) {
        total += co_await connection->socket().async_read_some(
            asio::buffer(away), asio::redirect_error(asio::use_awaitable, failure));
    }
    connection->close();
}

}  // namespace

/// The room of one request. It may outlive its connection, not the server.
class server_room final : public answer_room {
public:
    using place_pointer = std::shared_ptr<connection_table::place>;

    server_room(connection_table& table, large_answers& large, clock& time, place_pointer place,
                seconds patience, std::unique_ptr<large_answers::turn> turn)
        : table_(table),
          large_(large),
          time_(time),
          place_(std::move(place)),
          body_(place_->held()),
          patience_(patience),
          turn_(std::move(turn)) {}

    bool hold(std::size_t bytes) override {
        const auto before = place_->held();
        const bool held = place_->hold(body_ + bytes, time_.now());
        if (place_->held() < before) large_.freed();
        return held;
    }
    asio::awaitable<bool> wait_to_hold(std::size_t bytes) override {
        using phase = connection_table::phase;
        auto turn = std::move(turn_);
        if (!turn) {
            // A waiting connection is the first to be cut when connections are short.
            place_->enter(phase::queued, time_.now());
            turn = co_await large_.wait_for_room(table_, time_, time_.now() + patience_);
            if (place_->was_cut()) co_return false;
            place_->enter(phase::working, time_.now());
        }
        // Its memory is counted from here on, so that the next one may check.
        if (!turn) co_return false;
        co_return hold(bytes);
    }
    void stand_aside() override { turn_.reset(); }

private:
    connection_table& table_;
    large_answers& large_;
    clock& time_;
    place_pointer place_;
    /// Bytes of the request's body, which the handler has.
    std::size_t body_;
    seconds patience_;
    /// The right to make a large answer, until bytes are held for it.
    std::unique_ptr<large_answers::turn> turn_;
};

struct server::state : std::enable_shared_from_this<server::state> {
    state(asio::any_io_executor executor_, clock& time_, server_options options_,
          const router& routes_)
        : executor(executor_),
          time(time_),
          options(std::move(options_)),
          routes(routes_),
          table(options.limits),
          large_bodies(executor_),
          large(executor_),
          tasks(executor_),
          acceptor(executor_) {}

    asio::any_io_executor executor;
    clock& time;
    server_options options;
    const router& routes;
    connection_table table;
    large_body_turn large_bodies;
    large_answers large;
    task_group tasks;
    asio::ip::tcp::acceptor acceptor;
    std::optional<tls_files> tls;
    std::list<stream_control> streams;
    bool stopping = false;

    using place_pointer = std::shared_ptr<connection_table::place>;
    using phase = connection_table::phase;

    result<void> listen();
    void take(asio::ip::tcp::socket socket);
    static asio::awaitable<void> accept_all(std::shared_ptr<state> own);
    static asio::awaitable<void> attend(std::shared_ptr<state> own,
                                        std::shared_ptr<tcp_connection> connection,
                                        place_pointer place);
    static asio::awaitable<void> serve(std::shared_ptr<state> own,
                                       std::shared_ptr<tcp_connection> connection,
                                       place_pointer place);
    bool begin_stream(connection_table::place& place, server_reply& reply) const;
    static asio::awaitable<void> stream(std::shared_ptr<state> own,
                                        std::shared_ptr<tcp_connection> connection,
                                        place_pointer place, server_reply reply,
                                        const reading& read, std::string method, steady_time start);
    asio::awaitable<bool> shake_hands(std::shared_ptr<tcp_connection> connection);
    asio::awaitable<server_reply> answer(reading& read, place_pointer place);
    void tell_answer(std::string_view route, std::string_view method, int status,
                     steady_time begun) const;
};

void server::state::tell_answer(std::string_view route, std::string_view method, int status,
                                steady_time begun) const {
    if (options.on_answer) options.on_answer({route, method, status, time.now() - begun});
}

asio::awaitable<bool> server::state::shake_hands(std::shared_ptr<tcp_connection> connection) {
    connection->close_at(std::chrono::steady_clock::now() + handshake_time);
    // No answer is made for a client that sends nothing.
    error_code failure;
    co_await connection->socket().async_wait(asio::socket_base::wait_read,
                                             asio::redirect_error(asio::use_awaitable, failure));
    if (failure || !tls) co_return false;
    auto& stream = connection->start_tls(tls->context(time.now()));
    co_await stream.async_handshake(asio::ssl::stream_base::server,
                                    asio::redirect_error(asio::use_awaitable, failure));
    co_return !failure;
}

/// The answer of the route, when there is memory for it.
asio::awaitable<server_reply> server::state::answer(reading& read, place_pointer place) {
    const auto path = read.request.raw_path;
    const bool may_be_large = !read.turn && read.request.method == "GET";
    const bool is_large = may_be_large && large.is_large(path);
    std::unique_ptr<large_answers::turn> turn;
    if (is_large) {
        // A waiting connection is the first to be cut when connections are short.
        place->enter(phase::queued, time.now());
        turn =
            co_await large.wait_for_room(table, time, time.now() + options.large_answer_patience);
    }
    if (!is_large || (turn && !place->was_cut())) {
        place->enter(phase::working, time.now());
        // Kept until the answer itself is held: a turn in it ends no earlier.
        std::shared_ptr<server_room> room;
        if (!read.turn) {
            room = std::make_shared<server_room>(table, large, time, place,
                                                 options.large_answer_patience, std::move(turn));
        }
        read.request.room = room;
        auto reply = co_await reply_of(*read.decided.handler, std::move(read.request));
        if (may_be_large) large.made(path, reply.body.size());
        if (read.turn || reply.stream || place->hold(reply.body.size(), time.now())) {
            co_return reply;
        }
    }
    auto refused = problem(503, "too many answers are on the way");
    refused.headers.emplace_back("Retry-After", "2");
    co_return refused;
}

/// If there are too many streams, the reply becomes a refusal.
bool server::state::begin_stream(connection_table::place& place, server_reply& reply) const {
    if (!stopping && place.begin_stream(time.now())) return true;
    reply =
        stopping
            ? problem(503, "the server stops")
            : problem(503, fmt::format("{} streams are open, no more are taken", table.streams()));
    reply.headers.emplace_back("Retry-After", "2");
    return false;
}

/// Sends an answer that is a stream, to its end and that of its connection.
asio::awaitable<void> server::state::stream(std::shared_ptr<state> own,
                                            std::shared_ptr<tcp_connection> connection,
                                            place_pointer place, server_reply reply,
                                            const reading& read, std::string method,
                                            steady_time start) {
    connection->close_at(std::chrono::steady_clock::now() + own->options.request_timeout);
    const auto framing = read.old_version ? body_framing::close : body_framing::chunks;
    auto head = head_of(reply, framing, "close", own->time.wall());
    const auto failure = co_await send_text(connection, *place, std::move(head), std::string());
    // The length of a stream is not the time of an answer.
    own->tell_answer(read.decided.route, method, reply.status, start);
    if (failure) co_return;
    const auto control = own->streams.emplace(own->streams.end(), own->executor);
    if (own->stopping) control->stop();
    const struct leaving {
        state& of;
        std::list<stream_control>::iterator at;
        ~leaving() { of.streams.erase(at); }
    } on_return{*own, control};
    const auto form = read.old_version ? stream_form::until_close : stream_form::chunked;
    const bool whole = co_await send_stream(connection, *place, std::move(reply.stream), form,
                                            own->options.stream_write_time, *control);
    if (whole) co_await close_gently(connection);
}

/// One connection: requests one after the other, in order, until either side ends it, until the
/// certificate that the client has shown expires, or until another protocol takes it over.
asio::awaitable<void> server::state::serve(std::shared_ptr<state> own,
                                           std::shared_ptr<tcp_connection> connection,
                                           place_pointer place) {
    auto peer = std::make_shared<peer_details>();
    const auto address = address_of(connection->socket());
    peer->address = address.to_string();
    peer->loopback = is_loopback(address);
    peer->has_ended = [of = std::weak_ptr(connection)] {
        const auto there = of.lock();
        return !there || there->peer_has_ended();
    };
    if (own->tls) {
        const bool shaken = co_await own->shake_hands(connection);
        if (!shaken) co_return;
        peer->certificate = subject_of_client(connection->tls()->native_handle());
    }
    // A client whose certificate has expired has to show another one, on a new connection.
    const auto may_go_on = [&own, &peer] {
        const auto& shown = peer->certificate;
        return !own->stopping && (!shown || !shown->has_ended(own->time.wall()));
    };
    request_limits limits;
    limits.head = own->options.header_limit;
    limits.time = own->options.request_timeout;
    request_reader reader(*connection, *place, own->routes, own->time, limits, own->large_bodies);
    for (bool keep_alive = true; keep_alive && !own->stopping;) {
        place->enter(phase::waiting, own->time.now());
        connection->close_at(std::chrono::steady_clock::now() + own->options.idle_timeout);
        const bool begun = co_await reader.first_byte();
        if (!begun) co_return;
        const auto start = own->time.now();
        place->enter(phase::reading, start);
        connection->close_at(std::chrono::steady_clock::now() + own->options.request_timeout);
        auto read = co_await reader.read(peer);
        if (read.how == reading::end::closed) co_return;

        auto reply = std::move(read.reply);
        keep_alive = read.keep_alive && may_go_on();
        const auto method = read.request.method;
        const bool head_only = method == "HEAD";
        if (read.how == reading::end::request) {
            connection->no_deadline();
            if (read.decided.upgrade != nullptr && !read.old_version) {
                place->enter(phase::upgraded, own->time.now());
                auto over = std::make_shared<upgrade>();
                over->request = std::move(read.request);
                over->connection = connection;
                over->early = reader.take_rest();
                auto refused = co_await hand_over(*read.decided.upgrade, over);
                if (!refused) {
                    own->tell_answer(read.decided.route, method, 101, start);
                    break;
                }
                // The bytes after the request are the next one.
                reader.put_back(over->early);
                reply = std::move(*refused);
            } else {
                reply = co_await own->answer(read, place);
            }
            keep_alive = keep_alive && may_go_on();
        }
        if (reply.stream && !head_only && own->begin_stream(*place, reply)) {
            // Bytes after the request are not answered; their memory is not kept for hours.
            reader.take_rest();
            co_await stream(own, connection, place, std::move(reply), read, method, start);
            co_return;
        }
        place->enter(phase::sending, own->time.now());
        connection->close_at(std::chrono::steady_clock::now() + own->options.request_timeout);
        const char* stays = read.old_version ? "keep-alive" : "";
        const auto framing = !reply.stream      ? body_framing::length
                             : read.old_version ? body_framing::close
                                                : body_framing::chunks;
        auto head = head_of(reply, framing, keep_alive ? stays : "close", own->time.wall());
        const bool bodiless = head_only || reply.status == 204 || reply.status == 304;
        if (bodiless) reply.body.clear();
        const auto failure =
            co_await send_text(connection, *place, std::move(head), std::move(reply.body));
        own->tell_answer(read.decided.route, method, reply.status, start);
        if (failure) co_return;
        place->hold(0, own->time.now());
        own->large.freed();
    }
    co_await close_gently(connection);
}

/// A connection from its first byte to its end, and the cleanup after it.
asio::awaitable<void> server::state::attend(std::shared_ptr<state> own,
                                            std::shared_ptr<tcp_connection> connection,
                                            place_pointer place) {
    co_await serve(own, std::move(connection), std::move(place));
    own->large.freed();
}

/// Gives a new connection a place, if there is one. Clients that keep connections without a
/// request, or do not read, do not lock out the others (nor probes).
void server::state::take(asio::ip::tcp::socket socket) {
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), ignored);
    const auto peer = address_of(socket);
    auto connection = std::make_shared<tcp_connection>(std::move(socket));
    place_pointer place = table.admit(
        is_loopback(peer) ? std::string() : peer.to_string(), [connection] { connection->close(); },
        time.now());
    if (!place) {
        log::debug("connection refused: too many are open");
        return;
    }
    tasks.spawn("http connection", attend(shared_from_this(), std::move(connection), place));
}

asio::awaitable<void> server::state::accept_all(std::shared_ptr<state> own) {
    while (!own->stopping && own->acceptor.is_open()) {
        error_code failure;
        auto socket =
            co_await own->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failure));
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none || own->stopping) co_return;
        if (!own->acceptor.is_open()) co_return;
        if (failure) {
            // Out of file descriptors, most likely: some will come free.
            log::warn("cannot accept a connection", {{"error", failure.message()}});
            co_await own->time.sleep_for(milliseconds(100));
            continue;
        }
        own->take(std::move(socket));
    }
}

result<void> server::state::listen() {
    const auto where = options.bind_address + ":" + std::to_string(options.port);
    error_code failure;
    const auto address = asio::ip::make_address(options.bind_address, failure);
    if (failure || options.port < 0 || options.port > 65535) {
        return fail(errc::config, "cannot listen on " + where + ": not an IP address and port");
    }
    const asio::ip::tcp::endpoint endpoint(address, static_cast<std::uint16_t>(options.port));
    acceptor.open(endpoint.protocol(), failure);
    if (!failure) acceptor.set_option(asio::socket_base::reuse_address(true), failure);
    if (!failure) acceptor.bind(endpoint, failure);
    if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
    if (!failure) return {};
    error_code ignored;
    acceptor.close(ignored);
    return fail(errc::config, "cannot listen on " + where + ": " + failure.message());
}

server::server(asio::any_io_executor executor, clock& time, server_options options,
               const router& routes)
    : state_(std::make_shared<state>(std::move(executor), time, std::move(options), routes)) {}

server::~server() {
    state_->stopping = true;
    error_code ignored;
    state_->acceptor.close(ignored);
    state_->table.close_all();
    state_->tasks.cancel();
}

result<void> server::start() {
    const auto& options = state_->options;
    if (options.tls_cert_file.empty() != options.tls_private_key_file.empty()) {
        return fail(errc::config, "TLS needs both a certificate file and a private key file");
    }
    if (!options.tls_cert_file.empty()) {
        auto loaded = tls_files::load(
            {options.tls_cert_file, options.tls_private_key_file, options.client_ca_file},
            state_->time.now());
        if (!loaded) return std::unexpected(std::move(loaded).error());
        state_->tls = std::move(*loaded);
    }
    if (auto listening = state_->listen(); !listening) return listening;
    state_->tasks.spawn("http accept", state::accept_all(state_));
    return {};
}

int server::port() const {
    error_code failure;
    const auto endpoint = state_->acceptor.local_endpoint(failure);
    return failure ? state_->options.port : endpoint.port();
}

std::size_t server::connections() const { return state_->table.size(); }

void server::close_listener() {
    error_code ignored;
    state_->acceptor.close(ignored);
}

asio::awaitable<void> server::stop(steady_time deadline) {
    auto own = state_;
    own->stopping = true;
    close_listener();
    own->table.close_waiting();
    for (auto& each : own->streams) each.stop();
    co_await ends_by(own->time, deadline, own->tasks.join());
    co_await own->tasks.stop();
}

}  // namespace esi::http
