// The last text that the author of each driver was sent, so that texts which change with each pod
// in the cluster do not become an Event each. Lost: the text is sent once more. Pure except for its
// memory; owned by driver_jobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "model/meta.h"

namespace esi::batchjob::drivers {

/// Another text is not sent before this time.
inline constexpr seconds words_pause{10};
/// Another text with the same `about` is not sent before this time: only a count has changed.
inline constexpr seconds counts_pause{300};

class told_words {
public:
    struct answer {
        /// The text is to be sent now, and counts as sent.
        bool now = false;
        /// The text is new and comes too soon: ask again after this time.
        std::optional<steady_time::duration> later;
    };

    /// For the driver `key` with this uid; `about` stays the same if only counts change.
    answer ask(const model::object_key& key, std::string_view uid, std::string_view about,
               std::string_view text, steady_time now);
    void forget(const model::object_key& key) { last_.erase(key); }

private:
    /// Fingerprints, and the time of sending.
    struct word {
        std::uint64_t text = 0;
        std::uint64_t about = 0;
        steady_time at{};
    };
    std::map<model::object_key, word> last_;
};

}  // namespace esi::batchjob::drivers
