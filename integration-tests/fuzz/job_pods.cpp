// What people write into a sparkSpec, a flinkSpec and a pod's affinity, which ESI rewrites.
// Oracles: a spec is either refused with a sentence, or its application has exactly what its slots
// say, whatever stood there; a pinned pod fits its own node only, and only where it did before.
// Input: JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "batchjob/backends/flink/mapping.h"
#include "batchjob/backends/flink/phase.h"
#include "batchjob/backends/request_for_tests.h"
#include "batchjob/backends/spark/mapping.h"
#include "model/names.h"
#include "target.h"
#include "testbed/admission.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;
namespace keys = model::names;

bool contains(const json& list, const json& item) {
    return std::ranges::find(list, item) != list.end();
}

/// What every pod that takes a slot has, whatever the user wrote.
void check_slot_pod(const json& pod, const batchjob::placement_options& options) {
    require(pod.at("schedulerName") == options.scheduler() &&
                pod.at("priorityClassName") == options.priority_class() &&
                !pod.contains("nodeName") && !pod.contains("priority") &&
                !pod.contains("preemptionPolicy"),
            "goes past the scheduler: {}", pod.dump());
    require(contains(pod.at("tolerations"), {{"key", keys::taint}, {"operator", "Exists"}}),
            "is kept out by the taint");
    const auto grace = pod.value("terminationGracePeriodSeconds", json());
    require(grace.is_null() || (grace.is_number_integer() && grace.dump().size() <= 20 &&
                                grace.get<double>() <= 120),
            "may take longer than 120 s to end: {}", grace.dump());
    if (!options.extender) {
        require(contains(pod.at("schedulingGates"), {{"name", keys::gate}}), "has no gate");
    }
}

int mebibytes(const json& size) { return std::stoi(size.get<std::string>()); }

void check_application(const json& object, const batchjob::placement_options& options) {
    const auto& spec = object.at("spec");
    const auto& executor = spec.at("executor");
    require(
        executor.at("instances") == 2 && executor.at("coreRequest") == "600m" &&
            mebibytes(executor.at("memory")) + mebibytes(executor.at("memoryOverhead")) == 1792 &&
            !executor.contains("memoryLimit"),
        "another size: {}", executor.dump());
    require(executor.at("schedulerName") == options.scheduler() &&
                executor.at("priorityClassName") == options.priority_class(),
            "another scheduler: {}", executor.dump());
    require(executor.at("labels").at(std::string(keys::testbed)) == "bed" &&
                executor.at("annotations").at(std::string(keys::slots)) == "3,5" &&
                executor.at("annotations").at(std::string(keys::run)) == "s.7.1",
            "other marks: {}", executor.dump());
    check_slot_pod(executor.at("template").at("spec"), options);
    for (const char* role : {"driver", "executor"}) {
        const auto& whole = spec.at(role).at("template");
        for (const char* map : {"labels", "annotations"}) {
            const auto metadata = whole.value("metadata", json::object());
            const auto marks = metadata.is_object() ? metadata.value(map, json()) : json();
            if (!marks.is_object()) continue;
            for (const auto& [key, unused] : marks.items()) {
                require(!key.starts_with(keys::prefix), "{} is the user's", key);
            }
        }
    }
    require(spec.at("sparkConf").at("spark.kubernetes.allocation.batch.size") == "2" &&
                !spec.at("sparkConf").contains("spark.executor.instances") &&
                !spec.contains("dynamicAllocation"),
            "another number: {}", spec.at("sparkConf").dump());
    require(object.at("metadata").at("name") == "a", "another name");
}

void map(std::string_view text, bool extender) {
    batchjob::placement_options options;
    options.extender = extender;
    const auto request = batchjob::request_for(std::string(text));
    const auto got = batchjob::spark::map(request, options, batchjob::spark::size_from::slot);
    if (!got) {
        require(!got.error().reason.empty() && !got.error().text.empty() &&
                    got.error().reason.find(' ') == std::string::npos,
                "refused without a reason");
        return;
    }
    check_application(got->object, options);
    const auto again = batchjob::spark::map(request, options, batchjob::spark::size_from::slot);
    require(again && again->object == got->object, "not a function of its input");
}

void check_deployment(const json& object, const batchjob::placement_options& options) {
    const auto& spec = object.at("spec");
    const auto& workers = spec.at("taskManager");
    require(workers.at("replicas") == 2 &&
                workers.at("resource") == json{{"cpu", 0.6}, {"memory", "1792m"}} &&
                !workers.contains("resources") && spec.at("mode") == "standalone",
            "another size: {}", workers.dump());
    const auto& conf = spec.at("flinkConfiguration");
    const auto task_slots = std::stoll(conf.at("taskmanager.numberOfTaskSlots").get<std::string>());
    require(spec.at("job").at("parallelism") == 2 * task_slots, "another parallelism");
    for (const auto& [key, value] : conf.items()) {
        require(value.is_string() && !key.starts_with("kubernetes.taskmanager."),
                "configuration {} past ESI", key);
    }
    const auto& made = workers.at("podTemplate");
    const auto& marks = made.at("metadata");
    require(marks.at("labels").at(std::string(keys::testbed)) == "bed" &&
                marks.at("annotations").at(std::string(keys::slots)) == "3,5" &&
                marks.at("annotations").at(std::string(keys::run)) == "s.7.1",
            "other marks: {}", marks.dump());
    check_slot_pod(made.at("spec"), options);
    const auto& manager = spec.at("jobManager");
    require(manager.at("replicas") == 1, "another number of JobManagers");
    const auto& labels = manager.at("podTemplate").at("metadata").at("labels");
    for (const auto& [key, unused] : labels.items()) {
        require(!key.starts_with(keys::prefix) || key == keys::job, "{} is the user's", key);
    }
    require(object.at("metadata").at("name") == "a", "another name");
}

void map_flink(std::string_view text, bool extender) {
    batchjob::placement_options options;
    options.extender = extender;
    const auto request = batchjob::request_for(std::string(text));
    const auto got = batchjob::flink::map(request, options, {}, batchjob::flink::size_from::slot);
    if (!got) {
        require(!got.error().reason.empty() && !got.error().text.empty() &&
                    got.error().reason.find(' ') == std::string::npos,
                "refused without a reason");
        return;
    }
    check_deployment(got->object, options);
    const auto again = batchjob::flink::map(request, options, {}, batchjob::flink::size_from::slot);
    require(again && again->object == got->object, "not a function of its input");
}

void affinity(std::string_view text) {
    model::pod pod;
    pod.affinity.text = text;
    model::node near;
    near.metadata.name = "near";
    near.metadata.labels = {{"zone", "a"}, {"number", "7"}};
    auto far = near;
    far.metadata.name = "far";
    // An empty list of terms is refused by the API server.
    const auto parsed = json::parse(text);
    static const json::json_pointer terms(
        "/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms");
    if (parsed.is_object() && parsed.contains(terms) && parsed.at(terms).empty()) return;
    const bool before = !testbed::admission_refusal(pod, near);
    const auto pinned = testbed::pinned_affinity(pod.affinity, "near");
    pod.affinity.text = pinned.dump();
    require(!testbed::admission_refusal(pod, near) <= before,
            "the pin lets in where the pod did not fit: {}", pod.affinity.text);
    require(testbed::admission_refusal(pod, far).has_value(), "the pin does not hold: {}",
            pod.affinity.text);
    require(testbed::pinned_affinity(pod.affinity, "near") == pinned, "pinned twice: {}",
            pod.affinity.text);
}

void job_pods(std::string_view text) {
    const auto parsed = json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return;
    map(text, false);
    map(text, true);
    map_flink(text, false);
    map_flink(text, true);
    // Flink's errors are JSON too.
    require(batchjob::flink::message_of(text).size() <= 2 * text.size() + 2, "words from nowhere");
    affinity(text);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(job_pods, esi::fuzz::job_pods)
