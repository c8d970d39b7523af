#include "controller/write_gate.h"

namespace esi::controller {

void write_gate::watch_kind(std::string kind, seen_version seen) {
    kinds_.insert_or_assign(std::move(kind), std::move(seen));
}

void write_gate::wrote(const model::object_key& root, std::string_view kind,
                       const model::object_meta& written) {
    const auto& version = written.resource_version;
    const auto watched = kinds_.find(kind);
    if (version.empty() || watched == kinds_.end()) return;
    if (!watched->second(written.namespace_)) return;
    auto& newest = pending_[root][place(kind, written.namespace_)];
    // The answers of two writes may arrive in either order; only the newer one counts.
    if (newest.empty() || model::version_at_least(version, newest)) newest = version;
}

bool write_gate::caught_up(const model::object_key& root) {
    auto found = pending_.find(root);
    if (found == pending_.end()) return true;
    std::erase_if(found->second, [this](const auto& written) {
        const auto& [kind, ns] = written.first;
        const auto seen = kinds_.find(kind)->second(ns);
        return !seen || model::version_at_least(*seen, written.second);
    });
    if (!found->second.empty()) return false;
    pending_.erase(found);
    return true;
}

void write_gate::forget(const model::object_key& root) { pending_.erase(root); }

}  // namespace esi::controller
