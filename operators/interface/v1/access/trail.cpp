#include "interface/v1/access/trail.h"

#include "base/log.h"
#include "interface/v1/access/credential.h"

namespace esi::interface::v1 {

using nlohmann::json;

namespace {

constexpr std::size_t longest = 256;
/// More than the names of any object that exists.
constexpr std::size_t longest_object = 600;

/// At most `most` bytes, whole characters.
std::string cut(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    constexpr std::string_view end = "...";
    auto size = most - end.size();
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    text.resize(size);
    return text.append(end);
}

}  // namespace

std::string shown_name(const http::identity& who) {
    auto out = cut(who.name, longest);
    if (is_plain_name(out)) return out;
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
    }
    return out;
}

void note_requester(json& object, const http::identity& who) {
    auto& metadata = object["metadata"];
    if (!metadata.is_object()) metadata = json::object();
    auto& annotations = metadata["annotations"];
    if (!annotations.is_object()) annotations = json::object();
    annotations[requested_by] = shown_name(who);
}

json requester_operations(const http::identity& who, bool has_annotations) {
    json out = json::array();
    if (!has_annotations) {
        out.push_back(
            {{"op", "add"}, {"path", "/metadata/annotations"}, {"value", json::object()}});
    }
    out.push_back({{"op", "add"},
                   {"path", "/metadata/annotations/esi.tu-berlin.de~1requested-by"},
                   {"value", shown_name(who)}});
    return out;
}

void audit(const http::server_request& from, const audited_write& what) {
    log::info("api write",
              {{"caller", from.caller ? cut(from.caller->name, longest) : std::string()},
               {"peer", from.peer ? from.peer->address : std::string()},
               {"verb", what.verb},
               {"kind", what.kind},
               {"object", cut(what.object.text(), longest_object)},
               {"status", what.status},
               {"code", what.code},
               {"dry_run", std::string(what.dry_run ? "true" : "")}});
}

}  // namespace esi::interface::v1
