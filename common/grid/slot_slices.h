// The rows of a Testbed that has too many slots for status.slots: one line for each slot, in
// objects of kind TestbedSlotSlice. Which of them may be believed, and how a line is read. Pure.
//
// A line: STATE POD POD_UID RESERVED_FOR, one blank between them; "-": absent, "*": a pod or job of
// another namespace, which is not named. Node and index of the slot follow from the layout.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "model/slot_slice.h"

namespace esi::grid {

/// A Testbed with more slots than this has its rows in slices (condition SlotsListed=False).
inline constexpr int most_listed_slots = 4000;

using slice_pointer = std::shared_ptr<const model::slot_slice>;

/// The content of one line. The texts refer to the line.
struct slot_line {
    std::string_view state;  ///< see model::slot_state
    std::string_view pod;
    std::string_view pod_uid;
    std::string_view reserved_for;

    bool in_error() const { return state == model::slot_state::error; }
    /// The pod that the line has on record for the slot; empty if it names none. The pod of a FREE
    /// slot is its ghost, which is not needed.
    std::string_view record() const;
};
/// Absent texts are empty; "*" stays. Nothing if the text is no line.
std::optional<slot_line> read_slot_line(std::string_view text);
/// The line of a row. A name with a blank, which no object has, is one of another namespace.
std::string slot_line_of(const model::slot_status& row);
/// The row of a line, of the slot at `place`; nothing if the text is no line.
std::optional<model::slot_status> row_of_line(std::string_view text, const slot& place);

/// The name of the slice whose first row is that of position `first`: the Testbed's name (cut),
/// `first`, and ten hexadecimal digits of a hash of the Testbed's uid.
std::string slice_name(const model::object_meta& testbed, int first);

/// The Testbed's rows are in slices: its status lists none, and says so (SlotsListed, InSlices). A
/// testbed operator that does not know slices writes another reason, and slices that an earlier
/// operator has left there are not believed.
bool has_slices(const model::testbed& testbed);
/// The slice is the Testbed's own: in its namespace, by the name that slice_name gives it, with the
/// Testbed as its controller.
bool is_own_slice(const model::slot_slice& slice, const model::testbed& testbed);
/// The Testbed has its rows in slices, and this is one of them: its own, of the present layout,
/// within its positions.
bool is_believed(const model::slot_slice& slice, const model::testbed& testbed);

/// The slices of one Testbed that are believed, found by position.
class slice_list {
public:
    slice_list() = default;
    /// Keeps the believed ones among `candidates`.
    slice_list(const model::testbed& testbed, std::span<const slice_pointer> candidates);

    bool empty() const { return slices_.empty(); }
    const std::vector<slice_pointer>& all() const { return slices_; }
    /// The line of a position; nothing if no slice has it, or none that can be read.
    std::optional<slot_line> at(int position) const { return read_slot_line(text_at(position)); }
    /// The same as the slice has it; empty if none has it.
    std::string_view text_at(int position) const;

private:
    std::vector<slice_pointer> slices_;  ///< by their first position
};

/// Calls `use(position, slot_line)` for each line of the slice that can be read.
template <class Use>
void each_line(const model::slot_slice& slice, Use use) {
    int position = slice.spec.first;
    for (const auto& text : slice.spec.rows) {
        if (const auto line = read_slot_line(text)) use(position, *line);
        ++position;
    }
}

}  // namespace esi::grid
