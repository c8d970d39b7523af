#include "testbed/slot_numbers.h"

#include <gtest/gtest.h>

namespace esi::testbed {
namespace {

TEST(slot_numbers, are_shown_by_testbed_and_state_until_the_testbed_is_gone) {
    controller::metrics numbers;
    slot_numbers shown(numbers, true);
    shown.show({"lab", "grid"}, {3, 6, 2, 1, 3, 0}, 1);
    shown.show({"lab", "grid"}, {3, 6, 2, 2, 1, 1}, 2);
    shown.show({"lab", "other"}, {1, 1, 1, 0, 0, 0}, 0);
    shown.forget({"lab", "other"});
    const auto text = numbers.text();
    for (const char* line : {"esi_slots{namespace=\"lab\",state=\"FREE\",testbed=\"grid\"} 2\n",
                             "esi_slots{namespace=\"lab\",state=\"RESERVED\",testbed=\"grid\"} 2\n",
                             "esi_slots{namespace=\"lab\",state=\"OCCUPIED\",testbed=\"grid\"} 1\n",
                             "esi_slots{namespace=\"lab\",state=\"ERROR\",testbed=\"grid\"} 1\n",
                             "esi_testbed_pods_waiting{namespace=\"lab\",testbed=\"grid\"} 2\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
    EXPECT_EQ(text.find("other"), std::string::npos) << text;
}

TEST(slot_numbers, name_nobody_unless_asked_to) {
    controller::metrics numbers;
    slot_numbers shown(numbers, false);
    shown.show({"lab", "grid"}, {3, 6, 2, 1, 3, 0}, 1);
    shown.show({"lab", "other"}, {1, 2, 1, 0, 0, 1}, 3);
    EXPECT_NE(numbers.text().find("esi_slots{state=\"FREE\"} 3\n"), std::string::npos);
    EXPECT_NE(numbers.text().find("esi_testbed_pods_waiting 4\n"), std::string::npos);
    shown.forget({"lab", "other"});
    const auto text = numbers.text();
    EXPECT_NE(text.find("esi_slots{state=\"FREE\"} 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("esi_slots{state=\"ERROR\"} 0\n"), std::string::npos) << text;
    for (const char* name : {"lab", "grid", "other"}) {
        EXPECT_EQ(text.find(name), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace esi::testbed
