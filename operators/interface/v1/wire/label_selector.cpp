#include "interface/v1/wire/label_selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/text.h"

namespace esi::interface::v1 {

namespace {

/// A URL cannot carry much more.
constexpr std::size_t longest_selector = 8192;
constexpr std::size_t most_requirements = 100;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
/// A character that ends a word.
bool is_special(char c) { return std::string_view("=!(),<>").contains(c); }

bool is_dns_subdomain(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    while (true) {
        const auto end = std::min(text.find('.'), text.size());
        const auto part = text.substr(0, end);
        const auto is_small = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        };
        if (part.empty() || !is_small(part.front()) || !is_small(part.back())) return false;
        if (!std::ranges::all_of(part, [&](char c) { return is_small(c) || c == '-'; })) {
            return false;
        }
        if (end == text.size()) return true;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t out = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, out);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return out;
}

}  // namespace

bool is_label_value(std::string_view text) {
    if (text.empty()) return true;
    return text.size() <= 63 && is_letter_or_digit(text.front()) &&
           is_letter_or_digit(text.back()) && std::ranges::all_of(text, [](char c) {
               return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
           });
}

bool is_label_key(std::string_view text) {
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        if (!is_dns_subdomain(text.substr(0, slash))) return false;
        text.remove_prefix(slash + 1);
    }
    return !text.empty() && is_label_value(text);
}

class label_selector::reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}

    /// Throws a sentence that says what is wrong.
    label_selector read() {
        label_selector out;
        skip();
        if (rest_.empty()) return out;
        for (;;) {
            if (out.all_.size() == most_requirements) {
                throw fmt::format("more than {} requirements", most_requirements);
            }
            out.all_.push_back(next());
            if (rest_.empty()) return out;
            if (!take(",")) throw unexpected("a comma");
            if (rest_.empty()) throw unexpected("a label");
        }
    }

private:
    void skip() {
        while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    }
    bool take(std::string_view what) {
        if (!rest_.starts_with(what)) return false;
        rest_.remove_prefix(what.size());
        skip();
        return true;
    }
    std::string word() {
        const auto end =
            std::ranges::find_if(rest_, [](char c) { return is_blank(c) || is_special(c); });
        const auto length = static_cast<std::size_t>(end - rest_.begin());
        std::string out(rest_.substr(0, length));
        rest_.remove_prefix(length);
        skip();
        return out;
    }
    std::string key() {
        auto out = word();
        if (out.empty()) throw unexpected("a label");
        if (!is_label_key(out)) {
            throw fmt::format("{} cannot be the key of a label", model::cut(out, 100));
        }
        return out;
    }
    std::string value() {
        auto out = word();
        if (!is_label_value(out)) {
            throw fmt::format("{} cannot be the value of a label", model::cut(out, 100));
        }
        return out;
    }
    requirement next() {
        requirement out;
        const bool negated = take("!");
        out.key = key();
        if (negated) {
            out.how = relation::not_exists;
        } else if (take("!=")) {
            out.how = relation::not_among;
            out.values.insert(value());
        } else if (take("==") || take("=")) {
            out.how = relation::among;
            out.values.insert(value());
        } else if (rest_.starts_with('>') || rest_.starts_with('<')) {
            compare(out);
        } else if (!rest_.empty() && !rest_.starts_with(',')) {
            set(out);
        }
        return out;
    }
    void compare(requirement& out) {
        out.how = take(">") ? relation::above : relation::below;
        if (out.how == relation::below) take("<");
        const auto text = value();
        const auto number = whole_number(text);
        if (!number) throw fmt::format("{} is compared with a whole number only", out.key);
        out.number = *number;
    }
    void set(requirement& out) {
        const auto before = rest_;
        const auto name = word();
        if (name != "in" && name != "notin") {
            rest_ = before;
            throw unexpected("one of =, ==, !=, in, notin, < and >");
        }
        out.how = name == "in" ? relation::among : relation::not_among;
        if (!take("(")) throw unexpected("an opening parenthesis");
        if (rest_.starts_with(')')) throw unexpected("a value");
        for (;;) {
            out.values.insert(value());
            if (take(")")) return;
            if (!take(",")) throw unexpected("a comma or a closing parenthesis");
        }
    }
    std::string unexpected(std::string_view wanted) const {
        if (rest_.empty()) return fmt::format("it ends where {} is expected", wanted);
        return fmt::format("{} is expected before {}", wanted, model::cut(std::string(rest_), 100));
    }

    std::string_view rest_;
};

std::expected<label_selector, std::string> label_selector::parse(std::string_view text) {
    if (text.size() > longest_selector) {
        return std::unexpected(fmt::format("it is longer than {} bytes", longest_selector));
    }
    try {
        return reader(text).read();
    } catch (const std::string& why) {
        return std::unexpected(why);
    }
}

bool label_selector::requirement::holds(const model::string_map& labels) const {
    const auto found = labels.find(key);
    const bool there = found != labels.end();
    switch (how) {
        case relation::among:
            return there && values.contains(found->second);
        case relation::not_among:
            return !there || !values.contains(found->second);
        case relation::exists:
            return there;
        case relation::not_exists:
            return !there;
        case relation::above:
        case relation::below: {
            const auto own = there ? whole_number(found->second) : std::nullopt;
            if (!own) return false;
            return how == relation::above ? *own > number : *own < number;
        }
    }
    return false;
}

bool label_selector::matches(const model::string_map& labels) const {
    return std::ranges::all_of(all_, [&](const auto& each) { return each.holds(labels); });
}

}  // namespace esi::interface::v1
