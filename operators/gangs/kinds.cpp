#include "gangs/kinds.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

constexpr std::array kinds{
    group_kind{way::tenstack,
               {"batch.scheduler.tencent.com", "v1", "podgroups", "PodGroup"},
               "podgroups.batch.scheduler.tencent.com",
               "maxScheduleTime"},
    group_kind{way::coscheduling,
               {"scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"},
               "podgroups.scheduling.x-k8s.io",
               "scheduleTimeoutSeconds"},
    group_kind{way::kube_batch,
               {"scheduling.incubator.k8s.io", "v1alpha1", "podgroups", "PodGroup"},
               "podgroups.scheduling.incubator.k8s.io",
               ""},
    group_kind{way::kube_batch,
               {"scheduling.sigs.dev", "v1alpha2", "podgroups", "PodGroup"},
               "podgroups.scheduling.sigs.dev",
               ""},
};

bool is_small(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// A DNS-1123 subdomain, which names of objects are: parts of small letters, digits and, between
/// them, hyphens, with dots between the parts.
bool is_object_name(std::string_view text) {
    constexpr std::size_t longest = 253;
    if (text.empty() || text.size() > longest) return false;
    char before = '.';
    for (const char c : text) {
        const bool divides = c == '.' || c == '-';
        if (!divides && !is_small(c)) return false;
        if (c == '.' && !is_small(before)) return false;
        if (c == '-' && before == '.') return false;
        before = c;
    }
    return is_small(before);
}

std::string_view written_by(way by, const model::pod& pod) {
    switch (by) {
        case way::tenstack:
            return pod.metadata.label(names::tenstack_group);
        case way::coscheduling:
            return pod.metadata.label(names::pod_group);
        case way::kube_batch:
            return pod.metadata.annotation(names::group_name);
    }
    return {};
}

/// Empty: the pod names no group in this way.
std::string_view name_by(way by, const model::pod& pod) {
    const auto text = written_by(by, pod);
    return is_object_name(text) ? text : std::string_view();
}

std::string where(way by) {
    switch (by) {
        case way::tenstack:
            return fmt::format("label {}", names::tenstack_group);
        case way::coscheduling:
            return fmt::format("label {}", names::pod_group);
        case way::kube_batch:
            return fmt::format("annotation {}", names::group_name);
    }
    return "";
}

}  // namespace

std::string_view show(way by) {
    switch (by) {
        case way::tenstack:
            return "tenstack";
        case way::coscheduling:
            return "coscheduling";
        case way::kube_batch:
            return "kube-batch";
    }
    return "";
}

std::span<const group_kind> group_kinds() { return kinds; }

std::string gang_key::text() const { return fmt::format("{}/{} ({})", namespace_, name, show(by)); }

std::optional<gang_key> group_of(const model::pod& pod) {
    for (const auto by : all_ways) {
        const auto name = name_by(by, pod);
        if (!name.empty()) return gang_key{by, pod.metadata.namespace_, std::string(name)};
    }
    return std::nullopt;
}

std::string why_no_group(const model::pod& pod) {
    for (const auto by : all_ways) {
        const auto text = written_by(by, pod);
        if (text.empty()) continue;
        return fmt::format(
            "its {} has a value of {} bytes that cannot be the name of a PodGroup: at most 253 "
            "small letters, digits, hyphens and dots, with a letter or digit at both ends of "
            "each part",
            where(by), text.size());
    }
    return fmt::format("it has no value in {}, {} or {}", where(way::tenstack),
                       where(way::coscheduling), where(way::kube_batch));
}

bool names_several(const model::pod& pod) {
    int named = 0;
    for (const auto by : all_ways) named += name_by(by, pod).empty() ? 0 : 1;
    return named > 1;
}

std::optional<std::int64_t> minimum_on(const model::pod& pod) {
    const auto text = pod.metadata.annotation(names::group_min_member);
    std::int64_t out = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

}  // namespace esi::gangs
