// A watch cut anywhere gives the lines of the whole. Oracle: the text split at its line ends.
#include <algorithm>
#include <vector>

#include "kube/watch/line_splitter.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using lines = std::vector<std::string>;

lines split(std::string_view text, std::size_t& longest) {
    lines out;
    longest = 0;
    for (;;) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        longest = std::max(longest, line.size());
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) out.emplace_back(line);
    }
}

/// What comes out of pieces of these sizes, the last one again and again.
struct outcome {
    lines out;
    bool refused = false;
};
outcome feed(std::string_view text, std::vector<std::size_t> sizes, std::size_t limit,
             bool take_between) {
    outcome got;
    kube::line_splitter splitter(limit);
    const auto take = [&] {
        while (auto line = splitter.next()) got.out.emplace_back(*line);
    };
    for (std::size_t i = 0; !text.empty(); ++i) {
        const auto piece = text.substr(0, sizes[std::min(i, sizes.size() - 1)]);
        text.remove_prefix(piece.size());
        if (auto fed = splitter.feed(piece); !fed) {
            require(fed.error().code == errc::decode, "refused as {}", to_string(fed.error().code));
            got.refused = true;
            return got;
        }
        if (take_between) take();
    }
    take();
    return got;
}

void watch_lines(std::string_view text) {
    if (text.empty()) return;
    // The first byte is the limit of the last check.
    const auto limit = static_cast<std::size_t>(static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
    std::size_t longest = 0;
    const auto expected = split(text, longest);
    const auto all = text.size() + 1;
    const auto check = [&](const std::vector<std::size_t>& sizes, bool between) {
        auto got = feed(text, sizes, 16u << 20, between);
        require(!got.refused && got.out == expected, "other lines with pieces of {}",
                fmt::join(sizes, ","));
    };
    check({all}, true);
    check({1}, true);
    check({3}, true);
    for (std::size_t cut = 1; cut < std::min<std::size_t>(text.size(), 200); ++cut) {
        check({cut, all}, true);
        check({cut, 1, all}, true);
        check({cut}, false);
    }
    for (std::size_t size : {std::size_t{1}, std::size_t{7}, all}) {
        const auto got = feed(text, {size}, limit, true);
        require(!got.refused || longest > limit, "refused, with no line above {}", limit);
        require(got.refused || got.out == expected, "limit {} changes the lines", limit);
        require(got.out.size() <= expected.size() &&
                    std::equal(got.out.begin(), got.out.end(), expected.begin()),
                "lines before a refusal are others");
        if (size == 1) require(got.refused == (longest > limit), "limit {} is not kept", limit);
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(watch_lines, esi::fuzz::watch_lines)
