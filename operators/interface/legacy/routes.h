// /external/...: the REST interface of the Java original, one namespace, no authentication. Owned
// by the operator; reads come from the caches, writes go through the API server and need no
// leadership. Every kind of bad input is a 4xx; what the API server cannot answer now is a 503.
#pragma once

#include <functional>
#include <string>

#include "grid/slot_table.h"
#include "http/access.h"
#include "http/router.h"
#include "interface/legacy/json.h"
#include "kube/client.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::interface::legacy {

/// What the interface reads and writes; all of it outlives the routes.
struct sources {
    kube::client& api;
    clock& time;
    const kube::store<model::testbed>& testbeds;
    const kube::store<model::batchjob>& jobs;
    const kube::store<model::scheduling>& schedulings;
    const kube::store<model::pod>& pods;
    /// The contents of the slots of a Testbed (caches::slots_of).
    std::function<std::shared_ptr<const grid::slot_table>(const model::object_key&)> slots_of;
};

class routes {
public:
    routes(sources from, std::string ns, http::local_access access);

    /// Adds all rows; `this` must stay where it is from then on.
    void add_to(http::router& router);
    /// A Testbed with its slots, also where its status leaves them out.
    ordered_json shown(const model::testbed& of) const;

private:
    using reply = http::server_reply;
    using request = http::server_request;
    using answer = asio::awaitable<reply> (routes::*)(request);

    void add(http::router& router, std::string method, const std::string& pattern, answer how);
    void add_options(http::router& router, const std::string& pattern, std::string allow);
    asio::awaitable<reply> serve(request from, answer how);
    reply miss(const request& from, const std::vector<std::string>& allowed) const;

    asio::awaitable<reply> get_testbeds(request from);
    asio::awaitable<reply> get_testbed(request from);
    asio::awaitable<reply> get_jobs(request from);
    asio::awaitable<reply> get_job(request from);
    asio::awaitable<reply> put_job(request from);
    asio::awaitable<reply> get_schedulings(request from);
    asio::awaitable<reply> get_scheduling(request from);
    asio::awaitable<reply> post_scheduling(request from);
    asio::awaitable<reply> delete_scheduling(request from);

    asio::awaitable<result<std::string>> create(const scheduling_request& wanted);
    /// Waits until the object of `uid` has gone; false after ten seconds.
    asio::awaitable<bool> gone(model::object_key key, std::string uid);
    /// Waits (at most a second) until the cache shows the write, so that the next GET does.
    asio::awaitable<void> seen(std::function<std::string()> shown, std::string version);
    /// The same for a deletion: until the object of `uid` has gone or is shown as going.
    asio::awaitable<void> seen_to_go(model::object_key key, std::string uid);

    model::object_key key(const request& from) const;
    reply ok(const ordered_json& body) const;
    reply refused(const request& from, int status,
                  const std::vector<std::string>& messages = {}) const;
    /// The answer for an error of the API server; never a 500.
    reply refused(const request& from, const error& why) const;
    /// 415 or 400 if the body cannot be read at all.
    std::optional<reply> unreadable(const request& from) const;

    sources from_;
    std::string namespace_;
    http::local_access access_;
};

}  // namespace esi::interface::legacy
