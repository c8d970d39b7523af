#include "testbed/view/trail.h"

#include "model/names.h"

namespace esi::testbed {

trail trail_of(const model::testbed& testbed, const model::pod& pod, const grid::slot* place) {
    trail out;
    out.testbed = testbed.metadata.key().text();
    out.pod = pod.metadata.key().text();
    if (place) {
        out.slot = place->position;
        out.node = place->node;
    }
    const auto job = pod.metadata.label(model::names::job);
    if (pod.is_ghost() || job.empty()) return out;
    out.job = pod.metadata.namespace_ + "/" + std::string(job);
    out.run = pod.run();
    const bool held = !testbed.hold().empty() && grid::hold_of_run(pod.run()) == testbed.hold();
    if (held && !testbed.holder().name.empty()) out.scheduling = testbed.holder().text();
    return out;
}

void log_step(log::level at, std::string_view event, const trail& of, std::string_view note,
              std::string_view error) {
    log::write(at, event,
               {{"scheduling", of.scheduling},
                {"testbed", of.testbed},
                {"job", of.job},
                {"run", of.run},
                {"pod", of.pod},
                {"slot", of.slot ? std::to_string(*of.slot) : std::string()},
                {"node", of.node},
                {"note", note},
                {"error", error}});
}

}  // namespace esi::testbed
