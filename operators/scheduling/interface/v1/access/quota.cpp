#include "scheduling/interface/v1/access/quota.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "scheduling/interface/v1/access/refusals.h"

namespace esi::scheduling::v1 {

namespace {

constexpr std::size_t kinds = 2;

const char* name_of(quota::kind what) { return what == quota::kind::stream ? "streams" : "waits"; }

std::size_t index_of(quota::kind what) { return static_cast<std::size_t>(what); }

}  // namespace

struct quota::state {
    state(clock& time_, controller::metrics& numbers_, quota_options options_)
        : time(time_), numbers(numbers_), options(options_), requests(options_.requests) {}

    clock& time;
    controller::metrics& numbers;
    quota_options options;
    bucket_table requests;
    using counts = std::array<int, kinds>;
    /// Of those alone who have some.
    std::map<std::string, counts, std::less<>> of_callers;
    counts of_all{};

    int most(kind what) const { return what == kind::stream ? options.streams : options.waits; }
    int most_of_all(kind what) const {
        return what == kind::stream ? options.all_streams : options.all_waits;
    }
    void show(kind what) {
        numbers
            .gauge("esi_api_under_way",
                   "Streams of events, and requests that wait for a change, of /api/v1",
                   {{"what", name_of(what)}})
            .Set(of_all[index_of(what)]);
    }
    void count_throttled(const char* what) {
        numbers
            .counter("esi_api_throttled_total", "Requests of /api/v1 that were answered with 429",
                     {{"what", what}})
            .Increment();
    }
};

quota::quota(clock& time, controller::metrics& numbers, quota_options options)
    : state_(std::make_shared<state>(time, numbers, options)) {}

quota::~quota() = default;

std::optional<quota::lease> quota::take(const http::identity& caller, kind what) {
    auto& own = *state_;
    const auto at = index_of(what);
    const auto known = own.of_callers.find(caller.name);
    const int has = known == own.of_callers.end() ? 0 : known->second[at];
    if (has >= own.most(what) || own.of_all[at] >= own.most_of_all(what)) {
        own.count_throttled(name_of(what));
        return std::nullopt;
    }
    ++own.of_callers[caller.name][at];
    ++own.of_all[at];
    own.show(what);
    return lease(state_, caller.name, what);
}

http::problem_details quota::refused(kind what) const {
    const auto& options = state_->options;
    auto out =
        v1::throttled(what == kind::stream
                          ? fmt::format("a caller may have {} streams of events open "
                                        "(--api-streams-per-caller), and all callers together {}",
                                        options.streams, options.all_streams)
                          : fmt::format("a caller may have {} requests that wait for a change "
                                        "(--api-waits-per-caller), and all callers together {}",
                                        options.waits, options.all_waits),
                      seconds(2));
    return out;
}

std::optional<http::problem_details> quota::throttled(const http::identity& caller) {
    auto& own = *state_;
    const auto wait = own.requests.take(caller.name, own.time.now());
    if (!wait) return std::nullopt;
    own.count_throttled("requests");
    return v1::throttled(fmt::format("\"{}\" sends more than {:g} requests per second "
                                     "(--api-requests-per-second)",
                                     caller.name, own.options.requests.per_second),
                         *wait);
}

quota::lease::lease(std::shared_ptr<state> of, std::string caller, kind what)
    : of_(std::move(of)), caller_(std::move(caller)), what_(what) {}

quota::lease& quota::lease::operator=(lease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    of_ = std::move(other.of_);
    caller_ = std::move(other.caller_);
    what_ = other.what_;
    return *this;
}

quota::lease::~lease() { give_back(); }

void quota::lease::give_back() {
    const auto of = std::exchange(of_, nullptr);
    if (!of) return;
    const auto at = index_of(what_);
    const auto known = of->of_callers.find(caller_);
    if (--known->second[at] == 0 && known->second == state::counts{}) of->of_callers.erase(known);
    --of->of_all[at];
    of->show(what_);
}

}  // namespace esi::scheduling::v1
