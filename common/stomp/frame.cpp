#include "stomp/frame.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace esi::stomp {

namespace {

bool is_escaped(std::string_view command) { return command != "CONNECT" && command != "CONNECTED"; }

/// Nothing when there is an escape that the version does not know.
std::optional<std::string> unescaped(std::string_view text, version spoken) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        if (++i == text.size()) return std::nullopt;
        switch (text[i]) {
            case 'n':
                out += '\n';
                break;
            case 'c':
                out += ':';
                break;
            case '\\':
                out += '\\';
                break;
            case 'r':
                if (spoken != version::v1_2) return std::nullopt;
                out += '\r';
                break;
            default:
                return std::nullopt;
        }
    }
    return out;
}

}  // namespace

std::string_view text_of(version of) {
    switch (of) {
        case version::v1_0:
            return "1.0";
        case version::v1_1:
            return "1.1";
        case version::v1_2:
            break;
    }
    return "1.2";
}

std::optional<std::string_view> frame::header(std::string_view name) const {
    const auto found =
        std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
    if (found == headers.end()) return std::nullopt;
    return std::string_view(found->second);
}

void parser::feed(std::string_view bytes) {
    if (!fault_.empty()) return;
    buffer_.erase(0, at_);
    scanned_ -= std::min(scanned_, at_);
    at_ = 0;
    buffer_ += bytes;
}

result<std::optional<parser::item>> parser::broken(std::string why) {
    fault_ = std::move(why);
    buffer_ = {};
    frame_ = {};
    return fail(errc::decode, fault_);
}

result<std::optional<parser::item>> parser::next() {
    if (!fault_.empty()) return fail(errc::decode, fault_);
    if (place_ == place::between) {
        if (at_ == buffer_.size()) return std::nullopt;
        if (buffer_[at_] == '\n') {
            ++at_;
            return item(heart_beat());
        }
        if (buffer_[at_] == '\r') {
            if (at_ + 1 == buffer_.size()) return std::nullopt;
            if (buffer_[at_ + 1] != '\n') return broken("a carriage return stands alone");
            at_ += 2;
            return item(heart_beat());
        }
        place_ = place::head;
        scanned_ = at_;
        head_ = 0;
        frame_ = {};
        length_.reset();
    }
    while (place_ == place::head) {
        const auto end = buffer_.find('\n', scanned_);
        const auto stop = std::min(end, buffer_.size());
        if (std::string_view(buffer_).substr(scanned_, stop - scanned_).contains('\0')) {
            return broken("the frame ends before the empty line behind its headers");
        }
        const bool whole = end != std::string::npos;
        const auto size = stop - at_ + (whole ? 1 : 0);
        if (head_ + size > limits_.head) {
            return broken("command and headers have more than " + std::to_string(limits_.head) +
                          " bytes");
        }
        scanned_ = stop;
        if (!whole) return std::nullopt;
        auto line = std::string_view(buffer_).substr(at_, stop - at_);
        if (line.ends_with('\r')) line.remove_suffix(1);
        auto wrong = take_line(line);
        if (!wrong.empty()) return broken(std::move(wrong));
        head_ += size;
        at_ = scanned_ = stop + 1;
    }
    std::size_t size = 0;
    if (length_) {
        size = *length_;
        if (buffer_.size() - at_ <= size) return std::nullopt;
        if (buffer_[at_ + size] != '\0') return broken("no NUL stands behind the body");
    } else {
        const auto end = buffer_.find('\0', scanned_);
        size = std::min(end, buffer_.size()) - at_;
        if (size > limits_.body) {
            return broken("the body has more than " + std::to_string(limits_.body) + " bytes");
        }
        scanned_ = at_ + size;
        if (end == std::string::npos) return std::nullopt;
    }
    frame_.body = buffer_.substr(at_, size);
    at_ += size + 1;
    place_ = place::between;
    return item(std::move(frame_));
}

std::string parser::take_line(std::string_view line) {
    if (line.contains('\r')) return "a carriage return stands within a line";
    if (!simdjson::validate_utf8(line)) return "command and headers are not UTF-8";
    if (frame_.command.empty()) {
        // Not empty: an empty line would have been a heart-beat.
        frame_.command = line;
        return {};
    }
    if (line.empty()) return begin_body();
    if (frame_.headers.size() == limits_.headers) {
        return "there are more than " + std::to_string(limits_.headers) + " headers";
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return "a header has no colon";
    if (colon == 0) return "a header has no name";
    if (version_ == version::v1_0 || !is_escaped(frame_.command)) {
        frame_.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
        return {};
    }
    auto name = unescaped(line.substr(0, colon), version_);
    auto value = unescaped(line.substr(colon + 1), version_);
    if (!name || !value) return "a header has an escape that this version does not know";
    frame_.headers.emplace_back(std::move(*name), std::move(*value));
    return {};
}

std::string parser::begin_body() {
    place_ = place::body;
    const auto told = frame_.header("content-length");
    if (!told) return {};
    std::size_t size = 0;
    const auto [stop, code] = std::from_chars(told->data(), told->data() + told->size(), size);
    if (code == std::errc::result_out_of_range) size = limits_.body + 1;
    if (code == std::errc::invalid_argument || stop != told->data() + told->size()) {
        return "content-length is not a number";
    }
    if (size > limits_.body) {
        return "the body has more than " + std::to_string(limits_.body) + " bytes";
    }
    length_ = size;
    return {};
}

std::string escaped(std::string_view text, version spoken) {
    std::string out;
    out.reserve(text.size());
    const bool escapes = spoken != version::v1_0;
    for (const char c : text) {
        if (c == '\n') {
            out += escapes ? "\\n" : " ";
        } else if (c == '\r') {
            out += spoken == version::v1_2 ? "\\r" : " ";
        } else if (c == ':' && escapes) {
            out += "\\c";
        } else if (c == '\\' && escapes) {
            out += "\\\\";
        } else if (c == '\0') {
            out += ' ';
        } else {
            out += c;
        }
    }
    return out;
}

std::string encode(const frame& what, version spoken) {
    std::string out = what.command + "\n";
    const auto how = is_escaped(what.command) ? spoken : version::v1_0;
    for (const auto& [name, value] : what.headers) {
        out += escaped(name, how) + ":" + escaped(value, how) + "\n";
    }
    out += '\n';
    out += what.body;
    out += '\0';
    return out;
}

}  // namespace esi::stomp
