// A rate limit: a mean rate per second, and a burst after a pause.
// No I/O and no clock of its own; memory is bounded.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "interface/v1/access/bounded_cache.h"

namespace esi::interface::v1 {

struct rate {
    double per_second = 1;
    double burst = 1;  ///< at least 1
};

/// By the time at which the next one would be due at the even rate (GCRA).
class token_bucket {
public:
    /// Takes one and returns nothing, or tells how long to wait for one.
    std::optional<steady_time::duration> take(const rate& of, steady_time now) {
        const auto interval = length(1.0 / of.per_second);
        const auto ahead = length((of.burst - 1.0) / of.per_second);
        const auto due = std::max(due_, now);
        if (due - now > ahead) return due - now - ahead;
        due_ = due + interval;
        return std::nullopt;
    }

private:
    static steady_time::duration length(double in_seconds) {
        return std::chrono::duration_cast<steady_time::duration>(
            std::chrono::duration<double>(in_seconds));
    }
    steady_time due_{};
};

/// A bucket for each key. When there are more keys than room, the least recently used one starts
/// again with a full bucket.
class bucket_table {
public:
    explicit bucket_table(rate of, std::size_t most = 4096) : rate_(of), buckets_(most) {}

    std::optional<steady_time::duration> take(std::string_view key, steady_time now) {
        auto* bucket = buckets_.find(key, now);
        if (bucket == nullptr) {
            bucket = buckets_.put(std::string(key), token_bucket(), steady_time::max());
        }
        return bucket == nullptr ? std::nullopt : bucket->take(rate_, now);
    }
    std::size_t size() const { return buckets_.size(); }

private:
    rate rate_;
    bounded_cache<token_bucket> buckets_;
};

}  // namespace esi::interface::v1
