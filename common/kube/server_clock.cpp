#include "kube/server_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "model/meta.h"

namespace esi::kube {

namespace {

using std::chrono::microseconds;

/// A Date names whole seconds.
constexpr seconds date_step{1};
/// Clocks drift by less than 500 ppm (what ntpd can correct): one part in this many.
constexpr int drift_part = 2000;
/// Logged above the first, withdrawn below the second.
constexpr seconds skew_told{2};
constexpr seconds skew_over{1};

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::optional<wall_time> parse_http_date(std::string_view text) {
    // "Sun, 22 Nov 2026 19:11:29 GMT"
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") {
        return std::nullopt;
    }
    if (text[7] != ' ' || text[11] != ' ' || text[16] != ' ') return std::nullopt;
    const auto month = std::ranges::find(months, text.substr(8, 3));
    if (month == months.end()) return std::nullopt;
    auto parsed = model::timestamp::parse(fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4),
                                                      month - months.begin() + 1, text.substr(5, 2),
                                                      text.substr(17, 8)));
    if (!parsed) return std::nullopt;
    return parsed->value;
}

server_clock::server_clock(clock& base)
    : base_(base), offset_(base.wall().time_since_epoch() - since_start(base.now())) {}

server_clock::difference server_clock::since_start(steady_time when) const {
    return std::chrono::floor<microseconds>(when.time_since_epoch());
}

wall_time server_clock::wall() const { return wall_time(since_start(base_.now()) + offset_); }

microseconds server_clock::skew() const { return base_.wall() - wall(); }

void server_clock::heard(wall_time date, steady_time sent) {
    const auto came = base_.now();
    range found{date.time_since_epoch() - since_start(came),
                date.time_since_epoch() + date_step - since_start(sent), came};
    if (known_) {
        const auto drift = (since_start(came) - since_start(known_->at)) / drift_part;
        const auto least = std::max(found.least, known_->least - drift);
        const auto most = std::min(found.most, known_->most + drift);
        // Otherwise the API server's clock was set, or another one answers: the earlier bounds are
        // invalid.
        if (least <= most) found = {least, most, came};
    }
    known_ = found;
    offset_ = std::clamp(offset_, found.least, found.most);
    tell();
}

void server_clock::tell() {
    const auto apart = std::chrono::abs(skew());
    if (told_ ? apart > skew_over : apart <= skew_told) return;
    told_ = !told_;
    const auto ahead = fmt::format("{:.1f}", std::chrono::duration<double>(skew()).count());
    if (told_) {
        log::warn(
            "this machine's clock differs from the API server's; deadlines go by the API server's",
            {{"seconds_ahead", ahead}});
    } else {
        log::info("this machine's clock agrees with the API server's", {{"seconds_ahead", ahead}});
    }
}

asio::awaitable<result<response>> dated_transport::send(request what, steady_time deadline) {
    const auto sent = time_.now();
    auto answer = co_await next_.send(std::move(what), deadline);
    if (answer && answer->date) time_.heard(*answer->date, sent);
    co_return answer;
}

asio::awaitable<result<std::unique_ptr<stream>>> dated_transport::open(request what,
                                                                       steady_time deadline) {
    const auto sent = time_.now();
    auto opened = co_await next_.open(std::move(what), deadline);
    if (opened) {
        if (const auto date = (*opened)->date()) time_.heard(*date, sent);
    }
    co_return opened;
}

}  // namespace esi::kube
