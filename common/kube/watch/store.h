// The objects of one kind as the watch last told them: typed, trimmed, indexed, shared, read-only.
// Only the reflector writes; a process' own writes come back through the watch and are never put
// in by hand (a reconcile begun from old state would overwrite the newer entry).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/meta.h"

namespace esi::kube {

template <class T>
struct change {
    std::shared_ptr<const T> before;  ///< null: added
    std::shared_ptr<const T> after;   ///< null: deleted (before may be stale)
};

/// T has a member `metadata` (model::object_meta). Not thread safe. Listeners are called in the
/// order of their registration, after the store shows the change, and must only note keys.
template <class T>
class store {
public:
    using pointer = std::shared_ptr<const T>;
    using index_function = std::function<std::vector<std::string>(const T&)>;

    /// Null when absent.
    pointer find(const model::object_key& key) const {
        auto found = items_.find(key);
        return found == items_.end() ? nullptr : found->second;
    }
    /// In key order.
    const std::map<model::object_key, pointer>& all() const { return items_; }
    std::size_t size() const { return items_.size(); }

    /// Must be called before the first object arrives.
    void add_index(std::string name, index_function keys) {
        indexes_.push_back({std::move(name), std::move(keys), {}});
    }
    /// Objects that the index `name` files under `value`, in key order.
    std::vector<pointer> by_index(std::string_view name, std::string_view value) const {
        std::vector<pointer> out;
        for (const auto& entry : indexes_) {
            if (entry.name != name) continue;
            auto found = entry.filed.find(value);
            if (found == entry.filed.end()) continue;
            out.reserve(out.size() + found->second.size());
            for (const auto& [key, item] : found->second) out.push_back(item);
        }
        return out;
    }

    void on_change(std::function<void(const change<T>&)> listener) {
        listeners_.push_back(std::move(listener));
    }

    /// Newest resourceVersion that the watch has shown for this kind in that namespace (objects,
    /// deletions, bookmarks); empty before the first list; none where nothing is watched.
    std::optional<std::string> version(std::string_view ns) const {
        auto found = versions_.find(std::string_view());
        if (found == versions_.end()) found = versions_.find(ns);
        if (found == versions_.end()) return std::nullopt;
        return found->second;
    }
    /// The first list is complete.
    bool synced() const { return synced_; }

    // For the informer.
    /// `ns`: what the watch covers; empty: all namespaces.
    void set_version(std::string version, const std::string& ns) {
        versions_[ns] = std::move(version);
    }
    void mark_synced() { synced_ = true; }
    void apply(T object) {
        auto key = object.metadata.key();
        auto after = std::make_shared<const T>(std::move(object));
        pointer before;
        auto [at, added] = items_.try_emplace(key, after);
        if (!added) {
            before = at->second;
            unfile(key, *before);
            at->second = after;
        }
        file(at->first, after);
        tell({before, after});
    }
    void erase(const model::object_key& key) {
        auto at = items_.find(key);
        if (at == items_.end()) return;
        auto before = at->second;
        unfile(key, *before);
        items_.erase(at);
        tell({before, nullptr});
    }
    /// The first list of a namespace (empty: of all), or a relist: what is not in `objects` was
    /// deleted meanwhile.
    void replace(std::vector<T> objects, std::string_view ns = {}) {
        std::set<model::object_key> present;
        for (const auto& object : objects) present.insert(object.metadata.key());
        std::vector<model::object_key> absent;
        for (const auto& [key, unused] : items_) {
            if (!ns.empty() && key.namespace_ != ns) continue;
            if (!present.contains(key)) absent.push_back(key);
        }
        for (const auto& key : absent) erase(key);
        for (auto& object : objects) {
            auto known = find(object.metadata.key());
            if (known && known->metadata.resource_version == object.metadata.resource_version)
                continue;
            apply(std::move(object));
        }
    }

private:
    struct by_key {
        bool operator()(const model::object_key* a, const model::object_key* b) const {
            return *a < *b;
        }
    };
    using group = std::map<const model::object_key*, pointer, by_key>;
    struct index {
        std::string name;
        index_function keys;
        std::map<std::string, group, std::less<>> filed;
    };

    /// `key` is the one in items_, which stays where it is as long as the object is filed.
    void file(const model::object_key& key, const pointer& object) {
        for (auto& entry : indexes_) {
            for (auto& value : entry.keys(*object))
                entry.filed[value].insert_or_assign(&key, object);
        }
    }
    void unfile(const model::object_key& key, const T& object) {
        for (auto& entry : indexes_) {
            for (auto& value : entry.keys(object)) {
                auto at = entry.filed.find(value);
                if (at == entry.filed.end()) continue;
                at->second.erase(&key);
                if (at->second.empty()) entry.filed.erase(at);
            }
        }
    }
    void tell(const change<T>& what) {
        for (const auto& listener : listeners_) listener(what);
    }

    std::map<model::object_key, pointer> items_;
    std::vector<index> indexes_;
    std::vector<std::function<void(const change<T>&)>> listeners_;
    /// By what each watch covers.
    std::map<std::string, std::string, std::less<>> versions_;
    bool synced_ = false;
};

}  // namespace esi::kube
