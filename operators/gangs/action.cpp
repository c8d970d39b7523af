#include "gangs/action.h"

#include <fmt/format.h>

#include "base/overloaded.h"

namespace esi::gangs {

namespace {

std::string name(const pod_pointer& pod) { return pod->metadata.key().text(); }

}  // namespace

std::string show(const action& what) {
    return std::visit(
        overloaded{
            [](const nominate& of) { return fmt::format("nominate {} {}", name(of.pod), of.node); },
            [](const show_nomination& of) { return "show " + name(of.pod); },
            [](const give_back& of) { return "give-back " + name(of.pod); },
            [](const look_and_let_in& of) {
                auto out = "look " + of.of.namespace_ + "/" + of.of.name;
                for (const auto& each : of.places) {
                    out += fmt::format(" {}@{}", each.pod->metadata.name, each.node);
                }
                return out;
            },
            [](const let_in& of) { return fmt::format("let-in {} {}", name(of.pod), of.node); },
            [](const delete_pod& of) { return "delete " + name(of.pod); },
            [](const write_status& of) {
                return fmt::format("status {}/{} {}", of.of.namespace_, of.of.name,
                                   of.patch.dump());
            },
            [](const read_facts& of) {
                return fmt::format("read-facts {}/{}", of.of.namespace_, of.of.name);
            },
        },
        what);
}

std::string name_of(const action& what) {
    return std::visit(overloaded{
                          [](const look_and_let_in& of) { return "look " + of.of.text(); },
                          [](const write_status& of) { return "status " + of.of.text(); },
                          [](const read_facts& of) { return "facts " + of.of.text(); },
                          [](const auto& of) { return of.pod->metadata.uid; },
                      },
                      what);
}

const gang_key& gang_of(const action& what) {
    return std::visit([](const auto& of) -> const gang_key& { return of.of; }, what);
}

}  // namespace esi::gangs
