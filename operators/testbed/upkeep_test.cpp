#include "testbed/upkeep.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <utility>

#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "model/conditions.h"
#include "model/names.h"
#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

/// One Testbed, the caches that show a world, and its ledger, updated by the changes that the
/// caches report.
class kept : public testing::Test, private change_listener {
protected:
    explicit kept() { shown_.on_change(*this); }

    /// Puts all of the world into the caches, and updates the ledger.
    void begin(world& at) {
        show(at);
        look(at);
    }
    void show(const world& at) {
        auto into = shown_.fill();
        into.testbeds.apply(at.testbed);
        for (const auto& other : at.others) into.testbeds.apply(other);
        for (const auto& [name, node] : at.nodes) into.nodes.apply(node);
        for (const auto& job : at.jobs) into.jobs.apply(job);
        const auto seen = at.see();
        if (seen.holder) {
            auto holder = *seen.holder;
            const auto key = at.testbed.holder();
            holder.metadata.namespace_ = key.namespace_;
            holder.metadata.name = key.name;
            into.schedulings.apply(holder);
        }
        for (const auto& pod : at.pods) into.pods.apply(pod);
    }
    /// The slots that had to be worked out again.
    std::uint64_t take(const world& at) {
        const auto before = states_.slots_assessed();
        (void)states_.bring_up(shown_, shown_.find_testbed(at.testbed.metadata.key()), at.known,
                               at.ghost_image, at.now, at.wall);
        return states_.slots_assessed() - before;
    }
    /// Does the same, and compares with a rebuilt ledger.
    std::uint64_t look(const world& at) {
        const auto before = states_.slots_assessed();
        (void)take(at);
        EXPECT_EQ(states_.differences(shown_, at.known, at.now, at.wall), "");
        return states_.slots_assessed() - before;
    }
    caches::filled fill() { return shown_.fill(); }
    /// Numbers of slices that are due, of those that exist; from then on no slice is due.
    std::set<int> due() {
        auto out = std::exchange(states_.unwritten(), {});
        std::erase_if(out, [&](int number) { return number >= states_.count_of_slices(); });
        return out;
    }
    upkeep& states() { return states_; }
    const ledger& all() const { return states_.all(); }

private:
    bool mine(const model::object_key& testbed) const {
        return testbed == model::object_key{"default", "tb"};
    }
    void report_changed(const model::object_key& of) override {
        if (mine(of)) states_.report_changed();
    }
    void node_changed(const model::object_key& of, std::string_view node) override {
        if (mine(of)) states_.node_changed(node);
    }
    void pod_changed(const model::object_key& of, const model::object_key& pod) override {
        if (mine(of)) states_.pod_changed(pod);
    }
    void job_changed(const model::object_key& of, const model::object_key& job) override {
        if (mine(of)) states_.job_changed(job);
    }
    void hold_changed(const model::object_key& of) override {
        if (mine(of)) states_.hold_changed();
    }
    void labels_changed(const model::object_key& of) override {
        if (mine(of)) states_.labels_changed();
    }
    void all_changed(const model::object_key& of) override {
        if (mine(of)) states_.all_changed();
    }
    void node_seen(const kube::change<model::node>&) override {}
    void pod_seen(const kube::change<model::pod>&) override {}
    void slice_changed(const model::object_key& of, int first) override {
        if (mine(of)) states_.slice_changed(first);
    }

    asio::io_context loop_;
    virtual_clock time_;
    kube::no_server server_;
    kube::client api_{server_, time_};
    caches shown_{api_, time_, {}};
    upkeep states_;
};

TEST_F(kept, a_pods_change_costs_the_slots_of_its_node) {
    world at;
    at.all_ghosts();
    begin(at);
    at.pods[0].reason = "CrashLoopBackOff";
    fill().pods.apply(at.pods[0]);
    EXPECT_EQ(look(at), 2u);
    EXPECT_EQ(all().sums().failing.size(), 1u);
    EXPECT_EQ(look(at), 0u) << "nothing has changed";
}

TEST_F(kept, a_hold_costs_nothing_where_nothing_depends_on_it) {
    world at;
    at.all_ghosts();
    begin(at);
    at.hold();
    fill().testbeds.apply(at.testbed);
    EXPECT_EQ(look(at), 0u);
}

TEST_F(kept, a_hold_costs_the_nodes_where_jobs_are) {
    world at;
    at.all_ghosts();
    at.hold();
    auto& job = at.job("j", {0});
    at.placed(job, "exec-1", 0);
    begin(at);
    EXPECT_EQ(all().sums().acting.size(), 1u);
    at.hold("other.101");
    fill().testbeds.apply(at.testbed);
    EXPECT_EQ(look(at), 2u);
    EXPECT_EQ(all().sums().acting.size(), 0u) << "its run is of another hold";
}

TEST_F(kept, a_placement_costs_the_nodes_that_it_leaves_and_comes_to) {
    world at;
    at.all_ghosts();
    at.hold();
    at.job("j", {0, 1});
    begin(at);
    auto& job = at.jobs.front();
    at.placed(job, "exec-1", 0);
    fill().pods.apply(at.pods.back());
    fill().jobs.apply(job);
    EXPECT_EQ(look(at), 4u) << "both nodes of the order";
    job.status.placements.front().slot = 1;
    fill().jobs.apply(job);
    EXPECT_EQ(look(at), 4u);
    EXPECT_EQ(all().sums().acting, totals::names{"node-b"});
}

TEST_F(kept, an_elders_layout_costs_the_nodes_that_both_have) {
    world at;
    at.all_ghosts();
    at.others.push_back(world::make_testbed("elder", "elder-uid", 1));
    auto& elder = at.others.front();
    elder.spec.node_label = "other";
    begin(at);
    elder.status.layout =
        model::testbed_layout{1, {{"node-b", "uid-node-b", 0}}, 1, resources("1", "1Gi"), {}, {}};
    fill().testbeds.apply(elder);
    EXPECT_EQ(look(at), 2u);
    ASSERT_EQ(all().sums().shared.size(), 1u);
    EXPECT_EQ(all().sums().shared.begin()->second, totals::names{"node-b"});
    elder.status.layout->nodes = {{"node-c", "uid-node-c", 0}};
    fill().testbeds.apply(elder);
    EXPECT_EQ(look(at), 4u) << "the one that it leaves, and the one that it comes to";
    ASSERT_EQ(all().sums().shared.size(), 1u);
    EXPECT_EQ(all().sums().shared.begin()->second, totals::names{"node-c"});
}

TEST_F(kept, a_number_that_is_there_twice_changes_what_an_elder_needs_on_another_node) {
    world at{{"node-a", "node-b"}};
    at.all_ghosts();
    // A bound ghost keeps its room; a missing ghost comes back where room is left.
    std::erase_if(at.pods, [](const auto& pod) { return pod.metadata.uid == "ghost-node-a-1"; });
    at.others.push_back(world::make_testbed("elder", "elder-uid", 1));
    auto& elder = at.others.front();
    elder.spec.node_label = "other";
    at.nodes["node-a"].metadata.labels["other"] = "5";
    begin(at);
    EXPECT_EQ(all().sums().short_of_room, totals::names{"node-a"});
    auto& node = at.nodes["node-b"];
    node.metadata.labels["other"] = "5";
    fill().nodes.apply(node);
    EXPECT_EQ(look(at), 4u);
    EXPECT_TRUE(all().sums().short_of_room.empty()) << "none of them gives the elder slots";
}

TEST_F(kept, time_alone_costs_the_node_that_waits_for_it) {
    world at;
    at.all_ghosts();
    at.pods[0].node_name.clear();
    at.pods[0].phase = "Pending";
    at.pods[0].nominated_node_name = "node-a";
    at.wall = at_second(52);
    begin(at);
    EXPECT_EQ(all().sums().counts.reserved, 1);
    at.wall = at_second(57);
    EXPECT_EQ(look(at), 2u);
    EXPECT_EQ(all().sums().counts.error, 1);
    at.wall = at_second(52);
    EXPECT_EQ(look(at), 2u) << "the clock was corrected";
    EXPECT_EQ(all().sums().counts.reserved, 1);
}

TEST_F(kept, a_pod_without_a_node_is_known_by_its_name) {
    world at;
    at.all_ghosts();
    at.hold();
    auto& job = at.job("j", {0});
    auto& pod = at.placed(job, "exec-1", 0);
    pod.nominated_node_name = "node-a";
    begin(at);
    EXPECT_TRUE(all().pods().empty());
    job.status.placements.clear();
    fill().jobs.apply(job);
    (void)look(at);
    ASSERT_EQ(all().pods().size(), 1u);
    EXPECT_TRUE(all().pods().begin()->second.withdrawn);
    fill().pods.erase(pod.metadata.key());
    (void)look(at);
    EXPECT_TRUE(all().pods().empty());
}

/// A Testbed with this many nodes of six slots, all of them free.
class free_nodes : public kept {
public:
    void TestBody() override {}
    /// The cost of the change of one pod, and of a hold.
    std::pair<std::uint64_t, std::uint64_t> costs(int count) {
        world at{{}};
        at.testbed.spec.slots_per_node = 6;
        at.testbed.spec.resources_per_slot = resources("100m", "100Mi");
        for (int i = 0; i < count; ++i) {
            const auto name = fmt::format("node-{:05}", i);
            at.add_node(name, std::to_string(i));
            for (int index = 0; index < 6; ++index) {
                at.ghost(name, index).requests = model::to_amounts(resources("100m", "100Mi"));
            }
        }
        at.testbed.status.layout = want_layout(at.see()).layout;
        at.testbed.status.layout->revision = 1;
        show(at);
        EXPECT_EQ(take(at), static_cast<std::uint64_t>(6 * count)) << "everything, once";
        EXPECT_EQ(all().sums().counts.free, 6 * count);
        auto pod = at.pods.front();
        pod.reason = "CrashLoopBackOff";
        fill().pods.apply(pod);
        const auto of_pod = take(at);
        at.hold();
        fill().testbeds.apply(at.testbed);
        return {of_pod, take(at)};
    }
};

TEST(upkeep, a_change_costs_the_same_at_6_and_at_50000_slots) {
    const std::pair<std::uint64_t, std::uint64_t> one_node_and_none(6, 0);
    EXPECT_EQ(free_nodes().costs(1), one_node_and_none);
    EXPECT_EQ(free_nodes().costs(8'334), one_node_and_none);
}

TEST_F(kept, a_pods_change_makes_the_slices_due_that_its_node_has_rows_in) {
    world at;
    at.all_ghosts();
    states().divide_rows(0, 1);
    begin(at);
    ASSERT_EQ(states().count_of_slices(), 6) << "three nodes of two slots";
    EXPECT_EQ(due(), (std::set<int>{0, 1, 2, 3, 4, 5})) << "all, as none is known to be written";
    EXPECT_EQ(states().rows_of_slice(0),
              std::vector<std::string>{
                  fmt::format("FREE {} {} -", at.pods[0].metadata.name, at.pods[0].metadata.uid)});
    at.pods[0].phase = "Failed";
    fill().pods.apply(at.pods[0]);
    EXPECT_EQ(look(at), 2u);
    const int changed = *grid::slot_index_of_ghost(at.pods[0]) == 0 ? 0 : 3;
    EXPECT_EQ(due(), std::set<int>{changed}) << "position = index * nodes + column";
    EXPECT_TRUE(states().rows_of_slice(changed).front().starts_with("ERROR "));
    states().slice_changed(3);
    EXPECT_EQ(due(), std::set<int>{3}) << "somebody has changed it";
    EXPECT_EQ(look(at), 2u) << "the ghost is still to be removed";
    EXPECT_EQ(due(), std::set<int>()) << "its row is the same";
}

TEST_F(kept, a_slice_that_begins_between_two_others_is_none_of_them) {
    world at;
    at.all_ghosts();
    states().divide_rows(0, 2);
    begin(at);
    ASSERT_EQ(states().count_of_slices(), 3);
    EXPECT_EQ(states().number_of_slice(4), 2);
    (void)due();
    for (const int first : {3, -1, -2}) {
        EXPECT_GE(states().number_of_slice(first), states().count_of_slices()) << first;
        states().slice_changed(first);
        EXPECT_FALSE(states().unwritten().empty()) << "it is to go";
        EXPECT_EQ(due(), std::set<int>()) << "its neighbour is as it was";
    }
}

TEST_F(kept, rows_that_are_listed_are_in_no_slice) {
    world at;
    at.all_ghosts();
    states().divide_rows(6, 1);
    begin(at);
    EXPECT_EQ(states().count_of_slices(), 0);
    EXPECT_EQ(due(), std::set<int>());
}

TEST_F(kept, a_row_in_a_slice_keeps_the_pod_of_a_deleted_job) {
    world at;
    at.all_ghosts();
    at.hold();
    at.job("j", {0});
    at.placed(at.jobs.front(), "exec-1", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    std::erase_if(at.pods, [](const auto& each) {
        return each.is_ghost() && each.node_name == "node-a" &&
               grid::slot_index_of_ghost(each) == 0;
    });
    states().divide_rows(0, 2);
    model::set_condition(at.testbed.status.conditions, model::condition_type::slots_listed, "False",
                         model::condition_reason::in_slices, "", 1, {});
    begin(at);
    const auto rows = states().rows_of_slice(0);
    EXPECT_EQ(rows.front(), "OCCUPIED exec-1 " + at.pods.back().metadata.uid + " -");

    const auto& meta = at.testbed.metadata;
    model::slot_slice slice;
    slice.metadata.namespace_ = meta.namespace_;
    slice.metadata.name = grid::slice_name(meta, 0);
    slice.metadata.owner_references = {{"v", "Testbed", meta.name, meta.uid, true}};
    slice.spec = {{meta.name, meta.uid}, at.testbed.status.layout->revision, 0, 2, rows};
    fill().slices.apply(slice);
    look(at);
    fill().jobs.erase(at.jobs.front().metadata.key());
    EXPECT_EQ(look(at), 2u);
    EXPECT_EQ(states().rows_of_slice(0), rows) << "its row is a record";

    auto older = slice;
    older.spec.layout_revision -= 1;
    fill().slices.apply(older);
    look(at);
    EXPECT_EQ(all().sums().counts.occupied, 0) << "positions of another layout";
    fill().slices.apply(slice);
    look(at);
    EXPECT_EQ(all().sums().counts.occupied, 1);
    fill().slices.erase(slice.metadata.key());
    look(at);
    EXPECT_EQ(all().sums().counts.occupied, 0) << "nothing is on record";
}

}  // namespace
}  // namespace esi::testbed::tests
