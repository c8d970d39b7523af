// The checks of doctor: each reads the facts and reports problems. Pure.
#pragma once

#include <boost/describe.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubectl-esi/doctor/facts.h"

namespace esi::kubectl::doctor {

namespace severity {
inline constexpr std::string_view error = "error";  ///< something does not work
inline constexpr std::string_view warning = "warning";
/// The check could not read what it needs.
inline constexpr std::string_view unknown = "unknown";
}  // namespace severity

struct finding {
    std::string check;
    std::string severity;
    std::string object;  ///< "Testbed default/slots"
    std::string text;
    std::string remedy;  ///< a command, or another advice
    bool operator==(const finding&) const = default;
};
BOOST_DESCRIBE_STRUCT(finding, (), (check, severity, object, text, remedy))

/// Adds a finding whose check is filled in by findings_of().
void add(std::vector<finding>& to, std::string_view how_bad, std::string object, std::string text,
         std::string remedy);
/// "Testbed lab/slots"
std::string text_of(std::string_view kind, const model::object_meta& of);
/// " -n lab"
std::string in_namespace(const model::object_meta& of);
/// A step that takes longer is no longer under way.
inline constexpr seconds patience{60};
bool is_older_than(const std::optional<model::timestamp>& since, seconds time, wall_time now);
/// The kind of objects is one that the user may not list: adds that as unknown.
bool is_hidden(const facts& at, std::string_view plural, std::vector<finding>& found);

struct check {
    std::string_view name;
    void (*look)(const facts& at, std::vector<finding>& found);
};

/// All checks, in the order in which they are shown.
std::span<const check> checks();
/// The findings of all checks, with the name of each check filled in.
std::vector<finding> findings_of(const facts& at);

// The parts of the table, by file.
std::span<const check> checks_of_installation();
std::span<const check> checks_of_testbeds();
std::span<const check> checks_of_objects();

}  // namespace esi::kubectl::doctor
