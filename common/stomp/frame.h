// Frames of STOMP 1.0 to 1.2: reading from bytes that are cut anywhere, and writing. No I/O. A
// parser is owned by one connection and ends with its first fault; it never holds more than one
// frame and the bytes after it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace esi::stomp {

enum class version { v1_0, v1_1, v1_2 };
/// "1.2"
std::string_view text_of(version of);

struct frame {
    std::string command;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    /// The first value: of headers that repeat, only the first counts (STOMP 1.2, "Repeated Header
    /// Entries"). Nothing when absent.
    std::optional<std::string_view> header(std::string_view name) const;
    bool operator==(const frame&) const = default;
};

/// A line end between two frames.
struct heart_beat {
    bool operator==(const heart_beat&) const = default;
};

struct frame_limits {
    std::size_t headers = 32;
    std::size_t head = 8u << 10;  ///< bytes of command and headers with their line ends
    std::size_t body = 64u << 10;
};

class parser {
public:
    using item = std::variant<heart_beat, frame>;

    explicit parser(frame_limits limits = frame_limits()) : limits_(limits) {}

    /// Takes the next piece of the stream.
    void feed(std::string_view bytes);
    /// The next whole item; nothing when the one under way is not complete. Fails with errc::decode
    /// and a sentence for the client; every call after that fails, too.
    /// Takes what writers of all versions may send: lines that end with LF or CR LF, bodies with
    /// content-length or up to the first NUL, on any frame.
    result<std::optional<item>> next();
    /// The agreed version decides how headers of later frames are escaped. CONNECT and CONNECTED
    /// are never escaped. Before the agreement: 1.2.
    void speak(version agreed) { version_ = agreed; }

private:
    result<std::optional<item>> broken(std::string why);
    /// Empty, or the fault of the line.
    std::string take_line(std::string_view line);
    std::string begin_body();

    frame_limits limits_;
    version version_ = version::v1_2;
    std::string buffer_;
    std::size_t at_ = 0;       ///< first byte that has not been taken
    std::size_t scanned_ = 0;  ///< the searched text is not in [at_, scanned_)
    std::size_t head_ = 0;     ///< bytes of this frame's head that were taken
    enum class place { between, head, body };
    place place_ = place::between;
    frame frame_;
    std::optional<std::size_t> length_;  ///< of the body, where the frame tells it
    std::string fault_;
};

/// A header's name or value as it stands in a frame. 1.0 has no escapes: line ends become spaces
/// there. 1.1 has none for CR, which becomes a space.
std::string escaped(std::string_view text, version spoken);

/// With NUL at its end. Adds no header: content-length is the caller's. CONNECT and CONNECTED are
/// written without escapes.
std::string encode(const frame& what, version spoken);

}  // namespace esi::stomp
