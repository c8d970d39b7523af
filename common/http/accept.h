// Media types in headers: the types that Accept admits, and the type of Content-Type. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace esi::http {

/// One range of a header Accept.
struct media_range {
    std::string name;      ///< lower case, without parameters: "text/html", "text/*", "*/*"
    bool refused = false;  ///< "q=0": not that one (RFC 9110 12.4.2)
};

/// In the order of the header.
std::vector<media_range> media_ranges(std::string_view accept);

/// Whether the header admits the media type; an absent header admits all.
bool accepts(std::string_view accept, std::string_view media_type);

/// "application/json" of "application/JSON; charset=utf-8".
std::string media_type_of(std::string_view content_type);

}  // namespace esi::http
