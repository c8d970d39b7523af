#include "world/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include "base/task_group.h"
#include "base/wait.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

constexpr steady_time::duration least_way = 200us;
constexpr steady_time::duration most_way = 2ms;
/// An event is in the watch cache, and on its way, so much later than its write.
constexpr steady_time::duration least_event_way = 500us;
constexpr steady_time::duration most_event_way = 5ms;
/// kube-apiserver sends bookmarks about once a minute.
constexpr auto bookmark_period = 60s;
/// kube-apiserver waits so long for its watch cache before it answers "too large".
constexpr auto cache_patience = 3s;
constexpr auto cache_poll = 100ms;
/// A stale cache has caught up after this.
constexpr auto past_lasts = 2s;

/// One request under way, as its sender sees it.
struct exchange {
    explicit exchange(asio::any_io_executor executor) : done(std::move(executor)) {}
    std::optional<result<kube::response>> answer;
    notifier done;

    void give(result<kube::response> what) {
        if (answer) return;
        answer.emplace(std::move(what));
        done.notify();
    }
};

/// The far end of one open watch. Its client owns it; the network knows it while it lives.
struct stream_end {
    stream_end(replica_name who_, asio::any_io_executor executor)
        : who(std::move(who_)), more(std::move(executor)) {}

    replica_name who;
    std::string plural;
    std::unique_ptr<watch> source;
    int status = 200;
    int retry_after = -1;
    std::deque<std::string> pieces;
    std::string last_line;
    bool closed = false;
    std::optional<error> failure;
    bool armed = false;
    bool half_next = false;
    /// Nothing but bookmarks goes out before this.
    steady_time held_until{};
    std::uint64_t shown = 0;
    notifier more;

    bool over() const { return closed || failure.has_value(); }
    void push(std::string piece) {
        if (over() || piece.empty()) return;
        pieces.push_back(std::move(piece));
        more.notify();
    }
    void close() {
        closed = true;
        more.notify();
    }
    void cut() {
        if (!failure) failure = error{errc::transport, "connection reset by peer"};
        more.notify();
    }
};

std::optional<std::uint64_t> wanted_version(std::string_view target) {
    constexpr std::string_view key = "resourceVersion=";
    for (auto at = target.find(key); at != target.npos; at = target.find(key, at + 1)) {
        if (target[at - 1] != '?' && target[at - 1] != '&') continue;
        std::uint64_t out = 0;
        for (auto i = at + key.size(); i < target.size() && target[i] >= '0' && target[i] <= '9'; ++i)
            out = out * 10 + static_cast<std::uint64_t>(target[i] - '0');
        return out;
    }
    return std::nullopt;
}

kube::response status_answer(int code, std::string_view reason) {
    kube::response out;
    out.status = code;
    out.body = json{{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"status", "Failure"},
                    {"reason", reason},
                    {"code", code},
                    {"message", fmt::format("{} (a fault of the simulation)", reason)}}
                   .dump();
    return out;
}

std::string_view reason_of(int code) {
    switch (code) {
        case 403: return "Forbidden";
        case 409: return "Conflict";
        case 410: return "Expired";
        case 422: return "Invalid";
        case 429: return "TooManyRequests";
        case 503: return "ServiceUnavailable";
        case 504: return "Timeout";
        default: return "InternalError";
    }
}

constexpr std::string_view expired_line =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
    R"("message":"too old resource version","reason":"Expired","code":410}})"
    "\n";

}  // namespace

bool is_write(const kube::request& what) {
    return what.method != "GET" && what.target.find("dryRun=All") == std::string::npos;
}

request_target target_of(const kube::request& what) {
    std::string_view path = what.target;
    path = path.substr(0, path.find('?'));
    std::vector<std::string_view> parts;
    for (std::size_t at = 1; at <= path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    // api/v1/... or apis/GROUP/VERSION/...
    std::size_t next = !parts.empty() && parts[0] == "api" ? 2 : 3;
    request_target out;
    std::string_view ns;
    if (parts.size() > next + 2 && parts[next] == "namespaces") {
        ns = parts[next + 1];
        next += 2;
    }
    if (next < parts.size()) out.plural = parts[next];
    if (next + 1 < parts.size()) out.object = fmt::format("{}/{}", ns, parts[next + 1]);
    if (next + 2 < parts.size()) out.subresource = parts[next + 2];
    return out;
}

struct network::state : std::enable_shared_from_this<network::state> {
    state(surroundings& in_, listener& to_)
        : in(in_), to(to_), chance(in.chance.fork("network")) {}

    surroundings& in;
    listener& to;
    random_source chance;
    bool down = false;
    std::map<std::string, std::vector<request_fault>> faults;
    /// By operator, replica (-1: all) and plural (empty: all).
    std::map<std::tuple<std::string, int, std::string>, steady_time::duration> lags;
    struct past {
        std::uint64_t version;
        steady_time until;
    };
    std::map<replica_name, past> pasts;
    /// The next watch of this operator on this kind is answered 410.
    std::map<std::pair<std::string, std::string>, int> refusals;
    std::map<std::string, steady_time, std::less<>> last_change;
    std::vector<std::weak_ptr<stream_end>> streams;
    std::map<std::string, int> effects;

    steady_time::duration way() { return chance.between(least_way, most_way); }
    steady_time::duration lag_of(const replica_name& who, const std::string& plural) const {
        for (const int index : {who.index, -1}) {
            for (const auto& of : {plural, std::string()}) {
                auto found = lags.find({who.operator_, index, of});
                if (found != lags.end()) return found->second;
            }
        }
        return steady_time::duration::zero();
    }
    std::uint64_t visible(const replica_name& who, const std::string& plural) const {
        const auto& objects = in.server.objects();
        auto out = objects.version_at(in.time.now() - lag_of(who, plural));
        if (auto found = pasts.find(who); found != pasts.end() && in.time.now() < found->second.until)
            out = std::min(out, found->second.version);
        return std::max(out, objects.compacted());
    }
    void changed(const change& what);
    void arm(const std::shared_ptr<stream_end>& end, steady_time when);
    void pump(const std::shared_ptr<stream_end>& end);
    void keep_bookmarks(std::weak_ptr<stream_end> end);
    std::optional<request_fault> fault_of(const replica_name& who, bool lease,
                                          const kube::request& what);
    void launch(const replica_name& who, bool lease, kube::request what,
                std::weak_ptr<exchange> back);
    /// A request on its way.
    struct flight {
        replica_name who;
        bool lease;
        /// Its sender dies when it has arrived.
        bool fatal;
        kube::request what;
        std::optional<request_fault> fault;
        std::weak_ptr<exchange> back;
        steady_time sent;
        /// The server waits no longer for its cache.
        steady_time give_up;
    };
    void arrive(flight that);
    void answer(std::weak_ptr<exchange> back, result<kube::response> what,
                steady_time::duration later);
    void open(const std::shared_ptr<stream_end>& end, const kube::request& what);
    template <class Do>
    void each_stream(const std::string& operator_, const std::string& plural, Do act) {
        for (const auto& weak : streams) {
            auto end = weak.lock();
            if (end && !end->over() && end->who.operator_ == operator_ && end->plural == plural)
                act(end);
        }
    }
};

namespace {

class wire final : public kube::transport {
public:
    wire(std::shared_ptr<network::state> in, replica_name who, asio::any_io_executor executor,
         clock& time, bool lease)
        : in_(std::move(in)),
          who_(std::move(who)),
          executor_(std::move(executor)),
          time_(time),
          lease_(lease) {}

    asio::awaitable<result<kube::response>> send(kube::request what,
                                                 steady_time deadline) override {
        auto own = std::make_shared<exchange>(executor_);
        in_->launch(who_, lease_, std::move(what), own);
        if (!co_await ends_by(time_, deadline, own->done.wait()))
            co_return fail(errc::timeout, "the deadline passed");
        co_return std::move(*own->answer);
    }

    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request what,
                                                                steady_time deadline) override {
        auto end = std::make_shared<stream_end>(who_, executor_);
        end->plural = target_of(what).plural;
        // Only the head is awaited here: the stream exists from then on.
        const auto there = time_.now() + in_->way();
        if (there > deadline) {
            co_await time_.sleep_until(deadline);
            co_return fail(errc::timeout, "the deadline passed");
        }
        co_await time_.sleep_until(there);
        if (in_->down) co_return fail(errc::transport, "connection refused");
        in_->open(end, what);
        co_return std::make_unique<near_end>(time_, end);
    }

private:
    class near_end final : public kube::stream {
    public:
        near_end(clock& time, std::shared_ptr<stream_end> end)
            : time_(time), end_(std::move(end)) {}
        int status() const override { return end_->status; }
        int retry_after_seconds() const override { return end_->retry_after; }
        asio::awaitable<result<std::string>> read(steady_time deadline) override {
            while (true) {
                if (!end_->pieces.empty()) {
                    auto piece = std::move(end_->pieces.front());
                    end_->pieces.pop_front();
                    co_return piece;
                }
                if (end_->failure) co_return std::unexpected(*end_->failure);
                if (end_->closed) co_return std::string();
                bool in_time = co_await ends_by(time_, deadline, end_->more.wait());
                if (!in_time) co_return fail(errc::timeout, "nothing came until the idle limit");
            }
        }

    private:
        clock& time_;
        std::shared_ptr<stream_end> end_;
    };

    std::shared_ptr<network::state> in_;
    replica_name who_;
    asio::any_io_executor executor_;
    clock& time_;
    bool lease_;
};

}  // namespace

void network::state::changed(const change& what) {
    last_change[std::string(what.type->plural)] = what.at;
    std::erase_if(streams, [](const auto& weak) { return weak.expired(); });
    for (const auto& weak : streams) {
        auto end = weak.lock();
        if (end && !end->over() && end->plural == what.type->plural)
            arm(end, what.at + lag_of(end->who, end->plural) +
                         chance.between(least_event_way, most_event_way));
    }
}

void network::state::arm(const std::shared_ptr<stream_end>& end, steady_time when) {
    if (end->armed) return;
    end->armed = true;
    in.time.at(when, [own = weak_from_this(), weak = std::weak_ptr(end)] {
        auto here = own.lock();
        auto there = weak.lock();
        if (!here || !there) return;
        there->armed = false;
        here->pump(there);
    });
}

void network::state::pump(const std::shared_ptr<stream_end>& end) {
    if (end->over() || !end->source) return;
    const auto now = in.time.now();
    if (now < end->held_until) return arm(end, end->held_until);
    end->shown = std::max(end->shown, visible(end->who, end->plural));
    auto text = end->source->read(end->shown);
    if (!text.empty()) {
        const auto line = text.rfind('\n', text.size() - 2);
        end->last_line = line == text.npos ? text : text.substr(line + 1);
        if (end->half_next) {
            text.resize(text.size() / 2);
            end->push(std::move(text));
            return end->close();
        }
        end->push(std::move(text));
    }
    if (end->source->ended()) return end->close();
    // What came later than the state that is shown is still under way.
    if (end->shown < in.server.objects().version()) {
        auto due = now + cache_poll;
        if (auto last = last_change.find(end->plural); last != last_change.end())
            due = last->second + lag_of(end->who, end->plural) + least_event_way;
        if (auto old = pasts.find(end->who); old != pasts.end() && now < old->second.until)
            due = std::max(due, old->second.until);
        if (due > now) arm(end, due);
    }
}

void network::state::keep_bookmarks(std::weak_ptr<stream_end> weak) {
    in.time.after(bookmark_period, [own = weak_from_this(), weak] {
        auto here = own.lock();
        auto end = weak.lock();
        if (!here || !end || end->over()) return;
        // Events first: a bookmark says that all before it was sent.
        if (here->in.time.now() >= end->held_until) {
            here->pump(end);
            if (!end->over()) end->push(end->source->bookmark(end->shown));
        }
        here->keep_bookmarks(weak);
    });
}

std::optional<request_fault> network::state::fault_of(const replica_name& who, bool lease,
                                                      const kube::request& what) {
    auto found = faults.find(who.operator_);
    if (found == faults.end()) return std::nullopt;
    const bool write = what.method != "GET";
    std::optional<request_fault> out;
    for (auto& fault : found->second) {
        if ((fault.of == "leases") != lease) continue;
        if (fault.of == "reads" ? write : fault.of == "writes" ? !write : false) continue;
        if (fault.passing > 0) {
            --fault.passing;
        } else if (!out && fault.times > 0) {
            --fault.times;
            out = fault;
        }
    }
    std::erase_if(found->second, [](const auto& fault) { return fault.times <= 0; });
    return out;
}

void network::state::answer(std::weak_ptr<exchange> back, result<kube::response> what,
                            steady_time::duration later) {
    in.time.after(later, [back = std::move(back), what = std::move(what)]() mutable {
        if (auto waiting = back.lock()) waiting->give(std::move(what));
    });
}

void network::state::launch(const replica_name& who, bool lease, kube::request what,
                            std::weak_ptr<exchange> back) {
    const bool write = is_write(what);
    auto fate = listener::fate::goes;
    if (write && !lease && target_of(what).plural != "events") fate = to.sends(who, what);
    if (fate == listener::fate::dies_before) return;
    const bool fatal = fate == listener::fate::dies_after;
    const auto fault = fault_of(who, lease, what);
    if (fault) {
        ++effects["request " + fault->what];
        in.told.tell("fault", [&] {
            return fmt::format("{} of {}: {} {}", fault->what, who.text(), what.method, what.target);
        });
    }
    const auto sent = in.time.now();
    auto takes = way();
    if (fault && fault->what == "late") takes += fault->delay;
    if (fault && fault->what == "never-arrives") return;
    in.time.after(takes, [own = weak_from_this(), flight = flight{who, lease, fatal, std::move(what),
                                                                  fault, std::move(back), sent,
                                                                  sent + takes + cache_patience}]() mutable {
        if (auto here = own.lock()) here->arrive(std::move(flight));
    });
}

void network::state::arrive(flight that) {
    if (down)
        return answer(std::move(that.back), fail(errc::transport, "connection refused"), way());
    const auto& what = that.what;
    const auto target = target_of(what);
    const bool write = is_write(what);
    const bool own_write = write && !that.lease && target.plural != "events";
    const auto fault = that.fault ? that.fault->what : std::string();
    const bool applied = fault.empty() || fault == "lost-answer" || fault == "delay" ||
                         fault == "late" || fault == "504-applied";
    if (!applied) {
        if (fault == "reset")
            return answer(std::move(that.back), fail(errc::transport, "connection reset by peer"),
                          way());
        int code = std::atoi(fault.c_str());
        if (code == 409 && what.method == "GET") code = 500;
        auto out = status_answer(code, reason_of(code));
        if (fault == "429-retry-after") out.retry_after_seconds = that.fault->retry_after_seconds;
        if (own_write) to.arrived(that.who, what, code);
        if (that.fatal) return to.dies(that.who);
        return answer(std::move(that.back), std::move(out), way());
    }
    const auto seen = visible(that.who, target.plural);
    if (!write && target.object.empty()) {
        const auto wanted = wanted_version(what.target);
        if (wanted && *wanted > seen && in.time.now() < that.give_up) {
            in.time.after(cache_poll,
                          [own = weak_from_this(), that = std::move(that)]() mutable {
                              if (auto here = own.lock()) here->arrive(std::move(that));
                          });
            return;
        }
    }
    auto out = in.server.answer(what, "esi-" + that.who.operator_, seen);
    if (write) {
        in.told.tell(that.who.text(), [&] {
            return fmt::format("{} {} -> {} {}", what.method, what.target, out.status,
                               what.body.substr(0, 1500));
        });
    }
    if (write && that.lease && out.status < 300) to.lease_written(that.who, that.sent);
    if (what.method == "GET" && !that.lease && !target.object.empty()) {
        to.looked(that.who, target.plural, target.object);
    }
    if (own_write) to.arrived(that.who, what, out.status);
    if (that.fatal) return to.dies(that.who);
    if (fault == "lost-answer")
        return answer(std::move(that.back), fail(errc::transport, "connection reset by peer"), way());
    if (fault == "504-applied")
        return answer(std::move(that.back), status_answer(504, "Timeout"), way());
    answer(std::move(that.back), std::move(out), fault == "delay" ? way() + that.fault->delay : way());
}

void network::state::open(const std::shared_ptr<stream_end>& end, const kube::request& what) {
    if (auto found = refusals.find({end->who.operator_, end->plural});
        found != refusals.end() && found->second > 0) {
        --found->second;
        auto out = status_answer(410, "Expired");
        end->status = out.status;
        end->pieces.push_back(std::move(out.body));
        end->closed = true;
        return;
    }
    auto opened = in.server.open(what, visible(end->who, end->plural));
    if (auto* refused = std::get_if<kube::response>(&opened)) {
        end->status = refused->status;
        end->retry_after = refused->retry_after_seconds;
        if (!refused->body.empty()) end->pieces.push_back(std::move(refused->body));
        end->closed = true;
        return;
    }
    end->source = std::move(std::get<std::unique_ptr<watch>>(opened));
    streams.push_back(end);
    arm(end, in.time.now() + way());
    keep_bookmarks(end);
    if (end->source->timeout_seconds() > 0) {
        in.time.after(seconds(end->source->timeout_seconds()), [weak = std::weak_ptr(end)] {
            if (auto there = weak.lock(); there && !there->over()) there->close();
        });
    }
}

network::network(surroundings& in, listener& to) : state_(std::make_shared<state>(in, to)) {
    in.server.objects().on_change([own = std::weak_ptr(state_)](const change& what) {
        if (auto here = own.lock()) here->changed(what);
    });
}
network::~network() = default;

std::unique_ptr<kube::transport> network::connect(const replica_name& who,
                                                  asio::any_io_executor executor, clock& time,
                                                  bool lease) {
    return std::make_unique<wire>(state_, who, std::move(executor), time, lease);
}

void network::fail_requests(const std::string& operator_, request_fault how) {
    state_->faults[operator_].push_back(std::move(how));
}

void network::fail_watches(const std::string& operator_, const watch_fault& how) {
    auto& own = *state_;
    own.each_stream(operator_, how.plural, [&](const std::shared_ptr<stream_end>& end) {
        ++own.effects["watch " + how.what];
        if (how.what == "end") {
            end->close();
        } else if (how.what == "reset") {
            end->cut();
        } else if (how.what == "silent") {
            end->held_until = own.in.time.now() + how.lasts;
            own.in.time.after(how.lasts, [weak = std::weak_ptr(end)] {
                if (auto there = weak.lock(); there && !there->over()) there->cut();
            });
        } else if (how.what == "410-status") {
            own.refusals[{operator_, how.plural}] = 1;
            end->close();
        } else if (how.what == "410-event") {
            end->push(std::string(expired_line));
            end->close();
        } else if (how.what == "duplicate") {
            end->push(end->last_line);
        } else if (how.what == "garbage") {
            end->push("}{ no json \x01\n");
        } else if (how.what == "half-line") {
            end->half_next = true;
        } else if (how.what == "bookmark-only") {
            end->push(end->source->bookmark(end->shown));
            end->held_until = own.in.time.now() + how.lasts;
        }
    });
}

void network::lag(const std::string& operator_, int replica, const std::string& plural,
                  steady_time::duration by) {
    const std::tuple key(operator_, replica, plural == "*" ? std::string() : plural);
    if (by == steady_time::duration::zero()) {
        state_->lags.erase(key);
        // What was held back is due now.
        for (const auto& weak : state_->streams) {
            if (auto end = weak.lock()) state_->arm(end, state_->in.time.now());
        }
        return;
    }
    ++state_->effects["lag"];
    state_->lags[key] = by;
}

void network::show_past(const replica_name& who, steady_time::duration by) {
    const auto now = state_->in.time.now();
    state_->pasts[who] = {state_->in.server.objects().version_at(now - by), now + past_lasts};
}

void network::set_down(bool down) {
    state_->down = down;
    if (!down) return;
    for (const auto& weak : state_->streams) {
        if (auto end = weak.lock(); end && !end->over()) end->cut();
    }
}

bool network::down() const { return state_->down; }

const std::map<std::string, int>& network::effects() const { return state_->effects; }

}  // namespace esi::simulation
