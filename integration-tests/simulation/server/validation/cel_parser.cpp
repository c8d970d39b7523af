#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "server/validation/cel_node.h"

namespace esi::simulation {

using cel::op;

namespace {

struct function {
    std::string_view name;
    op what;
    bool method;
    std::size_t arguments;  // the receiver of a method counts
};

constexpr function functions[] = {
    {"type", op::type_of, false, 1},
    {"size", op::size, false, 1},
    {"size", op::size, true, 1},
    {"matches", op::matches, true, 2},
    {"indexOf", op::index_of, true, 2},
    {"isQuantity", op::is_quantity, false, 1},
    {"quantity", op::quantity, false, 1},
    {"isGreaterThan", op::greater_than, true, 2},
    {"isLessThan", op::less_than, true, 2},
    {"hasValue", op::has_value, true, 1},
    {"value", op::value, true, 1},
    {"sum", op::sum, true, 1},
};

constexpr std::string_view type_names[] = {"int",  "string", "bool",     "double",
                                           "list", "map",    "null_type"};

}  // namespace

struct cel_rule::parser {
    const std::string& text;
    std::vector<std::string>& members;
    bool optional_old_self;
    bool old_self_seen = false;
    std::size_t at = 0;
    /// Variables of the comprehensions around, innermost last.
    std::vector<std::string> variables = {};

    [[noreturn]] void wrong(const std::string& why) const {
        throw std::runtime_error("rule \"" + text + "\": " + why + " at character " +
                                 std::to_string(at));
    }

    void blanks() {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    }
    bool eat(std::string_view token) {
        blanks();
        if (std::string_view(text).substr(at, token.size()) != token) return false;
        at += token.size();
        return true;
    }
    void need(std::string_view token) {
        if (!eat(token)) wrong("expected '" + std::string(token) + "'");
    }
    static bool word(char each) {
        return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_';
    }
    std::string identifier() {
        blanks();
        const auto from = at;
        while (at < text.size() && word(text[at])) ++at;
        return text.substr(from, at - from);
    }
    bool eat_word(std::string_view name) {
        blanks();
        const auto end = at + name.size();
        if (std::string_view(text).substr(at, name.size()) != name) return false;
        if (end < text.size() && word(text[end])) return false;
        at = end;
        return true;
    }

    static node make(op what, node first) {
        node out{what, {}, {}, {}, {}};
        out.children.push_back(std::move(first));
        return out;
    }
    static node make(op what, node first, node second) {
        auto out = make(what, std::move(first));
        out.children.push_back(std::move(second));
        return out;
    }

    node all() {
        auto out = choice();
        blanks();
        if (at != text.size()) wrong("cannot read what stands");
        return out;
    }
    node choice() {
        auto out = either();
        if (!eat("?")) return out;
        auto yes = either();
        need(":");
        auto no = choice();
        out = make(op::choose, std::move(out), std::move(yes));
        out.children.push_back(std::move(no));
        return out;
    }
    node either() {
        auto out = both();
        while (eat("||")) out = make(op::either, std::move(out), both());
        return out;
    }
    node both() {
        auto out = relation();
        while (eat("&&")) out = make(op::both, std::move(out), relation());
        return out;
    }
    node sum() {
        auto out = unary();
        while (eat("+")) out = make(op::plus, std::move(out), unary());
        return out;
    }
    node relation() {
        auto out = sum();
        while (true) {
            op what;
            if (eat("==")) {
                what = op::equal;
            } else if (eat("!=")) {
                what = op::unequal;
            } else if (eat("<=")) {
                what = op::less_equal;
            } else if (eat(">=")) {
                what = op::greater_equal;
            } else if (eat("<")) {
                what = op::less;
            } else if (eat(">")) {
                what = op::greater;
            } else if (eat_word("in")) {
                what = op::in;
            } else {
                return out;
            }
            out = make(what, std::move(out), sum());
        }
    }
    node unary() {
        blanks();
        if (at + 1 < text.size() && text[at] == '!' && text[at + 1] != '=') {
            ++at;
            return make(op::negate, unary());
        }
        return postfix();
    }
    node postfix() {
        auto out = primary();
        while (true) {
            if (eat("[")) {
                out = make(op::index, std::move(out), choice());
                need("]");
                continue;
            }
            if (!eat(".")) return out;
            auto name = identifier();
            if (name.empty()) wrong("expected a member");
            if (eat("(")) {
                const bool goes_through = name == "all" || name == "map";
                out =
                    goes_through ? comprehension(name, std::move(out)) : call(name, std::move(out));
                continue;
            }
            if (out.what == op::self) members.push_back(name);
            if (out.what == op::old_self) {
                if (optional_old_self) wrong("an optional oldSelf has no members");
                members.push_back(name);
            }
            out = make(op::member, std::move(out));
            out.name = std::move(name);
        }
    }
    /// all(x, ...) and map(x, ...)
    node comprehension(const std::string& name, node over) {
        auto variable = identifier();
        if (variable.empty()) wrong("expected a variable");
        need(",");
        variables.push_back(variable);
        auto out = make(name == "all" ? op::all : op::map, std::move(over), choice());
        variables.pop_back();
        need(")");
        out.name = std::move(variable);
        return out;
    }
    node call(const std::string& name, std::optional<node> receiver) {
        std::vector<node> arguments;
        const bool method = receiver.has_value();
        if (method) arguments.push_back(std::move(*receiver));
        if (!eat(")")) {
            do {
                arguments.push_back(choice());
            } while (eat(","));
            need(")");
        }
        for (const auto& each : functions) {
            if (each.name != name || each.method != method || each.arguments != arguments.size()) {
                continue;
            }
            const bool of_optional = each.what == op::has_value || each.what == op::value;
            const bool on_optional =
                method && arguments[0].what == op::old_self && optional_old_self;
            if (of_optional != on_optional) wrong(name + "() does not apply here");
            node out{each.what, std::move(arguments), {}, {}, {}};
            if (each.what == op::matches) {
                if (out.children[1].what != op::literal) wrong("matches() needs a literal pattern");
                out.pattern = compile(out.children[1].literal);
            }
            return out;
        }
        wrong("unknown function " + name + "() with " + std::to_string(arguments.size()) +
              " arguments");
    }
    /// What RE2 and ECMAScript read alike.
    std::regex compile(const json& pattern) const {
        if (!pattern.is_string()) wrong("a pattern is a text");
        const auto& source = pattern.get_ref<const std::string&>();
        if (source.find('\\') != std::string::npos || source.find("(?") != std::string::npos ||
            source.find("[[") != std::string::npos) {
            wrong("unknown form of pattern " + source);
        }
        return std::regex(source, std::regex::ECMAScript | std::regex::optimize);
    }
    node primary() {
        blanks();
        if (at == text.size()) wrong("the rule ends");
        const char first = text[at];
        if (eat("(")) {
            auto out = choice();
            need(")");
            return out;
        }
        if (first == '\'' || first == '"') return {op::literal, {}, {}, json(quoted(first)), {}};
        if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
            const auto digits = identifier();
            if (digits.find_first_not_of("0123456789") != std::string::npos ||
                (at < text.size() && text[at] == '.') || digits.size() > 18) {
                wrong("unknown number " + digits);
            }
            return {op::literal, {}, {}, json(std::stoll(digits)), {}};
        }
        auto name = identifier();
        if (name.empty()) wrong("cannot read what stands");
        if (name == "true" || name == "false")
            return {op::literal, {}, {}, json(name == "true"), {}};
        if (std::ranges::find(variables, name) != variables.end()) {
            return {op::local, {}, std::move(name), {}, {}};
        }
        if (name == "self") return {op::self, {}, {}, {}, {}};
        if (name == "oldSelf") {
            old_self_seen = true;
            return {op::old_self, {}, {}, {}, {}};
        }
        if (name == "has") {
            need("(");
            auto out = postfix();
            need(")");
            if (out.what != op::member) wrong("has() needs a member");
            out.what = op::has;
            return out;
        }
        if (eat("(")) return call(name, std::nullopt);
        for (const auto each : type_names) {
            if (each == name) return {op::type_name, {}, std::move(name), {}, {}};
        }
        wrong("unknown name " + name);
    }
    std::string quoted(char mark) {
        ++at;
        std::string out;
        while (at < text.size() && text[at] != mark) {
            if (text[at] == '\\') {
                ++at;
                if (at == text.size() ||
                    (text[at] != '\\' && text[at] != '\'' && text[at] != '"')) {
                    wrong("unknown escape");
                }
            }
            out += text[at++];
        }
        if (at == text.size()) wrong("a text does not end");
        ++at;
        return out;
    }
};

cel_rule::cel_rule(std::string text, bool optional_old_self) : text_(std::move(text)) {
    parser reader{text_, members_, optional_old_self};
    root_ = std::make_unique<const node>(reader.all());
    uses_old_self_ = reader.old_self_seen;
}

}  // namespace esi::simulation
