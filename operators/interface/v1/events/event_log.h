// The changes that are kept in memory, from which all streams read: each is encoded once, whatever
// the number of streams. No I/O.
//
// A stream has no queue of its own. It has a place in this log, and its memory does not grow when
// its client reads slowly: when the log has dropped what the client has not read, the stream
// restarts with a snapshot. So one bound covers all clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interface/v1/events/ids.h"
#include "model/meta.h"

namespace esi::interface::v1::events {

enum class action { added, modified, deleted };
/// "ADDED", "MODIFIED", "DELETED"
std::string_view word_of(action what);

struct change {
    std::size_t feed = 0;
    version at = 0;
    action what = action::added;
    std::string ns;  ///< of the object
    model::string_map labels;
    /// Labels of the object before; nothing if unknown.
    std::optional<model::string_map> labels_before;
    /// What a client knows after it: for a live change the positions of all feeds, for a change
    /// that was read afterwards that of its own feed alone (0 for the others).
    positions heard;
    /// event_log::appended() including it; 0 if it was read afterwards.
    std::uint64_t appended = 0;
    /// See frames.h.
    std::string text;

    std::size_t bytes() const;
};
using shared_change = std::shared_ptr<const change>;

class event_log {
public:
    /// Bounds of all changes together. The newest one stays, however large it is.
    event_log(std::size_t feeds, std::size_t most_bytes, std::size_t most_changes);

    /// All changes of the feed above this version are here.
    version floor(std::size_t feed) const { return floors_[feed]; }
    /// The version up to which the feed is known.
    version position(std::size_t feed) const { return positions_[feed]; }
    const positions& heard() const { return positions_; }

    /// The numbers of the changes in the log: [first, end).
    std::int64_t first() const { return first_; }
    std::int64_t end() const { return first_ + static_cast<std::int64_t>(changes_.size()); }
    /// Null: it was dropped.
    const shared_change& at(std::int64_t number) const {
        return changes_[static_cast<std::size_t>(number - first_)];
    }
    std::size_t bytes() const { return bytes_; }
    std::size_t size() const { return changes_.size(); }
    /// Counts all changes ever appended, to tell how many lie between two moments.
    std::uint64_t appended() const { return appended_; }

    /// The feed is known up to `at`, without a change.
    void advance(std::size_t feed, version at);
    /// The next change of its feed; fills in `heard` and `appended`.
    void append(change what);
    /// Changes of one feed in (`from`, floor], in their order; further ones are left out. False:
    /// they do not fit, or the floor is not where they end.
    bool prepend(std::size_t feed, version from, std::vector<change> older);
    /// Drops the feed's changes: it begins at `at` (after a list).
    void restart(std::size_t feed, version at);
    /// Drops all changes, not the positions.
    void clear();

private:
    void drop_front();
    void trim();

    std::size_t most_bytes_;
    std::size_t most_changes_;
    positions floors_;
    positions positions_;
    std::deque<shared_change> changes_;
    std::int64_t first_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t appended_ = 0;
};

}  // namespace esi::interface::v1::events
