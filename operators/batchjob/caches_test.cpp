#include "batchjob/caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "batchjob/testing.h"
#include "kube/connection/no_server.h"

namespace esi::batchjob {
namespace {

using model::object_key;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// The caches, filled by hand, and the keys that each change enqueues.
struct filled_caches : ::testing::Test {
    filled_caches() {
        caches_.on_change([this](const object_key& key) { enqueued.insert(key); });
    }
    /// A pod with the label of that job, bound to node-a.
    void add_pod(const std::string& ns, const std::string& name, const std::string& job) {
        auto pod = *testing::make_pod(name, "executor");
        pod.metadata.namespace_ = ns;
        pod.metadata.uid = "uid-" + ns + "-" + name;
        pod.metadata.labels["esi.tu-berlin.de/job"] = job;
        pod.metadata.labels["esi.tu-berlin.de/testbed"] = "bed";
        testing::bind(pod, "node-a", 1);
        caches_.fill().pods.apply(pod);
    }
    /// A job that has these pods on record.
    void add_job(const std::string& ns, const std::string& name,
                 const std::vector<std::string>& pods) {
        auto job = *testing::make_job();
        job.metadata.namespace_ = ns;
        job.metadata.name = name;
        job.metadata.uid = "uid-" + name;
        for (const auto& pod : pods) {
            const int slot = static_cast<int>(job.status.placements.size());
            job.status.placements.push_back({slot, "uid-" + ns + "-" + pod, pod});
        }
        caches_.fill().jobs.apply(job);
    }
    jobs_by_node neighbours_of(const object_key& job) {
        return observe(caches_.find_job(job), caches_, {}, {}).neighbours;
    }

    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    kube::client api{nobody, time};
    controller::event_recorder events{api, time, "esi-batchjob", "test"};
    controller::metrics numbers;
    http::router routes;
    controller::process_options flags;
    controller::environment env{
        loop.get_executor(), time, api, events, numbers, routes, flags, api, "test"};
    application_kinds kinds = known_kinds();
    caches caches_{env, kinds, {}};
    std::set<object_key> enqueued;
};

TEST_F(filled_caches, neighbours_come_from_records_and_never_from_labels) {
    add_job("jobs", "a", {"a-exec-1"});
    add_pod("jobs", "a-exec-1", "a");
    add_pod("evil", "forged", "n00001");
    add_job("evil", "n00001", {});
    add_pod("jobs", "forged", "b");
    EXPECT_THAT(neighbours_of({"jobs", "a"}), IsEmpty());
    add_job("jobs", "b", {"b-exec-1"});
    add_pod("jobs", "b-exec-1", "another-label");
    EXPECT_EQ(neighbours_of({"jobs", "a"}), (jobs_by_node{{"node-a", {{"jobs", "b"}}}}));
}

TEST_F(filled_caches, a_pod_enqueues_the_jobs_that_are_recorded_on_its_node) {
    add_job("jobs", "a", {"a-exec-1"});
    add_pod("jobs", "a-exec-1", "a");
    add_pod("evil", "forged", "c");
    enqueued.clear();
    add_pod("jobs", "b-exec-1", "b");
    EXPECT_THAT(enqueued, UnorderedElementsAre(object_key{"jobs", "a"}, object_key{"jobs", "b"}));
    // The record of a pod may be seen after its binding.
    enqueued.clear();
    add_job("jobs", "b", {"b-exec-1"});
    EXPECT_THAT(enqueued, UnorderedElementsAre(object_key{"jobs", "a"}, object_key{"jobs", "b"}));
}

TEST(job_pods_in_caches, of_a_driver_that_waits_for_its_claim_stays_where_it_may_run) {
    model::pod pod;
    pod.metadata.labels = {{"spark-role", "driver"}};
    pod.node_selector = {{"lab", "a"}};
    pod.requests = {{"cpu", 500}};
    auto driver = pod;
    keep_of_job_pod(driver);
    EXPECT_EQ(driver.node_selector, pod.node_selector);
    EXPECT_EQ(driver.requests, pod.requests);
    auto taken_over = pod;
    taken_over.metadata.annotations["esi.tu-berlin.de/run"] = "h.1.2";
    auto executor = pod;
    executor.metadata.labels["spark-role"] = "executor";
    auto bound = executor;
    bound.node_name = "n";
    for (auto* each : {&taken_over, &executor, &bound}) {
        keep_of_job_pod(*each);
        EXPECT_TRUE(each->node_selector.empty());
    }
    EXPECT_EQ(executor.requests, pod.requests) << "it may be larger than its slot";
    EXPECT_TRUE(bound.requests.empty());
}

}  // namespace
}  // namespace esi::batchjob
