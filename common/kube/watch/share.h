// What the objects of one kind take of a process' memory, by namespace, and whose content was left
// out of a cache for it. Whoever may write in a namespace decides how much is stored there, so a
// namespace that stores more than its share loses content of its own objects, the heaviest first,
// and no other namespace does. I/O-free; owned by a store.
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

    /// `limit`: bytes; 0: none. `kind`: of the objects, for texts; outlives this.
    explicit namespace_shares(std::size_t limit = 0, std::string_view kind = {})
        : limit_(limit), kind_(kind) {}
    std::size_t limit() const { return limit_; }
    std::string_view kind() const { return kind_; }

    void came(const model::object_key& key, std::size_t weight);
    /// The object has another version: with its content again, if that was left out.
    void changed(const model::object_key& key, std::size_t before, std::size_t after);
    void gone(const model::object_key& key, std::size_t weight);
    /// It was changed to a version without its content; `weight`: what it takes with it.
    void left_out(const model::object_key& key, std::size_t weight);

    /// Its content was left out, and a new version of it that takes `weight` has no room for it
    /// either.
    bool stays_left_out(const model::object_key& key, std::size_t weight) const;

    /// Content should be left out: the namespace takes more than the limit, and, where the last
    /// look found nothing more to leave out, clearly more than then.
    bool is_above(std::string_view ns) const;
    /// So far below the limit that the next change does not exceed it at once.
    bool is_within_goal(std::string_view ns) const;
    void looked_at(std::string_view ns);
    /// The namespaces of which is_above() holds.
    std::vector<std::string> above() const;

    /// A list has just shown all objects of that namespace (empty: of all) with their content.
    void listed(std::string_view ns);
    /// The content of some object of that namespace (empty: of any) that was left out would fit in.
    bool has_room_again(std::string_view ns = {}) const {
        return ns.empty() ? !roomy_.empty() : roomy_.contains(ns);
    }

    std::size_t bytes() const;
    /// Of the namespace that takes most.
    std::size_t largest() const;
    /// Objects whose content is left out, and what each takes with it.
    const std::map<model::object_key, std::size_t>& all_left_out() const { return left_out_; }
    /// Why such an object is marked as one that cannot be read. `member`: what takes most of it;
    /// may be empty.
    std::string left_out_text(std::string_view member, std::size_t weight) const;

private:
    struct share {
        std::size_t bytes = 0;
        /// What it took when nothing more could be left out; 0: something can.
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
    /// Where that would fit in again.
    std::set<std::string, std::less<>> roomy_;
};

}  // namespace esi::kube
