// Whether slots can hold the pods of one job, by what its spec asks for. Pure; what the pods ask
// for is worked out once. Refers to what it was made of.
#pragma once

#include <optional>

#include "batchjob/backends/backend.h"

namespace esi::batchjob {

class fitting {
public:
    /// `by_slot`: see model::job_sizing.
    fitting(const backend& kind, const model::raw_json& spec, bool by_slot)
        : kind_(kind), spec_(spec), by_slot_(by_slot) {}

    /// Why a worker cannot be in this slot, with both numbers; nothing if it can.
    std::optional<spec_problem> worker(const model::resource_list& slot);
    /// The same for the coordinator and its place.
    std::optional<spec_problem> coordinator(const model::resource_list& place);

private:
    std::optional<spec_problem> larger_than(const model::resource_list& slot, pod_role role,
                                            std::string_view pod,
                                            std::optional<model::amounts>& least) const;

    const backend& kind_;
    const model::raw_json& spec_;
    bool by_slot_;
    std::optional<model::amounts> worker_;
    std::optional<model::amounts> coordinator_;
};

}  // namespace esi::batchjob
