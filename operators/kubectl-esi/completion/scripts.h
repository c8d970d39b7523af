// Scripts that shells read: they ask `kubectl-esi __complete` and show what it answers.
#pragma once

#include <string>
#include <vector>

namespace esi::kubectl::completion {

/// bash, zsh, fish, and kubectl: the program kubectl_complete-esi, which kubectl itself asks.
const std::vector<std::string>& shells();
std::string script_for(const std::string& shell);

}  // namespace esi::kubectl::completion
