#include "testbed/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "model/conditions.h"
#include "testbed/ghosts.h"

namespace esi::testbed {

namespace condition_type = model::condition_type;
namespace slot_state = model::slot_state;
namespace state = model::testbed_state;

namespace {

/// Bounds of the CRD.
constexpr std::size_t most_problems = 64;

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
            out.problems.push_back(fmt::format("deletion waits for the release by Scheduling {}",
                                               seen.testbed->holder().text()));
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
        if (!wanted.spec_problems.empty()) {
            set("Ready", false, "SpecInvalid",
                fmt::format("{}", fmt::join(wanted.spec_problems, "; ")));
        } else if (counts.total == 0 && wanted.labelled == 0) {
            set("Ready", false, "NoNodes",
                fmt::format("no node carries the label {}", seen.testbed->spec.node_label));
        } else if (usable == 0) {
            set("Ready", false, "NoUsableSlot", "no slot can be used, see nodeProblems");
        } else if (under_way > 0) {
            set("Ready", false, "GhostsUnderWay",
                fmt::format("ghosts are under way in {} of {} slots", under_way, counts.total));
        } else if (counts.error > 0) {
            set("Ready", true, "SomeSlotsUsable",
                fmt::format("{} of {} slots can be used", usable, counts.total));
        } else {
            set("Ready", true, "AllSlotsUsable", fmt::format("{} slots can be used", usable));
        }
    }

    void judge_capacity() {
        const int without = count([](const slot_assessment& slot) { return !slot.has_room; });
        if (without > 0) {
            set("CapacitySufficient", false, "NotEnoughRoom",
                fmt::format("{} of {} slots have no room on their node, see nodeProblems", without,
                            all.slots.size()));
        } else if (!out.node_problems.empty()) {
            set("CapacitySufficient", false, "NodeProblems",
                fmt::format("{} nodes have problems, see nodeProblems", out.node_problems.size()));
        } else {
            set("CapacitySufficient", true, "RoomForAll", "every slot has its room");
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
            constexpr std::size_t most_named = 5;
            std::vector<std::string> causes;
            for (const auto& [why, where] : nodes) {
                const auto named = where | std::views::take(most_named);
                causes.push_back(fmt::format("{} ({}{})", why, fmt::join(named, ", "),
                                             where.size() > most_named ? ", ..." : ""));
                if (causes.size() == most_named) break;
            }
            told = fmt::format(
                "{} of {} slots have a ghost that does not run: {}; their room is held all the "
                "same; set --ghost-image (ghost.image of the chart) to one that the nodes can have",
                failing, all.slots.size(), fmt::join(causes, "; "));
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
            set(condition_type::layout_current, false, "SpecInvalid", "the spec cannot be used");
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

model::testbed_status report_undecodable(const model::testbed& testbed, wall_time wall) {
    auto out = testbed.status;
    const auto text =
        "ESI cannot read the object, and leaves it as it is: " + testbed.metadata.undecodable;
    for (const auto type : {std::string_view("Ready"), condition_type::layout_current}) {
        model::set_condition(out.conditions, type, "False", model::condition_reason::undecodable,
                             text, testbed.metadata.generation, wall);
    }
    out.state = state::error;
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
    work.judge_whole();
    work.judge_capacity();
    work.judge_layout();
    work.judge_ghosts();
    work.judge_isolation();
    return out;
}

}  // namespace esi::testbed
