// A cluster of one node for the tests of neighbours that make and end pods: with kubelets, and with
// hands that bind whatever is not gated.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/application_kinds.h"
#include "neighbours/cluster_for_tests.h"
#include "neighbours/kube/kubelet.h"

namespace esi::simulation {

class small_town : public testing::cluster {
public:
    small_town() : nodes(around) { node("plain-0", "8"); }

    void run_for(steady_time::duration span) {
        const auto end = time.now() + span;
        while (time.now() < end) {
            bind();
            const auto next = time.next();
            run(next && *next < end ? *next - time.now() : end - time.now());
        }
    }
    /// Coordinators or workers of any kind of application: "driver", "taskmanager", ...
    std::vector<json> pods(std::string_view role) const {
        std::vector<json> out;
        for (const auto& pod : server.objects().all(kinds::pod, "default")) {
            const bool plays = std::ranges::any_of(application_kinds(), [&](const auto& kind) {
                return fields::label(pod->body(), kind.coordinator.label) == role ||
                       fields::label(pod->body(), kind.worker.label) == role;
            });
            if (plays) out.push_back(pod->body());
        }
        return out;
    }

    kubelet nodes;

private:
    void bind() {
        for (const auto& pod : server.objects().all(kinds::pod)) {
            const auto* gates = fields::find(pod->body(), {"spec", "schedulingGates"});
            if (fields::find(pod->body(), {"spec", "nodeName"}) || (gates && !gates->empty()))
                continue;
            (void)person.bind(pod->ns(), pod->name(), pod->uid(), "plain-0");
        }
    }
};

}  // namespace esi::simulation
