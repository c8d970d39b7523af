#include "server/api/selectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace esi::simulation {

namespace {

std::optional<long long> number(std::string_view text) {
    long long out = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

/// As a field selector sees a value: texts as they are, what is not there as "".
std::string shown(const json* value) {
    if (value == nullptr || value->is_null()) return {};
    return value->is_string() ? value->get<std::string>() : value->dump();
}

const json* at_path(const json& body, const std::vector<std::string>& path) {
    const json* at = &body;
    for (const auto& part : path) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(part);
        if (found == at->end()) return nullptr;
        at = &*found;
    }
    return at;
}

std::vector<std::string> split_path(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto dot = text.find('.');
        out.emplace_back(text.substr(0, dot));
        text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
    }
    return out;
}

}  // namespace

/// The grammar of apimachinery's labels.Parse.
class label_parser {
public:
    explicit label_parser(std::string_view text) : left_(text) {}

    std::expected<label_selector, std::string> all() {
        label_selector out;
        skip_blanks();
        while (!left_.empty()) {
            auto one = requirement();
            if (!one) return std::unexpected("unable to parse requirement: " + one.error());
            out.requirements_.push_back(std::move(*one));
            skip_blanks();
            if (left_.empty()) break;
            if (!take(",")) {
                return std::unexpected(fmt::format("found '{}', expected: ',' or 'end of string'",
                                                   left_.substr(0, 1)));
            }
            skip_blanks();
            if (left_.empty()) {
                return std::unexpected("found '', expected: identifier after ','");
            }
        }
        return out;
    }

private:
    using test = label_selector::test;

    std::expected<label_selector::requirement, std::string> requirement() {
        label_selector::requirement out{{}, test::exists, {}};
        const bool negated = take("!");
        skip_blanks();
        out.key = word();
        if (out.key.empty()) return unexpected_here("identifier");
        if (negated) {
            out.what = test::absent;
            return out;
        }
        skip_blanks();
        if (left_.empty() || left_.front() == ',') return out;
        if (take("!=")) return single(std::move(out), test::not_in);
        if (take("==") || take("=")) return single(std::move(out), test::in);
        if (take(">")) return single(std::move(out), test::greater);
        if (take("<")) return single(std::move(out), test::less);
        const auto name = word();
        if (name == "in") return set(std::move(out), test::in);
        if (name == "notin") return set(std::move(out), test::not_in);
        return std::unexpected(
            fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", name));
    }

    std::expected<label_selector::requirement, std::string> single(label_selector::requirement out,
                                                                   test what) {
        skip_blanks();
        // An empty value is a value.
        if (!left_.empty() && left_.front() != ',' && !in_word(left_.front())) {
            return unexpected_here("identifier");
        }
        out.what = what;
        out.values.push_back(word());
        return out;
    }

    std::expected<label_selector::requirement, std::string> set(label_selector::requirement out,
                                                                test what) {
        out.what = what;
        skip_blanks();
        if (!take("(")) return unexpected_here("'('");
        while (true) {
            skip_blanks();
            out.values.push_back(word());
            skip_blanks();
            if (take(")")) return out;
            if (!take(",")) return unexpected_here("',' or ')'");
        }
    }

    std::unexpected<std::string> unexpected_here(std::string_view wanted) const {
        return std::unexpected(fmt::format("found '{}', expected: {}", left_.substr(0, 1), wanted));
    }
    static bool in_word(char c) {
        return std::string_view(" \t,()=!<>").find(c) == std::string_view::npos;
    }
    std::string word() {
        const auto end = std::ranges::find_if_not(left_, in_word) - left_.begin();
        std::string out(left_.substr(0, static_cast<std::size_t>(end)));
        left_.remove_prefix(out.size());
        return out;
    }
    bool take(std::string_view token) {
        if (!left_.starts_with(token)) return false;
        left_.remove_prefix(token.size());
        return true;
    }
    void skip_blanks() {
        while (!left_.empty() && (left_.front() == ' ' || left_.front() == '\t')) {
            left_.remove_prefix(1);
        }
    }

    std::string_view left_;
};

std::expected<label_selector, std::string> label_selector::parse(std::string_view text) {
    return label_parser(text).all();
}

bool label_selector::holds(const requirement& one, const json* labels) {
    const json* value = nullptr;
    if (labels != nullptr) {
        const auto found = labels->find(one.key);
        if (found != labels->end() && found->is_string()) value = &*found;
    }
    const auto listed = [&] {
        const auto& text = value->get_ref<const std::string&>();
        return std::ranges::find(one.values, text) != one.values.end();
    };
    const auto compared = [&](auto order) {
        if (value == nullptr) return false;
        const auto have = number(value->get_ref<const std::string&>());
        const auto limit = number(one.values.front());
        return have && limit && order(*have, *limit);
    };
    switch (one.what) {
        case test::exists:
            return value != nullptr;
        case test::absent:
            return value == nullptr;
        case test::in:
            return value != nullptr && listed();
        case test::not_in:
            return value == nullptr || !listed();
        case test::greater:
            return compared(std::greater<>());
        case test::less:
            return compared(std::less<>());
    }
    return false;
}

bool label_selector::matches(const json& body) const {
    if (requirements_.empty()) return true;
    const json* labels = nullptr;
    const auto metadata = body.find("metadata");
    if (metadata != body.end()) {
        const auto found = metadata->find("labels");
        if (found != metadata->end() && found->is_object()) labels = &*found;
    }
    return std::ranges::all_of(requirements_,
                               [&](const requirement& one) { return holds(one, labels); });
}

std::expected<field_selector, std::string> field_selector::parse(
    std::string_view text, const std::vector<std::string>& offered) {
    field_selector out;
    while (!text.empty()) {
        const auto comma = text.find(',');
        auto term = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        if (term.empty()) continue;
        const auto at = term.find('=');
        if (at == std::string_view::npos) {
            return std::unexpected(
                fmt::format("invalid field selector: invalid selector: '{}'; can't understand '{}'",
                            term, term));
        }
        const bool unequal = at > 0 && term[at - 1] == '!';
        const auto key = term.substr(0, unequal ? at - 1 : at);
        auto value = term.substr(at + 1);
        if (!unequal && value.starts_with('=')) value.remove_prefix(1);
        if (std::ranges::find(offered, key) == offered.end()) {
            return std::unexpected(fmt::format("field label not supported: {}", key));
        }
        out.requirements_.push_back({split_path(key), std::string(value), !unequal});
    }
    return out;
}

bool field_selector::matches(const json& body) const {
    return std::ranges::all_of(requirements_, [&](const requirement& one) {
        return (shown(at_path(body, one.path)) == one.value) == one.equal;
    });
}

}  // namespace esi::simulation
