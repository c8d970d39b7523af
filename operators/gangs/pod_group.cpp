#include "gangs/pod_group.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "model/lenient.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

/// The longest attempt; it keeps sums of times far from the end of their type.
constexpr auto longest_attempt = std::chrono::hours(24 * 365);
/// How many conditions of a group are read and kept: ESI writes two, and other programs few.
constexpr std::size_t most_conditions = 128;

std::optional<milliseconds> attempt_of(std::int64_t count, milliseconds unit) {
    if (count <= 0) return std::nullopt;
    if (count > longest_attempt / unit) return longest_attempt;
    return count * unit;
}

std::optional<std::int64_t> number_at(const model::element& from,
                                      std::initializer_list<std::string_view> path) {
    auto here = from;
    for (const auto name : path) {
        model::element next;
        if (here.at_key(name).get(next) != simdjson::SUCCESS) return std::nullopt;
        here = next;
    }
    std::int64_t out = 0;
    if (here.get(out) == simdjson::SUCCESS) return out;
    return std::nullopt;
}

std::vector<group_condition> conditions_of(const model::element& from) {
    std::vector<group_condition> out;
    model::element status;
    model::element list;
    if (from.at_key("status").get(status) != simdjson::SUCCESS) return out;
    if (status.at_key("conditions").get(list) != simdjson::SUCCESS) return out;
    simdjson::dom::array items;
    if (list.get(items) != simdjson::SUCCESS) return out;
    for (model::element item : items) {
        if (out.size() == most_conditions) break;
        using model::lenient::text_at;
        group_condition one;
        one.type = text_at(item, {"type"});
        one.status = text_at(item, {"status"});
        one.transition_id = text_at(item, {"transitionID"});
        one.last_transition_time = model::lenient::time_at(item, {"lastTransitionTime"});
        one.reason = text_at(item, {"reason"});
        one.message = text_at(item, {"message"});
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

bool pod_group::suspended() const { return metadata.annotation(names::suspend) == "true"; }

bool pod_group::deletes_partial() const {
    return metadata.annotation(names::on_partial) == "Delete";
}

bool pod_group::best_effort() const {
    return metadata.annotation(names::best_effort_constraints) == "true";
}

std::optional<milliseconds> go_duration(std::string_view text) {
    // The longest unit that begins the rest counts: "ms" is not "m".
    constexpr std::array<std::pair<std::string_view, double>, 6> units{
        {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"h", 3.6e6}, {"m", 6e4}, {"s", 1e3}}};
    if (text.empty()) return std::nullopt;
    double total = 0;
    while (!text.empty()) {
        double count = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count,
                                                  std::chars_format::fixed);
        if (fault != std::errc() || count < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        bool known = false;
        for (const auto& [unit, length] : units) {
            if (!text.starts_with(unit)) continue;
            total += count * length;
            text.remove_prefix(unit.size());
            known = true;
            break;
        }
        if (!known) return std::nullopt;
    }
    constexpr auto most = static_cast<double>(milliseconds(longest_attempt).count());
    return milliseconds(static_cast<std::int64_t>(total < most ? total : most));
}

}  // namespace esi::gangs

namespace esi::model {

using esi::gangs::pod_group;

result<void> codec<pod_group>::decode(const element& from, pod_group& out) {
    using namespace lenient;
    namespace gangs = esi::gangs;
    element metadata;
    if (from.at_key("metadata").get(metadata) == simdjson::SUCCESS) {
        if (auto done = codec<object_meta>::decode(metadata, out.metadata); !done) {
            return fail(errc::decode, ".metadata" + done.error().text);
        }
    }
    out.spec.min_member = gangs::number_at(from, {"spec", "minMember"});
    out.spec.priority_class_name = text_at(from, {"spec", "priorityClassName"});
    if (const auto count = gangs::number_at(from, {"spec", "scheduleTimeoutSeconds"})) {
        out.spec.attempt = gangs::attempt_of(*count, seconds(1));
    } else if (const auto time = gangs::go_duration(text_at(from, {"spec", "maxScheduleTime"}))) {
        out.spec.attempt = gangs::attempt_of(time->count(), milliseconds(1));
    }
    auto& status = out.status;
    status.phase = text_at(from, {"status", "phase"});
    status.occupied_by = text_at(from, {"status", "occupiedBy"});
    status.scheduled = gangs::number_at(from, {"status", "scheduled"});
    status.running = gangs::number_at(from, {"status", "running"});
    status.succeeded = gangs::number_at(from, {"status", "succeeded"});
    status.failed = gangs::number_at(from, {"status", "failed"});
    status.schedule_start_time = time_at(from, {"status", "scheduleStartTime"});
    status.conditions = gangs::conditions_of(from);
    return {};
}

json codec<pod_group>::encode(const pod_group& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

}  // namespace esi::model
