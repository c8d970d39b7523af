// Indexes the Testbeds by what ties a node to them (label, layout, taint), so that a change of a
// node or a pod finds the Testbeds that it concerns without a scan of all. The caches own it and
// update it on each change of a Testbed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "testbed/view/view.h"

namespace esi::testbed {

using roster_keys = std::set<model::object_key>;

class roster {
public:
    using keys = roster_keys;

    /// Replaces the entry of the key; null: the Testbed is gone. `slices`: all that name it.
    void put(const model::object_key& key, testbed_pointer testbed,
             std::span<const grid::slice_pointer> slices = {});
    /// Replaces the slices of the Testbed.
    void put_slices(const model::object_key& key, std::span<const grid::slice_pointer> slices);
    /// Null where there is no such Testbed.
    std::shared_ptr<const testbed_index> index_of(const model::object_key& key) const;
    /// The Testbeds whose label the node carries, whose layout has its name, or whose taint it
    /// carries. `there` may be null: the node does not exist.
    keys of_node(const std::string& name, const model::node* there) const;
    keys with_label(std::string_view label) const;
    bool has_label(std::string_view label) const { return by_label_.contains(label); }
    /// The Testbeds that show a hold of this Scheduling.
    keys held_by(const model::object_key& scheduling) const;

private:
    struct entry {
        testbed_pointer testbed;
        std::shared_ptr<const testbed_index> index;
    };
    void file(const model::object_key& key, const entry& of, bool enter);

    std::map<model::object_key, entry> entries_;
    std::map<std::string, keys, std::less<>> by_label_;
    std::map<std::string, keys, std::less<>> by_member_;
    std::map<std::string, keys, std::less<>> by_uid_;
    std::map<model::object_key, keys> by_holder_;
};

}  // namespace esi::testbed
