#include "controller/status_routes.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"

namespace esi::controller {

namespace {

using http::server_reply;
using http::server_request;

constexpr const char* plain = "text/plain; charset=utf-8";

/// Clients may ask a thousand times at once: the text is made ten times a second, at most.
constexpr auto scrape_reuse = std::chrono::milliseconds(100);
struct scrape {
    std::string text;
    std::chrono::steady_clock::time_point until;
};

bool all_passed(const std::vector<readiness_check>& checks) {
    return std::all_of(checks.begin(), checks.end(), [](const auto& c) { return c.passed; });
}

std::vector<std::string> excluded_by(const server_request& what) {
    std::vector<std::string> out;
    for (const auto& [name, value] : what.query) {
        if (name == "exclude") out.push_back(value);
    }
    return out;
}

asio::awaitable<server_reply> at_once(server_reply reply) { co_return reply; }

}  // namespace

server_reply readiness_reply(const std::vector<readiness_check>& checks, bool verbose,
                             const std::vector<std::string>& excluded) {
    std::string lines;
    bool passed = true;
    for (const auto& check : checks) {
        const bool passed_over =
            std::find(excluded.begin(), excluded.end(), check.name) != excluded.end();
        if (passed_over) {
            lines += "[+]" + check.name + " excluded: ok\n";
        } else if (check.passed) {
            lines += "[+]" + check.name + " ok";
            lines += check.reason.empty() ? "\n" : ", but " + check.reason + "\n";
        } else {
            passed = false;
            lines += "[-]" + check.name + " failed: ";
            lines += check.reason.empty() ? "reason withheld\n" : check.reason + "\n";
        }
    }
    if (!passed) return {503, plain, lines + "readyz check failed\n"};
    return {200, plain, verbose ? lines + "readyz check passed\n" : "ok"};
}

server_reply actuator_reply(bool up) {
    return {up ? 200 : 503, "application/vnd.spring-boot.actuator.v3+json",
            up ? R"({"status":"UP"})" : R"({"status":"DOWN"})"};
}

void add_status_routes(http::router& routes, std::string component, readiness ready,
                       metrics& numbers, std::function<void()> before_scrape) {
    http::route_rules probe;
    probe.probe = true;
    const auto alive = [](server_request) { return at_once({200, plain, "ok"}); };
    routes.add("GET", "/livez", alive, probe);
    routes.add("GET", "/healthz", alive, probe);
    const auto answer_readiness = [ready](server_request what) {
        return at_once(
            readiness_reply(ready(), what.parameter("verbose").has_value(), excluded_by(what)));
    };
    routes.add("GET", "/readyz", answer_readiness, probe);
    const auto show_metrics = [&numbers, before_scrape,
                               last = std::make_shared<scrape>()](server_request) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= last->until) {
            before_scrape();
            *last = {numbers.text(), now + scrape_reuse};
        }
        return at_once({200, "text/plain; version=0.0.4; charset=utf-8", last->text});
    };
    routes.add("GET", "/metrics", show_metrics, probe);
    routes.add("GET", "/version", [component](server_request) {
        nlohmann::ordered_json out;
        out["name"] = component;
        out["version"] = version();
        return at_once({200, "application/json", out.dump()});
    });
    const auto up_when_ready = [ready](server_request) {
        return at_once(actuator_reply(all_passed(ready())));
    };
    const auto up = [](server_request) { return at_once(actuator_reply(true)); };
    routes.add("GET", "/actuator/health", up_when_ready, probe);
    routes.add("GET", "/actuator/health/readiness", up_when_ready, probe);
    routes.add("GET", "/actuator/health/liveness", up, probe);
}

}  // namespace esi::controller
