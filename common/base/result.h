// Functions that can fail in normal operation return result<T>; exceptions are for programming
// errors and for the unwinding of a cancelled coroutine only.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace esi {

/// Classes of failure, as far as a caller decides by them. HTTP classes follow the Kubernetes
/// API conventions (Status.reason), not the numbers alone.
enum class errc {
    transport,          ///< connection refused, reset, TLS failure: nothing is known of the effect
    timeout,            ///< the deadline passed: nothing is known of the effect
    not_leader,         ///< not sent: the lease has no time left for the request
    bad_request,        ///< 400
    unauthorized,       ///< 401
    forbidden,          ///< 403, also quota and terminating namespaces
    not_found,          ///< 404
    already_exists,     ///< 409 with reason AlreadyExists
    conflict,           ///< 409 else: another writer was first, or a precondition failed
    gone,               ///< 410, or an Expired event in a watch
    invalid,            ///< 422
    too_many_requests,  ///< 429
    server,             ///< 5xx
    decode,             ///< text that is not what was expected
    answer_too_large,   ///< the answer has more bytes than the request takes
    config,             ///< a flag, a file or a credential is wrong
};

std::string_view to_string(errc code);

/// A failure that reaches a person says what failed, on which object, why, and what to do about it.
struct error {
    errc code = errc::server;
    std::string text;
    /// Kubernetes Status.reason where the API server gave one.
    std::string reason = {};
    /// Retry-After of the answer.
    std::optional<std::chrono::seconds> retry_after = std::nullopt;

    /// True if the same request may succeed later without a change by a person.
    bool transient() const;
};

template <class T>
using result = std::expected<T, error>;

/// Another writer was first, or another process leads: the cache will show it.
bool is_of_the_moment(errc code);

inline std::unexpected<error> fail(errc code, std::string text) {
    return std::unexpected(error{code, std::move(text)});
}

}  // namespace esi
