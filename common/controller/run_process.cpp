#include "controller/run_process.h"

#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "controller/operator_life.h"
#include "controller/process_numbers.h"
#include "controller/status_routes.h"
#include "kube/auth/kubeconfig.h"
#include "kube/connection/http_transport.h"
#include "kube/connection/rate_limit.h"
#include "kube/reach.h"
#include "kube/server_version.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;

constexpr auto http_patience = 2s;

/// A connection with TLS takes some 80 KiB more than one without.
constexpr int most_tls_connections = 384;
/// More streams than callers may have together: a stream whose place went to another tenant ends a
/// moment after the new one has begun.
constexpr int ending_streams = 200;

/// How long the version is awaited: an API server without answer is handled elsewhere.
constexpr auto version_patience = 5s;

constexpr auto lag_period = 1s;
constexpr auto heap_period = 5s;
/// Free bytes that stay in the heap for later use.
constexpr std::size_t heap_slack = 4u << 20;
const std::vector<double> lag_buckets{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};
const std::vector<double> answer_buckets{0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30};

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

/// Ends the process without any orderly stop: used if another may lead already, and if a person
/// asked twice.
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

/// "context x", "in-cluster".
std::string way_of(const kube::cluster_access& access) {
    return access.context.empty() ? "in-cluster" : "context " + access.context;
}

/// Clients may send any word as a method.
std::string known_method(std::string_view method) {
    for (const char* known : {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
        if (method == known) return known;
    }
    return "other";
}

/// Large buffers (lists, big objects, patches) live for moments: each gets pages of its own, which
/// go back to the system with it. glibc would otherwise raise the threshold with the first such
/// buffer and keep the next ones in the heap for good (mallopt(3), "dynamic mmap threshold").
void keep_the_heap_small() {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
}

/// The process around one operator. Members are in the order of their dependencies.
class process {
public:
    process(std::string name, process_options options)
        : component_("esi-" + std::move(name)), options_(std::move(options)) {}

    int run(const operator_factory& make);

private:
    asio::awaitable<void> live(const operator_factory& make);
    asio::awaitable<int> serve(const operator_factory& make);
    result<void> open_wires();
    result<std::unique_ptr<kube::http_transport>> connect(const kube::cluster_access& access,
                                                          std::string_view purpose);
    asio::awaitable<void> watch_signals();
    void show_share(const operator_part::cache& cache);
    void show_gauges();
    http::server_options listen_options();
    void tell_start(const result<kube::cluster_access>& access) const;
    asio::awaitable<void> measure_lag();
    asio::awaitable<void> give_back_memory();
    void count_answer(const http::answered_request& what);

    std::string component_;
    process_options options_;
    asio::io_context loop_{1};
    system_clock time_;
    metrics numbers_;
    http::router routes_;
    task_group signals_{loop_.get_executor()};
    task_group background_{loop_.get_executor()};

    std::unique_ptr<kube::http_transport> wire_;
    std::unique_ptr<kube::http_transport> lease_wire_;
    std::optional<kube::reach> reach_;
    std::optional<kube::reaching_transport> reaching_;
    std::optional<kube::reaching_transport> lease_reaching_;
    std::unique_ptr<kube::rate_limited> limited_;
    std::optional<operator_life> life_;

    /// While it listens.
    http::server* server_ = nullptr;
    bool stop_asked_ = false;
    int exit_code_ = exit_failed;
};

int process::run(const operator_factory& make) {
    // A peer that closes while we write is an error of that write, not of the process.
    std::signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    keep_the_heap_small();
    task_group whole(loop_.get_executor());
    whole.spawn(component_, live(make));
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

result<void> process::open_wires() {
    auto access = kube::load_access(options_.kubeconfig, options_.context);
    tell_start(access);
    if (!access) return std::unexpected(std::move(access).error());
    reach_.emplace(access->cluster.server, way_of(*access));
    auto wire = connect(*access, "");
    if (!wire) return std::unexpected(std::move(wire).error());
    wire_ = std::move(*wire);
    reaching_.emplace(*wire_, time_, *reach_);
    if (options_.kube_api_qps > 0) {
        limited_ = std::make_unique<kube::rate_limited>(*reaching_, time_, options_.kube_api_qps);
    }
    if (!options_.leader_elect) return {};

    auto lease_wire = connect(*access, " leader-election");
    if (!lease_wire) return std::unexpected(std::move(lease_wire).error());
    lease_wire_ = std::move(*lease_wire);
    lease_reaching_.emplace(*lease_wire_, time_, *reach_);
    return {};
}

/// The first line of a process: its name and version, and where it works.
void process::tell_start(const result<kube::cluster_access>& access) const {
    std::string namespaces;
    for (const auto& each : options_.namespaces) {
        namespaces += (namespaces.empty() ? "" : ",") + each;
    }
    log::info("starting", {{"operator", component_},
                           {"version", version()},
                           {"server", access ? access->cluster.server : std::string()},
                           {"access", access ? way_of(*access) : std::string()},
                           {"namespaces", namespaces.empty() ? "all" : namespaces},
                           {"leader_elect", options_.leader_elect
                                                ? options_.leader_elect_namespace + "/" + component_
                                                : "no"}});
}

asio::awaitable<int> process::serve(const operator_factory& make) {
    if (auto opened = open_wires(); !opened) {
        log::error("no way to the API server", {{"error", opened.error().text}});
        co_return exit_failed;
    }
    if (auto known =
            co_await kube::read_server_version(*reaching_, time_.now() + version_patience)) {
        log::info("Kubernetes", {{"version", known->text}});
        if (auto fault = kube::too_old(*known); !fault.empty()) {
            log::error("cannot work here", {{"error", fault}});
            co_return exit_failed;
        }
    }
    kube::transport* front = &*reaching_;
    if (limited_) front = limited_.get();
    kube::transport* lease_front = lease_reaching_ ? &*lease_reaching_ : nullptr;
    auto names = name_process();
    life_.emplace(
        ground{loop_.get_executor(), time_, *front, lease_front, numbers_, routes_, options_,
               component_, std::move(names.identity), std::move(names.pod), wire_->host(),
               // Memory that only the start needed is scattered in the heap: no free() gives that
               // back.
               [] { malloc_trim(0); }},
        make, [] { end_at_once(exit_failed); });
    add_status_routes(
        routes_, component_, [this] { return life_->checks(); }, numbers_,
        [this] { show_gauges(); });
    http::server server(loop_.get_executor(), time_, listen_options(), routes_);
    if (auto started = server.start(); !started) {
        log::error("cannot listen", {{"error", started.error().text}});
        co_return exit_failed;
    }
    server_ = &server;
    if (stop_asked_) server.close_listener();
    log::info("listening", {{"address", options_.bind_address}, {"port", server.port()}});

    if (stop_asked_) life_->ask_to_stop();
    background_.spawn("loop lag", measure_lag());
    background_.spawn("memory", give_back_memory());
    const bool orderly = co_await life_->run();
    co_await life_->stop();
    co_await server.stop(time_.now() + http_patience);
    server_ = nullptr;
    co_await background_.stop();
    const int code = orderly ? exit_ok : exit_failed;
    log::info("stopped", {{"operator", component_}, {"code", code}});
    co_return code;
}

result<std::unique_ptr<kube::http_transport>> process::connect(const kube::cluster_access& access,
                                                               std::string_view purpose) {
    kube::http_transport_options how;
    how.user_agent = fmt::format("{}/{}{}", component_, version(), purpose);
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
        // The address is free from now on, for the process that replaces this one.
        if (server_ != nullptr) server_->close_listener();
        if (life_) life_->ask_to_stop();
    }
}

/// A timer that does nothing: its delay is the time that other work waits for the loop.
asio::awaitable<void> process::measure_lag() {
    auto& lag = numbers_.histogram("esi_loop_lag_seconds",
                                   "How late a timer of the event loop came, looked at each second",
                                   lag_buckets);
    while (true) {
        const auto due = time_.now() + lag_period;
        co_await time_.sleep_until(due);
        lag.Observe(std::chrono::duration<double>(time_.now() - due).count());
    }
}

/// Memory of many objects or connections is scattered in the heap when they are gone: no free()
/// gives that back.
asio::awaitable<void> process::give_back_memory() {
    std::size_t known = 0;  ///< free bytes of the heap that are given back, or too few for that
    while (true) {
        co_await time_.sleep_for(heap_period);
        const std::size_t free = mallinfo2().fordblks;
        if (free >= known + heap_slack) {
            malloc_trim(0);
            known = free;
        }
        known = std::min(known, free);
    }
}

void process::count_answer(const http::answered_request& what) {
    const metrics::labels route{{"route", what.route.empty() ? "none" : std::string(what.route)},
                                {"method", known_method(what.method)}};
    auto with_code = route;
    with_code.emplace("code", std::to_string(what.status));
    numbers_
        .counter("esi_http_requests_total",
                 "HTTP requests that were answered, by the route's pattern (none: no route)",
                 with_code)
        .Increment();
    // The end of a conversation of another protocol says nothing.
    if (what.status == 101) return;
    numbers_
        .histogram("esi_http_request_duration_seconds",
                   "Time from the first byte of a request until its answer was sent",
                   answer_buckets, route)
        .Observe(std::chrono::duration<double>(what.took).count());
}

void process::show_share(const operator_part::cache& cache) {
    if (!cache.shares || cache.shares().limit() == 0) return;
    const auto& of = cache.shares();
    const metrics::labels with{{"cache", cache.name}};
    numbers_.gauge("esi_cache_bytes", "Memory that the objects of a cache take, estimated", with)
        .Set(static_cast<double>(of.bytes()));
    numbers_
        .gauge(
            "esi_cache_share_used_ratio",
            "Of the namespace whose objects take most of a cache: the part of --cache-share-bytes "
            "that they take; above 1 the content of its largest objects is left out",
            with)
        .Set(static_cast<double>(of.largest()) / static_cast<double>(of.limit()));
    numbers_
        .gauge("esi_cache_objects_left_out",
               "Objects whose content is left out, as their namespace stores more than its share",
               with)
        .Set(static_cast<double>(of.all_left_out().size()));
}

void process::show_gauges() {
    for (const auto& cache : life_->caches()) {
        show_share(cache);
        if (!cache.last_heard) continue;
        numbers_
            .gauge("esi_watch_silence_seconds", "Seconds since the last byte of a list or watch",
                   {{"cache", cache.name}})
            .Set(std::max(0.0,
                          std::chrono::duration<double>(time_.now() - cache.last_heard()).count()));
    }
    numbers_
        .gauge("esi_clock_skew_seconds",
               "This machine's clock minus the API server's, as far as the Date of answers proves "
               "it; deadlines go by the API server's")
        .Set(std::chrono::duration<double>(life_->clock_skew()).count());
    if (server_ != nullptr) {
        numbers_
            .gauge("esi_http_connections", "Open HTTP connections, STOMP connections among them")
            .Set(static_cast<double>(server_->connections()));
    }
    show_process(numbers_);
}

http::server_options process::listen_options() {
    http::server_options out;
    out.bind_address = options_.bind_address;
    out.port = options_.port;
    out.tls_cert_file = options_.tls_cert_file;
    out.tls_private_key_file = options_.tls_private_key_file;
    out.client_ca_file = options_.client_ca_file;
    out.on_answer = [this](const http::answered_request& what) { count_answer(what); };
    if (!out.tls_cert_file.empty()) out.limits.connections = most_tls_connections;
    out.limits.streams += ending_streams;
    return out;
}

}  // namespace

int run_process(int argc, char** argv, std::string name, int default_port,
                std::function<void(CLI::App&)> add_flags, operator_factory make) {
    process_options options;
    CLI::App app("ESI " + name + " operator", "esi-" + name);
    app.set_version_flag("--version", fmt::format("esi-{} {}", name, version()));
    options.add_to(app, default_port);
    if (add_flags) add_flags(app);
    try {
        parse_flags(app, argc, argv);
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
