#include "conformance/normal_form.h"

#include <algorithm>
#include <optional>

#include "server/validation/faults.h"

namespace esi::simulation {

namespace {

constexpr std::string_view version_mark = "resourceVersion ";

std::optional<unsigned long long> number_in(std::string_view text) {
    if (text.empty() || text.size() > 18) return std::nullopt;
    unsigned long long out = 0;
    for (const char each : text) {
        if (each < '0' || each > '9') return std::nullopt;
        out = out * 10 + static_cast<unsigned long long>(each - '0');
    }
    return out;
}

bool is_time(std::string_view text) {
    return text.size() >= 20 && text.size() <= 35 && text[4] == '-' && text[7] == '-' &&
           text[10] == 'T' && text[13] == ':' &&
           (text.back() == 'Z' || text[text.size() - 6] == '+');
}

/// What an API server adds that the model leaves out on purpose (README.md).
bool is_left_out(const std::string& key, const json& value) {
    if (key == "managedFields" || key == "selfLink" || key == "lastProbeTime") return true;
    if (key.starts_with("deprecated")) return true;
    // A pod's token, mounted by the admission of service accounts.
    if (key != "volumes" && key != "volumeMounts") return false;
    return value.is_array() && std::ranges::all_of(value, [](const json& each) {
               return text_member(each, "name").starts_with("kube-api-access-");
           });
}

}  // namespace

normal_form::normal_form(std::map<std::string, std::string, std::greater<>> words)
    : words_(std::move(words)) {}

std::string normal_form::text(const std::string& from) const {
    std::string out = from;
    for (const auto& [word, mask] : words_) {
        for (auto at = out.find(word); at != std::string::npos;
             at = out.find(word, at + mask.size())) {
            out.replace(at, word.size(), mask);
        }
    }
    return out;
}

json normal_form::version(const json& from) const {
    // Replaced when all writes are known.
    return std::string(version_mark) + (from.is_string() ? from.get<std::string>() : from.dump());
}

json normal_form::value(const std::string& key, const json& from) {
    if (from.is_string()) {
        const auto& own = from.get_ref<const std::string&>();
        if (key == "uid") {
            const auto [at, is_new] = uids_.try_emplace(own, "");
            if (is_new) at->second = "uid " + std::to_string(uids_.size());
            return at->second;
        }
        if (key == "resourceVersion") return own.empty() ? json() : version(from);
        if (key == "continue") return own.empty() ? json() : json("token");
        if (is_time(own)) return "time";
        return text(own);
    }
    if (from.is_array()) {
        json out = json::array();
        for (const auto& each : from) out.push_back(value({}, each));
        return out;
    }
    if (!from.is_object()) return from;
    json out = json::object();
    for (const auto& [name, member] : from.items()) {
        if (is_left_out(name, member)) continue;
        auto shown = value(name, member);
        if (shown.is_null() && !member.is_null()) continue;
        out[text(name)] = std::move(shown);
    }
    // The random part of a generated name.
    const auto base = text_member(out, "generateName");
    if (!base.empty() && text_member(out, "name").starts_with(base))
        out["name"] = std::string(base) + "*";
    return out;
}

json normal_form::object(const json& body, bool written) {
    const auto* metadata = find_member(body, "metadata");
    if (written && metadata) {
        if (const auto number = number_in(text_member(*metadata, "resourceVersion"))) {
            writes_.insert(*number);
        }
    }
    if (const auto* items = list_member(body, "items")) {
        for (const auto& each : *items) object(each, true);
    }
    return value({}, body);
}

json normal_form::status(const json& body) {
    json out = {{"status", body.value("status", "")}};
    if (body.contains("reason")) out["reason"] = body["reason"];
    const auto* details = find_member(body, "details");
    if (!details) return out;
    json shown = value({}, *details);
    // "uid" of a deleted object is told by some kinds only.
    if (auto causes = shown.find("causes"); causes != shown.end() && causes->is_array()) {
        std::set<std::string> seen;
        for (const auto& each : *causes) {
            seen.insert(std::string(text_member(each, "field")) + " " +
                        std::string(text_member(each, "reason")));
        }
        *causes = seen;
    }
    out["details"] = std::move(shown);
    return out;
}

json normal_form::answer(int code, const json& body) {
    json out = {{"code", code}};
    if (text_member(body, "kind") == "Status") {
        out.update(status(body));
    } else if (body.is_object()) {
        const bool list = body.contains("items");
        out["object"] = object(body, !list);
    } else if (!body.is_null()) {
        out["text"] = true;
    }
    return out;
}

json normal_form::event(const json& event) {
    const auto type = std::string(text_member(event, "type"));
    const auto* body = find_member(event, "object");
    if (!body) return {{"type", type}};
    if (type == "ERROR")
        return {{"type", type},
                {"code", body->value("code", 0)},
                {"reason", body->value("reason", "")}};
    return {{"type", type}, {"object", object(*body, type != "BOOKMARK")}};
}

json normal_form::finished(const json& shown) const {
    if (shown.is_string()) {
        const auto& own = shown.get_ref<const std::string&>();
        if (!own.starts_with(version_mark)) return shown;
        const auto number = number_in(std::string_view(own).substr(version_mark.size()));
        if (!number) return shown;
        const auto count =
            std::ranges::count_if(writes_, [&](auto each) { return each <= *number; });
        return "after write " + std::to_string(count);
    }
    json out = shown;
    if (out.is_structured()) {
        for (auto& each : out) each = finished(each);
    }
    return out;
}

}  // namespace esi::simulation
