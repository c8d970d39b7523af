#include "batchjob/backends/pod_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "batchjob/backends/json_parts.h"
#include "model/cluster.h"
#include "model/json.h"

namespace esi::batchjob {

namespace {

constexpr std::int64_t mebi = 1024 * 1024;

/// The API server does the same when it stores a pod.
void take_limits_as_requests(json& container) {
    const auto* limits = member(container, "resources");
    limits = limits ? member(*limits, "limits") : nullptr;
    if (!limits || !limits->is_object()) return;
    const json given = *limits;
    auto& resources = container["resources"];
    auto* requests = typed_in(resources, "requests", json::object());
    if (!requests) return;
    for (const auto& [name, amount] : given.items()) {
        if (!requests->contains(name)) (*requests)[name] = amount;
    }
}

void keep_sidecars(json& pod) {
    const auto list = pod.find("initContainers");
    if (list == pod.end() || !list->is_array()) return;
    json kept = json::array();
    for (auto& each : *list) {
        const auto* policy = member(each, "restartPolicy");
        if (policy && *policy == "Always") kept.push_back(std::move(each));
    }
    *list = std::move(kept);
}

void set_size(json& container, const model::amounts& size) {
    auto* resources = typed_in(container, "resources", json::object());
    auto* requests = resources ? typed_in(*resources, "requests", json::object()) : nullptr;
    if (!requests) return;
    for (const char* name : {"cpu", "memory"}) {
        const auto at = size.find(name);
        (*requests)[name] = std::to_string(at == size.end() ? 0 : at->second) + "m";
    }
}

}  // namespace

model::amounts requests_of(json pod, std::string_view main, const model::amounts& main_size,
                           init_containers counted) {
    if (!pod.is_object()) return main_size;
    auto* containers = typed_in(pod, "containers", json::array());
    if (!containers) return main_size;
    const auto is_main = [&](const json& each) { return name_of(each) == main; };
    if (std::ranges::none_of(*containers, is_main)) containers->push_back({{"name", main}});
    if (counted == init_containers::sidecars) keep_sidecars(pod);
    for (const char* key : {"containers", "initContainers"}) {
        const auto list = pod.find(key);
        if (list == pod.end() || !list->is_array()) continue;
        for (auto& each : *list) {
            if (!each.is_object()) continue;
            take_limits_as_requests(each);
            if (is_main(each)) set_size(each, main_size);
        }
    }
    const json whole{{"metadata", {{"name", "pod"}}}, {"spec", std::move(pod)}};
    const auto text = whole.dump(-1, ' ', false, json::error_handler_t::replace);
    const auto read = model::decode<model::pod>(text, "Pod");
    return read && read->metadata.undecodable.empty() ? read->requests : main_size;
}

model::resource_list room_for_main(const model::resource_list& slot, const json& pod,
                                   std::string_view main) {
    const auto beside = requests_of(pod, main, {}, init_containers::sidecars);
    auto out = slot;
    for (const char* name : {"cpu", "memory"}) {
        const auto at = out.find(name);
        const auto taken = beside.find(name);
        if (at == out.end() || taken == beside.end() || taken->second <= 0) continue;
        const auto left = std::max<std::int64_t>(0, at->second.milli - taken->second);
        at->second = {model::show(name, left), left};
    }
    return out;
}

std::optional<std::int64_t> mebibytes_in(std::string_view text, std::int64_t unit) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 17> units{{
        {"b", 1},
        {"bytes", 1},
        {"k", 1024},
        {"kb", 1024},
        {"kibibytes", 1024},
        {"m", mebi},
        {"mb", mebi},
        {"mebibytes", mebi},
        {"g", mebi * 1024},
        {"gb", mebi * 1024},
        {"gibibytes", mebi * 1024},
        {"t", mebi * 1024 * 1024},
        {"tb", mebi * 1024 * 1024},
        {"tebibytes", mebi * 1024 * 1024},
        {"ki", 1024},
        {"mi", mebi},
        {"gi", mebi * 1024},
    }};
    const auto trim = [](std::string_view of) {
        while (!of.empty() && of.front() == ' ') of.remove_prefix(1);
        while (!of.empty() && of.back() == ' ') of.remove_suffix(1);
        return of;
    };
    text = trim(text);
    std::int64_t count = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc() || count <= 0) return std::nullopt;
    std::string name(trim(text.substr(static_cast<std::size_t>(end - text.data()))));
    std::ranges::transform(name, name.begin(), [](unsigned char letter) {
        return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
    });
    if (!name.empty()) {
        const auto found = std::ranges::find(units, name, &decltype(units)::value_type::first);
        if (found == units.end()) return std::nullopt;
        unit = found->second;
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, unit, &bytes)) return std::nullopt;
    return bytes / mebi + (bytes % mebi != 0);
}

std::int64_t amount_of_mebibytes(std::int64_t mebibytes) {
    return model::times(mebibytes, 1024 * 1024 * 1000);
}

}  // namespace esi::batchjob
