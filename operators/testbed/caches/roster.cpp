#include "testbed/caches/roster.h"

#include "model/names.h"

namespace esi::testbed {

namespace {

template <class Map, class Key>
void file_under(Map& into, const Key& value, const model::object_key& key, bool enter) {
    if (enter) {
        into[value].insert(key);
        return;
    }
    const auto found = into.find(value);
    if (found == into.end()) return;
    found->second.erase(key);
    if (found->second.empty()) into.erase(found);
}

template <class Map, class Key>
roster::keys under(const Map& in, const Key& value) {
    const auto found = in.find(value);
    return found == in.end() ? roster::keys() : found->second;
}

}  // namespace

void roster::file(const model::object_key& key, const entry& of, bool enter) {
    file_under(by_label_, of.testbed->spec.node_label, key, enter);
    file_under(by_uid_, of.testbed->metadata.uid, key, enter);
    file_under(by_holder_, of.testbed->holder(), key, enter);
}

void roster::put(const model::object_key& key, testbed_pointer testbed,
                 std::span<const grid::slice_pointer> slices) {
    const auto found = entries_.find(key);
    entry before;
    if (found != entries_.end()) {
        before = found->second;
        file(key, before, false);
    }
    entry after;
    if (testbed) {
        after.index = index_testbed(*testbed, slices, before.testbed.get(), before.index.get());
        after.testbed = std::move(testbed);
        file(key, after, true);
    }
    // The layout is long and seldom changes.
    const auto* was = before.index ? before.index->places.get() : nullptr;
    const auto* is = after.index ? after.index->places.get() : nullptr;
    if (was != is) {
        if (was) {
            for (const auto& [name, member] : was->members()) {
                file_under(by_member_, name, key, false);
            }
        }
        if (is) {
            for (const auto& [name, member] : is->members()) {
                file_under(by_member_, name, key, true);
            }
        }
    }
    if (after.testbed) {
        entries_.insert_or_assign(key, std::move(after));
    } else {
        entries_.erase(key);
    }
}

void roster::put_slices(const model::object_key& key, std::span<const grid::slice_pointer> slices) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    auto& of = found->second;
    of.index = index_testbed(*of.testbed, slices, of.testbed.get(), of.index.get());
}

std::shared_ptr<const testbed_index> roster::index_of(const model::object_key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.index;
}

roster::keys roster::of_node(const std::string& name, const model::node* there) const {
    auto out = under(by_member_, name);
    if (!there) return out;
    for (const auto& [label, value] : there->metadata.labels) out.merge(with_label(label));
    for (const auto& taint : there->taints) {
        if (taint.key == model::names::taint) out.merge(under(by_uid_, taint.value));
    }
    return out;
}

roster::keys roster::with_label(std::string_view label) const { return under(by_label_, label); }

roster::keys roster::held_by(const model::object_key& scheduling) const {
    return under(by_holder_, scheduling);
}

}  // namespace esi::testbed
