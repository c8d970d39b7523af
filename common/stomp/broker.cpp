#include "stomp/broker.h"

#include <utility>

#include "stomp/topic.h"

namespace esi::stomp {

shared_message make_message(std::string_view destination, std::string_view body) {
    auto out = std::make_shared<message>();
    out->before = "MESSAGE\ndestination:";
    out->before += destination;
    out->before += "\ncontent-type:application/json\n";
    out->after = "content-length:" + std::to_string(body.size()) + "\n\n";
    out->after += body;
    out->after += '\0';
    return out;
}

broker::listed& broker::list_of(std::string_view destination) {
    return is_pattern(destination) ? patterns_ : exact_;
}

void broker::subscribe(listener& who, std::string id, std::string destination,
                       std::uint64_t since) {
    unsubscribe(who, id);
    list_of(destination)[destination].push_back({&who, id, since});
    listeners_[&who].emplace(std::move(id), std::move(destination));
    ++count_;
}

void broker::unsubscribe(listener& who, const std::string& id) {
    const auto own = listeners_.find(&who);
    if (own == listeners_.end()) return;
    const auto known = own->second.find(id);
    if (known == own->second.end()) return;
    auto& list = list_of(known->second);
    const auto at = list.find(known->second);
    std::erase_if(at->second,
                  [&](const subscription& each) { return each.who == &who && each.id == id; });
    if (at->second.empty()) list.erase(at);
    own->second.erase(known);
    if (own->second.empty()) listeners_.erase(own);
    --count_;
}

void broker::forget(listener& who) {
    const auto own = listeners_.find(&who);
    if (own == listeners_.end()) return;
    for (const auto& [id, destination] : own->second) {
        auto& list = list_of(destination);
        const auto at = list.find(destination);
        if (at == list.end()) continue;
        std::erase_if(at->second, [&](const subscription& each) { return each.who == &who; });
        if (at->second.empty()) list.erase(at);
    }
    count_ -= own->second.size();
    listeners_.erase(own);
}

std::size_t broker::publish(const std::string& destination, std::uint64_t number,
                            const body_maker& body) const {
    shared_message made;
    bool left_out = false;
    std::size_t told = 0;
    const auto tell = [&](const std::vector<subscription>& all) {
        for (const auto& each : all) {
            if (left_out || number < each.since) continue;
            if (!made) {
                const auto text = body();
                left_out = text.empty();
                if (left_out) return;
                made = make_message(destination, text);
            }
            each.who->deliver(each.id, made);
            ++told;
        }
    };
    if (const auto found = exact_.find(destination); found != exact_.end()) tell(found->second);
    for (const auto& [pattern, all] : patterns_) {
        if (matches(pattern, destination)) tell(all);
    }
    return told;
}

}  // namespace esi::stomp
