// Reading one's own writes: after a write, the key is not reconciled again before the caches have
// shown it (KEP-5647's idea). I/O-free.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/meta.h"

namespace esi::controller {

class write_gate {
public:
    /// Newest resourceVersion that the cache of a kind has shown in a namespace; none if it watches
    /// nothing.
    using seen_version = std::function<std::optional<std::string>(std::string_view ns)>;

    void watch_kind(std::string kind, seen_version seen);
    /// A write for `root` left an object of `kind` as `written` says.
    void wrote(const model::object_key& root, std::string_view kind,
               const model::object_meta& written);
    /// True when every write for `root` has come back through the watch. Forgets those that have.
    bool caught_up(const model::object_key& root);
    void forget(const model::object_key& root);

private:
    /// A kind in a namespace: what one watch shows.
    using place = std::pair<std::string, std::string>;

    std::map<std::string, seen_version, std::less<>> kinds_;
    /// By root: the newest version that is awaited.
    std::map<model::object_key, std::map<place, std::string>> pending_;
};

}  // namespace esi::controller
