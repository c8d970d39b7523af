#include "interface/legacy/routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/stream.h"
#include "interface/legacy/content.h"
#include "kube/reasons.h"
#include "model/json.h"
#include "scheduling/answers/slot_rows.h"

namespace esi::interface::legacy {

namespace {

namespace types = kube::types;
using nlohmann::json;

constexpr seconds longest_wait_for_deletion{10};
constexpr int most_tries = 5;
/// The limit of one object on the API server is not much more.
constexpr std::size_t longest_body = 1u << 20;
/// Some clients send a body with every request; the original ignored it where it needed none.
constexpr std::size_t longest_ignored_body = 4u << 10;

/// A list up to this length is answered with its length, as the original did. A longer one is sent
/// while it is made: it has no `continue`, and as a whole it would take as much memory as all
/// objects of a namespace.
constexpr std::size_t longest_at_once = 1u << 20;
constexpr const char* no_room = "too many answers are on the way";
/// How much is sent at a time, plus one object at most.
constexpr std::size_t sent_at_once = 64u << 10;

/// A list that is printed in parts, in the order of names.
template <class T>
struct listing {
    const kube::store<T>& of;
    std::string ns;
    /// Appends an object, behind a comma where it is not the first one.
    std::function<void(std::string&, const T&)> print;
    std::string_view brackets;
    /// The last one that was printed. Objects that come and go meanwhile do not move others.
    std::string last = {};
    bool begun = false;
    bool ended = false;

    /// Appends objects until there are so many bytes, or none is left.
    void fill(std::string& out, std::size_t bytes) {
        if (!begun) out += brackets.front();
        const auto& all = of.all();
        auto at = begun ? all.upper_bound({ns, last}) : all.lower_bound({ns, ""});
        bool first = last.empty();
        begun = true;
        for (; at != all.end() && at->first.namespace_ == ns; ++at) {
            if (out.size() >= bytes) return;
            if (!is_shown(*at->second)) continue;
            if (!std::exchange(first, false)) out += ',';
            print(out, *at->second);
            last = at->first.name;
        }
        out += brackets.back();
        ended = true;
    }
};

template <class T>
asio::awaitable<void> send_all(listing<T> all, http::stream_writer& to) {
    while (!all.ended) {
        std::string piece;
        all.fill(piece, sent_at_once);
        if (!co_await to.write(piece)) co_return;
    }
}

/// Nothing if there is no room for it.
template <class T>
asio::awaitable<std::optional<http::server_reply>> list_reply(
    listing<T> all, std::shared_ptr<http::answer_room> room) {
    http::server_reply out(200, "application/json", "");
    auto whole = all;
    whole.fill(out.body, longest_at_once);
    if (whole.ended) co_return out;
    out.body = {};
    // For a stream the server holds what the handler held: one piece of it at a time.
    const bool held = !room || co_await room->wait_to_hold(2 * sent_at_once);
    if (!held) co_return std::nullopt;
    out.stream = [all](http::stream_writer& to) { return send_all(all, to); };
    co_return out;
}

/// What the original's server answered before its application saw the request.
http::server_reply bad_path() {
    constexpr std::string_view title = "HTTP Status 400 – Bad Request";
    http::server_reply out(400, "text/html;charset=utf-8",
                           fmt::format("<!doctype html><html lang=\"en\"><head><title>{0}</title>"
                                       "</head><body><h1>{0}</h1></body></html>",
                                       title));
    out.headers.emplace_back("Content-Language", "en");
    return out;
}

/// The index of /actuator; the process serves its entries.
http::server_reply actuator_index(const http::server_request& from) {
    auto at = "http://" + std::string(from.header("host")) + "/actuator";
    auto link = [](const std::string& href, bool templated) {
        ordered_json out;
        out["href"] = href;
        out["templated"] = templated;
        return out;
    };
    ordered_json body;
    auto& links = body["_links"];
    links["self"] = link(at, false);
    links["health"] = link(at + "/health", false);
    links["health-path"] = link(at + "/health/{*path}", true);
    return {200, "application/vnd.spring-boot.actuator.v3+json", text_of(body)};
}

asio::awaitable<http::server_reply> at_once(http::server_reply out) { co_return out; }

}  // namespace

routes::routes(sources from, std::string ns, http::local_access access)
    : from_(from), namespace_(std::move(ns)), access_(std::move(access)) {}

void routes::add(http::router& router, std::string method, const std::string& pattern, answer how) {
    http::route_rules rules;
    const bool reads_body = method == "POST" || method == "PUT";
    rules.body_limit = reads_body ? longest_body : longest_ignored_body;
    router.add(
        std::move(method), pattern,
        [this, how](request from) { return serve(std::move(from), how); }, rules);
}

void routes::add_options(http::router& router, const std::string& pattern, std::string allow) {
    router.add("OPTIONS", pattern,
               [allow = std::move(allow)](const request&) -> asio::awaitable<reply> {
                   reply out(200, "", "");
                   out.headers.emplace_back("Allow", allow);
                   out.headers.emplace_back("Accept-Patch", "");
                   return at_once(std::move(out));
               });
}

void routes::add_to(http::router& router) {
    router.guard("/external", [this](const request& head) -> std::optional<reply> {
        auto why = access_.refusal(head, "/external");
        if (why.empty()) return std::nullopt;
        return refused(head, 403, {std::move(why)});
    });
    // Slashes at the end are ignored, but where the original's own path ends with one.
    for (std::string slash : {"", "/"}) {
        add(router, "GET", "/external/testbeds" + slash, &routes::get_testbeds);
        add(router, "GET", "/external/testbeds/{name}" + slash, &routes::get_testbed);
        add(router, "GET", "/external/jobs" + slash, &routes::get_jobs);
        add(router, "GET", "/external/jobs/{name}" + slash, &routes::get_job);
        // The order is that of the header Allow.
        add(router, "POST", "/external/schedulings" + slash, &routes::post_scheduling);
        add(router, "GET", "/external/schedulings" + slash, &routes::get_schedulings);
        add(router, "GET", "/external/schedulings/{name}" + slash, &routes::get_scheduling);
        add(router, "DELETE", "/external/schedulings/{name}" + slash, &routes::delete_scheduling);
        add_options(router, "/external/testbeds" + slash, "GET,HEAD,OPTIONS");
        add_options(router, "/external/testbeds/{name}" + slash, "GET,HEAD,OPTIONS");
        add_options(router, "/external/jobs/{name}" + slash, "GET,HEAD,OPTIONS");
        add_options(router, "/external/schedulings" + slash, "POST,GET,HEAD,OPTIONS");
        add_options(router, "/external/schedulings/{name}" + slash, "GET,HEAD,DELETE,OPTIONS");
    }
    add(router, "PUT", "/external/jobs/", &routes::put_job);
    add_options(router, "/external/jobs", "GET,HEAD,OPTIONS");
    add_options(router, "/external/jobs/", "GET,HEAD,PUT,OPTIONS");
    router.add("GET", "/actuator",
               [](const request& from) { return at_once(actuator_index(from)); });
    for (std::string prefix : {"/", "/external"}) {
        router.on_miss(prefix,
                       [this](const request& from, const std::vector<std::string>& allowed) {
                           return miss(from, allowed);
                       });
    }
}

asio::awaitable<routes::reply> routes::serve(request from, answer how) {
    // A write that could not be answered is not done; a read first reports what is missing.
    const bool reads = from.method == "GET" || from.method == "HEAD";
    const bool acceptable = accepts_json(from.header("accept"));
    if (!acceptable && !reads) co_return refused(from, 406);
    if (!from_.schedulings.synced() || !from_.jobs.synced() || !from_.testbeds.synced()) {
        co_return refused(from, 503, {"the caches are not filled yet"});
    }
    if (acceptable) co_return co_await (this->*how)(std::move(from));
    auto out = co_await (this->*how)(from);
    co_return out.status == 200 ? refused(from, 406) : std::move(out);
}

routes::reply routes::miss(const request& from, const std::vector<std::string>& allowed) const {
    if (from.undecodable_path && from.raw_path.starts_with("/external")) return bad_path();
    std::string allow;
    for (const auto& method : allowed) {
        if (method == "OPTIONS" || method == "HEAD") continue;
        allow += (allow.empty() ? "" : ", ") + method;
    }
    auto out = refused(from, allow.empty() ? 404 : 405);
    if (!allow.empty()) {
        out.headers.emplace_back("Allow", allow);
    } else {
        for (const char* name :
             {"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"}) {
            out.headers.emplace_back("Vary", name);
        }
    }
    return out;
}

model::object_key routes::key(const request& from) const {
    auto name = from.variables.find("name");
    return {namespace_, name == from.variables.end() ? std::string() : name->second};
}

routes::reply routes::ok(const ordered_json& body) const {
    return {200, "application/json", text_of(body)};
}

routes::reply routes::refused(const request& from, int status,
                              const std::vector<std::string>& messages) const {
    auto out = error_reply(from, status, from_.time.wall(), messages);
    if (status == 503) out.headers.emplace_back("Retry-After", "2");
    return out;
}

routes::reply routes::refused(const request& from, const error& why) const {
    switch (why.code) {
        case errc::not_found:
            return refused(from, 404, {why.text});
        case errc::forbidden:
            return refused(from, 403, {why.text});
        case errc::bad_request:
            return refused(from, 400, {why.text});
        case errc::invalid:
            return refused(from, why.reason == kube::too_large_reason ? 413 : 400, {why.text});
        case errc::conflict:
        case errc::already_exists:
            return refused(from, 409, {why.text});
        default:
            return refused(from, 503, {why.text});
    }
}

std::optional<routes::reply> routes::unreadable(const request& from) const {
    auto type = from.header("content-type");
    if (is_json(type)) return std::nullopt;
    if (type.empty() && from.body.empty()) return refused(from, 400, {"the body is missing"});
    auto out = refused(from, 415);
    out.headers.emplace_back("Accept", "application/json, application/*+json");
    return out;
}

// --- testbeds ---

ordered_json routes::shown(const model::testbed& of) const {
    if (!scheduling::answers::leaves_slots_out(of)) return external(of);
    return external(of, scheduling::answers::rows_by_pods(
                            of, {from_.jobs, from_.schedulings, from_.pods, from_.slots_of}));
}

asio::awaitable<routes::reply> routes::get_testbeds(request from) {
    const auto print = [this](std::string& out, const model::testbed& of) {
        out += text_of(shown(of));
    };
    listing<model::testbed> all{from_.testbeds, namespace_, print, "[]"};
    auto out = co_await list_reply(std::move(all), from.room);
    co_return out ? std::move(*out) : refused(from, 503, {no_room});
}

asio::awaitable<routes::reply> routes::get_testbed(request from) {
    auto found = from_.testbeds.find(key(from));
    co_return found&& is_shown(*found) ? ok(shown(*found)) : refused(from, 404);
}

// --- jobs ---

asio::awaitable<routes::reply> routes::get_jobs(request from) {
    const auto print = [](std::string& out, const model::batchjob& of) {
        out += text_of(of.metadata.name) + ':' + text_of(external(of));
    };
    listing<model::batchjob> all{from_.jobs, namespace_, print, "{}"};
    auto out = co_await list_reply(std::move(all), from.room);
    co_return out ? std::move(*out) : refused(from, 503, {no_room});
}

asio::awaitable<routes::reply> routes::get_job(request from) {
    auto found = from_.jobs.find(key(from));
    co_return found ? ok(external(*found)) : refused(from, 404);
}

asio::awaitable<routes::reply> routes::put_job(request from) {
    if (auto wrong = unreadable(from)) co_return std::move(*wrong);
    auto wanted = read_job(from.body);
    if (!wanted) co_return refused(from, 400, wanted.error());
    auto kind = kube::patch_kind::merge;
    json patch{{"spec", {{"externalScheduler", nullptr}}}};
    if (const auto& notes = wanted->external_scheduler) {
        // A JSON patch replaces the whole map; a merge would keep members that are left out.
        kind = kube::patch_kind::json;
        patch =
            json::array({{{"op", "add"}, {"path", "/spec/externalScheduler"}, {"value", *notes}}});
    }
    auto done =
        co_await from_.api.patch(types::batchjob, namespace_, wanted->name, kind, std::move(patch));
    if (!done) co_return refused(from, done.error());
    auto job = model::decode<model::batchjob>(*done, "BatchJob");
    if (!job) co_return refused(from, job.error());
    co_await seen([this] { return from_.jobs.version(namespace_).value_or(""); },
                  job->metadata.resource_version);
    co_return ok(external(*job));
}

// --- schedulings ---

asio::awaitable<routes::reply> routes::get_schedulings(request from) {
    const auto print = [](std::string& out, const model::scheduling& of) {
        out += text_of(external(of));
    };
    listing<model::scheduling> all{from_.schedulings, namespace_, print, "[]"};
    auto out = co_await list_reply(std::move(all), from.room);
    co_return out ? std::move(*out) : refused(from, 503, {no_room});
}

asio::awaitable<routes::reply> routes::get_scheduling(request from) {
    auto found = from_.schedulings.find(key(from));
    co_return found&& is_shown(*found) ? ok(external(*found)) : refused(from, 404);
}

asio::awaitable<result<std::string>> routes::create(const scheduling_request& wanted) {
    auto spec = wanted.spec(namespace_);
    for (const char* either : {"queueBased", "slotBased"}) {
        if (spec[either].is_null()) spec.erase(either);
    }
    json object{{"apiVersion", types::scheduling.api_version()},
                {"kind", types::scheduling.kind},
                {"metadata", {{"name", wanted.name}, {"namespace", namespace_}}},
                {"spec", std::move(spec)}};
    return from_.api.create(types::scheduling, namespace_, std::move(object));
}

asio::awaitable<routes::reply> routes::post_scheduling(request from) {
    if (auto wrong = unreadable(from)) co_return std::move(*wrong);
    auto wanted = read_scheduling(from.body);
    if (!wanted) co_return refused(from, 400, wanted.error());
    const model::object_key name{namespace_, wanted->name};
    error last{errc::conflict, "the Scheduling was changed by others meanwhile"};
    for (int tries = 0; tries < most_tries; ++tries) {
        auto present = co_await from_.api.get(types::scheduling, namespace_, wanted->name);
        result<std::string> done;
        if (present) {
            auto old = model::decode<model::scheduling>(*present, "Scheduling");
            if (!old) co_return refused(from, old.error());
            if (old->metadata.deleting()) {
                const bool went = co_await gone(name, old->metadata.uid);
                if (!went) {
                    co_return refused(from, 503,
                                      {"the Scheduling of that name is still being deleted"});
                }
                continue;
            }
            if (!is_shown(*old)) {
                co_return refused(
                    from, 409,
                    {"a Scheduling of that name has a claim, which this interface does "
                     "not show; take another name"});
            }
            const auto& testbed = old->spec.testbed;
            if (testbed.name != wanted->test_bed ||
                (!testbed.namespace_.empty() && testbed.namespace_ != namespace_)) {
                co_return refused(from, 400, {"testBed cannot be changed; it is " + testbed.name});
            }
            auto spec = wanted->spec(namespace_);
            spec.erase("testbed");
            json patch{{"metadata", {{"uid", old->metadata.uid}}}, {"spec", std::move(spec)}};
            done = co_await from_.api.patch(types::scheduling, namespace_, wanted->name,
                                            kube::patch_kind::merge, std::move(patch));
        } else if (present.error().code == errc::not_found) {
            done = co_await create(*wanted);
        } else {
            co_return refused(from, present.error());
        }
        if (done) {
            auto stored = model::decode<model::scheduling>(*done, "Scheduling");
            if (!stored) co_return refused(from, stored.error());
            co_await seen([this] { return from_.schedulings.version(namespace_).value_or(""); },
                          stored->metadata.resource_version);
            // Returned as it was sent: GET shows what the operator has made of it.
            stored->status = {};
            co_return ok(external(*stored));
        }
        last = done.error();
        const bool raced = last.code == errc::conflict || last.code == errc::already_exists ||
                           last.code == errc::not_found;
        if (!raced) break;
    }
    co_return refused(from, last);
}

asio::awaitable<routes::reply> routes::delete_scheduling(request from) {
    const auto name = key(from);
    auto cached = from_.schedulings.find(name);
    model::scheduling was;
    if (cached) {
        was = *cached;
    } else {
        // An object created a moment ago by another replica may not be in the cache yet.
        const bool possible = std::ranges::all_of(name.name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        });
        if (!possible || name.name.empty()) co_return reply(304, "", "");
        auto live = co_await from_.api.get(types::scheduling, namespace_, name.name);
        if (!live) {
            if (live.error().code == errc::not_found) co_return reply(304, "", "");
            co_return refused(from, live.error());
        }
        auto read = model::decode<model::scheduling>(*live, "Scheduling");
        if (!read) co_return refused(from, read.error());
        was = std::move(*read);
    }
    if (!is_shown(was)) co_return reply(304, "", "");
    auto done = co_await from_.api.remove(types::scheduling, namespace_, name.name,
                                          kube::preconditions(was.metadata.uid));
    if (!done) {
        const auto code = done.error().code;
        if (code != errc::not_found && code != errc::conflict) {
            co_return refused(from, done.error());
        }
        co_await seen_to_go(name, was.metadata.uid);
        co_return reply(304, "", "");
    }
    co_await seen_to_go(name, was.metadata.uid);
    co_return ok(external(was));
}

// --- waiting ---

asio::awaitable<bool> routes::gone(model::object_key name, std::string uid) {
    const auto deadline = from_.time.now() + longest_wait_for_deletion;
    while (from_.time.now() < deadline) {
        auto cached = from_.schedulings.find(name);
        if (!cached || cached->metadata.uid != uid) {
            auto live = co_await from_.api.get(types::scheduling, namespace_, name.name);
            if (!live && live.error().code == errc::not_found) co_return true;
            if (live) {
                auto read = model::decode<model::scheduling>(*live, "Scheduling");
                if (read && read->metadata.uid != uid) co_return true;
            }
            co_await from_.time.sleep_for(milliseconds(40));
        }
        co_await from_.time.sleep_for(milliseconds(10));
    }
    co_return false;
}

asio::awaitable<void> routes::seen(std::function<std::string()> shown, std::string version) {
    const auto deadline = from_.time.now() + seconds(1);
    while (!model::version_at_least(shown(), version) && from_.time.now() < deadline) {
        co_await from_.time.sleep_for(milliseconds(2));
    }
}

asio::awaitable<void> routes::seen_to_go(model::object_key name, std::string uid) {
    const auto deadline = from_.time.now() + seconds(1);
    while (from_.time.now() < deadline) {
        auto cached = from_.schedulings.find(name);
        if (!cached || cached->metadata.uid != uid || cached->metadata.deleting()) co_return;
        co_await from_.time.sleep_for(milliseconds(2));
    }
}

}  // namespace esi::interface::legacy
