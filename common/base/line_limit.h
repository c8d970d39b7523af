// Log lines that others can cause at any rate: a limited number in a period, then only their count.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace esi::log {

class line_limit {
public:
    /// At most `most` lines in each `period`.
    line_limit(int most, steady_time::duration period) : most_(most), period_(period) {}

    /// How many were left out since the last line that was written; nothing: leave this one out.
    std::optional<std::uint64_t> take(steady_time now) {
        if (!begun_ || now - *begun_ >= period_) {
            begun_ = now;
            written_ = 0;
        }
        if (written_ == most_) {
            ++left_out_;
            return std::nullopt;
        }
        ++written_;
        const auto out = left_out_;
        left_out_ = 0;
        return out;
    }

private:
    int most_;
    steady_time::duration period_;
    std::optional<steady_time> begun_;
    int written_ = 0;
    std::uint64_t left_out_ = 0;
};

}  // namespace esi::log
