// Newline-separated JSON objects (a watch) out of chunks that are cut anywhere. Owned by the reader
// of one stream and thrown away with it. Looks at each byte once; never holds more than one
// incomplete line and the chunk that follows it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace esi::kube {

class line_splitter {
public:
    /// `limit`: longest line in bytes. etcd holds objects up to 1.5 MB, as JSON several times that.
    explicit line_splitter(std::size_t limit = 16u << 20) : limit_(limit) {}

    /// Takes the next piece of the stream. Fails with errc::decode when a line exceeds the limit;
    /// the stream is of no use then.
    result<void> feed(std::string_view chunk);
    /// The next complete line without its end (LF or CR LF); empty lines are passed over. Valid
    /// until the next feed(). Nothing when the line under way is not complete.
    std::optional<std::string_view> next();

private:
    std::size_t limit_;
    std::string buffer_;
    std::size_t begin_ = 0;    ///< first byte that has not been given out
    std::size_t scanned_ = 0;  ///< no line end in [begin_, scanned_)
};

}  // namespace esi::kube
