// STOMP frames out of bytes cut anywhere, and a session over them. Oracles: the rules of the frames
// written down again for the whole text; what is read and written is read as the same; a session
// does the same however its bytes are cut, and keeps its limits. Input: a byte for the version, the
// text.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stomp/frame.h"
#include "stomp/session.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using namespace stomp;

bool is_utf8(std::string_view text) {
    try {
        return !nlohmann::json(std::string(text)).dump().empty();
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

struct outcome {
    std::vector<parser::item> items;
    bool fault = false;
    bool operator==(const outcome&) const = default;
};

/// The meaning of each two characters; false where there is none.
bool unescape(std::string& text, version spoken) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto two = text.substr(at, 2);
        at += two[0] == '\\' ? 2 : 1;
        if (two[0] != '\\') {
            out += two[0];
        } else if (two == "\\n") {
            out += '\n';
        } else if (two == "\\c") {
            out += ':';
        } else if (two == "\\\\") {
            out += '\\';
        } else if (two == "\\r" && spoken == version::v1_2) {
            out += '\r';
        } else {
            return false;
        }
    }
    text = out;
    return true;
}

/// Nothing: the head is not whole.
struct head {
    frame what;
    std::size_t size = 0;
};
std::optional<head> head_of(std::string_view text, version spoken, const frame_limits& limits,
                            bool& fault) {
    head out;
    for (;;) {
        const auto end = text.find('\n', out.size);
        const bool whole = end != std::string_view::npos;
        auto line = text.substr(out.size, whole ? end - out.size : end);
        fault = line.contains('\0') || out.size + line.size() + (whole ? 1 : 0) > limits.head;
        if (fault || !whole) return std::nullopt;
        out.size = end + 1;
        if (line.ends_with('\r')) line.remove_suffix(1);
        fault = line.contains('\r') || !is_utf8(line);
        if (fault) return std::nullopt;
        if (out.what.command.empty()) {
            out.what.command = line;
            continue;
        }
        if (line.empty()) return out;
        const auto colon = line.find(':');
        fault = colon == 0 || colon == std::string_view::npos ||
                out.what.headers.size() == limits.headers;
        if (fault) return std::nullopt;
        std::pair<std::string, std::string> made(line.substr(0, colon), line.substr(colon + 1));
        if (spoken != version::v1_0 && out.what.command != "CONNECT" &&
            out.what.command != "CONNECTED") {
            fault = !unescape(made.first, spoken) || !unescape(made.second, spoken);
        }
        if (fault) return std::nullopt;
        out.what.headers.push_back(std::move(made));
    }
}

outcome expected_of(std::string_view text, version spoken, const frame_limits& limits) {
    outcome out;
    while (!text.empty()) {
        if (text.starts_with('\n') || text.starts_with("\r\n")) {
            out.items.emplace_back(heart_beat());
            text.remove_prefix(text.front() == '\n' ? 1 : 2);
            continue;
        }
        if (text == "\r") return out;
        if (text.starts_with('\r')) {
            out.fault = true;
            return out;
        }
        auto found = head_of(text, spoken, limits, out.fault);
        if (!found) return out;
        text.remove_prefix(found->size);
        auto size = text.find('\0');
        const auto& headers = found->what.headers;
        const auto length = std::ranges::find(headers, std::string("content-length"),
                                              &std::pair<std::string, std::string>::first);
        if (length != headers.end()) {
            auto digits = length->second;
            const bool number =
                !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
            digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
            out.fault = !number || digits.size() > 6 ||
                        (!digits.empty() && std::stoul(digits) > limits.body);
            if (out.fault) return out;
            size = digits.empty() ? 0 : std::stoul(digits);
            if (text.size() <= size) return out;
            out.fault = text[size] != '\0';
        } else {
            out.fault = std::min(size, text.size()) > limits.body;
            if (size == std::string_view::npos) return out;
        }
        if (out.fault) return out;
        found->what.body = text.substr(0, size);
        out.items.emplace_back(std::move(found->what));
        text.remove_prefix(size + 1);
    }
    return out;
}

outcome read(std::string_view text, std::vector<std::size_t> sizes, version spoken,
             const frame_limits& limits) {
    outcome out;
    parser of(limits);
    of.speak(spoken);
    for (std::size_t i = 0; !text.empty(); ++i) {
        const auto piece = text.substr(0, sizes[std::min(i, sizes.size() - 1)]);
        text.remove_prefix(piece.size());
        of.feed(piece);
        for (;;) {
            auto next = of.next();
            if (!next) {
                require(next.error().code == errc::decode, "refused as {}",
                        to_string(next.error().code));
                out.fault = true;
                return out;
            }
            if (!*next) break;
            out.items.push_back(std::move(**next));
        }
    }
    return out;
}

std::string told(const std::vector<action>& actions, std::set<std::string>& open, bool& over) {
    std::string out;
    for (const auto& each : actions) {
        require(!over, "something is to be done after the end");
        if (const auto* send = std::get_if<todo::send>(&each)) out += send->text;
        if (const auto* add = std::get_if<todo::subscribe>(&each)) {
            require(open.insert(add->id).second, "subscribed twice");
            require(open.size() <= 3, "{} subscriptions", open.size());
            out += "+" + add->id + " " + add->destination;
        }
        if (const auto* remove = std::get_if<todo::unsubscribe>(&each)) {
            require(open.erase(remove->id) == 1, "unsubscribed what was not");
            out += "-" + remove->id;
        }
        if (const auto* close = std::get_if<todo::close>(&each)) {
            over = true;
            out += "close" + close->reason;
        }
    }
    return out;
}

std::string talk(std::string_view text, std::size_t piece) {
    session_options options;
    options.most_subscriptions = 3;
    options.frames.head = 200;
    const steady_time start{std::chrono::hours(1)};
    session of(options, "s", start);
    std::string out;
    std::set<std::string> open;
    bool over = false;
    while (!text.empty()) {
        out += told(of.receive(text.substr(0, piece), start), open, over);
        text.remove_prefix(std::min(piece, text.size()));
    }
    require(of.deadline() >= start, "the deadline is in the past");
    return out;
}

void stomp_frames(std::string_view text) {
    if (text.empty()) return;
    constexpr version versions[] = {version::v1_0, version::v1_1, version::v1_2};
    const auto spoken = versions[static_cast<unsigned char>(text.front()) % 3];
    text.remove_prefix(1);
    frame_limits limits;
    limits.headers = 4;
    limits.head = 100;
    limits.body = 30;
    const auto expected = expected_of(text, spoken, limits);
    const auto all = text.size() + 1;
    const auto check = [&](const std::vector<std::size_t>& sizes) {
        const auto got = read(text, sizes, spoken, limits);
        require(got == expected, "other frames with pieces of {}", fmt::join(sizes, ","));
    };
    check({all});
    check({1});
    check({3});
    for (std::size_t cut = 1; cut < std::min<std::size_t>(text.size(), 200); ++cut) {
        check({cut, all});
        check({cut, 1, all});
    }
    frame_limits wide;
    for (const auto& each : expected.items) {
        const auto* one = std::get_if<frame>(&each);
        if (one == nullptr) continue;
        const auto again = read(encode(*one, spoken), {all}, spoken, wide);
        require(!again.fault && again.items.size() == 1 && again.items[0] == each,
                "written and read it is another: {}", encode(*one, spoken));
    }
    const auto whole = talk(text, all);
    for (const std::size_t piece : {1u, 2u, 7u}) {
        require(talk(text, piece) == whole, "the session depends on pieces of {}", piece);
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(stomp_frames, esi::fuzz::stomp_frames)
