#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "controller/duration_flag.h"
#include "controller/process.h"

namespace esi::controller {

namespace {

/// "--log-level" -> "ESI_LOG_LEVEL"
std::string environment_name(std::string_view flag) {
    std::string out = "ESI_";
    for (char c : flag.substr(2)) {
        out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return out;
}

template <class Value>
CLI::Option* option(CLI::App& app, const std::string& flag, Value& into, const std::string& text) {
    return app.add_option(flag, into, text)->envname(environment_name(flag))->capture_default_str();
}

/// `--flag`, `--flag=true` or `--flag=false`, as kubectl has them.
void flag(CLI::App& app, const std::string& name, bool& into, const std::string& text) {
    app.add_flag(name, into, text)->envname(environment_name(name))->capture_default_str();
}

/// "15s", "2m" or "15", in decimal whatever its first digit. CLI11's own numbers are C's: 010 is 8.
std::optional<seconds> parse_duration(std::string_view text) {
    const bool minutes = text.ends_with('m');
    if (minutes || text.ends_with('s')) text.remove_suffix(1);
    int count = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, count);
    if (code != std::errc() || stop != end || text.front() == '-') return std::nullopt;
    return seconds(std::int64_t{count} * (minutes ? 60 : 1));
}

/// What of --allowed-hosts could match a Host: a name without scheme, port and path, "*.name" or
/// "*". A refusal, or empty.
std::string host_fault(std::string host) {
    const auto listed = host;
    if (host == "*") return {};
    if (host.starts_with("*.")) host.erase(0, 2);
    const bool dots =
        host.empty() || host.front() == '.' || host.back() == '.' || host.contains("..");
    const bool name = std::ranges::all_of(
        host, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
    if (name && !dots) return {};
    return "\"" + listed +
           "\" matches no Host: give a name without scheme, port and path (esi.example.org), "
           "*.example.org for all names below it, or * for all";
}

}  // namespace

void add_duration(CLI::App& app, const std::string& name, seconds& into, const std::string& text,
                  seconds least) {
    app.add_option_function<std::string>(
           name,
           [&into, name, least](const std::string& value) {
               const auto read = parse_duration(value);
               if (!read) {
                   throw CLI::ValidationError(name, "\"" + value + "\" is not like 15s or 2m");
               }
               if (*read < least) {
                   throw CLI::ValidationError(
                       name, value + " is less than " + std::to_string(least.count()) + "s");
               }
               into = *read;
           },
           text)
        ->envname(environment_name(name))
        ->default_str(std::to_string(into.count()) + "s")
        ->type_name("DURATION");
}

void process_options::add_to(CLI::App& app, int default_port) {
    port = default_port;
    option(app, "--kubeconfig", kubeconfig,
           "File that says how to reach the API server; else $KUBECONFIG, the service account of "
           "the pod, or ~/.kube/config");
    option(app, "--context", context, "Context of the kubeconfig; else its current one");
    option(app, "--namespace", namespaces,
           "Work on objects of this namespace only; may be given several times")
        ->allow_extra_args(false)
        ->delimiter(',');
    flag(app, "--leader-elect", leader_elect,
         "Hold a Lease while working, so that of several replicas one works");
    option(app, "--leader-elect-namespace", leader_elect_namespace, "Namespace of that Lease");
    add_duration(app, "--leader-elect-lease-duration", lease_duration,
                 "How long a standby waits after the last sign of life of the leader");
    add_duration(app, "--leader-elect-renew-deadline", renew_deadline,
                 "How long a leader goes on without a renewal");
    add_duration(app, "--leader-elect-retry-period", retry_period, "Time between two renewals");
    option(app, "--bind-address", bind_address, "Address to listen on");
    option(app, "--port", port, "Port to listen on; 0 takes a free one")
        ->check(CLI::Range(0, 65535));
    option(app, "--tls-cert-file", tls_cert_file, "Certificate chain (PEM); plain HTTP without")
        ->check(CLI::ExistingFile);
    option(app, "--tls-private-key-file", tls_private_key_file, "Key of the certificate (PEM)")
        ->check(CLI::ExistingFile);
    option(
        app, "--client-ca-file", client_ca_file,
        "CAs (PEM) of client certificates; with it, /extender answers only clients that show one")
        ->check(CLI::ExistingFile);
    option(app, "--log-level", log_level, "What is logged")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    option(app, "--log-format", log_format, "How lines are written")
        ->check(CLI::IsMember({"text", "json"}));
    option(app, "--kube-api-qps", kube_api_qps,
           "Requests per second to the API server, at most; 0: no limit")
        ->check(CLI::NonNegativeNumber);
    flag(app, "--enable-debug-endpoints", enable_debug_endpoints, "Serve /debug/...");
}

void add_access_flags(CLI::App& app, http::local_access& access, const std::string& what) {
    flag(app, "--legacy-open", access.open,
         "Serve " + what + " (no authentication) also to peers that are not loopback");
    option(app, "--allowed-hosts", access.hosts,
           "Hosts under which " + what +
               " may be asked for with --legacy-open, beside IP addresses, names without a dot and "
               "names below .svc and .cluster.local; *.example.org for all below it, * for all")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(CLI::Validator(host_fault, "HOST"));
}

void add_legacy_namespace(CLI::App& app, std::string& into, const std::string& what,
                          const std::string& with) {
    option(app, "--legacy-namespace", into, "Namespace " + what);
    app.final_callback([&app, &into, with] {
        if (!with.empty() && !app.get_option(with)->as<bool>()) return;
        const auto* given = app.get_option("--namespace");
        if (given->empty()) return;
        const auto watched = given->as<std::vector<std::string>>();
        if (std::ranges::find(watched, into) != watched.end()) return;
        std::string names;
        for (const auto& each : watched) names += (names.empty() ? "" : ",") + each;
        throw CLI::ValidationError("--legacy-namespace",
                                   into + " is not watched (--namespace " + names +
                                       "), so nothing would be found there; give one of those");
    });
}

result<void> process_options::check() const {
    if (tls_cert_file.empty() != tls_private_key_file.empty()) {
        return fail(errc::config, "--tls-cert-file and --tls-private-key-file go together");
    }
    if (!client_ca_file.empty() && tls_cert_file.empty()) {
        return fail(errc::config, "--client-ca-file needs --tls-cert-file");
    }
    if (retry_period < seconds(1) || renew_deadline * 10 <= retry_period * 12 ||
        lease_duration <= renew_deadline) {
        return fail(errc::config,
                    "--leader-elect-lease-duration must exceed --leader-elect-renew-deadline, and "
                    "that 1.2 times --leader-elect-retry-period, which is at least 1s");
    }
    if (leader_elect && leader_elect_namespace.empty()) {
        return fail(errc::config, "--leader-elect needs --leader-elect-namespace");
    }
    for (const auto& name : namespaces) {
        if (name.empty()) return fail(errc::config, "--namespace must not be empty");
    }
    return {};
}

}  // namespace esi::controller
