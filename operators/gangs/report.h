// Why a gang is in its state, as text for people: Events, GET /debug, messages of conditions.
#pragma once

#include <string>

#include "gangs/memory.h"

namespace esi::gangs {

/// One line: "lab/train (coscheduling): waiting since 2026-11-21T09:34:07Z, 3 groups before it
/// (next lab/big); NoRoom: 7 of 10 members fit; ...".
/// "; 2 groups before it, the next is lab/first": for Events and statuses. The namespace is the
/// tenant: a group of another one is not named.
std::string before_text(const gang& of, const wait_memory& its);

std::string explain(const gang& of, const gang_memory& known);

}  // namespace esi::gangs
