// Maps a sparkSpec and slots to a SparkApplication. Pure. The contract is the Spark table of the
// user guide: ESI sets what the slots decide (number, size, scheduler, priority, place), all else
// stays the user's. Fields that the Spark operator applies only through its webhook (volumes,
// mounts, tolerations, security contexts, affinity) are put into the pod templates, so that they
// also work without the webhook; volumes, mounts and tolerations are moved, because the webhook
// would append them twice.
#pragma once

#include "batchjob/backends/backend.h"

namespace esi::batchjob::spark {

/// A probe has no slots: what depends on their number or size is not checked.
enum class size_from { slot, probe };

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options, size_from size);

}  // namespace esi::batchjob::spark
