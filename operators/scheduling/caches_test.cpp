#include "scheduling/caches.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/counting_new.h"
#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

/// The caches, filled by hand, and the keys that each change enqueues.
struct filled_caches : testing::Test {
    filled_caches() {
        caches_.on_change({[this](const object_key& key) { schedulings.insert(key.name); },
                           [this](const object_key& key) { testbeds.insert(key.name); },
                           [this](const object_key& key) { jobs.insert(key.name); }});
    }
    void forget() {
        schedulings.clear();
        testbeds.clear();
        jobs.clear();
    }
    void add_testbed(const std::string& name, const std::string& hold = "") {
        auto what = *w.testbeds.at({"ns", name});
        if (!hold.empty()) {
            what.metadata.annotations[std::string(names_of::hold)] = hold;
            what.metadata.labels[std::string(names_of::active_scheduling_name)] = "gone";
            what.metadata.labels[std::string(names_of::active_scheduling_namespace)] = "ns";
        }
        caches_.testbeds().apply(what);
    }

    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    kube::client api{nobody, time};
    caches caches_{api, time, {}};
    world w;
    std::set<std::string> schedulings;
    std::set<std::string> testbeds;
    std::set<std::string> jobs;
};

using keys = std::set<std::string>;

TEST_F(filled_caches, a_change_of_a_job_enqueues_the_orphan_that_waits_for_it_and_no_other) {
    for (const char* name : {"t", "u"}) w.add_testbed(name, 1, 1);
    add_testbed("t", "uid-gone.7");
    add_testbed("u", "uid-other.8");
    w.add_job("a");
    auto job = w.job("a");
    caches_.jobs().apply(job);
    forget();
    job.status.application = {"v", "SparkApplication", "a", "app", "uid-gone.7.1"};
    caches_.jobs().apply(job);
    EXPECT_EQ(testbeds, keys{"t"}) << "its holder has the application";
    EXPECT_EQ(jobs, keys{"a"});
    forget();
    job.status.application.reset();
    job.status.runs.emplace_back().testbed = {"ns", "u"};
    job.status.placements = {{0, "uid-pod", "pod"}};
    caches_.jobs().apply(job);
    EXPECT_EQ(testbeds, (keys{"t", "u"})) << "the application has ended; a pod is in u";
}

TEST_F(filled_caches, the_testbed_of_a_claim_enqueues_its_scheduling_also_when_that_is_over) {
    w.add_claim("s", 1, {"a"});
    auto plan = w.s("s");
    plan.status.state = "FinishedState";
    caches_.schedulings().apply(plan);
    model::testbed made;
    made.metadata = w.meta("s");
    made.metadata.owner_references = {
        {"esi.tu-berlin.de/v1alpha1", "Scheduling", "s", plan.metadata.uid, true}};
    forget();
    caches_.testbeds().apply(made);
    EXPECT_EQ(schedulings, keys{"s"});
    forget();
    caches_.testbeds().erase({"ns", "s"});
    EXPECT_EQ(schedulings, keys{"s"});
}

TEST_F(filled_caches, a_pod_enqueues_the_scheduling_at_work_and_none_that_waits) {
    w.add_testbed("t", 1, 1);
    add_testbed("t");
    for (const char* name : {"works", "waits"}) {
        w.add_queue(name, "t", {"a"});
        auto one = w.s(name);
        if (one.metadata.name == "works") one.status.state = "AwaitingCompletionState";
        caches_.schedulings().apply(one);
    }
    forget();
    for (const auto& [name, pod] : w.pods) caches_.pods().apply(*pod);
    EXPECT_EQ(schedulings, keys{"works"});
}

TEST_F(filled_caches, those_that_let_one_go_first_are_found_by_their_status) {
    for (const char* name : {"first", "second", "third"}) {
        w.add_queue(name, "t", {"a"});
        auto one = w.s(name);
        if (one.metadata.name == "second") {
            model::set_condition(one.status.conditions, "Acquired", "False", "OlderFirst", "", 1,
                                 w.now);
            one.status.waiting_for_schedulings = {{"ns", "first"}};
        }
        caches_.schedulings().apply(one);
    }
    forget();
    caches_.enqueue_younger({"ns", "first"});
    EXPECT_EQ(schedulings, keys{"second"});
}

TEST_F(filled_caches, the_table_of_slots_follows_every_kind_of_object) {
    w.add_testbed("t", 2, 1);
    const object_key bed{"ns", "t"};
    EXPECT_EQ(caches_.slots_of(bed)->size(), 0);
    for (const auto& [name, pod] : w.pods) caches_.pods().apply(*pod);
    EXPECT_EQ(caches_.slots_of(bed)->size(), 0) << "there is no layout yet";
    add_testbed("t");
    EXPECT_EQ(caches_.slots_of(bed)->free(), (std::set{0, 1}));

    w.add_job("a");
    w.edit(w.jobs, {"ns", "a"}, [&](model::batchjob& job) {
        auto& order = job.spec.creation_request.emplace();
        order.testbed_name = bed;
        order.slot_ids = {1};
        order.run = "uid-1.7.1";
        auto status = job.status;
        w.start_pods(job, status);
        job.status = status;
    });
    for (const auto& [name, pod] : w.pods) caches_.pods().apply(*pod);
    caches_.pods().erase({"ns", grid::ghost_name("t", w.t("t").metadata.uid, "t-1", 0)});
    EXPECT_EQ(caches_.slots_of(bed)->free(), std::set{0});
    EXPECT_TRUE(caches_.slots_of(bed)->recorded_pods_of("uid-1").empty()) << "not on record yet";
    caches_.jobs().apply(w.job("a"));
    EXPECT_EQ(caches_.slots_of(bed)->recorded_pods_of("uid-1").size(), 1U);
    EXPECT_EQ(caches_.slots_of(bed)->at(1).job_pods.size(), 1U);

    auto moved = *w.pods.at("a-exec-1");
    moved.metadata.labels[std::string(names_of::testbed)] = "elsewhere";
    caches_.pods().apply(moved);
    EXPECT_TRUE(caches_.slots_of(bed)->recorded_pods_of("uid-1").empty());
}

TEST_F(filled_caches, a_pod_is_kept_without_what_nothing_reads) {
    // Fields that decisions read must survive: the table is made of trimmed pods.
    w.add_testbed("t", 1, 1);
    add_testbed("t");
    for (auto [name, pod] : w.pods) {
        auto full = *pod;
        full.metadata.labels["app"] = "x";
        full.requests["cpu"] = 1000;
        full.message = "long";
        caches::trim(full);
        EXPECT_FALSE(full.metadata.labels.contains("app"));
        EXPECT_TRUE(full.requests.empty());
        EXPECT_TRUE(full.message.empty());
        caches_.pods().apply(full);
    }
    EXPECT_EQ(caches_.slots_of({"ns", "t"})->free(), std::set{0});
}

TEST_F(filled_caches, a_ghost_takes_less_than_half_a_kilobyte_with_its_row_in_the_table) {
    w.add_testbed("t", 200, 10);
    add_testbed("t");
    // Made here, so that these bytes do not count.
    auto ghosts = w.pods;
    const auto before = bytes_held();
    for (const auto& [name, pod] : ghosts) {
        auto one = *pod;
        caches::trim(one);
        caches_.pods().apply(std::move(one));
    }
    const auto held = bytes_held() - before;
    EXPECT_EQ(caches_.slots_of({"ns", "t"})->free().size(), 2000U);
    EXPECT_LT(held / 2000, 512);
}

}  // namespace
}  // namespace esi::scheduling
