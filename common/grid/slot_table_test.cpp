#include "grid/slot_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "grid/places.h"
#include "grid/records.h"
#include "model/conditions.h"
#include "model/names.h"

namespace esi::grid {
namespace {

namespace names = model::names;

const model::object_key bed{"ns", "tb"};

/// The objects of one cluster, and a table that gets each change of them.
class cluster {
public:
    void put(model::testbed what) {
        testbed_ = std::make_shared<const model::testbed>(std::move(what));
        table.change_testbed(testbed_);
    }
    void remove_testbed() {
        testbed_ = nullptr;
        table.change_testbed(nullptr);
    }
    void put(model::pod what) {
        auto& known = pods_[what.metadata.key()];
        auto before = std::exchange(known, std::make_shared<const model::pod>(std::move(what)));
        table.change_pod(before, known);
    }
    void remove_pod(const model::object_key& key) {
        auto before = pods_.at(key);
        pods_.erase(key);
        departed_.erase(before->metadata.uid);
        table.change_pod(before, nullptr);
    }
    void put(model::batchjob what) {
        auto& known = jobs_[what.metadata.key()];
        auto before =
            std::exchange(known, std::make_shared<const model::batchjob>(std::move(what)));
        table.change_job(before.get(), known.get());
    }
    void remove_job(const model::object_key& key) {
        auto before = jobs_.at(key);
        jobs_.erase(key);
        for (const auto& entry : before->status.placements) {
            const bool is_here = placed_in(*before) == bed;
            for (const auto& [name, pod] : pods_) {
                if (is_here && pod->metadata.uid == entry.pod_uid && pod->live()) {
                    departed_[entry.pod_uid].insert(entry.slot);
                }
            }
        }
        table.change_job(before.get(), nullptr);
    }

    void put(model::slot_slice what) {
        auto& known = slices_[what.metadata.key()];
        auto before =
            std::exchange(known, std::make_shared<const model::slot_slice>(std::move(what)));
        table.change_slice(before, known);
    }
    void remove_slice(const model::object_key& key) {
        auto before = slices_.at(key);
        slices_.erase(key);
        table.change_slice(before, nullptr);
    }
    slice_list believed() const {
        std::vector<slice_pointer> all;
        for (const auto& [key, slice] : slices_) all.push_back(slice);
        return testbed_ ? slice_list(*testbed_, all) : slice_list();
    }

    /// Compares all answers of the table with those computed from all objects.
    void compare() const {
        std::vector<pod_pointer> pods;
        for (const auto& [key, pod] : pods_) pods.push_back(pod);
        records known(bed);
        for (const auto& [key, job] : jobs_) known.add(*job);
        const auto rows = believed();
        if (testbed_) known.add(*testbed_);
        known.add(rows);
        for (const auto& pod : pods) {
            const auto kept = departed_.find(pod->metadata.uid);
            const auto position = slot_of_pod(*pod);
            if (kept == departed_.end() || !position || !kept->second.contains(*position)) continue;
            if (pod->live() && let_in(*pod)) known.add(kept->first, *position);
        }
        std::vector<slot_view> slots;
        std::set<int> broken;
        if (testbed_) {
            broken = slots_in_error(*testbed_, rows);
            EXPECT_EQ(table.slices_of(*testbed_).all(), rows.all());
            if (testbed_->status.layout) {
                slots = look(*testbed_->status.layout, members_of(*testbed_, known, pods));
            }
        }
        ASSERT_EQ(table.size(), static_cast<int>(slots.size()));
        EXPECT_EQ(table.in_error(), broken);
        std::set<int> free;
        for (int i = 0; i < table.size(); ++i) {
            const auto& expected = slots[static_cast<std::size_t>(i)];
            const auto got = table.at(i);
            EXPECT_EQ(got.place.position, expected.place.position);
            EXPECT_EQ(got.place.node, expected.place.node);
            EXPECT_EQ(got.place.node_id, expected.place.node_id);
            EXPECT_EQ(got.place.index, expected.place.index);
            EXPECT_EQ(got.job_pods, expected.job_pods) << "slot " << i;
            if (expected.free() && !broken.contains(i)) free.insert(i);
        }
        EXPECT_EQ(table.free(), free);
        std::vector<pod_pointer> recorded;
        for (const auto& pod : pods) {
            if (!pod->is_ghost() && known.has(*pod)) recorded.push_back(pod);
        }
        EXPECT_EQ(table.recorded_pods(), recorded);
        for (const char* uid : {"s1", "s2", "s"}) {
            std::vector<pod_pointer> of_one;
            for (const auto& pod : recorded) {
                if (scheduling_uid_of_hold(hold_of_run(pod->run())) == uid) of_one.push_back(pod);
            }
            EXPECT_EQ(table.recorded_pods_of(uid), of_one) << uid;
        }
        for (const auto& pod : recorded) {
            const auto of_run = table.recorded_pods_of_run(pod->run());
            EXPECT_NE(std::ranges::find(of_run, pod), of_run.end());
        }
    }

    slot_table table{bed};
    std::map<model::object_key, pod_pointer> pods_;
    std::map<model::object_key, std::shared_ptr<const model::batchjob>> jobs_;
    std::map<model::object_key, slice_pointer> slices_;
    std::shared_ptr<const model::testbed> testbed_;
    /// Placements of deleted jobs whose pods lived, by uid.
    std::map<std::string, std::set<int>> departed_;
};

/// A slice as the testbed operator writes it.
model::slot_slice slice_of(const std::string& uid, int first, std::vector<std::string> rows) {
    model::slot_slice out;
    out.metadata.namespace_ = bed.namespace_;
    model::object_meta owner;
    owner.name = bed.name;
    owner.uid = uid;
    out.metadata.name = slice_name(owner, first);
    out.metadata.owner_references = {{"v", "Testbed", bed.name, uid, true}};
    out.spec = {{bed.name, uid}, 1, first, static_cast<int>(rows.size()), std::move(rows)};
    return out;
}

model::testbed testbed_of(int nodes, int per_node, const std::string& uid = "bed-uid") {
    model::testbed out;
    out.metadata.namespace_ = bed.namespace_;
    out.metadata.name = bed.name;
    out.metadata.uid = uid;
    auto& layout = out.status.layout.emplace();
    layout.revision = 1;
    layout.slots_per_node = per_node;
    for (int i = nodes; i-- > 0;) layout.nodes.push_back({fmt::format("n{}", i), "u", i});
    return out;
}

model::pod ghost(const std::string& name, int node, int index,
                 const std::string& owner = "bed-uid") {
    model::pod out;
    out.metadata.namespace_ = bed.namespace_;
    out.metadata.name = name;
    out.metadata.uid = name + "-uid";
    out.metadata.labels[std::string(names::ghost)] = "true";
    out.metadata.annotations = {{std::string(names::node), fmt::format("n{}", node)},
                                {std::string(names::index), std::to_string(index)}};
    out.metadata.owner_references = {{"v", "Testbed", bed.name, owner, true}};
    out.node_name = fmt::format("n{}", node);
    out.phase = "Running";
    return out;
}

model::pod executor(const std::string& name, int position, int node, const std::string& run) {
    model::pod out;
    out.metadata.namespace_ = bed.namespace_;
    out.metadata.name = name;
    out.metadata.uid = name + "-uid";
    out.metadata.annotations = {{std::string(names::run), run},
                                {std::string(names::slot), std::to_string(position)},
                                {std::string(names::slot_node), fmt::format("n{}", node)}};
    out.node_name = fmt::format("n{}", node);
    out.phase = "Running";
    return out;
}

model::batchjob placed(const std::string& name, std::vector<model::placement> where) {
    model::batchjob out;
    out.metadata.namespace_ = bed.namespace_;
    out.metadata.name = name;
    out.status.runs.emplace_back().testbed = bed;
    out.status.placements = std::move(where);
    return out;
}

TEST(slot_table, equals_the_whole_computation_after_each_of_many_changes) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::mt19937 chance(seed);
        const auto upto = [&](int n) {
            return static_cast<int>(chance() % static_cast<unsigned>(n));
        };
        const auto one_in = [&](int n) { return upto(n) == 0; };
        cluster all;
        for (int step = 0; step < 150; ++step) {
            SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
            switch (upto(14)) {
                case 0: {
                    auto what =
                        testbed_of(upto(4), 1 + upto(3), one_in(4) ? "other-uid" : "bed-uid");
                    if (one_in(6)) what.status.layout.reset();
                    if (one_in(6) && what.status.layout) what.status.layout->revision = 2;
                    if (one_in(2)) {
                        model::set_condition(what.status.conditions,
                                             model::condition_type::slots_listed, "False",
                                             model::condition_reason::in_slices, "", 1, {});
                    }
                    if (one_in(6) && what.status.layout)
                        what.status.layout->nodes.push_back({"n0", "u", 9});
                    all.put(std::move(what));
                    break;
                }
                case 1:
                case 2:
                    if (all.testbed_) {
                        auto what = *all.testbed_;
                        what.status.slots.clear();
                        what.status.nodes_out_of_use.reset();
                        what.status.node_problems.clear();
                        if (one_in(3)) what.status.nodes_out_of_use.emplace().names = {"n1", "n7"};
                        if (one_in(3)) what.status.node_problems["n0"] = {"cordoned"};
                        for (int i = one_in(2) ? upto(8) : 0; i > 0; --i) {
                            auto& row = what.status.slots.emplace_back();
                            row.position = upto(9);
                            row.state = one_in(3) ? "ERROR" : "FREE";
                            if (one_in(2)) row.pod_u_id = fmt::format("p{}-uid", upto(5));
                        }
                        all.put(std::move(what));
                    }
                    break;
                case 3:
                    if (one_in(5)) all.remove_testbed();
                    break;
                case 4:
                case 5:
                case 6: {
                    auto what = ghost(fmt::format("g{}", upto(10)), upto(4), upto(4),
                                      one_in(6) ? "other-uid" : "bed-uid");
                    if (one_in(4)) what.node_name.clear();
                    if (one_in(5)) what.phase = "Failed";
                    if (one_in(5)) what.metadata.deletion_timestamp = model::timestamp{};
                    all.put(std::move(what));
                    break;
                }
                case 7:
                case 8: {
                    const char* runs[] = {"s1.7.1", "s1.7.2", "s2.9.1", "s1.x", ""};
                    auto what =
                        executor(fmt::format("p{}", upto(5)), upto(9), upto(3), runs[upto(5)]);
                    if (one_in(4)) what.node_name.clear();
                    if (one_in(4)) what.scheduling_gates = {std::string(names::gate)};
                    if (one_in(4)) what.phase = "Succeeded";
                    all.put(std::move(what));
                    break;
                }
                case 9:
                    if (!all.pods_.empty()) {
                        auto at = all.pods_.begin();
                        std::advance(at, upto(static_cast<int>(all.pods_.size())));
                        all.remove_pod(model::object_key(at->first));
                    }
                    break;
                case 10: {
                    auto what = placed(fmt::format("j{}", upto(3)), {});
                    for (int i = upto(4); i > 0; --i) {
                        what.status.placements.push_back(
                            {upto(9), fmt::format("p{}-uid", upto(5)), "p"});
                    }
                    if (one_in(5)) what.status.runs.back().testbed = {"ns", "elsewhere"};
                    all.put(std::move(what));
                    break;
                }
                case 11: {
                    std::vector<std::string> rows;
                    for (int i = upto(4); i > 0; --i) {
                        const char* states[] = {"FREE", "OCCUPIED", "ERROR", "GONE"};
                        rows.push_back(fmt::format("{} p p{}-uid -", states[upto(4)], upto(5)));
                    }
                    auto what = slice_of(one_in(4) ? "other-uid" : "bed-uid", 3 * upto(3), rows);
                    if (one_in(6)) what.spec.layout_revision = 2;
                    if (one_in(6)) what.metadata.owner_references.clear();
                    all.put(std::move(what));
                    break;
                }
                case 12:
                    if (!all.slices_.empty() && one_in(2)) {
                        all.remove_slice(model::object_key(all.slices_.begin()->first));
                    }
                    break;
                default:
                    if (!all.jobs_.empty() && one_in(2)) {
                        all.remove_job(model::object_key(all.jobs_.begin()->first));
                    }
            }
            all.compare();
            if (::testing::Test::HasFailure()) return;
        }
    }
}

TEST(slot_table, one_pods_change_touches_as_many_slots_at_6_as_at_50000) {
    std::vector<std::uint64_t> touched;
    for (const auto& [nodes, per_node] : {std::pair(3, 2), std::pair(5000, 10)}) {
        cluster all;
        all.put(testbed_of(nodes, per_node));
        for (int node = 0; node < nodes; ++node) {
            for (int index = 0; index < per_node; ++index) {
                all.put(ghost(fmt::format("g-{}-{}", node, index), node, index));
            }
        }
        ASSERT_EQ(all.table.free().size(), static_cast<std::size_t>(nodes * per_node));
        const auto before = all.table.slots_read();
        all.put(placed("j", {{1, "p-uid", "p"}}));
        all.remove_pod({bed.namespace_, "g-1-0"});
        all.put(executor("p", 1, 1, "s1.7.1"));
        EXPECT_FALSE(all.table.free().contains(1));
        EXPECT_EQ(all.table.at(1).job_pods.size(), 1U);
        touched.push_back(all.table.slots_read() - before);
    }
    EXPECT_EQ(touched[0], touched[1]);
    EXPECT_LE(touched[0], 4U);
}

TEST(slot_table, a_copy_goes_its_own_way) {
    cluster all;
    all.put(testbed_of(3, 1));
    auto copy = all.table;
    copy.change_testbed(std::make_shared<const model::testbed>(testbed_of(2, 2)));
    EXPECT_EQ(copy.size(), 4);
    EXPECT_EQ(copy.at(3).place.index, 1);
    EXPECT_EQ(all.table.size(), 3);
    EXPECT_EQ(all.table.at(2).place.index, 0);
}

TEST(slot_table, tells_whether_a_slice_changes_an_answer) {
    cluster all;
    auto testbed = testbed_of(3, 1);
    model::set_condition(testbed.status.conditions, model::condition_type::slots_listed, "False",
                         model::condition_reason::in_slices, "", 1, {});
    all.put(std::move(testbed));
    const auto pointer = [](model::slot_slice of) {
        return std::make_shared<const model::slot_slice>(std::move(of));
    };
    const auto free = pointer(slice_of("bed-uid", 0, {"FREE g1 u1 -", "FREE g2 u2 -"}));
    const auto other_ghost = pointer(slice_of("bed-uid", 0, {"FREE g1 u9 -", "FREE g2 u2 -"}));
    const auto taken = pointer(slice_of("bed-uid", 0, {"OCCUPIED p up -", "FREE g2 u2 -"}));
    const auto broken = pointer(slice_of("bed-uid", 0, {"OCCUPIED p up -", "ERROR - - -"}));
    EXPECT_FALSE(all.table.change_slice(nullptr, free));
    EXPECT_FALSE(all.table.change_slice(free, other_ghost));
    EXPECT_TRUE(all.table.change_slice(other_ghost, taken));
    EXPECT_TRUE(all.table.change_slice(taken, broken));
    EXPECT_EQ(all.table.in_error(), std::set<int>{1});
    EXPECT_TRUE(all.table.change_slice(broken, nullptr));
    EXPECT_EQ(all.table.in_error(), std::set<int>());
}

TEST(slot_table, a_pod_of_a_deleted_job_stays_on_record_before_a_row_names_it) {
    cluster all;
    all.put(testbed_of(2, 1));
    auto gated = executor("p", 1, 1, "s1.7.1");
    gated.scheduling_gates = {std::string(names::gate)};
    auto ended = executor("q", 0, 0, "s1.7.1");
    all.put(gated);
    all.put(ended);
    all.put(placed("j", {{0, "q-uid", "q"}, {1, "p-uid", "p"}}));
    all.remove_job({bed.namespace_, "j"});
    const auto on_record = [&] {
        std::vector<std::string> out;
        for (const auto& pod : all.table.recorded_pods_of_run("s1.7.1")) {
            out.push_back(pod->metadata.name);
        }
        return out;
    };
    EXPECT_EQ(on_record(), std::vector<std::string>{"q"}) << "p was not let in";
    all.put(executor("p", 1, 1, "s1.7.1"));
    EXPECT_EQ(on_record(), (std::vector<std::string>{"p", "q"}))
        << "this watch shows that it was let in later than the other one the end of the job";
    EXPECT_EQ(all.table.at(1).job_pods.size(), 1U);
    ended.phase = "Failed";
    all.put(ended);
    EXPECT_EQ(on_record(), std::vector<std::string>{"p"});
    all.put(executor("p", 0, 0, "s1.7.1"));
    EXPECT_EQ(on_record(), std::vector<std::string>()) << "a slot that no job gave it";
    all.put(executor("p", 1, 1, "s1.7.1"));
    all.remove_pod({bed.namespace_, "p"});
    EXPECT_EQ(on_record(), std::vector<std::string>());
    all.remove_pod({bed.namespace_, "q"});
    all.remove_testbed();
    EXPECT_TRUE(all.table.empty());
}

TEST(slot_table, is_empty_once_everything_has_gone) {
    cluster all;
    EXPECT_TRUE(all.table.empty());
    all.put(testbed_of(1, 1));
    all.put(ghost("g", 0, 0));
    all.put(placed("j", {{0, "p-uid", "p"}}));
    all.remove_testbed();
    EXPECT_FALSE(all.table.empty());
    all.remove_pod({bed.namespace_, "g"});
    EXPECT_FALSE(all.table.empty()) << "a job is placed there";
    all.remove_job({bed.namespace_, "j"});
    EXPECT_TRUE(all.table.empty());
}

}  // namespace
}  // namespace esi::grid
