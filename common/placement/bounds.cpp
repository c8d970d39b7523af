#include "placement/bounds.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <tuple>

namespace esi::placement::planning {

namespace {

std::string more_than(const model::pod& pod, std::size_t count, std::string_view what,
                      std::size_t most) {
    return fmt::format("pod {} has {} {}; a gang is planned with {} for each pod at most",
                       pod.metadata.key().text(), count, what, most);
}

std::string too_much_of(const model::pod& pod) {
    if (!pod.metadata.undecodable.empty()) {
        return fmt::format("pod {} cannot be read: {}", pod.metadata.key().text(),
                           pod.metadata.undecodable);
    }
    const auto text = pod.affinity.text.size() + pod.topology_spread.text.size();
    if (text > most_rule_text) {
        return more_than(pod, text, "bytes of affinity and topology spread", most_rule_text);
    }
    if (pod.claims.size() > most_claims) {
        return more_than(pod, pod.claims.size(), "PersistentVolumeClaims", most_claims);
    }
    if (pod.host_ports.size() > most_ports) {
        return more_than(pod, pod.host_ports.size(), "host ports", most_ports);
    }
    if (pod.tolerations.size() > most_tolerations) {
        return more_than(pod, pod.tolerations.size(), "tolerations", most_tolerations);
    }
    return {};
}

/// A key of all that near_rules_of reads.
using kind_key = std::tuple<std::string_view, std::string_view, std::string_view, std::string>;

kind_key key_of(const model::pod& pod) {
    std::string labels;
    if (pod.topology_spread.text.contains("matchLabelKeys")) {
        for (const auto& [name, value] : pod.metadata.labels) {
            labels += fmt::format("{}={},", name, value);
        }
    }
    return {pod.affinity.text, pod.topology_spread.text, pod.metadata.namespace_,
            std::move(labels)};
}

/// Adds the namespaces that the terms mean; false: it would take too long, or they are too many.
class namespace_finder {
public:
    namespace_finder(const namespace_labels* known, std::set<std::string>& into)
        : known_(known), into_(into) {}

    bool add(const pod_terms& terms) {
        for (const auto& term : terms) {
            into_.insert(term.namespaces.begin(), term.namespaces.end());
            if (into_.size() > most_namespaces) return false;
            if (!term.selected_namespaces.present || !known_) continue;
            const auto weight = weight_of(term.selected_namespaces);
            for (const auto& [name, labels] : *known_) {
                if ((compared_ += weight) > most_comparisons) return false;
                if (term.selected_namespaces.matches(labels)) into_.insert(name);
                if (into_.size() > most_namespaces) return false;
            }
        }
        return true;
    }

private:
    const namespace_labels* known_;
    std::set<std::string>& into_;
    std::int64_t compared_ = 0;
};

}  // namespace

std::int64_t weight_of(const label_selector& selector) {
    std::int64_t out = 1;
    for (const auto& each : selector.requirements) {
        out += 1 + static_cast<std::int64_t>(each.values.size());
    }
    return out;
}

std::int64_t weight_of(const near_rules& rules) {
    std::int64_t out = 0;
    for (const auto* terms : {&rules.affinity, &rules.anti_affinity}) {
        for (const auto& term : *terms) {
            out += weight_of(term.pods) + weight_of(term.selected_namespaces);
        }
    }
    for (const auto& each : rules.spread) out += weight_of(each.pods);
    return out;
}

rules_of_members rules_of(std::span<const pod_pointer> members) {
    rules_of_members out;
    out.of.reserve(members.size());
    std::map<kind_key, std::size_t> known;
    std::size_t texts = 0;
    for (const auto& pod : members) {
        out.too_much = too_much_of(*pod);
        if (!out.too_much.empty()) return out;
        const auto [entry, added] = known.emplace(key_of(*pod), out.kinds.size());
        out.of.push_back(entry->second);
        if (!added) continue;
        texts += pod->affinity.text.size() + pod->topology_spread.text.size();
        if (texts > most_texts) {
            out.too_much = fmt::format(
                "the members have more than {} bytes of affinity and topology spread that differ",
                most_texts);
            return out;
        }
        const auto& rules = out.kinds.emplace_back(near_rules_of(*pod));
        const auto terms = rules.affinity.size() + rules.anti_affinity.size() + rules.spread.size();
        if (terms > most_terms) {
            out.too_much = more_than(
                *pod, terms, "required terms of pod affinity and topology spread", most_terms);
            return out;
        }
    }
    return out;
}

bounded_needs bounded_needs_of(std::span<const pod_pointer> members, const rules_of_members& rules,
                               const namespace_labels* known) {
    bounded_needs out{{}, rules.too_much};
    if (!out.too_much.empty()) return out;
    const auto refuse = [&](std::string why) {
        out.what = {};
        out.too_much = std::move(why);
        return out;
    };
    for (const auto& pod : members) {
        for (const auto& name : pod->claims) {
            out.what.claims.insert({pod->metadata.namespace_, name});
        }
        if (out.what.claims.size() > most_claims_of_all) {
            return refuse(fmt::format("the members have more than {} PersistentVolumeClaims",
                                      most_claims_of_all));
        }
    }
    auto& into = out.what.pods_of;
    namespace_finder find(known, into);
    std::vector<char> seen(rules.kinds.size(), 0);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto kind = rules.of[i];
        if (seen[kind] != 0) continue;
        seen[kind] = 1;
        const auto& of = rules.kinds[kind];
        if (!of.spread.empty()) into.insert(members[i]->metadata.namespace_);
        if (!find.add(of.affinity) || !find.add(of.anti_affinity) ||
            into.size() > most_namespaces) {
            return refuse(fmt::format(
                "the terms of pod {} select by labels among too many namespaces, or mean the pods "
                "of more than {}: name the namespaces in the terms instead",
                members[i]->metadata.key().text(), most_namespaces));
        }
    }
    return out;
}

}  // namespace esi::placement::planning
