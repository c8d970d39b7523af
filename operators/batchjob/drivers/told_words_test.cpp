#include "batchjob/drivers/told_words.h"

#include <gtest/gtest.h>

namespace esi::batchjob::drivers {
namespace {

const model::object_key pi{"jobs", "pi"};
const steady_time start{seconds(1000)};

TEST(told_words, the_same_is_told_once) {
    told_words told;
    EXPECT_TRUE(told.ask(pi, "u", "NoRoom", "3 of 5 places fit", start).now);
    const auto again = told.ask(pi, "u", "NoRoom", "3 of 5 places fit", start + seconds(1000));
    EXPECT_FALSE(again.now);
    EXPECT_FALSE(again.later);
}

TEST(told_words, another_count_waits_for_minutes_and_another_reason_for_seconds) {
    told_words told;
    told.ask(pi, "u", "NoRoom", "3 of 5 places fit", start);
    const auto count = told.ask(pi, "u", "NoRoom", "4 of 5 places fit", start + seconds(60));
    EXPECT_FALSE(count.now);
    EXPECT_EQ(count.later, seconds(240));
    const auto soon = told.ask(pi, "u", "InQueue", "2nd in the queue", start + seconds(4));
    EXPECT_FALSE(soon.now);
    EXPECT_EQ(soon.later, seconds(6));
    EXPECT_TRUE(told.ask(pi, "u", "InQueue", "2nd in the queue", start + seconds(10)).now);
    EXPECT_TRUE(told.ask(pi, "u", "InQueue", "1st in the queue", start + seconds(310)).now);
}

TEST(told_words, another_driver_of_that_name_and_one_that_was_forgotten_are_told_anew) {
    told_words told;
    told.ask(pi, "u", "NoRoom", "none", start);
    EXPECT_TRUE(told.ask(pi, "later", "NoRoom", "none", start + seconds(10)).now);
    told.forget(pi);
    EXPECT_TRUE(told.ask(pi, "later", "NoRoom", "none", start + seconds(11)).now);
}

}  // namespace
}  // namespace esi::batchjob::drivers
