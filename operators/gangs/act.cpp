#include "gangs/act.h"

#include <fmt/format.h>

#include <set>
#include <span>

#include "base/log.h"
#include "base/overloaded.h"
#include "base/wait.h"
#include "gangs/plan_mark.h"
#include "kube/patch.h"
#include "kube/resource.h"
#include "kube/watch/live_list.h"
#include "model/json.h"
#include "placement/door.h"

namespace esi::gangs {

using kube::json;
namespace types = kube::types;

namespace {

/// Requests under way at once: enough to hide latency, few enough that many gangs do not flood the
/// API server.
constexpr std::size_t most_requests = 16;
/// Actions that have begun; those of one gang do not wait for the reads of another.
constexpr std::size_t most_workers = 64;
/// Reads of facts that have begun. Each may be thousands of requests, one after another.
constexpr std::size_t most_read_workers = 2;
/// A definition may gain or lose its status sub-resource: ask again after this time.
constexpr std::chrono::minutes served_counts_for{5};
constexpr seconds discovery_deadline{10};

void note_failure(outcome& into, const error& why) {
    // An error that is not of the moment is the one to report.
    if (!into.failed || is_of_the_moment(into.failed->code)) into.failed = why;
}

}  // namespace

actor::actor(asio::any_io_executor executor, clock& time, kube::client& api,
             const kube::store<model::node>& nodes, const cluster_room& room,
             const shown_plans& shown, gang_numbers& numbers, answer tell)
    : time_(time),
      api_(api),
      nodes_(nodes),
      room_(room),
      shown_(shown),
      numbers_(numbers),
      tell_(std::move(tell)),
      slots_(executor, most_requests),
      facts_(executor, time, api, slots_),
      group_(std::move(executor)) {}

void actor::take(std::vector<action> actions) {
    if (stopping_) return;
    for (auto& what : actions) {
        if (auto* read = std::get_if<read_facts>(&what)) {
            queue_read(std::move(*read));
        } else {
            queue_.push_back(std::move(what));
        }
    }
    for (auto more = std::min(most_workers - workers_, queue_.size()); more > 0; --more) {
        ++workers_;
        group_.spawn("gang action", work());
    }
    for (auto more = std::min(most_read_workers - read_workers_, reads_waiting_); more > 0;
         --more) {
        ++read_workers_;
        group_.spawn("gang facts", work_on_reads());
    }
}

asio::awaitable<void> actor::work() {
    while (!queue_.empty()) {
        auto what = std::move(queue_.front());
        queue_.pop_front();
        auto how = co_await take_one(what);
        answered(what, std::move(how));
    }
    --workers_;
}

void actor::queue_read(read_facts what) {
    auto& of_namespace = reads_[what.of.namespace_];
    of_namespace.push_back({std::move(what), facts_.ticket()});
    ++reads_waiting_;
}

actor::asked actor::next_read() {
    auto turn = reads_.upper_bound(last_read_);
    if (turn == reads_.end()) turn = reads_.begin();
    auto out = std::move(turn->second.front());
    turn->second.pop_front();
    last_read_ = turn->first;
    if (turn->second.empty()) reads_.erase(turn);
    --reads_waiting_;
    return out;
}

asio::awaitable<void> actor::work_on_reads() {
    while (reads_waiting_ > 0) {
        auto next = next_read();
        const action what = next.what;
        auto how = co_await read(std::move(next));
        answered(what, std::move(how));
    }
    --read_workers_;
    if (read_workers_ == 0) facts_.forget();
}

void actor::answered(const action& what, outcome how) {
    if (how.failed) {
        const bool passes = is_of_the_moment(how.failed->code);
        log::write(passes ? log::level::debug : log::level::warn, "gang action failed",
                   {{"group", gang_of(what).text()},
                    {"action", gangs::show(what)},
                    {"error", how.failed->text}});
    }
    if (!stopping_) tell_(what, std::move(how));
}

asio::awaitable<void> actor::stop(steady_time deadline) {
    stopping_ = true;
    queue_.clear();
    reads_.clear();
    reads_waiting_ = 0;
    co_await ends_by(time_, deadline, group_.join());
    co_await group_.stop();
}

asio::awaitable<outcome> actor::take_one(action what) {
    // Each function takes what it needs by value before it returns.
    return std::visit(
        overloaded{[&](nominate& each) { return set_nomination(std::move(each)); },
                   [&](show_nomination& each) { return show(std::move(each)); },
                   [&](give_back& each) { return clear_nomination(std::move(each)); },
                   [&](look_and_let_in& each) { return look(std::move(each)); },
                   [&](let_in& each) { return open(std::move(each)); },
                   [&](delete_pod& each) { return remove(std::move(each)); },
                   [&](write_status& each) { return report(std::move(each)); },
                   [&](read_facts& each) { return read({std::move(each), facts_.ticket()}); }},
        what);
}

asio::awaitable<void> actor::patch(pod_pointer pod, json body, std::string subresource,
                                   std::string_view what, outcome* into) {
    const auto in = co_await slots_.enter();
    const auto& meta = pod->metadata;
    auto text =
        co_await api_.patch(types::pod, meta.namespace_, meta.name, kube::patch_kind::merge,
                            std::move(body), std::move(subresource), kube::shown_part::metadata);
    if (!text) {
        note_failure(*into, text.error());
        co_return;
    }
    numbers_.wrote(what);
    auto written = model::decode<model::metadata_only>(*text, "Pod");
    if (!written) {
        note_failure(*into, written.error());
        co_return;
    }
    into->written[meta.uid] = written->metadata.resource_version;
}

asio::awaitable<outcome> actor::set_nomination(nominate what) {
    outcome out;
    co_await patch(what.pod, plan_patch(*what.pod, what.node, what.mark), "status", "nominate",
                   &out);
    co_return out;
}

asio::awaitable<outcome> actor::show(show_nomination what) {
    outcome out;
    co_await patch(what.pod, placement::shown_nomination_patch(*what.pod), "", "show", &out);
    co_return out;
}

asio::awaitable<outcome> actor::clear_nomination(give_back what) {
    outcome out;
    co_await patch(what.pod, plan_patch(*what.pod, "", ""), "status", "give_back", &out);
    if (!out.failed) {
        log::info("room of a gang's pod given back", {{"group", what.of.text()},
                                                      {"pod", what.pod->metadata.key().text()},
                                                      {"why", what.why}});
    }
    co_return out;
}

asio::awaitable<void> actor::read_member(pod_pointer pod, live_view* into, outcome* how) {
    const auto in = co_await slots_.enter();
    const auto& meta = pod->metadata;
    auto text = co_await api_.get(types::pod, meta.namespace_, meta.name);
    if (!text) {
        if (text.error().code != errc::not_found) note_failure(*how, text.error());
        co_return;
    }
    auto read = model::decode<model::pod>(*text, "Pod");
    if (!read) {
        note_failure(*how, read.error());
    } else if (read->metadata.uid == meta.uid) {
        into->members[meta.uid] = std::make_shared<const model::pod>(std::move(*read));
    }
}

asio::awaitable<void> actor::read_node(std::string node, live_view* into, outcome* how) {
    const auto in = co_await slots_.enter();
    kube::list_options options;
    options.field_selector = "spec.nodeName=" + node;
    auto pods = co_await kube::live_list<model::pod>(api_, types::pod, "", options);
    if (!pods) {
        note_failure(*how, pods.error());
        co_return;
    }
    auto& on_it = into->on_nodes[node];
    for (auto& pod : *pods) on_it.push_back(std::make_shared<const model::pod>(std::move(pod)));
}

asio::awaitable<outcome> actor::look(look_and_let_in what) {
    outcome out;
    live_view live;
    std::set<std::string> nodes;
    std::vector<asio::awaitable<void>> reads;
    for (const auto& each : what.places) {
        nodes.insert(each.node);
        reads.push_back(read_member(each.pod, &live, &out));
    }
    live.promised = promised_on(room_, shown_, nodes, what.ahead);
    for (const auto& node : nodes) reads.push_back(read_node(node, &live, &out));
    co_await run_together(std::move(reads));
    if (out.failed) co_return out;
    for (const auto& node : nodes) {
        if (auto found = nodes_.find({"", node})) live.nodes.emplace(node, std::move(found));
    }
    out.refused = judge_look(what, live, room_, shown_);
    numbers_.looked(out.refused.empty());
    if (!out.refused.empty()) {
        log::debug("gang held back", {{"group", what.of.text()}, {"why", out.refused}});
        co_return out;
    }
    const auto in = [&](const place& each) {
        const auto& pod = live.members.at(each.pod->metadata.uid);
        return patch(pod, gang_let_in_patch(*pod, each.node), "", "let_in", &out);
    };
    // Whether the gang begins is decided by this one write (plan_mark.h).
    co_await in(what.places.front());
    if (out.failed) co_return out;
    std::vector<asio::awaitable<void>> writes;
    for (const auto& each : std::span(what.places).subspan(1)) writes.push_back(in(each));
    co_await run_together(std::move(writes));
    log::info("gang let in", {{"group", what.of.text()},
                              {"members", out.written.size()},
                              {"of", what.places.size()},
                              {"nodes", nodes.size()}});
    co_return out;
}

asio::awaitable<outcome> actor::open(let_in what) {
    outcome out;
    co_await patch(what.pod, gang_let_in_patch(*what.pod, what.node), "", "let_in", &out);
    if (!out.failed) {
        log::info("member of a gang let in", {{"group", what.of.text()},
                                              {"pod", what.pod->metadata.key().text()},
                                              {"node", what.node}});
    }
    co_return out;
}

asio::awaitable<outcome> actor::remove(delete_pod what) {
    outcome out;
    const auto in = co_await slots_.enter();
    const auto& meta = what.pod->metadata;
    // The pod is deleted only as it was judged: any change since (bound, of another group) makes
    // the guarded request fail.
    auto text = co_await api_.remove(types::pod, meta.namespace_, meta.name,
                                     kube::preconditions(meta.uid, meta.resource_version));
    if (!text) {
        out.failed = text.error();
        co_return out;
    }
    numbers_.wrote("delete");
    log::warn("member of a gang deleted",
              {{"group", what.of.text()}, {"pod", meta.key().text()}, {"why", what.why}});
    co_return out;
}

asio::awaitable<outcome> actor::report(write_status what) {
    outcome out;
    const auto in = co_await slots_.enter();
    const auto& type = what.group.kind->type;
    const auto& meta = what.group.object->metadata;
    const auto apart = co_await has_status(type);
    if (!apart) {
        out.failed = apart.error();
        co_return out;
    }
    auto text =
        co_await api_.patch(type, meta.namespace_, meta.name, kube::patch_kind::merge,
                            kube::guarded(std::move(what.patch), meta.uid, meta.resource_version),
                            *apart ? "status" : "", kube::shown_part::metadata);
    if (text) {
        numbers_.wrote("status");
        auto written = model::decode<model::metadata_only>(*text, type.kind);
        if (written) out.written[meta.uid] = written->metadata.resource_version;
        co_return out;
    }
    if (text.error().code == errc::not_found) served_.erase(type.api_version());
    out.failed = text.error();
    co_return out;
}

asio::awaitable<outcome> actor::read(asked what) {
    outcome out;
    auto read = co_await facts_.read(std::move(what.what.what), what.ticket);
    if (read) {
        out.read = std::move(*read);
    } else {
        out.failed = read.error();
    }
    co_return out;
}

asio::awaitable<result<bool>> actor::has_status(const kube::resource_type& type) {
    const auto version = type.api_version();
    const auto known = served_.find(version);
    if (known != served_.end() && time_.now() - known->second.at < served_counts_for) {
        co_return known->second.status;
    }
    kube::request ask("GET", "/apis/" + version);
    ask.safe_to_repeat = true;
    auto answer = co_await api_.wire().send(std::move(ask), time_.now() + discovery_deadline);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    if (answer->status == 404) co_return fail(errc::not_found, version + " is not served");
    const auto object = json::parse(answer->body, nullptr, false);
    if (answer->status != 200 || !object.is_object() || !object.contains("resources")) {
        co_return fail(errc::decode,
                       fmt::format("/apis/{} is answered with {}", version, answer->status));
    }
    const auto wanted = std::string(type.plural) + "/status";
    bool found = false;
    for (const auto& each : object["resources"]) {
        if (each.is_object() && each.value("name", json()) == wanted) found = true;
    }
    served_[version] = {found, time_.now()};
    co_return found;
}

}  // namespace esi::gangs
