#include "server/validation/cel.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "model/quantity.h"
#include "server/validation/cel_node.h"

namespace esi::simulation {

using cel::op;

namespace {

std::size_t characters(std::string_view text) {
    std::size_t count = 0;
    for (const char each : text) count += (static_cast<unsigned char>(each) & 0xC0U) != 0x80U;
    return count;
}

}  // namespace

/// A value while a rule runs: something inside the object, or what an operator made of it.
struct cel_rule::value {
    struct failure {
        std::string why;
    };
    struct type_value {
        std::string_view name;
    };
    using numbers = std::vector<std::int64_t>;
    std::variant<const json*, bool, std::int64_t, type_value, model::quantity, numbers, failure>
        what;

    static value wrong(std::string why) { return {failure{std::move(why)}}; }
    const failure* failed() const { return std::get_if<failure>(&what); }
    std::optional<bool> truth() const {
        if (const auto* flag = std::get_if<bool>(&what)) return *flag;
        const auto* node = std::get_if<const json*>(&what);
        if (node && *node && (*node)->is_boolean()) return (*node)->get<bool>();
        return std::nullopt;
    }
    std::optional<std::int64_t> integer() const {
        if (const auto* number = std::get_if<std::int64_t>(&what)) return *number;
        const auto* node = std::get_if<const json*>(&what);
        if (node && *node && (*node)->is_number_integer()) return (*node)->get<std::int64_t>();
        return std::nullopt;
    }
    const std::string* text() const {
        const auto* node = std::get_if<const json*>(&what);
        return node && *node ? (*node)->get_ptr<const std::string*>() : nullptr;
    }
    const json* object() const {
        const auto* node = std::get_if<const json*>(&what);
        return node && *node && (*node)->is_object() ? *node : nullptr;
    }
};

struct cel_rule::machine {
    const json& self;
    const json* old_self;
    /// Variables of the comprehensions that run, innermost last.
    mutable std::vector<std::pair<std::string_view, value>> variables = {};

    static value overload() { return value::wrong("no such overload"); }

    static std::string_view type_of(const value& of) {
        if (std::holds_alternative<bool>(of.what)) return "bool";
        if (std::holds_alternative<std::int64_t>(of.what)) return "int";
        const auto* node = std::get_if<const json*>(&of.what);
        if (!node || !*node) return "";
        switch ((*node)->type()) {
            case json::value_t::object:
                return "map";
            case json::value_t::array:
                return "list";
            case json::value_t::string:
                return "string";
            case json::value_t::boolean:
                return "bool";
            case json::value_t::number_integer:
            case json::value_t::number_unsigned:
                return "int";
            case json::value_t::number_float:
                return "double";
            default:
                return "null_type";
        }
    }

    static std::optional<bool> same(const value& a, const value& b) {
        if (const auto* left = std::get_if<value::type_value>(&a.what)) {
            const auto* right = std::get_if<value::type_value>(&b.what);
            return right && left->name == right->name;
        }
        if (const auto* left = std::get_if<model::quantity>(&a.what)) {
            const auto* right = std::get_if<model::quantity>(&b.what);
            return right && *left == *right;
        }
        if (const auto left = a.integer()) {
            const auto right = b.integer();
            return right && *left == *right;
        }
        if (const auto left = a.truth()) {
            const auto right = b.truth();
            return right && *left == *right;
        }
        const auto* left = std::get_if<const json*>(&a.what);
        const auto* right = std::get_if<const json*>(&b.what);
        if (!left || !right || !*left || !*right) return false;
        return **left == **right;
    }

    /// CEL's && and || do not care for a failure on one side if the other side decides.
    value decided_by(const node& rule, bool deciding) const {
        const auto left = run(rule.children[0]);
        if (left.truth() == deciding) return {deciding};
        const auto right = run(rule.children[1]);
        if (right.truth() == deciding) return {deciding};
        if (left.failed()) return left;
        if (right.failed()) return right;
        if (!left.truth() || !right.truth()) return overload();
        return {!deciding};
    }

    value local(std::string_view name) const {
        const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                        [&](const auto& each) { return each.first == name; });
        return found == variables.rend() ? value::wrong("undeclared reference") : found->second;
    }

    /// Calls `use` with what the body of a comprehension is for each element of a list or key of a
    /// map, until it returns false.
    template <class Use>
    std::optional<value> for_each(const node& rule, Use use) const {
        const auto over = run(rule.children[0]);
        if (over.failed()) return over;
        const auto* node = std::get_if<const json*>(&over.what);
        if (!node || !*node || !(*node)->is_structured()) return overload();
        for (const auto& [key, element] : (*node)->items()) {
            const json name = key;
            variables.emplace_back(rule.name, value{(*node)->is_object() ? &name : &element});
            auto made = run(rule.children[1]);
            variables.pop_back();
            if (!use(std::move(made))) break;
        }
        return std::nullopt;
    }

    /// An element that decides makes failures of others meaningless.
    value all(const node& rule) const {
        value out{true};
        const auto wrong = for_each(rule, [&](value made) {
            const auto truth = made.truth();
            if (truth == false) {
                out = {false};
                return false;
            }
            if (!truth) out = made.failed() ? std::move(made) : overload();
            return true;
        });
        return wrong ? *wrong : out;
    }

    value map(const node& rule) const {
        value::numbers out;
        std::optional<value> failure;
        const auto wrong = for_each(rule, [&](value made) {
            if (const auto number = made.integer()) {
                out.push_back(*number);
                return true;
            }
            failure = made.failed() ? std::move(made) : overload();
            return false;
        });
        if (wrong) return *wrong;
        return failure ? *failure : value{std::move(out)};
    }

    value run(const node& rule) const {
        switch (rule.what) {
            case op::local:
                return local(rule.name);
            case op::all:
                return all(rule);
            case op::map:
                return map(rule);
            case op::literal:
                return {&rule.literal};
            case op::self:
                return {&self};
            case op::old_self:
                return {old_self};
            case op::type_name:
                return {value::type_value{rule.name}};
            case op::both:
                return decided_by(rule, false);
            case op::either:
                return decided_by(rule, true);
            case op::choose: {
                const auto condition = run(rule.children[0]);
                if (condition.failed()) return condition;
                const auto truth = condition.truth();
                if (!truth) return overload();
                return run(rule.children[*truth ? 1 : 2]);
            }
            case op::has_value:
                return {old_self != nullptr};
            case op::value:
                if (!old_self) return value::wrong("optional.none() dereference");
                return {old_self};
            default:
                break;
        }
        const auto first = run(rule.children[0]);
        if (first.failed()) return first;
        if (rule.children.size() == 1) return one(rule, first);
        const auto second = run(rule.children[1]);
        if (second.failed()) return second;
        return two(rule, first, second);
    }

    static value one(const node& rule, const value& of) {
        switch (rule.what) {
            case op::negate: {
                const auto truth = of.truth();
                return truth ? value{!*truth} : overload();
            }
            case op::member:
            case op::has: {
                const auto* object = of.object();
                if (!object) return overload();
                const auto found = object->find(rule.name);
                if (rule.what == op::has) return {found != object->end()};
                if (found == object->end()) return value::wrong("no such key: " + rule.name);
                return {&*found};
            }
            case op::sum: {
                const auto* numbers = std::get_if<value::numbers>(&of.what);
                if (!numbers) return overload();
                return {std::accumulate(numbers->begin(), numbers->end(), std::int64_t{0})};
            }
            case op::type_of:
                return {value::type_value{type_of(of)}};
            case op::size: {
                if (const auto* text = of.text()) {
                    return {static_cast<std::int64_t>(characters(*text))};
                }
                const auto* node = std::get_if<const json*>(&of.what);
                if (!node || !*node || !(*node)->is_structured()) return overload();
                return {static_cast<std::int64_t>((*node)->size())};
            }
            case op::is_quantity:
            case op::quantity: {
                const auto* text = of.text();
                if (!text) return overload();
                auto parsed = model::quantity::parse(*text);
                if (rule.what == op::is_quantity) return {parsed.has_value()};
                if (!parsed) return value::wrong("not a quantity: " + *text);
                return {std::move(*parsed)};
            }
            default:
                return overload();
        }
    }

    static value two(const node& rule, const value& left, const value& right) {
        switch (rule.what) {
            case op::equal:
            case op::unequal: {
                const auto equal = same(left, right);
                if (!equal) return overload();
                return {*equal == (rule.what == op::equal)};
            }
            case op::less:
                return compared(left, right, [](auto a, auto b) { return a < b; });
            case op::less_equal:
                return compared(left, right, [](auto a, auto b) { return a <= b; });
            case op::greater:
                return compared(left, right, [](auto a, auto b) { return a > b; });
            case op::greater_equal:
                return compared(left, right, [](auto a, auto b) { return a >= b; });
            case op::in: {
                const auto* key = left.text();
                const auto* object = right.object();
                if (!key || !object) return overload();
                return {object->contains(*key)};
            }
            case op::index: {
                const auto* key = right.text();
                const auto* object = left.object();
                if (!key || !object) return overload();
                const auto found = object->find(*key);
                if (found == object->end()) return value::wrong("no such key: " + *key);
                return {&*found};
            }
            case op::plus: {
                const auto a = left.integer();
                const auto b = right.integer();
                return a && b ? value{*a + *b} : overload();
            }
            case op::matches: {
                const auto* text = left.text();
                return text ? value{std::regex_search(*text, *rule.pattern)} : overload();
            }
            case op::index_of: {
                const auto* text = left.text();
                const auto* part = right.text();
                if (!text || !part) return overload();
                const auto at = text->find(*part);
                if (at == std::string::npos) return {std::int64_t{-1}};
                return {
                    static_cast<std::int64_t>(characters(std::string_view(*text).substr(0, at)))};
            }
            case op::greater_than:
            case op::less_than: {
                const auto* a = std::get_if<model::quantity>(&left.what);
                const auto* b = std::get_if<model::quantity>(&right.what);
                if (!a || !b) return overload();
                return {rule.what == op::greater_than ? *a > *b : *a < *b};
            }
            default:
                return overload();
        }
    }

    template <class Compare>
    static value compared(const value& left, const value& right, Compare compare) {
        const auto a = left.integer();
        const auto b = right.integer();
        return a && b ? value{compare(*a, *b)} : overload();
    }
};

cel_rule::cel_rule(cel_rule&&) noexcept = default;
cel_rule& cel_rule::operator=(cel_rule&&) noexcept = default;
cel_rule::~cel_rule() = default;

bool cel_rule::uses_old_self() const { return uses_old_self_; }
const std::vector<std::string>& cel_rule::members() const { return members_; }

cel_rule::outcome cel_rule::holds(const json& self, const json* old_self) const {
    const auto result = machine{self, old_self}.run(*root_);
    if (const auto* failed = result.failed()) return {false, failed->why};
    const auto truth = result.truth();
    if (!truth) return {false, "no such overload"};
    return {*truth, {}};
}

}  // namespace esi::simulation
