// The knowledge of one reconcile of a Scheduling beyond the caches, in three parts: objects that
// are newer than in the caches, proofs (live reads since the last write), and refusals of the API
// server. Owned by the reconcile and dropped with it: the next one begins from the caches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "grid/grid.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::scheduling {

template <class T>
using objects = std::map<model::object_key, std::shared_ptr<const T>>;

/// After this many refusals in one reconcile no further job is sent to the API server.
inline constexpr std::size_t most_refused = 10;

/// Answers to own writes and live reads. A null pointer means that the object is known to be gone.
struct newer_objects {
    std::shared_ptr<const model::scheduling> self;
    objects<model::testbed> testbeds;
    objects<model::batchjob> jobs;
};

/// A write of this reconcile.
enum class write {
    finalizers,    ///< of the Scheduling
    report,        ///< of its status, which is no step of the protocol
    commit,        ///< of its status: a step of the protocol
    release_step,  ///< of its status, while a release is under way
    hold,          ///< the Testbed's
    remove_hold,   ///< the Testbed's
    acquire,       ///< a BatchJob
    change_job,    ///< an order to start it, or its reset
    release_job,   ///< the right to it is removed
    claim,         ///< the Testbed of the Scheduling's own claim: made, steered or deleted
};

/// The pods of some jobs in slots of the Testbed.
struct pods_of_jobs {
    std::set<model::object_key> jobs;
    std::vector<grid::pod_pointer> pods;
};

/// Live reads since the last write: the view's content for these objects was on the server after
/// everything that was decided before.
struct proofs {
    /// When the API server showed the Testbed: by a read, or by the answer to our hold, which is
    /// the Testbed as it is at that resourceVersion.
    std::optional<steady_time> testbed;
    std::set<model::object_key> jobs;
    std::optional<pods_of_jobs> pods;
    /// All jobs of the release, the Testbed and the jobs' pods were read live.
    bool release = false;
    /// The pods of that read.
    std::optional<std::vector<grid::pod_pointer>> pods_of_release;

    /// A write is sent, whatever its result: it may take effect at any moment from now on. A
    /// release is proved by objects read after it has begun, so a hold (runs may begin under it), a
    /// commit (it begins runs, or the release) and each job that is released invalidate that proof.
    /// An order to start follows a commit; all other writes create no pod.
    void before(write what) {
        if (what != write::hold && what != write::commit && what != write::release_job) return;
        release = false;
        pods_of_release.reset();
    }
    /// A write was accepted at `now`. Its effects may outdate earlier reads. A Testbed that was
    /// shown stays proved while jobs are acquired: the testbed operator does nothing for that
    /// write, and the assignment that needs the proof comes right after the last of them.
    void after_success(write what, steady_time now) {
        jobs.clear();
        pods.reset();
        if (what == write::hold) {
            testbed = now;
        } else if (what != write::acquire) {
            testbed.reset();
        }
    }
    /// Before each decision: an old read proves nothing. A read is only as old as its way back, but
    /// acquiring many jobs, or a slow API server, takes time.
    void expire(steady_time now) {
        if (testbed && now - *testbed > testbed_counts_for) testbed.reset();
    }
    static constexpr seconds testbed_counts_for{2};
};

struct refusals {
    /// Jobs whose changes the API server refuses, each with the kind of the refusal. The reconcile
    /// continues with the others.
    std::map<model::object_key, std::string> jobs;
    /// The API server refuses to delete the Scheduling when it is due.
    bool deletion = false;
    /// The API server refuses a write of the Testbed of the Scheduling's claim: the kind of the
    /// refusal.
    std::string claim;
    /// The API server refuses the hold, which was requested concurrently with a job.
    bool hold = false;
};

struct live_facts {
    newer_objects newer;
    proofs proven;
    refusals refused;
};

}  // namespace esi::scheduling
