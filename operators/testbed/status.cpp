#include "testbed/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "model/conditions.h"
#include "model/names.h"
#include "model/text.h"
#include "testbed/ledger/ledger.h"
#include "testbed/view/words.h"

namespace esi::testbed {

namespace condition_type = model::condition_type;
namespace condition_reason = model::condition_reason;
namespace slot_state = model::slot_state;
namespace state = model::testbed_state;

namespace {

/// Nodes or Testbeds beyond this number are counted and not named.
constexpr std::size_t most_named = 5;

/// "have" for two, "has" for one.
std::string_view have(std::int64_t count) { return count == 1 ? "has" : "have"; }

struct writer {
    const overview& of;
    const ledger& all;
    wall_time wall;
    model::testbed_status& out;
    const model::testbed& testbed = *of.seen.testbed;
    const wanted_layout& wanted = of.wanted;
    const totals& sums = all.sums();

    void set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
        model::set_condition(out.conditions, type, holds ? "True" : "False", reason, message,
                             testbed.metadata.generation, wall);
    }

    bool is_formed() const { return grid::count_of_slots(*of.layout) > 0; }

    /// Why a claim has no places; the reason is Waiting where nothing is known yet.
    claims::standing claim_standing() const {
        if (!of.claim.reason.empty()) return of.claim;
        return {std::string(condition_reason::claim_waiting), "its places have not been planned"};
    }

    void judge_claim() {
        if (!testbed.spec.claim)
            return model::remove_condition(out.conditions, condition_type::formed);
        if (is_formed()) {
            const auto places = count_of(sums.counts.total, "place");
            return set(condition_type::formed, true, condition_reason::claim_placed,
                       fmt::format("layout {}: {} on {}", of.layout->revision, places,
                                   count_of(std::ssize(of.layout->nodes), "node")));
        }
        if (!wanted.spec_problems.empty()) {
            return set(condition_type::formed, false, condition_reason::spec_invalid,
                       spec_words(testbed, wanted.spec_problems));
        }
        const auto at = claim_standing();
        set(condition_type::formed, false, at.reason, at.message);
    }

    /// True: a claim has no places though its spec is right, and a person has to mend something.
    bool claim_stalls() const {
        const auto at = claim_standing().reason;
        return at == condition_reason::claim_never_fits ||
               at == condition_reason::claim_class_missing ||
               at == condition_reason::claim_disabled;
    }

    void list_slots() {
        auto counts = sums.counts;
        counts.nodes = static_cast<int>(of.layout->nodes.size());
        if (counts.total <= of.most_listed) {
            out.slots.reserve(static_cast<std::size_t>(counts.total));
            for (const auto& [name, node] : all.nodes()) {
                out.slots.insert(out.slots.end(), node.rows.begin(), node.rows.end());
            }
            std::ranges::sort(out.slots, {}, &model::slot_status::position);
            set(condition_type::slots_listed, true, condition_reason::listed,
                "status.slots has every slot");
        } else if (of.seen.slices_served) {
            const auto& problem = of.slice_problem;
            set(condition_type::slots_listed, false, condition_reason::in_slices,
                fmt::format("{} slots are more than {}: kubectl -n {} get testbedslotslices -l "
                            "{}={}{}{}",
                            counts.total, of.most_listed, testbed.metadata.namespace_,
                            model::names::testbed, testbed.metadata.name,
                            problem.empty() ? "" : "; ", problem));
        } else {
            set(condition_type::slots_listed, false, condition_reason::too_many_slots,
                fmt::format("{} slots are more than {}, and the kind TestbedSlotSlice is not "
                            "served: they are served over REST",
                            counts.total, of.most_listed));
        }
        out.counts = counts;
    }

    void collect_problems() {
        out.problems = wanted.spec_problems;
        for (const auto& each : sums.disputes) out.problems.push_back(each.text);
        out.node_problems = wanted.problems;
        auto& unusable = out.nodes_out_of_use.emplace();
        for (const auto& name : sums.out_of_use) {
            add(name, all.node(name).problem);
            unusable.names.push_back(name);
            ++unusable.count;
        }
        for (const auto& name : sums.with_slot_problems) {
            for (const auto& problem : all.node(name).slot_problems) add(name, problem);
        }
        if (out.problems.size() > most_problems) out.problems.resize(most_problems);
        if (testbed.metadata.deleting()) out.problems.push_back(deletion_words(testbed));
    }

    void add(const std::string& node, const std::string& problem) {
        auto& list = out.node_problems[node];
        if (list.size() < most_problems &&
            std::find(list.begin(), list.end(), problem) == list.end()) {
            list.push_back(problem);
        }
    }

    void judge_whole() {
        const auto& counts = *out.counts;
        const int usable = counts.total - counts.error;
        const int under_way = sums.under_way;
        if (!wanted.spec_problems.empty() || (usable == 0 && wanted.labelled > 0) ||
            (usable == 0 && counts.total > 0)) {
            out.state = state::error;
        } else if (waits_for_places() && claim_stalls()) {
            out.state = state::error;
        } else if (waits_for_places()) {
            out.state = state::in_progress;
        } else if (counts.occupied > 0) {
            out.state = state::running;
        } else if (counts.reserved > 0) {
            out.state = state::in_progress;
        } else {
            out.state = state::success;
        }
        const auto ghosts =
            fmt::format("{} under way in {} of {}", under_way == 1 ? "a ghost is" : "ghosts are",
                        under_way, count_of(counts.total, "slot"));
        if (!wanted.spec_problems.empty()) {
            set(condition_type::ready, false, condition_reason::spec_invalid,
                spec_words(testbed, wanted.spec_problems));
        } else if (waits_for_places()) {
            const auto at = claim_standing();
            set(condition_type::ready, false, at.reason, at.message);
        } else if (counts.total == 0 && wanted.labelled == 0) {
            set(condition_type::ready, false, condition_reason::no_nodes, no_nodes_words(testbed));
        } else if (usable == 0) {
            const auto room = find(condition_type::capacity_sufficient);
            set(condition_type::ready, false, condition_reason::no_usable_slot,
                room.status == "False"
                    ? "no slot can be used: " + room.message
                    : "the layout has no slots, see the condition LayoutCurrent");
        } else if (under_way > 0) {
            set(condition_type::ready, false, condition_reason::ghosts_under_way, ghosts);
        } else if (counts.error > 0) {
            set(condition_type::ready, true, condition_reason::some_slots_usable,
                fmt::format("{} of {} can be used", usable, count_of(counts.total, "slot")));
        } else {
            set(condition_type::ready, true, condition_reason::all_slots_usable,
                fmt::format("{} can be used", count_of(usable, "slot")));
        }
        judge_progress(under_way > 0 ? ghosts : std::string());
    }

    bool waits_for_places() const {
        return testbed.spec.claim && wanted.spec_problems.empty() && !is_formed();
    }

    /// Sets the conditions of kstatus: each is there only while it holds, never both together.
    void judge_progress(const std::string& ghosts) {
        const bool no_numbers =
            of.layout->nodes.empty() && wanted.labelled > 0 && wanted.layout.nodes.empty();
        const bool waits = waits_for_places();
        const bool claim_stalled = waits && claim_stalls();
        const bool stalled = !wanted.spec_problems.empty() || no_numbers || claim_stalled;
        if (!wanted.spec_problems.empty()) {
            set(condition_type::stalled, true, condition_reason::spec_invalid,
                spec_words(testbed, wanted.spec_problems));
        } else if (no_numbers) {
            set(condition_type::stalled, true, condition_reason::node_problems,
                find(condition_type::capacity_sufficient).message);
        } else if (claim_stalled) {
            const auto at = claim_standing();
            set(condition_type::stalled, true, at.reason, at.message);
        } else {
            model::remove_condition(out.conditions, condition_type::stalled);
        }
        const bool suspended =
            waits && claim_standing().reason == condition_reason::claim_suspended;
        if (waits && !stalled && !suspended) {
            const auto at = claim_standing();
            set(condition_type::reconciling, true, at.reason, at.message);
        } else if (stalled || ghosts.empty()) {
            model::remove_condition(out.conditions, condition_type::reconciling);
        } else {
            set(condition_type::reconciling, true, condition_reason::ghosts_under_way, ghosts);
        }
    }

    model::condition find(std::string_view type) const {
        const auto* found = model::find_condition(out.conditions, type);
        return found ? *found : model::condition();
    }

    /// "; 2 more nodes have too little room, see nodeProblems".
    static std::string more_nodes(std::size_t count, std::string_view what_they_have) {
        if (count <= 1) return {};
        const auto rest = static_cast<std::int64_t>(count - 1);
        return fmt::format("; {} more {} {} {}, see nodeProblems", rest,
                           rest == 1 ? "node" : "nodes", have(rest), what_they_have);
    }

    /// Other Testbeds on nodes of this one, those of other namespaces without their names; or
    /// empty.
    std::string shared_nodes() const {
        std::vector<std::string> told;
        for (const auto& [name, nodes] : sums.shared) {
            if (told.size() == most_named) break;
            told.push_back(fmt::format(
                "{}{} {} also of {}", fmt::join(nodes | std::views::take(most_named), ", "),
                nodes.size() > most_named ? ", ..." : "", nodes.size() == 1 ? "is" : "are", name));
        }
        return fmt::format("{}", fmt::join(told, "; "));
    }

    /// Reports the first node with a problem, and how many there are.
    void judge_capacity() {
        const auto shared = shared_nodes();
        const auto words = [&](const std::string& first) {
            return first + (shared.empty() ? "" : "; " + shared);
        };
        const int without = sums.without_room;
        std::string first;
        if (!sums.short_of_room.empty()) {
            const auto& name = *sums.short_of_room.begin();
            first = name + ": " + all.node(name).shortage;
        }
        const auto out_of_use = static_cast<std::size_t>(out.nodes_out_of_use->count);
        if (without > 0) {
            set(condition_type::capacity_sufficient, false, condition_reason::not_enough_room,
                words(fmt::format("{} of {} {} no room: {}{}", without,
                                  count_of(sums.counts.total, "slot"), have(without), first,
                                  more_nodes(sums.short_of_room.size(), "too little room"))));
        } else if (out_of_use > 0) {
            const auto& name = out.nodes_out_of_use->names.front();
            set(condition_type::capacity_sufficient, false, condition_reason::nodes_out_of_use,
                words(fmt::format("{}: {}{}", name, all.node(name).problem,
                                  more_nodes(out_of_use, "no usable slot"))));
        } else if (!out.node_problems.empty()) {
            const auto& [name, problems] = *out.node_problems.begin();
            set(condition_type::capacity_sufficient, false, condition_reason::node_problems,
                words(fmt::format("{}: {}{}", name, problems.front(),
                                  more_nodes(out.node_problems.size(), "problems"))));
        } else {
            set(condition_type::capacity_sufficient, true, condition_reason::room_for_all,
                words("every slot has its room"));
        }
        out.message = shared;
    }

    /// Sets reason and message for kubectl get: the first thing that a person should look at.
    void explain() {
        const auto say = [&](std::string_view reason, std::string_view message) {
            out.reason = reason;
            out.message = model::cut(message);
        };
        const auto ready = find(condition_type::ready);
        const auto room = find(condition_type::capacity_sufficient);
        const auto ghosts = find(condition_type::ghosts_running);
        const auto taint = find(condition_type::isolated);
        const auto layout = find(condition_type::layout_current);
        const bool refused = !sums.taint_refused.empty();
        if (ready.reason == condition_reason::spec_invalid ||
            ready.reason == condition_reason::no_nodes) {
            say(ready.reason, ready.message);
        } else if (waits_for_places()) {
            say(ready.reason, ready.message);
        } else if (room.status == "False") {
            say(room.reason, room.message);
        } else if (!sums.disputes.empty()) {
            say(condition_reason::orders_disputed, sums.disputes.begin()->text);
        } else if (ghosts.reason != condition_reason::none_fails) {
            say(ghosts.reason, ghosts.message);
        } else if (taint.reason == condition_reason::not_tainted && refused) {
            say(taint.reason, taint.message);
        } else if (testbed.metadata.deleting()) {
            say(condition_reason::waits_for_release, deletion_words(testbed));
        } else if (layout.status == "False") {
            say(layout.reason, layout.message);
        }
    }

    /// A ghost whose image is missing holds its room and slots work: it is only reported.
    void judge_ghosts() {
        int failing = 0;
        for (const auto& [why, failure] : sums.failing) failing += failure.ghosts;
        std::string told;
        if (failing > 0) {
            std::vector<std::string> causes;
            for (const auto& [why, failure] : sums.failing) {
                const auto& where = failure.nodes;
                const auto named = where | std::views::take(most_named);
                causes.push_back(fmt::format("{} ({}{})", why, fmt::join(named, ", "),
                                             where.size() > most_named ? ", ..." : ""));
                if (causes.size() == most_named) break;
            }
            told = fmt::format(
                "{} of {} {} a ghost that does not run: {}; the room is held all the same; set "
                "--ghost-image (ghost.image of the chart) to one that the nodes can have",
                failing, count_of(sums.counts.total, "slot"), have(failing),
                fmt::join(causes, "; "));
        }
        if (!of.image_refusal.empty()) {
            if (!told.empty()) told += "; ";
            told += "ghosts keep the image that they have, as the API server refuses the change: " +
                    of.image_refusal;
        }
        if (failing > 0) {
            set(condition_type::ghosts_running, false, condition_reason::ghosts_fail, told);
        } else if (!told.empty()) {
            set(condition_type::ghosts_running, true, condition_reason::image_not_changed, told);
        } else {
            set(condition_type::ghosts_running, true, condition_reason::none_fails,
                "no ghost fails to run");
        }
    }

    void judge_layout() {
        if (!wanted.spec_problems.empty()) {
            set(condition_type::layout_current, false, condition_reason::spec_invalid,
                spec_words(testbed, wanted.spec_problems));
        } else if (waits_for_places()) {
            const auto at = claim_standing();
            set(condition_type::layout_current, false, at.reason, at.message);
        } else if (testbed.spec.claim) {
            set(condition_type::layout_current, true, condition_reason::current,
                fmt::format("layout {} has the places of the claim", of.layout->revision));
        } else if (of.current) {
            set(condition_type::layout_current, true, condition_reason::current,
                fmt::format("layout {} is what nodes and spec say", of.layout->revision));
        } else {
            set(condition_type::layout_current, false, condition_reason::waits_for_release,
                fmt::format("waits for the release{}{}: {}",
                            testbed.holder().name.empty() ? "" : " by Scheduling ",
                            testbed.holder().name.empty() ? "" : testbed.holder().text(),
                            of.difference));
        }
    }

    /// Foreign pods on the nodes: there before the taint (which evicts no pod), or tolerating it.
    std::string pods_beside() const {
        std::vector<std::string> names;
        const auto count = static_cast<std::size_t>(sums.beside);
        const auto elsewhere = static_cast<std::size_t>(sums.beside_elsewhere);
        for (const auto& node : sums.with_beside) {
            for (const auto& name : all.node(node).beside_names) {
                if (names.size() < most_named) names.push_back(name);
            }
            if (names.size() == most_named) break;
        }
        if (count == 0) return {};
        const bool more = count > names.size() + elsewhere;
        if (elsewhere > 0) {
            names.push_back(elsewhere == 1 ? std::string(foreign_pod)
                                           : fmt::format("{} of other namespaces", elsewhere));
        }
        return fmt::format("; {} {} there beside the slots and {}: {}{}", count,
                           count == 1 ? "pod of others runs" : "pods of others run",
                           count == 1 ? "stays" : "stay", fmt::join(names, ", "),
                           more ? ", ..." : "");
    }

    void judge_isolation() {
        if (testbed.spec.isolation != model::isolation::taint) {
            const auto schedulers = sums.schedulers | std::views::keys;
            if (schedulers.empty()) {
                set(condition_type::isolated, false, condition_reason::no_taint,
                    "isolation is None: a job pod that ends without warning leaves its room to "
                    "whoever is pending");
            } else {
                set(condition_type::isolated, false, condition_reason::other_schedulers,
                    fmt::format("isolation is None and other schedulers serve these nodes ({}): "
                                "nominations are not known to them; set isolation: Taint",
                                fmt::join(schedulers, ", ")));
            }
            return;
        }
        std::string why;
        for (const auto& name : sums.open) {
            if (!sums.taint_refused.contains(name)) continue;
            why = "; " + all.node(name).taint_problem;
            break;
        }
        const auto open = sums.open | std::views::take(8);
        if (open.empty()) {
            set(condition_type::isolated, true, condition_reason::tainted,
                "every node carries the taint" + pods_beside());
        } else {
            set(condition_type::isolated, false, condition_reason::not_tainted,
                fmt::format("without the taint: {}{}", fmt::join(open, ", "), why));
        }
    }
};

}  // namespace

milliseconds report_pause(const model::slot_counts& slots, bool acts, int many) {
    if (acts) return acting_pause;
    return slots.total > many ? many_slots_pause : milliseconds(0);
}

std::string undecodable_words(const model::testbed& testbed) {
    const auto& meta = testbed.metadata;
    return model::cut(fmt::format(
        "ESI cannot read the object, and leaves it as it is: {}: kubectl -n {} edit testbed {}",
        meta.undecodable, meta.namespace_, meta.name));
}

std::string spec_words(const model::testbed& testbed, const std::vector<std::string>& problems) {
    const auto& meta = testbed.metadata;
    return fmt::format("{}: kubectl -n {} edit testbed {}", fmt::join(problems, "; "),
                       meta.namespace_, meta.name);
}

std::string no_nodes_words(const model::testbed& testbed) {
    return fmt::format("no node carries the label {0}: kubectl label node NODE {0}=0",
                       testbed.spec.node_label);
}

std::string deletion_words(const model::testbed& testbed) {
    const auto by = testbed.holder();
    if (by.name.empty()) {
        return fmt::format("deletion waits for the release of the hold {}", testbed.hold());
    }
    return fmt::format(
        "deletion waits for the release by Scheduling {}: it ends, or kubectl -n {} delete "
        "scheduling {}",
        by.text(), by.namespace_, by.name);
}

model::testbed_status report_undecodable(const model::testbed& testbed, wall_time wall) {
    auto out = testbed.status;
    const auto text = undecodable_words(testbed);
    for (const auto type : {condition_type::ready, condition_type::layout_current}) {
        model::set_condition(out.conditions, type, "False", condition_reason::undecodable, text,
                             testbed.metadata.generation, wall);
    }
    model::set_condition(out.conditions, condition_type::stalled, "True",
                         condition_reason::undecodable, text, testbed.metadata.generation, wall);
    model::remove_condition(out.conditions, condition_type::reconciling);
    out.state = state::error;
    out.reason = condition_reason::undecodable;
    out.message = text;
    out.problems = {text};
    out.observed_generation = testbed.metadata.generation;
    return out;
}

overview overview_of(view seen, wanted_layout wanted, const hints& known) {
    static const model::testbed_layout none;
    overview out;
    const auto& layout = seen.testbed->status.layout;
    out.layout = layout ? &*layout : &none;
    out.seen = std::move(seen);
    out.wanted = std::move(wanted);
    out.current = same_layout(*out.layout, out.wanted.layout);
    if (!out.current) out.difference = describe_difference(*out.layout, out.wanted.layout);
    if (known.images.failures > 0) out.image_refusal = known.images.text;
    out.claim = known.claim;
    out.slice_problem = known.slice_problem;
    return out;
}

overview overview_for(overview of, const model::testbed_layout& next) {
    of.layout = &next;
    of.current = true;
    of.difference.clear();
    return of;
}

model::testbed_layout next_layout(const overview& of, bool compact) {
    auto out = of.wanted.layout;
    const bool same = of.seen.testbed->status.layout && of.current;
    out.revision = of.layout->revision + (same ? 0 : 1);
    out.compact = compact && !out.nodes.empty();
    return out;
}

model::testbed_status report(const overview& of, const ledger& all, wall_time wall) {
    const auto& testbed = *of.seen.testbed;
    switch (stage_of(testbed)) {
        case stage::unreadable:
            return report_undecodable(testbed, wall);
        case stage::ended:
        case stage::leaves:
        case stage::begins:
            return testbed.status;
        case stage::works:
            break;
    }
    model::testbed_status out;
    // Conditions keep their transition times.
    out.conditions = testbed.status.conditions;
    if (of.layout->revision > 0) out.layout = *of.layout;
    out.observed_generation = testbed.metadata.generation;
    if (const auto holder = testbed.holder(); !holder.name.empty()) {
        const bool own = holder.namespace_ == testbed.metadata.namespace_;
        out.held_by =
            model::holder_status{holder.namespace_, holder.name, own ? holder.name : holder.text()};
    }
    writer work{of, all, wall, out};
    work.list_slots();
    work.collect_problems();
    work.judge_capacity();
    work.judge_whole();
    work.judge_layout();
    work.judge_claim();
    work.judge_ghosts();
    work.judge_isolation();
    work.explain();
    return out;
}

}  // namespace esi::testbed
