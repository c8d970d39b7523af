#include "check/quiet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/fields.h"
#include "base/group_kinds.h"

namespace esi::simulation {

namespace {

/// Six minutes (common/controller/event_series.h), and the way.
constexpr seconds series_closed{370};

std::string name_of(std::string_view plural, std::string_view ns, std::string_view name) {
    return ns.empty() ? fmt::format("{} {}", plural, name)
                      : fmt::format("{} {}/{}", plural, ns, name);
}

std::string name_of(const write_record& what) { return what.kind + " " + what.object; }

bool accepted(const write_record& what) { return what.status >= 200 && what.status < 300; }

bool chance(std::string_view key) {
    return key == "resourceVersion" || key == "managedFields" || key == "generation";
}

std::string shown(const json& value) {
    auto text = value.dump();
    if (text.size() > 120) text = text.substr(0, 117) + "...";
    return text;
}

void compare(const json& a, const json& b, const std::string& path, std::size_t most,
             std::vector<std::string>& out) {
    if (out.size() >= most || a == b) return;
    if (a.is_object() && b.is_object()) {
        std::set<std::string> keys;
        for (const auto& [key, value] : a.items()) keys.insert(key);
        for (const auto& [key, value] : b.items()) keys.insert(key);
        for (const auto& key : keys) {
            if (path == ".metadata" && chance(key)) continue;
            const auto left = a.find(key);
            const auto right = b.find(key);
            static const json none;
            compare(left == a.end() ? none : *left, right == b.end() ? none : *right,
                    path + "." + key, most, out);
        }
        return;
    }
    if (a.is_array() && b.is_array() && a.size() == b.size()) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            compare(a[i], b[i], fmt::format("{}[{}]", path, i), most, out);
        }
        return;
    }
    out.push_back(fmt::format("{} {} -> {}", path, shown(a), shown(b)));
}

}  // namespace

std::vector<std::string> changed_fields(const json& before, const json& after, std::size_t most) {
    std::vector<std::string> out;
    compare(before, after, "", most, out);
    return out;
}

struct quiet::state {
    struct entry {
        write_record what;
        steady_time at;
        object_pointer before;
        object_pointer after;
    };
    struct last_change {
        object_pointer before;
        object_pointer after;
        change_type what = change_type::added;
    };

    steady_time start;
    quiet_settings settings;
    steady_time last;
    /// Of the time that is kept; older ones are dropped.
    std::deque<entry> log;
    std::map<std::string, std::deque<steady_time>> recent;
    std::map<std::string, std::deque<steady_time>> in_vain;
    std::map<std::string, last_change> changes;
    std::set<std::string> looping;
    std::set<std::string> vain;
    std::vector<violation> found;

    void take(const write_record& what, steady_time at);
    void find_loop(const write_record& what, steady_time at);
    void find_vain(const entry& made);
    /// Of the last `window`, this one included.
    std::ptrdiff_t count(std::deque<steady_time>& times, steady_time at) const {
        times.push_back(at);
        while (!times.empty() && times.front() + settings.window <= at) times.pop_front();
        return std::ssize(times);
    }
    std::string tell(const entry& each) const {
        if (!accepted(each.what)) return fmt::format("was answered {}", each.what.status);
        if (!each.before) return each.after ? "created it" : "changed nothing";
        if (!each.after) return "deleted it";
        auto fields = changed_fields(each.before->body(), each.after->body());
        return fields.empty() ? "changed nothing" : fmt::format("{}", fmt::join(fields, "; "));
    }
};

quiet::quiet(storage& objects, steady_time start, quiet_settings settings)
    : state_(std::make_unique<state>()) {
    state_->start = start;
    state_->last = start;
    state_->settings = settings;
    objects.on_change([state = state_.get()](const change& what) {
        const auto plural = known_as(*what.type);
        if (plural == kinds::lease.plural) return;
        const auto name = name_of(plural, what.after->ns(), what.after->name());
        state->changes[name] = {
            what.before, what.what == change_type::deleted ? nullptr : what.after, what.what};
        // Only the operators write Events in this world.
        if (plural != kinds::event.plural || what.what == change_type::deleted) return;
        state->take(
            {what.after->body().value("reportingController", ""), what.before ? "PATCH" : "POST",
             std::string(plural), what.after->ns() + "/" + what.after->name(), "", 200},
            what.at);
    });
}

quiet::~quiet() = default;

void quiet::wrote(const write_record& what, steady_time at) { state_->take(what, at); }

void quiet::state::take(const write_record& what, steady_time at) {
    last = std::max(last, at);
    entry made{what, at, nullptr, nullptr};
    const auto name = name_of(what);
    if (auto change = changes.find(name); accepted(what) && change != changes.end()) {
        made.before = change->second.before;
        made.after = change->second.after;
        // The next write may change nothing.
        change->second.before = change->second.after;
    }
    log.push_back(made);
    while (!log.empty() && log.front().at + settings.kept < at) log.pop_front();
    find_loop(what, at);
    find_vain(made);
}

/// Whatever else is pending: an object that nobody had the use of, made anew and anew.
void quiet::state::find_vain(const entry& made) {
    const auto& what = made.what;
    const bool deleted = accepted(what) && what.verb == "DELETE" && made.before && !made.after;
    if (!deleted || what.kind != kinds::pod.plural) return;
    if (!fields::text(made.before->body(), {"spec", "nodeName"}).empty()) return;
    const auto name = name_of(what);
    const auto times = count(in_vain[name], made.at);
    if (times <= settings.most_in_vain || !vain.insert(name).second) return;
    found.push_back(
        {"made-in-vain",
         fmt::format("{} was made, and deleted by operator {} before it was bound, {} times within "
                     "{} s",
                     name, what.operator_, times,
                     std::chrono::duration_cast<seconds>(settings.window).count()),
         std::chrono::duration_cast<milliseconds>(made.at - start)});
}

void quiet::state::find_loop(const write_record& what, steady_time at) {
    const auto name = name_of(what);
    const auto times = count(recent[name], at);
    if (times <= settings.most_writes || !looping.insert(name).second) return;
    std::vector<std::string> newest;
    for (auto each = log.rbegin(); each != log.rend() && newest.size() < 3; ++each) {
        if (name_of(each->what) != name) continue;
        newest.push_back(fmt::format("{} {} {}: {}", each->what.operator_, each->what.verb,
                                     each->what.subresource, tell(*each)));
    }
    std::ranges::reverse(newest);
    found.push_back({"hot-loop",
                     fmt::format("{} was written {} times within {} s; the last: {}", name, times,
                                 std::chrono::duration_cast<seconds>(settings.window).count(),
                                 fmt::join(newest, " | ")),
                     std::chrono::duration_cast<milliseconds>(at - start)});
}

steady_time quiet::last_write() const { return state_->last; }

std::vector<std::string> quiet::activity(steady_time since) const { return lines(since, since); }

std::vector<std::string> quiet::unrest(steady_time since) const {
    return lines(since, since + series_closed);
}

std::vector<std::string> quiet::lines(steady_time since, steady_time counts_since) const {
    struct line {
        int times = 0;
        const state::entry* newest = nullptr;
    };
    std::map<std::string, line> found;
    for (const auto& each : state_->log) {
        if (each.at < since) continue;
        // Of an Event that has gone meanwhile the count makes another.
        const bool counts = each.what.kind == kinds::event.plural;
        if (counts && each.at < counts_since) continue;
        auto& one = found[fmt::format("{} {} {} {}", each.what.operator_, each.what.verb,
                                      name_of(each.what), each.what.subresource)];
        ++one.times;
        one.newest = &each;
    }
    std::vector<std::pair<std::string, line>> sorted(found.begin(), found.end());
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
        return a.second.times != b.second.times ? a.second.times > b.second.times
                                                : a.first < b.first;
    });
    std::vector<std::string> out;
    for (const auto& [name, one] : sorted) {
        out.push_back(fmt::format("{} ({} times): {}", name, one.times, state_->tell(*one.newest)));
    }
    return out;
}

const std::vector<violation>& quiet::violations() const { return state_->found; }

}  // namespace esi::simulation
