#include "batchjob/drivers/told_words.h"

#include "base/hash.h"

namespace esi::batchjob::drivers {

told_words::answer told_words::ask(const model::object_key& key, std::string_view uid,
                                   std::string_view about, std::string_view text, steady_time now) {
    const word next{fnv1a(text, fnv1a(uid)), fnv1a(about, fnv1a(uid)), now};
    const auto [at, is_first] = last_.try_emplace(key, next);
    if (is_first) return {true, {}};
    auto& last = at->second;
    if (last.text == next.text) return {};
    const auto due = last.at + (last.about == next.about ? counts_pause : words_pause);
    if (now < due) return {false, due - now};
    last = next;
    return {true, {}};
}

}  // namespace esi::batchjob::drivers
