// Label selectors (equality and set-based) and field selectors, parsed once and matched against
// bodies. Which fields a kind offers is told by its caller.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace esi::simulation {

using json = nlohmann::json;

class label_selector {
public:
    /// The error is the server's text.
    static std::expected<label_selector, std::string> parse(std::string_view text);
    bool empty() const { return requirements_.empty(); }
    bool matches(const json& body) const;

private:
    enum class test { exists, absent, in, not_in, greater, less };
    struct requirement {
        std::string key;
        test what;
        std::vector<std::string> values;
    };
    static bool holds(const requirement& one, const json* labels);

    friend class label_parser;
    std::vector<requirement> requirements_;
};

class field_selector {
public:
    /// `offered`: "metadata.name", "spec.nodeName", ...
    static std::expected<field_selector, std::string> parse(
        std::string_view text, const std::vector<std::string>& offered);
    bool empty() const { return requirements_.empty(); }
    bool matches(const json& body) const;

private:
    struct requirement {
        std::vector<std::string> path;
        std::string value;
        bool equal;
    };
    std::vector<requirement> requirements_;
};

}  // namespace esi::simulation
