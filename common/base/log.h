// Structured log lines: event text, then key=value pairs, the key of the object always among them.
// One job is followed through all three operators by the same keys: scheduling, testbed and job
// ("namespace/name"), run, pod ("namespace/name").
// Text or JSON, chosen once at start (--log-format). Never log tokens or Authorization headers.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace esi::log {

enum class level { debug, info, warn, error };
enum class format { text, json };

/// The only global of the code base. Called once, by the process' start.
void configure(level threshold, format form);
bool enabled(level at);
/// Sends lines there (as text, without the time) instead of to stderr; empty: back to stderr. For
/// programs that run operators inside themselves.
void send_to(std::function<void(level at, std::string_view line)> sink);

struct field {
    std::string_view key;
    std::string value;

    field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
    field(std::string_view k, std::string_view v) : key(k), value(v) {}
    field(std::string_view k, const char* v) : key(k), value(v) {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    field(std::string_view k, Number v) : key(k), value(fmt::to_string(v)) {}
};

/// Fields without a value are left out.
void write(level at, std::string_view event, std::initializer_list<field> fields);

inline void debug(std::string_view event, std::initializer_list<field> fields = {}) {
    write(level::debug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<field> fields = {}) {
    write(level::info, event, fields);
}
inline void warn(std::string_view event, std::initializer_list<field> fields = {}) {
    write(level::warn, event, fields);
}
inline void error(std::string_view event, std::initializer_list<field> fields = {}) {
    write(level::error, event, fields);
}

}  // namespace esi::log
