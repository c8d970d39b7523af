#include "interface/v1/wire/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace esi::interface::v1 {

namespace {

bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

std::string milliseconds_text(const model::timestamp& of) {
    auto out = of.micro();
    // "...149160Z": the last three digits go.
    out.erase(out.size() - 4, 3);
    return out;
}

void print_text(std::string& out, std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) {
        out += '"';
        out += text;
        out += '"';
        return;
    }
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void printer<double>::print(std::string& out, double value) {
    out += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void printer<model::testbed_layout>::print(std::string& out, const model::testbed_layout& value) {
    shown_layout shown{value.revision,           value.nodes,  value.slots_per_node,
                       value.resources_per_slot, std::nullopt, std::nullopt};
    if (!value.shapes.empty() || !value.places.empty()) {
        shown.shapes = value.shapes;
        shown.places = value.places;
    }
    v1::print(out, shown);
}

void printer<model::testbed_spec>::print(std::string& out, const model::testbed_spec& value) {
    shown_testbed_spec shown{value.slots_per_node, value.node_label, value.resources_per_slot,
                             value.claim,          value.isolation,  value.allowed_namespaces};
    if (shown.claim) {
        shown.slots_per_node.reset();
        shown.resources_per_slot.reset();
    }
    v1::print(out, shown);
}

void printer<model::object_meta>::print(std::string& out, const model::object_meta& value) {
    v1::print(out, shown_meta{value.name, value.namespace_, value.uid, value.resource_version,
                              value.generation, value.creation_timestamp, value.deletion_timestamp,
                              value.labels, value.annotations});
}

}  // namespace esi::interface::v1
