// What doctor reports about claims: Testbeds with spec.claim, and Schedulings that have one. Pure.
#pragma once

#include <vector>

#include "kubectl-esi/doctor/checks.h"

namespace esi::kubectl::doctor {

/// Why the claim has no places, if a person has to do something, or if it waits for room for long.
void look_at_claim(const facts& at, const model::testbed& testbed, std::vector<finding>& found);

/// For a Scheduling with the reason ClaimRefused. Nothing if the Testbed of its claim exists, which
/// look_at_claim() reports.
void look_at_refused_claim(const facts& at, const model::scheduling& plan,
                           std::vector<finding>& found);

}  // namespace esi::kubectl::doctor
