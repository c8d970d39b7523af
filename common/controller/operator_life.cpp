#include "controller/operator_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/wait.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

/// Kubernetes kills a pod 30 s after SIGTERM (terminationGracePeriodSeconds).
constexpr auto stop_patience = 20s;
constexpr auto release_patience = 2s;
/// controller-runtime's CacheSyncTimeout.
constexpr auto sync_limit = 2min;
constexpr auto sync_poll = 20ms;
/// An API server that is being restarted refuses what it granted before, for seconds.
constexpr auto refusal_patience = 1min;
/// Namespaces that a check names.
constexpr std::size_t most_reasons = 4;

const std::vector<double> request_buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

election_options election_of(const ground& on) {
    election_options out;
    out.lease_namespace = on.options.leader_elect_namespace;
    out.lease_name = on.component;
    out.identity = on.identity;
    out.pod = on.pod;
    out.times.duration = on.options.lease_duration;
    out.times.renew_deadline = on.options.renew_deadline;
    out.times.retry_period = on.options.retry_period;
    return out;
}

std::vector<kube::trouble> troubles_of(const operator_part::cache& cache) {
    return cache.troubles ? cache.troubles() : std::vector<kube::trouble>();
}

std::string reasons(const std::vector<kube::trouble>& all) {
    std::string out;
    for (std::size_t i = 0; i < std::min(all.size(), most_reasons); ++i) {
        out += (i == 0 ? "" : "; ") + all[i].text();
    }
    if (all.size() > most_reasons) {
        out += fmt::format("; and {} more", all.size() - most_reasons);
    }
    return out;
}

/// A refusal that lasts for so long is real, not passing: above all a kind that was deleted.
bool stands(const kube::trouble& of, steady_time now) {
    return of.refused() && !of.aside && now - of.since >= refusal_patience;
}

readiness_check check_of(const operator_part::cache& cache, steady_time now) {
    const auto troubles = troubles_of(cache);
    const bool refused =
        std::ranges::any_of(troubles, [&](const auto& each) { return stands(each, now); });
    readiness_check out{cache.name, cache.synced() && !refused, reasons(troubles)};
    if (!out.passed && out.reason.empty()) out.reason = "the first list is not complete";
    return out;
}

readiness_check check_of(const leader_election& election, steady_time now) {
    readiness_check out{"leader-election", true, {}};
    const auto& trouble = election.present_trouble();
    if (!trouble) return out;
    out.reason = trouble->text();
    out.passed = !trouble->refused() || (election.known() && !stands(*trouble, now));
    return out;
}

void tell_not_synced(const operator_part::cache& cache) {
    std::string where;
    for (const auto& ns : cache.missing ? cache.missing() : std::vector<std::string>()) {
        where += (where.empty() ? "" : ", ") + (ns.empty() ? "all" : ns);
    }
    log::error(
        "cache not synced within 2 minutes",
        {{"cache", cache.name}, {"namespaces", where}, {"error", reasons(troubles_of(cache))}});
}

}  // namespace

operator_life::operator_life(ground on, const operator_factory& make, std::function<void()> on_lost)
    : on_(std::move(on)),
      time_(on_.time),
      wire_(on_.wire, time_),
      on_lost_(std::move(on_lost)),
      changed_(on_.executor),
      background_(on_.executor),
      api_(wire_, time_),
      open_api_(wire_, time_),
      events_(api_, time_, on_.component, on_.component + "-" + on_.identity),
      around_{on_.executor, time_,       api_,      events_,     on_.numbers,
              on_.routes,   on_.options, open_api_, on_.identity} {
    count_requests(api_);
    count_requests(open_api_);
    events_.on_drop([this](std::string_view why) {
        on_.numbers
            .counter("esi_events_dropped_total", "Events that were given up",
                     {{"reason", std::string(why)}})
            .Increment();
    });
    if (on_.lease_wire != nullptr) {
        lease_wire_.emplace(*on_.lease_wire, time_);
        lease_api_.emplace(*lease_wire_, time_);
        count_requests(*lease_api_);
        election_.emplace(*lease_api_, time_, on_.numbers, election_of(on_), [this] {
            elected_ = true;
            changed_.notify();
        });
        api_.limit_writes([this] { return std::optional(election_->may_write_until()); });
    }
    part_ = make(around_);
    caches_ = part_->caches();
    for (const auto& cache : caches_) {
        if (cache.limit) cache.limit(around_.options.cache_share);
    }
}

void operator_life::count_requests(kube::client& api) const {
    api.on_request([this](int code, std::string_view method, double taken) {
        on_.numbers
            .counter("rest_client_requests_total",
                     "Number of HTTP requests, partitioned by status code, method, and host",
                     {{"code", code == 0 ? "<error>" : std::to_string(code)},
                      {"method", std::string(method)},
                      {"host", on_.host}})
            .Increment();
        on_.numbers
            .histogram("rest_client_request_duration_seconds",
                       "Request latency in seconds, by verb and host", request_buckets,
                       {{"verb", std::string(method)}, {"host", on_.host}})
            .Observe(taken);
    });
    api.on_list_failure([this](const kube::resource_type& type, errc code) {
        on_.numbers
            .counter(
                "esi_list_failures_total",
                "Lists and watches that failed, by kind and HTTP status (<error>: no answer)",
                {{"kind", std::string(type.kind)}, {"code", std::string(kube::status_of(code))}})
            .Increment();
    });
}

asio::awaitable<void> operator_life::hold_lease(leader_election& election) {
    co_await election.run();
    log::error("no longer the leader, ending", {{"operator", on_.component}});
    on_lost_();
}

void operator_life::run_caches() {
    running_caches_ = std::make_unique<task_group>(on_.executor);
    for (const auto& cache : caches_) running_caches_->spawn("cache " + cache.name, cache.run());
}

asio::awaitable<bool> operator_life::run() {
    run_caches();
    background_.spawn("events", events_.run());
    if (election_) {
        background_.spawn("election", hold_lease(*election_));
    } else {
        elected_ = renewed_ = true;
    }
    auto sync_deadline = time_.now() + sync_limit;
    bool full = false;
    while (!stop_asked_) {
        if (elected_ && !renewed_) {
            // A standby's watch may be minutes behind, and acting on it would undo the last writes
            // of the leader before: guards hold single objects only. A list from now on shows all
            // that it wrote.
            co_await running_caches_->stop();
            run_caches();
            renewed_ = true;
            sync_deadline = time_.now() + sync_limit;
        }
        if (!full && all(&operator_part::cache::synced)) {
            full = true;
            log::info("caches synced", {{"count", caches_.size()}});
            if (on_.on_synced) on_.on_synced();
        }
        if (renewed_ && !led_ && all(&operator_part::cache::current)) {
            led_ = true;
            part_->lead();
        }
        if (full && led_ == elected_) {
            co_await changed_.wait();
            continue;
        }
        if (time_.now() >= sync_deadline) {
            for (const auto& cache : caches_) {
                if (elected_ ? cache.current() : cache.synced()) continue;
                tell_not_synced(cache);
            }
            co_return false;
        }
        co_await ends_by(time_, time_.now() + sync_poll, changed_.wait());
    }
    co_return true;
}

void operator_life::ask_to_stop() {
    stop_asked_ = true;
    changed_.notify();
}

asio::awaitable<void> operator_life::stop() {
    co_await part_->stop(time_.now() + stop_patience);
    if (running_caches_) co_await running_caches_->stop();
    co_await background_.stop();
    if (election_) co_await election_->release(time_.now() + release_patience);
}

std::vector<readiness_check> operator_life::checks() const {
    std::vector<readiness_check> out;
    // Clients are to send their requests elsewhere before they are refused.
    if (stop_asked_) out.push_back({"shutdown", false, "this process is ending"});
    for (const auto& cache : caches_) out.push_back(check_of(cache, time_.now()));
    if (election_) out.push_back(check_of(*election_, time_.now()));
    if (part_) {
        for (auto& each : part_->checks()) out.push_back(std::move(each));
    }
    return out;
}

bool operator_life::all(std::function<bool()> operator_part::cache::* holds) const {
    return std::ranges::all_of(caches_, [&](const auto& cache) { return (cache.*holds)(); });
}

bool operator_life::leading() const { return election_ ? election_->leading() : led_; }

}  // namespace esi::controller
