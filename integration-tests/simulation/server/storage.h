// etcd and the watch cache in one: objects, one sequence of resourceVersions over all kinds, and
// the history of changes. Knows nothing of HTTP, of schemas or of what a kind means. Owned by the
// API server. Old states can be read (lists from a stale cache), until they are compacted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/kinds.h"

namespace esi::simulation {

using json = nlohmann::json;

/// One state of one object; never changed.
class object {
public:
    object(json body, std::uint64_t version);
    const json& body() const { return body_; }
    /// The encoded body, made once.
    const std::string& text() const;
    std::uint64_t version() const { return version_; }
    const std::string& ns() const { return ns_; }
    const std::string& name() const { return name_; }
    const std::string& uid() const { return uid_; }

private:
    json body_;
    std::uint64_t version_;
    std::string ns_;
    std::string name_;
    std::string uid_;
    mutable std::string text_;
};
using object_pointer = std::shared_ptr<const object>;

enum class change_type { added, modified, deleted };

struct change {
    change_type what;
    const kube::resource_type* type;
    /// Null for added.
    object_pointer before;
    /// For deleted: the last state, with the resourceVersion of the deletion.
    object_pointer after;
    std::uint64_t version;
    /// When it was made.
    steady_time at;
};

class storage {
public:
    explicit storage(std::function<steady_time()> now);

    /// The newest resourceVersion. Starts above 1.
    std::uint64_t version() const { return version_; }
    /// The newest version that was made at or before `when`.
    std::uint64_t version_at(steady_time when) const;

    object_pointer find(const kube::resource_type& type, std::string_view ns,
                        std::string_view name) const;
    /// Sorted by namespace, then name. Empty namespace: all.
    std::vector<object_pointer> all(const kube::resource_type& type,
                                    std::string_view ns = {}) const;
    /// The same as it was at `version` (not before compacted()).
    std::vector<object_pointer> all_at(const kube::resource_type& type, std::string_view ns,
                                       std::uint64_t version) const;

    /// Stores a new state (created or changed) with the next version, set into its metadata.
    object_pointer put(const kube::resource_type& type, json body);
    /// The object ends; null when it was not there.
    object_pointer erase(const kube::resource_type& type, std::string_view ns,
                         std::string_view name);

    /// Changes after `version`, in order; valid until the next put, erase or compact.
    std::vector<const change*> since(std::uint64_t version) const;
    /// The first of them, null where there is none: for readers that walk on one by one.
    const change* next(std::uint64_t version) const;
    /// Forgets the changes up to and including `version`.
    void compact(std::uint64_t version);
    /// The newest version that was forgotten: a watch from before it gets 410.
    std::uint64_t compacted() const { return compacted_; }

    /// Called after each change, in the order of these calls. Must not change the storage: who
    /// wants to react does so through the timeline.
    void on_change(std::function<void(const change&)> callback);

private:
    using key = std::pair<std::string, std::string>;  // namespace, name
    std::function<steady_time()> now_;
    std::uint64_t version_ = 100;
    std::uint64_t compacted_ = 0;
    std::map<std::string, std::map<key, object_pointer>, std::less<>> kinds_;
    std::deque<change> history_;
    std::vector<std::function<void(const change&)>> callbacks_;

    void note(change what);
};

}  // namespace esi::simulation
