// The flags that every command takes. They are kubectl's own, with kubectl's meaning.
#pragma once

#include <string>

#include "base/clock.h"

namespace esi::kubectl {

enum class form { table, wide, json, yaml };

struct general_flags {
    std::string kubeconfig;
    std::string context;
    std::string ns;  ///< empty: that of the kubeconfig's context
    bool all_namespaces = false;
    form output = form::table;
    bool no_headers = false;
    bool watch = false;
    seconds request_timeout{30};
    /// The namespace of the operators and their Leases.
    std::string operators_namespace = "esi-system";
    /// esi-scheduling runs with --cross-namespace-jobs.
    bool cross_namespace_jobs = false;
};

/// The exit codes of the process.
namespace exit_code {
inline constexpr int ok = 0;
/// The request failed, or the object does not exist; for doctor: it has a finding.
inline constexpr int failed = 1;
inline constexpr int usage = 2;
/// With --exit-code: the plan starts nothing now.
inline constexpr int starts_nothing = 3;
/// 128 + SIGINT, like a program that was ended by the signal.
inline constexpr int interrupted = 130;
}  // namespace exit_code

}  // namespace esi::kubectl
