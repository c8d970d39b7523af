#include "kubectl-esi/shown/table.h"

#include <gtest/gtest.h>

namespace esi::kubectl::shown {
namespace {

TEST(tables, have_three_blanks_between_columns_and_none_at_the_end) {
    table t({"NAME", "STATE", "REASON"});
    t.add({"a", "FREE", ""});
    t.add({"long-name", "ERROR", "NoNodes"});
    EXPECT_EQ(t.text({}),
              "NAME        STATE   REASON\n"
              "a           FREE\n"
              "long-name   ERROR   NoNodes\n");
}

TEST(tables, without_headings_the_columns_are_as_wide_as_their_cells) {
    table t({"NAME", "STATE"});
    t.add({"a", "FREE"});
    EXPECT_EQ(t.text({.headings = false}), "a   FREE\n");
    EXPECT_EQ(t.text({.headings = true, .colours = false, .indent = 2}),
              "  NAME   STATE\n  a      FREE\n");
}

TEST(tables, colours_do_not_change_the_columns) {
    table t({"A", "B"});
    t.add({{"x", tint::good}, "y"});
    EXPECT_EQ(t.text({.headings = false, .colours = true}), "\x1b[32mx\x1b[0m   y\n");
    EXPECT_EQ(t.text({.headings = false, .colours = false}), "x   y\n");
}

TEST(tables, letters_of_several_bytes_are_one_column_wide) {
    table t({"A", "B"});
    t.add({"\xc3\xbc", "1"});
    t.add({"ab", "2"});
    EXPECT_EQ(t.text({.headings = false}), "\xc3\xbc    1\nab   2\n");
}

TEST(tables, a_cell_cannot_end_its_line) {
    table t({"A"});
    t.add({"x\ny\x1b[2J"});
    EXPECT_EQ(t.text({.headings = false}), "x y [2J\n");
}

TEST(tables, facts_are_aligned) {
    facts of;
    of.add("Name", "queue");
    of.add("Waits since", "3m");
    EXPECT_EQ(of.text(), "Name:          queue\nWaits since:   3m\n");
}

}  // namespace
}  // namespace esi::kubectl::shown
