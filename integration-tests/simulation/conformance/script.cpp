#include "conformance/script.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <stdexcept>

#include "server/validation/schema.h"

namespace esi::simulation {

namespace {

script_step read_step(const json& source) {
    script_step out;
    for (const auto& [name, value] : source.items()) {
        if (name == "do") {
            const auto text = value.get<std::string>();
            const auto space = text.find(' ');
            if (space == std::string::npos) throw std::runtime_error("no method and path: " + text);
            out.method = text.substr(0, space);
            out.target = text.substr(space + 1);
        } else if (name == "watch") {
            out.what = script_step::kind::watch;
            out.target = value.get<std::string>();
        } else if (name == "read") {
            out.what = script_step::kind::read;
            out.name = value.get<std::string>();
        } else if (name == "documents") {
            out.what = script_step::kind::documents;
            out.folder = value.get<std::string>();
        } else if (name == "compact") {
            out.what = script_step::kind::compact;
        } else if (name == "title") {
            out.title = value.get<std::string>();
        } else if (name == "body") {
            out.body = value;
        } else if (name == "change") {
            out.change = value;
        } else if (name == "type") {
            out.content_type = value.get<std::string>();
        } else if (name == "accept") {
            out.accept = value.get<std::string>();
        } else if (name == "as") {
            out.name = value.get<std::string>();
        } else if (name == "pick") {
            out.pick = value.get<std::vector<std::string>>();
        } else if (name == "show") {
            out.code_only = value == "code";
        } else if (name == "events") {
            out.events = value.get<int>();
        } else {
            throw std::runtime_error("unknown member " + name);
        }
    }
    if (out.content_type.empty() && !out.body.is_null()) {
        out.content_type =
            out.method == "PATCH" ? "application/merge-patch+json" : "application/json";
    }
    return out;
}

}  // namespace

script read_script(const std::string& file) {
    const auto source = to_json(YAML::LoadFile(file));
    script out;
    out.name = std::filesystem::path(file).stem().string();
    for (const auto& [name, value] : source.items()) {
        if (name == "known") {
            out.known = value;
        } else if (name != "about" && name != "steps") {
            throw std::runtime_error(file + ": unknown member " + name);
        }
    }
    std::size_t number = 0;
    for (const auto& each : source.at("steps")) {
        ++number;
        try {
            out.steps.push_back(read_step(each));
        } catch (const std::exception& error) {
            throw std::runtime_error(file + ": step " + std::to_string(number) + ": " +
                                     error.what());
        }
    }
    return out;
}

const json* at_path(const json& value, std::string_view path) {
    const auto* at = &value;
    while (!path.empty()) {
        const auto dot = path.find('.');
        const auto part = path.substr(0, dot);
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
        if (at->is_object()) {
            const auto found = at->find(part);
            if (found == at->end()) return nullptr;
            at = &*found;
        } else if (at->is_array()) {
            const auto index = std::stoul(std::string(part));
            if (index >= at->size()) return nullptr;
            at = &(*at)[index];
        } else {
            return nullptr;
        }
    }
    return at;
}

namespace {

const json& known_value(const std::string& path, const json& known) {
    const auto* found = at_path(known, path);
    if (!found) throw std::runtime_error("{" + path + "} is not known");
    return *found;
}

}  // namespace

std::string fill_text(const std::string& text, const json& known) {
    std::string out;
    std::size_t at = 0;
    while (true) {
        const auto open = text.find('{', at);
        const auto close = open == std::string::npos ? open : text.find('}', open);
        if (close == std::string::npos) return out + text.substr(at);
        out += text.substr(at, open - at);
        const auto& value = known_value(text.substr(open + 1, close - open - 1), known);
        out += value.is_string() ? value.get<std::string>() : value.dump();
        at = close + 1;
    }
}

json fill(const json& value, const json& known) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (text.size() > 2 && text.front() == '{' && text.find('}') == text.size() - 1) {
            return known_value(text.substr(1, text.size() - 2), known);
        }
        return fill_text(text, known);
    }
    json out = value;
    if (out.is_structured()) {
        for (auto& each : out) each = fill(each, known);
    }
    return out;
}

std::vector<json> read_documents(const std::string& file) {
    std::vector<json> out;
    for (const auto& each : YAML::LoadAllFromFile(file)) {
        auto document = to_json(each);
        if (document.is_object()) out.push_back(std::move(document));
    }
    return out;
}

}  // namespace esi::simulation
