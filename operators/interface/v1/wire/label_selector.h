// Label selectors as Kubernetes reads them: equality-based and set-based requirements with commas
// between them, all of which must hold. Pure.
// Source: k8s.io/apimachinery/pkg/labels, the grammar at Parse.
#pragma once

#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/meta.h"

namespace esi::interface::v1 {

class label_selector {
public:
    /// An empty text selects everything. The error is a sentence that names what is wrong.
    static std::expected<label_selector, std::string> parse(std::string_view text);

    bool matches(const model::string_map& labels) const;
    bool empty() const { return all_.empty(); }

private:
    enum class relation {
        among,       ///< =, ==, in
        not_among,   ///< !=, notin; also where there is no such label
        exists,      ///< key
        not_exists,  ///< !key
        above,       ///< key > number
        below,       ///< key < number
    };
    struct requirement {
        std::string key;
        relation how = relation::exists;
        std::set<std::string, std::less<>> values;
        std::int64_t number = 0;

        bool holds(const model::string_map& labels) const;
    };
    class reader;

    std::vector<requirement> all_;
};

/// A qualified name: an optional DNS prefix and a slash, then up to 63 characters.
bool is_label_key(std::string_view text);
/// Empty, or up to 63 characters out of letters, digits, '-', '_' and '.', with a letter or a digit
/// at both ends.
bool is_label_value(std::string_view text);

}  // namespace esi::interface::v1
