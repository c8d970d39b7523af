#include "batchjob/fill_slots.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/contains.h"

namespace esi::batchjob {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_from(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && digit(text[end])) ++end;
    return end - at;
}

/// Negative, 0 or positive; sequences of digits compare by value.
int compare_names(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            const auto length_a = digits_from(a, i);
            const auto length_b = digits_from(b, j);
            auto one = a.substr(i, length_a);
            auto two = b.substr(j, length_b);
            one.remove_prefix(std::min(one.find_first_not_of('0'), one.size()));
            two.remove_prefix(std::min(two.find_first_not_of('0'), two.size()));
            if (one.size() != two.size()) return one.size() < two.size() ? -1 : 1;
            if (const int order = one.compare(two); order != 0) return order;
            i += length_a;
            j += length_b;
        } else {
            if (a[i] != b[j]) return a[i] < b[j] ? -1 : 1;
            ++i;
            ++j;
        }
    }
    if (i < a.size()) return 1;
    return j < b.size() ? -1 : 0;
}

}  // namespace

bool came_before(const model::object_meta& a, const model::object_meta& b) {
    if (a.creation_timestamp != b.creation_timestamp) {
        if (!a.creation_timestamp || !b.creation_timestamp) return a.creation_timestamp.has_value();
        return *a.creation_timestamp < *b.creation_timestamp;
    }
    if (const int order = compare_names(a.name, b.name); order != 0) return order < 0;
    return a.uid < b.uid;
}

filled_slots fill_slots(std::span<const int> slots, std::span<const model::placement> recorded,
                        std::span<const pod_pointer> pods, const live_facts& live) {
    std::map<std::string_view, const model::pod*> by_uid;
    for (const auto& pod : pods) by_uid[pod->metadata.uid] = pod.get();

    // Sorted by slot; an entry outside of the run's slots, or a second slot of a pod, is dropped.
    std::map<int, const model::placement*> kept;
    std::set<std::string_view> placed;
    for (const auto& entry : recorded) {
        if (!contains(slots, entry.slot) || kept.contains(entry.slot)) continue;
        if (placed.insert(entry.pod_uid).second) kept[entry.slot] = &entry;
    }

    std::vector<pod_pointer> waiting;
    for (const auto& pod : pods) {
        if (pod->live() && !pod->metadata.deleting() && !pod->bound() &&
            !placed.contains(pod->metadata.uid)) {
            waiting.push_back(pod);
        }
    }
    std::ranges::sort(waiting, [](const pod_pointer& a, const pod_pointer& b) {
        return came_before(a->metadata, b->metadata);
    });

    filled_slots out;
    std::vector<int> sorted(slots.begin(), slots.end());
    std::ranges::sort(sorted);
    std::vector<int> left;
    std::vector<int> empty;
    for (const int slot : sorted) {
        const auto at = kept.find(slot);
        if (at == kept.end()) {
            empty.push_back(slot);
            continue;
        }
        const auto cached = by_uid.find(at->second->pod_uid);
        const bool gone = cached != by_uid.end() ? cached->second->terminal()
                                                 : live.gone_pods.contains(at->second->pod_uid);
        if (gone) {
            left.push_back(slot);
        } else if (cached == by_uid.end() && !live.living_pods.contains(at->second->pod_uid)) {
            out.to_read.push_back(*at->second);
        }
    }
    if (waiting.empty()) out.to_read.clear();
    if (!out.to_read.empty()) return out;

    std::map<int, model::placement> wanted;
    for (const auto& [slot, entry] : kept) wanted[slot] = *entry;
    std::vector<int> open = left;
    open.insert(open.end(), empty.begin(), empty.end());
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (i >= open.size()) {
            out.surplus.push_back(waiting[i]);
            continue;
        }
        const auto& meta = waiting[i]->metadata;
        wanted[open[i]] = model::placement{open[i], meta.uid, meta.name};
    }
    for (auto& [slot, entry] : wanted) out.placements.push_back(std::move(entry));
    return out;
}

}  // namespace esi::batchjob
