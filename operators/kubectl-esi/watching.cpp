#include "kubectl-esi/watching.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/task_group.h"
#include "base/wait.h"
#include "kube/percent.h"
#include "kubectl-esi/read/remedy.h"
#include "model/json.h"

namespace esi::kubectl {

namespace {

using namespace std::chrono_literals;

constexpr auto shortest_pause = 1s;
/// A kind that cannot be watched is read again after this time.
constexpr auto poll_period = 5s;
constexpr seconds redraw_period = 10s;
constexpr seconds longest_silence = 400s;
constexpr auto group_time = 200ms;
constexpr const char* watch_seconds = "300";

/// Moves to the top left and clears everything below.
constexpr std::string_view clear_screen = "\x1b[H\x1b[J";

/// The resourceVersion of a list; the list is limited to one object.
asio::awaitable<std::optional<std::string>> version_of(session& in, watched what) {
    kube::list_options one;
    one.limit = 1;
    one.label_selector = what.label_selector;
    const auto text = co_await in.api.list(what.type, what.ns, one);
    if (!text) co_return std::nullopt;
    const auto list = kube::json::parse(*text, nullptr, false);
    if (!list.is_object() || !list.contains("metadata")) co_return std::nullopt;
    co_return list["metadata"].value("resourceVersion", "");
}

/// Notifies `changed` of each event of a watch that is no bookmark.
asio::awaitable<void> follow(session& in, watched what, std::string version, notifier& changed) {
    kube::query_builder target(what.type.path(what.ns));
    target.add("watch", "1").add("resourceVersion", version).add("timeoutSeconds", watch_seconds);
    if (!what.label_selector.empty()) target.add("labelSelector", what.label_selector);
    const auto limit = in.flags.request_timeout;
    auto stream =
        co_await in.api.wire().open(kube::request("GET", target.take()), in.time.now() + limit);
    if (!stream || (*stream)->status() != 200) co_return;
    while (true) {
        const auto piece = co_await (*stream)->read(in.time.now() + longest_silence);
        if (!piece || piece->empty()) co_return;
        changed.notify();
    }
}

asio::awaitable<void> follow_for_ever(session& in, watched what, notifier& changed) {
    while (true) {
        const auto version = co_await version_of(in, what);
        if (version) co_await follow(in, what, *version, changed);
        co_await in.time.sleep_for(version ? milliseconds(shortest_pause)
                                           : milliseconds(poll_period));
        // No watch shows a change between the two.
        changed.notify();
    }
}

/// The printed text, so that nothing is printed twice.
class screen {
public:
    explicit screen(bool terminal) : terminal_(terminal) {}
    void show(const reply& what) {
        if (terminal_) {
            return print({std::string(clear_screen) + what.note + what.out, "", exit_code::ok});
        }
        if (what.out == shown_) return;
        print(what);
        shown_ = what.out;
    }

private:
    bool terminal_;
    std::string shown_;
};

asio::awaitable<void> answer_for_ever(session& in, command make, screen& on, notifier& changed) {
    while (true) {
        const auto begun = in.time.now();
        const auto limit = in.terminal ? redraw_period : longest_silence;
        co_await ends_by(in.time, begun + limit, changed.wait());
        // Changes come in groups.
        co_await in.time.sleep_until(std::max(begun + shortest_pause, in.time.now() + group_time));
        const auto made = co_await make(in);
        if (made) {
            on.show(*made);
        } else {
            print({"", error_text(made.error(), &in.access), exit_code::failed});
        }
    }
}

}  // namespace

asio::awaitable<result<reply>> watch(session& in, std::vector<watched> kinds, command make) {
    auto first = co_await make(in);
    if (!first) co_return first;
    screen on(in.terminal);
    on.show(*first);
    notifier changed(in.executor);
    std::vector<asio::awaitable<void>> all;
    all.push_back(answer_for_ever(in, std::move(make), on, changed));
    for (auto& each : kinds) all.push_back(follow_for_ever(in, std::move(each), changed));
    co_await run_together(std::move(all));
    co_return reply{};
}

void print(const reply& what) {
    // This order is needed, as a terminal shows both.
    std::fwrite(what.note.data(), 1, what.note.size(), stderr);
    std::fflush(stderr);
    std::fwrite(what.out.data(), 1, what.out.size(), stdout);
    std::fflush(stdout);
}

}  // namespace esi::kubectl
