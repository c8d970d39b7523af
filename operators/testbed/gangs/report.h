// Why a gang stands where it stands, as text for people: Events, GET /debug, messages of
// conditions.
#pragma once

#include <string>

#include "testbed/gangs/memory.h"

namespace esi::testbed::gangs {

/// One line: "lab/train (coscheduling): waiting since 2026-11-21T09:34:07Z, 3 groups before it
/// (next lab/big); NoRoom: 7 of 10 members fit; ...".
std::string explain(const gang& of, const gang_memory& known);

}  // namespace esi::testbed::gangs
