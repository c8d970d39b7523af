#include "http/request_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "base/wait.h"
#include "http/admission.h"
#include "http/problem.h"
#include "http/target.h"

namespace esi::http {

namespace beast = boost::beast;
using boost::system::error_code;
using parser_type = beast::http::request_parser<beast::http::string_body>;

namespace {

constexpr std::size_t read_bytes = 4096;
constexpr std::string_view end_of_head = "\r\n\r\n";

/// Faults that the parser accepts and that a second reader on the way could read differently (RFC
/// 9112 6.3 and 3.2). Empty if there is none.
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

server_request to_request(const parser_type::value_type& head, target where) {
    server_request out;
    out.method = std::string_view(head.method_string());
    out.raw_path = std::move(where.raw_path);
    out.query = std::move(where.query);
    const bool absolute = !where.authority.empty();
    for (const auto& line : head) {
        auto name = lower(line.name_string());
        if (absolute && name == "host") continue;
        out.headers.emplace_back(std::move(name), std::string_view(line.value()));
    }
    // Added also if HTTP/1.0 omits the Host.
    if (absolute) out.headers.emplace_back("host", std::move(where.authority));
    return out;
}

/// The status for a refusal by the parser; 0: there is no client to answer.
int status_for(const error_code& failure) {
    using beast::http::error;
    if (failure == error::header_limit) return 431;
    if (failure == error::body_limit) return 413;
    if (failure == error::bad_version) return 505;
    if (failure == error::end_of_stream || failure == error::partial_message) return 0;
    return failure.category() == beast::http::make_error_code(error::bad_value).category() ? 400
                                                                                           : 0;
}

std::string too_long(const server_request& request, std::size_t limit) {
    const auto what = request.method + " " + request.raw_path;
    if (limit == 0) return what + " takes no body";
    return fmt::format("{} takes bodies of at most {} bytes", what, limit);
}

/// A method begins with a letter; other bytes are no HTTP (TLS, for example).
bool may_begin_a_request(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

asio::awaitable<std::unique_ptr<large_body_turn::holder>> large_body_turn::take(
    clock& time, steady_time deadline) {
    while (taken_) {
        const bool was_given = co_await ends_by(time, deadline, free_.wait());
        if (!was_given) co_return nullptr;
    }
    taken_ = true;
    co_return std::make_unique<holder>(*this);
}

struct request_reader::parts {
    parser_type parser;
    std::size_t limit = 0;
};

request_reader::request_reader(tcp_connection& connection, connection_table::place& place,
                               const router& routes, clock& time, request_limits limits,
                               large_body_turn& turn)
    : connection_(connection),
      place_(place),
      routes_(routes),
      time_(time),
      limits_(limits),
      turn_(turn),
      buffer_(limits.head) {}

asio::awaitable<error_code> request_reader::read_some() {
    error_code failure;
    const auto space = buffer_.prepare(std::min(read_bytes, buffer_.max_size() - buffer_.size()));
    const auto count = co_await connection_.async_read_some(
        space, asio::redirect_error(asio::use_awaitable, failure));
    buffer_.commit(count);
    place_.moved(count);
    co_return failure;
}

asio::awaitable<bool> request_reader::first_byte() {
    if (buffer_.size() > 0) co_return true;
    // A connection that waits keeps little.
    buffer_.shrink_to_fit();
    const auto failure = co_await read_some();
    co_return !failure;
}

std::string request_reader::take_rest() {
    auto out = beast::buffers_to_string(buffer_.data());
    buffer_.clear();
    buffer_.shrink_to_fit();
    return out;
}

void request_reader::put_back(const std::string& rest) {
    buffer_.commit(asio::buffer_copy(buffer_.prepare(rest.size()), asio::buffer(rest)));
}

/// The parser gets a head when it is complete: it makes an object of each line.
asio::awaitable<std::optional<request_reader::trouble>> request_reader::read_head() {
    for (std::size_t looked = 0;;) {
        const std::string_view text(static_cast<const char*>(buffer_.cdata().data()),
                                    buffer_.size());
        if (!text.empty() && !may_begin_a_request(text.front())) {
            co_return trouble{400, "this is no request of HTTP/1.1"};
        }
        const auto end = text.find(end_of_head, looked);
        if (end != std::string_view::npos) {
            const auto lines = std::ranges::count(text.substr(0, end), '\n');
            if (static_cast<std::size_t>(lines) <= limits_.header_lines) co_return std::nullopt;
            co_return trouble{431, fmt::format("more than {} header lines", limits_.header_lines)};
        }
        if (text.size() >= limits_.head) {
            co_return trouble{431, fmt::format("a head has at most {} bytes", limits_.head)};
        }
        looked = text.size() - std::min(text.size(), end_of_head.size() - 1);
        const auto failure = co_await read_some();
        if (failure) co_return trouble{status_for(failure), failure.message()};
    }
}

asio::awaitable<std::optional<request_reader::trouble>> request_reader::read_body(parts& of,
                                                                                  reading& into) {
    auto& parser = of.parser;
    const auto& request = into.request;
    const auto& rules = into.decided.rules;
    of.limit = rules.body_limit;
    const auto length = parser.content_length();
    const bool certified = request.peer_has_certificate;
    if (length && *length > of.limit && certified && *length <= rules.certified_body_limit) {
        connection_.no_deadline();
        into.turn = co_await turn_.take(time_, time_.now() + limits_.time);
        if (!into.turn) co_return trouble{503, "other large requests are being answered"};
        connection_.close_at(std::chrono::steady_clock::now() + limits_.time);
        of.limit = rules.certified_body_limit;
    }
    if (length && *length > of.limit) co_return trouble{413, too_long(request, of.limit)};
    parser.body_limit(of.limit);
    parser.eager(true);
    if (!parser.is_done() && buffer_.size() == 0 &&
        lower(request.header("expect")) == "100-continue") {
        error_code failure;
        co_await asio::async_write(connection_,
                                   asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")),
                                   asio::redirect_error(asio::use_awaitable, failure));
        if (failure) co_return trouble{};
    }
    std::size_t between = 0;  // bytes that are not of the body itself
    while (!parser.is_done()) {
        error_code failure;
        const auto before = parser.get().body().size();
        const auto used = buffer_.size() == 0 ? 0 : parser.put(buffer_.cdata(), failure);
        buffer_.consume(used);
        const auto size = parser.get().body().size();
        between += used - std::min(used, size - before);
        if (failure == beast::http::error::need_more) failure = {};
        if (failure == beast::http::error::body_limit) {
            co_return trouble{413, too_long(request, of.limit)};
        }
        if (failure) co_return trouble{status_for(failure), failure.message()};
        if (parser.is_done()) break;
        if (buffer_.size() >= buffer_.max_size() || between > limits_.head + size) {
            co_return trouble{431, "too much stands between or behind the chunks of the body"};
        }
        if (!into.turn && !place_.hold(size, time_.now())) {
            co_return trouble{503, "too many bodies are on the way"};
        }
        if (used > 0 && buffer_.size() > 0) continue;
        failure = co_await read_some();
        if (failure) co_return trouble{status_for(failure), failure.message()};
    }
    co_return std::nullopt;
}

/// Meanwhile the connection counts as working: the peer is not to blame for the time. The body has
/// the whole time of a request again.
asio::awaitable<std::optional<server_reply>> request_reader::ask_admission(reading& into) {
    using phase = connection_table::phase;
    place_.enter(phase::working, time_.now());
    connection_.no_deadline();
    auto out =
        co_await refusal_by(*into.decided.admit, into.request, time_, time_.now() + limits_.time);
    place_.enter(phase::reading, time_.now());
    connection_.close_at(std::chrono::steady_clock::now() + limits_.time);
    co_return out;
}

asio::awaitable<reading> request_reader::read(std::shared_ptr<const peer_details> peer) {
    reading out;
    const auto refuse = [&](trouble why) {
        out.how = why.status == 0 ? reading::end::closed : reading::end::refused;
        out.keep_alive = false;
        out.reply = problem(why.status, why.why);
        if (why.status == 503) out.reply.headers.emplace_back("Retry-After", "2");
    };
    if (auto why = co_await read_head()) {
        refuse(std::move(*why));
        co_return out;
    }
    parts of;
    auto& parser = of.parser;
    parser.header_limit(static_cast<std::uint32_t>(limits_.head));
    parser.body_limit(boost::none);
    parser.eager(false);
    error_code failure;
    buffer_.consume(parser.put(buffer_.cdata(), failure));
    const auto& head = parser.get();
    if (failure || !parser.is_header_done()) {
        refuse({std::max(status_for(failure), 400),
                failure ? failure.message() : "this is no request of HTTP/1.1"});
        co_return out;
    }
    if (head.version() != 10 && head.version() != 11) {
        refuse({505, "HTTP/1.1 is spoken here"});
        co_return out;
    }
    if (auto fault = framing_fault(head); !fault.empty()) {
        refuse({400, std::move(fault)});
        co_return out;
    }
    auto where = parse_target(std::string_view(head.target()));
    if (!where) {
        refuse({400, where.error().text});
        co_return out;
    }
    out.old_version = head.version() < 11;
    out.keep_alive = parser.keep_alive();
    // Taken before the body: trailers are never seen.
    out.request = to_request(head, std::move(*where));
    out.request.peer_is_loopback = peer->loopback;
    const auto& shown = peer->certificate;
    out.request.peer_has_certificate = shown && !shown->has_ended(time_.wall());
    out.request.peer = std::move(peer);
    out.decided = routes_.decide(out.request);
    if (place_.reserved() && !out.decided.rules.probe) {
        refuse({503, "too many connections are open"});
        co_return out;
    }
    const bool upgrades = out.decided.upgrade != nullptr && !out.old_version;
    if (out.decided.admit != nullptr && !upgrades) {
        out.decided.reply = co_await ask_admission(out);
    }
    if (out.decided.reply && !upgrades) {
        out.how = reading::end::refused;
        out.reply = std::move(*out.decided.reply);
        // A body that is not needed is not read; then the next request cannot be found.
        out.keep_alive = out.keep_alive && parser.is_done();
        co_return out;
    }
    if (auto why = co_await read_body(of, out)) {
        refuse(std::move(*why));
        co_return out;
    }
    out.how = reading::end::request;
    out.request.body = std::move(parser.get().body());
    co_return out;
}

}  // namespace esi::http
