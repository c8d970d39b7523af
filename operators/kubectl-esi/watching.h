// --watch: repeats the answer of a command after each change. Ends with the process.
#pragma once

#include <string>
#include <vector>

#include "kube/resource.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl {

struct watched {
    kube::resource_type type;
    std::string ns;  ///< empty: all namespaces
    std::string label_selector = {};
};

/// Prints the answer of `make` now, and again whenever one of `kinds` changes, at most once a
/// second. On a terminal the screen is redrawn, also every ten seconds for the ages; elsewhere an
/// answer is appended if it differs from the one before. Returns at the first answer that is an
/// error; a later error is printed, and the next answer is awaited.
asio::awaitable<result<reply>> watch(session& in, std::vector<watched> kinds, command make);

/// Writes to stdout and stderr.
void print(const reply& what);

}  // namespace esi::kubectl
