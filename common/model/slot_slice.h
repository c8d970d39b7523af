// TestbedSlotSlice: a part of the rows of a Testbed that has too many slots for status.slots.
// Written by the testbed operator alone; which ones may be believed: grid/slot_slices.h. Contract:
// crds/testbedslotslice.yaml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/meta.h"

namespace esi::model {

/// Bound of the CRD: rows of one slice.
inline constexpr int most_slice_rows = 500;

/// The Testbed of a slice; it is in the namespace of the slice.
struct slice_testbed {
    std::string name;
    std::string uid;
    bool operator==(const slice_testbed&) const = default;
};
BOOST_DESCRIBE_STRUCT(slice_testbed, (), (name, uid))

struct slot_slice_spec {
    slice_testbed testbed;
    /// Revision of the layout to which the positions refer.
    std::int64_t layout_revision = 0;
    /// Position of the first row, from 0; the others follow without a gap.
    int first = 0;
    /// How many rows there are, for kubectl get.
    int count = 0;
    /// One line for each slot (grid::slot_line).
    std::vector<std::string> rows;
    bool operator==(const slot_slice_spec&) const = default;
};
BOOST_DESCRIBE_STRUCT(slot_slice_spec, (), (testbed, layout_revision, first, count, rows))

struct slot_slice {
    object_meta metadata;
    slot_slice_spec spec;

    /// The Testbed that it names as its own.
    object_key testbed() const { return {metadata.namespace_, spec.testbed.name}; }
};
BOOST_DESCRIBE_STRUCT(slot_slice, (), (metadata, spec))

}  // namespace esi::model
