#include "testbed/view/trail.h"

#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using namespace std::chrono_literals;

/// Records what is logged while it lives.
struct heard {
    std::vector<std::string> lines;
    heard() {
        log::send_to([this](log::level, std::string_view line) { lines.emplace_back(line); });
    }
    heard(const heard&) = delete;
    heard& operator=(const heard&) = delete;
    ~heard() { log::send_to(nullptr); }
};

TEST(trail, a_job_is_followed_by_its_name_its_run_its_scheduling_and_its_pods) {
    world at{{"node-a"}};
    at.hold();
    auto& pod = at.placed(at.job("pi", {1}), "exec-1", 1);
    const grid::slot place{1, "node-a", 0, 1};
    heard log;
    log_step(log::level::info, "slot given to the pod", trail_of(at.testbed, pod, &place));
    EXPECT_EQ(log.lines,
              lines{"slot given to the pod scheduling=default/s testbed=default/tb job=default/pi "
                    "run=sched.100.1 pod=default/exec-1 slot=1 node=node-a"});
}

TEST(trail, a_pod_of_another_hold_is_not_the_present_schedulings) {
    world at{{"node-a"}};
    at.hold("sched.200");
    const auto of = trail_of(at.testbed, at.placed(at.job("pi", {1}), "exec-1", 1));
    EXPECT_EQ(of.scheduling, "");
    EXPECT_EQ(of.job, "default/pi");
}

TEST(trail, a_ghost_is_of_no_job) {
    world at{{"node-a"}};
    at.hold();
    auto& ghost = at.ghost("node-a", 0);
    ghost.metadata.labels[std::string(names::job)] = "pi";
    heard log;
    log_step(log::level::warn, "ghost removed", trail_of(at.testbed, ghost), {}, "it has ended");
    EXPECT_EQ(log.lines, lines{"ghost removed testbed=default/tb pod=" +
                               ghost.metadata.key().text() + " error=\"it has ended\""});
}

TEST(hints, what_is_met_at_every_look_is_news_once_for_each_change_and_after_ten_minutes) {
    hints known;
    const steady_time now{1000s};
    EXPECT_TRUE(known.is_news("wait p", "node-a has 1m cpu left", now));
    EXPECT_FALSE(known.is_news("wait p", "node-a has 1m cpu left", now + 1s));
    EXPECT_TRUE(known.is_news("wait q", "node-a has 1m cpu left", now + 1s));
    EXPECT_TRUE(known.is_news("wait p", "node-a has 2m cpu left", now + 2s));
    EXPECT_FALSE(known.is_news("wait p", "node-a has 2m cpu left", now + 2s + said::pause - 1ms));
    EXPECT_TRUE(known.is_news("wait p", "node-a has 2m cpu left", now + 2s + said::pause));
}

}  // namespace
}  // namespace esi::testbed::tests
