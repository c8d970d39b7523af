// What gangs use of the planner (common/placement), by its names.
#pragma once

#include "placement/fit.h"

namespace esi::gangs {

using grid::node_pointer;
using grid::pod_pointer;
using placement::chosen_nodes;
using placement::claim_fact;
using placement::cluster_room;
using placement::demand;
using placement::facts;
using placement::fit;
using placement::fit_options;
using placement::fit_result;
using placement::fits_ever;
using placement::gang_shape;
using placement::namespace_labels;
using placement::needs;
using placement::needs_of;
using placement::no_fit;
using placement::no_fit_reason;
using placement::node_ledger;
using placement::packing;
using placement::wide;

}  // namespace esi::gangs
