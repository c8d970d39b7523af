// A watch of pods through the real reflector and informer, over a transport in memory. Oracles: the
// cuts of the stream change nothing, and the store holds what the events, read by nlohmann, leave.
#include <boost/asio/io_context.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"
#include "kube/watch/informer.h"
#include "model/json.h"
#include "one_meaning.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct outcome {
    std::map<model::object_key, std::string> uids;
    std::string version;
    bool synced = false;
    std::vector<std::string> asked;
    bool operator==(const outcome&) const = default;
};

outcome watch(std::string_view text, std::size_t piece) {
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    kube::informer<model::pod> pods{api, time, kube::types::pod};
    task_group tasks{loop.get_executor()};
    tasks.spawn("informer", pods.run());
    run_for(loop, time, 0s);
    auto stream = wire.streams.front();
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        stream->pieces.emplace_back(text.substr(0, piece));
    }
    stream->more.notify();
    run_for(loop, time, 0s);
    outcome out;
    pods.items().each([&](const auto& pod) {
        const auto key = pod->metadata.key();
        const auto found = pods.items().find(key);
        require(found && found->metadata.uid == pod->metadata.uid, "{} is not found", key.text());
        out.uids[key] = pod->metadata.uid;
    });
    out.version = pods.items().version("").value_or("");
    out.synced = pods.synced();
    out.asked = wire.asked;
    tasks.cancel();
    run_for(loop, time, 0s);
    require(tasks.size() == 0, "the watch does not end");
    return out;
}

std::string text_at(const json& from, const char* first, const char* second) {
    if (!from.is_object()) return {};
    const auto outer = from.find(first);
    if (outer == from.end() || !outer->is_object()) return {};
    const auto inner = outer->find(second);
    return inner != outer->end() && inner->is_string() ? inner->get<std::string>() : std::string();
}

/// Nothing when readers may differ about a line, or when one ends the watch (ERROR).
std::optional<outcome> replay(std::string_view text) {
    outcome out;
    struct item {
        model::object_key key;
        std::string uid;
    };
    std::vector<item> listed;
    for (;;) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return out;
        auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (!one_meaning(line)) return std::nullopt;
        const auto event = json::parse(line, nullptr, false);
        if (!event.is_object()) continue;
        const auto kind = event.find("type");
        const auto object = event.find("object");
        if (kind == event.end() || !kind->is_string() || object == event.end()) continue;
        const model::object_key key{text_at(*object, "metadata", "namespace"),
                                    text_at(*object, "metadata", "name")};
        if (*kind == "ERROR") return std::nullopt;
        if (*kind == "ADDED" || *kind == "MODIFIED") {
            const auto pod = model::decode<model::pod>(object->dump(), "Pod");
            if (pod && out.synced) out.uids[key] = pod->metadata.uid;
            if (pod && !out.synced) listed.push_back({key, pod->metadata.uid});
        } else if (*kind == "DELETED") {
            if (key.name.empty()) continue;
            out.uids.erase(key);
            std::erase_if(listed, [&](const item& each) { return each.key == key; });
        } else if (*kind != "BOOKMARK") {
            continue;
        }
        const auto version = text_at(*object, "metadata", "resourceVersion");
        if (*kind == "BOOKMARK" && !out.synced && !version.empty()) {
            const auto metadata = object->find("metadata");
            if (metadata != object->end() &&
                text_at(*metadata, "annotations", "k8s.io/initial-events-end") == "true") {
                out.synced = true;
                // Of two with one key the last one stays.
                for (const auto& each : listed) out.uids[each.key] = each.uid;
            }
        }
        if (!version.empty()) out.version = version;
    }
}

void watch_events(std::string_view text) {
    log::send_to([](log::level, std::string_view) {});
    const auto whole = watch(text, text.size() + 1);
    require(watch(text, 1 + text.size() / 13) == whole, "the cuts change what the watch shows");
    const auto expected = replay(text);
    if (!expected) return;
    require(whole.synced == expected->synced, "the list is {}", whole.synced ? "ended" : "open");
    require(whole.uids == expected->uids, "the store has other pods");
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(watch_events, esi::fuzz::watch_events)
