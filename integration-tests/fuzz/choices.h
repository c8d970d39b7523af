// Turns the bytes of an input into choices, in their order, so that targets which need structured
// values can build them and a seed can be written by hand: each choice takes one byte. Used up, it
// gives the first of everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace esi::fuzz {

class choices {
public:
    explicit choices(std::string_view bytes) : rest_(bytes) {}

    bool empty() const { return rest_.empty(); }
    unsigned byte() {
        if (rest_.empty()) return 0;
        const auto out = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        return out;
    }
    /// 0 to n - 1; n is 1 to 256.
    int upto(int n) { return static_cast<int>(byte()) % n; }
    /// True for one byte in `of`; never when the input is used up.
    bool one_in(int of) { return !rest_.empty() && upto(of) == of - 1; }
    template <class List>
    auto& pick(List& list) {
        return list[static_cast<std::size_t>(upto(static_cast<int>(std::size(list))))];
    }
    std::int64_t number() {
        std::uint64_t out = 0;
        for (int i = 0; i < 8; ++i) out = out << 8 | byte();
        return static_cast<std::int64_t>(out);
    }
    /// At most `most` bytes; its length is a choice of its own.
    std::string text(int most) {
        const auto length = static_cast<std::size_t>(upto(most + 1));
        const auto out = rest_.substr(0, length);
        rest_.remove_prefix(out.size());
        return std::string(out);
    }

private:
    std::string_view rest_;
};

}  // namespace esi::fuzz
