// The objects of one kind as the watch last told them: typed, trimmed, indexed, shared, read-only.
// Only the reflector writes; a process' own writes come back through the watch and are never put
// in by hand (a reconcile begun from old state would overwrite the newer entry).
//
// Kinds of which there are many thousands are kept packed (model/packed.h) and made anew for each
// who asks: of these, two pointers to one object are not the same pointer.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/meta.h"
#include "model/packed.h"

namespace esi::kube {

template <class T>
struct change {
    std::shared_ptr<const T> before;  ///< null: added
    std::shared_ptr<const T> after;   ///< null: deleted (before may be stale)
};

/// A kind that a store keeps packed.
template <class T>
concept packable = requires(const T& object) {
    { model::pack(object) } -> std::same_as<model::packed>;
};

/// T has a member `metadata` (model::object_meta). Not thread safe. Listeners are called in the
/// order of their registration, after the store shows the change, and must only note keys.
template <class T>
class store {
public:
    using pointer = std::shared_ptr<const T>;
    using index_function = std::function<std::vector<std::string>(const T&)>;
    /// An object as it is kept.
    using kept = std::conditional_t<packable<T>, model::packed, pointer>;

    /// Null when absent.
    pointer find(const model::object_key& key) const {
        const auto found = find_item(key);
        return found == items_.end() ? nullptr : show(kept_in(*found));
    }
    /// In key order.
    const std::map<model::object_key, pointer>& all() const
        requires(!packable<T>)
    {
        return items_;
    }
    /// Calls `use` with each object in key order, one at a time; it must not change the store.
    template <class Use>
    void each(Use use) const {
        for (const auto& one : items_) use(show(kept_in(one)));
    }
    std::size_t size() const { return items_.size(); }

    /// Must be called before the first object arrives.
    void add_index(std::string name, index_function keys) {
        indexes_.push_back({std::move(name), std::move(keys), {}});
    }
    /// Objects that the index `name` files under `value`, in key order.
    std::vector<pointer> by_index(std::string_view name, std::string_view value) const {
        std::vector<pointer> out;
        each_by_index(name, value, [&](pointer object) { out.push_back(std::move(object)); });
        return out;
    }
    /// Calls `use` with each of these objects, one at a time; it must not change the store.
    template <class Use>
    void each_by_index(std::string_view name, std::string_view value, Use use) const {
        for (const auto& entry : indexes_) {
            if (entry.name != name) continue;
            const auto found = entry.filed.find(value);
            if (found == entry.filed.end()) continue;
            for (const auto* filed : found->second) use(show(kept_in(*filed)));
        }
    }

    void on_change(std::function<void(const change<T>&)> listener) {
        listeners_.push_back(std::move(listener));
    }

    /// Called when a list has taken the place of what was there, in that namespace (empty: in all):
    /// the changes that it brought were told one by one, but what happened to an object between the
    /// watch and the list was not. replacing() is true while they are told.
    void on_list(std::function<void(std::string_view ns)> listener) {
        list_listeners_.push_back(std::move(listener));
    }
    bool replacing() const { return replacing_; }
    /// Called with each version that version() takes: behind the change that has it, which of a
    /// deletion nothing else tells, and behind a list.
    void on_version(std::function<void(std::string_view ns, std::string_view version)> listener) {
        version_listeners_.push_back(std::move(listener));
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
        auto& known = versions_[ns];
        known = std::move(version);
        for (const auto& listener : version_listeners_) listener(ns, known);
    }
    void mark_synced() { synced_ = true; }
    static kept keep(T object) {
        if constexpr (packable<T>) {
            return model::pack(object);
        } else {
            return std::make_shared<const T>(std::move(object));
        }
    }
    static model::key_view key_of(const kept& object) {
        if constexpr (packable<T>) {
            return object.key();
        } else {
            return {object->metadata.namespace_, object->metadata.name};
        }
    }
    /// Of a kind that is kept packed, a version that differs in nothing that is kept is no change:
    /// nobody is told.
    void apply(T object) {
        if constexpr (packable<T>) {
            auto bytes = model::pack(object);
            const auto known = find_item(bytes);
            if (known != items_.end() && known->bytes == bytes) return;
            put(known, std::move(bytes), std::make_shared<const T>(std::move(object)));
        } else {
            auto made = std::make_shared<const T>(std::move(object));
            put(find_item(made), made, made);
        }
    }
    void erase(const model::object_key& key) {
        const auto at = find_item(key);
        if (at == items_.end()) return;
        const auto before = show(kept_in(*at));
        refile(*at, before.get(), nullptr);
        items_.erase(at);
        tell({before, nullptr});
    }
    /// The first list of a namespace (empty: of all), or a relist: what is not in `objects` was
    /// deleted meanwhile.
    void replace(std::vector<kept> objects, std::string_view ns = {}) {
        replacing_ = true;
        for (const auto& key : absent_from(objects, ns)) erase(key);
        for (auto& object : objects) {
            const auto known = find_item(object);
            if (known != items_.end() && is_same(kept_in(*known), object)) continue;
            auto shown = show(object);
            put(known, std::move(object), std::move(shown));
        }
        replacing_ = false;
        for (const auto& listener : list_listeners_) listener(ns);
    }
    void replace(std::vector<T> objects, std::string_view ns = {}) {
        std::vector<kept> all;
        all.reserve(objects.size());
        for (auto& object : objects) all.push_back(keep(std::move(object)));
        replace(std::move(all), ns);
    }

private:
    /// Bytes that stay where they are while others with the same key take their place.
    struct packed_item {
        mutable model::packed bytes;
    };
    struct by_key {
        using is_transparent = void;
        static model::key_view of(const packed_item& item) { return item.bytes.key(); }
        static const model::key_view& of(const model::key_view& key) { return key; }
        bool operator()(const auto& a, const auto& b) const { return of(a) < of(b); }
    };
    using container = std::conditional_t<packable<T>, std::set<packed_item, by_key>,
                                         std::map<model::object_key, pointer>>;
    using item = typename container::value_type;
    /// In key order. An item stays where it is as long as it is filed.
    using group = std::vector<const item*>;
    struct index {
        std::string name;
        index_function keys;
        std::map<std::string, group, std::less<>> filed;
    };

    static const kept& kept_in(const item& of) {
        if constexpr (packable<T>) {
            return of.bytes;
        } else {
            return of.second;
        }
    }
    static pointer show(const kept& object) {
        if constexpr (packable<T>) {
            auto out = std::make_shared<T>();
            model::unpack(object, *out);
            return out;
        } else {
            return object;
        }
    }
    static bool is_same(const kept& known, const kept& object) {
        if constexpr (packable<T>) {
            return known == object;
        } else {
            return known->metadata.resource_version == object->metadata.resource_version;
        }
    }
    typename container::const_iterator find_item(const model::object_key& key) const {
        if constexpr (packable<T>) {
            return items_.find(model::key_view(key.namespace_, key.name));
        } else {
            return items_.find(key);
        }
    }
    typename container::const_iterator find_item(const kept& object) const {
        if constexpr (packable<T>) {
            return items_.find(object.key());
        } else {
            return items_.find(object->metadata.key());
        }
    }

    std::vector<model::object_key> absent_from(const std::vector<kept>& objects,
                                               std::string_view ns) const {
        std::vector<const kept*> present;
        present.reserve(objects.size());
        for (const auto& object : objects) present.push_back(&object);
        const auto of = [](const kept* object) { return key_of(*object); };
        std::ranges::sort(present, {}, of);
        std::vector<model::object_key> out;
        for (const auto& each : items_) {
            const auto key = key_of(kept_in(each));
            if (!ns.empty() && key.first != ns) continue;
            if (!std::ranges::binary_search(present, key, {}, of)) {
                out.push_back({std::string(key.first), std::string(key.second)});
            }
        }
        return out;
    }

    /// `known`: where the key is, or the end.
    void put(typename container::const_iterator known, kept object, pointer after) {
        if (known == items_.end()) {
            const item* added = nullptr;
            if constexpr (packable<T>) {
                added = &*items_.insert(packed_item{std::move(object)}).first;
            } else {
                added = &*items_.emplace(after->metadata.key(), std::move(object)).first;
            }
            refile(*added, nullptr, after.get());
            return tell({nullptr, std::move(after)});
        }
        auto before = show(kept_in(*known));
        if constexpr (packable<T>) {
            known->bytes = std::move(object);
        } else {
            items_.find(known->first)->second = std::move(object);
        }
        refile(*known, before.get(), after.get());
        tell({std::move(before), std::move(after)});
    }

    static bool is_before(const item* a, const item* b) {
        return key_of(kept_in(*a)) < key_of(kept_in(*b));
    }
    /// Takes the item out of the groups that only `before` belongs to, into those that only `after`
    /// does. Null: belongs to none.
    void refile(const item& what, const T* before, const T* after) {
        for (auto& entry : indexes_) {
            auto was = before ? entry.keys(*before) : std::vector<std::string>();
            auto is = after ? entry.keys(*after) : std::vector<std::string>();
            if (was == is) continue;
            for (const auto& value : was) {
                if (std::ranges::find(is, value) == is.end()) take_out(entry, value, what);
            }
            for (auto& value : is) {
                if (std::ranges::find(was, value) == was.end()) put_in(entry, value, what);
            }
        }
    }
    static void put_in(index& to, std::string& value, const item& what) {
        auto& in = to.filed[std::move(value)];
        // A list comes in key order.
        const auto at = in.empty() || is_before(in.back(), &what)
                            ? in.end()
                            : std::ranges::lower_bound(in, &what, is_before);
        if (at == in.end() || *at != &what) in.insert(at, &what);
    }
    static void take_out(index& from, const std::string& value, const item& what) {
        const auto found = from.filed.find(value);
        if (found == from.filed.end()) return;
        auto& in = found->second;
        const auto at = std::ranges::lower_bound(in, &what, is_before);
        if (at != in.end() && *at == &what) in.erase(at);
        if (in.empty()) from.filed.erase(found);
    }
    void tell(const change<T>& what) {
        for (const auto& listener : listeners_) listener(what);
    }

    container items_;
    std::vector<index> indexes_;
    std::vector<std::function<void(const change<T>&)>> listeners_;
    std::vector<std::function<void(std::string_view)>> list_listeners_;
    std::vector<std::function<void(std::string_view, std::string_view)>> version_listeners_;
    bool replacing_ = false;
    /// By what each watch covers.
    std::map<std::string, std::string, std::less<>> versions_;
    bool synced_ = false;
};

}  // namespace esi::kube
