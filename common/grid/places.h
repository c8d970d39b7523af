// Slots found by position and by node, without a walk over all of them. Pure; made once for each
// layout by an operator that keeps it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"

namespace esi::grid {

/// The places of a layout's slots, found by position and by node: made once for each layout, so
/// that none of these questions walks over all slots. A layout beyond the bounds has no slots.
class places {
public:
    places() = default;
    explicit places(const model::testbed_layout& layout);
    places(const places&) = delete;
    places& operator=(const places&) = delete;
    places(places&&) = default;
    places& operator=(places&&) = default;

    int count() const {
        return claimed_.empty() ? static_cast<int>(nodes_.size()) * slots_per_node_
                                : static_cast<int>(claimed_.size());
    }
    /// Nothing if there is no such position.
    std::optional<slot> at(int position) const;
    /// The node of a position; null if there is no such position.
    const model::layout_node* node_of(int position) const;
    /// The slots of one node in position order.
    std::vector<slot> on(std::string_view node) const;
    /// If several entries of the layout have one name, the last of them counts. Nothing if the node
    /// has no slot of this index.
    std::optional<int> position_of(std::string_view node, int index) const;
    /// Null if the layout does not name the node; the first of several entries for one name.
    const model::layout_node* member(std::string_view node) const;
    /// By name.
    const std::map<std::string, const model::layout_node*, std::less<>>& members() const {
        return members_;
    }

private:
    std::vector<model::layout_node> all_;
    /// In the order of their ids; empty for a layout beyond the bounds.
    std::vector<const model::layout_node*> nodes_;
    std::map<std::string, const model::layout_node*, std::less<>> members_;
    /// Places in nodes_, by name.
    std::map<std::string, std::vector<int>, std::less<>> ranks_;
    int slots_per_node_ = 0;
    /// For a claim: by position, the place in nodes_ and the index on the node.
    struct claimed {
        int rank = 0;
        int index = 0;
    };
    std::vector<claimed> claimed_;
    /// For a claim: by place in nodes_, its positions.
    std::vector<std::vector<int>> positions_;
};

/// The nodes as positions count them: by id, then by name.
std::vector<const model::layout_node*> nodes_in_order(const std::vector<model::layout_node>& nodes);

/// All slots of a layout in position order.
std::vector<slot> slots_of(const model::testbed_layout& layout);

/// The slots at these positions, in their order, for one question about a layout that is not kept;
/// positions that it does not have are left out.
std::vector<slot> slots_at(const model::testbed_layout& layout, std::span<const int> positions);

/// `pods`: ghosts and job pods of the Testbed; see members_of. A pod without a run token is no job
/// pod, whatever else it carries.
std::vector<slot_view> look(const model::testbed_layout& layout, std::span<const pod_pointer> pods);
/// The same of some slots of a layout.
std::vector<slot_view> look(std::vector<slot> slots, std::span<const pod_pointer> pods);

}  // namespace esi::grid
