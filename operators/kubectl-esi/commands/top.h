// The slot map: the nodes of each Testbed as rows, its slots as cells.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grid/slot_slices.h"
#include "kubectl-esi/read/session.h"
#include "model/batchjob.h"
#include "model/testbed.h"

namespace esi::kubectl {

struct shown_slot {
    model::slot_status row;
    /// The BatchJob whose pod or order has the slot; a pod of another namespace is not named.
    std::string job;
};

/// One Testbed with its slots.
struct slot_map {
    std::shared_ptr<const model::testbed> testbed;
    std::vector<shown_slot> slots;  ///< by position
};

/// Built from the rows of the Testbed's status or slices, and from the visible jobs: a pod belongs
/// to the job whose placements have its uid. Pure.
slot_map map_of(std::shared_ptr<const model::testbed> testbed,
                std::span<const grid::slice_pointer> slices,
                std::span<const std::shared_ptr<const model::batchjob>> jobs);

/// One line about each Testbed, followed by its nodes. Pure.
std::string map_text(const std::vector<slot_map>& of, const shown::look& as);
/// -o wide: one line for each slot. Pure.
std::string slot_rows_text(const std::vector<slot_map>& of, const shown::look& as);

/// `name`: one Testbed; empty: all Testbeds of the namespace.
asio::awaitable<result<reply>> top(session& in, std::string name);

}  // namespace esi::kubectl
