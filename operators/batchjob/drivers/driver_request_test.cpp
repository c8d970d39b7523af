#include "batchjob/drivers/driver_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace esi::batchjob::drivers {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

model::pod driver() {
    model::pod pod;
    pod.metadata.name = "pi-driver";
    pod.metadata.namespace_ = "jobs";
    pod.metadata.uid = "uid-1";
    pod.metadata.labels = {{"spark-role", "driver"}, {"executors", "3"},  {"exec-cpu", "2"},
                           {"exec-mem", "4"},        {"driver-cpu", "7"}, {"driver-mem", "7"}};
    pod.phase = "Pending";
    pod.scheduling_gates = {"esi.tu-berlin.de/slot"};
    pod.requests = {{"cpu", 500}, {"memory", 1'476'395'008'000}};
    return pod;
}

driver_request asked(const model::pod& pod) {
    auto out = read_request(pod);
    EXPECT_TRUE(out) << out.error().text;
    return out.value_or(driver_request());
}

TEST(driver_request, the_labels_say_what_executors_need_and_the_pod_what_the_driver_needs) {
    const auto found = asked(driver());
    EXPECT_EQ(found.executors, 3);
    EXPECT_EQ(found.executor.at("cpu").milli, 2000);
    EXPECT_EQ(found.executor.at("memory").text, "4Gi") << "a bare number counts GiB";
    EXPECT_EQ(found.driver.at("cpu").text, "500m");
    EXPECT_EQ(found.driver.at("memory").text, "1476395008") << "not the label";
}

TEST(driver_request, labels_stand_for_requests_that_the_driver_does_not_have) {
    auto pod = driver();
    pod.requests = {{"memory", 0}};
    pod.metadata.labels["driver-mem"] = "512Mi";
    const auto found = asked(pod);
    EXPECT_EQ(found.driver.at("cpu").milli, 7000);
    EXPECT_EQ(found.driver.at("memory").text, "512Mi");
    pod.metadata.labels.erase("driver-cpu");
    EXPECT_THAT(read_request(pod).error().text, HasSubstr("label driver-cpu is missing"));
}

TEST(driver_request, other_resources_of_the_driver_are_asked_for_too) {
    auto pod = driver();
    pod.requests["example.com/gpu"] = 1000;
    EXPECT_EQ(asked(pod).driver.at("example.com/gpu").text, "1");
}

TEST(driver_request, amounts_are_quantities_or_whole_gibibytes) {
    const std::tuple<const char*, const char*, std::string, std::int64_t> rows[] = {
        {"exec-cpu", "cpu", "500m", 500},
        {"exec-cpu", "cpu", "1.5", 1500},
        {"exec-mem", "memory", "1", 1'073'741'824'000},
        {"exec-mem", "memory", "1408Mi", 1'476'395'008'000},
        {"exec-mem", "memory", "2G", 2'000'000'000'000},
    };
    for (const auto& [label, resource, text, milli] : rows) {
        auto pod = driver();
        pod.metadata.labels[label] = text;
        EXPECT_EQ(asked(pod).executor.at(resource).milli, milli) << text;
    }
}

TEST(driver_request, a_label_that_cannot_be_read_is_named_with_the_remedy) {
    const std::tuple<const char*, std::vector<const char*>, const char*> rows[] = {
        {"executors",
         {"", "0", "-1", "1000", "1.5", "two", "99999999999999999999", "3 "},
         "1 to 999"},
        {"exec-cpu", {"", "0", "-1", "two", "1core", "0m"}, "cores above 0"},
        {"exec-mem", {"", "0", "-1", "2g", "two", "0Gi", "1GB"}, "a whole number of GiB"},
    };
    for (const auto& [label, values, words] : rows) {
        for (const auto* value : values) {
            auto pod = driver();
            pod.metadata.labels[label] = value;
            const auto found = read_request(pod);
            ASSERT_FALSE(found) << label << " " << value;
            EXPECT_EQ(found.error().reason, "BadLabels");
            EXPECT_THAT(found.error().text,
                        AllOf(HasSubstr(label), HasSubstr(words), HasSubstr("Delete the driver")));
        }
        auto pod = driver();
        pod.metadata.labels.erase(label);
        EXPECT_THAT(read_request(pod).error().text, HasSubstr("is missing")) << label;
    }
}

TEST(driver_request, a_name_that_no_batchjob_may_have_is_told_before_the_api_server_refuses_it) {
    for (const auto* name : {"1pi", "pi.driver", "-pi", "pi-"}) {
        auto pod = driver();
        pod.metadata.name = name;
        EXPECT_EQ(read_request(pod).error().reason, "NameUnsuited") << name;
    }
    auto pod = driver();
    pod.metadata.name = std::string(45, 'a');
    EXPECT_TRUE(read_request(pod));
    pod.metadata.name += 'a';
    EXPECT_EQ(read_request(pod).error().reason, "NameUnsuited");
}

TEST(driver_request, of_a_driver_that_could_not_be_read_is_none) {
    auto pod = driver();
    pod.metadata.undecodable = ".spec.affinity: has 70000 bytes";
    const auto got = read_request(pod);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reason, "Undecodable");
    EXPECT_TRUE(got.error().text.contains(".spec.affinity: has 70000 bytes")) << got.error().text;
}

TEST(driver_request, waits_only_at_our_gate_and_before_any_run) {
    EXPECT_TRUE(waits(driver()));
    const std::pair<const char*, std::function<void(model::pod&)>> rows[] = {
        {"no gate", [](auto& pod) { pod.scheduling_gates.clear(); }},
        {"another gate", [](auto& pod) { pod.scheduling_gates = {"example.com/other"}; }},
        {"a run", [](auto& pod) { pod.metadata.annotations["esi.tu-berlin.de/run"] = "s.7.1"; }},
        {"bound", [](auto& pod) { pod.node_name = "node-a"; }},
        {"ended", [](auto& pod) { pod.phase = "Failed"; }},
        {"going", [](auto& pod) { pod.metadata.deletion_timestamp.emplace(); }},
        {"an executor", [](auto& pod) { pod.metadata.labels["spark-role"] = "executor"; }},
        {"of Spark's operator",
         [](auto& pod) { pod.metadata.labels["sparkoperator.k8s.io/app-name"] = "pi"; }},
    };
    for (const auto& [name, change] : rows) {
        auto pod = driver();
        change(pod);
        EXPECT_FALSE(waits(pod)) << name;
    }
}

TEST(driver_request, both_objects_have_the_name_of_the_driver_and_go_with_it) {
    auto pod = driver();
    pod.node_selector = {{"lab", "a"}};
    pod.tolerations = {{"node.kubernetes.io/not-ready", "Exists", "", "NoExecute"},
                       {"dedicated", "Equal", "spark", "NoSchedule"}};
    pod.affinity.text =
        R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
        R"([{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}},"podAffinity":{}})";
    const auto job = make_batchjob(pod);
    const auto plan = make_scheduling(pod, asked(pod));
    for (const auto& made : {job, plan}) {
        const auto& meta = made["metadata"];
        EXPECT_EQ(meta["name"], "pi-driver");
        EXPECT_EQ(meta["namespace"], "jobs");
        EXPECT_EQ(meta["ownerReferences"], (json::array({{{"apiVersion", "v1"},
                                                          {"kind", "Pod"},
                                                          {"name", "pi-driver"},
                                                          {"uid", "uid-1"}}})));
    }
    EXPECT_EQ(job["kind"], "BatchJob");
    EXPECT_EQ(job["spec"], (json{{"sparkDriver", {{"uid", "uid-1"}}}}));
    EXPECT_EQ(plan["kind"], "Scheduling");
    EXPECT_EQ(plan["spec"]["queueBased"].size(), 3) << "a place for each executor";
    EXPECT_EQ(plan["spec"]["queueBased"][2], (json{{"name", "pi-driver"}}));
    const auto& shapes = plan["spec"]["claim"]["shapes"];
    const json selector{{"lab", "a"}};
    const json toleration{
        {"key", "dedicated"}, {"operator", "Equal"}, {"value", "spark"}, {"effect", "NoSchedule"}};
    ASSERT_EQ(shapes.size(), 2);
    EXPECT_EQ(shapes[0]["name"], "driver");
    EXPECT_EQ(shapes[0]["role"], "coordinator");
    EXPECT_EQ(shapes[0]["count"], 1);
    EXPECT_EQ(shapes[0]["resources"], (json{{"cpu", "500m"}, {"memory", "1476395008"}}));
    EXPECT_EQ(shapes[0]["constraints"]["nodeSelector"], selector);
    EXPECT_EQ(shapes[0]["constraints"]["tolerations"], json::array({toleration}));
    EXPECT_TRUE(shapes[0]["constraints"]["affinity"].contains("nodeAffinity"));
    EXPECT_FALSE(shapes[0]["constraints"]["affinity"].contains("podAffinity"));
    EXPECT_EQ(shapes[1]["name"], "executors");
    EXPECT_EQ(shapes[1]["role"], "worker");
    EXPECT_EQ(shapes[1]["count"], 3);
    EXPECT_EQ(shapes[1]["resources"], (json{{"cpu", "2"}, {"memory", "4Gi"}}));
    EXPECT_EQ(shapes[1]["constraints"],
              (json{{"nodeSelector", selector}, {"tolerations", json::array({toleration})}}));
}

TEST(driver_request, without_constraints_the_shapes_have_none) {
    const auto plan = make_scheduling(driver(), asked(driver()));
    for (const auto& shape : plan["spec"]["claim"]["shapes"]) {
        EXPECT_FALSE(shape.contains("constraints"));
    }
}

}  // namespace
}  // namespace esi::batchjob::drivers
