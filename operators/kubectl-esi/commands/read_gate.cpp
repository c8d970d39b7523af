// Reads what a pod at a gate of ESI depends on.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gangs/kinds.h"
#include "kubectl-esi/commands/gates.h"
#include "kubectl-esi/read/world.h"
#include "model/names.h"

namespace esi::kubectl {

namespace {

namespace names = model::names;
namespace types = kube::types;
using nlohmann::json;

constexpr int most_events = 500;

/// The label that members of such groups carry; empty: they are known by an annotation.
std::string_view label_of(gangs::way by) {
    switch (by) {
        case gangs::way::tenstack:
            return names::tenstack_group;
        case gangs::way::coscheduling:
            return names::pod_group;
        case gangs::way::kube_batch:
            break;
    }
    return {};
}

std::optional<std::int64_t> number_at(const json& of, const char* path) {
    const json::json_pointer at(path);
    if (!of.is_object() || !of.contains(at) || !of[at].is_number_integer()) return std::nullopt;
    return of[at].get<std::int64_t>();
}

std::string text_at(const json& of, const char* path) {
    const json::json_pointer at(path);
    return of.is_object() && of.contains(at) && of[at].is_string() ? of[at].get<std::string>()
                                                                   : std::string();
}

asio::awaitable<result<void>> read_group(session& in, const gangs::gang_key& key,
                                         named_group& into) {
    into.name = key.name;
    for (const auto& kind : gangs::group_kinds()) {
        if (kind.by != key.by) continue;
        if (into.resource.empty()) into.resource = kind.definition;
        const auto text = co_await in.api.get(kind.type, key.namespace_, key.name);
        if (!text && text.error().code == errc::forbidden) into.hidden = true;
        if (!text && text.error().code != errc::forbidden && text.error().code != errc::not_found) {
            co_return std::unexpected(text.error());
        }
        if (!text || into.exists) continue;
        const auto object = json::parse(*text, nullptr, false);
        into.resource = kind.definition;
        into.exists = true;
        into.minimum = number_at(object, "/spec/minMember");
        into.suspended =
            text_at(object, "/metadata/annotations/esi.tu-berlin.de~1suspend") == "true";
        into.deleting = !text_at(object, "/metadata/deletionTimestamp").empty();
    }
    if (into.exists) into.hidden = false;
    co_return result<void>();
}

/// Without a PodGroup the members of kube-batch say how many they are.
void read_annotations(const gate_facts& from, named_group& into) {
    for (const auto& pod : from.members) {
        const auto own = gangs::minimum_on(*pod);
        if (own && !pod->terminal()) into.minimum = std::max(*own, into.minimum.value_or(*own));
        if (pod->metadata.annotation(names::suspend) == "true") into.suspended = true;
    }
}

asio::awaitable<result<void>> read_members(session& in, const gangs::gang_key& key,
                                           gate_facts& into) {
    kube::list_options marked;
    if (const auto label = label_of(key.by); !label.empty()) {
        marked.label_selector = fmt::format("{}={}", label, key.name);
    }
    auto list = co_await kube::paged_list<model::pod>(in.api, types::pod, key.namespace_, marked,
                                                      [](model::pod&) {});
    if (!list) co_return std::unexpected(std::move(list).error());
    for (auto& each : *list) {
        if (gangs::group_of(each) != key) continue;
        into.members.push_back(std::make_shared<const model::pod>(std::move(each)));
    }
    co_return result<void>();
}

/// Events about the object of that name; none if the user may not list them.
asio::awaitable<void> read_events(session& in, std::string ns, std::string kind, std::string name,
                                  gate_facts& into) {
    kube::list_options about;
    about.field_selector = fmt::format("regarding.kind={},regarding.name={}", kind, name);
    about.limit = most_events;
    const auto text = co_await in.api.list(types::event, std::move(ns), std::move(about));
    if (!text) co_return;
    const auto list = json::parse(*text, nullptr, false);
    const json::json_pointer items("/items");
    if (!list.is_object() || !list.contains(items)) co_return;
    for (const auto& each : list[items]) {
        if (!text_at(each, "/reportingController").starts_with("esi-")) continue;
        auto time = text_at(each, "/series/lastObservedTime");
        if (time.empty()) time = text_at(each, "/eventTime");
        into.events.push_back({text_at(each, "/reason"), text_at(each, "/note"), time});
    }
    std::ranges::sort(into.events, {}, &told_event::time);
}

asio::awaitable<void> read_namespace(session& in, const std::string& ns, gate_facts& into) {
    const auto found = co_await read_one<model::metadata_only>(in, types::name_space, {"", ns});
    if (found) into.enabled = (*found)->metadata.label(names::gangs) == "enabled";
}

asio::awaitable<result<void>> read_gang(session& in, const model::pod& pod, gate_facts& into) {
    const auto key = gangs::group_of(pod);
    if (!key) co_return result<void>();
    auto& group = into.group.emplace();
    auto done = co_await read_group(in, *key, group);
    if (!done) co_return done;
    done = co_await read_members(in, *key, into);
    if (!done && done.error().code != errc::forbidden) co_return done;
    if (label_of(key->by).empty() && !group.exists) read_annotations(into, group);
    co_await read_namespace(in, key->namespace_, into);
    co_await read_events(in, key->namespace_, "PodGroup", key->name, into);
    co_return result<void>();
}

/// Those that the user may not read count as absent.
asio::awaitable<void> read_driver(session& in, const model::pod& pod, gate_facts& into) {
    const auto key = pod.metadata.key();
    const auto job = co_await read_one<model::batchjob>(in, types::batchjob, key);
    const auto is_its = [&](const model::owner_reference& each) {
        return each.uid == pod.metadata.uid;
    };
    if (!job || std::ranges::none_of((*job)->metadata.owner_references, is_its)) co_return;
    into.job = *job;
    const auto plan = co_await read_one<model::scheduling>(in, types::scheduling, key);
    if (plan) into.plan = *plan;
}

}  // namespace

asio::awaitable<result<gate_facts>> read_gate(session& in, const model::pod& pod) {
    gate_facts out;
    const auto key = pod.metadata.key();
    co_await read_events(in, key.namespace_, "Pod", key.name, out);
    if (std::ranges::find(pod.scheduling_gates, names::gang) != pod.scheduling_gates.end()) {
        const auto done = co_await read_gang(in, pod, out);
        if (!done) co_return std::unexpected(done.error());
    } else {
        co_await read_driver(in, pod, out);
    }
    co_return out;
}

}  // namespace esi::kubectl
