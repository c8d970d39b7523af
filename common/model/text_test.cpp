#include "model/text.h"

#include <gtest/gtest.h>

namespace esi::model {
namespace {

TEST(text, is_cut_between_characters) {
    EXPECT_EQ(cut("gr\xc3\xbc\xc3\x9f", 5), "gr\xc3\xbc");
    EXPECT_EQ(cut("gr\xc3\xbc\xc3\x9f", 6), "gr\xc3\xbc\xc3\x9f");
}

TEST(text, of_a_status_keeps_its_lines_and_nothing_that_a_terminal_would_act_on) {
    EXPECT_EQ(cut("first\n\tsecond\r\x1b]0;owned\x07"
                  "\x7f\xc2\x9b"
                  "2J\xe2\x80\xae"
                  "gpj"),
              "first\n\tsecond  ]0;owned   2J gpj");
    EXPECT_EQ(printable("a\nb\tc"), "a b c");
}

}  // namespace
}  // namespace esi::model
