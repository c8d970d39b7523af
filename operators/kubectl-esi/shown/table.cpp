#include "kubectl-esi/shown/table.h"

#include <algorithm>
#include <string_view>

#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::shown {

namespace {

constexpr std::size_t gap = 3;

/// Counts code points: names of Kubernetes are ASCII, messages need not be.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view code_of(tint colour) {
    switch (colour) {
        case tint::plain:
            return {};
        case tint::good:
            return "\x1b[32m";
        case tint::busy:
            return "\x1b[36m";
        case tint::wait:
            return "\x1b[33m";
        case tint::bad:
            return "\x1b[31m";
        case tint::dim:
            return "\x1b[2m";
    }
    return {};
}

void add_cell(std::string& line, const std::string& text, tint colour, const look& as) {
    const auto code = as.colours ? code_of(colour) : std::string_view();
    line += code;
    line += text;
    if (!code.empty()) line += "\x1b[0m";
}

}  // namespace

std::string table::text(const look& as) const {
    std::vector<std::vector<cell>> lines;
    if (as.headings) {
        lines.emplace_back(headings_.begin(), headings_.end());
    }
    for (const auto& row : rows_) {
        auto& line = lines.emplace_back();
        for (const auto& each : row) line.emplace_back(printable(each.text), each.colour);
    }
    std::vector<std::size_t> widths(headings_.size(), 0);
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i].text));
        }
    }
    std::string out;
    for (const auto& line : lines) {
        // A line ends with the last cell that has a text.
        auto used = line.size();
        while (used > 0 && line[used - 1].text.empty()) --used;
        out.append(static_cast<std::size_t>(as.indent), ' ');
        for (std::size_t i = 0; i < used; ++i) {
            add_cell(out, line[i].text, line[i].colour, as);
            if (i + 1 < used) out.append(widths[i] - width_of(line[i].text) + gap, ' ');
        }
        out += '\n';
    }
    return out;
}

void facts::add(std::string heading, std::string text) {
    lines_.emplace_back(std::move(heading) + ":", printable(text));
}

std::string facts::text() const {
    std::size_t width = 0;
    for (const auto& [heading, text] : lines_) width = std::max(width, heading.size());
    std::string out;
    for (const auto& [heading, text] : lines_) {
        out += heading;
        out.append(width - heading.size() + gap, ' ');
        out += text + "\n";
    }
    return out;
}

}  // namespace esi::kubectl::shown
