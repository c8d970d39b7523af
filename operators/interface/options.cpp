#include "interface/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "controller/duration_flag.h"
#include "controller/process.h"
#include "interface/v1/openapi.h"

namespace esi::interface {

namespace {

/// An audience is one word, so that it can be part of a command.
std::string audience_fault(const std::string& text) {
    const bool plain = !text.empty() && text.size() <= 256 && std::ranges::all_of(text, [](char c) {
        return c > 0x20 && c < 0x7F && c != '"' && c != '\'' && c != '\\';
    });
    return plain ? std::string() : "an audience is a word of at most 256 characters, like esi";
}

}  // namespace

void api_options::add_to(CLI::App& app) {
    app.add_option_function<std::string>(
           "--api-auth", [this](const std::string& chosen) { access.by_token = chosen == "token"; },
           "Who may use /api/v1: token: bearer tokens and client certificates, as the cluster's "
           "RBAC "
           "allows; none: everybody who reaches the port may everything")
        ->check(CLI::IsMember({"token", "none"}))
        ->default_str("token")
        ->envname("ESI_API_AUTH");
    app.add_option("--api-audience", access.audience,
                   "Tokens for /api/v1 have to be made for this audience (kubectl create token "
                   "ACCOUNT --audience=esi)")
        ->check(CLI::Validator(audience_fault, "AUDIENCE"))
        ->envname("ESI_API_AUDIENCE")
        ->capture_default_str();
    app.add_flag("--api-plain-tokens", access.plain_tokens,
                 "Take bearer tokens over plain HTTP from other machines, too; who reads the "
                 "network can use them. Without it TLS or loopback is needed")
        ->envname("ESI_API_PLAIN_TOKENS");
    controller::add_duration(app, "--api-auth-cache-ttl", access.yes_ttl,
                             "How long /api/v1 believes what the API server said of a token or a "
                             "right; of what it refused, at most 5s");
    app.add_option("--api-requests-per-second", quota.requests.per_second,
                   "Requests of one caller to /api/v1 per second")
        ->check(CLI::Range(0.1, 1e6))
        ->envname("ESI_API_REQUESTS_PER_SECOND")
        ->capture_default_str();
    app.add_option("--api-request-burst", quota.requests.burst,
                   "Requests that one caller may send to /api/v1 at once, after a pause")
        ->check(CLI::Range(1.0, 1e6))
        ->envname("ESI_API_REQUEST_BURST")
        ->capture_default_str();
    app.add_option("--api-streams-per-caller", quota.streams,
                   "Streams of events that one caller may have open")
        ->check(CLI::Range(0, 100'000))
        ->envname("ESI_API_STREAMS_PER_CALLER")
        ->capture_default_str();
    app.add_option("--api-waits-per-caller", quota.waits,
                   "Requests that wait for a change, of one caller at a time")
        ->check(CLI::Range(0, 100'000))
        ->envname("ESI_API_WAITS_PER_CALLER")
        ->capture_default_str();
    app.add_option("--api-event-log-bytes", events.log_bytes,
                   "Changes that are kept for streams of events, all together; a client that is "
                   "further behind begins anew with a snapshot")
        ->envname("ESI_API_EVENT_LOG_BYTES")
        ->check(CLI::Range(64 << 10, 1 << 30))
        ->capture_default_str();
    app.add_flag("--api-nodes", nodes,
                 "Let callers who may patch nodes choose the nodes of a Testbed by /api/v1; this "
                 "operator needs the right to patch nodes")
        ->envname("ESI_API_NODES");
    controller::add_duration(app, "--api-max-wait", longest_wait,
                             "How long a request to /api/v1 may wait for a change (index, waitFor)",
                             seconds(1));
    app.add_flag_callback(
        "--print-openapi",
        [] {
            std::fputs(v1::openapi_text().c_str(), stdout);
            throw CLI::Success();
        },
        "Print the OpenAPI document of /api/v1 and end; no cluster is needed");
}

void options::add_to(CLI::App& app) {
    controller::add_access_flags(app, access, "/external and /scheduler");
    controller::add_legacy_namespace(app, legacy_namespace,
                                     "that /external and /scheduler speak of");
    app.add_option("--stomp-allowed-origins", access.origins,
                   "Web pages that may connect to /scheduler and change something by /external, "
                   "beside the server's own: http://host:port, comma-separated, or * for all")
        ->delimiter(',')
        ->check(CLI::Validator(http::origin_fault, "ORIGIN"))
        ->envname("ESI_STOMP_ALLOWED_ORIGINS");
    stomp.add_to(app);
    api.add_to(app);
}

}  // namespace esi::interface
