// The parameters of a query, parsed strictly: an unknown, repeated or unreadable one is a fault,
// and all faults are reported together. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "http/problem.h"

namespace esi::interface::v1 {

/// "60s", "1m30s", "500ms", "2h": whole numbers with units that grow smaller, to 24 hours.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number from 0, without sign or leading zeros.
std::optional<std::uint64_t> parse_number(std::string_view text);

class parameters {
public:
    explicit parameters(const http::server_request& from) : from_(from) {}

    std::optional<std::string> text(std::string_view name);
    std::optional<int> number(std::string_view name, int least, int most);
    /// A resourceVersion, which is a number.
    std::optional<std::uint64_t> version(std::string_view name);
    /// "true" or "false".
    bool flag(std::string_view name);
    std::optional<std::chrono::milliseconds> duration(std::string_view name);
    /// "a,b": the parts between commas; empty if it is not given.
    std::set<std::string, std::less<>> words(std::string_view name);

    /// Adds a fault of the parameter `name`.
    void fault(std::string_view name, std::string code, std::string detail);
    /// Faults of the parameters that were read, and of all that were not. Called last.
    std::vector<http::problem_fault> take_faults();

private:
    const http::server_request& from_;
    std::set<std::string, std::less<>> known_;
    std::vector<http::problem_fault> faults_;
};

/// 400 with these faults.
http::problem_details bad_parameters(std::vector<http::problem_fault> faults);

}  // namespace esi::interface::v1
