// Pods of a run: forged ones, kept ones, and those that the cache does not show.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

/// A pod that copies all that a pod of the run carries; no operator has recorded it.
void forge(world& w, const std::string& run, int slot, const std::string& node) {
    model::pod pod;
    pod.metadata.name = "forged";
    pod.metadata.uid = "uid-forged";
    pod.metadata.labels = {{std::string(names_of::job), "a"}};
    pod.metadata.annotations = {{std::string(names_of::run), run},
                                {std::string(names_of::slot), std::to_string(slot)},
                                {std::string(names_of::slot_node), node}};
    pod.node_name = node;
    w.put_pod(std::move(pod), {"ns", "t"});
}

TEST_P(driving, a_forged_pod_delays_no_end_and_no_release) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    const auto run = w.job("a").spec.creation_request->run;
    w.drop_pods(run);
    forge(w, run, 0, "t-0");
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "CompletedState"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    forge(w, std::string(grid::hold_of_run(run)) + ".77", 0, "t-0");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
    EXPECT_EQ(w.t("t").hold(), "");
}

TEST_P(driving, a_forged_pod_closes_no_slot) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    forge(w, w.job("a").spec.creation_request->run, 1, "t-1");
    w.add_job("k");
    w.set_queue("s", {"a", "k"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 k:1");
}

TEST_P(driving, a_finalizer_on_an_ended_pod_holds_up_no_end_and_no_release) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    // On record by the row of its slot, which no operator changes in this test.
    const auto uid = w.job("a").status.placements.at(0).pod_uid;
    w.edit(w.testbeds, {"ns", "t"},
           [&](model::testbed& t) { t.status.slots.emplace_back().pod_u_id = uid; });
    w.jobs.erase({"ns", "a"});
    const auto change = [&](auto how) {
        for (auto& [name, pod] : w.pods) {
            if (pod->metadata.uid != uid) continue;
            auto changed = *pod;
            how(changed);
            pod = std::make_shared<const model::pod>(std::move(changed));
        }
    };
    change([](model::pod& pod) {
        pod.metadata.deletion_timestamp = model::timestamp{};
        pod.metadata.finalizers = {"guest.example/stay"};
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1")
        << "its containers may run, as long as no kubelet denies it";
    change([](model::pod& pod) { pod.phase = "Failed"; });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
    w.erase_scheduling("s");
    w.settle();
    EXPECT_FALSE(w.schedulings.contains({"ns", "s"}));
    EXPECT_EQ(w.t("t").hold(), "");
}

TEST_P(driving, a_pod_of_a_deleted_job_is_waited_for_as_long_as_the_testbed_shows_it) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
        auto& row = t.status.slots.emplace_back();
        row.pod_u_id = w.job("a").status.placements.at(0).pod_uid;
    });
    w.jobs.erase({"ns", "a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1");
    w.edit(w.testbeds, {"ns", "t"}, [](model::testbed& t) { t.status.slots.clear(); });
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
}

TEST_P(driving, an_end_is_not_believed_to_a_cache_without_the_pods_of_the_run) {
    w.add_queue("s", "t", {"a", "b"});
    w.settle();
    auto run = w.job("a").spec.creation_request->run;
    w.edit(w.jobs, {"ns", "a"}, [](model::batchjob& j) { j.status.state = "CompletedState"; });
    w.hidden_run = run;
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "its pod still stands";
    EXPECT_EQ(w.s("s").status.waiting_for, "the end of the pods of BatchJob ns/a");
    w.drop_pods(run);
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1");
}

}  // namespace
}  // namespace esi::scheduling
