// GET with watch=true: a cursor in the history of changes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/group_kinds.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

std::string event_line(std::string_view type, std::string_view object) {
    std::string out;
    out.reserve(object.size() + type.size() + 24);
    out += R"({"type":")";
    out += type;
    out += R"(","object":)";
    out += object;
    out += "}\n";
    return out;
}

/// How long the server waits for its cache to reach a version that a client asks for (cacher's
/// blockTimeout).
constexpr auto longest_wait = std::chrono::seconds(3);

/// An object that left the selection: as it was, with the version of the change.
std::string left_line(const change& what) {
    auto body = what.before->body();
    body["metadata"]["resourceVersion"] = std::to_string(what.version);
    return event_line("DELETED", body.dump(-1, ' ', false, json::error_handler_t::replace));
}

struct watch_settings {
    selection chosen;
    /// First the state, no older than this version, as ADDED events.
    bool initial_state = false;
    std::uint64_t from = 0;
    bool bookmarks = false;
    /// A bookmark marks the end of the initial state.
    bool mark_end = false;
    int timeout_seconds = 0;
};

class history_watch final : public watch {
public:
    history_watch(const storage& store, const kube::resource_type& type,
                  std::shared_ptr<const bool> served, watch_settings how,
                  std::function<steady_time()> now, std::uint64_t visible)
        : store_(store),
          type_(type),
          served_(std::move(served)),
          how_(std::move(how)),
          now_(std::move(now)),
          give_up_(now_() + longest_wait),
          cursor_(how_.from),
          initial_(how_.initial_state) {
        // The state is that of the moment in which it was asked for.
        if (initial_ && visible >= how_.from) ready_ = initial_state(visible);
    }

    std::string read(std::uint64_t visible) override {
        if (ended_) return {};
        if (served_ && !*served_) {
            ended_ = true;
            return {};
        }
        if (initial_) {
            if (visible >= how_.from) return initial_state(visible);
            return now_() < give_up_ ? std::string() : too_large(visible);
        }
        if (cursor_ < store_.compacted()) return std::exchange(ready_, {}) + too_old();
        auto out = std::exchange(ready_, {});
        for (const auto* each = store_.next(cursor_); each != nullptr && each->version <= visible;
             each = store_.next(cursor_)) {
            cursor_ = each->version;
            // The records of kinds are constants: one address each.
            if (each->type == &type_) tell(*each, out);
        }
        return out;
    }

    std::string bookmark(std::uint64_t visible) override {
        if (ended_ || !how_.bookmarks || initial_ || !ready_.empty()) return {};
        if (cursor_ > visible) return {};
        return bookmark_line("");
    }

    bool ended() const override { return ended_; }
    const kube::resource_type& type() const override { return type_; }
    int timeout_seconds() const override { return how_.timeout_seconds; }

private:
    void tell(const change& what, std::string& out) const {
        const bool was = what.before && how_.chosen.takes(*what.before);
        const bool is = what.what != change_type::deleted && how_.chosen.takes(*what.after);
        if (is) {
            out += event_line(was ? "MODIFIED" : "ADDED", what.after->text());
        } else if (was) {
            out += what.what == change_type::deleted ? event_line("DELETED", what.after->text())
                                                     : left_line(what);
        }
    }

    std::string initial_state(std::uint64_t visible) {
        cursor_ = std::max(visible, store_.compacted());
        initial_ = false;
        std::string out;
        for (const auto& each : store_.all_at(type_, how_.chosen.ns, cursor_)) {
            if (how_.chosen.takes(*each)) out += event_line("ADDED", each->text());
        }
        if (how_.mark_end && how_.bookmarks) {
            out += bookmark_line(R"("annotations":{"k8s.io/initial-events-end":"true"},)");
        }
        return out;
    }

    std::string bookmark_line(std::string_view annotations) const {
        return event_line(
            "BOOKMARK",
            fmt::format(
                R"({{"kind":"{}","apiVersion":"{}","metadata":{{{}"resourceVersion":"{}"}}}})",
                type_.kind, type_.api_version(), annotations, cursor_));
    }

    std::string too_old() {
        ended_ = true;
        return event_line("ERROR", expired(fmt::format("too old resource version: {} ({})", cursor_,
                                                       store_.compacted() + 1))
                                       .body);
    }

    std::string too_large(std::uint64_t visible) {
        ended_ = true;
        return event_line("ERROR", too_large_version(how_.from, visible).body);
    }

    const storage& store_;
    const kube::resource_type& type_;
    std::shared_ptr<const bool> served_;
    watch_settings how_;
    std::function<steady_time()> now_;
    steady_time give_up_;
    /// Everything up to this version was told.
    std::uint64_t cursor_;
    bool initial_;
    /// The initial state, until it is read.
    std::string ready_;
    bool ended_ = false;
};

/// ValidateWatchOptions of apimachinery.
std::vector<fault_cause> option_faults(const call& in, bool streaming_lists) {
    std::vector<fault_cause> out;
    const auto forbid = [&](const char* field, std::string_view why) {
        out.push_back({field, "FieldValueForbidden", fmt::format("Forbidden: {}", why)});
    };
    const bool asked = in.query.contains("sendInitialEvents");
    const auto match = in.option("resourceVersionMatch");
    if (asked && match != "NotOlderThan") {
        forbid("resourceVersionMatch",
               "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (asked && !streaming_lists) {
        forbid("sendInitialEvents",
               "sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
               "enabled");
    }
    if (!match.empty() && !asked) {
        forbid("resourceVersionMatch",
               "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (!match.empty() && match != "NotOlderThan") {
        out.push_back(
            {"resourceVersionMatch", "FieldValueNotSupported",
             fmt::format("Unsupported value: \"{}\": supported values: \"NotOlderThan\"", match)});
    }
    return out;
}

}  // namespace

std::variant<kube::response, std::unique_ptr<watch>> api_server::state::open(
    const call& in, std::uint64_t visible) const {
    const auto& type = *in.type;
    if (in.request->method != "GET" || !in.name.empty() || is_kind(type, kinds::token_review)) {
        return method_not_allowed(type, "watch");
    }
    const bool asked = in.query.contains("sendInitialEvents");
    const auto faults = option_faults(in, settings.streaming_lists);
    if (!faults.empty()) return invalid_options("ListOptions", faults);
    auto chosen = select(in);
    if (!chosen) return std::move(chosen).error();

    watch_settings how;
    how.chosen = std::move(*chosen);
    const auto text = in.option("resourceVersion");
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), how.from);
    if (!text.empty() && (code != std::errc() || end != text.data() + text.size())) {
        return internal_error(
            fmt::format("resourceVersion: Invalid value: \"{}\": "
                        "strconv.ParseUint: parsing \"{}\": invalid syntax",
                        text, text));
    }
    const bool streams = in.flag("sendInitialEvents");
    how.bookmarks = in.flag("allowWatchBookmarks");
    how.initial_state = streams || (how.from == 0 && !asked);
    // A watch from nowhere is a streaming list since 1.34, also where it was not asked to be.
    how.mark_end = streams || (text.empty() && settings.streaming_lists);
    if (how.from == 0 && !how.initial_state) how.from = visible;
    // Without a version, the state is as new as anything that was answered before.
    if (text.empty() && how.initial_state) how.from = store.version();
    const auto seconds = in.option("timeoutSeconds");
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), how.timeout_seconds);

    std::shared_ptr<const bool> served;
    if (const auto found = installed.find(known_as(type)); found != installed.end()) {
        served = found->second;
    }
    return std::make_unique<history_watch>(store, type, std::move(served), std::move(how),
                                           settings.now, visible);
}

}  // namespace esi::simulation
