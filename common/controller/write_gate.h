// Reading one's own writes: after a write, the key is not reconciled again before the caches have
// shown it (KEP-5647's idea). I/O-free.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/meta.h"

namespace esi::controller {

class write_gate {
public:
    /// `seen`: newest resourceVersion that the cache of a kind has shown.
    void watch_kind(std::string kind, std::function<std::string()> seen);
    /// A write for `root` gave an object of `kind` this version.
    void wrote(const model::object_key& root, std::string_view kind, std::string_view version);
    /// True when every write for `root` has come back through the watch. Forgets those that have.
    bool caught_up(const model::object_key& root);
    void forget(const model::object_key& root);

private:
    std::map<std::string, std::function<std::string()>, std::less<>> kinds_;
    std::map<model::object_key, std::map<std::string, std::string, std::less<>>> pending_;
};

}  // namespace esi::controller
