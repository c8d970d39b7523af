// Lines of slices of rows. Oracles: a line has four words with one blank between them, the first of
// which is a state; the row of a line is written as that line; what is written reads as the row.
#include <algorithm>
#include <sstream>
#include <vector>

#include "grid/slot_slices.h"
#include "target.h"

namespace esi::fuzz {
namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out{""};
    for (const char c : text) {
        if (c == ' ') {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

bool is_line(std::string_view text) {
    const auto words = words_of(text);
    const std::string_view states[] = {"FREE", "RESERVED", "OCCUPIED", "ERROR"};
    return words.size() == 4 && std::ranges::find(states, words[0]) != std::end(states) &&
           std::ranges::none_of(words, &std::string::empty);
}

void slot_lines(std::string_view input) {
    const grid::slot place{3, "node", 7, 1};
    const auto line = grid::read_slot_line(input);
    const auto row = grid::row_of_line(input, place);
    require(line.has_value() == is_line(input), "a line or none: {}", input);
    require(row.has_value() == line.has_value(), "a row without a line: {}", input);
    if (!row) return;
    const auto words = words_of(input);
    require(line->state == words[0], "state {} of {}", line->state, input);
    require(line->pod_uid == (words[2] == "-" ? "" : words[2]), "uid {}", line->pod_uid);
    require(row->position == 3 && row->node_name == "node" && row->slot_position_on_node == 1,
            "another place");
    const auto written = grid::slot_line_of(*row);
    require(is_line(written), "no line is written: {}", written);
    const auto again = grid::row_of_line(written, place);
    require(again.has_value(), "what is written is not read: {}", written);
    // A tab or an end of a line is in no name, and is written as what is not named.
    if (input.find_first_of("\t\r\n") != std::string_view::npos) return;
    require(again == row && written == input, "{} becomes {}", input, written);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(slot_lines, esi::fuzz::slot_lines)
