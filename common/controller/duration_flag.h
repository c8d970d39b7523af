// Flags that are lengths of time, as kubectl and client-go write them.
#pragma once

#include <string>

#include "base/clock.h"

namespace CLI {
class App;
}

namespace esi::controller {

/// `name` takes "15s", "2m" or "15", at least `least`; also from the environment, as ESI_<NAME>.
void add_duration(CLI::App& app, const std::string& name, seconds& into, const std::string& text,
                  seconds least = seconds(0));

}  // namespace esi::controller
