// The pods that wait for kube-scheduler, and the nominations it knows: which pod is tried next,
// when one that was rejected is worth another attempt, and for whom room on a node is kept. Follows
// pkg/scheduler/backend/queue of 1.36. Owned by the scheduler; sends nothing, forgets all with it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "neighbours/kube/scheduler_fit.h"

namespace esi::simulation {

enum class cluster_event {
    pod_gone,  ///< a bound pod, or a nomination
    node_added,
    node_room,  ///< allocatable
    node_labels,
    node_taints,  ///< also cordoned
    own_tolerations,
    other,
};

class scheduling_queue {
public:
    static constexpr std::int64_t any_priority = std::numeric_limits<std::int64_t>::max();

    explicit scheduling_queue(std::function<steady_time()> now) : now_(std::move(now)) {}

    /// A pod that the scheduler sees for the first time. Of a gated one the nomination is not
    /// taken.
    void add(const pod_pointer& pod);
    /// Takes the nomination of the new state, also of a gated pod, but not of one that is being
    /// tried.
    void update(const pod_facts& before, const pod_pointer& after);
    void remove(std::string_view uid);
    /// Something happened that may help those of at most this priority; `deaf`: uids of pods that
    /// miss it.
    void move(cluster_event what, std::int64_t most_priority = any_priority,
              const std::set<std::string, std::less<>>& deaf = {});

    /// A pod could be tried now.
    bool ready() const;
    /// The next to be tried: highest priority, then the longest wait; of those in back-off only
    /// when no other pod waits (SchedulerPopFromBackoffQ). Null: no pod can be tried.
    pod_pointer pop();
    /// What was popped needs no other attempt.
    void done(std::string_view uid) { remove_entry(uid); }
    /// What was popped comes back, in its newest state. `by` is empty after an error.
    void failed(const pod_pointer& newest, std::set<rejector> by);
    /// Its preemption has been decided and not begun: whatever happens, it is not tried, and events
    /// that would have moved it are lost (IsPodRunningPreemption before the last victim is named).
    void preempting_somebody(std::string_view uid);
    /// While the pod's victims are being deleted it is not tried.
    void preempting(std::string_view uid, std::string_view last_victim);
    /// No pod waits for the end of this one any more (IsPodRunningPreemption asks the cache, not
    /// the request).
    void victim_gone(std::string_view uid);
    /// To be tried at once, whatever rejected it.
    void activate(std::string_view uid);

    /// When flush() has something to do.
    std::optional<steady_time> next_due() const;
    /// Ends back-offs, and the wait of those that were not tried for five minutes.
    void flush();

    /// Empty node: the pod is nominated no more.
    void nominate(std::string_view uid, std::string_view node);
    /// Uids of the pods nominated to the node.
    std::vector<std::string> nominated_to(std::string_view node) const;

private:
    enum class place { active, backoff, errors, rejected, gated, in_flight };
    struct missed_event {
        cluster_event what;
        std::int64_t most_priority;
    };
    struct entry {
        pod_pointer pod;
        place where = place::gated;
        steady_time since{};
        std::uint64_t order = 0;
        int rejections = 0;
        int errors = 0;
        /// The last pod that is being preempted for it; empty: none.
        std::string victim;
        std::set<rejector> by;
        std::vector<missed_event> missed;
    };

    static bool worth(const entry& one, const missed_event& what);
    static steady_time backoff_end(const entry& one);
    void activate(entry& one);
    void after_backoff(entry& one);
    void remove_entry(std::string_view uid);

    std::function<steady_time()> now_;
    std::map<std::string, entry, std::less<>> entries_;
    std::map<std::string, std::string, std::less<>> nominations_;
    std::uint64_t added_ = 0;
};

}  // namespace esi::simulation
