#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "kubectl-esi/doctor/checks.h"
#include "kubectl-esi/doctor/claims.h"
#include "kubectl-esi/doctor/mending.h"
#include "kubectl-esi/doctor/quotas.h"
#include "kubectl-esi/shown/words.h"
#include "model/conditions.h"
#include "model/names.h"

namespace esi::kubectl::doctor {

namespace {

namespace reason = model::condition_reason;
namespace type = model::condition_type;

/// The condition, if it is False with this reason; else null.
const model::condition* failed(const std::vector<model::condition>& list, std::string_view of,
                               std::string_view why) {
    const auto* found = model::find_condition(list, of);
    return found != nullptr && found->status == "False" && found->reason == why ? found : nullptr;
}

/// More objects of one kind of fault are not reported at once.
constexpr std::size_t most_named = 5;

/// "n0, n1 and 3 more"
std::string some_of(const std::vector<std::string>& names) {
    const auto shown = std::min(names.size(), most_named);
    auto out = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
    if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
    return out;
}

/// The whole number that the text is.
std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || at != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The value of the label of a Testbed's nodes; null if the node is not one of them.
const std::string* value_on(const model::node& node, const model::testbed& testbed) {
    const auto found = node.metadata.labels.find(testbed.spec.node_label);
    return found == node.metadata.labels.end() ? nullptr : &found->second;
}

const model::node* find_node(const facts& at, std::string_view name) {
    for (const auto& each : at.nodes) {
        if (each->metadata.name == name) return each.get();
    }
    return nullptr;
}

void look_at_nodes_of(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto& label = testbed.spec.node_label;
    const auto object = text_of("Testbed", testbed.metadata);
    if (at.nodes_seen != presence::there) return;
    std::map<std::int64_t, std::vector<std::string>> by_number;
    std::vector<const model::node*> wrong;
    for (const auto& node : at.nodes) {
        const auto* value = value_on(*node, testbed);
        if (value == nullptr) continue;
        const auto number = number_of(*value);
        number && *number >= 0 ? by_number[*number].push_back(node->metadata.name)
                               : wrong.push_back(node.get());
    }
    if (by_number.empty() && wrong.empty()) {
        return add(found, severity::error, object, "no node has its label " + label,
                   fmt::format("kubectl esi nodes {} --count 1{}   # or more",
                               testbed.metadata.name, in_namespace(testbed.metadata)));
    }
    auto next = by_number.empty() ? 0 : by_number.rbegin()->first + 1;
    const auto set_number = [&](const std::string& node) {
        return fmt::format("kubectl label node {} {}={} --overwrite", node, label, next++);
    };
    std::size_t named = 0;
    for (const auto* node : wrong) {
        if (++named > most_named) break;
        const auto& name = node->metadata.name;
        add(found, severity::error, object,
            fmt::format("node {} has the label {}={}, which is no whole number: it gives no slots",
                        name, label, *value_on(*node, testbed)),
            set_number(name));
    }
    for (const auto& [number, nodes] : by_number) {
        if (nodes.size() < 2 || ++named > most_named) continue;
        add(found, severity::error, object,
            fmt::format("nodes {} have the label {}={}: none of them gives slots", some_of(nodes),
                        label, number),
            set_number(nodes.back()));
    }
}

/// Another Testbed that has the node's label first, if two have it: the older one.
void look_at_overlap(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto& meta = testbed.metadata;
    std::vector<const model::node*> own;
    for (const auto& node : at.nodes) {
        if (value_on(*node, testbed) != nullptr) own.push_back(node.get());
    }
    for (const auto& other : at.testbeds) {
        const auto& first = other->metadata;
        if (other->spec.claim || first.key() == meta.key() || !model::older(first, meta)) continue;
        const auto& label = testbed.spec.node_label;
        if (other->spec.node_label == label) {
            const auto domain = label.substr(0, label.find('/') + 1);
            add(found, severity::error, text_of("Testbed", meta),
                fmt::format("its label {} is also that of the older Testbed {}, whose slots have "
                            "the room of the nodes first",
                            label, first.key().text()),
                fmt::format(
                    R"(kubectl patch testbed {} -n {} --type=merge -p '{{"spec":)"
                    R"({{"nodeLabel":"{}{}-{}"}}}}' && kubectl esi nodes {} --count 1 -n {})",
                    meta.name, meta.namespace_, domain, meta.namespace_, meta.name, meta.name,
                    meta.namespace_));
            continue;
        }
        std::vector<std::string> both;
        for (const auto* node : own) {
            if (value_on(*node, *other) != nullptr) both.push_back(node->metadata.name);
        }
        if (both.empty()) continue;
        add(found, severity::error, text_of("Testbed", meta),
            fmt::format("nodes {} have the label of the older Testbed {}, too, whose slots have "
                        "their room first",
                        some_of(both), first.key().text()),
            fmt::format("kubectl label nodes -l {},{} {}-", label, other->spec.node_label, label));
    }
}

/// Reports why slots cannot be used, where no other check has done so.
void look_at_slot_problems(const model::testbed& testbed, std::vector<finding>& found) {
    const auto& status = testbed.status;
    const bool broken =
        status.state == model::testbed_state::error || (status.counts && status.counts->error > 0);
    if (!broken) return;
    std::map<std::string, std::vector<std::string>> nodes;
    for (const auto& [node, problems] : status.node_problems) {
        for (const auto& problem : problems) {
            if (!quota_refusal_in(problem)) nodes[problem].push_back(node);
        }
    }
    std::size_t named = 0;
    for (const auto& [problem, on] : nodes) {
        if (++named > most_named) break;
        add(found, severity::error, text_of("Testbed", testbed.metadata),
            fmt::format("slots on {} are in ERROR: {}", some_of(on), problem),
            fmt::format("kubectl events -n {} --for testbed/{} --types=Warning",
                        testbed.metadata.namespace_, testbed.metadata.name));
    }
    if (!nodes.empty() || !status.node_problems.empty()) return;
    add(found, severity::error, text_of("Testbed", testbed.metadata),
        status.reason + ": " + status.message,
        fmt::format("kubectl describe testbed {} -n {}", testbed.metadata.name,
                    testbed.metadata.namespace_));
}

void look_at_nodes_out_of_use(const facts& at, const model::testbed& testbed,
                              std::vector<finding>& found) {
    const auto& out = testbed.status.nodes_out_of_use;
    if (!out) return;
    std::size_t named = 0;
    for (const auto& name : out->names) {
        if (++named > most_named) break;
        const auto* node = find_node(at, name);
        const bool cordoned = node != nullptr && node->unschedulable;
        add(found, severity::error, text_of("Testbed", testbed.metadata),
            fmt::format("no slot on node {} can be used: {}", name,
                        cordoned          ? "it is cordoned"
                        : node == nullptr ? "it does not exist or cannot be read"
                        : node->ready     ? "status.nodeProblems of the Testbed says why"
                                          : "it is not ready"),
            cordoned ? "kubectl uncordon " + name : "kubectl describe node " + name);
    }
}

void look_at_hold(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto holder = testbed.holder();
    if (holder.name.empty()) return;
    const auto exists = std::ranges::any_of(
        at.schedulings, [&](const auto& each) { return each->metadata.key() == holder; });
    if (exists) return;
    const auto& meta = testbed.metadata;
    // It may be in a namespace that the user does not see.
    const bool seen = std::ranges::any_of(at.schedulings, [&](const auto& each) {
        return each->metadata.namespace_ == holder.namespace_;
    });
    if (!seen && holder.namespace_ != meta.namespace_) return;
    add(found, severity::error, text_of("Testbed", meta),
        fmt::format("Scheduling {} holds it and does not exist", holder.text()),
        fmt::format("kubectl annotate testbed {} {}-{}", meta.name, model::names::hold,
                    in_namespace(meta)));
}

void look_at_testbed(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto& meta = testbed.metadata;
    const auto& status = testbed.status;
    const auto object = text_of("Testbed", meta);
    look_at_hold(at, testbed, found);
    if (meta.deleting()) {
        if (is_older_than(meta.deletion_timestamp, patience, at.now)) {
            const auto holder = testbed.holder();
            add(found, severity::warning, object,
                fmt::format("it has been being deleted for {}",
                            shown::age_text(meta.deletion_timestamp, at.now)),
                holder.name.empty()
                    ? log_of(at, "esi-testbed", meta.namespace_)
                    : fmt::format("kubectl esi release {} -n {}", holder.name, holder.namespace_));
        }
        return;
    }
    if (status.observed_generation < meta.generation &&
        is_older_than(meta.creation_timestamp, patience, at.now)) {
        add(found, severity::error, object,
            "esi-testbed has not looked at it, or not at its change",
            log_of(at, "esi-testbed", meta.namespace_));
    }
    if (status.reason == reason::spec_invalid) {
        add(found, severity::error, object, status.message,
            fmt::format("kubectl edit testbed {}{}", meta.name, in_namespace(meta)));
        return;
    }
    const auto before = found.size();
    if (testbed.spec.claim) {
        look_at_claim(at, testbed, found);
    } else {
        look_at_nodes_of(at, testbed, found);
        look_at_overlap(at, testbed, found);
    }
    look_at_nodes_out_of_use(at, testbed, found);
    if (const auto* room =
            failed(status.conditions, type::capacity_sufficient, reason::not_enough_room)) {
        add(found, severity::error, object, room->message,
            fmt::format("kubectl edit testbed {}{}   # smaller slots; or other nodes: kubectl esi "
                        "nodes {} --count N{}",
                        meta.name, in_namespace(meta), meta.name, in_namespace(meta)));
    }
    if (const auto* taint = failed(status.conditions, type::isolated, reason::not_tainted)) {
        add(found, severity::warning, object, taint->message,
            apply_again(at, nullptr, fmt::format("{}/isolation", manifests),
                        "isolation.enabled=true"));
    }
    if (const auto* ghosts = failed(status.conditions, type::ghosts_running, reason::ghosts_fail)) {
        add(found, severity::error, object, ghosts->message,
            run_with_flag(at, "esi-testbed", "--ghost-image=IMAGE", "ghost.image=IMAGE") +
                "   # IMAGE: one that the nodes can have");
    }
    if (found.size() == before) look_at_slot_problems(testbed, found);
}

void look_at_testbeds(const facts& at, std::vector<finding>& found) {
    if (is_hidden(at, "testbeds", found)) return;
    const bool by_label = std::ranges::any_of(
        at.testbeds, [](const auto& each) { return !each->spec.claim.has_value(); });
    if (by_label && at.nodes_seen != presence::there) {
        add(found, severity::unknown, "nodes", "you may not list them",
            "kubectl auth can-i list nodes");
    }
    for (const auto& each : at.testbeds) look_at_testbed(at, *each, found);
    look_at_quotas(at, found);
}

/// A driver or JobManager of a job in this Testbed can be on the node.
bool takes_drivers(const model::node& node, const model::testbed& testbed) {
    if (!node.ready || node.unschedulable || value_on(node, testbed) != nullptr) return false;
    return std::ranges::none_of(node.taints,
                                [](const auto& each) { return each.key == model::names::taint; });
}

/// Drivers and JobManagers are kept off the nodes of their job's Testbed. A claim has places for
/// them.
void look_at_driver_nodes(const facts& at, std::vector<finding>& found) {
    for (const auto& testbed : at.testbeds) {
        if (testbed->spec.claim) continue;
        const auto& meta = testbed->metadata;
        const bool used = std::ranges::any_of(at.jobs, [&](const auto& job) {
            const auto& ns = job->metadata.namespace_;
            return ns == meta.namespace_ || testbed->is_offered_to(ns);
        });
        if (!used) continue;
        if (at.nodes_seen != presence::there) {
            return add(found, severity::unknown, "nodes", "you may not list them",
                       "kubectl auth can-i list nodes");
        }
        if (std::ranges::any_of(at.nodes,
                                [&](const auto& node) { return takes_drivers(*node, *testbed); })) {
            continue;
        }
        // The last of its nodes is the least loss.
        const model::node* last = nullptr;
        std::int64_t number = -1;
        for (const auto& node : at.nodes) {
            const auto* value = value_on(*node, *testbed);
            if (value == nullptr || !node->ready || node->unschedulable) continue;
            const auto own = number_of(*value).value_or(0);
            if (own <= number) continue;
            last = node.get();
            number = own;
        }
        add(found, severity::warning, text_of("Testbed", meta),
            "each node that is ready has slots of it, or the taint of another Testbed: drivers and "
            "JobManagers of its jobs stay Pending, as they are kept off these nodes",
            last == nullptr ? "kubectl get nodes --show-labels"
                            : fmt::format("kubectl label node {} {}-   # it is then left for them",
                                          last->metadata.name, testbed->spec.node_label));
    }
}

constexpr std::array table{check{"testbeds", look_at_testbeds},
                           check{"driver nodes", look_at_driver_nodes}};

}  // namespace

std::span<const check> checks_of_testbeds() { return table; }

}  // namespace esi::kubectl::doctor
