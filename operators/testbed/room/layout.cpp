#include "testbed/room/layout.h"

#include <fmt/format.h>

#include <charconv>

namespace esi::testbed {

namespace {

/// A text with more parts of a difference than this helps no reader.
constexpr std::size_t most_parts = 8;

std::string show_size(const model::resource_list& size) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : size) {
        parts.push_back(fmt::format("{} {}", name, amount.text));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<std::int64_t> parse_node_id(std::string_view text) {
    if (text.empty() || text.size() > 10) return std::nullopt;
    if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (value > 2147483647) return std::nullopt;
    return value;
}

namespace {

void add_size_problems(std::vector<std::string>& out, const std::string& where,
                       const model::resource_list& size) {
    for (auto needed : {"cpu", "memory"}) {
        if (!size.contains(needed)) {
            out.push_back(fmt::format("{0} has no {1}; it must have one above 0", where, needed));
        }
    }
    for (const auto& [name, amount] : size) {
        if (amount.milli > 0) continue;
        out.push_back(fmt::format("{}.{} is {}; it must be above 0", where, name, amount.text));
    }
}

std::size_t size_of(const model::claim_constraints& of) {
    auto out = of.affinity.text.size();
    for (const auto& [key, value] : of.node_selector) out += key.size() + value.size();
    for (const auto& each : of.tolerations) {
        out += each.key.size() + each.operator_.size() + each.value.size() + each.effect.size();
    }
    return out;
}

std::vector<std::string> problems_of(const model::testbed_claim& claim) {
    std::vector<std::string> out;
    std::int64_t places = 0;
    std::size_t constraints = 0;
    for (const auto& shape : claim.shapes) {
        places += std::max(shape.count, 0);
        constraints += size_of(shape.constraints);
        add_size_problems(out, fmt::format("spec.claim.shapes[{}].resources", shape.name),
                          shape.resources);
        if (shape.count < 1) {
            out.push_back(fmt::format("spec.claim.shapes[{}].count is {}; it must be above 0",
                                      shape.name, shape.count));
        }
    }
    if (places < 1) out.emplace_back("spec.claim.shapes has no place");
    constexpr auto most = static_cast<std::int64_t>(model::most_claimed_places);
    if (places > most || claim.shapes.size() > model::most_shapes) {
        out.push_back(
            fmt::format("spec.claim.shapes has {} places in {} shapes; at most {} in {} are formed",
                        places, claim.shapes.size(), most, model::most_shapes));
    }
    if (constraints > most_claim_constraints) {
        out.push_back(fmt::format(
            "spec.claim.shapes has {} bytes of nodeSelector, affinity and tolerations; at most {} "
            "are planned: label the nodes, and select that label",
            constraints, most_claim_constraints));
    }
    return out;
}

}  // namespace

std::vector<std::string> problems_of(const model::testbed_spec& spec) {
    if (spec.claim) return problems_of(*spec.claim);
    std::vector<std::string> out;
    if (spec.slots_per_node < 1 || spec.slots_per_node > 110) {
        out.push_back(
            fmt::format("spec.slotsPerNode is {}; it must be 1 to 110", spec.slots_per_node));
    }
    if (spec.node_label.empty())
        out.push_back("spec.nodeLabel is empty; it must be the key of a node label");
    add_size_problems(out, "spec.resourcesPerSlot", spec.resources_per_slot);
    return out;
}

wanted_layout want_layout(const view& seen) {
    std::map<std::string, node_pointer> nodes;
    for (const auto& [name, node] : seen.nodes) {
        if (node.node) nodes.emplace(name, node.node);
    }
    static const model::testbed_layout none;
    const auto& layout = seen.testbed->status.layout;
    return want_layout(seen.testbed->spec, layout ? *layout : none, nodes);
}

wanted_layout want_layout(const model::testbed_spec& spec, const model::testbed_layout& stands,
                          const std::map<std::string, node_pointer>& nodes) {
    wanted_layout out;
    out.spec_problems = problems_of(spec);
    if (!out.spec_problems.empty()) return out;
    if (spec.claim) {
        out.layout = stands;
        return out;
    }

    out.layout.slots_per_node = spec.slots_per_node;
    out.layout.resources_per_slot = spec.resources_per_slot;
    std::map<std::int64_t, std::vector<model::layout_node>> by_id;
    for (const auto& [name, node] : nodes) {
        auto label = node->metadata.labels.find(spec.node_label);
        if (label == node->metadata.labels.end()) continue;
        ++out.labelled;
        auto id = parse_node_id(label->second);
        if (!id) {
            out.problems[name].push_back(fmt::format(
                "label {0}={1} is not an integer from 0: the node has no slots; kubectl "
                "label --overwrite node {2} {0}=NUMBER",
                spec.node_label, label->second, name));
            continue;
        }
        by_id[*id].push_back({name, node->metadata.uid, *id});
    }
    for (auto& [id, same] : by_id) {
        if (same.size() == 1) {
            out.layout.nodes.push_back(std::move(same.front()));
            continue;
        }
        for (const auto& node : same) {
            std::vector<std::string> rest;
            for (const auto& other : same) {
                if (other.name != node.name && rest.size() < most_parts) rest.push_back(other.name);
            }
            out.problems[node.name].push_back(
                fmt::format("label {0}={1} is also on {2}: none of them has slots; kubectl label "
                            "--overwrite node {3} {0}=NUMBER",
                            spec.node_label, id, fmt::join(rest, ", "), node.name));
        }
    }
    return out;
}

bool same_layout(const model::testbed_layout& a, const model::testbed_layout& b) {
    return a.nodes == b.nodes && a.slots_per_node == b.slots_per_node &&
           a.resources_per_slot == b.resources_per_slot && a.shapes == b.shapes &&
           a.places == b.places;
}

layout_members members_of(const model::testbed_layout& layout) {
    layout_members out;
    for (const auto& member : layout.nodes) out.emplace(member.name, &member);
    return out;
}

std::string describe_difference(const model::testbed_layout& stands,
                                const model::testbed_layout& wanted) {
    std::vector<std::string> parts;
    const auto before = members_of(stands);
    const auto after = members_of(wanted);
    for (const auto& node : stands.nodes) {
        auto found = after.find(node.name);
        const auto* other = found == after.end() ? nullptr : found->second;
        if (!other) {
            parts.push_back(fmt::format("{} would leave", node.name));
        } else if (other->uid != node.uid) {
            parts.push_back(fmt::format("{} is another node of that name now", node.name));
        } else if (other->id != node.id) {
            parts.push_back(
                fmt::format("{} would have id {} instead of {}", node.name, other->id, node.id));
        }
    }
    for (const auto& node : wanted.nodes) {
        if (!before.contains(node.name)) {
            parts.push_back(fmt::format("{} would join (id {})", node.name, node.id));
        }
    }
    if (stands.slots_per_node != wanted.slots_per_node) {
        parts.push_back(fmt::format("slotsPerNode {} would become {}", stands.slots_per_node,
                                    wanted.slots_per_node));
    }
    if (stands.resources_per_slot != wanted.resources_per_slot) {
        parts.push_back(fmt::format("resourcesPerSlot {} would become {}",
                                    show_size(stands.resources_per_slot),
                                    show_size(wanted.resources_per_slot)));
    }
    const auto all = parts.size();
    if (all > most_parts) {
        parts.resize(most_parts);
        parts.push_back(fmt::format("and {} more", all - most_parts));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace esi::testbed
