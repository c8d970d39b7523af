// The request target of HTTP: path and query taken apart and decoded, strictly. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace esi::http {

struct target {
    std::string raw_path;
    std::vector<std::pair<std::string, std::string>> query;
    /// "host:port" of an absolute form; else empty.
    std::string authority;
};

/// Parameters of one query, at most.
inline constexpr std::size_t most_parameters = 64;

/// Origin form ("/a?b=c") and absolute form ("http://host/a", RFC 9112 3.2.2). In the query, + is a
/// space. Fails with errc::bad_request.
result<target> parse_target(std::string_view text);

/// "/external/jobs/" -> external, jobs, "". Refused: wrong %-sequences, an encoded slash or NUL in
/// a segment (two readers could take it for two paths), text that is not UTF-8.
result<std::vector<std::string>> decode_segments(std::string_view raw_path);

}  // namespace esi::http
