#include "grid/slot_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "model/conditions.h"
#include "model/names.h"

namespace esi::grid {

namespace slot_state = model::slot_state;

namespace {

constexpr std::string_view absent = "-";
constexpr std::string_view elsewhere = "*";
/// So that a name, with its other parts, fits into the length of an object's name.
constexpr std::size_t longest_testbed_name = 200;

/// One field of a line.
std::string field(std::string_view text) {
    if (text.empty()) return std::string(absent);
    if (text.find_first_of(" \t\r\n") != std::string_view::npos) return std::string(elsewhere);
    return std::string(text);
}

std::string_view value(std::string_view text) { return text == absent ? std::string_view() : text; }

std::string name_in(std::string_view text) {
    return std::string(text == elsewhere ? foreign_pod : text);
}

}  // namespace

std::string_view slot_line::record() const {
    return state == slot_state::free ? std::string_view() : pod_uid;
}

std::optional<slot_line> read_slot_line(std::string_view text) {
    std::array<std::string_view, 4> fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto end = text.find(' ');
        const bool last = i + 1 == fields.size();
        if (last != (end == std::string_view::npos)) return std::nullopt;
        fields[i] = text.substr(0, end);
        if (fields[i].empty()) return std::nullopt;
        if (!last) text.remove_prefix(end + 1);
    }
    slot_line out;
    for (const auto state :
         {slot_state::free, slot_state::reserved, slot_state::occupied, slot_state::error}) {
        if (fields[0] == state) out.state = state;
    }
    if (out.state.empty()) return std::nullopt;
    out.pod = value(fields[1]);
    out.pod_uid = value(fields[2]);
    out.reserved_for = value(fields[3]);
    return out;
}

std::string slot_line_of(const model::slot_status& row) {
    return fmt::format("{} {} {} {}", row.state, field(row.pod_name), field(row.pod_u_id),
                       field(row.reserved_for.value_or("")));
}

std::optional<model::slot_status> row_of_line(std::string_view text, const slot& place) {
    const auto line = read_slot_line(text);
    if (!line) return std::nullopt;
    model::slot_status out;
    out.position = place.position;
    out.state = line->state;
    out.node_name = place.node;
    out.node_id = place.node_id;
    out.slot_position_on_node = place.index;
    out.pod_name = name_in(line->pod);
    out.pod_u_id = line->pod_uid;
    if (!line->reserved_for.empty()) out.reserved_for = name_in(line->reserved_for);
    return out;
}

std::string slice_name(const model::object_meta& testbed, int first) {
    auto name = testbed.name.substr(0, longest_testbed_name);
    while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
    return fmt::format("{}-{}-{:010x}", name, first, fnv1a(testbed.uid) >> 24);
}

bool has_slices(const model::testbed& testbed) {
    const auto& status = testbed.status;
    if (!status.slots.empty() || !status.layout) return false;
    const auto* listed =
        model::find_condition(status.conditions, model::condition_type::slots_listed);
    return listed && listed->reason == model::condition_reason::in_slices;
}

bool is_own_slice(const model::slot_slice& slice, const model::testbed& testbed) {
    const auto& meta = slice.metadata;
    const auto& of = testbed.metadata;
    if (of.uid.empty() || slice.spec.testbed.uid != of.uid || slice.testbed() != of.key()) {
        return false;
    }
    const auto* owner = meta.controller_owner();
    return owner && owner->uid == of.uid && meta.name == slice_name(of, slice.spec.first);
}

bool is_believed(const model::slot_slice& slice, const model::testbed& testbed) {
    const auto& spec = slice.spec;
    if (!has_slices(testbed) || spec.layout_revision != testbed.status.layout->revision) {
        return false;
    }
    const auto rows = std::ssize(spec.rows);
    const auto total = count_of_slots(*testbed.status.layout);
    return spec.first >= 0 && rows <= model::most_slice_rows && spec.first <= total - rows &&
           is_own_slice(slice, testbed);
}

slice_list::slice_list(const model::testbed& testbed, std::span<const slice_pointer> candidates) {
    for (const auto& each : candidates) {
        if (each && is_believed(*each, testbed)) slices_.push_back(each);
    }
    std::ranges::sort(slices_, {}, [](const auto& each) { return each->spec.first; });
}

std::string_view slice_list::text_at(int position) const {
    const auto next = std::ranges::upper_bound(slices_, position, {},
                                               [](const auto& each) { return each->spec.first; });
    if (next == slices_.begin()) return {};
    const auto& spec = (*std::prev(next))->spec;
    const auto row = static_cast<std::size_t>(position - spec.first);
    return row < spec.rows.size() ? std::string_view(spec.rows[row]) : std::string_view();
}

}  // namespace esi::grid
