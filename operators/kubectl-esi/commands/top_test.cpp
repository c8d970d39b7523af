#include "kubectl-esi/commands/top.h"

#include <gtest/gtest.h>

#include "model/names.h"

namespace esi::kubectl {
namespace {

std::shared_ptr<model::testbed> testbed_of_two_nodes() {
    auto out = std::make_shared<model::testbed>();
    out->metadata.namespace_ = "ns";
    out->metadata.name = "slots";
    out->metadata.labels[std::string(model::names::active_scheduling_name)] = "plan";
    out->metadata.labels[std::string(model::names::active_scheduling_namespace)] = "ns";
    out->status.state = "RUNNING";
    out->status.reason = "NodesOutOfUse";
    out->status.counts = model::slot_counts{2, 4, 1, 1, 1, 1};
    out->status.slots = {{0, "OCCUPIED", "node-a", 0, 0, "a-exec-1", "uid-1", {}},
                         {1, "RESERVED", "node-b", 1, 0, "", "", "b"},
                         {2, "FREE", "node-a", 0, 1, "slots-ghost-x", "uid-g", {}},
                         {3, "ERROR", "node-b", 1, 1, "", "", {}}};
    return out;
}

std::vector<std::shared_ptr<const model::batchjob>> job_with_a_pod() {
    auto job = std::make_shared<model::batchjob>();
    job->metadata.namespace_ = "ns";
    job->metadata.name = "a";
    job->status.placements = {{0, "uid-1", "a-exec-1"}};
    return {job};
}

std::vector<slot_map> maps() { return {map_of(testbed_of_two_nodes(), {}, job_with_a_pod())}; }

TEST(top, shows_nodes_as_rows_and_slots_as_cells) {
    EXPECT_EQ(map_text(maps(), {}),
              "TESTBED    STATE     HELD-BY   NODES   SLOTS   FREE   OCCUPIED   RESERVED   ERROR   "
              "REASON\n"
              "ns/slots   RUNNING   plan      2       4       1      1          1          1       "
              "NodesOutOfUse\n"
              "  NODE     ID   SLOT-0         SLOT-1\n"
              "  node-a   0    0 OCCUPIED a   2 FREE\n"
              "  node-b   1    1 RESERVED b   3 ERROR\n");
}

TEST(top, wide_has_a_line_for_each_slot) {
    EXPECT_EQ(
        slot_rows_text(maps(), {.headings = false}),
        "ns/slots   0   node-a   0   0   OCCUPIED   a        a-exec-1        <none>   plan\n"
        "ns/slots   1   node-b   1   0   RESERVED   b        <none>          b        plan\n"
        "ns/slots   2   node-a   0   1   FREE       <none>   slots-ghost-x   <none>   plan\n"
        "ns/slots   3   node-b   1   1   ERROR      <none>   <none>          <none>   plan\n");
}

TEST(top, an_order_names_the_job_of_a_slot_that_has_no_pod_yet) {
    auto job = std::make_shared<model::batchjob>();
    job->metadata.namespace_ = "team";
    job->metadata.name = "c";
    job->spec.creation_request.emplace();
    job->spec.creation_request->testbed_name = {"ns", "slots"};
    job->spec.creation_request->slot_ids = {1, 2};
    const std::vector<std::shared_ptr<const model::batchjob>> jobs{job};
    const auto map = map_of(testbed_of_two_nodes(), {}, jobs);
    EXPECT_EQ(map.slots.at(1).job, "team/c");
    EXPECT_EQ(map.slots.at(2).job, "") << "a free slot has no job";
    EXPECT_EQ(map.slots.at(0).job, "a-exec-1") << "the job of that pod cannot be seen";
}

TEST(top, a_large_testbed_has_its_rows_in_slices) {
    auto large = std::make_shared<model::testbed>();
    large->metadata.namespace_ = "ns";
    large->metadata.name = "large";
    large->metadata.uid = "uid-t";
    auto& layout = large->status.layout.emplace();
    layout.revision = 1;
    layout.slots_per_node = 2;
    layout.nodes = {{"n", "u", 7}};
    large->status.conditions = {{"SlotsListed", "False", {}, {}, "InSlices", ""}};
    auto slice = std::make_shared<model::slot_slice>();
    slice->metadata.namespace_ = "ns";
    slice->metadata.name = grid::slice_name(large->metadata, 0);
    slice->metadata.owner_references = {{"v", "Testbed", "large", "uid-t", true}};
    slice->spec.testbed = {"large", "uid-t"};
    slice->spec.layout_revision = 1;
    slice->spec.count = 2;
    slice->spec.rows = {"FREE large-ghost-1 u1 -", "OCCUPIED exec u2 -"};
    const std::vector<grid::slice_pointer> slices{slice};
    const auto map = map_of(large, slices, {});
    ASSERT_EQ(map.slots.size(), 2);
    EXPECT_EQ(map.slots[1].row.state, "OCCUPIED");
    EXPECT_EQ(map.slots[1].row.node_id, 7);
    EXPECT_EQ(map.slots[1].job, "exec");
}

}  // namespace
}  // namespace esi::kubectl
