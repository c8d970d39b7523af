// The memory that the objects of one kind take in a process, by namespace, and the objects whose
// content was left out of a cache for it. Authors of objects in a namespace decide how much is
// stored there, so a namespace that stores more than its share loses content of its own objects,
// the heaviest first, and no other namespace does. I/O-free; owned by a store.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/meta.h"

namespace esi::kube {

/// Bytes that the objects of one kind in one namespace may take of one operator's memory.
inline constexpr std::size_t default_share = std::size_t{32} << 20;

class namespace_shares {
public:
    /// An object that is smaller by less than this without its content keeps it.
    static constexpr std::size_t least_gain = 1024;

    /// `limit`: bytes; 0: none. `kind`: the objects' kind, for texts; outlives this.
    explicit namespace_shares(std::size_t limit = 0, std::string_view kind = {})
        : limit_(limit), kind_(kind) {}
    std::size_t limit() const { return limit_; }
    std::string_view kind() const { return kind_; }

    void came(const model::object_key& key, std::size_t weight);
    /// The object has another version, with its content again if that was left out.
    void changed(const model::object_key& key, std::size_t before, std::size_t after);
    void gone(const model::object_key& key, std::size_t weight);
    /// It was changed to a version without its content; `weight`: its size with the content.
    void left_out(const model::object_key& key, std::size_t weight);

    /// Its content was left out, and a new version of it that takes `weight` has no room for it
    /// either.
    bool stays_left_out(const model::object_key& key, std::size_t weight) const;

    /// Content should be left out: the namespace takes more than the limit, and, if the last look
    /// found nothing more to leave out, clearly more than then.
    bool is_above(std::string_view ns) const;
    /// So far below the limit that the next change does not exceed it at once.
    bool is_within_goal(std::string_view ns) const;
    void looked_at(std::string_view ns);
    /// The namespaces of which is_above() holds.
    std::vector<std::string> above() const;

    /// A list has just shown all objects of that namespace (empty: of all) with their content.
    void listed(std::string_view ns);
    /// Left-out content of some object of that namespace (empty: of any) would fit in.
    bool has_room_again(std::string_view ns = {}) const {
        return ns.empty() ? !roomy_.empty() : roomy_.contains(ns);
    }

    std::size_t bytes() const;
    /// The bytes of the namespace that takes most.
    std::size_t largest() const;
    /// Objects whose content is left out, and the size of each with it.
    const std::map<model::object_key, std::size_t>& all_left_out() const { return left_out_; }
    /// Why such an object is marked as unreadable. `member`: its largest member; may be empty.
    std::string left_out_text(std::string_view member, std::size_t weight) const;

private:
    struct share {
        std::size_t bytes = 0;
        /// Its size when nothing more could be left out; 0: something can.
        std::size_t stuck_at = 0;
    };
    std::size_t goal() const { return limit_ - limit_ / 8; }
    std::size_t bytes_of(std::string_view ns) const;
    void add(std::string_view ns, std::size_t bytes);
    void take(std::string_view ns, std::size_t bytes);
    void note_room(std::string_view ns);

    std::size_t limit_ = 0;
    std::string_view kind_;
    std::map<std::string, share, std::less<>> shares_;
    std::map<model::object_key, std::size_t> left_out_;
    /// Namespaces where left-out content would fit in again.
    std::set<std::string, std::less<>> roomy_;
};

}  // namespace esi::kube
