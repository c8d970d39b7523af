// Reports the problems of an installation, and the command that mends each.
#pragma once

#include <string>
#include <vector>

#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl::doctor {

/// One line for each check, followed by the remedy of each finding. Pure.
std::string report_text(const std::vector<finding>& found, const shown::look& as);

/// The exit code is 1 if there is an error or a warning.
asio::awaitable<result<reply>> examine(session& in);

}  // namespace esi::kubectl::doctor
