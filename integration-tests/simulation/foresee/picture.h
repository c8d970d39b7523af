// The objects of the model API server as a client with its own watch has them, and the answers that
// it computes from them: as `kubectl esi` does, without an operator. Kept up change by change.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduling/answers/explanation.h"
#include "scheduling/answers/preview.h"
#include "scheduling/answers/snapshot.h"
#include "server/storage.h"

namespace esi::simulation::foresee {

namespace answers = scheduling::answers;
using model::object_key;
using self_pointer = std::shared_ptr<const model::scheduling>;

/// The blocker is about slots, which are taken once a plan has all that it acquires; any other
/// keeps the whole plan from starting, though it is named with one job.
bool is_about_slots(std::string_view reason);

class picture {
public:
    picture(const storage& objects, bool cross_namespace_jobs);

    /// False: of a kind that no answer reads.
    bool follow(const change& what);

    const answers::snapshot& all() const { return all_; }
    /// Null where there is none.
    self_pointer scheduling(const object_key& key) const;
    std::shared_ptr<const model::batchjob> job(const object_key& key) const;
    std::shared_ptr<const model::testbed> testbed(const object_key& key) const;
    grid::pod_pointer pod(const object_key& key) const;
    const std::map<object_key, grid::pod_pointer>& pods() const { return pods_; }
    answers::preview preview_of(self_pointer self, wall_time now) const;
    answers::explanation explain(self_pointer self, wall_time now) const;

private:
    void take_pods();

    answers::snapshot all_;
    std::map<object_key, grid::pod_pointer> pods_;
    std::map<object_key, grid::slice_pointer> slices_;
    /// Pods that a job has, whatever Testbed they are for.
    std::vector<grid::pod_pointer> of_jobs_;
};

}  // namespace esi::simulation::foresee
