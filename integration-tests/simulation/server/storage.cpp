#include "server/storage.h"

#include <algorithm>
#include <stdexcept>

#include "base/group_kinds.h"

namespace esi::simulation {

namespace {

std::string metadata_text(const json& body, const char* key) {
    const auto metadata = body.find("metadata");
    if (metadata == body.end() || !metadata->is_object()) return {};
    const auto found = metadata->find(key);
    return found != metadata->end() && found->is_string() ? found->get<std::string>()
                                                          : std::string();
}

void set_version(json& body, std::uint64_t version) {
    body["metadata"]["resourceVersion"] = std::to_string(version);
}

/// The one record of the kind, so that a change may keep a pointer to it.
const kube::resource_type* lasting(const kube::resource_type& type) {
    for (const auto* kind : all_kinds()) {
        if (known_as(*kind) == known_as(type)) return kind;
    }
    throw std::logic_error("a kind that the model API server does not serve");
}

}  // namespace

object::object(json body, std::uint64_t version)
    : body_(std::move(body)),
      version_(version),
      ns_(metadata_text(body_, "namespace")),
      name_(metadata_text(body_, "name")),
      uid_(metadata_text(body_, "uid")) {}

const std::string& object::text() const {
    if (text_.empty()) text_ = body_.dump(-1, ' ', false, json::error_handler_t::replace);
    return text_;
}

storage::storage(std::function<steady_time()> now) : now_(std::move(now)) {}

std::uint64_t storage::version_at(steady_time when) const {
    // Times never go back, so the history is sorted by them too.
    const auto after = std::ranges::upper_bound(history_, when, std::ranges::less(), &change::at);
    return after == history_.end() ? version_ : after->version - 1;
}

object_pointer storage::find(const kube::resource_type& type, std::string_view ns,
                             std::string_view name) const {
    const auto kind = kinds_.find(known_as(type));
    if (kind == kinds_.end()) return nullptr;
    const auto found = kind->second.find(key(ns, name));
    return found == kind->second.end() ? nullptr : found->second;
}

std::vector<object_pointer> storage::all(const kube::resource_type& type,
                                         std::string_view ns) const {
    std::vector<object_pointer> out;
    const auto kind = kinds_.find(known_as(type));
    if (kind == kinds_.end()) return out;
    const auto& objects = kind->second;
    if (ns.empty()) {
        out.reserve(objects.size());
        for (const auto& [unused, each] : objects) out.push_back(each);
        return out;
    }
    for (auto at = objects.lower_bound(key(ns, "")); at != objects.end() && at->first.first == ns;
         ++at) {
        out.push_back(at->second);
    }
    return out;
}

std::vector<object_pointer> storage::all_at(const kube::resource_type& type, std::string_view ns,
                                            std::uint64_t version) const {
    auto out = all(type, ns);
    if (version >= version_) return out;
    std::map<key, object_pointer> past;
    bool differs = false;
    for (auto at = history_.rbegin(); at != history_.rend() && at->version > version; ++at) {
        if (known_as(*at->type) != known_as(type)) continue;
        if (!ns.empty() && at->after->ns() != ns) continue;
        if (!differs) {
            differs = true;
            for (auto& each : out) past.emplace(key(each->ns(), each->name()), std::move(each));
        }
        key which(at->after->ns(), at->after->name());
        if (at->before) {
            past[std::move(which)] = at->before;
        } else {
            past.erase(which);
        }
    }
    if (!differs) return out;
    out.clear();
    for (auto& [unused, each] : past) out.push_back(std::move(each));
    return out;
}

object_pointer storage::put(const kube::resource_type& type, json body) {
    const auto* kind = lasting(type);
    const auto version = ++version_;
    set_version(body, version);
    auto after = std::make_shared<const object>(std::move(body), version);
    auto& objects = kinds_[std::string(known_as(type))];
    auto& slot = objects[key(after->ns(), after->name())];
    auto before = std::exchange(slot, after);
    const auto what = before ? change_type::modified : change_type::added;
    note(change{what, kind, std::move(before), after, version, now_()});
    return after;
}

object_pointer storage::erase(const kube::resource_type& type, std::string_view ns,
                              std::string_view name) {
    const auto kind = kinds_.find(known_as(type));
    if (kind == kinds_.end()) return nullptr;
    const auto found = kind->second.find(key(ns, name));
    if (found == kind->second.end()) return nullptr;
    auto before = std::move(found->second);
    kind->second.erase(found);
    const auto version = ++version_;
    json last = before->body();
    set_version(last, version);
    auto after = std::make_shared<const object>(std::move(last), version);
    note(change{change_type::deleted, lasting(type), std::move(before), after, version, now_()});
    return after;
}

const change* storage::next(std::uint64_t version) const {
    if (history_.empty() || version >= version_) return nullptr;
    // Each change has the version after that of the change before it.
    const auto first = history_.front().version;
    return &history_[version < first ? 0 : static_cast<std::size_t>(version + 1 - first)];
}

std::vector<const change*> storage::since(std::uint64_t version) const {
    std::vector<const change*> out;
    for (const auto* each = next(version); each != nullptr; each = next(each->version)) {
        out.push_back(each);
    }
    return out;
}

void storage::compact(std::uint64_t version) {
    version = std::min(version, version_);
    if (version <= compacted_) return;
    compacted_ = version;
    while (!history_.empty() && history_.front().version <= version) history_.pop_front();
}

void storage::on_change(std::function<void(const change&)> callback) {
    callbacks_.push_back(std::move(callback));
}

void storage::note(change what) {
    history_.push_back(std::move(what));
    for (const auto& callback : callbacks_) callback(history_.back());
}

}  // namespace esi::simulation
