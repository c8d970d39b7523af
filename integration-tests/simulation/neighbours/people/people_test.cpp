#include "neighbours/people/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/small_town.h"
#include "plan/generate.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;

class crowd : public ::testing::Test {
protected:
    crowd() : who(town.around, town.nodes) {}

    void act(std::string what, json with) {
        who.act({milliseconds(0), std::move(what), std::move(with)});
        town.run_for(1s);
    }
    void pod(const std::string& name, json labels, json annotations = json::object()) {
        act("create", {{"object",
                        {{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata",
                          {{"name", name},
                           {"namespace", "default"},
                           {"labels", std::move(labels)},
                           {"annotations", std::move(annotations)}}},
                         {"spec",
                          {{"restartPolicy", "Never"},
                           {"containers",
                            json::array({{{"name", "main"}, {"image", "example/other:1"}}})}}}}}});
    }
    void scheduling() {
        act("create", {{"object", json::parse(R"({
            "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling",
            "metadata": {"name": "run", "namespace": "default", "labels": {"mine": "1"},
                         "finalizers": ["esi.tu-berlin.de/release"]},
            "spec": {"testbed": {"name": "grid"}, "queueBased": [{"name": "job-a"}]}})")}});
    }
    void job() {
        act("create", {{"object", json::parse(R"({
            "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
            "metadata": {"name": "job-a", "namespace": "default"},
            "spec": {"sparkSpec": {"type": "Scala"}, "activeScheduling": {"namespace": "default", "name": "run"}}})")}});
    }
    json executor_labels() {
        return {{"spark-role", "executor"}, {"esi.tu-berlin.de/job", "job-a"}};
    }
    int effects(const std::string& what) {
        const auto at = who.effects().find(what);
        return at == who.effects().end() ? 0 : at->second;
    }

    small_town town;
    people who;
};

TEST_F(crowd, a_queue_is_extended) {
    scheduling();
    act("extend", {{"name", "run"}, {"jobs", json::parse(R"([{"name": "b"}, {"name": "c"}])")}});
    EXPECT_EQ(town.get(kinds::scheduling, "run")["spec"]["queueBased"],
              json::parse(R"([{"name": "job-a"}, {"name": "b"}, {"name": "c"}])"));
    EXPECT_EQ(effects("extend"), 1);
}

TEST_F(crowd, what_finds_nothing_has_no_effect) {
    act("delete-ghost", {{"name", "grid"}, {"nth", 0}});
    act("delete", {{"kind", "schedulings"}, {"name", "run"}});
    act("executor-crash", {{"name", "job-a"}, {"nth", 2}});
    act("node-gone", {{"name", "worker-9"}});
    EXPECT_TRUE(who.effects().empty());
    EXPECT_TRUE(town.seen.lines.empty());
}

TEST_F(crowd, a_deed_waits_for_the_state_it_names) {
    scheduling();
    act("delete",
        {{"kind", "schedulings"},
         {"name", "run"},
         {"when", {{"kind", "schedulings"}, {"name", "run"}, {"is", {"A", "AcquireState"}}}}});
    EXPECT_FALSE(fields::deleting(town.get(kinds::scheduling, "run")));
    act("edit-status",
        {{"kind", "schedulings"}, {"name", "run"}, {"patch", {{"state", "InitialState"}}}});
    EXPECT_FALSE(fields::deleting(town.get(kinds::scheduling, "run")));
    act("edit-status",
        {{"kind", "schedulings"}, {"name", "run"}, {"patch", {{"state", "AcquireState"}}}});
    EXPECT_TRUE(fields::deleting(town.get(kinds::scheduling, "run")));
    EXPECT_THAT(town.seen.lines, ::testing::Contains("edited schedulings default/run status"));
}

TEST_F(crowd, a_deed_is_dropped_when_its_time_has_passed) {
    scheduling();
    act("delete",
        {{"kind", "schedulings"},
         {"name", "run"},
         {"when",
          {{"kind", "schedulings"}, {"name", "run"}, {"is", {"AcquireState"}}, {"for_ms", 5000}}}});
    town.run_for(10s);
    act("edit-status",
        {{"kind", "schedulings"}, {"name", "run"}, {"patch", {{"state", "AcquireState"}}}});
    EXPECT_FALSE(fields::deleting(town.get(kinds::scheduling, "run")));
}

TEST_F(crowd, an_object_is_made_anew_when_the_old_one_is_gone) {
    scheduling();
    const auto uid = town.get(kinds::scheduling, "run")["metadata"]["uid"];
    act("recreate", {{"kind", "schedulings"}, {"name", "run"}, {"after_ms", 200}});
    EXPECT_EQ(town.get(kinds::scheduling, "run")["metadata"]["uid"], uid);
    act("strip", {{"kind", "schedulings"}, {"name", "run"}, {"part", "finalizers"}});
    const auto now = town.get(kinds::scheduling, "run");
    EXPECT_NE(now["metadata"]["uid"], uid);
    EXPECT_EQ(now["metadata"]["labels"], json::parse(R"({"mine": "1"})"));
    EXPECT_EQ(now["spec"]["queueBased"], json::parse(R"([{"name": "job-a"}])"));
}

TEST_F(crowd, rights_are_taken_away_by_hand) {
    job();
    act("release-by-hand", {{"name", "job-a"}});
    EXPECT_FALSE(town.get(kinds::batchjob, "job-a")["spec"].contains("activeScheduling"));
    act("release-by-hand", {{"name", "job-a"}});
    EXPECT_EQ(effects("release-by-hand"), 1);
    act("reset", {{"name", "job-a"}, {"value", "2"}});
    EXPECT_EQ(
        town.get(kinds::batchjob, "job-a")["metadata"]["annotations"]["esi.tu-berlin.de/reset"],
        "2");
}

TEST_F(crowd, pods_of_a_job_crash_lose_their_labels_and_are_deleted) {
    pod("e-1", executor_labels());
    pod("e-2", executor_labels());
    pod("other", {{"spark-role", "executor"}});
    act("strip-job-pod", {{"name", "job-a"}, {"nth", 1}, {"part", "labels"}});
    EXPECT_EQ(town.get(kinds::pod, "e-2")["metadata"]["labels"],
              json::parse(R"({"spark-role": "executor"})"));
    act("executor-crash", {{"name", "job-a"}, {"nth", 5}});
    EXPECT_EQ(fields::phase(town.get(kinds::pod, "e-1")), "Failed");
    pod("e-3", executor_labels());
    act("delete-job-pod", {{"name", "job-a"}, {"nth", 0}, {"grace", 0}});
    EXPECT_TRUE(town.get(kinds::pod, "e-3").is_null());
    EXPECT_EQ(fields::phase(town.get(kinds::pod, "other")), "Running");
}

TEST_F(crowd, a_copied_token_stands_on_an_ordinary_pod) {
    pod("e-1", executor_labels(), {{"esi.tu-berlin.de/run", "s.7.1"}, {"note", "x"}});
    act("copy-token", {{"name", "job-a"}, {"nth", 0}, {"pod", "copy"}, {"node", "worker-1"}});
    const auto copy = town.get(kinds::pod, "copy");
    EXPECT_EQ(copy["metadata"]["annotations"], json::parse(R"({"esi.tu-berlin.de/run": "s.7.1"})"));
    EXPECT_EQ(copy["metadata"]["labels"], json::parse(R"({"esi.tu-berlin.de/job": "job-a"})"));
    EXPECT_EQ(copy["spec"]["nodeSelector"]["kubernetes.io/hostname"], "worker-1");
}

TEST_F(crowd, nodes_change_and_come_back) {
    act("node-shrink", {{"name", "plain-0"}, {"allocatable", {{"cpu", "1"}}}, {"back_ms", 5000}});
    act("node-cordon", {{"name", "plain-0"}, {"back_ms", 5000}});
    act("node-relabel", {{"name", "plain-0"}, {"label", "x"}, {"value", "1"}, {"back_ms", 5000}});
    auto node = town.get(kinds::node, "plain-0");
    EXPECT_EQ(node["status"]["allocatable"]["cpu"], "1");
    EXPECT_EQ(node["spec"]["unschedulable"], true);
    EXPECT_EQ(node["metadata"]["labels"]["x"], "1");
    town.run_for(10s);
    node = town.get(kinds::node, "plain-0");
    EXPECT_EQ(node["status"]["allocatable"]["cpu"], "8");
    EXPECT_FALSE(fields::find(node, {"spec", "unschedulable"}));
    EXPECT_FALSE(fields::find(node, {"metadata", "labels", "x"}));

    act("node-gone", {{"name", "plain-0"}, {"back_ms", 5000}});
    EXPECT_TRUE(town.get(kinds::node, "plain-0").is_null());
    EXPECT_TRUE(town.nodes.down("plain-0"));
    town.run_for(10s);
    const auto back = town.get(kinds::node, "plain-0");
    EXPECT_NE(back["metadata"]["uid"], node["metadata"]["uid"]);
    EXPECT_EQ(back["status"]["allocatable"]["cpu"], "8");
    EXPECT_FALSE(town.nodes.down("plain-0"));
}

TEST(deeds, people_can_do_all_that_plans_ask_of_them) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        for (const auto& one : generate(seed).workload) {
            EXPECT_TRUE(people::does(one.what)) << one.what << " of seed " << seed;
        }
    }
    for (const auto& plan : scenarios()) {
        for (const auto& one : plan.workload) {
            // The controllers of members do it.
            if (one.what == "members") continue;
            EXPECT_TRUE(people::does(one.what)) << one.what << " of " << plan.scenario;
        }
    }
}

}  // namespace
}  // namespace esi::simulation
