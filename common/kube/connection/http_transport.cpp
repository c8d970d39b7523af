#include "kube/connection/http_transport.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>
#include <unordered_map>

#include "base/log.h"
#include "base/task_group.h"
#include "base/tcp_connection.h"
#include "base/wait.h"
#include "kube/auth/credentials.h"
#include "kube/auth/server_address.h"
#include "kube/connection/tls_client.h"
#include "kube/server_clock.h"

namespace esi::kube {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using connection_pointer = std::shared_ptr<tcp_connection>;

namespace {

constexpr auto connect_time = std::chrono::seconds(5);
constexpr auto handshake_time = std::chrono::seconds(10);
constexpr std::uint32_t header_limit = 64u << 10;
/// How much is read from a socket at once: as much as the buffer holds. A buffer that grows by
/// itself stays at 512 bytes, which is 800 reads for an object of 400 kB.
constexpr std::size_t answer_read_size = 64u << 10;
constexpr std::size_t stream_read_size = 16u << 10;

/// A dead peer is noticed after about a minute even on a quiet watch.
void set_options(tcp::socket& socket) {
    const auto set = [&](int level, int name, int value) {
        ::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

/// An idle connection has nothing to read: bytes or an end mean that the server closes it.
bool is_quiet(tcp::socket& socket) {
    char byte = 0;
    const auto count = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/// After a failed operation: a cancelled coroutine unwinds, every other one gets an error.
asio::awaitable<void> unwind_if_cancelled() {
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

/// A lookup whose thread may still be in getaddrinfo when no request waits any more.
struct lookup {
    explicit lookup(const asio::any_io_executor& executor)
        : resolver(executor), finished(executor, steady_time::max()) {}
    tcp::resolver resolver;
    asio::steady_timer finished;
    std::vector<tcp::endpoint> found;
    error_code failure = asio::error::timed_out;
};

asio::awaitable<result<std::vector<tcp::endpoint>>> resolve(server_address where,
                                                            steady_time deadline) {
    error_code not_an_address;
    const auto literal = asio::ip::make_address(where.host, not_an_address);
    std::uint16_t port = 0;
    std::from_chars(where.port.data(), where.port.data() + where.port.size(), port);
    if (!not_an_address) co_return std::vector<tcp::endpoint>(1, tcp::endpoint(literal, port));

    auto executor = co_await asio::this_coro::executor;
    auto search = std::make_shared<lookup>(executor);
    search->resolver.async_resolve(
        where.host, where.port,
        [search](const error_code& failure, const tcp::resolver::results_type& results) {
            search->failure = failure;
            for (const auto& entry : results) search->found.push_back(entry.endpoint());
            search->finished.cancel();
        });
    search->finished.expires_at(deadline);
    error_code woken;
    co_await search->finished.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_await unwind_if_cancelled();
    if (search->failure == asio::error::timed_out) {
        search->resolver.cancel();
        co_return fail(errc::timeout, where.host + " was not resolved in time");
    }
    if (search->failure || search->found.empty()) {
        co_return fail(errc::transport,
                       where.host + " cannot be resolved: " + search->failure.message());
    }
    co_return std::move(search->found);
}

/// "299 - \"text\"" -> text.
std::string warning_text(std::string_view value) {
    const auto begin = value.find('"');
    const auto end = value.rfind('"');
    if (begin == std::string_view::npos || end <= begin) return std::string(value);
    std::string out;
    for (auto at = begin + 1; at < end; ++at) {
        if (value[at] == '\\' && at + 1 < end) ++at;
        out += value[at];
    }
    return out;
}

template <class Fields>
int retry_after_of(const Fields& fields) {
    const std::string_view text = fields[http::field::retry_after];
    int seconds_ = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds_);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && seconds_ >= 0 ? seconds_ : -1;
}

/// The head of a request on the wire.
std::string head_of(const request& what, const server_address& where, const std::string& agent,
                    const std::string& token) {
    std::string out = what.method + " " + where.prefix + what.target +
                      " HTTP/1.1\r\nHost: " + where.authority() + "\r\nUser-Agent: " + agent +
                      "\r\nAccept: " + (what.accept.empty() ? "application/json" : what.accept) +
                      "\r\n";
    if (!token.empty()) out += "Authorization: Bearer " + token + "\r\n";
    if (!what.content_type.empty()) out += "Content-Type: " + what.content_type + "\r\n";
    if (!what.body.empty() || what.method == "POST" || what.method == "PUT" ||
        what.method == "PATCH") {
        out += "Content-Length: " + std::to_string(what.body.size()) + "\r\n";
    }
    return out + "\r\n";
}

bool fit_for_a_line(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) return false;
    }
    return !text.empty();
}

/// How far an exchange came before it failed.
struct exchange_fault {
    exchange_fault() = default;
    bool failed = false;
    bool stale = false;  ///< the connection was dead before any byte of an answer
    error why;
};

exchange_fault fault_of(const tcp_connection& connection, const error_code& failure, bool reused,
                        bool got_some, std::string_view doing) {
    exchange_fault out;
    out.failed = true;
    if (connection.timed_out()) {
        out.why.code = errc::timeout;
        out.why.text = "no answer in time (" + std::string(doing) + ")";
        return out;
    }
    out.stale = reused && !got_some;
    out.why.code = errc::transport;
    out.why.text = std::string(doing) + ": " + failure.message();
    return out;
}

asio::awaitable<error_code> write_request(connection_pointer connection, std::string head,
                                          const std::string& body) {
    std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(body)};
    error_code failure;
    co_await asio::async_write(*connection, parts,
                               asio::redirect_error(asio::use_awaitable, failure));
    if (failure) co_await unwind_if_cancelled();
    co_return failure;
}

/// A watch: the connection is its own, and dies with it.
class http_stream final : public stream {
public:
    using parser_type = http::response_parser<http::buffer_body>;

    explicit http_stream(connection_pointer connection) : connection_(std::move(connection)) {
        parser_.header_limit(header_limit);
        parser_.body_limit(boost::none);
        buffer_.reserve(piece_.size());
    }
    ~http_stream() override { connection_->close(); }

    parser_type& parser() { return parser_; }
    beast::flat_buffer& buffer() { return buffer_; }

    int status() const override { return static_cast<int>(parser_.get().result_int()); }
    int retry_after_seconds() const override { return retry_after_of(parser_.get()); }
    std::optional<wall_time> date() const override {
        return parse_http_date(parser_.get()[http::field::date]);
    }

    asio::awaitable<result<std::string>> read(steady_time deadline) override {
        connection_->close_at(deadline);
        // Never eager: an eager parser that has the bytes of one chunk would go on reading for the
        // next before it gives them out, and hold back an event until the following one.
        parser_.eager(false);
        while (!parser_.is_done()) {
            auto& body = parser_.get().body();
            body.data = piece_.data();
            body.size = piece_.size();
            body.more = true;
            error_code failure;
            co_await http::async_read_some(*connection_, buffer_, parser_,
                                           asio::redirect_error(asio::use_awaitable, failure));
            if (failure == http::error::need_buffer) failure = {};
            const auto count = piece_.size() - parser_.get().body().size;
            if (count > 0) co_return std::string(piece_.data(), count);
            if (!failure) continue;
            co_await unwind_if_cancelled();
            co_return std::unexpected(
                fault_of(*connection_, failure, false, true, "reading the stream").why);
        }
        co_return std::string();
    }

private:
    connection_pointer connection_;
    parser_type parser_;
    beast::flat_buffer buffer_;
    std::array<char, stream_read_size> piece_;
};

}  // namespace

struct http_transport::state : std::enable_shared_from_this<http_transport::state> {
    state(asio::any_io_executor executor_, clock& time_, cluster_access access_,
          server_address where_, http_transport_options options_,
          std::optional<credential_set> first)
        : executor(executor_),
          time(time_),
          where(std::move(where_)),
          options(std::move(options_)),
          host(where.authority()),
          identity(executor_, time_, std::move(access_), std::move(first)),
          pool(options.pool),
          freed(executor_) {}

    asio::any_io_executor executor;
    clock& time;
    server_address where;
    http_transport_options options;
    std::string host;
    credentials identity;
    connection_pool pool;
    notifier freed;
    std::unordered_map<connection_pool::number, connection_pointer> idle;
    std::shared_ptr<asio::ssl::context> context;
    std::uint64_t context_revision = 0;

    /// Carries out what the pool's bookkeeping asks for.
    void settle() {
        for (const auto id : pool.take_closed()) idle.erase(id);
        if (pool.take_wake()) freed.notify();
    }

    /// A connection for one exchange; goes back to the pool, or is closed, when this goes.
    class borrowed_connection {
    public:
        borrowed_connection(std::shared_ptr<state> owner, connection_pool::number id)
            : owner_(std::move(owner)), id_(id) {}
        borrowed_connection(borrowed_connection&& other) noexcept
            : connection(std::move(other.connection)),
              reused(other.reused),
              owner_(std::move(other.owner_)),
              id_(other.id_),
              keep_(other.keep_) {}
        borrowed_connection& operator=(borrowed_connection&&) = delete;
        ~borrowed_connection() {
            if (!owner_) return;
            if (keep_) {
                connection->no_deadline();
                owner_->idle.emplace(id_, connection);
            } else if (connection) {
                connection->close();
            }
            owner_->pool.release(id_, keep_, owner_->time.now());
            owner_->settle();
        }
        void keep() { keep_ = true; }
        /// For good: the pool forgets it.
        connection_pointer detach() {
            owner_->pool.detach(id_, owner_->time.now());
            owner_->settle();
            owner_.reset();
            return connection;
        }

        connection_pointer connection;
        bool reused = false;

    private:
        std::shared_ptr<state> owner_;
        connection_pool::number id_;
        bool keep_ = false;
    };

    /// Leaves the queue of waiters when the waiter is cancelled.
    struct queue_ticket {
        state& owner;
        connection_pool::number ticket;
        ~queue_ticket() {
            owner.pool.abandon(ticket, owner.time.now());
            owner.settle();
        }
    };

    result<void> use(const credential_set& set);
    asio::awaitable<result<connection_pool::grant>> granted(steady_time deadline);
    asio::awaitable<result<borrowed_connection>> acquire(bool fresh, steady_time deadline);
    asio::awaitable<result<connection_pointer>> connect(steady_time deadline);
    asio::awaitable<exchange_fault> exchange(borrowed_connection& over, const request& what,
                                             const std::string& token, steady_time deadline,
                                             response& answer);
    asio::awaitable<exchange_fault> begin_stream(borrowed_connection& over, const request& what,
                                                 const std::string& token, steady_time deadline,
                                                 std::unique_ptr<http_stream>& begun);
};

/// New credentials: a new context, and the old connections are not used again.
result<void> http_transport::state::use(const credential_set& set) {
    if (!where.tls || context_revision == set.tls_revision) return {};
    auto made = make_client_context(set, identity.access().cluster);
    if (!made) {
        // The contract has no better class; the text says what is wrong.
        made.error().code = errc::transport;
        return std::unexpected(std::move(made).error());
    }
    context = std::move(*made);
    context_revision = set.tls_revision;
    pool.drain();
    settle();
    return {};
}

asio::awaitable<result<connection_pool::grant>> http_transport::state::granted(
    steady_time deadline) {
    using kind = connection_pool::grant::kind;
    auto grant = pool.acquire(time.now(), deadline);
    settle();
    if (grant.what != kind::wait) co_return grant;
    queue_ticket queued{*this, grant.id};
    for (;;) {
        const bool woken = co_await ends_by(time, deadline, freed.wait());
        grant = pool.redeem(queued.ticket, time.now());
        if (grant.what == kind::reuse || grant.what == kind::open) co_return grant;
        if (!woken || grant.what == kind::expired) {
            co_return fail(errc::timeout, "no connection to " + host + " came free in time");
        }
    }
}

asio::awaitable<result<connection_pointer>> http_transport::state::connect(steady_time deadline) {
    using value = result<connection_pointer>;
    const auto limit = std::min(deadline, time.now() + connect_time);
    auto endpoints = co_await resolve(where, limit);
    if (!endpoints) co_return value(std::unexpect, std::move(endpoints).error());

    auto connection = std::make_shared<tcp_connection>(executor);
    connection->close_at(limit);
    error_code failure;
    co_await asio::async_connect(connection->socket(), *endpoints,
                                 asio::redirect_error(asio::use_awaitable, failure));
    if (failure) {
        co_await unwind_if_cancelled();
        const auto fault = fault_of(*connection, failure, false, false, "connecting to " + host);
        co_return value(std::unexpect, fault.why);
    }
    set_options(connection->socket());
    if (!where.tls) co_return value(std::move(connection));

    auto& tls = connection->start_tls(context);
    const auto& cluster = identity.access().cluster;
    const bool expected =
        expect_peer(tls.native_handle(),
                    cluster.tls_server_name.empty() ? where.host : cluster.tls_server_name);
    if (!expected) {
        co_return value(std::unexpect,
                        error{errc::transport, "the server's name cannot be checked: " + host});
    }
    connection->close_at(std::min(deadline, time.now() + handshake_time));
    co_await tls.async_handshake(asio::ssl::stream_base::client,
                                 asio::redirect_error(asio::use_awaitable, failure));
    if (!failure) co_return value(std::move(connection));
    co_await unwind_if_cancelled();
    auto fault = fault_of(*connection, failure, false, false, "TLS with " + host);
    if (fault.why.code == errc::transport) {
        fault.why.text = "TLS with " + host + ": " + handshake_fault(tls.native_handle(), failure);
    }
    co_return value(std::unexpect, fault.why);
}

asio::awaitable<result<http_transport::state::borrowed_connection>> http_transport::state::acquire(
    bool fresh, steady_time deadline) {
    using value = result<borrowed_connection>;
    auto grant = co_await granted(deadline);
    if (!grant) co_return value(std::unexpect, std::move(grant).error());
    borrowed_connection out(shared_from_this(), grant->id);
    if (grant->what == connection_pool::grant::kind::reuse) {
        if (auto known = idle.extract(grant->id)) {
            if (!fresh && is_quiet(known.mapped()->socket())) {
                out.connection = std::move(known.mapped());
                out.reused = true;
                co_return value(std::move(out));
            }
        }
    }
    auto connected = co_await connect(deadline);
    if (!connected) co_return value(std::unexpect, std::move(connected).error());
    out.connection = std::move(*connected);
    co_return value(std::move(out));
}

asio::awaitable<exchange_fault> http_transport::state::exchange(borrowed_connection& over,
                                                                const request& what,
                                                                const std::string& token,
                                                                steady_time deadline,
                                                                response& answer) {
    over.connection->close_at(deadline);
    auto failure = co_await write_request(
        over.connection, head_of(what, where, options.user_agent, token), what.body);
    if (failure) co_return fault_of(*over.connection, failure, over.reused, false, "sending");

    http::response_parser<http::string_body> parser;
    parser.header_limit(header_limit);
    const auto limit = what.answer_limit == 0 ? options.body_limit
                                              : std::min(what.answer_limit, options.body_limit);
    parser.body_limit(limit);
    beast::flat_buffer buffer;
    buffer.reserve(answer_read_size);
    co_await http::async_read(*over.connection, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, failure));
    if (failure == http::error::body_limit) {
        exchange_fault out;
        out.failed = true;
        out.why.code = errc::answer_too_large;
        out.why.text = "the answer has more than " + std::to_string(limit) + " bytes";
        co_return out;
    }
    if (failure) {
        co_await unwind_if_cancelled();
        co_return fault_of(*over.connection, failure, over.reused,
                           parser.got_some() || buffer.size() > 0, "reading the answer");
    }
    auto& message = parser.get();
    answer.status = static_cast<int>(message.result_int());
    answer.retry_after_seconds = retry_after_of(message);
    answer.date = parse_http_date(message[http::field::date]);
    const auto warnings = message.equal_range(http::field::warning);
    for (auto at = warnings.first; at != warnings.second; ++at) {
        answer.warnings.push_back(warning_text(at->value()));
    }
    answer.body = std::move(message.body());
    if (parser.keep_alive() && buffer.size() == 0) over.keep();
    co_return exchange_fault();
}

asio::awaitable<exchange_fault> http_transport::state::begin_stream(
    borrowed_connection& over, const request& what, const std::string& token, steady_time deadline,
    std::unique_ptr<http_stream>& begun) {
    over.connection->close_at(deadline);
    auto failure = co_await write_request(
        over.connection, head_of(what, where, options.user_agent, token), what.body);
    if (failure) co_return fault_of(*over.connection, failure, over.reused, false, "sending");
    auto out = std::make_unique<http_stream>(over.connection);
    co_await http::async_read_header(*over.connection, out->buffer(), out->parser(),
                                     asio::redirect_error(asio::use_awaitable, failure));
    if (failure) {
        co_await unwind_if_cancelled();
        co_return fault_of(*over.connection, failure, over.reused,
                           out->parser().got_some() || out->buffer().size() > 0,
                           "reading the answer");
    }
    begun = std::move(out);
    co_return exchange_fault();
}

result<std::unique_ptr<http_transport>> http_transport::make(asio::any_io_executor executor,
                                                             clock& time, cluster_access access,
                                                             http_transport_options options) {
    auto where = parse_server_address(access.cluster.server);
    if (!where) return std::unexpected(std::move(where).error());
    auto set = read_credential_files(access, nullptr);
    if (!set) return std::unexpected(std::move(set).error());
    if (where->tls) {
        auto context = make_client_context(*set, access.cluster);
        if (!context) return std::unexpected(std::move(context).error());
        if (access.cluster.insecure_skip_tls_verify) {
            log::warn(
                "insecure-skip-tls-verify: who stands between here and the API server is "
                "believed to be it",
                {{"server", access.cluster.server}});
        }
    } else if (!set->token.empty() || access.user.exec) {
        log::warn("the API server is spoken to without TLS: tokens can be read on the way",
                  {{"server", access.cluster.server}});
    }
    // With a plugin the set is not complete before the plugin has answered.
    std::optional<credential_set> first;
    if (!access.user.exec) first = std::move(*set);
    auto made = std::make_shared<state>(std::move(executor), time, std::move(access),
                                        std::move(*where), std::move(options), std::move(first));
    return std::unique_ptr<http_transport>(new http_transport(std::move(made)));
}

http_transport::http_transport(std::shared_ptr<state> made) : state_(std::move(made)) {}
http_transport::~http_transport() { state_->idle.clear(); }

const std::string& http_transport::host() const { return state_->host; }

asio::awaitable<result<response>> http_transport::send(request what, steady_time deadline) {
    using value = result<response>;
    auto own = state_;
    if (!fit_for_a_line(what.target)) co_return fail(errc::transport, "the address is not encoded");
    const bool repeatable = what.safe_to_repeat || what.method == "GET";
    bool fresh = false;
    bool asked_again = false;
    for (;;) {
        auto set = co_await own->identity.current(deadline);
        if (!set) co_return value(std::unexpect, errc::transport, set.error().text);
        if (auto usable = own->use(**set); !usable) {
            co_return value(std::unexpect, std::move(usable).error());
        }
        auto over = co_await own->acquire(fresh, deadline);
        if (!over) co_return value(std::unexpect, std::move(over).error());
        response answer;
        auto fault = co_await own->exchange(*over, what, (*set)->token, deadline, answer);
        if (fault.failed) {
            if (!fault.stale || !repeatable || fresh) {
                co_return value(std::unexpect, std::move(fault.why));
            }
            fresh = true;
            continue;
        }
        if (answer.status != 401 || asked_again) co_return value(std::move(answer));
        asked_again = true;
        own->identity.rejected(*set);
        auto renewed = co_await own->identity.current(deadline);
        const bool other = renewed && ((*renewed)->token != (*set)->token ||
                                       (*renewed)->tls_revision != (*set)->tls_revision);
        if (!other) co_return value(std::move(answer));
    }
}

asio::awaitable<result<std::unique_ptr<stream>>> http_transport::open(request what,
                                                                      steady_time deadline) {
    using value = result<std::unique_ptr<stream>>;
    auto own = state_;
    if (!fit_for_a_line(what.target)) co_return fail(errc::transport, "the address is not encoded");
    for (bool fresh = false;; fresh = true) {
        auto set = co_await own->identity.current(deadline);
        if (!set) co_return value(std::unexpect, errc::transport, set.error().text);
        if (auto usable = own->use(**set); !usable) {
            co_return value(std::unexpect, std::move(usable).error());
        }
        auto over = co_await own->acquire(fresh, deadline);
        if (!over) co_return value(std::unexpect, std::move(over).error());
        std::unique_ptr<http_stream> begun;
        auto fault = co_await own->begin_stream(*over, what, (*set)->token, deadline, begun);
        if (!fault.failed) {
            if (begun->status() == 401) own->identity.rejected(*set);
            over->detach();
            co_return value(std::move(begun));
        }
        if (!fault.stale || fresh) co_return value(std::unexpect, std::move(fault.why));
    }
}

}  // namespace esi::kube
