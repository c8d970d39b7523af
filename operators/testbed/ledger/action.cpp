#include "testbed/ledger/action.h"

#include <fmt/format.h>

#include "base/overloaded.h"

namespace esi::testbed {

std::string show(const action& what) {
    return std::visit(
        overloaded{[](const change_finalizer& a) -> std::string {
                       return a.present ? "set finalizer" : "remove finalizer";
                   },
                   [](const write_layout& a) {
                       auto text = fmt::format("layout {}:", a.layout.revision);
                       for (const auto& node : a.layout.nodes) {
                           text += fmt::format(" {}={}", node.name, node.id);
                       }
                       return text;
                   },
                   [](const taint_change& a) {
                       return a.node + (a.value.empty() ? " untaint" : " taint " + a.value);
                   },
                   [](const create_ghost& a) {
                       return fmt::format("create {} {}/{}", a.place.position, a.place.node,
                                          a.place.index);
                   },
                   [](const change_ghost_image& a) { return "image " + a.ghost->metadata.uid; },
                   [](const nominate_ghost& a) {
                       return "nominate " + a.ghost->metadata.uid + " " + a.node;
                   },
                   [](const remove_ghost& a) {
                       return "remove " + a.ghost->metadata.uid + (a.failed ? " (failed)" : "");
                   },
                   [](const swap_in& a) {
                       return fmt::format("swap {} {}", a.slot.in.place.position,
                                          a.slot.placed->metadata.name);
                   },
                   [](const commit_placement& a) {
                       return fmt::format("commit {} {}", a.slot.in.place.position,
                                          a.slot.placed->metadata.name);
                   },
                   [](const wake_pod& a) {
                       return fmt::format("wake {} {}", a.slot.in.place.position,
                                          a.slot.current->metadata.name);
                   },
                   [](const withdraw& a) { return "withdraw " + a.pod->metadata.name; },
                   [](const drop_pod& a) { return "drop " + a.pod->metadata.name + ": " + a.why; }},
        what);
}

}  // namespace esi::testbed
