#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/log.h"
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

/// Why a part of --allowed-hosts can match no Host: it has to be a name without scheme, port and
/// path, "*.name" or "*". Empty: it can.
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

/// A name of a Namespace (RFC 1123 label). A refusal that begins with the name, or empty.
std::string namespace_fault(std::string name) {
    const auto inner = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (!name.empty() && name.size() <= 63 && name.front() != '-' && name.back() != '-' &&
        std::ranges::all_of(name, inner)) {
        return {};
    }
    return "\"" + name +
           "\" is no name of a namespace: 1 to 63 of a-z, 0-9 and -, no - at either end";
}

std::string port_fault(std::string text) {
    int port = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, port);
    if (code == std::errc() && stop == end && port >= 0 && port <= 65535) return {};
    return text + " is not a number from 0 to 65535";
}

std::string rate_fault(std::string text) {
    double rate = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, rate);
    if (code == std::errc() && stop == end && std::isfinite(rate) && rate >= 0) return {};
    return text + " is no rate: it must be 0 or more";
}

/// A value that Kubernetes puts into the environment of pods for a Service "esi" (ESI_PORT).
bool is_service_link(std::string_view value) {
    return value.starts_with("tcp://") || value.starts_with("udp://") ||
           value.starts_with("sctp://");
}

void ignore_service_links(const CLI::App& app) {
    for (const auto* each : app.get_options()) {
        const auto& variable = each->get_envname();
        const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
        if (value != nullptr && is_service_link(value)) unsetenv(variable.c_str());
    }
}

bool is_given(const std::string& flag, int argc, const char* const* argv) {
    return std::any_of(argv, argv + argc, [&](std::string_view each) {
        return each == flag || each.starts_with(flag + "=");
    });
}

/// The message about a flag, as one about the variable that its value came from; empty: it did not
/// come from one.
std::string said_of_variable(const CLI::App& app, const std::string& said, int argc,
                             const char* const* argv) {
    for (const auto* each : app.get_options()) {
        const auto flag = each->get_name();
        const auto& variable = each->get_envname();
        const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
        if (value == nullptr || is_given(flag, argc, argv) || !said.contains(flag)) continue;
        if (said.starts_with(flag + ": " + value)) {
            return variable + "=" + said.substr(flag.size() + 2);
        }
        if (said.starts_with(flag + ": ")) {
            return variable + "=" + value + ": " + said.substr(flag.size() + 2);
        }
    }
    return {};
}

}  // namespace

void parse_flags(CLI::App& app, int argc, const char* const* argv) {
    ignore_service_links(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        auto said = said_of_variable(app, e.what(), argc, argv);
        if (said.empty()) throw;
        throw CLI::ValidationError(std::move(said));
    }
}

void warn_of_open_access(std::string_view what) {
    log::warn("--legacy-open: whoever reaches this port may read and change, without any right",
              {{"routes", what}});
}

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
        ->check(CLI::Validator(port_fault, "PORT"));
    option(app, "--tls-cert-file", tls_cert_file, "Certificate chain (PEM); plain HTTP without")
        ->check(CLI::ExistingFile);
    option(app, "--tls-private-key-file", tls_private_key_file, "Key of the certificate (PEM)")
        ->check(CLI::ExistingFile);
    option(app, "--client-ca-file", client_ca_file,
           "CAs (PEM) of client certificates; with it, /extender answers only clients that show "
           "one, and "
           "/api/v1 knows callers by theirs")
        ->check(CLI::ExistingFile);
    option(app, "--log-level", log_level, "What is logged")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    option(app, "--log-format", log_format, "How lines are written")
        ->check(CLI::IsMember({"text", "json"}));
    option(app, "--kube-api-qps", kube_api_qps,
           "Requests per second to the API server, at most; 0: no limit")
        ->check(CLI::Validator(rate_fault, "RATE"));
    option(app, "--cache-share-bytes", cache_share,
           "Memory that the objects of one kind in one namespace may take, in bytes; of those that "
           "take most beyond it, only what identifies, releases and deletes them is kept")
        ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 40));
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
    const auto* chosen = option(app, "--legacy-namespace", into,
                                "Namespace " + what + "; else the first --namespace, if given")
                             ->check(CLI::Validator(namespace_fault, "NAMESPACE"));
    app.final_callback([&app, &into, chosen, with] {
        const auto* given = app.get_option("--namespace");
        if (given->empty()) return;
        const auto watched = given->as<std::vector<std::string>>();
        if (chosen->empty() && !watched.empty()) into = watched.front();
        if (!with.empty() && !app.get_option(with)->as<bool>()) return;
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
    if (const auto fault = namespace_fault(leader_elect_namespace);
        leader_elect && !fault.empty()) {
        return fail(errc::config, "--leader-elect-namespace: " + fault);
    }
    for (const auto& name : namespaces) {
        if (const auto fault = namespace_fault(name); !fault.empty()) {
            return fail(errc::config, "--namespace: " + fault);
        }
    }
    return {};
}

}  // namespace esi::controller
