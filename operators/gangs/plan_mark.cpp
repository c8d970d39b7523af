#include "gangs/plan_mark.h"

#include <fmt/format.h>

#include <charconv>

#include "kube/patch.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

std::string plan_mark(std::string_view first, std::string_view process, std::uint64_t number,
                      std::int64_t members) {
    return fmt::format("{}/{}/{}+{}", first, process, number, members);
}

std::optional<std::int64_t> members_of(std::string_view mark) {
    const auto last = mark.rfind('+');
    if (last == std::string_view::npos || mark.find('/', last) != std::string_view::npos) {
        return std::nullopt;
    }
    const auto text = mark.substr(last + 1);
    std::int64_t out = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (fault != std::errc() || end != text.data() + text.size() || out < 1) return std::nullopt;
    return out;
}

std::string_view mark_of(const model::pod& pod) {
    // A uid, the identity of a process and a number are shorter.
    constexpr std::size_t longest = 512;
    const auto mark = pod.metadata.annotation(names::gang_plan);
    return mark.size() > longest ? std::string_view() : mark;
}

std::string_view first_of(std::string_view mark) {
    const auto end = mark.find('/');
    return end == std::string_view::npos ? std::string_view() : mark.substr(0, end);
}

bool is_made_by(std::string_view mark, std::string_view process) {
    const auto begin = mark.find('/');
    const auto end = mark.rfind('/');
    return begin < end && end != std::string_view::npos &&
           mark.substr(begin + 1, end - begin - 1) == process;
}

plan_state state_of(const gang& of, std::string_view mark) {
    const auto uid = first_of(mark);
    if (uid.empty()) return plan_state::none;
    const auto* first = of.find(uid);
    if (!first || mark_of(*first->pod) != mark) return plan_state::over;
    const auto& pod = *first->pod;
    // A pod cannot be gated again, but any writer of pods can write the annotation.
    const bool is_in = was_let_in(pod) && !is_gated(pod);
    if (is_in && first->at != stage::not_gated) return plan_state::begun;
    return first->at == stage::reserved ? plan_state::open : plan_state::over;
}

bool may_change(const gang& of, const model::pod& pod) {
    const auto mark = mark_of(pod);
    return state_of(of, mark) != plan_state::open || first_of(mark) == pod.metadata.uid;
}

nlohmann::json plan_patch(const model::pod& pod, const std::string& node, std::string_view mark) {
    using nlohmann::json;
    const auto or_none = [&](std::string_view text) {
        return node.empty() ? json(nullptr) : json(text);
    };
    return kube::guarded({{"metadata", {{"annotations", {{names::gang_plan, or_none(mark)}}}}},
                          {"status", {{"nominatedNodeName", or_none(node)}}}},
                         pod.metadata.uid, pod.metadata.resource_version);
}

}  // namespace esi::gangs
