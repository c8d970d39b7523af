// A WebSocket client for tests that writes its frames by hand and keeps every byte that it
// receives. Lives on the test's own loop.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <string>

namespace esi::stomp {

namespace asio = boost::asio;

/// One WebSocket message of a client, masked with zeros.
inline std::string masked(char opcode, const std::string& text) {
    std::string out{static_cast<char>(0x80 | opcode)};
    if (text.size() < 126) {
        out += static_cast<char>(0x80 | text.size());
    } else {
        out += static_cast<char>(0x80 | 126);
        out += static_cast<char>(text.size() >> 8);
        out += static_cast<char>(text.size() & 0xFF);
    }
    return out + std::string(4, '\0') + text;
}

/// A request for /scheduler as a WebSocket; `more`: whole header lines.
inline std::string handshake(const std::string& more = {}) {
    return "GET /scheduler HTTP/1.1\r\nHost: localhost\r\nUpgrade: WebSocket\r\nConnection: "
           "keep-alive, "
           "Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
           "Sec-WebSocket-Version: 13\r\n" +
           more + "\r\n";
}

class raw_peer {
public:
    raw_peer(asio::io_context& loop, int port, const std::string& first, bool reads = true)
        : socket(loop) {
        socket.connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)});
        say(first);
        if (reads) read();
    }

    void say(const std::string& bytes) {
        boost::system::error_code ignored;
        asio::write(socket, asio::buffer(bytes), ignored);
    }

    asio::ip::tcp::socket socket;
    std::string heard;
    bool closed = false;

private:
    void read() {
        socket.async_read_some(asio::buffer(space_),
                               [this](const boost::system::error_code& failure, std::size_t n) {
                                   if (failure == asio::error::operation_aborted) return;
                                   heard.append(space_.data(), n);
                                   closed = static_cast<bool>(failure);
                                   if (!closed) read();
                               });
    }
    std::array<char, 4096> space_{};
};

}  // namespace esi::stomp
