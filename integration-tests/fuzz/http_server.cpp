// Raw bytes to the real server over loopback. Oracles: it always ends the conversation, what it
// says is a sequence of whole answers, one for each request that its routes saw and at most one
// refusal behind them, no request gets through whose end two readers could see in different places,
// and the memory that a conversation takes is bounded, however much is said: an input that ends
// with the byte 2 says the bytes before it again and again.
#include <malloc.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>

#include "base/log.h"
#include "http/server.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t body_limit = 512;
constexpr std::size_t header_limit = 1024;
constexpr char again = 2;
constexpr std::size_t repeated_bytes = 64;
constexpr std::size_t much = 256u << 10;
/// Of one conversation: buffers, the parsed head, coroutines and what is heard.
constexpr std::size_t most_memory = 64u << 10;

/// Bytes on the heap. Sanitizers have heaps of their own, of which this tells nothing.
std::size_t heap_bytes() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// What is said for an input.
std::string said_for(std::string_view text) {
    std::string out(text);
    if (text.empty() || text.back() != again) return out;
    out.pop_back();
    const auto tail = out.substr(out.size() - std::min(out.size(), repeated_bytes));
    while (!tail.empty() && out.size() < much) out += tail;
    return out;
}

struct harness {
    asio::io_context loop;
    system_clock time;
    http::router routes;
    std::unique_ptr<http::server> server;
    /// What the routes saw of this conversation; `whole`: with its body.
    struct seen_request {
        http::server_request request;
        bool whole = true;
    };
    std::vector<seen_request> seen;

    harness() {
        log::send_to([](log::level, std::string_view) {});
        routes.on_miss("/", [this](const http::server_request& request, const auto&) {
            seen.push_back({request, false});
            const bool bad = request.undecodable_path;
            return http::server_reply(bad ? 400 : 200, "text/plain", "!");
        });
        http::route_rules rules;
        rules.body_limit = body_limit;
        for (const char* pattern : {"/", "/{a}", "/{a}/{b}", "/{a}/{b}/{c}"}) {
            for (const char* method : {"POST", "PUT", "GET", "DELETE"}) {
                routes.add(
                    method, pattern,
                    [this](http::server_request request) { return note(std::move(request)); },
                    rules);
            }
        }
        http::server_options options;
        options.bind_address = "127.0.0.1";
        options.header_limit = header_limit;
        server = std::make_unique<http::server>(loop.get_executor(), time, options, routes);
        const auto started = server->start();
        require(started.has_value(), "{}", started ? "" : started.error().text);
    }

    asio::awaitable<http::server_reply> note(http::server_request request) {
        // Who keeps it keeps the connection's place.
        request.room.reset();
        http::server_reply out(200, "text/plain", request.body + "!");
        seen.push_back({std::move(request), true});
        co_return out;
    }

    asio::awaitable<void> talk(std::string said, std::string& heard, bool& ended) {
        tcp::socket socket(loop);
        error_code failure;
        const tcp::endpoint where(asio::ip::make_address("127.0.0.1"),
                                  static_cast<std::uint16_t>(server->port()));
        co_await socket.async_connect(where, asio::redirect_error(asio::use_awaitable, failure));
        require(!failure, "connect: {}", failure.message());
        co_await asio::async_write(socket, asio::buffer(said),
                                   asio::redirect_error(asio::use_awaitable, failure));
        socket.shutdown(tcp::socket::shutdown_send, failure);
        std::array<char, 4096> space;
        for (failure = {}; !failure;) {
            const auto count = co_await socket.async_read_some(
                asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            heard.append(space.data(), count);
        }
        require(failure == asio::error::eof, "the conversation ends with {}", failure.message());
        ended = true;
    }
    std::string say(std::string_view text) {
        seen.clear();
        std::string heard;
        bool ended = false;
        asio::co_spawn(loop, talk(said_for(text), heard, ended), asio::detached);
        const auto before = heap_bytes();
        std::size_t most = before;
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!ended && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(std::chrono::milliseconds(100));
            most = std::max(most, heap_bytes());
        }
        // Answers are many where requests are.
        require(most - before <= most_memory + 8 * heard.size(), "{} bytes of memory",
                most - before);
        require(ended, "no end; heard: {}", heard);
        return heard;
    }
};

/// Takes one answer off; `bodiless`: that of a HEAD.
int take_answer(std::string_view& rest, bool bodiless) {
    constexpr std::string_view version = "HTTP/1.1 ";
    const auto end = rest.find("\r\n\r\n");
    require(rest.starts_with(version) && end != std::string_view::npos, "no answer: {}", rest);
    auto head = rest.substr(version.size(), end + 2 - version.size());
    rest.remove_prefix(end + 4);
    int status = 0;
    std::from_chars(head.data(), head.data() + head.size(), status);
    require(status >= 100 && status <= 599, "status {}", status);
    std::optional<std::size_t> length;
    head.remove_prefix(head.find("\r\n") + 2);
    while (!head.empty()) {
        const auto line = head.substr(0, head.find("\r\n"));
        head.remove_prefix(line.size() + 2);
        const auto colon = line.find(": ");
        require(colon != std::string_view::npos && line.find('\n') == std::string_view::npos,
                "header \"{}\"", line);
        if (line.substr(0, colon) != "Content-Length") continue;
        require(!length, "two lengths");
        length.emplace(std::stoul(std::string(line.substr(colon + 2))));
    }
    if (status == 100) return status;
    require(length.has_value(), "an answer without length");
    if (bodiless) return status;
    require(*length <= rest.size(), "an answer is cut");
    rest.remove_prefix(*length);
    return status;
}

void check_request(const http::server_request& request, bool whole) {
    const auto count = [&](std::string_view name) {
        return std::ranges::count(request.headers, name,
                                  &std::pair<std::string, std::string>::first);
    };
    const auto lengths = count("content-length");
    const auto codings = count("transfer-encoding");
    require(lengths + codings <= 1, "{} lengths and {} codings get through", lengths, codings);
    if (lengths == 1 && whole) {
        const auto text = request.header("content-length");
        require(text == std::to_string(request.body.size()) ||
                    (!text.empty() && text.find_first_not_of("0123456789") == text.npos &&
                     std::stoul(std::string(text)) == request.body.size()),
                "length {} has a body of {} bytes", text, request.body.size());
    }
    if (lengths + codings == 0) require(request.body.empty(), "a body without length");
    require(request.body.size() <= body_limit, "a body of {} bytes", request.body.size());
    require(count("host") <= 1, "{} hosts", count("host"));
    require(request.raw_path.starts_with('/') && !request.method.empty(), "{} {}", request.method,
            request.raw_path);
    std::size_t size = 0;
    for (const auto& [name, value] : request.headers) {
        size += name.size() + value.size();
        require(!name.empty() && value.find_first_of("\r\n") == std::string::npos &&
                    name.find_first_of(" \t\r\n:") == std::string::npos,
                "header \"{}: {}\"", name, value);
    }
    require(size <= header_limit, "headers of {} bytes", size);
}

void http_server(std::string_view text) {
    static harness own;
    // The backlog of one conversation; what is longer tells nothing new.
    if (text.size() > 4096) return;
    const auto heard = own.say(text);
    std::string_view rest = heard;
    for (const auto& [request, whole] : own.seen) {
        check_request(request, whole);
        int status = 100;
        while (status == 100) status = take_answer(rest, request.method == "HEAD");
        require(status == 200 || status == 400, "{} is answered {}", request.raw_path, status);
    }
    if (rest.empty()) {
        return;
    }
    int status = 100;
    while (status == 100 && !rest.empty()) status = take_answer(rest, false);
    require(status == 100 || status >= 400, "a request that nobody saw is answered {}", status);
    require(rest.empty(), "more answers than requests: {}", rest);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(http_server, esi::fuzz::http_server)
