#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace esi::log {

namespace {

struct sink {
    std::shared_ptr<spdlog::logger> logger = spdlog::stderr_logger_st("esi");
    format form = format::text;
    level threshold = level::info;
    std::function<void(level, std::string_view)> elsewhere;
};

sink& the_sink() {
    static sink instance;
    return instance;
}

spdlog::level::level_enum to_spdlog(level at) {
    switch (at) {
        case level::debug:
            return spdlog::level::debug;
        case level::info:
            return spdlog::level::info;
        case level::warn:
            return spdlog::level::warn;
        case level::error:
            return spdlog::level::err;
    }
    return spdlog::level::info;
}

bool is_printable(char c) { return c >= 0x20 && c < 0x7F; }

bool needs_quotes(std::string_view value) {
    return value.find_first_of(" \"=\\") != std::string_view::npos ||
           !std::ranges::all_of(value, is_printable);
}

/// In printable ASCII: logs are read on terminals, which obey control characters. Bad UTF-8 in a
/// foreign message must not lose the line.
std::string printable(const nlohmann::ordered_json& text) {
    const auto encoded = text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    std::string out;
    for (const char c : encoded) {
        if (c == 0x7F) {
            out += "\\u007f";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

void configure(level threshold, format form) {
    auto& out = the_sink();
    out.threshold = threshold;
    out.form = form;
    out.logger->set_level(to_spdlog(threshold));
    out.logger->flush_on(spdlog::level::debug);
    out.logger->set_pattern(form == format::json ? "%v" : "%Y-%m-%dT%H:%M:%S.%eZ %L %v",
                            spdlog::pattern_time_type::utc);
}

void send_to(std::function<void(level, std::string_view)> sink) {
    the_sink().elsewhere = std::move(sink);
}

bool enabled(level at) { return at >= the_sink().threshold; }

void write(level at, std::string_view event, std::initializer_list<field> fields) {
    if (!enabled(at)) return;
    auto& out = the_sink();
    if (out.form == format::json && !out.elsewhere) {
        nlohmann::ordered_json line;
        auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        line["ts"] = now.time_since_epoch().count();
        line["level"] = std::string_view(spdlog::level::to_string_view(to_spdlog(at)).data());
        line["msg"] = event;
        for (const auto& entry : fields) {
            if (!entry.value.empty()) line[std::string(entry.key)] = entry.value;
        }
        out.logger->log(to_spdlog(at), "{}", printable(line));
        return;
    }
    std::string line(event);
    if (!std::ranges::all_of(event, is_printable)) line = printable(line);
    for (const auto& entry : fields) {
        if (entry.value.empty()) continue;
        line += ' ';
        line += entry.key;
        line += '=';
        if (needs_quotes(entry.value)) {
            line += printable(entry.value);
        } else {
            line += entry.value;
        }
    }
    if (out.elsewhere) return out.elsewhere(at, line);
    out.logger->log(to_spdlog(at), "{}", line);
}

}  // namespace esi::log
