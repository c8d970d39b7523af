#include "testbed/view.h"

namespace esi::testbed {

bool is_held(const model::testbed& testbed) {
    return !testbed.hold().empty() || !testbed.holder().name.empty();
}

bool is_own_ghost(const model::pod& pod, const model::testbed& testbed) {
    if (!pod.is_ghost() || pod.metadata.namespace_ != testbed.metadata.namespace_) return false;
    const auto* owner = pod.metadata.controller_owner();
    return owner && owner->uid == testbed.metadata.uid;
}

std::string testbed_key_of(const model::pod& pod) {
    auto key = pod.testbed();
    return key.namespace_.empty() || key.name.empty() ? std::string{} : key.text();
}

}  // namespace esi::testbed
