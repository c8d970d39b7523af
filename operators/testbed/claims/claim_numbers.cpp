#include "testbed/claims/claim_numbers.h"

#include <array>
#include <string>

#include "model/conditions.h"

namespace esi::testbed::claims {

namespace reason = model::condition_reason;

namespace {

constexpr std::array all_reasons{reason::claim_placed,    reason::claim_waiting,
                                 reason::claim_no_room,   reason::claim_never_fits,
                                 reason::claim_suspended, reason::claim_class_missing};

}  // namespace

claim_numbers::claim_numbers(controller::metrics& numbers)
    : numbers_(numbers),
      planned_(numbers.histogram("esi_claim_planned_seconds",
                                 "From a claim being without places to places being found for it",
                                 {.01, .03, .1, .3, 1, 3, 10, 30, 100, 300, 1000, 3600})),
      given_back_(numbers.counter("esi_claim_given_back_total",
                                  "Times that a claim gave all its places back, because one of "
                                  "them was not free for too long")) {}

void claim_numbers::show(const std::map<std::string_view, int>& by_reason) {
    for (const auto& each : all_reasons) {
        const auto found = by_reason.find(each);
        numbers_
            .gauge("esi_claims", "Claims, by the reason of their condition Formed",
                   {{"reason", std::string(each)}})
            .Set(found == by_reason.end() ? 0 : found->second);
    }
}

void claim_numbers::planned(steady_time::duration waited) {
    planned_.Observe(std::chrono::duration<double>(waited).count());
}

void claim_numbers::gave_back() { given_back_.Increment(); }

}  // namespace esi::testbed::claims
