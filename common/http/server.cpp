#include "http/server.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <ctime>
#include <list>
#include <utility>

#include "base/log.h"
#include "base/tcp_connection.h"
#include "base/wait.h"
#include "http/target.h"
#include "http/tls_files.h"

namespace esi::http {

namespace beast = boost::beast;
using boost::system::error_code;
using parser_type = beast::http::request_parser<beast::http::string_body>;

std::string_view reason_phrase(int status) {
    return std::string_view(
        beast::http::obsolete_reason(beast::http::int_to_status(static_cast<unsigned>(status))));
}

namespace {

constexpr auto handshake_time = std::chrono::seconds(10);
constexpr auto linger_time = std::chrono::seconds(1);
constexpr std::size_t linger_bytes = 1u << 20;
/// What the kernel keeps for a client that reads slowly; left to itself it keeps megabytes, of
/// each.
constexpr int send_buffer_bytes = 128 << 10;

bool is_loopback(const tcp_connection::socket_type& socket) {
    error_code failure;
    const auto peer = socket.remote_endpoint(failure);
    if (failure) return false;
    const auto address = peer.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
    }
    return address.is_loopback();
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (auto& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// What the parser lets pass and a second reader on the way could read differently
/// (RFC 9112 6.3 and 3.2). Empty when all is well.
std::string framing_fault(const parser_type::value_type& head) {
    using beast::http::field;
    const auto lengths = head.count(field::content_length);
    const auto codings = head.count(field::transfer_encoding);
    if (lengths > 1) return "Content-Length is there more than once";
    if (codings > 1) return "Transfer-Encoding is there more than once";
    if (lengths > 0 && codings > 0) return "both Content-Length and Transfer-Encoding are there";
    if (codings > 0 && head.version() < 11) return "Transfer-Encoding in HTTP/1.0";
    if (codings > 0 && lower(head[field::transfer_encoding]) != "chunked") {
        return "the only Transfer-Encoding understood is chunked";
    }
    const auto hosts = head.count(field::host);
    if (hosts > 1 || (hosts == 0 && head.version() >= 11)) return "exactly one Host is needed";
    return {};
}

server_request to_request(const parser_type::value_type& head, target where, bool from_loopback) {
    server_request out;
    out.method = std::string_view(head.method_string());
    out.raw_path = std::move(where.raw_path);
    out.query = std::move(where.query);
    out.peer_is_loopback = from_loopback;
    for (const auto& line : head) {
        out.headers.emplace_back(lower(line.name_string()), std::string_view(line.value()));
    }
    return out;
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

/// Status line, headers and the empty line.
std::string head_of(const server_reply& reply, std::string_view connection, wall_time now) {
    auto out = fmt::format("HTTP/1.1 {} {}\r\n", reply.status, reason_phrase(reply.status));
    const bool bodiless = reply.status == 204 || reply.status == 304;
    if (!bodiless) out += fmt::format("Content-Length: {}\r\n", reply.body.size());
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
    out += "Date: " + http_date(now) + "\r\n";
    if (!connection.empty()) out += fmt::format("Connection: {}\r\n", connection);
    return out + "\r\n";
}

/// What the parser's refusal means for the client; 0: there is nobody to answer.
int status_for(const error_code& failure) {
    using beast::http::error;
    if (failure == error::header_limit) return 431;
    if (failure == error::body_limit) return 413;
    if (failure == error::bad_version) return 505;
    if (failure == error::end_of_stream || failure == error::partial_message) return 0;
    return failure.category() == beast::http::make_error_code(error::bad_value).category() ? 400
                                                                                           : 0;
}

server_reply refusal(int status, std::string_view why) {
    return problem(status, reason_phrase(status), why);
}

/// How the reading of one request ended.
struct reading {
    reading() = default;
    enum class end { request, refused, closed };
    end how = end::closed;
    server_request request;
    /// For `refused`: what to answer before closing.
    server_reply reply;
    bool keep_alive = false;
    /// HTTP/1.0: a connection that stays open must say so (RFC 9112 9.3).
    bool old_version = false;
};

reading refuse(int status, std::string_view why) {
    reading out;
    out.how = status == 0 ? reading::end::closed : reading::end::refused;
    if (status != 0) out.reply = refusal(status, why);
    return out;
}

asio::awaitable<error_code> send_text(std::shared_ptr<tcp_connection> connection, std::string head,
                                      std::string body) {
    std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(body)};
    error_code failure;
    co_await asio::async_write(*connection, parts,
                               asio::redirect_error(asio::use_awaitable, failure));
    co_return failure;
}

/// Reads the next request. `buffer` holds what came behind the one before.
asio::awaitable<reading> read_request(std::shared_ptr<tcp_connection> connection,
                                      beast::flat_buffer& buffer, server_options options,
                                      bool from_loopback) {
    parser_type parser;
    parser.header_limit(static_cast<std::uint32_t>(options.header_limit));
    parser.body_limit(options.body_limit);
    error_code failure;
    co_await beast::http::async_read_header(*connection, buffer, parser,
                                            asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_return refuse(status_for(failure), failure.message());
    const auto& head = parser.get();
    if (head.version() != 10 && head.version() != 11)
        co_return refuse(505, "HTTP/1.1 is spoken here");
    if (auto fault = framing_fault(head); !fault.empty()) co_return refuse(400, fault);
    auto where = parse_target(std::string_view(head.target()));
    if (!where) co_return refuse(400, where.error().text);

    reading out;
    out.how = reading::end::request;
    out.keep_alive = parser.keep_alive();
    out.old_version = head.version() < 11;
    // Taken before the body: what comes as trailers is never seen.
    out.request = to_request(head, std::move(*where), from_loopback);
    const bool asks_first = lower(out.request.header("expect")) == "100-continue";
    if (asks_first && !parser.is_done()) {
        failure = co_await send_text(connection, "HTTP/1.1 100 Continue\r\n\r\n", std::string());
        if (failure) co_return refuse(0, "");
    }
    co_await beast::http::async_read(*connection, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_return refuse(status_for(failure), failure.message());
    out.request.body = std::move(parser.get().body());
    co_return out;
}

/// The reply of the routes; whatever a handler throws becomes a 500.
asio::awaitable<server_reply> reply_to(const router& routes, server_request request) {
    const auto what = request.method + " " + request.raw_path;
    server_reply reply;
    std::exception_ptr thrown;
    try {
        reply = co_await routes.answer(std::move(request));
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
    co_return refusal(500, "this is a fault of the server; its log says more");
}

/// Another protocol's conversation; what it throws ends the connection, not the process.
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

/// Says that nothing more will come and reads away what the client still sends, so that the answer
/// is not lost to a reset (RFC 9112 9.6).
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

asio::awaitable<bool> shake_hands(std::shared_ptr<tcp_connection> connection,
                                  std::shared_ptr<asio::ssl::context> context) {
    auto& tls = connection->start_tls(std::move(context));
    connection->close_at(std::chrono::steady_clock::now() + handshake_time);
    error_code failure;
    co_await tls.async_handshake(asio::ssl::stream_base::server,
                                 asio::redirect_error(asio::use_awaitable, failure));
    co_return !failure;
}

/// Waits for the first byte of a request; false when none comes.
asio::awaitable<bool> first_byte(std::shared_ptr<tcp_connection> connection,
                                 beast::flat_buffer& buffer) {
    if (buffer.size() > 0) co_return true;
    error_code failure;
    const auto space = buffer.prepare(4096);
    const auto count = co_await connection->async_read_some(
        space, asio::redirect_error(asio::use_awaitable, failure));
    buffer.commit(count);
    co_return !failure;
}

}  // namespace

struct server::state : std::enable_shared_from_this<server::state> {
    /// An open connection. `idle`: nothing of a request has come, so that a stop may close it.
    /// `answering`: a request is complete and its answer is made or sent.
    struct session {
        std::shared_ptr<tcp_connection> connection;
        bool idle = true;
        bool answering = false;
        bool closed = false;
        /// Taken over by another protocol, which has limits of its own.
        bool upgraded = false;
    };

    state(asio::any_io_executor executor_, clock& time_, server_options options_,
          const router& routes_)
        : executor(executor_),
          time(time_),
          options(std::move(options_)),
          routes(routes_),
          tasks(executor_),
          acceptor(executor_) {}

    asio::any_io_executor executor;
    clock& time;
    server_options options;
    const router& routes;
    task_group tasks;
    asio::ip::tcp::acceptor acceptor;
    std::optional<tls_files> tls;
    std::list<session> sessions;
    std::size_t upgraded = 0;  ///< of the sessions
    bool stopping = false;

    /// Takes a session off the list however its coroutine ends.
    struct listed {
        state& owner;
        std::list<session>::iterator at;
        listed(state& owner_, std::shared_ptr<tcp_connection> connection) : owner(owner_) {
            at = owner.sessions.emplace(owner.sessions.end());
            at->connection = std::move(connection);
        }
        listed(const listed&) = delete;
        listed& operator=(const listed&) = delete;
        ~listed() {
            stays_http();
            owner.sessions.erase(at);
        }
        void goes_over() {
            at->upgraded = true;
            ++owner.upgraded;
        }
        void stays_http() {
            if (std::exchange(at->upgraded, false)) --owner.upgraded;
        }
    };

    void close_idle() {
        for (auto& entry : sessions) {
            if (entry.idle) entry.connection->close();
        }
    }
    /// Room for one more connection: when all are taken, the oldest that is not being answered
    /// goes. Who keeps connections open without a request does not shut out the others (nor
    /// probes).
    bool make_room() {
        const auto own = sessions.size() - upgraded;
        if (own < static_cast<std::size_t>(options.max_connections)) return true;
        const auto oldest = std::ranges::find_if(
            sessions, [](const session& each) { return !each.answering && !each.closed; });
        if (oldest == sessions.end()) return false;
        oldest->closed = true;
        oldest->connection->close();
        return true;
    }
    result<void> listen();
    static asio::awaitable<void> accept_all(std::shared_ptr<state> own);
    static asio::awaitable<void> serve(std::shared_ptr<state> own,
                                       std::shared_ptr<tcp_connection> connection);
};

/// One connection: requests one after the other, in order, until either side has enough, or until
/// another protocol takes it over.
asio::awaitable<void> server::state::serve(std::shared_ptr<state> own,
                                           std::shared_ptr<tcp_connection> connection) {
    listed entry(*own, connection);
    const bool from_loopback = is_loopback(connection->socket());
    if (own->tls) {
        const bool shaken = co_await shake_hands(connection, own->tls->context(own->time.now()));
        if (!shaken) co_return;
    }
    beast::flat_buffer buffer;
    for (bool keep_alive = true; keep_alive && !own->stopping;) {
        entry.at->idle = true;
        entry.at->answering = false;
        connection->close_at(std::chrono::steady_clock::now() + own->options.idle_timeout);
        const bool begun = co_await first_byte(connection, buffer);
        if (!begun) co_return;
        entry.at->idle = false;
        connection->close_at(std::chrono::steady_clock::now() + own->options.request_timeout);
        auto read = co_await read_request(connection, buffer, own->options, from_loopback);
        if (read.how == reading::end::closed) co_return;
        entry.at->answering = true;

        auto reply = std::move(read.reply);
        keep_alive = read.keep_alive && !own->stopping;
        const bool head_only = read.request.method == "HEAD";
        if (read.how == reading::end::request) {
            connection->no_deadline();
            const auto* handler = read.old_version ? nullptr : own->routes.upgrade_of(read.request);
            if (handler != nullptr) {
                entry.goes_over();
                auto over = std::make_shared<upgrade>();
                over->request = std::move(read.request);
                over->connection = connection;
                over->early = beast::buffers_to_string(buffer.data());
                buffer.clear();
                buffer.shrink_to_fit();
                auto refused = co_await hand_over(*handler, over);
                if (!refused) break;
                // What came behind the request is the next one.
                const auto behind = asio::buffer(over->early);
                buffer.commit(asio::buffer_copy(buffer.prepare(behind.size()), behind));
                entry.stays_http();
                reply = std::move(*refused);
            } else {
                reply = co_await reply_to(own->routes, std::move(read.request));
            }
            keep_alive = keep_alive && !own->stopping;
        }
        connection->close_at(std::chrono::steady_clock::now() + own->options.request_timeout);
        const char* stays = read.old_version ? "keep-alive" : "";
        auto head = head_of(reply, keep_alive ? stays : "close", own->time.wall());
        const bool bodiless = head_only || reply.status == 204 || reply.status == 304;
        if (bodiless) reply.body.clear();
        const auto failure = co_await send_text(connection, std::move(head), std::move(reply.body));
        if (failure) co_return;
    }
    co_await close_gently(connection);
}

asio::awaitable<void> server::state::accept_all(std::shared_ptr<state> own) {
    while (!own->stopping) {
        error_code failure;
        auto socket =
            co_await own->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failure));
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none || own->stopping) co_return;
        if (failure) {
            // Out of file descriptors, most likely: some will come free.
            log::warn("cannot accept a connection", {{"error", failure.message()}});
            co_await own->time.sleep_for(milliseconds(100));
            continue;
        }
        if (!own->make_room()) {
            log::debug("connection refused: too many are open");
            continue;
        }
        socket.set_option(asio::ip::tcp::no_delay(true), failure);
        socket.set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), failure);
        auto connection = std::make_shared<tcp_connection>(std::move(socket));
        own->tasks.spawn("http connection", serve(own, std::move(connection)));
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
    for (auto& entry : state_->sessions) entry.connection->close();
    state_->tasks.cancel();
}

result<void> server::start() {
    const auto& options = state_->options;
    if (options.tls_cert_file.empty() != options.tls_private_key_file.empty()) {
        return fail(errc::config, "TLS needs both a certificate file and a private key file");
    }
    if (!options.tls_cert_file.empty()) {
        auto loaded = tls_files::load(options.tls_cert_file, options.tls_private_key_file,
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

asio::awaitable<void> server::stop(steady_time deadline) {
    auto own = state_;
    own->stopping = true;
    error_code ignored;
    own->acceptor.close(ignored);
    own->close_idle();
    co_await ends_by(own->time, deadline, own->tasks.join());
    co_await own->tasks.stop();
}

}  // namespace esi::http
