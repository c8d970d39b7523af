// The flags of the HTTP interfaces of esi-scheduling. Plain values; read once, at the start.
#pragma once

#include <string>

#include "http/access.h"
#include "interface/legacy/stomp.h"
#include "interface/v1/access/options.h"
#include "interface/v1/events/options.h"

namespace CLI {
class App;
}

namespace esi::interface {

/// Flags of /api/v1.
struct api_options {
    v1::access_options access;
    v1::quota_options quota;
    v1::events::hub_options events;
    /// This operator has the right to patch nodes: a request can choose the nodes of a Testbed.
    bool nodes = false;
    /// The longest time that a request waits for a change.
    seconds longest_wait{300};

    void add_to(CLI::App& app);
};

struct options {
    /// The peers that may use /external and /scheduler.
    http::local_access access;
    /// The one namespace of the original's interface.
    std::string legacy_namespace = "default";
    legacy::stomp_options stomp;
    api_options api;

    void add_to(CLI::App& app);
};

}  // namespace esi::interface
