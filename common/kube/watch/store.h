// The objects of one kind as the watch last showed them: typed, trimmed, indexed, shared,
// read-only. Only the reflector writes; a process' own writes come back through the watch and are
// never put in by hand (a reconcile begun from old state would overwrite the newer entry).
//
// Kinds with many thousands of objects are kept packed (model/packed.h) and unpacked for each
// caller: of these, two pointers to one object are not the same pointer.
//
// Authors of objects in a namespace decide how much memory they take. With limit() all objects of a
// namespace take at most a share; the content of the largest is left out (model/kept.h), and they
// are marked as objects that ESI cannot read.
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

#include "kube/watch/share.h"
#include "model/kept.h"
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

    /// How much memory the objects of each namespace may take together, in bytes; 0: no limit.
    /// `kind` is for texts. Before the first object arrives.
    void limit(std::size_t bytes, std::string_view kind) {
        shares_ = namespace_shares(bytes, kind);
    }
    const namespace_shares& shares() const { return shares_; }

    /// The objects of a list that is under way. The limit holds for them as for those of the store.
    class list {
    public:
        list() = default;
        explicit list(const namespace_shares& like) : shares_(like.limit(), like.kind()) {}
        void add(kept object) {
            const auto [ns, name] = key_of(object);
            const std::string of(ns);
            shares_.came({of, std::string(name)}, weight_of(object));
            objects_.push_back(std::move(object));
            if (shares_.is_above(of)) keep_share(of);
        }
        void erase(const model::key_view& key) {
            std::erase_if(objects_, [&](const kept& each) {
                if (key_of(each) != key) return false;
                shares_.gone({std::string(key.first), std::string(key.second)}, weight_of(each));
                return true;
            });
        }

    private:
        friend class store;
        void keep_share(const std::string& ns) {
            heaviest_first<kept*> heavy;
            for (auto& each : objects_) {
                if (key_of(each).first == ns) heavy.emplace_back(weight_of(each), &each);
            }
            leave_out(shares_, ns, std::move(heavy), [&](kept* at, kept smaller) {
                const auto [of, name] = key_of(*at);
                const model::object_key key{std::string(of), std::string(name)};
                shares_.changed(key, weight_of(*at), weight_of(smaller));
                *at = std::move(smaller);
                return key;
            });
        }

        namespace_shares shares_;
        std::vector<kept> objects_;
    };
    list new_list() const { return list(shares_); }

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

    /// Called when a list has replaced the objects in that namespace (empty: in all): each change
    /// that it brought was reported, but events of an object between the watch and the list were
    /// not. replacing() is true during these reports.
    void on_list(std::function<void(std::string_view ns)> listener) {
        list_listeners_.push_back(std::move(listener));
    }
    bool replacing() const { return replacing_; }
    /// Called with each version that version() takes: after the change that has it (for a deletion
    /// nothing else shows its version), and after a list.
    void on_version(std::function<void(std::string_view ns, std::string_view version)> listener) {
        version_listeners_.push_back(std::move(listener));
    }

    /// Newest resourceVersion that the watch has shown for this kind in that namespace (objects,
    /// deletions, bookmarks); empty before the first list; none if nothing is watched.
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
    /// Bytes of an object, with its entry among the others.
    static std::size_t weight_of(const kept& object) {
        if constexpr (packable<T>) {
            return model::allocated(object.size()) + model::allocated(sizeof(packed_item) + 32);
        } else {
            return model::allocated(sizeof(T) + 16) + model::held_by(*object) +
                   model::allocated(sizeof(item) + 32) +
                   model::held_by(object->metadata.namespace_) +
                   model::held_by(object->metadata.name);
        }
    }
    /// The same object without its content, marked as unreadable.
    static kept without_content(const kept& object, const namespace_shares& shares) {
        T out = *show(object);
        auto why = shares.left_out_text(model::largest_member(out), weight_of(object));
        model::leave_out_content(out);
        if (out.metadata.undecodable.empty()) out.metadata.undecodable = std::move(why);
        return keep(std::move(out));
    }
    static model::key_view key_of(const kept& object) {
        if constexpr (packable<T>) {
            return object.key();
        } else {
            return {object->metadata.namespace_, object->metadata.name};
        }
    }
    /// For a packed kind, a version that differs in nothing that is kept is no change: listeners
    /// are not called.
    void apply(T object) {
        const auto object_ns = object.metadata.namespace_;
        if (apply_left_out(object)) return;
        if constexpr (packable<T>) {
            auto bytes = model::pack(object);
            const auto known = find_item(bytes);
            if (known != items_.end() && known->bytes == bytes) return;
            put(known, std::move(bytes), std::make_shared<const T>(std::move(object)));
        } else {
            auto made = std::make_shared<const T>(std::move(object));
            put(find_item(made), made, made);
        }
        keep_share(object_ns);
    }
    void erase(const model::object_key& key) {
        const auto at = find_item(key);
        if (at == items_.end()) return;
        const auto before = show(kept_in(*at));
        refile(*at, before.get(), nullptr);
        shares_.gone(key, weight_of(kept_in(*at)));
        items_.erase(at);
        tell({before, nullptr});
    }
    /// The first list of a namespace (empty: of all), or a relist: what is not in `objects` was
    /// deleted meanwhile.
    void replace(std::vector<kept> objects, std::string_view ns = {}) {
        replace(std::move(objects), ns, {});
    }
    void replace(list of, std::string_view ns) {
        replace(std::move(of.objects_), ns, of.shares_.all_left_out());
    }
    void replace(std::vector<T> objects, std::string_view ns = {}) {
        std::vector<kept> all;
        all.reserve(objects.size());
        for (auto& object : objects) all.push_back(keep(std::move(object)));
        replace(std::move(all), ns);
    }

private:
    using weights = std::map<model::object_key, std::size_t>;
    /// `left_out`: the objects whose content the list has left out, and their sizes with it.
    void replace(std::vector<kept> objects, std::string_view ns, const weights& left_out) {
        replacing_ = true;
        for (const auto& key : absent_from(objects, ns)) erase(key);
        for (auto& object : objects) {
            const auto known = find_item(object);
            if (known != items_.end() && is_same(kept_in(*known), object) &&
                is_left_out_in(left_out, object) ==
                    is_left_out_in(shares_.all_left_out(), object)) {
                continue;
            }
            auto shown = show(object);
            put(known, std::move(object), std::move(shown));
        }
        for (const auto& [key, weight] : left_out) {
            // It came again, with its content, while the list was under way.
            const auto at = find(key);
            if (at && !at->metadata.undecodable.empty()) shares_.left_out(key, weight);
        }
        for (const auto& full : shares_.above()) keep_share(full);
        shares_.listed(ns);
        replacing_ = false;
        for (const auto& listener : list_listeners_) listener(ns);
    }
    static bool is_left_out_in(const weights& these, const kept& object) {
        if (these.empty()) return false;
        const auto [ns, name] = key_of(object);
        return these.contains({std::string(ns), std::string(name)});
    }
    /// A new version of an object whose content was left out gets it again only if there is room:
    /// an operator's write to such an object comes back as its next version. False: there is room,
    /// or nothing was left out of it.
    bool apply_left_out(const T& object) {
        if (shares_.all_left_out().empty()) return false;
        const auto key = object.metadata.key();
        if (!shares_.all_left_out().contains(key)) return false;
        const auto whole = keep(object);
        const auto weight = weight_of(whole);
        if (!shares_.stays_left_out(key, weight)) return false;
        auto smaller = without_content(whole, shares_);
        if (weight_of(smaller) + namespace_shares::least_gain > weight) return false;
        const auto known = find_item(key);
        if (known == items_.end() || !is_same(kept_in(*known), smaller)) {
            auto shown = show(smaller);
            put(known, std::move(smaller), std::move(shown));
        }
        shares_.left_out(key, weight);
        return true;
    }

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
    /// One version may exist with and without its content.
    static bool is_same(const kept& known, const kept& object) {
        if constexpr (packable<T>) {
            return known == object;
        } else {
            return known->metadata.resource_version == object->metadata.resource_version &&
                   known->metadata.undecodable == object->metadata.undecodable;
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
        const auto weight = weight_of(object);
        if (known == items_.end()) {
            shares_.came(after->metadata.key(), weight);
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
        shares_.changed(before->metadata.key(), weight_of(kept_in(*known)), weight);
        if constexpr (packable<T>) {
            known->bytes = std::move(object);
        } else {
            items_.find(known->first)->second = std::move(object);
        }
        refile(*known, before.get(), after.get());
        tell({std::move(before), std::move(after)});
    }

    template <class At>
    using heaviest_first = std::vector<std::pair<std::size_t, At>>;
    /// Leaves out the content of the heaviest objects of a namespace that takes more than its
    /// share. `put_in` puts the smaller one in the place of the other, and gives its key.
    template <class At, class PutIn>
    static void leave_out(namespace_shares& shares, std::string_view ns, heaviest_first<At> heavy,
                          PutIn put_in) {
        std::ranges::sort(heavy, std::greater<>(), [](const auto& each) { return each.first; });
        for (const auto& [weight, at] : heavy) {
            if (shares.is_within_goal(ns)) break;
            auto smaller = without_content(kept_at(at), shares);
            if (weight_of(smaller) + namespace_shares::least_gain > weight) continue;
            shares.left_out(put_in(at, std::move(smaller)), weight);
        }
        shares.looked_at(ns);
    }
    static const kept& kept_at(const kept* at) { return *at; }
    static const kept& kept_at(const item* at)
        requires(!std::same_as<kept, item>)
    {
        return kept_in(*at);
    }
    void keep_share(std::string_view ns) {
        if (!shares_.is_above(ns)) return;
        heaviest_first<const item*> heavy;
        for (const auto& each : items_) {
            if (key_of(kept_in(each)).first != ns) continue;
            heavy.emplace_back(weight_of(kept_in(each)), &each);
        }
        leave_out(shares_, ns, std::move(heavy), [&](const item* at, kept smaller) {
            auto shown = show(smaller);
            auto key = shown->metadata.key();
            put(find_item(kept_in(*at)), std::move(smaller), std::move(shown));
            return key;
        });
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
    namespace_shares shares_;
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
