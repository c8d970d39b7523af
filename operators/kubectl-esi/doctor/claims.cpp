#include "kubectl-esi/doctor/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "grid/rights.h"
#include "kubectl-esi/doctor/mending.h"
#include "model/conditions.h"

namespace esi::kubectl::doctor {

namespace {

namespace reason = model::condition_reason;

constexpr std::string_view class_prefix = "esi-claim-";
constexpr std::string_view class_below_zero = "minus-";

/// As the chart names it (helm/esi/templates/_names.tpl).
std::string class_of_claims(int priority) {
    return priority < 0 ? fmt::format("{}{}{}", class_prefix, class_below_zero, -priority)
                        : fmt::format("{}{}", class_prefix, priority);
}

/// The priority that the name of such a class has; nothing for another class.
std::optional<std::int64_t> priority_of(std::string_view name) {
    if (!name.starts_with(class_prefix)) return std::nullopt;
    name.remove_prefix(class_prefix.size());
    const bool below = name.starts_with(class_below_zero);
    if (below) name.remove_prefix(class_below_zero.size());
    std::int64_t out = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), out);
    if (fault != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return below ? -out : out;
}

std::string switch_on(const facts& at) {
    return run_with_flag(at, "esi-testbed", "--claims", "claims.enabled=true", "claims");
}

/// Makes the class of this priority; the classes that exist are kept.
std::string make_class(const facts& at, int priority) {
    const auto name = class_of_claims(priority);
    std::set<std::int64_t> all{priority};
    bool exists = false;
    for (const auto& each : at.classes) {
        exists |= each.name == name;
        if (const auto other = priority_of(each.name)) all.insert(*other);
    }
    const auto* testbed = at.find_operator("esi-testbed");
    const bool of_chart = testbed != nullptr && testbed->from.of_chart;
    const auto make =
        of_chart ? apply_again(at, &testbed->from, manifests,
                               fmt::format("claims.enabled=true --set 'claims.priorities={{{}}}'",
                                           fmt::join(all, ",")))
                 : fmt::format(
                       "kubectl create priorityclass {} --value={} "
                       "--preemption-policy=Never",
                       name, priority);
    return exists ? fmt::format("kubectl delete priorityclass {} && {}", name, make) : make;
}

/// The shapes of a claim cannot be changed.
std::string make_smaller(const model::testbed& testbed) {
    const auto& meta = testbed.metadata;
    const auto* owner = meta.controller_owner();
    const bool of_plan = owner != nullptr && owner->kind == "Scheduling";
    return of_plan ? fmt::format(
                         "kubectl esi release {} -n {}   # then create it again with fewer "
                         "or smaller places, or add nodes",
                         owner->name, meta.namespace_)
                   : fmt::format(
                         "kubectl delete testbed {} -n {}   # then create it again with "
                         "fewer or smaller places, or add nodes",
                         meta.name, meta.namespace_);
}

}  // namespace

void look_at_claim(const facts& at, const model::testbed& testbed, std::vector<finding>& found) {
    const auto* formed =
        model::find_condition(testbed.status.conditions, model::condition_type::formed);
    if (formed == nullptr || formed->status != "False") return;
    const auto object = text_of("Testbed", testbed.metadata);
    const auto text =
        fmt::format("its claim has no places ({}): {}", formed->reason, formed->message);
    const auto refuse = [&](std::string remedy) {
        add(found, severity::error, object, text, std::move(remedy));
    };
    if (formed->reason == reason::claim_never_fits) return refuse(make_smaller(testbed));
    if (formed->reason == reason::claim_disabled) return refuse(switch_on(at));
    if (formed->reason == reason::claim_class_missing) {
        return refuse(make_class(at, testbed.spec.claim ? testbed.spec.claim->priority : 0));
    }
    if (formed->reason == reason::claim_suspended) return;
    if (!is_older_than(formed->last_transition_time, patience, at.now)) return;
    add(found, severity::warning, object, text,
        "kubectl get pods -A --field-selector=status.phase=Running -o wide   # their end makes "
        "room; so do more nodes");
}

void look_at_refused_claim(const facts& at, const model::scheduling& plan,
                           std::vector<finding>& found) {
    const auto& meta = plan.metadata;
    if (at.find_testbed(grid::testbed_of(plan)) != nullptr) return;
    const auto* testbed = at.find_operator("esi-testbed");
    const bool seen = testbed != nullptr && testbed->deployment == presence::there;
    auto text = fmt::format("{}: {}", reason::claim_refused, plan.status.waiting_for);
    if (seen && testbed->has("--claims")) {
        return add(found, severity::error, text_of("Scheduling", meta), std::move(text),
                   fmt::format("kubectl -n {} logs deploy/esi-scheduling | grep {}",
                               at.operators_namespace, meta.name));
    }
    // The rights of esi-scheduling to make Testbeds come with the same value of the chart.
    text += seen ? "; claims are switched off: esi-testbed runs without --claims"
                 : "; are claims switched on (claims.enabled=true of the chart)?";
    add(found, severity::error, text_of("Scheduling", meta), std::move(text), switch_on(at));
}

}  // namespace esi::kubectl::doctor
