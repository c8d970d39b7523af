#include "interface/v1/access/shared_places.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "interface/v1/access/tenant.h"

namespace esi::interface::v1 {

shared_places::place::~place() {
    if (!lost_) of_.leave(*this);
}

std::unique_ptr<shared_places::place> shared_places::take(std::string_view caller) {
    const auto tenant_name = tenant_of(caller);
    int its = 0;
    if (const auto found = tenants_.find(tenant_name); found != tenants_.end()) {
        its = found->second.count();
        const auto own = found->second.by_caller.find(caller);
        if (own != found->second.by_caller.end() && own->second >= most_.of_caller) return nullptr;
    }
    if (most_.of_caller <= 0) return nullptr;
    if (all_ >= most_.of_all && !make_room(its)) return nullptr;
    std::unique_ptr<place> out(new place(*this, caller));
    auto& into = tenants_[std::string(tenant_name)];
    ++into.by_caller[out->caller_];
    out->at_ = into.places.insert(into.places.end(), out.get());
    ++all_;
    return out;
}

/// Takes the place of the tenant with the most, from its caller with the most, and of several the
/// newest: the longest wait is worth the most.
bool shared_places::make_room(int for_one_with) {
    const auto most = std::ranges::max_element(
        tenants_, {}, [](const auto& each) { return each.second.count(); });
    // With one more it would be the one with the most: the two would take a place from each other
    // again and again.
    if (most == tenants_.end() || most->second.count() < for_one_with + 2) return false;
    const auto& of = most->second;
    const auto places_of = [&of](const place* each) { return of.by_caller.at(each->caller_); };
    const auto newest = std::ranges::max_element(of.places | std::views::reverse, {}, places_of);
    place& gone = **newest;
    leave(gone);
    gone.lost_ = true;
    ++lost_;
    if (const auto tell = std::exchange(gone.tell_, nullptr)) tell();
    return true;
}

void shared_places::leave(place& which) {
    const auto found = tenants_.find(tenant_of(which.caller_));
    auto& of = found->second;
    of.places.erase(which.at_);
    const auto caller = of.by_caller.find(which.caller_);
    if (--caller->second == 0) of.by_caller.erase(caller);
    if (of.places.empty()) tenants_.erase(found);
    --all_;
}

}  // namespace esi::interface::v1
