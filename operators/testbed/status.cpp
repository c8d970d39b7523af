#include "testbed/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "model/conditions.h"
#include "model/text.h"
#include "testbed/ghosts.h"
#include "testbed/words.h"

namespace esi::testbed {

namespace condition_type = model::condition_type;
namespace slot_state = model::slot_state;
namespace state = model::testbed_state;

namespace {

/// Bounds of the CRD.
constexpr std::size_t most_problems = 64;

/// More nodes, or Testbeds, are counted and not named.
constexpr std::size_t most_named = 5;

/// "have" for two, "has" for one.
std::string_view have(std::int64_t count) { return count == 1 ? "has" : "have"; }

/// Absent while it does not hold, as kstatus has it.
void drop(std::vector<model::condition>& conditions, std::string_view type) {
    std::erase_if(conditions, [&](const auto& each) { return each.type == type; });
}

struct writer {
    const view& seen;
    const wanted_layout& wanted;
    const assessment& all;
    wall_time wall;
    model::testbed_status& out;

    void set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
        model::set_condition(out.conditions, type, holds ? "True" : "False", reason, message,
                             seen.testbed->metadata.generation, wall);
    }

    void list_slots() {
        model::slot_counts counts;
        counts.nodes = static_cast<int>(all.layout.nodes.size());
        counts.total = static_cast<int>(all.slots.size());
        const bool listed = counts.total <= most_listed_slots;
        for (const auto& slot : all.slots) {
            if (slot.state == slot_state::free) ++counts.free;
            if (slot.state == slot_state::reserved) ++counts.reserved;
            if (slot.state == slot_state::occupied) ++counts.occupied;
            if (slot.state == slot_state::error) ++counts.error;
            if (!listed) continue;
            model::slot_status row;
            row.position = slot.in.place.position;
            row.state = slot.state;
            row.node_name = slot.in.place.node;
            row.node_id = slot.in.place.node_id;
            row.slot_position_on_node = slot.in.place.index;
            pod_pointer in = slot.in.ghost;
            for (const auto& pod : slot.in.job_pods) {
                if (!in || in->is_ghost() || pod->bound()) in = pod;
            }
            if (in) {
                const bool own = in->metadata.namespace_ == seen.testbed->metadata.namespace_;
                row.pod_name = own ? in->metadata.name : foreign_pod;
                row.pod_u_id = in->metadata.uid;
            }
            if (!slot.reserved_for.empty() && slot.state == slot_state::reserved) {
                row.reserved_for = slot.reserved_for;
            }
            out.slots.push_back(std::move(row));
        }
        out.counts = counts;
        if (listed) {
            set("SlotsListed", true, "Listed", "status.slots has every slot");
        } else {
            set("SlotsListed", false, "TooManySlots",
                fmt::format("{} slots are more than {}: they are served over REST", counts.total,
                            most_listed_slots));
        }
    }

    void collect_problems() {
        out.problems = wanted.spec_problems;
        for (const auto& problem : all.problems) out.problems.push_back(problem);
        out.node_problems = wanted.problems;
        auto& unusable = out.nodes_out_of_use.emplace();
        for (const auto& [name, node] : all.nodes) {
            if (node.trouble.empty()) continue;
            add(name, node.trouble);
            unusable.names.push_back(name);
            ++unusable.count;
        }
        for (const auto& slot : all.slots) {
            if (slot.state != slot_state::error) continue;
            const auto& node = all.nodes.find(slot.in.place.node)->second;
            if (!node.trouble.empty()) continue;
            add(slot.in.place.node, slot.problem);
        }
        if (out.problems.size() > most_problems) out.problems.resize(most_problems);
        if (seen.testbed->metadata.deleting()) {
            out.problems.push_back(deletion_words(*seen.testbed));
        }
    }

    void add(const std::string& node, const std::string& problem) {
        auto& list = out.node_problems[node];
        if (list.size() < most_problems &&
            std::find(list.begin(), list.end(), problem) == list.end()) {
            list.push_back(problem);
        }
    }

    int count(bool (*which)(const slot_assessment&)) const {
        return static_cast<int>(std::count_if(all.slots.begin(), all.slots.end(), which));
    }

    void judge_whole() {
        const auto& counts = *out.counts;
        const int usable = counts.total - counts.error;
        const int under_way = count([](const slot_assessment& slot) {
            return slot.state == slot_state::reserved && slot.ghost_under_way;
        });
        if (!wanted.spec_problems.empty() || (usable == 0 && wanted.labelled > 0) ||
            (usable == 0 && counts.total > 0)) {
            out.state = state::error;
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
            set("Ready", false, "SpecInvalid", spec_words(*seen.testbed, wanted.spec_problems));
        } else if (counts.total == 0 && wanted.labelled == 0) {
            set("Ready", false, "NoNodes", no_nodes_words(*seen.testbed));
        } else if (usable == 0) {
            const auto room = find("CapacitySufficient");
            set("Ready", false, "NoUsableSlot",
                room.status == "False"
                    ? "no slot can be used: " + room.message
                    : "the layout has no slots, see the condition LayoutCurrent");
        } else if (under_way > 0) {
            set("Ready", false, "GhostsUnderWay", ghosts);
        } else if (counts.error > 0) {
            set("Ready", true, "SomeSlotsUsable",
                fmt::format("{} of {} can be used", usable, count_of(counts.total, "slot")));
        } else {
            set("Ready", true, "AllSlotsUsable",
                fmt::format("{} can be used", count_of(usable, "slot")));
        }
        judge_progress(under_way > 0 ? ghosts : std::string());
    }

    /// For kstatus: each is there only while it holds, and they are not there together.
    void judge_progress(const std::string& ghosts) {
        const bool no_numbers =
            all.layout.nodes.empty() && wanted.labelled > 0 && wanted.layout.nodes.empty();
        const bool stalled = !wanted.spec_problems.empty() || no_numbers;
        if (!wanted.spec_problems.empty()) {
            set(condition_type::stalled, true, "SpecInvalid",
                spec_words(*seen.testbed, wanted.spec_problems));
        } else if (no_numbers) {
            set(condition_type::stalled, true, "NodeProblems", find("CapacitySufficient").message);
        } else {
            drop(out.conditions, condition_type::stalled);
        }
        if (stalled || ghosts.empty()) {
            drop(out.conditions, condition_type::reconciling);
        } else {
            set(condition_type::reconciling, true, "GhostsUnderWay", ghosts);
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

    /// Other Testbeds on nodes of this one, of other namespaces without their names; empty: none.
    std::string shared_nodes() const {
        std::map<std::string, std::set<std::string_view>> by_testbed;
        for (const auto& other : seen.others) {
            const auto& meta = other->metadata;
            if (!other->status.layout || meta.deleting()) continue;
            std::set<std::string_view> common;
            for (const auto& member : other->status.layout->nodes) {
                if (all.nodes.contains(member.name)) common.insert(member.name);
            }
            if (common.empty()) continue;
            const bool own = meta.namespace_ == seen.testbed->metadata.namespace_;
            const bool older = model::older(meta, seen.testbed->metadata);
            by_testbed[own ? fmt::format("Testbed {} ({})", meta.key().text(),
                                         older ? "older: its slots come first" : "younger")
                           : "a Testbed of another namespace"]
                .merge(common);
        }
        std::vector<std::string> told;
        for (const auto& [name, nodes] : by_testbed) {
            if (told.size() == most_named) break;
            told.push_back(fmt::format(
                "{}{} {} also of {}", fmt::join(nodes | std::views::take(most_named), ", "),
                nodes.size() > most_named ? ", ..." : "", nodes.size() == 1 ? "is" : "are", name));
        }
        return fmt::format("{}", fmt::join(told, "; "));
    }

    /// The first node in whose way something is, and how many there are.
    void judge_capacity() {
        const auto shared = shared_nodes();
        const auto words = [&](const std::string& first) {
            return first + (shared.empty() ? "" : "; " + shared);
        };
        int without = 0;
        std::size_t nodes = 0;
        std::string first;
        for (const auto& [name, node] : all.nodes) {
            if (!node.trouble.empty() || node.without_room == 0) continue;
            without += node.without_room;
            if (++nodes == 1) first = name + ": " + describe_shortage(node.room, all.layout);
        }
        const auto out_of_use = static_cast<std::size_t>(out.nodes_out_of_use->count);
        if (without > 0) {
            set("CapacitySufficient", false, "NotEnoughRoom",
                words(fmt::format("{} of {} {} no room: {}{}", without,
                                  count_of(std::ssize(all.slots), "slot"), have(without), first,
                                  more_nodes(nodes, "too little room"))));
        } else if (out_of_use > 0) {
            const auto& name = out.nodes_out_of_use->names.front();
            set("CapacitySufficient", false, "NodesOutOfUse",
                words(fmt::format("{}: {}{}", name, all.nodes.find(name)->second.trouble,
                                  more_nodes(out_of_use, "no usable slot"))));
        } else if (!out.node_problems.empty()) {
            const auto& [name, problems] = *out.node_problems.begin();
            set("CapacitySufficient", false, "NodeProblems",
                words(fmt::format("{}: {}{}", name, problems.front(),
                                  more_nodes(out.node_problems.size(), "problems"))));
        } else {
            set("CapacitySufficient", true, "RoomForAll", words("every slot has its room"));
        }
        out.message = shared;
    }

    /// The word and the sentence for kubectl get: the first thing that somebody should look at.
    void explain() {
        const auto say = [&](std::string_view reason, std::string_view message) {
            out.reason = reason;
            out.message = model::cut(message);
        };
        const auto ready = find("Ready");
        const auto room = find("CapacitySufficient");
        const auto ghosts = find("GhostsRunning");
        const auto taint = find("Isolated");
        const auto layout = find(condition_type::layout_current);
        const bool refused = std::ranges::any_of(
            all.nodes, [](const auto& each) { return !each.second.obstacle.empty(); });
        if (ready.reason == "SpecInvalid" || ready.reason == "NoNodes") {
            say(ready.reason, ready.message);
        } else if (room.status == "False") {
            say(room.reason, room.message);
        } else if (!all.problems.empty()) {
            say("OrdersDisputed", all.problems.front());
        } else if (ghosts.reason != "NoneFails") {
            say(ghosts.reason, ghosts.message);
        } else if (taint.reason == "NotTainted" && refused) {
            say(taint.reason, taint.message);
        } else if (seen.testbed->metadata.deleting()) {
            say("WaitsForRelease", deletion_words(*seen.testbed));
        } else if (layout.status == "False") {
            say(layout.reason, layout.message);
        }
    }

    /// A ghost whose image is not there holds its room all the same, and slots work: told, no more.
    void judge_ghosts() {
        std::map<std::string_view, std::set<std::string_view>> nodes;
        int failing = 0;
        for (const auto& slot : all.slots) {
            if (slot.ghost_failure.empty()) continue;
            ++failing;
            nodes[slot.ghost_failure].insert(slot.in.place.node);
        }
        std::string told;
        if (failing > 0) {
            std::vector<std::string> causes;
            for (const auto& [why, where] : nodes) {
                const auto named = where | std::views::take(most_named);
                causes.push_back(fmt::format("{} ({}{})", why, fmt::join(named, ", "),
                                             where.size() > most_named ? ", ..." : ""));
                if (causes.size() == most_named) break;
            }
            told = fmt::format(
                "{} of {} {} a ghost that does not run: {}; the room is held all the same; set "
                "--ghost-image (ghost.image of the chart) to one that the nodes can have",
                failing, count_of(std::ssize(all.slots), "slot"), have(failing),
                fmt::join(causes, "; "));
        }
        if (!all.image_obstacle.empty()) {
            if (!told.empty()) told += "; ";
            told += "ghosts keep the image that they have, as the API server refuses the change: " +
                    all.image_obstacle;
        }
        if (failing > 0) {
            set("GhostsRunning", false, "GhostsFail", told);
        } else if (!told.empty()) {
            set("GhostsRunning", true, "ImageNotChanged", told);
        } else {
            set("GhostsRunning", true, "NoneFails", "no ghost fails to run");
        }
    }

    void judge_layout() {
        if (!wanted.spec_problems.empty()) {
            set(condition_type::layout_current, false, "SpecInvalid",
                spec_words(*seen.testbed, wanted.spec_problems));
        } else if (same_layout(all.layout, wanted.layout)) {
            set(condition_type::layout_current, true, "Current",
                fmt::format("layout {} is what nodes and spec say", all.layout.revision));
        } else {
            set(condition_type::layout_current, false, "WaitsForRelease",
                fmt::format(
                    "waits for the release{}{}: {}",
                    seen.testbed->holder().name.empty() ? "" : " by Scheduling ",
                    seen.testbed->holder().name.empty() ? "" : seen.testbed->holder().text(),
                    describe_difference(all.layout, wanted.layout)));
        }
    }

    /// Pods of others on the nodes: there before the taint (which evicts nobody), or tolerating it.
    std::string pods_beside() const {
        std::set<std::string_view> of_testbeds;
        for (const auto& slot : all.slots) {
            for (const auto& pod : slot.in.job_pods) of_testbeds.insert(pod->metadata.uid);
        }
        std::vector<std::string> names;
        std::size_t count = 0;
        std::size_t elsewhere = 0;
        for (const auto& [name, node] : all.nodes) {
            if (!node.seen) continue;
            for (const auto& pod : node.seen->pods) {
                if (!pod->live() || pod->is_ghost()) continue;
                if (of_testbeds.contains(pod->metadata.uid) || !testbed_key_of(*pod).empty()) {
                    continue;
                }
                ++count;
                if (pod->metadata.namespace_ != seen.testbed->metadata.namespace_) {
                    ++elsewhere;
                } else if (names.size() < 5) {
                    names.push_back(pod->metadata.key().text());
                }
            }
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
        if (seen.testbed->spec.isolation != "Taint") {
            std::set<std::string> schedulers;
            for (const auto& [name, node] : all.nodes) {
                if (!node.seen) continue;
                for (const auto& pod : node.seen->pods) {
                    if (pod->live() && !pod->scheduler_name.empty() &&
                        pod->scheduler_name != "default-scheduler") {
                        schedulers.insert(pod->scheduler_name);
                    }
                }
            }
            if (schedulers.empty()) {
                set("Isolated", false, "NoTaint",
                    "isolation is None: a job pod that ends without warning leaves its room to "
                    "whoever is pending");
            } else {
                set("Isolated", false, "OtherSchedulers",
                    fmt::format("isolation is None and other schedulers serve these nodes ({}): "
                                "nominations are not known to them; set isolation: Taint",
                                fmt::join(schedulers, ", ")));
            }
            return;
        }
        std::vector<std::string> open;
        std::string why;
        for (const auto& [name, node] : all.nodes) {
            if (node.shielded) continue;
            open.push_back(name);
            if (why.empty() && !node.obstacle.empty()) why = "; " + node.obstacle;
        }
        if (open.empty()) {
            set("Isolated", true, "Tainted", "every node carries the taint" + pods_beside());
        } else {
            if (open.size() > 8) open.resize(8);
            set("Isolated", false, "NotTainted",
                fmt::format("without the taint: {}{}", fmt::join(open, ", "), why));
        }
    }
};

}  // namespace

milliseconds report_pause(const model::testbed_status& next, bool acts) {
    if (acts) return acting_pause;
    const bool many = next.counts && next.counts->total > many_slots;
    return many ? many_slots_pause : milliseconds(0);
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
    for (const auto type : {std::string_view("Ready"), condition_type::layout_current}) {
        model::set_condition(out.conditions, type, "False", model::condition_reason::undecodable,
                             text, testbed.metadata.generation, wall);
    }
    model::set_condition(out.conditions, condition_type::stalled, "True",
                         model::condition_reason::undecodable, text, testbed.metadata.generation,
                         wall);
    drop(out.conditions, condition_type::reconciling);
    out.state = state::error;
    out.reason = model::condition_reason::undecodable;
    out.message = text;
    out.problems = {text};
    out.observed_generation = testbed.metadata.generation;
    return out;
}

model::testbed_status report(const view& seen, const wanted_layout& wanted, const assessment& all,
                             wall_time wall) {
    model::testbed_status out;
    // Conditions keep their transition times.
    out.conditions = seen.testbed->status.conditions;
    if (all.layout.revision > 0) out.layout = all.layout;
    out.observed_generation = seen.testbed->metadata.generation;
    if (const auto holder = seen.testbed->holder(); !holder.name.empty()) {
        const bool own = holder.namespace_ == seen.testbed->metadata.namespace_;
        out.held_by = model::holder_status{holder.namespace_, holder.name,
                                           own ? holder.name : holder.text()};
    }
    writer work{seen, wanted, all, wall, out};
    work.list_slots();
    work.collect_problems();
    work.judge_capacity();
    work.judge_whole();
    work.judge_layout();
    work.judge_ghosts();
    work.judge_isolation();
    work.explain();
    return out;
}

}  // namespace esi::testbed
