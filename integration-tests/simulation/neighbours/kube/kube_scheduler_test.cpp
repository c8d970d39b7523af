#include "neighbours/kube/kube_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "neighbours/cluster_for_tests.h"
#include "neighbours/facts.h"
#include "neighbours/kube/scheduling_queue.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::cluster;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct scheduled : cluster {
    explicit scheduled(std::uint64_t seed = 1) : cluster(seed) { node("n1", "4"); }
    kube_scheduler scheduler{around, {}};
};

TEST(kube_scheduler, a_pod_is_bound_where_it_fits) {
    scheduled c;
    c.node("n2", "2");
    c.create(c.pod_body("a", "3"));
    c.run(1s);
    EXPECT_EQ(c.at("a"), "n1");
}

TEST(kube_scheduler, a_gated_pod_is_not_bound_before_its_gate_goes) {
    scheduled c;
    c.create(c.gated(c.pod_body("a", "1")));
    c.run(20s);
    EXPECT_EQ(c.at("a"), "");
    c.ungate("a");
    c.run(1s);
    EXPECT_EQ(c.at("a"), "n1");
}

TEST(kube_scheduler, a_pod_without_room_says_why_and_is_bound_when_room_comes) {
    scheduled c;
    c.create(c.pod_body("big", "3"));
    c.run(1s);
    c.create(c.pod_body("late", "2", "ghost"));
    c.run(1s);
    EXPECT_EQ(c.says("late"),
              "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
              "preemptionPolicy=Never.");
    c.remove("big");
    c.run(1s);
    EXPECT_EQ(c.at("late"), "n1");
}

TEST(kube_scheduler, a_pod_follows_affinity_selector_taints_and_cordons) {
    scheduled c;
    c.node("n2", "4");
    c.create(c.pinned(c.pod_body("pinned", "1"), "n2"));
    auto selecting = c.pod_body("selecting", "1");
    selecting["spec"]["nodeSelector"] = {{"kubernetes.io/hostname", "n1"}};
    c.create(selecting);
    c.run(1s);
    EXPECT_EQ(c.at("pinned"), "n2");
    EXPECT_EQ(c.at("selecting"), "n1");
    c.done(c.person.patch(kinds::node, {}, "n1", kube::patch_kind::merge,
                          {{"spec", {{"taints", {{{"key", "k"}, {"effect", "NoSchedule"}}}}}}}));
    c.done(c.person.patch(kinds::node, {}, "n2", kube::patch_kind::merge,
                          {{"spec", {{"unschedulable", true}}}}));
    c.run(1s);
    c.create(c.pod_body("late", "1", "ghost"));
    c.run(1s);
    EXPECT_EQ(c.at("late"), "");
    EXPECT_EQ(c.says("late"),
              "0/2 nodes are available: 1 node(s) had untolerated taint {k: }, 1 node(s) were "
              "unschedulable. preemption: not eligible due to preemptionPolicy=Never.");
    auto tolerant = c.pod_body("tolerant", "1");
    tolerant["spec"]["tolerations"] = json::array({{{"key", "k"}, {"operator", "Exists"}}});
    c.create(tolerant);
    c.run(1s);
    EXPECT_EQ(c.at("tolerant"), "n1");
}

/// A slot's swap with a stranger that waits for room: ghost out, ungated late.
std::string who_gets_the_slot(bool nominated, std::uint64_t seed) {
    scheduled c(seed);
    c.create(c.pinned(c.pod_body("ghost", "4", "ghost"), "n1"));
    c.run(1s);
    c.create(c.gated(c.pinned(c.pod_body("job", "4", "job"), "n1")));
    c.create(c.pod_body("stranger", "4"));
    c.run(1s);
    if (nominated) c.nominate("job", "n1");
    c.run(100ms);
    c.remove("ghost");
    c.run(5s);
    c.ungate("job");
    c.run(5s);
    EXPECT_THAT(c.seen.lines, IsEmpty());
    if (!c.at("job").empty() && !c.at("stranger").empty()) return "both";
    return c.at("job").empty() ? "stranger" : "job";
}

TEST(kube_scheduler, a_nomination_of_a_gated_pod_keeps_the_room_against_lower_pods) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_EQ(who_gets_the_slot(true, seed), "job") << seed;
        EXPECT_EQ(who_gets_the_slot(false, seed), "stranger") << seed;
    }
}

TEST(kube_scheduler, a_restart_loses_the_nomination_of_a_gated_pod_until_it_is_set_anew) {
    scheduled c;
    c.create(c.gated(c.pod_body("job", "4", "job")));
    c.run(1s);
    c.nominate("job", "n1");
    c.run(1s);
    c.scheduler.crash();
    c.scheduler.restart();
    c.run(1s);
    EXPECT_EQ(c.seen.starts, 2);
    c.nominate("job", "n1");  // The same value: no change, no event.
    c.run(1s);
    c.create(c.pod_body("lost-to", "1"));
    c.run(1s);
    EXPECT_EQ(c.at("lost-to"), "n1");
    c.remove("lost-to");
    c.run(1s);
    c.nominate("job", nullptr);
    c.nominate("job", "n1");
    c.run(1s);
    c.create(c.pod_body("kept-from", "1"));
    c.run(1s);
    EXPECT_EQ(c.at("kept-from"), "");
}

TEST(kube_scheduler, a_restart_keeps_the_nomination_of_a_pod_that_is_not_gated) {
    scheduled c;
    c.create(c.pod_body("holder", "4", "job"));
    c.run(1s);
    c.create(c.pod_body("ghost", "4", "ghost"));
    c.run(1s);
    c.nominate("ghost", "n1");
    c.run(1s);
    c.scheduler.crash();
    c.scheduler.restart();
    c.run(1s);
    c.create(c.pod_body("stranger", "1"));
    c.run(1s);
    c.remove("holder");
    c.run(2s);
    EXPECT_EQ(c.at("ghost"), "n1");
    EXPECT_EQ(c.at("stranger"), "");
}

TEST(kube_scheduler, a_class_that_never_preempts_evicts_nobody_and_keeps_its_nomination) {
    scheduled c;
    c.create(c.pod_body("ordinary", "4"));
    c.run(1s);
    c.create(c.pod_body("ghost", "4", "ghost"));
    c.run(1s);
    c.nominate("ghost", "n1");
    c.run(10min);
    EXPECT_EQ(c.at("ordinary"), "n1");
    EXPECT_EQ(c.nomination("ghost"), "n1");
    EXPECT_THAT(c.seen.lines, IsEmpty());
}

TEST(kube_scheduler, a_preemptor_takes_the_fewest_lower_pods_and_clears_lower_nominations) {
    scheduled c;
    c.create(c.pod_body("small", "1"));
    c.create(c.pod_body("ghost", "3", "ghost"));
    c.run(1s);
    c.create(c.pod_body("waits", "1", "ghost"));
    c.run(1s);
    c.nominate("waits", "n1");
    c.run(1s);
    c.create(c.pod_body("high", "1", "extender-job"));
    c.run(2s);
    EXPECT_EQ(c.at("high"), "n1");
    EXPECT_THAT(c.seen.lines, ElementsAre("small preempted by high"));
    EXPECT_EQ(c.nomination("waits"), "");
    EXPECT_EQ(c.at("ghost"), "n1");
}

TEST(kube_scheduler, a_nomination_of_another_schedulers_pod_is_not_known) {
    scheduled c;
    kube_scheduler second(c.around, {"external-scheduler", nullptr, 5s});
    auto job = c.gated(c.pod_body("job", "4", "job"));
    job["spec"]["schedulerName"] = "external-scheduler";
    c.create(job);
    c.run(1s);
    c.nominate("job", "n1");
    c.run(1s);
    c.create(c.pod_body("stranger", "1"));
    c.run(1s);
    EXPECT_EQ(c.at("stranger"), "n1");
}

TEST(kube_scheduler, a_pod_that_somebody_else_bound_meanwhile_takes_no_room_where_it_was_assumed) {
    scheduled c;
    c.node("n2", "2");
    c.run(1s);
    c.scheduler.set_pace({50ms, 50ms});
    c.create(c.pod_body("a", "2"));
    c.run(51ms);
    c.done(c.person.bind("default", "a", {}, "n2"));
    c.create(c.pod_body("b", "4"));
    c.run(2s);
    EXPECT_EQ(c.at("a"), "n2");
    EXPECT_EQ(c.at("b"), "n1");
}

/// An extender that names the ghost in annotation /slot-ghost, as ESI's does.
struct extended : cluster {
    extended() {
        node("n1", "4");
        second.emplace(around, scheduler_settings{"external-scheduler",
                                                  [this](std::string verb, json body, auto answer) {
                                                      calls.push_back(verb);
                                                      if (mute) return;
                                                      time.after(1ms, [this, verb, body, answer] {
                                                          answer(status, verb == "filter"
                                                                             ? filter(body)
                                                                             : preemption(body));
                                                      });
                                                  },
                                                  5s});
    }
    static json filter(const json& body) {
        return {{"NodeNames", body.at("NodeNames")}, {"FailedNodes", nullptr}, {"Error", ""}};
    }
    static json preemption(const json& body) {
        const auto ghost = fields::annotation(body.at("Pod"), "ghost");
        json victims{{"Pods", {{{"UID", ghost}}}}, {"NumPDBViolations", 0}};
        return {{"NodeNameToMetaVictims", {{"n1", victims}}}};
    }
    json job(std::string ghost) {
        auto out = pod_body("job", "2", "extender-job");
        out["spec"]["schedulerName"] = "external-scheduler";
        out["metadata"]["annotations"] = {{"ghost", ghost}};
        return out;
    }

    std::vector<std::string> calls;
    int status = 200;
    bool mute = false;
    kube_scheduler first{around, {}};
    std::optional<kube_scheduler> second;
};

TEST(kube_scheduler,
     room_that_comes_between_the_decision_to_preempt_and_its_beginning_wakes_nobody) {
    cluster c;
    c.create(c.pod_body("job", "2", "extender-job"));
    const auto pod = read_pod(c.server.objects().find(kinds::pod, "default", "job"));
    scheduling_queue queue([&c] { return c.time.now(); });
    const auto try_in_vain = [&](bool preempts) {
        ASSERT_EQ(queue.pop(), pod);
        if (preempts) queue.preempting_somebody(pod->uid);
        queue.failed(pod, {rejector::resources});
    };
    queue.add(pod);
    try_in_vain(false);
    queue.move(cluster_event::pod_gone);
    EXPECT_TRUE(queue.ready()) << "room has come";
    try_in_vain(true);
    queue.move(cluster_event::pod_gone);
    EXPECT_FALSE(queue.ready());
    queue.preempting(pod->uid, "ghost");
    queue.move(cluster_event::pod_gone);
    EXPECT_FALSE(queue.ready()) << "the victim stands";
    queue.victim_gone("ghost");
    c.run(4min);
    queue.flush();
    EXPECT_FALSE(queue.ready()) << "nobody tells it of the room that came";
    queue.move(cluster_event::pod_gone, pod->priority);
    EXPECT_TRUE(queue.ready()) << "a nomination that goes is room that comes, its own, too";
}

TEST(kube_scheduler, an_extender_names_the_one_victim) {
    extended c;
    const auto a = c.create(c.pod_body("ghost-a", "2", "ghost"));
    const auto b = c.create(c.pod_body("ghost-b", "2", "ghost"));
    c.run(1s);
    ASSERT_EQ(c.at("ghost-b"), "n1");
    c.create(c.job(b));
    c.run(2s);
    EXPECT_THAT(c.seen.lines, ElementsAre("ghost-b preempted by job"));
    EXPECT_EQ(c.at("job"), "n1");
    EXPECT_EQ(c.at("ghost-a"), "n1");
    EXPECT_THAT(c.calls, ElementsAre("preemption", "filter"));
}

TEST(kube_scheduler, an_extender_that_fails_or_is_silent_fails_the_attempt) {
    extended c;
    c.status = 500;
    c.create(c.job(""));
    c.run(500ms);
    EXPECT_EQ(c.says("job"), "failed extender call, code 500");
    c.mute = true;
    c.run(4s);
    EXPECT_EQ(c.at("job"), "");
    c.status = 200;
    c.mute = false;
    c.run(20s);
    EXPECT_EQ(c.at("job"), "n1");
}

TEST(kube_scheduler, a_victim_that_is_not_on_the_node_is_not_deleted) {
    extended c;
    c.create(c.pod_body("ghost", "4", "ghost"));
    c.run(1s);
    c.create(c.job("another-uid"));
    c.run(5s);
    EXPECT_THAT(c.seen.lines, IsEmpty());
    EXPECT_EQ(c.at("job"), "");
    EXPECT_EQ(c.says("job"),
              "0/1 nodes are available: 1 Insufficient cpu. preemption: extender: pod "
              "\"another-uid\" is not on node \"n1\"");
}

}  // namespace
}  // namespace esi::simulation
