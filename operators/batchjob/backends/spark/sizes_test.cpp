#include "batchjob/backends/spark/sizes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/backends/pod_size.h"
#include "batchjob/backends/spark/backend.h"
#include "batchjob/backends/spark/mapping.h"
#include "batchjob/backends/testing.h"
#include "grid/slot_room.h"

namespace esi::batchjob::spark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

model::resource_list slot(std::string cpu, std::string memory) {
    model::resource_list out;
    out["cpu"] = *model::quantity::parse(cpu);
    out["memory"] = *model::quantity::parse(memory);
    return out;
}

build_request request_in(const std::string& spec, model::resource_list size) {
    auto out = request_for(spec);
    out.slot_size = std::move(size);
    return out;
}

/// The executor of a spec whose member executor is this, and its sparkConf.
std::string executor(const std::string& with, const std::string& conf = "{}") {
    return fmt::format(R"({{"driver":{{}},"executor":{},"sparkConf":{}}})", with, conf);
}

std::string why_not(const std::string& spec, const model::resource_list& size,
                    bool by_slot = false) {
    const spark_backend kind{placement_options{}};
    return grid::larger_than_slot(kind.least_size({spec}, pod_role::slot, by_slot), size);
}

TEST(mebibytes, are_read_as_spark_and_flink_and_kubernetes_write_them) {
    constexpr std::int64_t mebi = 1024 * 1024;
    EXPECT_EQ(mebibytes_in("4g", mebi), 4096);
    EXPECT_EQ(mebibytes_in("4GB", mebi), 4096);
    EXPECT_EQ(mebibytes_in("512", mebi), 512);
    EXPECT_EQ(mebibytes_in("1048577", 1), 2) << "rounded up";
    EXPECT_EQ(mebibytes_in("1600 mb", 1), 1600);
    EXPECT_EQ(mebibytes_in("2Gi", mebi), 2048);
    EXPECT_EQ(mebibytes_in("1t", mebi), 1024 * 1024);
    for (const char* bad :
         {"", "g", "-1g", "0", "4x", "1.5g", "99999999999999999999g", "9223372036854775807t"}) {
        EXPECT_FALSE(mebibytes_in(bad, mebi)) << bad;
    }
}

TEST(spark_sizes, heap_and_overhead_of_the_user_stay_where_they_fit) {
    struct row {
        const char* name;
        std::string spec;
        const char* memory;
        const char* heap;
        const char* overhead;
    };
    const row rows[] = {
        {"exactly", executor(R"({"memory":"4g","memoryOverhead":"1g"})"), "5Gi", "4096m", "1024m"},
        {"with room", executor(R"({"memory":"4g","memoryOverhead":"1g"})"), "6Gi", "4096m",
         "2048m"},
        {"heap alone", executor(R"({"memory":"1g"})"), "1408Mi", "1024m", "384m"},
        {"overhead alone", executor(R"({"memoryOverhead":"1g"})"), "5Gi", "4096m", "1024m"},
        {"by sparkConf", executor("{}", R"({"spark.executor.memory":"2g",
            "spark.executor.memoryOverhead":"512"})"),
         "3Gi", "2048m", "1024m"},
        {"off-heap beside",
         executor(R"({"memory":"1g","memoryOverhead":"512m"})",
                  R"({"spark.memory.offHeap.enabled":"true","spark.memory.offHeap.size":"1g"})"),
         "2560Mi", "1024m", "512m"},
        {"off-heap switched off",
         executor(R"({"memory":"1g","memoryOverhead":"512m"})",
                  R"({"spark.memory.offHeap.size":"1g"})"),
         "1536Mi", "1024m", "512m"},
        {"PySpark beside", executor("{}", R"({"spark.executor.pyspark.memory":"1g"})"), "2816Mi",
         "1408m", "384m"},
        {"neither", executor("{}"), "1792Mi", "1408m", "384m"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(why_not(row.spec, slot("1", row.memory)), "") << row.name;
        const auto got = map(request_in(row.spec, slot("1", row.memory)), {}, size_from::slot);
        ASSERT_TRUE(got) << row.name << ": " << got.error().text;
        const auto& made = got->object["spec"]["executor"];
        EXPECT_EQ(made["memory"], row.heap) << row.name;
        EXPECT_EQ(made["memoryOverhead"], row.overhead) << row.name;
    }
    const auto kept = map(request_in(rows[5].spec, slot("1", "2560Mi")), {}, size_from::slot);
    EXPECT_EQ(kept->object["spec"]["sparkConf"]["spark.memory.offHeap.size"], "1g");
    EXPECT_THAT(kept->overridden, ElementsAre("executor.memoryOverhead (at least 512m)"));
}

TEST(spark_sizes, what_asks_for_more_than_the_slot_is_told_with_both_numbers) {
    struct row {
        std::string spec;
        const char* told;
    };
    const row rows[] = {
        {executor(R"({"cores":2})"), "it requests 2 cpu, the slot has 1"},
        {executor(R"({"cores":2,"coreRequest":"1500m"})"), "it requests 1500m cpu, the slot has 1"},
        {executor("{}", R"({"spark.executor.cores":"3"})"), "it requests 3 cpu, the slot has 1"},
        {executor(R"({"memory":"2g"})"), "it requests 2432Mi memory, the slot has 2Gi"},
        {executor(R"({"memory":"1g","memoryOverhead":"2g"})"),
         "it requests 3Gi memory, the slot has 2Gi"},
        {executor(R"({"memory":"1500m"})", R"({"spark.executor.memoryOverheadFactor":"0.5"})"),
         "it requests 2250Mi memory, the slot has 2Gi"},
        {executor(R"({"gpu":{"name":"nvidia.com/gpu","quantity":1}})"),
         "it requests 1 nvidia.com/gpu, the slot has 0"},
        {executor(R"({"template":{"spec":{"containers":[{"name":"spark-kubernetes-executor",
            "resources":{"limits":{"ephemeral-storage":"10Gi"}}}]}}})"),
         "it requests 10Gi ephemeral-storage, the slot has 0"},
        {executor(
             R"({"cores":1,"sidecars":[{"name":"log","resources":{"requests":{"cpu":"250m"}}}]})"),
         "it requests 1250m cpu, the slot has 1"},
        {executor(R"({"template":{"spec":{"initContainers":[{"name":"fetch",
            "resources":{"requests":{"cpu":"2"}}}]}}})"),
         "it requests 2 cpu, the slot has 1"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(why_not(row.spec, slot("1", "2Gi")), row.told) << row.spec;
    }
    EXPECT_EQ(why_not(rows[0].spec, slot("1", "2Gi"), true), "") << "the slot's numbers count";
    EXPECT_EQ(why_not(rows[3].spec, slot("1", "2Gi"), true), "");
    EXPECT_NE(why_not(rows[6].spec, slot("1", "2Gi"), true), "") << "a device is no number";
}

TEST(spark_sizes, a_sidecar_takes_its_part_of_the_slot_from_the_executor) {
    const auto spec = executor(R"({"template":{"spec":{
        "containers":[{"name":"log","resources":{"requests":{"cpu":"250m","memory":"128Mi"}}}],
        "initContainers":[{"name":"proxy","restartPolicy":"Always",
                           "resources":{"limits":{"cpu":"250m"}}},
                          {"name":"fetch","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}})");
    EXPECT_EQ(why_not(spec, slot("2", "2Gi")), "");
    const auto got = map(request_in(spec, slot("2", "2Gi")), {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    const auto& made = got->object["spec"]["executor"];
    EXPECT_EQ(made["coreRequest"], "1500m");
    EXPECT_EQ(made["memory"], "1536m");
    EXPECT_EQ(made["memoryOverhead"], "384m");
}

TEST(spark_sizes, limits_of_cpu_below_the_slot_are_raised_with_the_requests_and_named) {
    const auto spec = executor(R"({"cores":1,"coreLimit":"1200m","template":{"spec":{"containers":[
        {"name":"spark-kubernetes-executor","resources":{"limits":{"cpu":"1500m"}}}]}}})",
                               R"({"spark.kubernetes.executor.limit.cores":"1200m"})");
    const auto got = map(request_in(spec, slot("2", "4Gi")), {}, size_from::slot);
    ASSERT_TRUE(got) << got.error().text;
    const auto& made = got->object["spec"];
    EXPECT_EQ(made["executor"]["cores"], 1) << "as many tasks at a time as the user says";
    EXPECT_EQ(made["executor"]["coreRequest"], "2");
    EXPECT_EQ(made["executor"]["coreLimit"], "2");
    EXPECT_EQ(made["sparkConf"]["spark.kubernetes.executor.limit.cores"], "2");
    EXPECT_EQ(made["executor"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"],
              "2");
    EXPECT_THAT(got->overridden,
                ElementsAre("executor.coreLimit (at least 1200m)",
                            "sparkConf[spark.kubernetes.executor.limit.cores] (at least 1200m)",
                            "executor.template, limits.cpu of container spark-kubernetes-executor "
                            "(at least 1500m)"));
    const auto above =
        map(request_in(executor(R"({"coreLimit":"3"})"), slot("2", "4Gi")), {}, size_from::slot);
    EXPECT_EQ(above->object["spec"]["executor"]["coreLimit"], "3");
    EXPECT_THAT(above->overridden, IsEmpty());
    const spark_backend kind{placement_options{}};
    const auto probe = kind.probe(request_for("").job, {spec}, false);
    ASSERT_TRUE(probe) << probe.error().text;
    EXPECT_THAT(probe->overridden, Contains("executor.coreLimit (at least 1200m)"))
        << "the size of the slot is not known yet";
}

TEST(spark_sizes, what_is_no_size_is_refused_by_name_unless_the_slot_decides) {
    const std::pair<std::string, const char*> rows[] = {
        {executor(R"({"memory":"4 apples"})"),
         "sparkSpec.executor.memory must be an amount of memory such as 4g"},
        {executor("{}", R"({"spark.executor.memoryOverhead":"x"})"),
         "sparkSpec.sparkConf[spark.executor.memoryOverhead] must be an amount of memory such as "
         "4g"},
        {executor(R"({"cores":"many"})"),
         "sparkSpec.executor.cores must be a number of cores such as 2 or 500m"},
    };
    const spark_backend kind{placement_options{}};
    for (const auto& [spec, told] : rows) {
        const auto got = kind.probe(request_for("").job, {spec}, false);
        ASSERT_FALSE(got) << spec;
        EXPECT_EQ(got.error().reason, "SpecMalformed");
        EXPECT_EQ(got.error().text, told);
        EXPECT_TRUE(kind.probe(request_for("").job, {spec}, true)) << spec;
    }
    for (const char* text :
         {"[]", "{\"executor\":7}", "not json",
          "{\"executor\":{\"template\":{\"spec\":{\"containers\":7}}}}",
          "{\"executor\":{\"template\":{\"spec\":{\"containers\":[7,{\"name\":\"x\","
          "\"resources\":[]}]}}}}"}) {
        EXPECT_EQ(why_not(text, slot("1", "2Gi")), "") << text;
    }
}

/// Spark's own sum: KubernetesUtils, BasicExecutorFeatureStep.
std::int64_t mebibytes_that_spark_requests(const json& spec) {
    constexpr std::int64_t mebi = 1024 * 1024;
    const auto number = [](const json& of, const char* key, std::int64_t unit) {
        return of.contains(key) ? mebibytes_in(of[key].get<std::string>(), unit).value_or(0)
                                : std::int64_t{0};
    };
    const auto& conf = spec["sparkConf"];
    const bool off_heap = conf.value("spark.memory.offHeap.enabled", "") == "true";
    return number(spec["executor"], "memory", mebi) +
           number(spec["executor"], "memoryOverhead", mebi) +
           number(conf, "spark.executor.pyspark.memory", mebi) +
           (off_heap ? number(conf, "spark.memory.offHeap.size", 1) : 0);
}

/// 5 x 4 x 2 x 3 specs, each against 4 slots.
TEST(spark_sizes, the_check_says_what_the_pods_ask_for) {
    int fit = 0;
    int larger = 0;
    for (const char* memory : {"", "512m", "1g", "3g", "8g"}) {
        for (const char* overhead : {"", "256m", "1g", "4g"}) {
            for (const bool off_heap : {false, true}) {
                for (const char* type : {"Scala", "Python", "R"}) {
                    json spec = json::parse(executor("{}"));
                    spec["type"] = type;
                    auto& role = spec["executor"];
                    if (*memory != 0) role["memory"] = memory;
                    if (*overhead != 0) role["memoryOverhead"] = overhead;
                    if (off_heap) {
                        spec["sparkConf"] = {{"spark.memory.offHeap.enabled", "true"},
                                             {"spark.memory.offHeap.size", "512m"},
                                             {"spark.executor.pyspark.memory", "256m"}};
                    }
                    for (const char* size : {"1Gi", "2Gi", "4608Mi", "16Gi"}) {
                        const auto room = slot("1", size);
                        const auto got = map(request_in(spec.dump(), room), {}, size_from::slot);
                        const auto why = why_not(spec.dump(), room);
                        ASSERT_EQ(got.has_value(), why.empty()) << spec << size << why;
                        (got ? fit : larger) += 1;
                        if (!got) continue;
                        const auto& made = got->object["spec"];
                        EXPECT_EQ(mebibytes_that_spark_requests(made),
                                  room.find("memory")->second.milli / 1000 / 1024 / 1024)
                            << made;
                        if (*memory != 0) {
                            EXPECT_EQ(
                                mebibytes_in(made["executor"]["memory"].get<std::string>(), 1),
                                mebibytes_in(memory, 1));
                        }
                    }
                }
            }
        }
    }
    EXPECT_EQ(fit + larger, 480);
    EXPECT_GT(fit, 200);
    EXPECT_GT(larger, 100);
}

}  // namespace
}  // namespace esi::batchjob::spark
