// Tables as kubectl prints them: headings in capitals, three blanks between columns, no lines.
// Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace esi::kubectl::shown {

/// How a table is printed.
struct look {
    bool headings = true;
    bool colours = false;
    int indent = 0;
};

enum class tint { plain, good, busy, wait, bad, dim };

struct cell {
    cell(std::string of, tint in = tint::plain) : text(std::move(of)), colour(in) {}
    cell(const char* of, tint in = tint::plain) : text(of), colour(in) {}
    std::string text;
    tint colour;
};

class table {
public:
    explicit table(std::vector<std::string> headings) : headings_(std::move(headings)) {}
    /// `row` must have as many cells as there are headings.
    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    std::size_t size() const { return rows_.size(); }
    /// Each line ends with a line break. The content of a cell cannot end its line.
    std::string text(const look& as) const;

private:
    std::vector<std::string> headings_;
    std::vector<std::vector<cell>> rows_;
};

/// "Name:      queue": pairs of a heading and a text, as `kubectl describe` prints them.
class facts {
public:
    void add(std::string heading, std::string text);
    std::string text() const;

private:
    std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace esi::kubectl::shown
