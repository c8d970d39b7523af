// The part of CEL (Common Expression Language) that the rules of our CustomResourceDefinitions use:
// parsed and checked once, evaluated without copies of the object. What is outside of that part is
// refused when a rule is read, never when it runs, so that no rule can be judged wrongly:
//
//   literals, self, oldSelf, members, has(), ==, !=, <, <=, >, >=, in, !, &&, ||, ?:, type(),
//   size(), matches() with a literal pattern, indexOf(), isQuantity(), quantity(),
//   isGreaterThan(), isLessThan(), of lists and of the keys of maps all() and, for numbers, map()
//   and sum(), [] with a key, + of numbers, and of an optional oldSelf: hasValue(), value()
//
// Owned by the schema. Knows nothing of paths, messages or ratcheting.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace esi::simulation {

using json = nlohmann::json;

class cel_rule {
public:
    /// Throws std::runtime_error that shows the rule and what it cannot read.
    cel_rule(std::string text, bool optional_old_self);
    cel_rule(cel_rule&&) noexcept;
    cel_rule& operator=(cel_rule&&) noexcept;
    ~cel_rule();

    bool uses_old_self() const;
    const std::string& text() const { return text_; }
    /// Members of `self` that it reads directly ("sparkSpec" of has(self.sparkSpec)).
    const std::vector<std::string>& members() const;

    struct outcome {
        bool holds = false;
        /// Why it could not be evaluated; the object is refused then.
        std::string error;
    };
    outcome holds(const json& self, const json* old_self) const;

private:
    struct node;
    struct parser;
    struct value;
    struct machine;
    std::string text_;
    std::unique_ptr<const node> root_;
    std::vector<std::string> members_;
    bool uses_old_self_ = false;
};

}  // namespace esi::simulation
