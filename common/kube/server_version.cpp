#include "kube/server_version.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace esi::kube {

namespace {

std::optional<int> leading_number(std::string_view text) {
    int out = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || out < 0) return std::nullopt;
    return out;
}

}  // namespace

result<server_version> parse_server_version(std::string_view body) {
    const auto object = nlohmann::json::parse(body, nullptr, false);
    auto text_of = [&](const char* key) -> std::string {
        if (!object.is_object()) return {};
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const auto major = leading_number(text_of("major"));
    const auto minor = leading_number(text_of("minor"));
    if (!major || !minor) return fail(errc::decode, "the answer to /version names no version");
    server_version out;
    out.major = *major;
    out.minor = *minor;
    out.text = text_of("gitVersion");
    if (out.text.empty()) out.text = fmt::format("v{}.{}", out.major, out.minor);
    return out;
}

asio::awaitable<result<server_version>> read_server_version(transport& wire, steady_time deadline) {
    request ask("GET", "/version");
    ask.safe_to_repeat = true;
    auto answer = co_await wire.send(std::move(ask), deadline);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    if (answer->status != 200) {
        co_return fail(errc::decode, fmt::format("/version is answered with {}", answer->status));
    }
    co_return parse_server_version(answer->body);
}

std::string too_old(const server_version& version) {
    if (version.major > 1 || version.minor >= oldest_minor) return {};
    return fmt::format("Kubernetes {} is too old: ESI needs 1.{} or newer", version.text,
                       oldest_minor);
}

}  // namespace esi::kube
