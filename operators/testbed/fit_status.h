// Makes the status of a Testbed small enough to be stored. Fields that other operators decide by
// always stay: layout, rows, nodes out of use, and the reasons of conditions. Only texts grow by
// foreign input: they name pods, and quote why something is refused. Pure.
#pragma once

#include "model/testbed.h"

namespace esi::testbed {

/// A controller::fit_function. Shortened in this order: texts, the problems of nodes (the first
/// nodes keep theirs), all of these.
model::testbed_status fit_status(model::testbed_status wanted, std::size_t room);

}  // namespace esi::testbed
