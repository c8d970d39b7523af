// The API server's address and what is percent-encoded towards it. Oracles: an address put together
// again is the same one, and the server's own decoder reads what the client's encoder wrote.
#include "http/target.h"
#include "kube/auth/server_address.h"
#include "kube/percent.h"
#include "target.h"

namespace esi::fuzz {
namespace {

void address(std::string_view text) {
    const auto got = kube::parse_server_address(text);
    if (!got) {
        require(got.error().code == errc::config, "refused as {}", to_string(got.error().code));
        require(got.error().text.find(text) != std::string::npos, "the error does not name it");
        return;
    }
    require(text.starts_with("http") || text.starts_with("HTTP") || text.size() > 7,
            "\"{}\" is taken", text);
    require(!got->host.empty() && got->host.find_first_of("[]/?#@") == std::string::npos,
            "host \"{}\"", got->host);
    require(!got->port.empty() && got->port.find_first_not_of("0123456789") == std::string::npos,
            "port \"{}\"", got->port);
    const auto number =
        got->port.substr(std::min(got->port.find_first_not_of('0'), got->port.size()));
    require(!number.empty() && number.size() < 6 && std::stoul(number) <= 65535, "port {} is none",
            got->port);
    require(!got->prefix.ends_with('/') && (got->prefix.empty() || got->prefix.front() == '/'),
            "prefix \"{}\"", got->prefix);
    const auto url = (got->tls ? "https://" : "http://") + got->authority() + got->prefix;
    const auto again = kube::parse_server_address(url);
    require(again && again->tls == got->tls && again->host == got->host &&
                again->port == got->port && again->prefix == got->prefix,
            "\"{}\" becomes \"{}\"", text, url);
}

void percent(std::string_view text) {
    const auto encoded = kube::percent_encode(text);
    require(encoded.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-._~%") == std::string::npos,
            "\"{}\" is not a segment", encoded);
    require(encoded != "." && encoded != "..", "a dot segment stays");
    std::string plain;
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        if (encoded[i] != '%') {
            plain += encoded[i];
            continue;
        }
        plain += static_cast<char>(std::stoi(encoded.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    require(plain == text, "encoded and decoded it is another text");
    // The server refuses what could be read in two ways; all else comes through.
    kube::query_builder query("/a/" + encoded);
    const auto sent = query.add("k", text).add("l", "").take();
    const auto read = http::parse_target(sent);
    if (!read) return;
    require(read->query.size() == 2 && read->query[0].second == text, "the query is another");
    const auto segments = http::decode_segments(read->raw_path);
    require(segments.has_value() == (text.find('/') == std::string_view::npos), "path {}", sent);
    if (segments) require(segments->size() == 2 && segments->at(1) == text, "path {}", sent);
}

void server_addresses(std::string_view text) {
    address(text);
    percent(text);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(server_addresses, esi::fuzz::server_addresses)
