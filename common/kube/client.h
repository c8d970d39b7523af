// Requests to the API server, typed by verb, with Kubernetes' errors. No state but the transport;
// used by every part of a process, from its one loop.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kube/resource.h"
#include "kube/transport.h"

namespace esi::kube {

using json = nlohmann::json;

/// Conditions that must still hold when a write arrives.
struct preconditions {
    preconditions() = default;
    preconditions(std::string uid_, std::string resource_version_ = {})
        : uid(std::move(uid_)), resource_version(std::move(resource_version_)) {}
    std::string uid;
    std::string resource_version;
};

struct list_options {
    list_options() = default;
    std::string label_selector;
    std::string field_selector;
    /// Unset: quorum read ("most recent").
    std::optional<std::string> resource_version;
    int limit = 0;
    std::string continue_token;
    /// The longest answer in bytes; a longer one is errc::answer_too_large. 0: as long as the
    /// transport takes.
    std::size_t answer_limit = 0;
};

/// The longest answer that shows one object. The API server takes no object above 3 MiB, and etcd
/// by default none above 1.5 MiB.
inline constexpr std::size_t most_object_bytes = 8u << 20;

struct create_options {
    create_options() = default;
    bool dry_run = false;
    /// Strict | Warn | Ignore; empty = server default.
    std::string field_validation;
};

enum class patch_kind { merge, json, strategic, apply };

/// The part of the object that an answer shows.
enum class shown_part {
    whole,
    /// The kind PartialObjectMetadata: an object of 400 kB is not sent, nor read, for a few words.
    /// Decode it as model::metadata_only. A server that does not know this form sends the whole.
    metadata,
};

/// Answers are the raw text of the object, decoded by the caller with model/json.h. Every request
/// has a deadline (default 30 s). Errors name verb, kind and object. The client repeats, within the
/// deadline: requests answered by 429 and 5xx with Retry-After (at most three times), and a GET
/// whose connection broke (once). The caller handles everything else.
class client {
public:
    client(transport& wire, clock& time);

    asio::awaitable<result<std::string>> get(const resource_type& type, std::string ns,
                                             std::string name, shown_part part = shown_part::whole,
                                             std::size_t answer_limit = most_object_bytes);
    asio::awaitable<result<std::string>> list(const resource_type& type, std::string ns,
                                              list_options options);
    asio::awaitable<result<std::string>> create(const resource_type& type, std::string ns,
                                                json object,
                                                create_options options = create_options());
    /// For merge and apply, guards go into the body (metadata.uid, metadata.resourceVersion), set
    /// by the caller through kube/patch.h. `subresource` may be "status".
    asio::awaitable<result<std::string>> patch(const resource_type& type, std::string ns,
                                               std::string name, patch_kind kind, json body,
                                               std::string subresource = std::string(),
                                               shown_part part = shown_part::whole);
    /// PUT of a whole object (leases).
    asio::awaitable<result<std::string>> update(const resource_type& type, std::string ns,
                                                std::string name, json object);
    /// `grace` unset: the object's own. Always give a uid.
    asio::awaitable<result<std::string>> remove(const resource_type& type, std::string ns,
                                                std::string name, preconditions guard,
                                                std::optional<int> grace_seconds = std::nullopt);

    /// Called before every write but a dry run: until when this process may write, by its own
    /// clock. A write is not sent after that time (errc::not_leader), and its deadline is cut to
    /// it. Unset (the lease's own client): no limit.
    void limit_writes(std::function<std::optional<steady_time>()> may_write_until);
    void set_default_deadline(steady_time::duration time);
    /// Called after every answer, for metrics: the HTTP code (0: none came), the method, the
    /// seconds it took.
    void on_request(
        std::function<void(int code, std::string_view method, double seconds)> callback);
    /// Called for each list or watch of a reflector that failed, for metrics.
    void on_list_failure(std::function<void(const resource_type& type, errc code)> callback);
    /// For the reflectors: reports a failed list or watch.
    void list_failed(const resource_type& type, errc code) const;

    transport& wire() { return wire_; }
    const clock& time() const { return time_; }

private:
    asio::awaitable<result<std::string>> send(request what, std::string subject, bool writes);
    asio::awaitable<result<response>> attempt(request what, std::string subject, bool writes,
                                              steady_time deadline);
    void show_warnings(const response& answer, std::string_view subject);

    transport& wire_;
    clock& time_;
    std::function<std::optional<steady_time>()> may_write_until_;
    std::function<void(int, std::string_view, double)> on_request_;
    std::function<void(const resource_type&, errc)> on_list_failure_;
    /// Texts of Warning headers that were logged; bounded.
    std::set<std::string, std::less<>> shown_warnings_;
    steady_time::duration default_deadline_ = std::chrono::seconds(30);
};

}  // namespace esi::kube
