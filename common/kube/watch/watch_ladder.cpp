#include "kube/watch/watch_ladder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace esi::kube {

namespace {

using namespace std::chrono_literals;

// client-go tools/cache/reflector.go; reference values of kube-rs are the same.
constexpr auto first_backoff = 800ms;
constexpr auto longest_backoff = 30s;
constexpr auto backoff_reset = 2min;
constexpr auto shortest_watch = 1s;
constexpr int largest_page = 500;
/// The longest answer to a list, as a page takes several times its length while it is read; a
/// longer page is requested again with fewer objects. A page of one object may have any length:
/// what etcd stores in 1.5 MB may be several times that as JSON.
constexpr std::size_t page_bytes = std::size_t{4} << 20;
constexpr std::size_t object_bytes = std::size_t{16} << 20;
/// The server closes after timeoutSeconds; a close that never arrives is noticed a little later
/// (kube-rs/kube#1945).
constexpr auto close_margin = 5s;
/// A streaming list that falls silent is no list.
constexpr auto silent_list = 60s;
constexpr int streams_until_pages = 3;
constexpr int internal_errors_until_relist = 5;

bool refuses_version(const error& why) {
    return why.code == errc::gone ||
           // Cause ResourceVersionTooLarge of a Timeout: the server is behind what was seen.
           why.text.find("Too large resource version") != std::string::npos;
}

}  // namespace

watch_ladder::watch_ladder(std::function<double()> random) : random_(std::move(random)) {}

ladder_step watch_ladder::resume(const ladder::event& event, steady_time now) {
    return std::visit([&](const auto& what) { return on(what, now); }, event);
}

ladder_step watch_ladder::on(const ladder::started&, steady_time) { return relist(); }

ladder_step watch_ladder::on(const ladder::waited&, steady_time) {
    return relist_after_wait_ ? relist() : rewatch();
}

ladder_step watch_ladder::on(const ladder::refused& event, steady_time now) {
    if (event.why.code == errc::not_found) {
        served_ = false;
        return pause(now, true);
    }
    if (phase_ != phase::watching) return list_failed(event.why, now);
    switch (event.why.code) {
        case errc::gone:
        case errc::bad_request:
        case errc::invalid:
            return pause(now, true, &event.why);
        default:
            return pause(now, false, &event.why);
    }
}

ladder_step watch_ladder::page(std::string continue_token) {
    ladder_step next;
    next.what = ladder_step::kind::list;
    next.limit = page_size_;
    next.answer_limit = page_size_ == 1 ? object_bytes : page_bytes;
    next.continue_token = continue_token_ = std::move(continue_token);
    return next;
}

ladder_step watch_ladder::list_too_long(const error& why, steady_time now) {
    if (!by_pages_) {
        version_unusable_ = true;
        // Pages were too slow, and a full list is too long: pause instead of a loop.
        if (!std::exchange(paging_, true)) return pause(now, true, &why);
        return relist();
    }
    if (page_size_ == 1) return pause(now, true, &why);
    page_size_ /= 2;
    return page(continue_token_);
}

ladder_step watch_ladder::list_failed(const error& why, steady_time now) {
    if (why.code == errc::answer_too_large) return list_too_long(why, now);
    if (refuses_version(why)) {
        if (!version_.empty() && !version_unusable_) {
            version_unusable_ = true;
            return relist();
        }
        if (listing_pages_under_way_) {
            // The continue token expired: pages are too slow here, one full list is not.
            paging_ = false;
            return relist();
        }
    } else if (phase_ == phase::listing_stream &&
               (why.code == errc::bad_request || why.code == errc::invalid)) {
        streaming_ = false;
        return relist();
    }
    return pause(now, true, &why);
}

ladder_step watch_ladder::on(const ladder::page& event, steady_time now) {
    if (!event.continue_token.empty()) {
        listing_pages_under_way_ = true;
        return page(event.continue_token);
    }
    if (event.version.empty()) return pause(now, true);
    listed(event.version);
    auto next = rewatch();
    next.end_list = true;
    next.seen = version_;
    return next;
}

ladder_step watch_ladder::on(const ladder::opened&, steady_time now) {
    opened_at_ = now;
    heard_event_ = false;
    served_ = true;
    return read(now);
}

ladder_step watch_ladder::on(const ladder::object& event, steady_time now) {
    heard_event_ = true;
    auto next = read(now);
    // The initial events come in no order of versions: none of them may become a point to resume
    // from.
    if (phase_ != phase::watching || event.version.empty()) return next;
    internal_errors_ = 0;
    version_ = event.version;
    next.seen = version_;
    return next;
}

ladder_step watch_ladder::on(const ladder::bookmark& event, steady_time now) {
    heard_event_ = true;
    if (phase_ == phase::watching) {
        if (!event.version.empty()) version_ = event.version;
        auto next = read(now);
        next.seen = event.version;
        return next;
    }
    if (!event.initial_events_end || event.version.empty()) return read(now);
    listed(event.version);
    auto next = read(now);
    next.end_list = true;
    next.seen = version_;
    return next;
}

ladder_step watch_ladder::on(const ladder::skipped&, steady_time now) {
    heard_event_ = true;
    return read(now);
}

ladder_step watch_ladder::on(const ladder::error_event& event, steady_time now) {
    if (phase_ != phase::watching) return list_failed(event.why, now);
    switch (event.why.code) {
        case errc::too_many_requests:
            return pause(now, false, &event.why);
        case errc::server:
            if (++internal_errors_ < internal_errors_until_relist) {
                return pause(now, false, &event.why);
            }
            internal_errors_ = 0;
            return pause(now, true, &event.why);
        default:
            return pause(now, true, &event.why);
    }
}

ladder_step watch_ladder::on(const ladder::closed&, steady_time now) {
    if (phase_ != phase::watching) {
        if (++streams_without_end_ >= streams_until_pages) streaming_ = false;
        return pause(now, true);
    }
    // A proxy that closes at once must not cause a request loop.
    if (!heard_event_ && now - opened_at_ < shortest_watch) return pause(now, false);
    return rewatch();
}

ladder_step watch_ladder::on(const ladder::broken& event, steady_time now) {
    if (phase_ != phase::watching) {
        if (event.why.code == errc::timeout && ++streams_without_end_ >= streams_until_pages) {
            streaming_ = false;
        }
        return pause(now, true, &event.why);
    }
    // A line that could not be read cannot be skipped: only a list shows the present state.
    return pause(now, event.why.code == errc::decode, &event.why);
}

ladder_step watch_ladder::relist() {
    listing_pages_under_way_ = false;
    ladder_step next;
    next.begin_list = true;
    if (!version_unusable_) next.version = version_;
    if (streaming_) {
        phase_ = phase::listing_stream;
        next.what = ladder_step::kind::watch;
        next.initial_events = true;
        next.timeout = timeout_ = watch_timeout();
        return next;
    }
    phase_ = phase::listing_pages;
    page_size_ = largest_page;
    // With a version, a limit means "exactly this version, from etcd" to the server: no pages then.
    by_pages_ = next.version.empty() && paging_;
    if (by_pages_) {
        next = page({});
        next.begin_list = true;
    } else {
        next.what = ladder_step::kind::list;
        next.answer_limit = object_bytes;
    }
    return next;
}

ladder_step watch_ladder::rewatch() {
    phase_ = phase::watching;
    ladder_step next;
    next.what = ladder_step::kind::watch;
    next.version = version_;
    next.timeout = timeout_ = watch_timeout();
    return next;
}

ladder_step watch_ladder::read(steady_time now) const {
    ladder_step next;
    next.what = ladder_step::kind::read;
    next.read_deadline = opened_at_ + timeout_ + close_margin;
    if (phase_ != phase::watching) {
        next.read_deadline = std::min<steady_time>(next.read_deadline, now + silent_list);
    }
    return next;
}

ladder_step watch_ladder::pause(steady_time now, bool relist_then, const error* why) {
    if (now - last_failure_ > backoff_reset) failures_ = 0;
    last_failure_ = now;
    using fraction = std::chrono::duration<double>;
    auto delay = std::min<fraction>(first_backoff * std::pow(2.0, failures_), longest_backoff);
    delay *= 1.0 + random_();
    failures_ = std::min(failures_ + 1, 16);
    if (why && why->retry_after) {
        delay = std::max<fraction>(delay, *why->retry_after);
    }
    relist_after_wait_ = relist_then;
    ladder_step next;
    next.what = ladder_step::kind::wait;
    next.delay = std::chrono::duration_cast<steady_time::duration>(delay);
    return next;
}

void watch_ladder::listed(std::string version) {
    version_ = std::move(version);
    version_unusable_ = false;
    phase_ = phase::watching;
    served_ = true;
    paging_ = true;
    streams_without_end_ = 0;
    internal_errors_ = 0;
}

seconds watch_ladder::watch_timeout() { return seconds(300 + static_cast<int>(random_() * 300.0)); }

}  // namespace esi::kube
