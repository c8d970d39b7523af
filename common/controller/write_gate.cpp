#include "controller/write_gate.h"

#include <utility>

namespace esi::controller {

void write_gate::watch_kind(std::string kind, std::function<std::string()> seen) {
    kinds_.insert_or_assign(std::move(kind), std::move(seen));
}

void write_gate::wrote(const model::object_key& root, std::string_view kind,
                       std::string_view version) {
    if (version.empty() || !kinds_.contains(kind)) return;
    auto& newest = pending_[root][std::string(kind)];
    // The answers of two writes may arrive in either order; only the newer one counts.
    if (newest.empty() || model::version_at_least(version, newest)) newest = version;
}

bool write_gate::caught_up(const model::object_key& root) {
    auto found = pending_.find(root);
    if (found == pending_.end()) return true;
    std::erase_if(found->second, [this](const auto& written) {
        return model::version_at_least(kinds_.find(written.first)->second(), written.second);
    });
    if (!found->second.empty()) return false;
    pending_.erase(found);
    return true;
}

void write_gate::forget(const model::object_key& root) { pending_.erase(root); }

}  // namespace esi::controller
