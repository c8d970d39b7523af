// Scripts for shells: they call `kubectl-esi __complete` and show its answer.
#pragma once

#include <string>
#include <vector>

namespace esi::kubectl::completion {

/// bash, zsh, fish, and kubectl: the program kubectl_complete-esi, which kubectl itself calls.
const std::vector<std::string>& shells();
std::string script_for(const std::string& shell);

}  // namespace esi::kubectl::completion
