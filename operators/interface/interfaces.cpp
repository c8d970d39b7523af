#include "interface/interfaces.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "interface/legacy/routes.h"
#include "interface/page/page_routes.h"
#include "interface/v1/access/access.h"
#include "interface/v1/access/gate.h"
#include "interface/v1/access/quota.h"
#include "interface/v1/events/hub.h"
#include "interface/v1/surface.h"

namespace esi::interface {

using model::object_key;

namespace {

constexpr auto events_patience = seconds(2);

/// A server with TLS has fewer connections: waits leave half of them to others.
v1::quota_options quota_of(const options& chosen, const controller::process_options& process) {
    auto out = chosen.api.quota;
    if (!process.tls_cert_file.empty()) out.all_waits = out.all_waits_with_tls;
    return out;
}

}  // namespace

struct interfaces::parts {
    legacy::routes legacy;
    legacy::stomp_topics stomp;
    std::unique_ptr<v1::access> who_may;
    v1::quota limits;
    v1::gate gate;
    v1::events::hub events;
    v1::surface api;

    parts(controller::environment& env, legacy::sources from, legacy::stomp_sources topics,
          scheduling::caches& seen, const options& chosen, bool cross_namespace_jobs)
        : legacy(from, chosen.legacy_namespace, chosen.access),
          stomp(shown_by(std::move(topics)), chosen.legacy_namespace, chosen.access, chosen.stomp),
          who_may(v1::make_access({env.executor, env.time, env.open_api, env.numbers},
                                  chosen.api.access)),
          limits(env.time, env.numbers, quota_of(chosen, env.options)),
          gate(*who_may, limits, {!chosen.api.access.by_token, chosen.access.hosts}),
          events({env.executor, env.time, env.numbers, env.open_api, seen.testbeds(), seen.jobs(),
                  seen.schedulings(), env.options.namespaces, &limits},
                 *who_may, chosen.api.events),
          api({env.executor, env.time, env.open_api, seen, limits, env.options.namespaces,
               cross_namespace_jobs},
              {chosen.api.longest_wait, chosen.api.nodes}, gate, events) {}

private:
    legacy::stomp_sources shown_by(legacy::stomp_sources topics) const {
        topics.shown = [this](const model::testbed& of) { return legacy.shown(of); };
        return topics;
    }
};

interfaces::interfaces(controller::environment& env, scheduling::caches& seen, options chosen,
                       bool cross_namespace_jobs)
    : env_(env), options_(std::move(chosen)) {
    options_.api.access.encrypted = !env_.options.tls_cert_file.empty();
    parts_ = std::make_unique<parts>(
        env,
        legacy::sources{env.open_api, env.time, seen.testbeds(), seen.jobs(), seen.schedulings(),
                        seen.pods(), [&seen](const object_key& key) { return seen.slots_of(key); }},
        legacy::stomp_sources{env.executor, env.time, env.numbers, seen.testbeds(), seen.jobs(),
                              seen.schedulings(), nullptr},
        seen, options_, cross_namespace_jobs);
    tell_of_open_doors();
    parts_->legacy.add_to(env.routes);
    parts_->stomp.add_to(env.routes);
    parts_->api.add_to(env.routes);
    page::add_to(env.routes);
}

interfaces::~interfaces() = default;

void interfaces::tell_of_open_doors() const {
    const auto& access = options_.api.access;
    if (options_.access.open) controller::warn_of_open_access("/external and /scheduler");
    if (!access.by_token) {
        log::warn(
            "--api-auth=none: whoever reaches this port may read and change, without any right",
            {{"routes", "/api/v1"}});
        return;
    }
    if (access.encrypted) return;
    if (access.plain_tokens) {
        log::warn(
            "--api-plain-tokens without TLS: bearer tokens cross the network readable; give "
            "--tls-cert-file and --tls-private-key-file",
            {{"routes", "/api/v1"}});
    } else {
        log::info("no TLS: bearer tokens are taken over loopback only, from no other machine",
                  {{"routes", "/api/v1"}});
    }
}

std::vector<controller::readiness_check> interfaces::checks() const {
    return {{"api-access", true, parts_->who_may->trouble()}};
}

asio::awaitable<void> interfaces::stop_api(steady_time deadline) {
    parts_->api.stop();
    co_await parts_->events.stop(std::min(deadline, env_.time.now() + events_patience));
}

asio::awaitable<void> interfaces::stop_topics(steady_time deadline) {
    co_await parts_->stomp.stop(deadline);
}

}  // namespace esi::interface
