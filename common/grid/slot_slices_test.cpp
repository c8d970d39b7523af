#include "grid/slot_slices.h"

#include <gtest/gtest.h>

#include "model/conditions.h"
#include "model/json.h"

namespace esi::grid {
namespace {

namespace slot_state = model::slot_state;

const slot place{7, "node-b", 3, 1};

model::slot_status row(std::string_view state, std::string pod = {}, std::string uid = {},
                       std::optional<std::string> reserved_for = {}) {
    model::slot_status out;
    out.position = place.position;
    out.state = state;
    out.node_name = place.node;
    out.node_id = place.node_id;
    out.slot_position_on_node = place.index;
    out.pod_name = std::move(pod);
    out.pod_u_id = std::move(uid);
    out.reserved_for = std::move(reserved_for);
    return out;
}

TEST(slot_line, says_a_row_both_ways) {
    const std::pair<model::slot_status, std::string> pairs[] = {
        {row(slot_state::free, "tb-ghost-0123456789", "u1"), "FREE tb-ghost-0123456789 u1 -"},
        {row(slot_state::reserved, "", "", "pi"), "RESERVED - - pi"},
        {row(slot_state::reserved, "g", "u", std::string(foreign_pod)), "RESERVED g u *"},
        {row(slot_state::occupied, std::string(foreign_pod), "u2"), "OCCUPIED * u2 -"},
        {row(slot_state::error), "ERROR - - -"}};
    for (const auto& [one, text] : pairs) {
        EXPECT_EQ(slot_line_of(one), text);
        EXPECT_EQ(row_of_line(text, place), one) << text;
    }
}

TEST(slot_line, is_nothing_else) {
    for (const char* text :
         {"", " ", "FREE", "FREE - -", "FREE - - - -", "FREE  - -", "FREE - - ", " FREE - -",
          "free - - -", "GONE - - -", "- - - -", "FREE - - -\nx y z"}) {
        EXPECT_FALSE(read_slot_line(text)) << text;
        EXPECT_FALSE(row_of_line(text, place)) << text;
    }
}

TEST(slot_line, records_the_pod_of_no_free_slot) {
    EXPECT_EQ(read_slot_line("FREE g u -")->record(), "");
    EXPECT_EQ(read_slot_line("OCCUPIED p u -")->record(), "u");
    EXPECT_EQ(read_slot_line("ERROR p u -")->record(), "u");
    EXPECT_TRUE(read_slot_line("ERROR - - -")->in_error());
}

TEST(slice_name, fits_an_object_whatever_the_testbed_is_called) {
    model::object_meta of;
    of.name = "grid";
    of.uid = "uid-1";
    const auto name = slice_name(of, 500);
    EXPECT_TRUE(name.starts_with("grid-500-")) << name;
    EXPECT_EQ(name.size(), std::string("grid-500-0123456789").size());
    of.uid = "uid-2";
    EXPECT_NE(slice_name(of, 500), name);
    of.name = std::string(200 - 2, 'x') + "-." + std::string(53, 'y');
    EXPECT_LE(slice_name(of, 2'147'483'647).size(), 253u);
    EXPECT_EQ(slice_name(of, 0).substr(190, 11), "xxxxxxxx-0-");
}

class slices : public testing::Test {
protected:
    slices() {
        bed.metadata.namespace_ = "ns";
        bed.metadata.name = "tb";
        bed.metadata.uid = "bed-uid";
        auto& layout = bed.status.layout.emplace();
        layout.revision = 4;
        layout.slots_per_node = 2;
        layout.nodes = {{"a", "u", 0}, {"b", "u", 1}, {"c", "u", 2}};
        listed(model::condition_reason::in_slices);
    }
    void listed(std::string_view reason) {
        bed.status.conditions.clear();
        model::set_condition(bed.status.conditions, model::condition_type::slots_listed, "False",
                             reason, "", 1, {});
    }
    model::slot_slice slice(int first, std::vector<std::string> rows) const {
        model::slot_slice out;
        out.spec = {{"tb", "bed-uid"}, 4, first, static_cast<int>(rows.size()), std::move(rows)};
        out.metadata.namespace_ = "ns";
        out.metadata.name = slice_name(bed.metadata, first);
        out.metadata.owner_references = {{"v", "Testbed", "tb", "bed-uid", true}};
        return out;
    }

    model::testbed bed;
};

TEST_F(slices, are_believed_of_the_testbed_that_says_so) {
    const auto one = slice(2, {"FREE g u -", "ERROR - - -"});
    EXPECT_TRUE(is_believed(one, bed));
    listed(model::condition_reason::too_many_slots);
    EXPECT_FALSE(is_believed(one, bed)) << "its operator does not write slices";
    bed.status.conditions.clear();
    EXPECT_FALSE(is_believed(one, bed));
    listed(model::condition_reason::in_slices);
    bed.status.slots.emplace_back();
    EXPECT_FALSE(is_believed(one, bed)) << "its status has the rows";
}

TEST_F(slices, of_others_are_not_believed) {
    const std::vector<std::string> rows(2, "ERROR - - -");
    const auto good = slice(2, rows);
    ASSERT_TRUE(is_believed(good, bed));
    std::vector<model::slot_slice> bad(10, good);
    bad[0].metadata.owner_references.clear();
    bad[1].metadata.owner_references.front().controller = false;
    bad[2].metadata.owner_references.front().uid = "another";
    bad[3].metadata.namespace_ = "elsewhere";
    bad[4].metadata.name = "tb-2-0000000000";
    bad[5].spec.testbed.uid = "another";
    bad[6].spec.layout_revision = 3;
    bad[7].spec.first = 0;
    bad[8].spec.rows.resize(5, "FREE - - -");
    bad[9] = slice(-1, rows);
    for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_FALSE(is_believed(bad[i], bed)) << i;
}

TEST_F(slices, are_found_by_position) {
    std::vector<slice_pointer> all;
    for (auto& one : {slice(4, {"FREE e u4 -", "FREE f u5 -"}), slice(0, {"OCCUPIED a u0 -", "?"})})
        all.push_back(std::make_shared<const model::slot_slice>(one));
    all.push_back(nullptr);
    const slice_list list(bed, all);
    ASSERT_EQ(list.all().size(), 2u);
    EXPECT_EQ(list.at(0)->pod_uid, "u0");
    EXPECT_FALSE(list.at(1)) << "no line";
    EXPECT_EQ(list.text_at(1), "?");
    EXPECT_FALSE(list.at(2)) << "between two";
    EXPECT_EQ(list.at(5)->pod, "f");
    EXPECT_FALSE(list.at(6));
    EXPECT_FALSE(list.at(-1));
}

TEST_F(slices, are_read_as_they_are_written) {
    const auto one = slice(2, {"FREE g u -", "ERROR - - -"});
    const auto text =
        model::json{{"metadata", {{"name", "x"}, {"uid", "y"}}}, {"spec", model::encode(one.spec)}}
            .dump();
    const auto read = model::decode<model::slot_slice>(text, "TestbedSlotSlice");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->spec, one.spec);
}

}  // namespace
}  // namespace esi::grid
