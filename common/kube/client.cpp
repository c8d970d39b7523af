#include "kube/client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "kube/percent.h"
#include "kube/status_error.h"

namespace esi::kube {

namespace {

/// The owner of fields that are set by server-side apply.
constexpr std::string_view apply_manager = "esi";
constexpr int most_waits = 3;
constexpr std::size_t most_shown_warnings = 256;

std::string subject_of(std::string_view verb, const resource_type& type, std::string_view ns,
                       std::string_view name) {
    if (name.empty()) {
        return ns.empty() ? fmt::format("{} {}", verb, type.plural)
                          : fmt::format("{} {} in {}", verb, type.plural, ns);
    }
    return ns.empty() ? fmt::format("{} {} {}", verb, type.kind, name)
                      : fmt::format("{} {} {}/{}", verb, type.kind, ns, name);
}

std::string_view content_type_of(patch_kind kind) {
    switch (kind) {
        case patch_kind::merge:
            return "application/merge-patch+json";
        case patch_kind::json:
            return "application/json-patch+json";
        case patch_kind::strategic:
            return "application/strategic-merge-patch+json";
        case patch_kind::apply:
            return "application/apply-patch+yaml";
    }
    return "application/merge-patch+json";
}

/// The Accept header; empty: the transport's own.
std::string accept_of(shown_part part) {
    if (part == shown_part::whole) return {};
    return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}

/// Bad UTF-8 from a pod or a client must not throw here.
std::string to_text(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string metadata_text(const json& object, const char* key) {
    if (!object.is_object()) return {};
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->is_object()) return {};
    const auto found = metadata->find(key);
    return found != metadata->end() && found->is_string() ? found->get<std::string>()
                                                          : std::string();
}

bool is_guarded(const json& object) {
    return !metadata_text(object, "uid").empty() ||
           !metadata_text(object, "resourceVersion").empty();
}

bool worth_a_wait(const response& answer) {
    return answer.retry_after_seconds >= 0 && (answer.status == 429 || answer.status >= 500);
}

}  // namespace

client::client(transport& wire, clock& time) : wire_(wire), time_(time) {}

asio::awaitable<result<std::string>> client::get(const resource_type& type, std::string ns,
                                                 std::string name, shown_part part,
                                                 std::size_t answer_limit) {
    request what("GET", type.path(ns, name));
    what.answer_limit = answer_limit;
    what.accept = accept_of(part);
    co_return co_await send(std::move(what), subject_of("get", type, ns, name), false);
}

asio::awaitable<result<std::string>> client::list(const resource_type& type, std::string ns,
                                                  list_options options) {
    query_builder target(type.path(ns));
    if (!options.label_selector.empty()) target.add("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) target.add("fieldSelector", options.field_selector);
    if (options.resource_version) target.add("resourceVersion", *options.resource_version);
    if (options.limit > 0) target.add("limit", std::to_string(options.limit));
    if (!options.continue_token.empty()) target.add("continue", options.continue_token);
    request what("GET", target.take());
    what.answer_limit = options.answer_limit;
    co_return co_await send(std::move(what), subject_of("list", type, ns, ""), false);
}

asio::awaitable<result<std::string>> client::create(const resource_type& type, std::string ns,
                                                    json object, create_options options) {
    query_builder target(type.path(ns));
    if (options.dry_run) target.add("dryRun", "All");
    if (!options.field_validation.empty()) target.add("fieldValidation", options.field_validation);
    auto name = metadata_text(object, "name");
    if (name.empty()) name = metadata_text(object, "generateName") + "*";
    request what("POST", target.take());
    what.answer_limit = most_object_bytes;
    what.content_type = "application/json";
    what.body = to_text(object);
    auto subject = subject_of(options.dry_run ? "dry run of" : "create", type, ns, name);
    co_return co_await send(std::move(what), std::move(subject), !options.dry_run);
}

asio::awaitable<result<std::string>> client::patch(const resource_type& type, std::string ns,
                                                   std::string name, patch_kind kind, json body,
                                                   std::string subresource, shown_part part) {
    query_builder target(type.path(ns, name, subresource));
    if (kind == patch_kind::apply) {
        target.add("fieldManager", apply_manager);
        target.add("force", "true");
    }
    request what("PATCH", target.take());
    what.answer_limit = most_object_bytes;
    what.accept = accept_of(part);
    what.content_type = content_type_of(kind);
    what.safe_to_repeat = is_guarded(body);
    what.body = to_text(body);
    auto verb = subresource.empty() ? std::string("patch") : "patch " + subresource + " of";
    co_return co_await send(std::move(what), subject_of(verb, type, ns, name), true);
}

asio::awaitable<result<std::string>> client::update(const resource_type& type, std::string ns,
                                                    std::string name, json object) {
    request what("PUT", type.path(ns, name));
    what.answer_limit = most_object_bytes;
    what.content_type = "application/json";
    what.safe_to_repeat = is_guarded(object);
    what.body = to_text(object);
    co_return co_await send(std::move(what), subject_of("update", type, ns, name), true);
}

asio::awaitable<result<std::string>> client::remove(const resource_type& type, std::string ns,
                                                    std::string name, preconditions guard,
                                                    std::optional<int> grace_seconds) {
    json options = json::object();
    options["apiVersion"] = "v1";
    options["kind"] = "DeleteOptions";
    if (!guard.uid.empty()) options["preconditions"]["uid"] = guard.uid;
    if (!guard.resource_version.empty()) {
        options["preconditions"]["resourceVersion"] = guard.resource_version;
    }
    if (grace_seconds) options["gracePeriodSeconds"] = *grace_seconds;
    request what("DELETE", type.path(ns, name));
    what.answer_limit = most_object_bytes;
    what.content_type = "application/json";
    what.safe_to_repeat = options.contains("preconditions");
    what.body = to_text(options);
    co_return co_await send(std::move(what), subject_of("delete", type, ns, name), true);
}

void client::limit_writes(std::function<std::optional<steady_time>()> may_write_until) {
    may_write_until_ = std::move(may_write_until);
}

void client::set_default_deadline(steady_time::duration time) { default_deadline_ = time; }

void client::on_request(std::function<void(int, std::string_view, double)> callback) {
    on_request_ = std::move(callback);
}

void client::on_list_failure(std::function<void(const resource_type&, errc)> callback) {
    on_list_failure_ = std::move(callback);
}

void client::list_failed(const resource_type& type, errc code) const {
    if (on_list_failure_) on_list_failure_(type, code);
}

asio::awaitable<result<response>> client::attempt(request what, std::string subject, bool writes,
                                                  steady_time deadline) {
    const auto started = time_.now();
    if (writes && may_write_until_) {
        const auto until = may_write_until_();
        if (!until || *until <= started) {
            co_return fail(errc::not_leader,
                           subject + ": not sent, this process does not lead (any more)");
        }
        deadline = std::min(deadline, *until);
    }
    const auto method = what.method;
    const auto limit = what.answer_limit;
    auto answer = co_await wire_.send(std::move(what), deadline);
    if (answer && limit > 0 && answer->body.size() > limit) {
        answer =
            fail(errc::answer_too_large, fmt::format("the answer has more than {} bytes", limit));
    }
    if (on_request_) {
        const std::chrono::duration<double> took = time_.now() - started;
        on_request_(answer ? answer->status : 0, method, took.count());
    }
    if (!answer) answer.error().text = subject + ": " + answer.error().text;
    co_return answer;
}

asio::awaitable<result<std::string>> client::send(request what, std::string subject, bool writes) {
    const auto deadline = time_.now() + default_deadline_;
    const bool reads = what.method == "GET";
    what.safe_to_repeat = what.safe_to_repeat || reads;
    bool reconnected = false;
    int waits = 0;
    for (;;) {
        auto answer = co_await attempt(what, subject, writes, deadline);
        if (!answer) {
            const bool broken = answer.error().code == errc::transport;
            if (!broken || !reads || reconnected || time_.now() >= deadline) {
                co_return std::unexpected(std::move(answer).error());
            }
            reconnected = true;
            continue;
        }
        show_warnings(*answer, subject);
        if (answer->status >= 200 && answer->status < 300) co_return std::move(answer->body);
        const auto wake = time_.now() + std::chrono::seconds(answer->retry_after_seconds);
        if (!worth_a_wait(*answer) || waits == most_waits || wake >= deadline) {
            co_return std::unexpected(status_error(*answer, subject));
        }
        ++waits;
        co_await time_.sleep_until(wake);
    }
}

void client::show_warnings(const response& answer, std::string_view subject) {
    for (const auto& text : answer.warnings) {
        if (shown_warnings_.size() >= most_shown_warnings) return;
        if (!shown_warnings_.insert(text).second) continue;
        log::warn("API server warns", {{"request", subject}, {"warning", text}});
    }
}

}  // namespace esi::kube
