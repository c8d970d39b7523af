// The environment of a command: the API server, with the user's own rights, and the flags. Owned by
// the program; lives for one command.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client.h"
#include "kubectl-esi/shown/flags.h"
#include "kubectl-esi/shown/table.h"

namespace esi::kubectl {

struct session {
    asio::any_io_executor executor;
    clock& time;
    kube::client& api;
    const kube::cluster_access& access;
    const general_flags& flags;
    /// stdout is a terminal.
    bool terminal = false;
    /// Tables may be coloured: it is a terminal, and NO_COLOR is not set.
    bool colours = false;

    /// The namespace of objects that are named without one.
    std::string own_namespace() const { return flags.ns.empty() ? access.ns : flags.ns; }
    /// The namespace of lists; empty: all namespaces.
    std::string listed_namespace() const {
        return flags.all_namespaces ? std::string() : own_namespace();
    }
    bool wide() const { return flags.output == form::wide; }
    /// True: tables are wanted, not objects.
    bool tables() const { return flags.output == form::table || flags.output == form::wide; }
    shown::look look() const { return {!flags.no_headers, colours, 0}; }
    wall_time now() const { return time.wall(); }
};

/// The answer of a command.
struct reply {
    std::string out;   ///< for stdout
    std::string note;  ///< for stderr: what the reader has to know in addition
    int code = exit_code::ok;
};

using command = std::function<asio::awaitable<result<reply>>(session&)>;

}  // namespace esi::kubectl
