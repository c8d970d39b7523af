#include "interface/v1/reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "http/entity_tag.h"
#include "interface/v1/continue_token.h"
#include "interface/v1/wire/print.h"
#include "interface/v1/wire/problems.h"
#include "model/footprint.h"

namespace esi::interface::v1 {

namespace {

using http::problem_details;
using http::server_reply;
using http::server_request;

constexpr seconds usual_wait{60};
constexpr std::string_view of_a_condition = "condition:";

server_reply json_reply(std::string body) {
    server_reply out(200, "application/json", std::move(body));
    // The content depends on the caller, and is requested again with If-None-Match.
    out.headers.emplace_back("Cache-Control", "private, no-cache");
    return out;
}

problem_details timeout(std::string detail, std::string_view state) {
    auto out = problem_of(504, "", std::move(detail));
    out.retryable = true;
    if (!state.empty()) out.members.emplace_back("state", state);
    return out;
}

/// "True (AllSucceeded)"; a missing condition is "absent".
std::string shown_condition(const std::vector<model::condition>& of, std::string_view type) {
    const auto* found = model::find_condition(of, type);
    if (found == nullptr) return "absent";
    return found->reason.empty() ? found->status
                                 : fmt::format("{} ({})", found->status, found->reason);
}

/// Whether If-None-Match names that version.
bool has_it(std::string_view if_none_match, std::string_view version) {
    return http::is_any_tag(if_none_match) || http::names_tag(if_none_match, etag_of(version));
}

}  // namespace

model::object_key key_of(const server_request& from) {
    const auto part = [&](std::string_view name) {
        const auto found = from.variables.find(name);
        return found == from.variables.end() ? std::string() : found->second;
    };
    return {part("namespace"), part("name")};
}

std::string etag_of(std::string_view version) { return fmt::format("\"{}\"", version); }

reads::reads(const sources& from, limits bounds)
    : from_(from),
      bounds_(bounds),
      waits_(from.executor, from.time, from.namespaces),
      specs_(from) {
    waits_.follow(from.seen.testbeds());
    waits_.follow(from.seen.jobs());
    waits_.follow(from.seen.schedulings());
}

// --- what is asked for ---

reads::wait_wish reads::read_wait(parameters& given, bool single) const {
    wait_wish out;
    out.index = given.version("index");
    const auto wait_for = single ? given.text("waitFor") : std::nullopt;
    const auto wait = given.duration("wait");
    if (wait_for) {
        std::string_view text = *wait_for;
        out.of_condition = text.starts_with(of_a_condition);
        if (out.of_condition) text.remove_prefix(of_a_condition.size());
        const auto equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size() ||
            (!out.of_condition && text.substr(0, equals) != "state")) {
            given.fault("waitFor", std::string(problem_code::parameter_value),
                        "waitFor is state=STATE or condition:TYPE=STATUS, such as "
                        "state=CompletedState or condition:Acquired=True");
        } else {
            out.field = text.substr(0, equals);
            out.value = text.substr(equals + 1);
        }
    }
    if (out.index && wait_for) {
        given.fault("waitFor", std::string(problem_code::parameter_value),
                    "index and waitFor are two ways to wait: give one of them");
    }
    if (wait && !out.index && !wait_for) {
        given.fault("wait", std::string(problem_code::parameter_value),
                    single ? "wait needs index or waitFor" : "wait needs index");
    }
    const steady_time::duration wished = wait ? steady_time::duration(*wait) : usual_wait;
    out.wait = std::min<steady_time::duration>(wished, bounds_.longest_wait);
    return out;
}

reads::list_wish reads::read_list(parameters& given, const server_request& from,
                                  std::string_view kind) const {
    list_wish out;
    out.ns = key_of(from).namespace_;
    out.limit = given.number("limit", 1, list_limits::most).value_or(list_limits::usual);
    const auto labels = given.text("labelSelector");
    if (auto parsed = label_selector::parse(labels.value_or(""))) {
        out.labels = std::move(*parsed);
    } else {
        given.fault("labelSelector", std::string(problem_code::parameter_value),
                    "labelSelector cannot be read: " + parsed.error());
    }
    out.states = given.words("state");
    out.question = fnv1a(fmt::format("{}\n{}\n{}\n{}", kind, out.ns, labels.value_or(""),
                                     fmt::join(out.states, ",")));
    if (const auto text = given.text("continue")) {
        const auto token = parse_continue_token(*text);
        if (!token) {
            given.fault("continue", std::string(problem_code::parameter_value),
                        "continue is not a text that this interface has given");
        } else if (token->question != out.question) {
            given.fault("continue", std::string(problem_code::parameter_value),
                        "continue belongs to a list with another path, labelSelector or state");
        } else {
            out.after = {token->after_namespace, token->after_name};
            out.version = token->version;
        }
    }
    out.wait = read_wait(given, false);
    return out;
}

// --- waiting ---

template <class T>
bool reads::is_as_wished(const T& object, const wait_wish& wish) {
    if (!wish.of_condition) return object.status.state == wish.value;
    const auto* found = model::find_condition(object.status.conditions, wish.field);
    return found != nullptr && found->status == wish.value;
}

template <class T>
asio::awaitable<std::optional<problem_details>> reads::wait(const kube::store<T>& of,
                                                            model::object_key at, wait_wish wish,
                                                            const server_request& from) {
    const auto kind = type_of<T>().kind;
    const auto is_due = [&] {
        if (at.name.empty()) return waits_.changed_since(of, at.namespace_, *wish.index);
        const auto object = of.find(at);
        // No change follows for an object that has gone.
        if (!object) return true;
        if (!wish.index) return is_as_wished(*object, wish);
        return number_of_version(object->metadata.resource_version) > *wish.index;
    };
    if (is_due()) co_return std::nullopt;
    if (from.room) from.room->stand_aside();
    auto lease = from_.limits.take(*from.caller, quota::kind::wait);
    if (!lease) co_return from_.limits.refused(quota::kind::wait);
    const wait_place place{kind, at};
    lease->when_lost([this, &place] { waits_.ring(place); });
    const auto ended = co_await waits_.until(
        place, [&] { return lease->lost() || is_due(); }, from_.time.now() + wish.wait,
        from.peer ? from.peer->has_ended : std::function<bool()>());
    if (lease->lost() && !is_due()) co_return from_.limits.refused(quota::kind::wait);
    switch (ended) {
        case change_waits::outcome::due:
            co_return std::nullopt;
        case change_waits::outcome::left:
            co_return unavailable(problem_code::stopping, "the caller has gone");
        case change_waits::outcome::stopping:
            co_return unavailable(problem_code::stopping,
                                  "this replica ends; ask again, another one answers");
        case change_waits::outcome::time_up:
            break;
    }
    // A blocking query returns the present state, changed or not.
    if (wish.index) co_return std::nullopt;
    const auto object = of.find(at);
    const auto now = wish.of_condition ? shown_condition(object->status.conditions, wish.field)
                                       : object->status.state;
    co_return timeout(fmt::format("{} {}: {} is {} and not {}, after {} ms", kind, at.text(),
                                  wish.of_condition ? "condition " + wish.field : "state",
                                  now.empty() ? "not set" : now, wish.value,
                                  std::chrono::duration_cast<milliseconds>(wish.wait).count()),
                      object->status.state);
}

// --- whole objects ---

whole_jobs reads::whole(std::vector<std::shared_ptr<const model::batchjob>> of,
                        std::shared_ptr<http::answer_room> room) {
    return whole_jobs(specs_, std::move(of), std::move(room));
}

template <class T>
cached_objects<T> reads::whole(std::vector<std::shared_ptr<const T>> of,
                               const std::shared_ptr<http::answer_room>&) {
    return cached_objects<T>(std::move(of));
}

template <class T>
asio::awaitable<answer> reads::get(const kube::store<T>& of, server_request from) {
    const auto kind = type_of<T>().kind;
    const auto key = key_of(from);
    parameters given(from);
    const auto wish = read_wait(given, true);
    if (auto faults = given.take_faults(); !faults.empty()) {
        co_return std::unexpected(bad_parameters(std::move(faults)));
    }
    if (of.find(key) && (wish.index || !wish.field.empty())) {
        auto why = co_await wait(of, key, wish, from);
        if (why) co_return std::unexpected(std::move(*why));
    }
    auto object = of.find(key);
    if (!object) {
        auto out = not_found(kind, key);
        out.headers.emplace_back("X-ESI-Index",
                                 std::to_string(waits_.shown_version(of, key.namespace_)));
        co_return std::unexpected(std::move(out));
    }
    const auto tag = [](const T& shown, server_reply out) {
        const auto& version = shown.metadata.resource_version;
        out.headers.emplace_back("ETag", etag_of(version));
        out.headers.emplace_back("X-ESI-Index", version);
        return out;
    };
    const auto known = from.header("if-none-match");
    if (has_it(known, object->metadata.resource_version)) {
        co_return tag(*object, server_reply(304, "", ""));
    }
    std::vector<std::shared_ptr<const T>> one{std::move(object)};
    auto objects = whole(std::move(one), from.room);
    const auto read = co_await objects.next(0);
    if (!read) co_return std::unexpected(problem_of(read.error()));
    if (objects.out_of_room()) co_return std::unexpected(no_room());
    if (!*read) co_return std::unexpected(not_found(kind, key));
    const auto& shown = **read;
    if (has_it(known, shown.metadata.resource_version)) {
        co_return tag(shown, server_reply(304, "", ""));
    }
    std::string body;
    print_object(body, shown);
    co_return tag(shown, json_reply(std::move(body)));
}

template <class T>
asio::awaitable<answer> reads::list(const kube::store<T>& of, server_request from) {
    parameters given(from);
    const auto wish = read_list(given, from, type_of<T>().kind);
    if (auto faults = given.take_faults(); !faults.empty()) {
        co_return std::unexpected(bad_parameters(std::move(faults)));
    }
    if (wish.wait.index) {
        auto why = co_await wait(of, {wish.ns, ""}, wish.wait, from);
        if (why) co_return std::unexpected(std::move(*why));
    }
    const auto index = std::to_string(waits_.shown_version(of, wish.ns));
    const auto version = wish.version.empty() ? index : wish.version;
    std::vector<std::shared_ptr<const T>> found;
    bool more = false;
    const auto& all = of.all();
    auto at =
        wish.after.name.empty() ? all.lower_bound({wish.ns, ""}) : all.upper_bound(wish.after);
    for (; at != all.end() && (wish.ns.empty() || at->first.namespace_ == wish.ns); ++at) {
        const auto& object = *at->second;
        if (!wish.labels.matches(object.metadata.labels)) continue;
        if (!wish.states.empty() && !wish.states.contains(object.status.state)) continue;
        if (found.size() == static_cast<std::size_t>(wish.limit)) {
            more = true;
            break;
        }
        found.push_back(at->second);
    }
    auto last = found.empty() ? model::object_key() : found.back()->metadata.key();
    auto objects = whole(std::move(found), from.room);
    std::string body = R"({"items":[)";
    std::optional<model::object_key> shown;
    bool ends_here = false;
    while (!objects.at_end()) {
        // Checked before the next one is read.
        ends_here = body.size() > list_limits::most_bytes;
        if (ends_here) break;
        const auto read = co_await objects.next(body.size());
        if (!read) co_return std::unexpected(problem_of(read.error()));
        ends_here = objects.out_of_room();
        if (!*read) break;
        if (shown) body += ',';
        print_object(body, **read);
        shown = (*read)->metadata.key();
    }
    if (ends_here) {
        if (!shown) co_return std::unexpected(no_room());
        more = true;
        last = *shown;
    }
    body += R"(],"resourceVersion":)";
    print_text(body, version);
    if (more) {
        body += R"(,"continue":)";
        print_text(body,
                   text_of(continue_token{last.namespace_, last.name, version, wish.question}));
    }
    body += '}';
    auto out = json_reply(std::move(body));
    out.headers.emplace_back("X-ESI-Index", index);
    co_return out;
}

asio::awaitable<answer> reads::list_testbeds(server_request from) {
    return list(from_.seen.testbeds(), std::move(from));
}
asio::awaitable<answer> reads::list_jobs(server_request from) {
    return list(from_.seen.jobs(), std::move(from));
}
asio::awaitable<answer> reads::list_schedulings(server_request from) {
    return list(from_.seen.schedulings(), std::move(from));
}
asio::awaitable<answer> reads::get_testbed(server_request from) {
    return get(from_.seen.testbeds(), std::move(from));
}
asio::awaitable<answer> reads::get_job(server_request from) {
    return get(from_.seen.jobs(), std::move(from));
}
asio::awaitable<answer> reads::get_scheduling(server_request from) {
    return get(from_.seen.schedulings(), std::move(from));
}

asio::awaitable<answer> reads::list_runs(server_request from) {
    parameters given(from);
    if (auto faults = given.take_faults(); !faults.empty()) {
        co_return std::unexpected(bad_parameters(std::move(faults)));
    }
    const auto key = key_of(from);
    const auto job = from_.seen.jobs().find(key);
    if (!job) co_return std::unexpected(not_found("BatchJob", key));
    run_list out{key, job->metadata.resource_version, job->status.run_count, job->status.runs};
    auto reply = json_reply(printed(out));
    reply.headers.emplace_back("X-ESI-Index", out.resource_version);
    co_return reply;
}

asio::awaitable<answer> reads::list_slots(server_request from) {
    const auto key = key_of(from);
    parameters given(from);
    const auto states = given.words("state");
    const auto nodes = given.words("node");
    const int limit =
        given.number("limit", 1, list_limits::most_slots).value_or(list_limits::usual_slots);
    // A position says where to continue: a layout changes only while the Testbed is free.
    const auto begin = given.version("continue");
    if (auto faults = given.take_faults(); !faults.empty()) {
        co_return std::unexpected(bad_parameters(std::move(faults)));
    }
    const auto testbed = from_.seen.testbeds().find(key);
    if (!testbed) co_return std::unexpected(not_found("Testbed", key));
    auto& seen = from_.seen;
    slot_list out{key, testbed->metadata.resource_version, {}, {}};
    const scheduling::answers::slot_sources where{
        seen.jobs(), seen.schedulings(), seen.pods(),
        [&seen](const model::object_key& of) { return seen.slots_of(of); }};
    std::size_t bytes = 0;
    for (auto& row : scheduling::answers::slot_rows(*testbed, where)) {
        if (begin && static_cast<std::uint64_t>(std::max(row.position, 0)) < *begin) continue;
        if (!states.empty() && !states.contains(row.state)) continue;
        if (!nodes.empty() && !nodes.contains(row.node_name)) continue;
        if (out.items.size() == static_cast<std::size_t>(limit) ||
            bytes > list_limits::most_bytes) {
            out.continue_ = std::to_string(row.position);
            break;
        }
        bytes += sizeof(row) + model::held_by(row);
        out.items.push_back(std::move(row));
    }
    auto reply = json_reply(printed(out));
    reply.headers.emplace_back("X-ESI-Index", out.resource_version);
    co_return reply;
}

}  // namespace esi::interface::v1
