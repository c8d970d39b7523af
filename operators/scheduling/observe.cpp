#include "scheduling/observe.h"

#include "grid/records.h"
#include "kube/watch/store.h"

namespace esi::scheduling {

namespace {

/// Drops the objects of which the caches have a newer version.
template <class T>
void forget_older(objects<T>& newer, const kube::store<T>& cache) {
    std::erase_if(newer, [&](const auto& entry) {
        auto cached = cache.find(entry.first);
        if (!entry.second) return false;
        return cached && cached->metadata.uid == entry.second->metadata.uid &&
               cached->metadata.resource_version != entry.second->metadata.resource_version &&
               model::version_at_least(cached->metadata.resource_version,
                                       entry.second->metadata.resource_version);
    });
}

/// Positions mean the same as long as the layout is the same. If a live read shows another layout
/// than the cache, the table is built again by that one, for this decision alone.
std::shared_ptr<const grid::slot_table> slots_for(const caches& from, const newer_objects& newer,
                                                  const model::object_key& testbed) {
    auto cached = from.slots_of(testbed);
    const auto found = newer.testbeds.find(testbed);
    if (found == newer.testbeds.end() || !found->second) return cached;
    const auto& known = cached->testbed();
    if (known && known->metadata.uid == found->second->metadata.uid &&
        known->status.layout == found->second->status.layout) {
        return cached;
    }
    auto own = std::make_shared<grid::slot_table>(*cached);
    own->change_testbed(found->second);
    return own;
}

view view_from(const caches& from, const model::object_key& key,
               std::shared_ptr<const model::scheduling> self, live_facts& live) {
    auto& newer = live.newer;
    view out;
    out.self = std::move(self);
    forget_older(newer.testbeds, from.testbeds());
    forget_older(newer.jobs, from.jobs());
    out.schedulings = &from.schedulings().all();
    out.testbeds = &from.testbeds().all();
    out.jobs = &from.jobs().all();
    out.named = from.jobs_naming(key);
    if (out.self) {
        const auto testbed = testbed_of(*out.self);
        out.slots = slots_for(from, newer, testbed);
        out.rivals_of = [&from, testbed](const plan& wants) {
            return from.sharing(testbed, wants);
        };
    }
    out.live = &live;
    return out;
}

}  // namespace

view observe(const caches& from, const model::object_key& key, live_facts& live) {
    const auto& newer = live.newer;
    auto self = from.schedulings().find(key);
    if (newer.self && self && newer.self->metadata.uid == self->metadata.uid) {
        const auto& cached = self->metadata.resource_version;
        const auto& own = newer.self->metadata.resource_version;
        if (cached == own || !model::version_at_least(cached, own)) self = newer.self;
    }
    return view_from(from, key, std::move(self), live);
}

view observe(const caches& from, std::shared_ptr<const model::scheduling> self, live_facts& live) {
    const auto key = self->metadata.key();
    return view_from(from, key, std::move(self), live);
}

}  // namespace esi::scheduling
