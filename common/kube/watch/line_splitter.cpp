#include "kube/watch/line_splitter.h"

#include <fmt/format.h>

namespace esi::kube {

namespace {

/// An idle watch keeps no more than this, whatever its largest object was.
constexpr std::size_t kept_capacity = 64u << 10;

}  // namespace

result<void> line_splitter::feed(std::string_view chunk) {
    if (begin_ > 0) {
        // The rest of the buffer is the start of one line. It moves at most once: begin_ stays 0
        // until that line has been given out.
        buffer_.erase(0, begin_);
        scanned_ -= begin_;
        begin_ = 0;
    }
    buffer_.append(chunk);
    if (buffer_.size() > limit_) {
        const auto end = buffer_.find('\n', scanned_);
        const auto length = end == std::string::npos ? buffer_.size() : end;
        if (length > limit_) {
            return fail(errc::decode, fmt::format("a line of the watch exceeds {} bytes", limit_));
        }
    }
    return {};
}

std::optional<std::string_view> line_splitter::next() {
    while (true) {
        const auto end = buffer_.find('\n', scanned_);
        if (end == std::string::npos) {
            scanned_ = buffer_.size();
            if (begin_ == scanned_ && buffer_.capacity() > kept_capacity) {
                std::string().swap(buffer_);
                begin_ = scanned_ = 0;
            }
            return std::nullopt;
        }
        auto line = std::string_view(buffer_).substr(begin_, end - begin_);
        begin_ = end + 1;
        scanned_ = begin_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) return line;
    }
}

}  // namespace esi::kube
