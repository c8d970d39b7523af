#include "testbed/view.h"

#include "model/names.h"

namespace esi::testbed {

bool is_held(const model::testbed& testbed) { return !testbed.hold().empty(); }

bool is_own_ghost(const model::pod& pod, const model::testbed& testbed) {
    if (!pod.is_ghost() || pod.metadata.namespace_ != testbed.metadata.namespace_) return false;
    const auto* owner = pod.metadata.controller_owner();
    return owner && owner->uid == testbed.metadata.uid;
}

bool is_damaged_ghost(const model::pod& pod, const model::testbed& testbed) {
    const auto& name = pod.metadata.name;
    const auto& of = testbed.metadata;
    if (pod.metadata.namespace_ != of.namespace_ || !name.starts_with(of.name + "-ghost-")) {
        return false;
    }
    const auto* owner = pod.metadata.controller_owner();
    if (owner && owner->uid != of.uid) return false;
    const bool whole = is_own_ghost(pod, testbed) && testbed_key_of(pod) == of.key().text();
    const auto index = grid::slot_index_of_ghost(pod);
    if (whole || !index) return false;
    const std::string node(pod.metadata.annotation(model::names::node));
    return name == grid::ghost_name(of.name, of.uid, node, *index);
}

model::object_key testbed_of(const model::batchjob& job) {
    if (!job.spec.creation_request) return {};
    auto out = job.spec.creation_request->testbed_name;
    if (out.namespace_.empty()) out.namespace_ = job.metadata.namespace_;
    return out;
}

std::string testbed_key_of(const model::pod& pod) {
    auto key = pod.testbed();
    return key.namespace_.empty() || key.name.empty() ? std::string{} : key.text();
}

}  // namespace esi::testbed
