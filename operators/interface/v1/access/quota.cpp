#include "interface/v1/access/quota.h"

#include <fmt/format.h>

#include <utility>

#include "interface/v1/access/fair_share.h"
#include "interface/v1/access/refusals.h"
#include "interface/v1/access/tenant.h"

namespace esi::interface::v1 {

namespace {

const char* name_of(quota::kind what) { return what == quota::kind::stream ? "streams" : "waits"; }

}  // namespace

struct quota::state {
    state(clock& time_, controller::metrics& numbers_, quota_options options_)
        : time(time_),
          numbers(numbers_),
          options(options_),
          requests(options_.requests),
          all_requests(options_.all_requests()),
          streams({options_.streams, options_.all_streams}),
          waits({options_.waits, options_.all_waits}) {}

    clock& time;
    controller::metrics& numbers;
    quota_options options;
    bucket_table requests;
    fair_bucket all_requests;
    shared_places streams;
    shared_places waits;

    shared_places& places(kind what) { return what == kind::stream ? streams : waits; }
    void show(kind what) {
        numbers
            .gauge("esi_api_under_way",
                   "Streams of events, and requests that wait for a change, of /api/v1",
                   {{"what", name_of(what)}})
            .Set(places(what).size());
    }
    void count_throttled(const char* what) {
        numbers
            .counter("esi_api_throttled_total", "Requests of /api/v1 that were answered with 429",
                     {{"what", what}})
            .Increment();
    }
    void count_lost(kind what) {
        numbers
            .counter("esi_api_displaced_total",
                     "Streams and waits of /api/v1 that ended for one of a tenant with fewer",
                     {{"what", name_of(what)}})
            .Increment();
    }
};

quota::quota(clock& time, controller::metrics& numbers, quota_options options)
    : state_(std::make_shared<state>(time, numbers, options)) {}

quota::~quota() = default;

std::optional<quota::lease> quota::take(const http::identity& caller, kind what) {
    auto& own = *state_;
    auto& places = own.places(what);
    const auto lost = places.lost();
    auto place = places.take(caller.name);
    if (!place) {
        own.count_throttled(name_of(what));
        return std::nullopt;
    }
    if (places.lost() != lost) own.count_lost(what);
    own.show(what);
    return lease(state_, std::move(place), what);
}

http::problem_details quota::refused(kind what) const {
    const auto& options = state_->options;
    auto out = v1::throttled(
        what == kind::stream ? fmt::format("a caller may have {} streams of events open "
                                           "(--api-streams-per-caller), and all callers together "
                                           "{}, of which each tenant has its share",
                                           options.streams, options.all_streams)
                             : fmt::format("a caller may have {} requests that wait for a change "
                                           "(--api-waits-per-caller), and all callers together "
                                           "{}, of which each tenant has its share",
                                           options.waits, options.all_waits),
        seconds(2));
    return out;
}

std::optional<http::problem_details> quota::throttled(const http::identity& caller) {
    auto& own = *state_;
    const auto now = own.time.now();
    if (const auto wait = own.requests.take(caller.name, now)) {
        own.count_throttled("requests");
        return v1::throttled(fmt::format("\"{}\" sends more than {:g} requests per second "
                                         "(--api-requests-per-second)",
                                         caller.name, own.options.requests.per_second),
                             *wait);
    }
    const auto wait = own.all_requests.take(tenant_of(caller.name), now);
    if (!wait) return std::nullopt;
    own.count_throttled("requests");
    return v1::throttled(
        fmt::format("{} are more than their share of the {:g} per second that are answered in all "
                    "(ten times --api-requests-per-second)",
                    tenant_words(caller.name), own.options.all_requests().per_second),
        *wait);
}

quota::lease::lease(std::shared_ptr<state> of, std::unique_ptr<shared_places::place> its, kind what)
    : of_(std::move(of)), place_(std::move(its)), what_(what) {}

quota::lease& quota::lease::operator=(lease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    of_ = std::move(other.of_);
    place_ = std::move(other.place_);
    what_ = other.what_;
    return *this;
}

quota::lease::~lease() { give_back(); }

void quota::lease::give_back() {
    const auto of = std::exchange(of_, nullptr);
    if (!of) return;
    place_.reset();
    of->show(what_);
}

}  // namespace esi::interface::v1
