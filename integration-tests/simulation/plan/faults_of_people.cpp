// People and programs that meddle: with objects, pods and nodes.
#include <algorithm>

#include "plan/fault_draw.h"

namespace esi::simulation {

void fault_draw::ghosts() {
    auto with = one_bed();
    if (chance_.chance(300)) {
        return strip("strip-ghost", std::move(with));
    }
    if (chance_.chance(200)) {
        with["of"] = "testbed";
        return add("evict", std::move(with));
    }
    if (chance_.chance(200)) {
        with["for_ms"] = length(1000, 40000);
        return add("keep-ghost", std::move(with));
    }
    grace(with);
    add("delete-ghost", std::move(with));
}

void fault_draw::job_pods() {
    auto with = one_job();
    perhaps_when_running(with);
    if (chance_.chance(300)) {
        return strip("strip-job-pod", std::move(with));
    }
    if (chance_.chance(300)) {
        with["of"] = "job";
        return add("evict", std::move(with));
    }
    grace(with);
    add("delete-job-pod", std::move(with));
}

void fault_draw::processes() {
    auto with = one_job();
    perhaps_when_running(with);
    const auto what = chance_.below(3);
    if (what == 0) {
        with["for_ms"] = length(1000, 40000);
        return add("pod-hangs", std::move(with));
    }
    if (what == 2) return add("executor-crash", std::move(with));
    // A job has one.
    with.erase("nth");
    add("driver-crash", std::move(with));
}

void fault_draw::applications() {
    auto with = one_job();
    with.erase("nth");
    perhaps_when_running(with);
    const bool can_cancel = std::ranges::any_of(on_.applications, &application_kind::cancellable);
    add(can_cancel && chance_.chance(500) ? "cancel-job" : "delete-application", std::move(with));
}

void fault_draw::status() {
    json with = json::object();
    const auto kind = one_kind(with);
    static const std::map<std::string, std::vector<json>> edits{{"batchjobs",
                                                                 {{{"state", "ReadyState"}},
                                                                  {{"state", "CompletedState"}},
                                                                  {{"placements", nullptr}},
                                                                  {{"conditions", nullptr}},
                                                                  {{"application", nullptr}}}},
                                                                {"testbeds",
                                                                 {{{"state", "ERROR"}},
                                                                  {{"slots", nullptr}},
                                                                  {{"layout", nullptr}},
                                                                  {{"counts", nullptr}}}},
                                                                {"schedulings",
                                                                 {{{"state", "InitialState"}},
                                                                  {{"state", "CompletedState"}},
                                                                  {{"assignments", nullptr}},
                                                                  {{"jobStates", nullptr}}}}};
    with["kind"] = kind;
    with["patch"] = any(edits.at(kind));
    add("edit-status", std::move(with));
}

void fault_draw::metadata() {
    static const std::vector<std::string> parts{"labels", "annotations", "finalizers"};
    json with = json::object();
    with["kind"] = one_kind(with);
    with["part"] = any(parts);
    add("strip", std::move(with));
}

void fault_draw::recreation() {
    json with = json::object();
    with["kind"] = one_kind(with);
    with["after_ms"] = length(0, 3000);
    add("recreate", std::move(with));
}

void fault_draw::deletion() {
    json with = json::object();
    if (chance_.chance(70)) return namespaces();
    with["kind"] = one_kind(with);
    add("delete", std::move(with));
}

void fault_draw::rights() {
    if (chance_.chance(400)) {
        json with = one_bed();
        with.erase("nth");
        return add("take-hold", std::move(with));
    }
    auto with = one_job();
    with.erase("nth");
    perhaps_when_running(with);
    add("release-by-hand", std::move(with));
}

/// A pod of another user that is created and deleted after a while.
void fault_draw::pod_for(const std::string& name, json spec, const char* cpu, milliseconds time) {
    spec["terminationGracePeriodSeconds"] = 1;
    spec["containers"] =
        json::array({{{"name", "main"},
                      {"image", "example/other:1"},
                      {"resources", {{"requests", {{"cpu", cpu}, {"memory", "512Mi"}}}}}}});
    add("create", {{"object",
                    {{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", {{"name", name}, {"namespace", "default"}}},
                     {"spec", std::move(spec)}}}});
    add("delete", {{"kind", "pods"}, {"name", name}}, time);
}

void fault_draw::intruders() {
    if (chance_.chance(500)) {
        auto with = one_job();
        with["pod"] = fmt::format("copy-{}", chance_.between(0, 9));
        if (chance_.chance(700)) with["node"] = any(on_.nodes);
        // As long as it is there, the release of the run waits for it.
        with["for_ms"] = chance_.between(5000, 90000);
        perhaps_when_running(with);
        return add("copy-token", std::move(with));
    }
    const auto name = fmt::format("bound-{}", chance_.between(0, 9));
    json spec{{"nodeName", any(on_.nodes)}};
    const char* cpu = chance_.chance(300) ? "100m" : "600m";
    pod_for(name, std::move(spec), cpu, milliseconds(chance_.between(5000, 90000)));
}

/// An author with the rights of one role who wants what belongs to others.
void fault_draw::hostile() {
    for (int i = chance_.between(1, 3); i > 0; --i) {
        if (chance_.chance(250)) {
            json with{{"name", any(on_.beds).name},
                      {"slots", json::array({chance_.between(0, 3)})}};
            with["when"] = cast::when("schedulings", any(on_.schedulings),
                                      json::array({"SubmissionState", "AwaitingCompletionState"}));
            add("forge-order", std::move(with));
        } else if (chance_.chance(200)) {
            auto with = one_job();
            with.erase("nth");
            with["job"] = with["name"];
            with["name"] = any(on_.beds).name;
            with["scheduling"] = fmt::format("a-taker-{}", chance_.between(0, 2));
            if (chance_.chance(500)) with["slots"] = json::array({chance_.between(0, 3)});
            if (chance_.chance(400)) with["label"] = any(on_.beds).label;
            add("forge-scheduling", std::move(with));
        } else if (chance_.chance(200)) {
            add("forge-testbed", {{"label", any(on_.beds).label}});
        } else if (chance_.chance(300)) {
            auto with = one_job();
            perhaps_when_running(with);
            add("keep-job-pod", std::move(with));
        } else {
            auto with = one_job();
            with["pod"] = fmt::format("forged-{}", chance_.between(0, 9));
            with["node"] = any(on_.nodes);
            with["slot"] = chance_.between(0, 5);
            if (chance_.chance(500)) with["in"] = hostile_namespace;
            if (chance_.chance(300)) with["owner"] = with.contains("in") ? "same" : "none";
            if (chance_.chance(300)) with["gated"] = true;
            if (chance_.chance(300)) with["keep"] = true;
            if (chance_.chance(300)) with["bulk"] = true;
            perhaps_when_running(with);
            add("forge-pod", std::move(with));
        }
        at_ += milliseconds(length(50, 20000));
    }
}

void fault_draw::spec_of_testbed() {
    const auto& bed = any(on_.beds);
    json patch = json::object();
    switch (chance_.below(4)) {
        case 0:
            patch["slotsPerNode"] = chance_.between(1, 4);
            break;
        case 1: {
            static const std::vector<json> sizes{
                {{"cpu", "300m"}, {"memory", "512Mi"}},
                {{"cpu", "650m"}, {"memory", "1Gi"}},
                {{"cpu", "1200m"}},
                {{"memory", "2Gi"}},
                {{"example.com/gpu", "1"}},
            };
            patch["resourcesPerSlot"] = any(sizes);
            break;
        }
        case 2:
            patch["isolation"] = bed.taint ? "None" : "Taint";
            break;
        default:
            patch["nodeLabel"] = chance_.chance(300) && on_.beds.size() > 1 ? any(on_.beds).label
                                                                            : "example.com/none";
    }
    edit("testbeds", {{"name", bed.name}, {"patch", std::move(patch)}});
}

void fault_draw::spec_of_scheduling() {
    json with{{"name", any(on_.schedulings)}};
    if (chance_.chance(200)) {
        static const std::vector<json> patches{
            {{"releaseOnCompletion", true}},       {{"releaseOnCompletion", false}},
            {{"scheduleTimeoutSeconds", 60}},      {{"submitTimeoutSeconds", 60}},
            {{"slotBased", {{"mode", "strict"}}}}, {{"slotBased", {{"mode", "relaxed"}}}}};
        with["patch"] = any(patches);
        return edit("schedulings", std::move(with));
    }
    static const std::vector<std::string> ways{"drop", "drop", "swap", "swap", "again", "slots"};
    with["entry"] = any(ways);
    with["nth"] = chance_.between(0, 9);
    if (with["entry"] == "slots") {
        with["slots"] = json::array({chance_.between(0, 2)});
        if (chance_.chance(500)) with["slots"].push_back(chance_.between(3, 6));
    }
    edit("schedulings", std::move(with));
}

void fault_draw::spec_of_job() {
    const auto& job = any(on_.jobs);
    if (chance_.chance(100)) {
        json with{{"ns", job.ns}, {"name", job.name}, {"depth", 300}};
        if (chance_.chance(600)) with["back_ms"] = length(50, 40000);
        if (chance_.chance(500)) {
            with.erase("depth");
            with["kib"] = 400;
        }
        return add("deep-spec", std::move(with));
    }
    static const std::vector<json> patches = [] {
        std::vector<json> out;
        for (const auto& kind : application_kinds()) {
            for (const auto& edit : kind.edits) out.push_back({{kind.spec, edit}});
        }
        out.push_back(
            {{"externalScheduler", {{"profiler", json::array({{{"job-a", "24 (16)"}}})}}}});
        return out;
    }();
    edit("batchjobs", {{"ns", job.ns}, {"name", job.name}, {"patch", any(patches)}});
}

/// Edited and often taken back; now and then an operator crashes meanwhile.
void fault_draw::edit(const char* kind, json with) {
    with["kind"] = kind;
    if (chance_.chance(600)) with["back_ms"] = length(50, 40000);
    add("edit-spec", std::move(with));
    if (chance_.chance(350)) crash();
}

void fault_draw::specs() {
    for (int i = chance_.between(1, 2); i > 0; --i) {
        switch (chance_.below(5)) {
            case 0:
            case 1:
                spec_of_testbed();
                break;
            case 2:
                spec_of_job();
                break;
            default:
                spec_of_scheduling();
        }
        at_ += milliseconds(length(50, 20000));
    }
}

void fault_draw::namespaces() {
    json with{{"name", "team-a"}};
    if (chance_.chance(500)) with["back_ms"] = length(500, 60000);
    add("namespace-delete", std::move(with));
}

/// Pods that every cluster has and that push aside whoever is in their way.
void fault_draw::precedence() {
    const int count = chance_.between(1, 3);
    for (int i = 0; i < count; ++i) {
        const auto name = fmt::format("critical-{}", i);
        json spec{{"priorityClassName", "system-cluster-critical"},
                  {"nodeSelector", {{"kubernetes.io/hostname", any(on_.nodes)}}},
                  {"tolerations", json::array({{{"operator", "Exists"}}})}};
        const char* cpu = chance_.chance(700) ? "600m" : "1100m";
        pod_for(name, std::move(spec), cpu, milliseconds(chance_.between(3000, 120000)));
        at_ += milliseconds(length(100, 20000));
    }
}

void fault_draw::nodes() {
    json with{{"name", any(on_.nodes)}};
    const bool back = chance_.chance(850);
    if (back) with["back_ms"] = length(500, 60000);
    switch (chance_.below(5)) {
        case 0:
            return add("node-gone", std::move(with));
        case 1: {
            with["label"] = any(on_.beds).label;
            static const std::vector<json> values{nullptr, "7", "x", "0"};
            with["value"] = any(values);
            return add("node-relabel", std::move(with));
        }
        case 2:
            return add("node-cordon", std::move(with));
        case 3:
            with["allocatable"] = {{"cpu", chance_.chance(500) ? "700m" : "100m"}};
            return add("node-shrink", std::move(with));
        default:
            return add("node-not-ready", std::move(with));
    }
}

}  // namespace esi::simulation
