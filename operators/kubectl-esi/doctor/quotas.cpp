#include "kubectl-esi/doctor/quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace esi::kubectl::doctor {

namespace {

std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
    const auto begin = text.find(from);
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin + from.size());
    return to.empty() ? text : text.substr(0, text.find(to));
}

/// "limits.cpu=1,pods=2": up to the first part of another form.
std::map<std::string, model::quantity> amounts_of(std::string_view list) {
    std::map<std::string, model::quantity> out;
    while (!list.empty()) {
        const auto part = list.substr(0, list.find(','));
        const auto sign = part.find('=');
        if (sign == std::string_view::npos) break;
        auto value = part.substr(sign + 1);
        value = value.substr(0, value.find_first_of(" ;)\""));
        const auto amount = model::quantity::parse(value);
        if (!amount) break;
        out.emplace(part.substr(0, sign), *amount);
        if (part.size() == list.size()) break;
        list.remove_prefix(part.size() + 1);
    }
    return out;
}

/// "1500m", "12": whole numbers as such.
std::string milli_text(std::int64_t milli) {
    return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

struct refused {
    quota_refusal by;
    std::string namespace_;
    std::vector<std::string> testbeds;
    std::int64_t slots = 0;
};

}  // namespace

std::optional<quota_refusal> quota_refusal_in(std::string_view text) {
    quota_refusal out;
    out.quota = between(text, "exceeded quota: ", ",");
    if (out.quota.empty()) return std::nullopt;
    out.requested = amounts_of(between(text, "requested: ", ", used: "));
    out.limited = amounts_of(between(text, "limited: ", ""));
    return out;
}

void look_at_quotas(const facts& at, std::vector<finding>& found) {
    std::map<model::object_key, refused> all;
    for (const auto& testbed : at.testbeds) {
        const auto& meta = testbed->metadata;
        std::set<std::string> counted;
        for (const auto& [node, problems] : testbed->status.node_problems) {
            for (const auto& problem : problems) {
                auto by = quota_refusal_in(problem);
                if (!by || !counted.insert(by->quota).second) continue;
                auto& one = all[{meta.namespace_, by->quota}];
                one.namespace_ = meta.namespace_;
                one.by = std::move(*by);
                one.testbeds.push_back(meta.name);
                if (testbed->status.counts) one.slots += testbed->status.counts->error;
            }
        }
    }
    for (const auto& [key, one] : all) {
        nlohmann::json hard = nlohmann::json::object();
        for (const auto& [name, limit] : one.by.limited) {
            const auto asked = one.by.requested.find(name);
            if (asked == one.by.requested.end()) continue;
            hard[name] = milli_text(limit.milli + one.slots * asked->second.milli);
        }
        add(found, severity::error, "ResourceQuota " + key.text(),
            fmt::format("it refuses {} ghosts of {} {}: the slots are in ERROR", one.slots,
                        one.testbeds.size() == 1 ? "Testbed" : "Testbeds",
                        fmt::join(one.testbeds, ", ")),
            hard.empty()
                ? fmt::format("kubectl describe resourcequota {} -n {}", key.name, key.namespace_)
                : fmt::format("kubectl patch resourcequota {} -n {} --type=merge -p '{}'", key.name,
                              key.namespace_, nlohmann::json({{"spec", {{"hard", hard}}}}).dump()));
    }
}

}  // namespace esi::kubectl::doctor
