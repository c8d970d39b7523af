#include "controller/lease_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace esi::controller {
namespace {

using namespace std::chrono_literals;

std::string text(const lease_step& step) {
    auto record = [&] {
        return fmt::format("{} for {}s, {} changes, at '{}'",
                           step.record.holder.empty() ? "nobody" : step.record.holder,
                           step.record.duration_seconds, step.record.transitions,
                           step.record.version);
    };
    switch (step.what) {
        case lease_step::kind::get:
            return "get";
        case lease_step::kind::create:
            return "create " + record();
        case lease_step::kind::update:
            return "update " + record();
        case lease_step::kind::wait:
            return fmt::format("wait {}ms", std::chrono::floor<milliseconds>(step.delay).count());
        case lease_step::kind::lost:
            return "lost";
        case lease_step::kind::done:
            return "done";
    }
    return {};
}

lease::failed failed(errc code) { return lease::failed{error{code, "no"}}; }

const wall_time noon{12h};

struct a_lease : testing::Test {
    lease_machine machine{"me", lease_times(), [] { return 0.0; }};
    steady_time now{1000s};

    std::string at(const lease::event& event) {
        auto step = machine.resume(event, now, noon + (now - steady_time(1000s)) / 1us * 1us);
        if (!step.record.holder.empty() || step.what == lease_step::kind::update)
            last = step.record;
        return text(step);
    }
    /// The server's answer to our last write.
    lease::written accepted(std::string version) {
        auto record = last;
        record.version = std::move(version);
        return {record};
    }
    lease_record other(std::string version, wall_time renewed = noon, int duration = 15) {
        lease_record out;
        out.holder = "other";
        out.duration_seconds = duration;
        out.acquired = noon;
        out.renewed = renewed;
        out.transitions = 3;
        out.version = std::move(version);
        return out;
    }
    void lead() {
        at(lease::started());
        at(failed(errc::not_found));
        ASSERT_EQ(at(accepted("1")), "wait 2000ms");
        ASSERT_TRUE(machine.leading());
    }
    lease_record last;
};

TEST_F(a_lease, that_does_not_exist_is_created) {
    EXPECT_EQ(at(lease::started()), "get");
    EXPECT_EQ(at(failed(errc::not_found)), "create me for 15s, 0 changes, at ''");
    EXPECT_FALSE(machine.leading());
    EXPECT_EQ(machine.may_write_until(), std::nullopt);
    EXPECT_EQ(at(accepted("1")), "wait 2000ms");
    EXPECT_TRUE(machine.leading());
    EXPECT_EQ(machine.holder(), "me");
}

TEST_F(a_lease, is_renewed_without_a_look_at_it) {
    lead();
    now += 2s;
    EXPECT_EQ(at(lease::waited()), "update me for 15s, 0 changes, at '1'");
    EXPECT_EQ(last.acquired, noon) << "kept";
    EXPECT_EQ(last.renewed, noon + 2s);
    EXPECT_EQ(at(accepted("2")), "wait 2000ms");
    now += 2s;
    EXPECT_EQ(at(lease::waited()), "update me for 15s, 0 changes, at '2'");
    EXPECT_EQ(machine.slow_paths(), 0u);
}

TEST_F(a_lease, may_be_used_until_ten_seconds_after_the_start_of_its_renewal) {
    lead();
    EXPECT_EQ(machine.may_write_until(), steady_time(1010s));
    now += 2s;
    at(lease::waited());
    now += 4s;  // the answer takes four seconds
    at(accepted("2"));
    EXPECT_EQ(machine.may_write_until(), steady_time(1012s)) << "counted from the request";
}

TEST_F(a_lease, of_another_is_taken_one_duration_after_it_was_last_seen_to_change) {
    // Its own clock is years behind: only the time of the change here counts.
    at(lease::started());
    EXPECT_EQ(at(lease::found{other("7", wall_time(0s))}), "wait 2000ms");
    now += 10s;
    EXPECT_EQ(at(lease::waited()), "get");
    EXPECT_EQ(at(lease::found{other("8", wall_time(1s))}), "wait 2000ms") << "renewed";
    now += 14999ms;
    at(lease::waited());
    EXPECT_EQ(at(lease::found{other("8", wall_time(1s))}), "wait 2000ms");
    now += 1ms;
    at(lease::waited());
    EXPECT_EQ(at(lease::found{other("8", wall_time(1s))}), "update me for 15s, 4 changes, at '8'");
    EXPECT_EQ(last.acquired, noon + 25s);
}

TEST_F(a_lease, that_only_got_a_label_was_not_renewed) {
    at(lease::started());
    at(lease::found{other("7")});
    now += 15s;
    at(lease::waited());
    EXPECT_EQ(at(lease::found{other("8")}), "update me for 15s, 4 changes, at '8'");
}

TEST_F(a_lease, uses_the_duration_in_the_record) {
    at(lease::started());
    at(lease::found{other("7", noon, 60)});
    now += 59s;
    at(lease::waited());
    EXPECT_EQ(at(lease::found{other("7", noon, 60)}), "wait 2000ms");
    now += 1s;
    at(lease::waited());
    EXPECT_EQ(at(lease::found{other("7", noon, 60)}), "update me for 15s, 4 changes, at '7'");
}

TEST_F(a_lease, that_was_released_is_taken_at_once) {
    at(lease::started());
    auto released = other("9", noon, 1);
    released.holder.clear();
    EXPECT_EQ(at(lease::found{released}), "update me for 15s, 4 changes, at '9'");
}

TEST_F(a_lease, that_another_took_first_is_looked_at_again) {
    at(lease::started());
    auto released = other("9", noon, 1);
    released.holder.clear();
    at(lease::found{released});
    EXPECT_EQ(at(failed(errc::conflict)), "get");
    EXPECT_EQ(at(lease::found{other("10")}), "wait 2000ms");
    EXPECT_FALSE(machine.leading());
}

TEST_F(a_lease, that_another_created_first_is_looked_at_again) {
    at(lease::started());
    at(failed(errc::not_found));
    EXPECT_EQ(at(failed(errc::already_exists)), "get");
}

TEST_F(a_lease, is_lost_ten_seconds_after_the_last_renewal) {
    lead();
    for (int second = 1; second < 10; ++second) {
        now += 1s;
        EXPECT_EQ(at(lease::waited()).substr(0, 6), "update") << second;
        EXPECT_EQ(at(failed(errc::server)).substr(0, 4), "wait") << second;
        EXPECT_TRUE(machine.leading());
    }
    now += 1s;
    EXPECT_EQ(at(lease::waited()), "lost");
    EXPECT_FALSE(machine.leading());
    EXPECT_EQ(machine.may_write_until(), std::nullopt);
}

TEST_F(a_lease, asks_more_often_near_its_end_and_never_sleeps_through_it) {
    const struct {
        milliseconds renewed_ago;
        const char* pause;
    } table[] = {{2000ms, "wait 2000ms"}, {6000ms, "wait 2000ms"}, {8000ms, "wait 1000ms"},
                 {9000ms, "wait 500ms"},  {9700ms, "wait 200ms"},  {9900ms, "wait 100ms"}};
    for (auto [ago, pause] : table) {
        machine = lease_machine("me", lease_times(), [] { return 0.0; });
        now = steady_time(1000s);
        lead();
        now += ago;
        at(lease::waited());
        EXPECT_EQ(at(failed(errc::server)), pause) << ago.count() << " ms after the renewal";
    }
}

TEST_F(a_lease, is_lost_when_the_process_was_stopped_for_too_long) {
    lead();
    now += 60s;
    EXPECT_EQ(at(lease::waited()), "lost");
}

TEST_F(a_lease, is_lost_when_the_answer_comes_too_late) {
    lead();
    now += 2s;
    at(lease::waited());
    now += 10s;
    EXPECT_EQ(at(accepted("2")), "lost") << "others count from when they saw it, perhaps long ago";
}

TEST_F(a_lease, is_lost_at_once_when_another_holds_it) {
    lead();
    now += 2s;
    at(lease::waited());
    EXPECT_EQ(at(failed(errc::conflict)), "get");
    EXPECT_EQ(at(lease::found{other("5")}), "lost");
}

TEST_F(a_lease, that_somebody_edited_is_renewed_on_the_new_version) {
    lead();
    const auto ours = last;
    now += 2s;
    at(lease::waited());
    at(failed(errc::conflict));
    auto edited = ours;
    edited.version = "5";
    EXPECT_EQ(at(lease::found{edited}), "update me for 15s, 0 changes, at '5'");
    EXPECT_EQ(at(accepted("6")), "wait 2000ms");
    EXPECT_EQ(machine.slow_paths(), 1u);
}

TEST_F(a_lease, whose_renewal_got_no_answer_is_looked_at_first) {
    lead();
    const auto before = last;
    now += 2s;
    at(lease::waited());
    auto renewed = last;
    renewed.version = "2";
    EXPECT_EQ(at(failed(errc::timeout)), "wait 2000ms");
    now += 2s;
    EXPECT_EQ(at(lease::waited()), "get");
    EXPECT_EQ(at(lease::found{renewed}), "update me for 15s, 0 changes, at '2'");
    EXPECT_EQ(machine.may_write_until(), steady_time(1010s)) << "not renewed by a look";
}

TEST_F(a_lease, that_was_deleted_is_made_again_by_its_holder) {
    lead();
    now += 2s;
    at(lease::waited());
    EXPECT_EQ(at(failed(errc::not_found)), "wait 2000ms");
    now += 2s;
    EXPECT_EQ(at(lease::waited()), "get");
    EXPECT_EQ(at(failed(errc::not_found)), "create me for 15s, 0 changes, at ''");
}

TEST_F(a_lease, is_given_away_at_an_orderly_stop) {
    lead();
    EXPECT_EQ(at(lease::stopping()), "update nobody for 1s, 0 changes, at '1'");
    EXPECT_EQ(at(accepted("2")), "done");
    EXPECT_FALSE(machine.leading());
}

TEST_F(a_lease, is_given_away_also_when_a_renewal_was_under_way) {
    lead();
    now += 2s;
    at(lease::waited());
    auto renewed = last;
    renewed.version = "2";
    EXPECT_EQ(at(lease::stopping()), "update nobody for 1s, 0 changes, at '1'");
    EXPECT_EQ(at(failed(errc::conflict)), "get");
    EXPECT_EQ(at(lease::found{renewed}), "update nobody for 1s, 0 changes, at '2'");
    EXPECT_EQ(at(accepted("3")), "done");
}

TEST_F(a_lease, of_another_is_not_given_away) {
    at(lease::started());
    at(lease::found{other("7")});
    EXPECT_EQ(at(lease::stopping()), "done");
    lead();
    at(lease::stopping());
    EXPECT_EQ(at(failed(errc::conflict)), "get");
    EXPECT_EQ(at(lease::found{other("8")}), "done");
}

TEST_F(a_lease, is_left_to_run_out_when_it_cannot_be_given_away) {
    lead();
    at(lease::stopping());
    EXPECT_EQ(at(failed(errc::transport)), "done");
    EXPECT_FALSE(machine.leading());
}

TEST_F(a_lease, standbys_ask_at_different_times) {
    lease_machine late("late", lease_times(), [] { return 0.999; });
    late.resume(lease::started(), now, noon);
    EXPECT_EQ(text(late.resume(lease::found{other("7")}, now, noon)), "wait 4397ms");
}

TEST(a_lease_of_an_earlier_container, of_the_same_pod_is_taken_after_two_retry_periods) {
    const struct {
        const char* holder;
        const char* pod;
        bool taken;
    } table[] = {
        {"esi-0_uid-1_aaaa", "esi-0_uid-1_", true},
        {"esi-0_uid-2_aaaa", "esi-0_uid-1_", false},  // another pod of that name
        {"esi-0_uid-1", "esi-0_uid-1_", false},       // not of this form
        {"host_aaaa", "", false},                     // outside of a pod: another process
    };
    for (const auto& [holder, pod, taken] : table) {
        lease_machine machine("esi-0_uid-1_bbbb", lease_times(), [] { return 0.0; }, pod);
        steady_time now{1000s};
        machine.resume(lease::started(), now, noon);
        lease_record record;
        record.holder = holder;
        record.duration_seconds = 15;
        record.acquired = record.renewed = noon;
        record.transitions = 3;
        record.version = "7";
        EXPECT_EQ(text(machine.resume(lease::found{record}, now, noon)), "wait 2000ms") << holder;
        // It is renewed once more: its holder still runs.
        record.renewed = noon + 2s;
        record.version = "8";
        now += 3s;
        EXPECT_EQ(text(machine.resume(lease::found{record}, now, noon)), "wait 2000ms") << holder;
        now += 4s;
        EXPECT_EQ(text(machine.resume(lease::found{record}, now, noon)),
                  taken ? "update esi-0_uid-1_bbbb for 15s, 4 changes, at '8'" : "wait 2000ms")
            << holder;
    }
}

}  // namespace
}  // namespace esi::controller
