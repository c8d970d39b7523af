#include "kubectl-esi/shown/documents.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>
#include <string_view>

#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::shown {

namespace {

/// An alias repeats its anchor's content: a short text can stand for an endless tree.
constexpr std::size_t most_values = 200'000;
constexpr int deepest = 200;

struct fault {
    std::string text;
};

template <class Number>
std::optional<Number> number_of(const std::string& text) {
    Number out{};
    const auto* first = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto* end = text.data() + text.size();
    const auto [at, code] = std::from_chars(first, end, out);
    if (code != std::errc() || at != end || first == end) return std::nullopt;
    return out;
}

bool is_null(const std::string& text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<bool> truth_of(const std::string& text) {
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
}

/// from_chars accepts "inf" and "nan", which YAML writes in another way.
bool begins_as_number(const std::string& text) {
    const auto at = text.find_first_of("0123456789.");
    return at != std::string::npos && text.find_first_not_of("+-") == at;
}

json plain(const std::string& text) {
    if (is_null(text)) return nullptr;
    if (const auto truth = truth_of(text)) return *truth;
    if (!begins_as_number(text)) return text;
    if (const auto whole = number_of<std::int64_t>(text)) return *whole;
    if (const auto real = number_of<double>(text); real && std::isfinite(*real)) return *real;
    return text;
}

class reader {
public:
    json read(const YAML::Node& from, int depth) {
        if (++values_ > most_values) throw fault{"it has more than 200,000 values"};
        if (depth > deepest) throw fault{"it is nested deeper than 200 levels"};
        switch (from.Type()) {
            case YAML::NodeType::Undefined:
            case YAML::NodeType::Null:
                return nullptr;
            case YAML::NodeType::Scalar:
                // "!": quoted, or a block.
                return from.Tag() == "!" ? json(from.Scalar()) : plain(from.Scalar());
            case YAML::NodeType::Sequence: {
                json out = json::array();
                for (const YAML::Node each : from) out.push_back(read(each, depth + 1));
                return out;
            }
            case YAML::NodeType::Map:
                break;
        }
        json out = json::object();
        for (const auto& each : from) {
            if (!each.first.IsScalar()) throw fault{"it has a key that is no text"};
            const auto key = each.first.Scalar();
            if (out.contains(key)) throw fault{"it has the key " + key + " twice"};
            out[key] = read(each.second, depth + 1);
        }
        return out;
    }

private:
    std::size_t values_ = 0;
};

/// True: readers of YAML 1.1 take the text for a truth value or a number.
bool reads_as_another_type(const std::string& text) {
    if (!plain(text).is_string()) return true;
    constexpr std::array words{"y", "n", "yes", "no", "on", "off"};
    std::string low;
    for (const char c : text) low += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const auto* word : words) {
        if (low == word) return true;
    }
    // 1:30 is a number to base 60 there, 0x1f and 0o17 are numbers, 2026-11-24 is a date.
    return text.find_first_of("0123456789") == 0;
}

/// Escapes a text if a terminal would act on it; quotes it if a reader would take it for another
/// type.
void write_text(YAML::Emitter& to, const std::string& text) {
    const bool printed = is_printable(text);
    if (!printed) to << YAML::EscapeNonAscii;
    if (!printed || reads_as_another_type(text)) to << YAML::DoubleQuoted;
    to << text;
}

void write(YAML::Emitter& to, const json& of) {
    switch (of.type()) {
        case json::value_t::object:
            if (of.empty()) to << YAML::Flow;
            to << YAML::BeginMap;
            for (const auto& [key, value] : of.items()) {
                to << YAML::Key;
                write_text(to, key);
                to << YAML::Value;
                write(to, value);
            }
            to << YAML::EndMap;
            return;
        case json::value_t::array:
            if (of.empty()) to << YAML::Flow;
            to << YAML::BeginSeq;
            for (const auto& each : of) write(to, each);
            to << YAML::EndSeq;
            return;
        case json::value_t::string:
            write_text(to, of.get_ref<const std::string&>());
            return;
        case json::value_t::null:
            to << YAML::Null;
            return;
        default:
            to << of.dump();
    }
}

}  // namespace

result<std::vector<json>> read_documents(std::string_view text, const std::string& from) {
    std::vector<json> out;
    try {
        reader in;
        for (const auto& each : YAML::LoadAll(std::string(text))) {
            auto document = in.read(each, 0);
            if (!document.is_null()) out.push_back(std::move(document));
        }
    } catch (const YAML::Exception& wrong) {
        return fail(errc::config, from + ": " + wrong.what());
    } catch (const fault& wrong) {
        return fail(errc::config, from + ": " + wrong.text);
    }
    return out;
}

std::string yaml_text(const json& of) {
    YAML::Emitter to;
    write(to, of);
    return std::string(to.c_str(), to.size()) + "\n";
}

std::string object_text(const json& of, form as) {
    if (as == form::yaml) return yaml_text(of);
    auto text = of.dump(4, ' ', false, json::error_handler_t::replace);
    // The line breaks of the JSON form itself do not count.
    const bool printed = std::ranges::all_of(std::views::split(text, '\n'), [](const auto& line) {
        return is_printable(std::string_view(line.begin(), line.end()));
    });
    if (!printed) text = of.dump(4, ' ', true, json::error_handler_t::replace);
    return text + "\n";
}

}  // namespace esi::kubectl::shown
