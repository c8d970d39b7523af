// The run times of jobs by neighbour on one Testbed.
#pragma once

#include <string>

#include "kubectl-esi/read/session.h"
#include "scheduling/answers/matrix.h"

namespace esi::kubectl {

/// Jobs as rows, their neighbours as columns, "24.1s (3)" in a cell: mean and number of runs. Pure.
std::string matrix_text(const scheduling::answers::matrix& of, const shown::look& as);
/// -o wide: one row for each pair. Pure.
std::string pairs_text(const scheduling::answers::matrix& of, const shown::look& as);

asio::awaitable<result<reply>> matrix(session& in, std::string testbed);

}  // namespace esi::kubectl
