// Errors of an interface in the form of RFC 9457: problem+json with a code for programs, a sentence
// for people, and all faults of the request.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace esi::http {

/// One fault of a request.
struct problem_fault {
    /// The place: a JSON pointer into the body (RFC 6901), "?NAME" for a parameter of the query, or
    /// "NAME:" for a header.
    std::string pointer;
    std::string code;  ///< one CamelCase word
    std::string detail;
};
BOOST_DESCRIBE_STRUCT(problem_fault, (), (pointer, code, detail))

struct problem_details {
    int status = 500;
    /// One CamelCase word for programs; empty: that of the status (code_of_status).
    std::string code;
    /// A sentence that names the object and the remedy.
    std::string detail;
    /// The same request may get another answer later, without a change by its sender.
    bool retryable = false;
    std::vector<problem_fault> errors;
    /// The header Retry-After; with 429 and 503.
    std::optional<int> retry_after_seconds;
    std::vector<std::pair<std::string, std::string>> headers;
    /// Further members with their texts (RFC 9457 3.2), such as the state that an object has.
    std::vector<std::pair<std::string, std::string>> members;
};

/// "NotFound" for 404.
std::string_view code_of_status(int status);

/// `instance`: the path of the request; omitted if empty. Members: type (urn:esi:problem:CODE),
/// title (the words of the status), status, detail, instance, code, retryable, errors.
server_reply reply_of(const problem_details& what, std::string_view instance = {});

/// A refusal by the server itself, in that form: code and title are the status' own, and 408, 429,
/// 503 and 504 are retryable.
server_reply problem(int status, std::string_view detail);

}  // namespace esi::http
