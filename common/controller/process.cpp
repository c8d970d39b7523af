#include "controller/process.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "controller/leader_election.h"
#include "controller/status_routes.h"
#include "kube/http_transport.h"
#include "kube/kubeconfig.h"
#include "kube/rate_limit.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

/// Kubernetes kills a pod 30 s after SIGTERM (terminationGracePeriodSeconds).
constexpr auto stop_patience = 20s;
constexpr auto release_patience = 2s;
constexpr auto http_patience = 2s;
/// controller-runtime's CacheSyncTimeout.
constexpr auto sync_limit = 2min;
constexpr auto sync_poll = 20ms;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

const std::vector<double> request_buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

/// Ends the process without any orderly stop: used where another may lead already, and where a
/// person asked twice.
[[noreturn]] void end_at_once(int code) {
    std::fflush(nullptr);
    std::_Exit(code);
}

log::level level_of(const std::string& name) {
    if (name == "debug") return log::level::debug;
    if (name == "warn") return log::level::warn;
    if (name == "error") return log::level::error;
    return log::level::info;
}

/// Connections are files: with the usual soft limit of 1,024 the clients of the server could take
/// those that go to the API server. Nothing here uses select(2), for which the limit is so low.
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Large buffers (lists, big objects, patches) live for moments: each gets pages of its own, which
/// go back to the system with it. glibc would otherwise raise the threshold with the first such
/// buffer and keep the next ones in the heap for good (mallopt(3), "dynamic mmap threshold").
void keep_the_heap_small() {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

void count_requests(kube::client& api, metrics& numbers, std::string host) {
    api.on_request(
        [&numbers, host = std::move(host)](int code, std::string_view method, double taken) {
            numbers
                .counter("rest_client_requests_total",
                         "Number of HTTP requests, partitioned by status code, method, and host",
                         {{"code", code == 0 ? "<error>" : std::to_string(code)},
                          {"method", std::string(method)},
                          {"host", host}})
                .Increment();
            numbers
                .histogram("rest_client_request_duration_seconds",
                           "Request latency in seconds, by verb and host", request_buckets,
                           {{"verb", std::string(method)}, {"host", host}})
                .Observe(taken);
        });
}

/// One operator from its start to its end. Members are in the order in which they need each other.
class process {
public:
    process(std::string name, process_options options)
        : component_("esi-" + std::move(name)), options_(std::move(options)) {}

    int run(const operator_factory& make);

private:
    asio::awaitable<void> live(const operator_factory& make);
    asio::awaitable<int> serve(const operator_factory& make);
    result<void> open_clients();
    result<std::unique_ptr<kube::http_transport>> connect(const kube::cluster_access& access,
                                                          std::string_view purpose);
    asio::awaitable<void> watch_signals();
    asio::awaitable<void> hold_lease();
    asio::awaitable<int> lead_when_ready(operator_part& part);
    asio::awaitable<void> stop(operator_part& part, http::server& server);
    std::vector<readiness_check> checks() const;
    bool caches_full() const;
    void show_gauges();
    http::server_options listen_options() const;
    election_options election_of(const std::string& identity) const;

    std::string component_;
    process_options options_;
    std::string identity_ = process_identity();
    asio::io_context loop_{1};
    system_clock time_;
    metrics numbers_;
    http::router routes_;
    notifier changed_{loop_.get_executor()};
    /// Caches, events, the election.
    task_group background_{loop_.get_executor()};
    task_group signals_{loop_.get_executor()};

    std::unique_ptr<kube::http_transport> wire_;
    std::unique_ptr<kube::rate_limited> limited_;
    /// Of the lease alone: renewals never queue behind other requests.
    std::unique_ptr<kube::http_transport> lease_wire_;
    std::optional<kube::client> api_;
    std::optional<kube::client> open_api_;
    std::optional<kube::client> lease_api_;
    std::optional<event_recorder> events_;
    std::optional<leader_election> election_;
    std::vector<operator_part::cache> caches_;

    bool leading_ = false;
    bool led_ = false;
    bool stop_asked_ = false;
    int exit_code_ = exit_failed;
};

int process::run(const operator_factory& make) {
    // A peer that closes while we write is an error of that write, not of the process.
    std::signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    keep_the_heap_small();
    task_group life(loop_.get_executor());
    life.spawn(component_, live(make));
    loop_.run();
    return exit_code_;
}

asio::awaitable<void> process::live(const operator_factory& make) {
    signals_.spawn("signals", watch_signals());
    exit_code_ = co_await serve(make);
    co_await signals_.stop();
    // Timers and helper threads of kept connections are of no use any more.
    loop_.stop();
}

result<void> process::open_clients() {
    auto access = kube::load_access(options_.kubeconfig, options_.context);
    if (!access) return std::unexpected(std::move(access).error());
    auto wire = connect(*access, "");
    if (!wire) return std::unexpected(std::move(wire).error());
    wire_ = std::move(*wire);
    kube::transport* front = wire_.get();
    if (options_.kube_api_qps > 0) {
        limited_ = std::make_unique<kube::rate_limited>(*wire_, time_, options_.kube_api_qps);
        front = limited_.get();
    }
    api_.emplace(*front, time_);
    count_requests(*api_, numbers_, wire_->host());
    open_api_.emplace(*front, time_);
    count_requests(*open_api_, numbers_, wire_->host());
    if (!options_.leader_elect) return {};

    auto lease_wire = connect(*access, " leader-election");
    if (!lease_wire) return std::unexpected(std::move(lease_wire).error());
    lease_wire_ = std::move(*lease_wire);
    lease_api_.emplace(*lease_wire_, time_);
    count_requests(*lease_api_, numbers_, lease_wire_->host());
    election_.emplace(*lease_api_, time_, numbers_, election_of(identity_), [this] {
        leading_ = true;
        changed_.notify();
    });
    api_->limit_writes([this] { return std::optional(election_->may_write_until()); });
    return {};
}

asio::awaitable<int> process::serve(const operator_factory& make) {
    log::info("starting", {{"operator", component_}, {"version", ESI_VERSION}});
    if (auto opened = open_clients(); !opened) {
        log::error("no way to the API server", {{"error", opened.error().text}});
        co_return exit_failed;
    }
    events_.emplace(*api_, time_, component_, component_ + "-" + identity_);
    environment around{
        loop_.get_executor(), time_, *api_, *events_, numbers_, routes_, options_, *open_api_};
    auto part = make(around);
    caches_ = part->caches();
    add_status_routes(
        routes_, component_, [this] { return checks(); }, numbers_, [this] { show_gauges(); });
    http::server server(loop_.get_executor(), time_, listen_options(), routes_);
    if (auto started = server.start(); !started) {
        log::error("cannot listen", {{"error", started.error().text}});
        co_return exit_failed;
    }
    log::info("listening", {{"address", options_.bind_address}, {"port", server.port()}});

    // Standbys keep their caches full: a takeover costs no list.
    for (const auto& cache : caches_) background_.spawn("cache " + cache.name, cache.run());
    background_.spawn("events", events_->run());
    if (election_) {
        background_.spawn("election", hold_lease());
    } else {
        leading_ = true;
    }
    int code = co_await lead_when_ready(*part);
    co_await stop(*part, server);
    log::info("stopped", {{"operator", component_}, {"code", code}});
    co_return code;
}

result<std::unique_ptr<kube::http_transport>> process::connect(const kube::cluster_access& access,
                                                               std::string_view purpose) {
    kube::http_transport_options how;
    how.user_agent = fmt::format("{}/{}{}", component_, ESI_VERSION, purpose);
    return kube::http_transport::make(loop_.get_executor(), time_, access, std::move(how));
}

asio::awaitable<void> process::watch_signals() {
    asio::signal_set signals(loop_, SIGTERM, SIGINT);
    while (true) {
        int number = co_await signals.async_wait(asio::use_awaitable);
        if (stop_asked_) {
            log::warn("second signal, ending at once", {{"signal", number}});
            end_at_once(exit_failed);
        }
        log::info("stopping", {{"signal", number}});
        stop_asked_ = true;
        changed_.notify();
    }
}

asio::awaitable<void> process::hold_lease() {
    co_await election_->run();
    // Another leads, or may at any moment: nothing of this process may write again.
    log::error("no longer the leader, ending", {{"operator", component_}});
    end_at_once(exit_failed);
}

asio::awaitable<int> process::lead_when_ready(operator_part& part) {
    const auto sync_deadline = time_.now() + sync_limit;
    bool full = false;
    while (!stop_asked_) {
        if (!full && caches_full()) {
            full = true;
            log::info("caches synced", {{"count", caches_.size()}});
            // What only the start needed lies scattered in the heap: no free() gives that back.
            malloc_trim(0);
        }
        if (full && leading_ && !led_) {
            led_ = true;
            part.lead();
        }
        if (full) {
            co_await changed_.wait();
            continue;
        }
        if (time_.now() >= sync_deadline) {
            for (const auto& check : checks()) {
                if (check.passed) continue;
                log::error(
                    "cache not synced within 2 minutes; see the warnings above, and the "
                    "rights (RBAC) of this operator",
                    {{"cache", check.name}});
            }
            co_return exit_failed;
        }
        co_await ends_by(time_, time_.now() + sync_poll, changed_.wait());
    }
    co_return exit_ok;
}

asio::awaitable<void> process::stop(operator_part& part, http::server& server) {
    // Controllers first, while this process still holds the lease; then the lease, so that a
    // standby takes over at once; then the rest.
    co_await part.stop(time_.now() + stop_patience);
    co_await background_.stop();
    if (election_) co_await election_->release(time_.now() + release_patience);
    co_await server.stop(time_.now() + http_patience);
}

std::vector<readiness_check> process::checks() const {
    std::vector<readiness_check> out;
    for (const auto& cache : caches_) {
        if (cache.required) out.push_back({cache.name, cache.synced()});
    }
    return out;
}

bool process::caches_full() const {
    return std::all_of(caches_.begin(), caches_.end(),
                       [](const auto& cache) { return !cache.required || cache.synced(); });
}

void process::show_gauges() {
    for (const auto& cache : caches_) {
        if (!cache.last_heard) continue;
        numbers_
            .gauge("esi_watch_silence_seconds", "Seconds since the last byte of a list or watch",
                   {{"cache", cache.name}})
            .Set(std::chrono::duration<double>(time_.now() - cache.last_heard()).count());
    }
    numbers_.gauge("process_resident_memory_bytes", "Resident memory size in bytes")
        .Set(resident_bytes());
}

http::server_options process::listen_options() const {
    http::server_options out;
    out.bind_address = options_.bind_address;
    out.port = options_.port;
    out.tls_cert_file = options_.tls_cert_file;
    out.tls_private_key_file = options_.tls_private_key_file;
    return out;
}

election_options process::election_of(const std::string& identity) const {
    election_options out;
    out.lease_namespace = options_.leader_elect_namespace;
    out.lease_name = component_;
    out.identity = identity;
    out.times.duration = options_.lease_duration;
    out.times.renew_deadline = options_.renew_deadline;
    out.times.retry_period = options_.retry_period;
    return out;
}

}  // namespace

int run_process(int argc, char** argv, std::string name, int default_port,
                std::function<void(CLI::App&)> add_flags, operator_factory make) {
    process_options options;
    CLI::App app("ESI " + name + " operator", "esi-" + name);
    app.set_version_flag("--version", fmt::format("esi-{} {}", name, ESI_VERSION));
    options.add_to(app, default_port);
    if (add_flags) add_flags(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        // --help and --version come this way too, with 0.
        return app.exit(e) == 0 ? exit_ok : exit_usage;
    }
    if (auto right = options.check(); !right) {
        fmt::print(stderr, "{}\nRun with --help for more information.\n", right.error().text);
        return exit_usage;
    }
    log::configure(level_of(options.log_level),
                   options.log_format == "json" ? log::format::json : log::format::text);
    process life(std::move(name), std::move(options));
    return life.run(make);
}

}  // namespace esi::controller
