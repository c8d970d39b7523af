// The command line: its commands and flags. One tree for parsing, --help and completion.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kubectl-esi/commands/explain.h"
#include "kubectl-esi/commands/nodes.h"
#include "kubectl-esi/commands/runs.h"
#include "kubectl-esi/commands/schedule.h"
#include "kubectl-esi/commands/steer.h"
#include "kubectl-esi/read/session.h"
#include "kubectl-esi/shown/flags.h"
#include "kubectl-esi/watching.h"

namespace esi::kubectl {

/// The objects that completion offers for an argument.
enum class named { nothing, testbeds, jobs, schedulings, pods, nodes, files, contexts, namespaces };

/// The kind of a positional argument, or of the value of a flag: "top TESTBED".
struct argument_kind {
    std::string command;  ///< "explain job"; empty: every command
    std::string name;     ///< "--context", or the positional's name
    named kind;
};
const std::vector<argument_kind>& argument_kinds();

/// The values of all flags, and the command that they choose. Must not be moved after add_to() was
/// called.
struct command_line {
    general_flags general;
    std::string name;
    std::vector<std::string> names;
    std::vector<std::string> jobs;
    bool all = false;
    bool finished = false;
    bool release_running = false;
    bool client_only = false;
    bool no_wait = false;
    explain_options explain;
    schedule_options schedule;
    release_options release;
    nodes_options nodes;
    export_form format = export_form::csv;
    std::string shell;
    std::vector<std::string> words;  ///< words after __complete

    /// The chosen command; null: it needs no API server.
    command run;
    /// The kinds that --watch watches; empty: the command cannot be watched.
    std::function<std::vector<watched>(const session&)> kinds;

    void add_to(CLI::App& app);
};

}  // namespace esi::kubectl
