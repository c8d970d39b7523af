// For tests of streams: rights that a test gives and takes, and a client that reads a stream over a
// socket and takes it apart.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "interface/v1/access/access.h"

namespace esi::interface::v1::events {

/// All callers are `caller` and may do all but what is named "VERB RESOURCE NAMESPACE".
struct given_rights final : access {
    std::string caller = "somebody";
    std::set<std::string> missing;
    /// 0: the caller is known.
    int unknown = 0;
    int asked = 0;

    asio::awaitable<std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request&) override {
        if (unknown != 0) {
            http::problem_details why;
            why.status = unknown;
            why.detail = "not known";
            co_return std::unexpected(std::move(why));
        }
        auto out = std::make_shared<http::identity>();
        out->name = caller;
        co_return out;
    }
    asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity&,
                                                                  const permission& what,
                                                                  std::string ns,
                                                                  std::string) override {
        ++asked;
        const auto text = what.verb + " " + what.resource + " " + ns;
        if (!missing.contains(text)) co_return std::nullopt;
        http::problem_details why;
        why.status = 403;
        why.detail = "may not " + text;
        co_return why;
    }
};

/// What a stream has sent, in JSON lines; the chunks of the answer taken off.
struct stream_client {
    stream_client(asio::io_context& loop, int port) : socket(loop), port_(port) {}

    asio::ip::tcp::socket socket;
    std::string head;
    std::vector<nlohmann::json> lines;
    bool closed = false;
    /// The last chunk has come.
    bool whole = false;
    /// While true nothing is read.
    bool idle = false;

    /// The last id, as a client keeps it: an empty one is forgotten.
    std::string last_id() const {
        std::string out;
        for (const auto& line : lines) {
            if (line.contains("id")) out = line["id"];
        }
        return out;
    }
    /// "sync", "ADDED t1@5", "reset TooOld", "end Stopping".
    std::vector<std::string> said() const {
        std::vector<std::string> out;
        for (const auto& line : lines) {
            std::string text = line["type"];
            if (line.contains("object")) {
                const auto& metadata = line["object"]["metadata"];
                text += " " + metadata["name"].get<std::string>() + "@" +
                        metadata["resourceVersion"].get<std::string>();
            }
            if (line.contains("reason")) text += " " + line["reason"].get<std::string>();
            out.push_back(std::move(text));
        }
        return out;
    }

    asio::awaitable<void> run(std::string request) {
        boost::system::error_code failure;
        const asio::ip::tcp::endpoint where(asio::ip::make_address("127.0.0.1"),
                                            static_cast<std::uint16_t>(port_));
        co_await socket.async_connect(where, asio::redirect_error(asio::use_awaitable, failure));
        co_await asio::async_write(socket, asio::buffer(request),
                                   asio::redirect_error(asio::use_awaitable, failure));
        std::array<char, 16384> space;
        while (!failure && !idle) {
            const auto count = co_await socket.async_read_some(
                asio::buffer(space), asio::redirect_error(asio::use_awaitable, failure));
            raw_.append(space.data(), count);
            take_apart();
        }
        closed = bool(failure);
    }

private:
    void take_apart() {
        if (head.empty()) {
            const auto end = raw_.find("\r\n\r\n");
            if (end == std::string::npos) return;
            head = raw_.substr(0, end + 4);
            raw_.erase(0, end + 4);
        }
        for (;;) {
            const auto line = raw_.find("\r\n");
            if (line == std::string::npos) break;
            const auto size = std::stoul(raw_.substr(0, line), nullptr, 16);
            if (raw_.size() < line + 2 + size + 2) break;
            text_ += raw_.substr(line + 2, size);
            raw_.erase(0, line + 2 + size + 2);
            if (size == 0) whole = true;
        }
        for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
            lines.push_back(nlohmann::json::parse(text_.substr(0, end), nullptr, false));
            text_.erase(0, end + 1);
        }
    }

    int port_;
    std::string raw_;
    std::string text_;
};

}  // namespace esi::interface::v1::events
