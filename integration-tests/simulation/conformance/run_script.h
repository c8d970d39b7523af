// Runs a script against one API server and gives the answers in a form in which two servers can be
// compared. Owns the open watches of the script. The namespace must be there.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/clock.h"
#include "conformance/script.h"
#include "kube/transport.h"

namespace esi::simulation {

struct conformance_options {
    /// Of the run; the script may use a second one, NAMESPACE-2.
    std::string ns;
    /// The folder that paths of documents begin in.
    std::string root;
    /// How long an event may take to come.
    steady_time::duration patience = std::chrono::seconds(10);
    /// Makes a server forget its history, where that can be asked.
    std::function<void()> compact = [] {};
};

/// A list with one element per answer. Throws std::runtime_error when a step cannot be done at all
/// (a value that is not known, no answer).
asio::awaitable<json> run_script(const script& what, kube::transport& wire, clock& time,
                                 const conformance_options& options);

}  // namespace esi::simulation
