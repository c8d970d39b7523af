// A structural schema of a CustomResourceDefinition, compiled once and shared by all runs: pruning,
// defaults, and the checks that the API server makes before it stores an object. A keyword that is
// not known here stops the program when the file is read. Knows nothing of metadata, which has
// rules of its own (metadata_rules.h), nor of sub-resources.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "server/validation/cel.h"
#include "server/validation/faults.h"

namespace YAML {
class Node;
}

namespace esi::simulation {

class schema {
public:
    /// Throws std::runtime_error that names the place. The root knows apiVersion, kind and
    /// metadata.
    explicit schema(const YAML::Node& source, const std::string& where, bool root = false);

    /// Removes what the schema does not know and nulls that it does not allow, then sets defaults.
    void prepare(json& value) const;
    /// Adds what prepare() would remove as unknown, each with its path.
    void find_unknown(const json& value, field_path& at, std::vector<std::string>& out) const;

    /// Types, ranges, lengths, enumerations, required members. What `old` (may be null) has alike
    /// is accepted however wrong it is (ratcheting).
    void check_values(const json& value, const json* old, field_path& at, faults& out) const;
    /// Lists that are sets or maps have no element twice.
    void check_lists(const json& value, field_path& at, faults& out) const;
    /// The CEL rules.
    void check_rules(const json& value, const json* old, field_path& at, faults& out) const;

    const schema* member(std::string_view name) const;
    /// There are CEL rules, here or somewhere below.
    bool has_rules() const { return has_rules_; }

private:
    enum class kind { any, object, array, text, integer, number, boolean, int_or_text };
    enum class form { none, int32, int64, date_time };
    enum class list { atomic, set, map };
    struct rule {
        cel_rule condition;
        bool optional_old_self;
        std::string reason;
        std::string field;
        std::string message;
    };

    kind kind_ = kind::any;
    form form_ = form::none;
    list list_ = list::atomic;
    bool root_ = false;
    bool nullable_ = false;
    bool keeps_unknown_ = false;
    /// Somewhere below (or here) are lists with keys, or rules.
    bool has_lists_ = false;
    bool has_rules_ = false;
    std::optional<json> default_;
    std::vector<std::string> enum_;
    std::optional<std::regex> pattern_;
    std::string pattern_text_;
    std::optional<double> minimum_;
    std::optional<double> maximum_;
    std::optional<std::size_t> least_;  // characters, items or members
    std::optional<std::size_t> most_;
    std::vector<std::string> required_;
    std::vector<std::string> map_keys_;
    std::map<std::string, std::unique_ptr<schema>, std::less<>> members_;
    std::unique_ptr<schema> items_;
    std::unique_ptr<schema> additional_;
    std::vector<rule> rules_;

    void read(const std::string& keyword, const YAML::Node& value, const std::string& where);
    void read_rule(const YAML::Node& source, const std::string& where);
    const schema* of_key(const std::string& key, bool& is_member) const;
    bool knows_at_root(const std::string& key) const;
    void judge(const json& value, const json* old, field_path& at, faults& out) const;
    bool check_type(const json& value, const field_path& at, faults& out) const;
    void check_text(const std::string& text, const field_path& at, faults& out) const;
    void check_number(const json& value, const field_path& at, faults& out) const;
    void check_count(std::size_t count, const char* what, const field_path& at, faults& out) const;
    const json* old_item(const json& item, const json* old) const;
    void run_rules(const json& value, const json* old, field_path& at, faults& out) const;
};

/// YAML to JSON: plain scalars by YAML's core types, quoted ones as texts.
json to_json(const YAML::Node& source);

}  // namespace esi::simulation
