#include "kube/watch/reflector.h"

#include <simdjson.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/log.h"
#include "kube/percent.h"
#include "kube/status_error.h"
#include "kube/watch/line_splitter.h"
#include "kube/watch/watch_ladder.h"
#include "model/json.h"
#include "model/parse.h"

namespace esi::kube {

namespace {

using namespace std::chrono_literals;
using element = simdjson::dom::element;

constexpr auto open_deadline = 30s;
/// How often at most the sink gets a list that it wants: a client that stores and deletes objects
/// in turns would otherwise cause a list each time. The watch has to show something in between,
/// which bookmarks do each minute.
constexpr auto between_wanted_lists = 60s;
/// How much of the body of a refused watch is read.
constexpr std::size_t refusal_limit = 64u << 10;
/// The parser needs some ten times the length of a line; for longer ones than this that is not
/// kept.
constexpr std::size_t kept_line = 32u << 10;

std::string text_at(const element& object, std::string_view first, std::string_view second) {
    element outer;
    element inner;
    std::string_view text;
    if (object[first].get(outer) != simdjson::SUCCESS) return {};
    if (outer[second].get(inner) != simdjson::SUCCESS) return {};
    if (inner.get(text) != simdjson::SUCCESS) return {};
    return std::string(text);
}

/// For people; empty where it has none.
std::string name_of(const element& object) {
    auto key = decode_key(object);
    return key ? key->text() : std::string();
}

bool marks_end_of_initial_events(const element& object) {
    element metadata;
    element annotations;
    std::string_view value;
    return object["metadata"].get(metadata) == simdjson::SUCCESS &&
           metadata["annotations"].get(annotations) == simdjson::SUCCESS &&
           annotations["k8s.io/initial-events-end"].get(value) == simdjson::SUCCESS &&
           value == "true";
}

bool is_denied(const ladder::event& event) {
    const auto* refused = std::get_if<ladder::refused>(&event);
    return refused != nullptr && refused->why.code == errc::forbidden;
}

/// The API server gave no answer: this is reported for all requests together (kube/reach.h).
bool is_silence(errc code) { return code == errc::transport || code == errc::timeout; }

/// Errors that are part of every watch's life, and of a busy API server's.
bool is_ordinary(errc code) {
    return code == errc::gone || code == errc::too_many_requests || is_silence(code);
}

}  // namespace

result<model::object_key> decode_key(const element& object) {
    auto name = text_at(object, "metadata", "name");
    if (name.empty()) return fail(errc::decode, ".metadata.name: is missing");
    return model::object_key{text_at(object, "metadata", "namespace"), std::move(name)};
}

struct reflector::state {
    state(client& api_, clock& time_, const resource_type& type_, watch_scope scope_,
          std::string ns_, sink& into_)
        : api(api_),
          time(time_),
          type(type_),
          scope(std::move(scope_)),
          ns(std::move(ns_)),
          into(into_),
          // Different in each process and at each start, the same in each run of a simulation.
          random(static_cast<std::uint64_t>(time.wall().time_since_epoch().count()) ^
                 std::hash<std::string>{}(std::string(type.plural) + ns)),
          climb(new_climb()),
          last_heard(time.now()) {}

    watch_ladder new_climb() {
        return watch_ladder([this] { return std::generate_canonical<double, 53>(random); });
    }
    asio::awaitable<ladder::event> list(ladder_step step);
    asio::awaitable<ladder::event> watch(ladder_step step);
    asio::awaitable<ladder::event> read(steady_time deadline);
    asio::awaitable<error> refusal();
    ladder::event take_line(std::string_view line);
    bool is_list_due();
    ladder::event take_event(const element& root);
    ladder::event deliver(ladder::change what, const element& object);
    void report(std::string_view what, const error& why, const std::string& object = {}) const;
    void tell(const ladder::event& event, const ladder_step& step);
    void tell_refusal(const error& why, const ladder_step& step);
    void tell_mended();
    std::string subject(std::string_view what) const;

    client& api;
    clock& time;
    const resource_type& type;
    watch_scope scope;
    std::string ns;
    sink& into;
    std::mt19937_64 random;
    watch_ladder climb;
    steady_time last_heard;
    steady_time next_wanted_list{};
    /// The verb of the last request: list or watch.
    std::string_view verb = "watch";
    trouble_memory memory;
    /// The failure is in the log.
    bool told = false;

    std::unique_ptr<stream> source;
    line_splitter lines;
    /// Kept for its buffers: one document per event of the stream.
    simdjson::dom::parser kept;
};

reflector::reflector(client& api, clock& time, const resource_type& type, watch_scope scope,
                     std::string ns, sink& into)
    : state_(std::make_unique<state>(api, time, type, std::move(scope), std::move(ns), into)) {}
reflector::~reflector() = default;

bool reflector::served() const { return state_->climb.served(); }
steady_time reflector::last_heard() const { return state_->last_heard; }
const std::optional<trouble>& reflector::present_trouble() const {
    return state_->memory.present();
}

asio::awaitable<void> reflector::run() {
    auto& own = *state_;
    own.source.reset();
    own.climb = own.new_climb();
    ladder::event event = ladder::started();
    while (true) {
        auto step = own.climb.resume(event, own.time.now());
        own.tell(event, step);
        if (is_denied(event) && own.into.denied()) own.memory.set_aside();
        if (step.end_list) own.into.end_list();
        if (!step.seen.empty()) own.into.version(step.seen);
        if (step.begin_list) own.into.begin_list();
        switch (step.what) {
            case ladder_step::kind::wait:
                own.source.reset();
                co_await own.time.sleep_for(step.delay);
                event = ladder::waited();
                break;
            case ladder_step::kind::list:
                own.source.reset();
                event = co_await own.list(std::move(step));
                break;
            case ladder_step::kind::watch:
                event = co_await own.watch(std::move(step));
                break;
            case ladder_step::kind::read:
                event = co_await own.read(step.read_deadline);
                break;
        }
    }
}

std::string reflector::state::subject(std::string_view what) const {
    std::string out(what);
    out += ' ';
    out += type.plural;
    if (!ns.empty()) out += " in " + ns;
    return out;
}

asio::awaitable<ladder::event> reflector::state::list(ladder_step step) {
    verb = "list";
    list_options options;
    options.label_selector = scope.label_selector;
    options.field_selector = scope.field_selector;
    if (!step.version.empty()) options.resource_version = step.version;
    options.limit = step.limit;
    options.answer_limit = step.answer_limit;
    options.continue_token = step.continue_token;
    auto answer = co_await api.list(type, ns, std::move(options));
    if (!answer) co_return ladder::refused{std::move(answer).error()};
    last_heard = time.now();

    // Pages are large and rare: their buffers are not kept.
    simdjson::dom::parser once;
    const auto parsed = model::parse(once, *answer);
    if (!parsed) {
        co_return ladder::refused{
            error{errc::decode, subject("list") + ": " + parsed.error().text}};
    }
    const element root = *parsed;
    simdjson::dom::array items;
    element listed;
    // Go writes an empty list as null.
    if (root["items"].get(listed) == simdjson::SUCCESS && listed.get(items) == simdjson::SUCCESS) {
        for (element item : items) {
            if (auto done = into.upsert(item); !done) {
                report("item of a list", done.error(), name_of(item));
            }
        }
    } else if (!listed.is_null()) {
        co_return ladder::refused{error{errc::decode, subject("list") + ": .items: is not a list"}};
    }
    co_return ladder::page{text_at(root, "metadata", "resourceVersion"),
                           text_at(root, "metadata", "continue")};
}

asio::awaitable<ladder::event> reflector::state::watch(ladder_step step) {
    verb = "watch";
    source.reset();
    lines = line_splitter();
    query_builder target(type.path(ns));
    target.add("watch", "true").add("allowWatchBookmarks", "true");
    target.add("timeoutSeconds", std::to_string(step.timeout.count()));
    if (!step.version.empty()) target.add("resourceVersion", step.version);
    if (step.initial_events) {
        target.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
    }
    if (!scope.label_selector.empty()) target.add("labelSelector", scope.label_selector);
    if (!scope.field_selector.empty()) target.add("fieldSelector", scope.field_selector);
    auto answer =
        co_await api.wire().open(request("GET", target.take()), time.now() + open_deadline);
    if (!answer) co_return ladder::refused{std::move(answer).error()};
    last_heard = time.now();
    source = std::move(*answer);
    if (source->status() < 300) co_return ladder::opened();
    auto why = co_await refusal();
    co_return ladder::refused{std::move(why)};
}

asio::awaitable<error> reflector::state::refusal() {
    response answer;
    answer.status = source->status();
    answer.retry_after_seconds = source->retry_after_seconds();
    const auto deadline = time.now() + open_deadline;
    while (answer.body.size() < refusal_limit) {
        auto chunk = co_await source->read(deadline);
        if (!chunk || chunk->empty()) break;
        answer.body += *chunk;
    }
    source.reset();
    co_return status_error(answer, subject("watch"));
}

asio::awaitable<ladder::event> reflector::state::read(steady_time deadline) {
    while (true) {
        if (auto line = lines.next()) {
            auto event = take_line(*line);
            if (!climb.listing() && is_list_due()) {
                co_return ladder::error_event{error{errc::gone, "what was left out has room"}};
            }
            co_return event;
        }
        auto chunk = co_await source->read(deadline);
        if (!chunk) co_return ladder::broken{std::move(chunk).error()};
        if (chunk->empty()) co_return ladder::closed();
        last_heard = time.now();
        if (auto fed = lines.feed(*chunk); !fed) co_return ladder::broken{std::move(fed).error()};
    }
}

bool reflector::state::is_list_due() {
    if (time.now() < next_wanted_list || !into.wants_list()) return false;
    next_wanted_list = time.now() + between_wanted_lists;
    return true;
}

ladder::event reflector::state::take_line(std::string_view line) {
    simdjson::dom::parser once;
    auto& parser = line.size() > kept_line ? once : kept;
    const auto root = model::parse(parser, line);
    if (!root) {
        report("watch event", root.error());
        return ladder::skipped();
    }
    return take_event(*root);
}

ladder::event reflector::state::take_event(const element& root) {
    std::string_view kind;
    element object;
    if (root["type"].get(kind) != simdjson::SUCCESS ||
        root["object"].get(object) != simdjson::SUCCESS) {
        report("watch event", error{errc::decode, "has no type or no object"});
        return ladder::skipped();
    }
    if (kind == "ADDED") return deliver(ladder::change::added, object);
    if (kind == "MODIFIED") return deliver(ladder::change::modified, object);
    if (kind == "DELETED") return deliver(ladder::change::deleted, object);
    if (kind == "BOOKMARK") {
        return ladder::bookmark{text_at(object, "metadata", "resourceVersion"),
                                marks_end_of_initial_events(object)};
    }
    if (kind == "ERROR") {
        return ladder::error_event{status_error(simdjson::minify(object), subject("watch"))};
    }
    report("watch event", error{errc::decode, "has the unknown type " + std::string(kind)});
    return ladder::skipped();
}

ladder::event reflector::state::deliver(ladder::change what, const element& object) {
    auto done = what == ladder::change::deleted ? into.erase(object) : into.upsert(object);
    if (!done) report("watch event", done.error(), name_of(object));
    return ladder::object{what, text_at(object, "metadata", "resourceVersion")};
}

void reflector::state::report(std::string_view what, const error& why,
                              const std::string& object) const {
    log::error("object not understood, skipped",
               {{"kind", type.kind}, {"object", object}, {"in", what}, {"error", why.text}});
}

void reflector::state::tell(const ladder::event& event, const ladder_step& step) {
    if (std::holds_alternative<ladder::opened>(event) ||
        std::holds_alternative<ladder::page>(event)) {
        return tell_mended();
    }
    const error* why = nullptr;
    if (auto* refused = std::get_if<ladder::refused>(&event)) {
        // Otherwise the next rung is taken at once: that is no failure.
        if (step.what == ladder_step::kind::wait) return tell_refusal(refused->why, step);
        why = &refused->why;
    }
    if (auto* broken = std::get_if<ladder::broken>(&event)) why = &broken->why;
    if (auto* told_by = std::get_if<ladder::error_event>(&event)) why = &told_by->why;
    if (!why) return;
    log::write(is_ordinary(why->code) ? log::level::debug : log::level::warn, "watch interrupted",
               {{"kind", type.kind},
                {"namespace", ns},
                {"error", why->text},
                {"again_in_ms", std::chrono::floor<milliseconds>(step.delay).count()}});
}

void reflector::state::tell_refusal(const error& why, const ladder_step& step) {
    api.list_failed(type, why.code);
    trouble found{std::string(verb), &type, ns, why.code, time.now()};
    const auto remedy = found.remedy();
    // A busy API server, or a version that is too old, is not a trouble of the kind.
    const bool passing = why.code == errc::gone || why.code == errc::too_many_requests;
    const bool news = !passing && memory.failed(std::move(found));
    if (!news || is_silence(why.code)) {
        log::debug("list or watch failed",
                   {{"kind", type.kind},
                    {"namespace", ns},
                    {"error", why.text},
                    {"again_in_ms", std::chrono::floor<milliseconds>(step.delay).count()}});
        return;
    }
    told = true;
    log::error("list or watch failed, trying again", {{"kind", type.kind},
                                                      {"namespace", ns},
                                                      {"status", status_of(why.code)},
                                                      {"error", why.text},
                                                      {"remedy", remedy}});
}

void reflector::state::tell_mended() {
    memory.mended();
    if (!std::exchange(told, false)) return;
    log::info("list and watch work", {{"kind", type.kind}, {"namespace", ns}});
}

}  // namespace esi::kube
