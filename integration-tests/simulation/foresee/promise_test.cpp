#include "foresee/promise.h"

#include <gtest/gtest.h>

namespace esi::simulation::foresee {
namespace {

using starts = std::map<model::object_key, std::vector<int>>;
const model::object_key a{"ns", "a"};
const model::object_key b{"ns", "b"};

foreseen waits(bool plan_blocked = false) { return {"Waits", {}, plan_blocked}; }
foreseen start(starts which) { return {"Starts", std::move(which), false}; }
steady_time at(int time) { return steady_time(seconds(1000 + time)); }

TEST(promise, the_start_that_was_foreseen_keeps_it) {
    promise one("s", start({{a, {0, 2}}}), at(0));
    EXPECT_TRUE(one.due());
    one.is(start({{a, {0, 2}}}), at(1), true);
    one.acquired(at(1));
    one.assigned({{a, {0, 2}}}, at(2));
    EXPECT_EQ(one.is_now(), promise::state::as_foreseen);
    one.assigned({{b, {1}}}, at(3));
    EXPECT_EQ(one.is_now(), promise::state::as_foreseen) << "the first start alone is judged";
}

TEST(promise, another_slot_another_job_or_one_job_less_breaks_it) {
    for (const auto& done :
         {starts{{a, {0, 1}}}, starts{{b, {0, 2}}}, starts{}, starts{{a, {0, 2}}, {b, {1}}}}) {
        promise one("s", start({{a, {0, 2}}}), at(0));
        one.assigned(done, at(2));
        EXPECT_EQ(one.rule(), "start-not-foreseen");
    }
}

TEST(promise, a_start_where_none_was_foreseen_breaks_it) {
    promise one("s", waits(), at(0));
    one.look(at(10'000));
    EXPECT_TRUE(one.open()) << "it may wait for ever";
    one.assigned({{a, {0}}}, at(10'000));
    EXPECT_EQ(one.rule(), "start-not-foreseen");
}

TEST(promise, a_start_that_does_not_come_breaks_it) {
    promise one("s", start({{a, {0}}}), at(0));
    one.look(at(359));
    EXPECT_TRUE(one.open());
    one.look(at(360));
    EXPECT_EQ(one.rule(), "foreseen-does-not-come");
}

TEST(promise, a_step_of_its_own_changes_nothing_that_is_foreseen) {
    promise one("s", start({{a, {0}}}), at(0));
    one.is(start({{a, {1}}}), at(1), true);
    EXPECT_EQ(one.rule(), "foresight-unstable");
}

TEST(promise, what_others_change_is_told_apart) {
    promise waited("s", waits(), at(0));
    waited.is(start({{a, {1}}}), at(5), false);
    waited.assigned({{a, {1}}}, at(6));
    EXPECT_EQ(waited.is_now(), promise::state::after_a_change);

    promise other("s", start({{a, {0}}}), at(0));
    other.is(start({{a, {1}}}), at(1), false);
    other.assigned({{a, {1}}}, at(2));
    EXPECT_EQ(other.is_now(), promise::state::overtaken);
}

TEST(promise, an_answer_of_a_while_ago_may_have_been_acted_on) {
    promise late("s", waits(), at(0));
    late.is(start({{a, {0}}}), at(5), false);
    late.is(start({{a, {1}}}), at(6), false);
    late.assigned({{a, {0}}}, at(7));
    EXPECT_EQ(late.is_now(), promise::state::behind);

    promise earlier("s", waits(), at(0));
    earlier.was(start({{a, {0}}}), at(-1));
    earlier.assigned({{a, {0}}}, at(0));
    EXPECT_EQ(earlier.is_now(), promise::state::behind);

    promise too_late("s", start({{a, {0}}}), at(0));
    too_late.is(start({{a, {1}}}), at(1), false);
    too_late.assigned({{a, {0}}}, at(100));
    EXPECT_EQ(too_late.rule(), "start-not-foreseen");
}

TEST(promise, who_is_told_to_be_blocked_takes_no_testbed) {
    promise one("s", waits(true), at(0));
    one.acquired(at(1));
    EXPECT_EQ(one.rule(), "acquired-though-blocked");

    promise free("s", waits(true), at(0));
    free.is(waits(false), at(1), false);
    free.acquired(at(2));
    EXPECT_TRUE(free.open());
}

TEST(promise, one_that_is_gone_is_judged_no_more) {
    promise one("s", start({{a, {0}}}), at(0));
    one.gone();
    one.assigned({{b, {0}}}, at(1));
    EXPECT_EQ(one.is_now(), promise::state::gone);
}

}  // namespace
}  // namespace esi::simulation::foresee
