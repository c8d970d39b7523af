#include "model/flink_cluster.h"

#include "model/lenient.h"

namespace esi::model {

namespace {

std::string joined_texts(const element& list) {
    std::string out;
    simdjson::dom::array items;
    if (list.get(items) != simdjson::SUCCESS) return out;
    for (element item : items) {
        std::string_view text;
        if (item.get(text) != simdjson::SUCCESS || text.empty()) continue;
        if (!out.empty()) out += "; ";
        out += text;
    }
    return out;
}

}  // namespace

result<void> codec<flink_cluster>::decode(const element& from, flink_cluster& out) {
    using namespace lenient;
    element part;
    if (from.at_key("metadata").get(part) == simdjson::SUCCESS) {
        if (auto done = codec<object_meta>::decode(part, out.metadata); !done) {
            return fail(errc::decode, ".metadata" + done.error().text);
        }
    }
    out.cluster_state = text_at(from, {"status", "state"});
    out.job_state = text_at(from, {"status", "components", "job", "state"});
    out.job_started = time_at(from, {"status", "components", "job", "startTime"});
    out.job_completed = time_at(from, {"status", "components", "job", "completionTime"});
    if (from.at_key("status")
            .at_key("components")
            .at_key("job")
            .at_key("failureReasons")
            .get(part) == simdjson::SUCCESS) {
        out.failure = joined_texts(part);
    }
    return {};
}

json codec<flink_cluster>::encode(const flink_cluster& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

}  // namespace esi::model
