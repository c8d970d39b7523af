#include "model/flink_deployment.h"

#include "model/lenient.h"

namespace esi::model {

result<void> codec<flink_deployment>::decode(const element& from, flink_deployment& out) {
    using namespace lenient;
    element metadata;
    if (from.at_key("metadata").get(metadata) == simdjson::SUCCESS) {
        if (auto done = codec<object_meta>::decode(metadata, out.metadata); !done) {
            return fail(errc::decode, ".metadata" + done.error().text);
        }
    }
    out.wanted_state = text_at(from, {"spec", "job", "state"});
    out.upgrade_mode = text_at(from, {"spec", "job", "upgradeMode"});
    out.job_state = text_at(from, {"status", "jobStatus", "state"});
    out.lifecycle_state = text_at(from, {"status", "lifecycleState"});
    out.job_manager_state = text_at(from, {"status", "jobManagerDeploymentStatus"});
    out.error = text_at(from, {"status", "error"});
    out.job_started = milliseconds_at(from, {"status", "jobStatus", "startTime"});
    out.job_changed = milliseconds_at(from, {"status", "jobStatus", "updateTime"});
    return {};
}

json codec<flink_deployment>::encode(const flink_deployment& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

}  // namespace esi::model
