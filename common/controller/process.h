// The contract between the parts of an operator and their process: common flags, what a part is
// given, and what it offers (run_process.h runs it).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "controller/controller.h"
#include "controller/events.h"
#include "controller/metrics.h"
#include "controller/status_routes.h"
#include "http/access.h"
#include "http/server.h"
#include "kube/client.h"
#include "kube/watch/informer.h"

namespace CLI {
class App;
}

namespace esi::controller {

/// Flags that all operators have (docs/user-guide.md); each also as ESI_<FLAG> in the environment.
struct process_options {
    std::string kubeconfig;
    std::string context;
    std::vector<std::string> namespaces;  ///< empty: all
    bool leader_elect = true;
    std::string leader_elect_namespace = "esi-system";
    seconds lease_duration{15};
    seconds renew_deadline{10};
    seconds retry_period{2};
    std::string bind_address = "0.0.0.0";
    int port = 0;
    std::string tls_cert_file;
    std::string tls_private_key_file;
    std::string client_ca_file;
    std::string log_level = "info";
    std::string log_format = "text";
    double kube_api_qps = 0;
    /// How much memory the objects of one kind in one namespace may take, in bytes.
    std::size_t cache_share = kube::default_share;
    bool enable_debug_endpoints = false;

    void add_to(CLI::App& app, int default_port);
    /// Checks combinations of flags, after parsing.
    result<void> check() const;
};

/// Parses as app.parse() does, but ignores variables of the environment that are Kubernetes' links
/// to a Service of that name (ESI_PORT=tcp://10.0.0.1:8080). Throws CLI::ParseError; for a value
/// from the environment it names the variable.
void parse_flags(CLI::App& app, int argc, const char* const* argv);

/// --legacy-open and --allowed-hosts, for `what` (parts of the interface without authentication).
void add_access_flags(CLI::App& app, http::local_access& access, const std::string& what);

/// Logs at the start that every client that reaches the port may use `what` (--legacy-open).
void warn_of_open_access(std::string_view what);

/// Everything a part of an operator may need, owned by the process, valid until it has stopped.
struct environment {
    asio::any_io_executor executor;
    /// Its wall time is the API server's (kube/server_clock.h): objects can be compared with it.
    clock& time;
    /// Writes only while this process leads (see kube::client::limit_writes).
    kube::client& api;
    event_recorder& events;
    metrics& numbers;
    http::router& routes;
    const process_options& options;
    /// Writes at any time, leading or not: for requests of people that any replica may answer (the
    /// scheduling operator's REST). Never for reconciling.
    kube::client& open_api;
    /// Identity of this process; no other one, at any time, has the same.
    std::string identity;
};

/// Adds --legacy-namespace, the namespace of the original's interface (`what`: "that /external
/// speaks of"). Its default is the first --namespace, if there is one. A namespace that --namespace
/// does not have is refused: there would be nothing in it. `with`: refused only if this flag is
/// given, too; empty: always.
void add_legacy_namespace(CLI::App& app, std::string& into, const std::string& what,
                          const std::string& with = {});

/// The three operators implement this.
class operator_part {
public:
    virtual ~operator_part() = default;
    /// Caches to fill. run() of each is spawned at the start, and cancelled and spawned again when
    /// this process becomes the leader.
    struct cache {
        std::string name;
        std::function<asio::awaitable<void>()> run;
        /// It was full at some time: readiness waits for this.
        std::function<bool()> synced;
        /// It shows nothing older than the last run(): lead() waits for this.
        std::function<bool()> current;
        /// When the last byte of its watch came in, for the metric; may be left out.
        std::function<steady_time()> last_heard = nullptr;
        /// The namespaces for which `current` waits; may be left out.
        std::function<std::vector<std::string>()> missing = nullptr;
        /// Why its lists and watches fail; may be left out.
        std::function<std::vector<kube::trouble>()> troubles = nullptr;
        /// Sets how much memory the objects of one namespace may take, in bytes; before the first
        /// run(). May be left out.
        std::function<void(std::size_t)> limit = nullptr;
        /// How much they take, for metrics; may be left out.
        std::function<const kube::namespace_shares&()> shares = nullptr;

        /// The cache of an informer, which must outlive it.
        template <class T>
        static cache of(std::string name, kube::informer<T>& from) {
            return {std::move(name),
                    [&from] { return from.run(); },
                    [&from] { return from.synced(); },
                    [&from] { return from.current(); },
                    [&from] { return from.last_heard(); },
                    [&from] { return from.missing(); },
                    [&from] { return from.troubles(); },
                    [&from](std::size_t bytes) { from.limit(bytes); },
                    [&from]() -> const kube::namespace_shares& { return from.shares(); }};
        }
        /// The same for a kind that this operator can do without: if it is not served, there is
        /// nothing to wait for, and nothing is wrong. `time` must outlive it, too.
        template <class T>
        static cache if_served(std::string name, kube::informer<T>& from, const clock& time) {
            auto out = of(std::move(name), from);
            out.synced = [&from] { return from.synced() || !from.served(); };
            out.current = [&from] { return from.current() || !from.served(); };
            out.last_heard = [&from, &time] {
                return from.served() ? from.last_heard() : time.now();
            };
            out.troubles = [&from] {
                return from.served() ? from.troubles() : std::vector<kube::trouble>();
            };
            return out;
        }
    };
    virtual std::vector<cache> caches() = 0;
    /// Further checks of /readyz, beside the caches and the lease.
    virtual std::vector<readiness_check> checks() const { return {}; }
    /// This process leads from now on, and its caches show nothing older than its lease: start
    /// controllers. Called at most once.
    virtual void lead() = 0;
    /// Stop controllers in order. Called once, also when lead() never came.
    virtual asio::awaitable<void> stop(steady_time deadline) = 0;
};

/// Makes the operator once the environment is complete.
using operator_factory = std::function<std::unique_ptr<operator_part>(environment&)>;

}  // namespace esi::controller
