#include "interface/v1/events/replay.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "interface/v1/events/frames.h"
#include "kube/percent.h"
#include "kube/status_error.h"
#include "kube/watch/line_splitter.h"
#include "model/json.h"
#include "model/kept.h"
#include "model/parse.h"

namespace esi::interface::v1::events {

namespace {

using element = simdjson::dom::element;

/// A watch gets a bookmark two seconds before its end: this one one second after its begin.
constexpr std::string_view watch_seconds = "3";
/// How much of the body of a refused watch is read.
constexpr std::size_t refusal_limit = 64u << 10;
/// The pause before a watch that ended at once is opened again.
constexpr milliseconds pause{300};

std::string subject(const feed_table& feeds, std::size_t feed) {
    const auto& ns = feeds.namespace_of(feed);
    return fmt::format("watch {}{}", type_of(feeds.kind_of(feed)).plural,
                       ns.empty() ? "" : " in " + ns);
}

std::optional<action> action_of(std::string_view word) {
    for (const auto each : {action::added, action::modified, action::deleted}) {
        if (word_of(each) == word) return each;
    }
    return std::nullopt;
}

version version_in(const element& object) {
    std::string_view text;
    element metadata;
    if (object["metadata"].get(metadata) != simdjson::SUCCESS) return 0;
    if (metadata["resourceVersion"].get(text) != simdjson::SUCCESS) return 0;
    return version_of(text);
}

template <class T>
result<void> read_object(const element& from, change& into) {
    auto object = model::decode<T>(from);
    if (!object) return std::unexpected(std::move(object).error());
    if constexpr (std::is_same_v<T, model::batchjob>) model::drop_application_specs(*object);
    into.ns = object->metadata.namespace_;
    into.labels = object->metadata.labels;
    into.text = object_text(*object);
    return {};
}

result<void> read_object(kind of, const element& from, change& into) {
    switch (of) {
        case kind::testbed:
            return read_object<model::testbed>(from, into);
        case kind::batchjob:
            return read_object<model::batchjob>(from, into);
        case kind::scheduling:
            break;
    }
    return read_object<model::scheduling>(from, into);
}

/// One replay: what was read so far, over one watch or several.
struct reader {
    kube::client& api;
    clock& time;
    const feed_table& feeds;
    std::size_t feed;
    version at;
    std::function<version()> until;
    replay_bounds bounds;
    std::vector<change> found = {};
    std::size_t bytes = 0;
    simdjson::dom::parser parser = simdjson::dom::parser();

    bool arrived() const { return at >= until(); }

    result<void> take(std::string_view line) {
        const auto root = model::parse(parser, line);
        if (!root) return std::unexpected(root.error());
        std::string_view word;
        element object;
        if ((*root)["type"].get(word) != simdjson::SUCCESS ||
            (*root)["object"].get(object) != simdjson::SUCCESS) {
            return fail(errc::decode, "a watch event has no type or no object");
        }
        if (word == "ERROR") {
            return std::unexpected(
                kube::status_error(simdjson::minify(object), subject(feeds, feed)));
        }
        const auto version = version_in(object);
        if (const auto what = action_of(word)) {
            change one;
            one.feed = feed;
            one.at = version;
            one.what = *what;
            one.heard.resize(feeds.size());
            one.heard[feed] = version;
            if (auto done = read_object(feeds.kind_of(feed), object, one); !done) return done;
            bytes += one.bytes();
            found.push_back(std::move(one));
            if (bytes > bounds.bytes || found.size() > bounds.changes) {
                return fail(errc::gone, "too much has happened since");
            }
        }
        at = std::max(at, version);
        return {};
    }

    asio::awaitable<result<void>> watch_once(steady_time deadline) {
        kube::query_builder target(type_of(feeds.kind_of(feed)).path(feeds.namespace_of(feed)));
        target.add("watch", "true").add("allowWatchBookmarks", "true");
        target.add("timeoutSeconds", watch_seconds).add("resourceVersion", std::to_string(at));
        auto opened = co_await api.wire().open(kube::request("GET", target.take()), deadline);
        if (!opened) co_return std::unexpected(std::move(opened).error());
        auto& source = **opened;
        if (source.status() >= 300) {
            kube::response answer;
            answer.status = source.status();
            while (answer.body.size() < refusal_limit) {
                auto chunk = co_await source.read(deadline);
                if (!chunk || chunk->empty()) break;
                answer.body += *chunk;
            }
            co_return std::unexpected(kube::status_error(answer, subject(feeds, feed)));
        }
        kube::line_splitter lines;
        while (!arrived()) {
            auto chunk = co_await source.read(deadline);
            if (!chunk) co_return std::unexpected(std::move(chunk).error());
            if (chunk->empty()) break;
            if (auto fed = lines.feed(*chunk); !fed) co_return fed;
            while (const auto line = lines.next()) {
                if (auto done = take(*line); !done) co_return done;
            }
        }
        co_return result<void>();
    }
};

}  // namespace

asio::awaitable<result<std::vector<change>>> replay(kube::client& api, clock& time,
                                                    const feed_table& feeds, std::size_t feed,
                                                    version from, std::function<version()> until,
                                                    replay_bounds bounds) {
    reader one{api, time, feeds, feed, from, std::move(until), bounds};
    const auto deadline = time.now() + bounds.time;
    while (!one.arrived()) {
        const auto begun = time.now();
        auto done = co_await one.watch_once(deadline);
        if (!done) co_return std::unexpected(std::move(done).error());
        if (one.arrived()) break;
        if (time.now() >= deadline) {
            co_return fail(errc::timeout, subject(feeds, feed) + ": did not come to the present");
        }
        if (time.now() - begun < pause) co_await time.sleep_for(pause);
    }
    co_return std::move(one.found);
}

asio::awaitable<result<version>> newest(kube::client& api, const feed_table& feeds,
                                        std::size_t feed) {
    kube::list_options options;
    options.limit = 1;
    auto answer = co_await api.list(type_of(feeds.kind_of(feed)), feeds.namespace_of(feed),
                                    std::move(options));
    if (!answer) co_return std::unexpected(std::move(answer).error());
    simdjson::dom::parser parser;
    const auto root = model::parse(parser, *answer);
    if (!root) co_return std::unexpected(root.error());
    co_return version_in(*root);
}

}  // namespace esi::interface::v1::events
