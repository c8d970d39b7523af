#include "placement/member_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "grid/node_room.h"
#include "placement/json_members.h"

namespace esi::placement::planning {

namespace {

/// The zone labels of nodes and volumes, each with its older name.
constexpr auto zone_labels = std::to_array<std::pair<const char*, const char*>>(
    {{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"},
     {"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"}});

const std::string* label_of(const model::string_map& labels, std::string_view key) {
    const auto found = labels.find(key);
    return found == labels.end() ? nullptr : &found->second;
}

/// "a__b": a volume in both zones.
std::set<std::string> zones_in(std::string_view text) {
    std::set<std::string> out;
    while (true) {
        const auto end = text.find("__");
        out.emplace(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 2);
    }
}

volume_rule volume_rule_of(const claim_fact& claim) {
    volume_rule out;
    if (!claim.node_affinity.text.empty()) {
        const auto selector = nlohmann::json::parse(claim.node_affinity.text, nullptr, false);
        if (const auto* terms = list_in(selector, "nodeSelectorTerms")) {
            out.terms = node_terms_of(*terms);
            out.anywhere = false;
        }
    }
    for (const auto& names : zone_labels) {
        for (const auto* name : {names.first, names.second}) {
            if (const auto* value = label_of(claim.labels, name))
                out.zones[name] = zones_in(*value);
        }
    }
    return out;
}

void note_keys(std::set<std::string, std::less<>>& keys, const label_selector& selector) {
    for (const auto& each : selector.requirements) keys.insert(each.key);
}

using label_keys = std::set<std::string, std::less<>>;

/// The labels that the members' rules about each other ask for.
label_keys asked_labels(const std::vector<near_rules>& rules) {
    label_keys out;
    for (const auto& each : rules) {
        for (const auto& term : each.affinity) note_keys(out, term.pods);
        for (const auto& term : each.anti_affinity) note_keys(out, term.pods);
        for (const auto& constraint : each.spread) note_keys(out, constraint.pods);
    }
    return out;
}

void append(std::string& to, std::string_view part) {
    to += std::to_string(part.size());
    to += ':';
    to += part;
}

/// All that makes a class, as one text.
std::string class_text(const model::pod& pod, const model::string_map& labels, bool by_namespace) {
    std::string out;
    for (const auto& [name, amount] : pod.requests) append(out, fmt::format("{}={}", name, amount));
    out += ';';
    for (const auto& [key, value] : pod.node_selector) {
        append(out, key);
        append(out, value);
    }
    out += ';';
    append(out, pod.affinity.text);
    append(out, pod.topology_spread.text);
    for (const auto& each : pod.tolerations) {
        for (const auto* part : {&each.key, &each.operator_, &each.value, &each.effect}) {
            append(out, *part);
        }
    }
    out += ';';
    for (const auto& each : pod.host_ports) {
        append(out, fmt::format("{} {} {}", each.protocol, each.ip, each.port));
    }
    out += ';';
    for (const auto& claim : pod.claims) append(out, claim);
    out += ';';
    for (const auto& word : pod.unplanned) append(out, word);
    out += ';';
    for (const auto& [key, value] : labels) {
        append(out, key);
        append(out, value);
    }
    if (by_namespace || !pod.claims.empty()) append(out, pod.metadata.namespace_);
    return out;
}

void read_requests(const model::pod& pod, const cluster_room& room, member_class& into) {
    for (const auto& [name, amount] : grid::taken_by(pod)) {
        if (amount <= 0) continue;
        const auto number = room.resources().find(name);
        if (number >= 0) {
            into.requests.emplace_back(number, amount);
        } else if (into.unknown_resource.empty()) {
            into.unknown_resource = name;
        }
    }
}

/// The classes of members, distinguished by the labels for which `asked` holds.
template <class Asked>
std::vector<member_class> split(std::span<const pod_pointer> members, const rules_of_members& rules,
                                const cluster_room& room, const facts& known, bool near,
                                Asked asked) {
    std::vector<member_class> out;
    std::map<std::string, std::size_t> known_classes;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto& pod = *members[i];
        model::string_map labels;
        for (const auto& [key, value] : pod.metadata.labels) {
            if (asked(key)) labels.emplace(key, value);
        }
        auto text = class_text(pod, labels, near);
        const auto [entry, added] = known_classes.emplace(std::move(text), out.size());
        if (added) {
            member_class one{.text = entry->first,
                             .namespace_ = pod.metadata.namespace_,
                             .labels = std::move(labels),
                             .rules = node_rules(pod),
                             .requests = {},
                             .unknown_resource = {},
                             .ports = pod.host_ports,
                             .near = rules.kinds[rules.of[i]],
                             .volumes = {},
                             .members = {}};
            read_requests(pod, room, one);
            for (const auto& name : pod.claims) {
                const auto claim = known.claims.find({pod.metadata.namespace_, name});
                if (claim != known.claims.end() && claim->second.bound) {
                    one.volumes.push_back(volume_rule_of(claim->second));
                }
            }
            out.push_back(std::move(one));
        }
        out[entry->second].members.push_back(static_cast<int>(i));
    }
    return out;
}

std::string too_much_of(const std::vector<member_class>& classes) {
    std::size_t with_terms = 0;
    std::int64_t weight = 0;
    for (const auto& each : classes) {
        if (!each.near.empty()) ++with_terms;
        weight += weight_of(each.near);
    }
    if (with_terms > most_classes_with_terms) {
        return fmt::format(
            "the members with required pod affinity or topology spread are of {} kinds; a gang is "
            "planned with {} at most",
            with_terms, most_classes_with_terms);
    }
    if (weight * static_cast<std::int64_t>(classes.size()) > most_comparisons) {
        return fmt::format(
            "the members are of {} kinds, and their required pod affinity and topology spread "
            "has {} conditions: a gang is planned where the product is {} at most",
            classes.size(), weight, most_comparisons);
    }
    return {};
}

}  // namespace

bool volume_rule::terms_hold(const model::node& node) const {
    return anywhere || any_matches(terms, node);
}

bool volume_rule::zones_hold(const model::node& node) const {
    if (zones.empty()) return true;
    const auto& labels = node.metadata.labels;
    const bool has_any = std::ranges::any_of(zone_labels, [&](const auto& names) {
        return label_of(labels, names.first) || label_of(labels, names.second);
    });
    // A cluster without zones.
    if (!has_any) return true;
    return std::ranges::all_of(zones, [&](const auto& wanted) {
        const auto* value = label_of(labels, wanted.first);
        for (const auto& names : zone_labels) {
            if (value) break;
            if (wanted.first == names.first) value = label_of(labels, names.second);
            if (wanted.first == names.second) value = label_of(labels, names.first);
        }
        return value && wanted.second.contains(*value);
    });
}

gang_classes classes_of(std::span<const pod_pointer> members, const rules_of_members& rules,
                        const cluster_room& room, const facts& known) {
    const bool near =
        !room.repelling().empty() ||
        std::ranges::any_of(rules.kinds, [](const near_rules& each) { return !each.empty(); });
    const auto asked = asked_labels(rules.kinds);
    gang_classes out;
    out.list = split(members, rules, room, known, near,
                     [&](const std::string& key) { return asked.contains(key); });
    out.too_much = too_much_of(out.list);
    const auto& repelled = room.repelled_labels();
    const bool may_differ = std::ranges::any_of(members, [&](const pod_pointer& pod) {
        return std::ranges::any_of(pod->metadata.labels, [&](const auto& label) {
            return repelled.contains(label.first) && !asked.contains(label.first);
        });
    });
    if (!out.too_much.empty() || !may_differ) return out;
    auto finer = split(members, rules, room, known, near, [&](const std::string& key) {
        return asked.contains(key) || repelled.contains(key);
    });
    // Authors of bound pods choose which labels their terms ask for.
    if (finer.size() <= std::max(most_classes_with_terms, 2 * out.list.size())) {
        out.list = std::move(finer);
    } else {
        for (auto& each : out.list) each.labels_known = false;
    }
    return out;
}

std::vector<std::string> unplanned_of(const model::pod& member, const facts& known) {
    auto out = member.unplanned;
    for (const auto& name : member.claims) {
        const auto found = known.claims.find({member.metadata.namespace_, name});
        const auto say = [&](std::string_view why) {
            out.push_back(fmt::format("PersistentVolumeClaim {}, {}", name, why));
        };
        if (found == known.claims.end() || !found->second.bound) {
            say("which is not bound");
        } else if (found->second.for_one_pod) {
            say("which is for one pod alone (ReadWriteOncePod)");
        } else if (found->second.limited) {
            say("whose driver limits the volumes of a node");
        }
    }
    return out;
}

bool ports_clash(const model::host_port& a, const model::host_port& b) {
    return a.port == b.port && a.protocol == b.protocol &&
           (a.ip.empty() || b.ip.empty() || a.ip == b.ip);
}

bool ports_clash(std::span<const model::host_port> a, std::span<const model::host_port> b) {
    return std::ranges::any_of(a, [&](const auto& one) {
        return std::ranges::any_of(b, [&](const auto& other) { return ports_clash(one, other); });
    });
}

}  // namespace esi::placement::planning
