#include "interface/v1/questions.h"

#include "interface/v1/testing.h"
#include "model/names.h"

namespace esi::interface::v1 {
namespace {

const std::string base = "/api/v1/namespaces/ns";

TEST_F(api_test, a_preview_tells_what_a_plan_comes_to_and_writes_nothing) {
    put_testbed("t", 2, 1);
    put_job("a");
    const auto reply = ask("POST", base + "/schedulings:preview",
                           object("Scheduling", "p", queue_of("t", {"a", "missing"})).dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    const auto preview = body(reply);
    EXPECT_EQ(preview["verdict"], "Waits");
    EXPECT_EQ(preview["mode"], "queue");
    EXPECT_EQ(preview["testbed"]["name"], "t");
    ASSERT_EQ(preview["waits"].size(), 2u);
    EXPECT_EQ(preview["blockers"][0]["what"]["name"], "missing");
    EXPECT_EQ(preview["waits"][0]["blockers"][0]["reason"], "OtherJob");
    EXPECT_TRUE(server.log.empty());
    EXPECT_EQ(who.asked.back(), "create schedulings ns/");
    const auto nameless =
        ask("POST", base + "/schedulings:preview", json{{"spec", queue_of("t", {"a"})}}.dump());
    EXPECT_EQ(nameless.status, 200) << nameless.body;
    const auto empty =
        body(ask("POST", base + "/schedulings:preview", json{{"spec", queue_of("t", {})}}.dump()));
    EXPECT_EQ(empty["blockers"][0]["what"]["name"], "(this plan)") << empty;
}

TEST_F(api_test, a_preview_of_a_claim_waits_for_its_places) {
    put_job("a");
    const auto ask_for = [&](int places, std::vector<std::string> jobs) {
        return body(ask("POST", base + "/schedulings:preview",
                        object("Scheduling", "p", claim_of(places, jobs)).dump()));
    };
    const auto waits = ask_for(1, {"a"});
    EXPECT_EQ(waits["verdict"], "Waits") << waits;
    EXPECT_EQ(waits["testbed"], json({{"namespace", "ns"}, {"name", "p"}}));
    EXPECT_EQ(waits["blockers"][0]["reason"], "ClaimWaiting");
    EXPECT_EQ(waits["blockers"][0]["text"], "Testbed ns/p has to be made for the claim first");
    EXPECT_EQ(waits["blockers"].size(), 1u);
    const auto missing = ask_for(1, {"missing"});
    EXPECT_EQ(missing["blockers"][0]["reason"], "JobMissing");
    EXPECT_EQ(missing["blockers"].size(), 1u) << "a claim is made only when the jobs are there";
    const auto large = ask_for(1, {"a", "a"});
    EXPECT_EQ(large["verdict"], "Refused") << large;
    ASSERT_EQ(large["refused"].size(), 2u) << large;
    EXPECT_EQ(large["refused"][1]["name"], "a");
    EXPECT_TRUE(server.log.empty());
}

TEST_F(api_test, plans_of_a_job_are_explained_while_there_is_room) {
    put_testbed("t");
    put_job("a");
    for (const char* name : {"p", "q", "r"}) put_plan(name, {"a"});
    EXPECT_EQ(body(get(base + "/jobs/a/explain"))["plans"].size(), 3u);
    EXPECT_GT(memory.most, 0u) << "what is kept until the last one is made is counted";
    memory.limit = 1;
    const auto some = body(get(base + "/jobs/a/explain"));
    EXPECT_EQ(some["plans"].size(), 1u) << "the first one comes while there is room";
    EXPECT_EQ(some["plansLeftOut"], 2);
    memory.limit = 0;
    const auto none = get(base + "/jobs/a/explain");
    EXPECT_EQ(none.status, 503);
    EXPECT_EQ(body(none)["code"], "Unavailable");
}

TEST_F(api_test, all_faults_of_a_plan_are_told_at_once) {
    json spec{{"testbed", {{"name", "t"}, {"kind", "x"}}},
              {"queueBased", {{{"name", 1}}, "a"}},
              {"slotBased",
               {{"mode", "STRICT"}, {"jobs", {{{"name", {{"name", "a"}}}, {"slotIds", {0, 0}}}}}}},
              {"priority", 2'000'000'000},
              {"suspend", "yes"},
              {"extra/field", true}};
    const auto reply = ask("POST", base + "/schedulings:preview",
                           object("Scheduling", "P", std::move(spec), "other").dump());
    EXPECT_EQ(reply.status, 422);
    EXPECT_EQ(faults_in(reply),
              "/spec/extra~1field FieldUnknown, /spec/priority FieldValue, "
              "/spec/queueBased/0/name FieldType, /spec/queueBased/1 FieldType, "
              "/spec/slotBased/mode FieldValue, /spec/suspend FieldType, "
              "/spec/testbed/kind FieldUnknown, /metadata/name FieldValue, "
              "/metadata/namespace FieldImmutable, /spec QueueAndSlots, "
              "/spec/slotBased/jobs/0/slotIds/1 SlotTwice");
}

TEST_F(api_test, what_is_no_json_is_told_where) {
    const struct {
        std::string text;
        const char* faults;
    } table[] = {
        {"", " NotJson"},
        {"{", " NotJson"},
        {"{\"a\": \"\xff\"}", " NotJson"},
        {R"({"spec": {}, "spec": {}})", " FieldTwice"},
        {std::string(100, '['), " TooDeep"},
    };
    for (const auto& row : table) {
        const auto reply = ask("POST", base + "/schedulings:preview", row.text,
                               {{"content-type", "application/json"}});
        EXPECT_EQ(reply.status, 400) << row.text;
        EXPECT_EQ(faults_in(reply), row.faults) << row.text;
    }
    EXPECT_EQ(faults_in(ask("POST", base + "/schedulings:preview", "[]")), " FieldType");
    EXPECT_EQ(faults_in(ask("POST", base + "/schedulings:preview", "{}")), "/spec FieldMissing");
}

TEST_F(api_test, an_explanation_names_what_a_plan_waits_for) {
    put_testbed("t");
    put_plan("s", {"missing"});
    const auto plan = body(get(base + "/schedulings/s/explain"));
    EXPECT_EQ(plan["name"], "s");
    ASSERT_FALSE(plan["blockers"].empty() && plan["jobs"][0]["blockers"].empty());
    const auto& blocking =
        plan["blockers"].empty() ? plan["jobs"][0]["blockers"][0] : plan["blockers"][0];
    EXPECT_EQ(blocking["what"]["kind"], "BatchJob");
    EXPECT_EQ(blocking["what"]["name"], "missing");
    EXPECT_EQ(get(base + "/schedulings/nope/explain").status, 404);
    EXPECT_EQ(get(base + "/schedulings/s/explain?x=1").status, 400);
}

TEST_F(api_test, an_explanation_has_the_words_of_the_scheduler_though_pods_may_only_be_listed) {
    put_testbed("t");
    put_plan("s", {"j"}, "SubmissionState");
    put_job("j", "SubmittedState");
    const auto plan = path_of(kube::types::scheduling, "s");
    const auto job = path_of(kube::types::batchjob, "j");
    const std::string plan_uid = server.objects.at(plan)["metadata"]["uid"];
    const std::string job_uid = server.objects.at(job)["metadata"]["uid"];
    const auto run = plan_uid + ".1.1";
    server.change(plan, [&](json& object) {
        object["status"]["assignments"] = {
            {{"job", {{"namespace", "ns"}, {"name", "j"}, {"uid", job_uid}}},
             {"slotIds", {1}},
             {"run", run}}};
    });
    server.change(job, [&](json& object) {
        object["spec"]["activeScheduling"] = {{"namespace", "ns"}, {"name", "s"}};
        object["spec"]["creationRequest"] = {
            {"testbedName", {{"namespace", "ns"}, {"name", "t"}}}, {"slotIds", {1}}, {"run", run}};
    });
    json pod{{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata",
              {{"name", "exec-1"},
               {"namespace", "ns"},
               {"labels",
                {{model::names::testbed, "t"},
                 {model::names::testbed_namespace, "ns"},
                 {model::names::job, "j"}}},
               {"annotations",
                {{model::names::run, run},
                 {model::names::slot, "1"},
                 {model::names::slot_node, "n0"}}}}},
             {"status", {{"phase", "Pending"}}}};
    server.put(pod);
    const auto told = [&] {
        const auto explained = body(get(base + "/schedulings/s/explain"));
        return explained.value(json::json_pointer("/pods/0/text"), explained.dump());
    };
    EXPECT_EQ(told(), "its scheduler has not bound it");
    // The caches do not keep this part.
    server.objects.at(path_of(kube::types::pod, "exec-1"))["status"]["conditions"] = {
        {{"type", "PodScheduled"},
         {"status", "False"},
         {"reason", "Unschedulable"},
         {"message", "0/3 nodes are available: 3 Insufficient cpu."}}};
    server.instead = [](const kube::request& asked) -> std::optional<result<kube::response>> {
        const auto path = asked.target.substr(0, asked.target.find('?'));
        if (!path.contains("/pods/")) return std::nullopt;
        kube::response refused;
        refused.status = 403;
        return refused;
    };
    EXPECT_EQ(told(),
              "its scheduler has not bound it: 0/3 nodes are available: 3 Insufficient cpu.");
    EXPECT_TRUE(server.log.back().ends_with("/pods?fieldSelector=metadata.name%3Dexec-1"))
        << server.log.back();
}

TEST_F(api_test, an_explanation_of_a_job_has_its_part_in_each_plan_of_its_namespace) {
    put_testbed("t");
    put_job("j");
    put_plan("s", {"j"});
    put_plan("unrelated", {"other"});
    put_plan("foreign", {"j"}, "AcquireState", "other");
    const auto job = body(get(base + "/jobs/j/explain"));
    EXPECT_EQ(job["state"], "ReadyState");
    ASSERT_EQ(job["plans"].size(), 1u);
    EXPECT_EQ(job["plans"][0]["name"], "s");
    EXPECT_EQ(job["plans"][0]["jobs"].size(), 1u);
    EXPECT_FALSE(job.contains("scheduling"));
}

TEST_F(api_test, a_matrix_is_of_one_testbed) {
    auto job = object("BatchJob", "j", {{"sparkSpec", json::object()}});
    const auto run = [](int minutes, const char* testbed) {
        return json{{"run", "h.1"},
                    {"testbed", {{"namespace", "ns"}, {"name", testbed}}},
                    {"started", "2026-01-02T03:00:00Z"},
                    {"stopped", fmt::format("2026-01-02T03:{:02}:00Z", minutes)},
                    {"outcome", "Succeeded"}};
    };
    job["status"] = {{"runs", {run(1, "t"), run(3, "t"), run(9, "u")}}};
    server.put(job);
    const auto matrix = body(get(base + "/matrix?testbed=t"));
    EXPECT_EQ(matrix["runs"], 2);
    ASSERT_EQ(matrix["pairs"].size(), 1u);
    EXPECT_EQ(matrix["pairs"][0]["meanSeconds"], 120.0);
    EXPECT_FALSE(matrix["pairs"][0].contains("neighbour"));
    EXPECT_EQ(body(get(base + "/matrix?testbed=ns/u"))["runs"], 1);
    EXPECT_EQ(faults_in(get(base + "/matrix")), "?testbed ParameterValue");
}

}  // namespace
}  // namespace esi::interface::v1
