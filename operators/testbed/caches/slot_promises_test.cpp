#include "testbed/caches/slot_promises.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "testbed/testing.h"

namespace esi::testbed {
namespace {

/// Slots of 600m and 1.75Gi, two on each of node-a, node-b, node-c.
struct slots_that_wait : testing::Test {
    void show() {
        auto into = seen.fill();
        into.testbeds.apply(w.testbed);
        for (const auto& other : w.others) into.testbeds.apply(other);
        for (const auto& [name, node] : w.nodes) into.nodes.apply(node);
        for (const auto& job : w.jobs) into.jobs.apply(job);
        for (const auto& pod : w.pods) into.pods.apply(pod);
    }
    std::int64_t places(const std::string& node = "node-a") {
        const auto waiting = slots_on(seen, node).waiting;
        const auto found = waiting.find("pods");
        return found == waiting.end() ? 0 : found->second / 1000;
    }

    tests::world w;
    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    kube::client api{nobody, time};
    caches seen{api, time, {}};
};

TEST_F(slots_that_wait, are_those_without_a_bound_ghost) {
    w.ghost("node-a", 0);
    w.ghost("node-b", 0);
    w.ghost("node-b", 1);
    w.ghost("node-c", 0, false);
    show();
    EXPECT_EQ(slots_on(seen, "node-a").waiting,
              (model::amounts{{"cpu", 600}, {"memory", 1'879'048'192'000}, {"pods", 1000}}));
    EXPECT_TRUE(slots_on(seen, "node-b").waiting.empty());
    EXPECT_EQ(slots_on(seen, "node-b").in.size(), 2U);
    EXPECT_EQ(slots_on(seen, "node-b").taken.amounts.at("cpu"), 1200);
    EXPECT_EQ(slots_on(seen, "node-c").in.size(), 0U);
    EXPECT_EQ(slots_on(seen, "node-c").coming.size(), 1U);
    EXPECT_EQ(places("node-c"), 2) << "a ghost at the door holds nothing";
    EXPECT_TRUE(slots_on(seen, "node-x").empty());
}

TEST_F(slots_that_wait, are_not_those_where_a_ghost_has_ended_or_goes) {
    w.ghost("node-a", 0).phase = "Failed";
    w.ghost("node-a", 1).metadata.deletion_timestamp = model::timestamp{};
    show();
    EXPECT_EQ(places(), 1) << "the one that goes still takes its room";
}

TEST_F(slots_that_wait, are_not_those_with_a_job_pod_on_record) {
    model::pod pod;
    pod.metadata.name = "job-pod";
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = "uid-job-pod";
    pod.metadata.labels = {{std::string(model::names::testbed), "tb"},
                           {std::string(model::names::testbed_namespace), "default"}};
    pod.metadata.annotations = {{std::string(model::names::slot), "0"}};
    pod.node_name = "node-a";
    pod.phase = "Running";
    w.pods.push_back(pod);
    show();
    EXPECT_EQ(places(), 2) << "what a pod says of itself is no record";
    EXPECT_TRUE(slots_on(seen, "node-a").in.empty());
    model::batchjob job;
    job.metadata.name = "job";
    job.metadata.namespace_ = "default";
    job.metadata.uid = "uid-job";
    auto& placement = job.status.placements.emplace_back();
    placement.slot = 0;
    placement.pod_uid = "uid-job-pod";
    placement.pod_name = "job-pod";
    job.status.runs.emplace_back().testbed = {"default", "tb"};
    w.jobs.push_back(job);
    show();
    EXPECT_EQ(places(), 1);
    EXPECT_EQ(slots_on(seen, "node-a").in, placement::uid_set{"uid-job-pod"});
}

TEST_F(slots_that_wait, are_none_of_a_testbed_that_goes_or_of_another_node_of_that_name) {
    show();
    EXPECT_EQ(places(), 2);
    w.nodes["node-a"].metadata.uid = "another";
    show();
    EXPECT_EQ(places(), 0);
    w.testbed.metadata.deletion_timestamp = model::timestamp{};
    w.testbed.metadata.resource_version = "101";
    show();
    EXPECT_EQ(places("node-b"), 0);
}

TEST_F(slots_that_wait, of_two_testbeds_count_both) {
    auto other = w.testbed;
    other.metadata.name = "second";
    other.metadata.uid = "second-uid";
    w.others.push_back(other);
    show();
    EXPECT_EQ(places(), 4);
    EXPECT_EQ(nodes_with_slots(w.testbed), (std::set<std::string>{"node-a", "node-b", "node-c"}));
    other.status.layout.reset();
    EXPECT_TRUE(nodes_with_slots(other).empty());
}

}  // namespace
}  // namespace esi::testbed
