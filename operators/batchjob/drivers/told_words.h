// What the author of each driver was told last, so that words which change with each pod in the
// cluster do not become an Event each. Lost: they are told once more. Pure but for its memory;
// owned by driver_jobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "model/meta.h"

namespace esi::batchjob::drivers {

/// Other words are not told before that.
inline constexpr seconds words_pause{10};
/// Other words about the same are not told before that: a count has changed.
inline constexpr seconds counts_pause{300};

class told_words {
public:
    struct answer {
        /// They are to be told now, and count as told.
        bool now = false;
        /// They are new and come too soon: ask again after that time.
        std::optional<steady_time::duration> later;
    };

    /// Of the driver `key` with this uid; `about` stays the same where only counts change.
    answer ask(const model::object_key& key, std::string_view uid, std::string_view about,
               std::string_view text, steady_time now);
    void forget(const model::object_key& key) { last_.erase(key); }

private:
    /// Fingerprints, and when.
    struct word {
        std::uint64_t text = 0;
        std::uint64_t about = 0;
        steady_time at{};
    };
    std::map<model::object_key, word> last_;
};

}  // namespace esi::batchjob::drivers
