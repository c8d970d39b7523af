// What is wrong with an installation, and the command that mends it.
#pragma once

#include <string>
#include <vector>

#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl::doctor {

/// A line for each check, and then what mends each finding. Pure.
std::string report_text(const std::vector<finding>& found, const shown::look& as);

/// Ends with 1 where something is wrong.
asio::awaitable<result<reply>> examine(session& in);

}  // namespace esi::kubectl::doctor
