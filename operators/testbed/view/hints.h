// What a running process remembers about one Testbed between two looks. Hints only: they space out
// retries, measure gaps and prevent repeated events. Losing them (a restart, another leader) costs
// an immediate retry and a nomination set again, never a wrong decision.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "model/text.h"
#include "testbed/view/standing.h"
#include "testbed/view/trail.h"

namespace esi::testbed {

/// The wait between attempts at ghosts that fail: 1 s doubling to 5 min.
struct ghost_backoff {
    int failures = 0;
    steady_time next{};
    steady_time last{};
    /// Why it failed, for people.
    std::string text;
    /// True: the last failure was that the API server refused to create it; else it was made, and
    /// has ended or is no ghost of the place.
    bool refused = false;

    /// Counts failures within the wait once.
    void failed(steady_time now, std::string why, bool was_refused = false) {
        if (failures > 0 && now < next) return;
        if (now - last > std::chrono::minutes(10)) failures = 0;
        const auto wait = seconds(1) * (1 << std::min(failures, 9));
        next = now + std::min<steady_time::duration>(wait, std::chrono::minutes(5));
        last = now;
        failures += 1;
        text = std::move(why);
        refused = was_refused;
    }
};

/// How far this process has come with letting one pod in.
struct swap_progress {
    /// This process set or showed the present nomination for this attempt.
    bool nominated = false;
    /// A live read, after the nomination, showed it.
    bool read_back = false;
    /// A live read after the ghost was gone showed an empty slot and the room.
    bool saw_room = false;
    /// The room was missing: the attempt starts over when there is room again.
    bool blocked = false;
};

/// The wait before a pod that kube-scheduler seems to have forgotten is woken: 2 s, doubling to 30
/// s.
struct wake_backoff {
    int woken = 0;
    steady_time next{};

    void begin(steady_time now) { next = now + first_wait; }
    void woke(steady_time now) {
        woken += 1;
        next = now + std::min<steady_time::duration>(first_wait * (1 << std::min(woken, 5)),
                                                     longest_wait);
    }

    static constexpr seconds first_wait{2};
    static constexpr seconds longest_wait{30};
};

/// Why a taint is not set, or a pod not let in, though all looks well.
struct refusal {
    /// The step that failed.
    std::string what;
    /// Set if the API server refused it.
    std::optional<errc> code;
    std::string text;
};

/// The last text that was logged about a subject.
struct said {
    std::string text;
    steady_time at{};
    /// The same text is logged again after this time.
    static constexpr std::chrono::minutes pause{10};
};

struct hints {
    std::map<std::string, ghost_backoff> ghosts;  ///< by the ghost's name
    /// By the pod's uid. Shared with the swap under way, during which the pod may go.
    std::map<std::string, std::shared_ptr<swap_progress>> swaps;
    std::map<std::string, steady_time> let_in_since;  ///< by uid: let in, not bound
    std::map<std::string, wake_backoff> unbound;  ///< by uid: committed, its room free, not bound
    std::map<std::string, wall_time> vacated;     ///< by "node/index"
    std::map<std::string, std::string> told;      ///< events: subject -> text
    std::set<std::string> strangers;              ///< "node/index" counted as taken
    std::map<std::string, refusal> refusals;      ///< by a taint's node, by a pod's uid
    std::optional<steady_time> status_written;
    claims::standing claim;  ///< of a claim without places
    /// The Testbed is not held, and not all places of its claim are free.
    struct incompleteness {
        steady_time begin;  ///< since when that is so
        steady_time since;  ///< since when none more has become free
        int free;           ///< how many were at most
    };
    std::optional<incompleteness> incomplete;
    std::string slice_problem;                   ///< why a slice of rows is not written
    ghost_backoff images;                        ///< giving ghosts another image
    std::map<std::string, steady_time> crashed;  ///< by a ghost's uid: seen not running
    std::set<std::string> ending;                ///< by a ghost's uid: not running when last seen
    std::map<std::string, said> logged;          ///< waits and failures: subject -> words
    std::map<std::string, trail>
        left;  ///< by "node/index": the last pod in it, till its ghost is back

    /// Call it when the pod is gone.
    void forget_pod(const std::string& uid) {
        swaps.erase(uid);
        let_in_since.erase(uid);
        unbound.erase(uid);
        refusals.erase(uid);
        crashed.erase(uid);
        ending.erase(uid);
    }

    /// True: this text about the subject is not in the log yet. What every look meets is logged
    /// once for each change.
    bool is_news(const std::string& subject, std::string_view text, steady_time now) {
        auto [entry, first] = logged.try_emplace(subject);
        auto& last = entry->second;
        if (!first && last.text == text && now - last.at < said::pause) return false;
        last = {std::string(text), now};
        return true;
    }

    /// Remembers a refusal; its text goes into the status. The first text of one refusal is kept: a
    /// webhook may choose another each time, and the status would be rewritten without end.
    void meets(const std::string& subject, std::string what, std::optional<errc> code,
               std::string_view text) {
        constexpr std::size_t most_text = 1000;
        auto& entry = refusals[subject];
        if (code && entry.code == code && entry.what == what) return;
        entry = {std::move(what), code, model::cut(text, most_text)};
    }
    /// The refusal's text for people; empty: there is none.
    std::string refusal_of(const std::string& subject) const {
        auto found = refusals.find(subject);
        return found == refusals.end() ? "" : found->second.what + ": " + found->second.text;
    }

    void ghost_failed(const std::string& name, steady_time now, std::string text,
                      bool refused = false) {
        auto& entry = ghosts[name];
        entry.next = {};
        entry.failed(now, std::move(text), refused);
    }

    /// Returns since when no more places of a claim have become free than before; `free` are free
    /// now. Each new free place restarts the wait, as a thousand ghosts take their time; a place
    /// that is lost and regained does not.
    steady_time incomplete_since(int free, steady_time now) {
        if (!incomplete) incomplete = {now, now, free};
        if (free > incomplete->free) {
            incomplete->since = now;
            incomplete->free = free;
        }
        return incomplete->since;
    }

    /// A ghost whose creation was refused at that time or later; null: none.
    const ghost_backoff* refused_since(steady_time at) const {
        const auto found = std::ranges::find_if(ghosts, [&](const auto& each) {
            return each.second.failures > 0 && each.second.refused && each.second.last >= at;
        });
        return found == ghosts.end() ? nullptr : &found->second;
    }
};

/// The key of `vacated` and `strangers`.
inline std::string place_key(const std::string& node, int index) {
    return node + "/" + std::to_string(index);
}

}  // namespace esi::testbed
