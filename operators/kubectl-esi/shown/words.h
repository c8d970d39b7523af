// Times, durations and lists as kubectl writes them. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/meta.h"
#include "scheduling/answers/run_times.h"

namespace esi::kubectl::shown {

/// The text for an absent value.
inline constexpr std::string_view none = "<none>";

/// "45s", "5m10s", "47m", "3h20m", "26h", "5d": like apimachinery's HumanDuration, with which
/// kubectl prints ages. A negative one is "0s".
std::string duration_text(std::chrono::microseconds time);
/// The age; `none` if the time is absent.
std::string age_text(const std::optional<model::timestamp>& since, wall_time now);
/// "3m ago", or `none`.
std::string ago_text(const std::optional<model::timestamp>& since, wall_time now);
/// "in 5m (3 runs)"; "in 5m" if it depends on no run but on a deadline; "due (3 runs)" if that time
/// has passed already; `none` if it is not known.
std::string estimate_text(const std::optional<scheduling::answers::estimated_time>& of);
/// "24.1s": to the tenth of a second below 100 s, else as duration_text.
std::string seconds_text(double seconds);
/// The time between both, at least 0; `none` if one is absent.
std::string between_text(const std::optional<model::timestamp>& from,
                         const std::optional<model::timestamp>& to);

/// "0,2-4": three and more consecutive slots are joined; `none` for an empty list.
std::string slots_text(const std::vector<int>& slots);
/// "a,b"; `none` for an empty list.
std::string list_text(const std::vector<std::string>& names);
/// The name if the object is in `ns`, else "namespace/name".
std::string name_in(const model::object_key& key, std::string_view ns);
/// Like model::printable: foreign text, made safe for a terminal.
std::string printable(std::string_view text);
/// True: printable() would change nothing.
bool is_printable(std::string_view text);
/// `text`, or `none` if it is empty.
std::string or_none(std::string text);

}  // namespace esi::kubectl::shown
