// The operations that write Schedulings and the notes of jobs, on behalf of their callers: guarded
// by versions, checked before the API server is asked, with the caller's name on the object and in
// the log. Every replica writes; the operators' own guards hold against all of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "interface/v1/causes.h"
#include "interface/v1/change_waits.h"
#include "interface/v1/scheduling_body.h"
#include "interface/v1/sources.h"

namespace esi::interface::v1 {

/// On a Scheduling: which Idempotency-Key and which body it was created with (hashes).
inline constexpr std::string_view idempotency_annotation = "esi.tu-berlin.de/idempotency-key";

class writes {
public:
    /// `waits`: wakes the requests that wait until the caches show a write.
    writes(const sources& from, change_waits& waits) : from_(from), waits_(waits) {}
    writes(const writes&) = delete;
    writes& operator=(const writes&) = delete;

    asio::awaitable<answer> create_scheduling(http::server_request from);
    asio::awaitable<answer> replace_scheduling(http::server_request from);
    asio::awaitable<answer> patch_scheduling(http::server_request from);
    asio::awaitable<answer> delete_scheduling(http::server_request from);
    asio::awaitable<answer> patch_notes(http::server_request from);
    asio::awaitable<answer> reset_job(http::server_request from);
    asio::awaitable<answer> release_job(http::server_request from);
    asio::awaitable<answer> cancel_job(http::server_request from);
    asio::awaitable<answer> suspend(http::server_request from);
    asio::awaitable<answer> resume(http::server_request from);

private:
    using problem = http::problem_details;
    using request = http::server_request;
    template <class T>
    using outcome = std::expected<T, problem>;

    /// Makes a merge patch from the object as it is on the server; an empty one if nothing has to
    /// change.
    template <class T>
    using change_of =
        std::function<outcome<nlohmann::json>(const T& now, const nlohmann::json& raw)>;

    /// Reads the object, applies `how` guarded by its version, and tries again after a conflict,
    /// unless the request names a version (If-Match).
    template <class T>
    asio::awaitable<outcome<T>> change(std::shared_ptr<const request> from, change_of<T> how);
    /// The same for an action: 202 with the object.
    template <class T>
    asio::awaitable<answer> act(std::shared_ptr<const request> from, change_of<T> how,
                                std::string verb);
    /// The API server's part of change().
    template <class T>
    asio::awaitable<outcome<T>> patch(model::object_key key, nlohmann::json body);
    asio::awaitable<answer> change_scheduling(std::shared_ptr<const request> from,
                                              nlohmann::json body, bool is_patch);
    asio::awaitable<outcome<model::scheduling>> create(std::shared_ptr<const request> from,
                                                       scheduling_body body, bool dry_run);
    asio::awaitable<outcome<std::optional<model::scheduling>>> remove(
        std::shared_ptr<const request> from);
    /// The Scheduling that was created before with this key.
    asio::awaitable<outcome<std::optional<model::scheduling>>> created_before(model::object_key key,
                                                                              std::string mark);

    /// Waits (at most a second) until the caches show the version, so that the next GET does.
    template <class T>
    asio::awaitable<void> seen(const T& written);
    asio::awaitable<void> seen_to_go(model::object_key key, std::string uid);

    scheduling::view view_of(std::shared_ptr<const model::scheduling> self,
                             scheduling::live_facts& live) const;
    outcome<nlohmann::json> patch_of(const scheduling_body& wanted, const model::scheduling& now,
                                     const nlohmann::json& raw) const;

    const sources& from_;
    change_waits& waits_;
};

}  // namespace esi::interface::v1
