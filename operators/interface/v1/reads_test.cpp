#include "interface/v1/reads.h"

#include "interface/v1/testing.h"

namespace esi::interface::v1 {
namespace {

const std::string base = "/api/v1/namespaces/ns";

TEST_F(api_test, a_list_has_the_objects_of_the_namespace_and_of_all) {
    put_plan("b", {"j"});
    put_plan("a", {"j"});
    put_plan("c", {"j"}, "CompletedState", "other");
    const auto own = get(base + "/schedulings");
    EXPECT_EQ(own.status, 200);
    EXPECT_EQ(names_in(own), "a b");
    EXPECT_EQ(body(own)["resourceVersion"], std::to_string(server.version));
    EXPECT_FALSE(body(own).contains("continue"));
    EXPECT_EQ(header(own, "X-ESI-Index"), std::to_string(server.version));
    EXPECT_EQ(names_in(get("/api/v1/schedulings")), "a b c");
    EXPECT_EQ(names_in(get(base + "/testbeds")), "");
    EXPECT_EQ(names_in(get("/api/v1/schedulings?state=CompletedState")), "c");
    EXPECT_EQ(names_in(get("/api/v1/schedulings?state=CompletedState,AcquireState")), "a b c");
    EXPECT_EQ(who.asked[0], "list schedulings ns/");
    EXPECT_EQ(who.asked[1], "list schedulings /");
}

TEST_F(api_test, a_list_in_parts_tells_each_object_once_while_others_come_and_go) {
    for (const char* name : {"b", "d", "f", "h"}) put_plan(name, {"j"});
    const auto first = get(base + "/schedulings?limit=2");
    EXPECT_EQ(names_in(first), "b d");
    const auto token = body(first)["continue"].get<std::string>();
    server.erase(path_of(kube::types::scheduling, "d"));
    put_plan("a", {"j"});
    put_plan("e", {"j"});
    const auto second = get(base + "/schedulings?limit=2&continue=" + token);
    EXPECT_EQ(names_in(second), "e f");
    EXPECT_EQ(body(second)["resourceVersion"], body(first)["resourceVersion"])
        << "events from there on tell what the first part does not show";
    const auto last =
        get(base + "/schedulings?continue=" + body(second)["continue"].get<std::string>());
    EXPECT_EQ(names_in(last), "h");
    EXPECT_FALSE(body(last).contains("continue"));
    EXPECT_EQ(faults_in(get(base + "/testbeds?continue=" + token)), "?continue ParameterValue")
        << "of another list";
    EXPECT_EQ(faults_in(get(base + "/schedulings?state=x&continue=" + token)),
              "?continue ParameterValue");
}

TEST_F(api_test, a_list_is_filtered_by_labels) {
    auto labelled = object("Scheduling", "a", queue_of("t", {"j"}));
    labelled["metadata"]["labels"] = {{"team", "red"}};
    server.put(labelled);
    put_plan("b", {"j"});
    EXPECT_EQ(names_in(get(base + "/schedulings?labelSelector=team%3Dred")), "a");
    EXPECT_EQ(names_in(get(base + "/schedulings?labelSelector=team+in+(red,blue)")), "a");
    EXPECT_EQ(names_in(get(base + "/schedulings?labelSelector=!team")), "b");
}

TEST_F(api_test, all_faults_of_a_query_are_told_at_once) {
    const auto reply =
        get(base + "/schedulings?limit=501&labelSelector=a+b&wait=5&x=1&x=2&limit=2");
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.content_type, "application/problem+json");
    EXPECT_EQ(faults_in(reply),
              "?limit ParameterTwice, ?limit ParameterValue, ?labelSelector ParameterValue, "
              "?wait ParameterValue, ?x ParameterUnknown");
    const auto problem = body(reply);
    EXPECT_EQ(problem["code"], "BadRequest");
    EXPECT_EQ(problem["instance"], base + "/schedulings");
    EXPECT_EQ(problem["retryable"], false);
    EXPECT_EQ(faults_in(get(base + "/schedulings?index=98375643772095758012")),
              "?index ParameterValue");
}

TEST_F(api_test, an_object_has_its_version_as_entity_tag) {
    put_testbed("t");
    const auto reply = get(base + "/testbeds/t");
    EXPECT_EQ(reply.status, 200);
    const auto version = version_of(kube::types::testbed, "t");
    EXPECT_EQ(header(reply, "ETag"), "\"" + version + "\"");
    EXPECT_EQ(header(reply, "X-ESI-Index"), version);
    const auto shown = body(reply);
    EXPECT_EQ(shown["kind"], "Testbed");
    EXPECT_EQ(shown["metadata"]["resourceVersion"], version);
    EXPECT_EQ(shown["metadata"]["generation"], 1);
    EXPECT_EQ(shown["metadata"]["creationTimestamp"], "2026-01-02T03:04:05.000Z");
    EXPECT_EQ(shown["spec"]["slotsPerNode"], 2);
    EXPECT_EQ(shown["status"]["layout"]["nodes"][0]["name"], "n0");
    for (const auto& tag : {"\"" + version + "\"", "W/\"" + version + "\"",
                            "\"1\", \"" + version + "\"", std::string("*")}) {
        EXPECT_EQ(get(base + "/testbeds/t", {{"if-none-match", tag}}).status, 304) << tag;
    }
    EXPECT_EQ(get(base + "/testbeds/t", {{"if-none-match", "\"1\""}}).status, 200);
    const auto none = get(base + "/testbeds/nope");
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(body(none)["detail"], "Testbed ns/nope does not exist");
}

TEST_F(api_test, a_job_is_served_with_the_spec_that_the_cache_does_not_keep) {
    put_job("j");
    EXPECT_EQ(body(get(base + "/jobs/j"))["spec"]["sparkSpec"]["mainClass"], "Main of j");
    const auto reads = server.log.size();
    EXPECT_EQ(reads, 1u);
    server.change(path_of(kube::types::batchjob, "j"),
                  [](json& job) { job["status"]["state"] = "RunningState"; });
    const auto again = body(get(base + "/jobs/j"));
    EXPECT_EQ(again["spec"]["sparkSpec"]["mainClass"], "Main of j");
    EXPECT_EQ(again["status"]["state"], "RunningState");
    EXPECT_EQ(server.log.size(), reads) << "a change of the status changes no spec";
    server.change(path_of(kube::types::batchjob, "j"),
                  [](json& job) { job["spec"]["sparkSpec"]["mainClass"] = "Other"; });
    EXPECT_EQ(body(get(base + "/jobs/j"))["spec"]["sparkSpec"]["mainClass"], "Other");
    EXPECT_EQ(server.log.size(), reads + 1);
}

TEST_F(api_test, a_blocking_query_answers_at_the_next_change_of_its_object) {
    put_plan("s", {"j"});
    const auto index = header(get(base + "/schedulings/s"), "X-ESI-Index");
    auto waiting = begin("GET", base + "/schedulings/s?index=" + index + "&wait=60s");
    EXPECT_FALSE(waiting->reply);
    put_plan("other", {"j"});
    run_for(loop, time, seconds(1));
    EXPECT_FALSE(waiting->reply);
    server.change(path_of(kube::types::scheduling, "s"),
                  [](json& of) { of["status"]["state"] = "CompletedState"; });
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(waiting->reply);
    EXPECT_EQ(body(*waiting->reply)["status"]["state"], "CompletedState");
    EXPECT_EQ(get(base + "/schedulings/s?index=0&wait=60s").status, 200) << "at once";

    const auto before = time.now();
    const auto newest = header(*waiting->reply, "X-ESI-Index");
    EXPECT_EQ(get(base + "/schedulings/s?index=" + newest + "&wait=90s").status, 200);
    EXPECT_EQ(time.now() - before, seconds(90)) << "unchanged, when the time is over";
    EXPECT_EQ(get(base + "/schedulings/s?index=" + newest + "&wait=1h").status, 200);
    EXPECT_EQ(time.now() - before, seconds(90 + 300)) << "cut to the longest";
}

TEST_F(api_test, a_blocking_query_of_a_list_answers_at_changes_and_deletions_in_its_namespace) {
    put_plan("s", {"j"});
    auto index = header(get(base + "/schedulings"), "X-ESI-Index");
    auto waiting = begin("GET", base + "/schedulings?index=" + index);
    put_plan("s", {"j"}, "AcquireState", "other");
    run_for(loop, time, seconds(1));
    EXPECT_FALSE(waiting->reply);
    put_plan("n", {"j"});
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(waiting->reply);
    EXPECT_EQ(names_in(*waiting->reply), "n s");
    index = header(*waiting->reply, "X-ESI-Index");
    waiting = begin("GET", base + "/schedulings?index=" + index);
    EXPECT_FALSE(waiting->reply);
    server.erase(path_of(kube::types::scheduling, "s"));
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(waiting->reply);
    EXPECT_EQ(names_in(*waiting->reply), "n");
    // A deletion that came between two requests.
    index = header(*waiting->reply, "X-ESI-Index");
    server.erase(path_of(kube::types::scheduling, "n"));
    const auto before = time.now();
    EXPECT_EQ(names_in(get(base + "/schedulings?index=" + index)), "");
    EXPECT_EQ(time.now(), before);
}

TEST_F(api_test, wait_for_answers_when_it_is_true_or_tells_the_present_state) {
    put_plan("s", {"j"});
    auto state = begin("GET", base + "/schedulings/s?waitFor=state%3DCompletedState&wait=5m");
    auto condition =
        begin("GET", base + "/schedulings/s?waitFor=condition:Acquired%3DTrue&wait=5m");
    server.change(path_of(kube::types::scheduling, "s"), [](json& of) {
        of["status"]["state"] = "SubmissionState";
        of["status"]["conditions"] = {
            {{"type", "Acquired"}, {"status", "True"}, {"reason", "Acquired"}}};
    });
    run_for(loop, time, milliseconds(1));
    EXPECT_TRUE(condition->reply);
    EXPECT_FALSE(state->reply);
    server.change(path_of(kube::types::scheduling, "s"),
                  [](json& of) { of["status"]["state"] = "CompletedState"; });
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(state->reply);
    EXPECT_EQ(state->reply->status, 200);
    EXPECT_EQ(get(base + "/schedulings/s?waitFor=state%3DCompletedState").status, 200);

    const auto late = get(base + "/schedulings/s?waitFor=state%3DFinishedState&wait=2s");
    EXPECT_EQ(late.status, 504);
    EXPECT_EQ(body(late)["code"], "Timeout");
    EXPECT_EQ(body(late)["state"], "CompletedState");
    EXPECT_EQ(body(late)["retryable"], true);

    auto gone = begin("GET", base + "/schedulings/s?waitFor=state%3DFinishedState");
    server.erase(path_of(kube::types::scheduling, "s"));
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(gone->reply);
    EXPECT_EQ(gone->reply->status, 404);
    for (const char* wrong : {"waitFor=Completed", "waitFor=state=", "waitFor==x",
                              "waitFor=condition:Acquired", "waitFor=state=x&index=4"}) {
        EXPECT_EQ(get(base + "/schedulings/s?" + wrong).status, 400) << wrong;
    }
}

TEST_F(api_test, requests_that_wait_end_with_the_process) {
    put_plan("s", {"j"});
    auto waiting = begin("GET", base + "/schedulings/s?waitFor=state%3DFinishedState");
    surface_.stop();
    run_for(loop, time, milliseconds(1));
    ASSERT_TRUE(waiting->reply);
    EXPECT_EQ(waiting->reply->status, 503);
    EXPECT_EQ(body(*waiting->reply)["code"], "Stopping");
}

struct few_waits : api_test {
    few_waits() : api_test(limits(), {{1e6, 1e6}, 1, 1}) {}
};

TEST_F(few_waits, more_than_may_wait_are_told_to_come_later) {
    put_plan("s", {"j"});
    auto first = begin("GET", base + "/schedulings/s?waitFor=state%3DFinishedState");
    const auto second = get(base + "/schedulings/s?waitFor=state%3DFinishedState");
    EXPECT_EQ(second.status, 429);
    EXPECT_EQ(header(second, "Retry-After"), "2");
    EXPECT_EQ(get(base + "/schedulings/s?waitFor=state%3DAcquireState").status, 200)
        << "it does not wait";
}

struct two_waits : api_test {
    two_waits() : api_test(limits(), {{1e6, 1e6}, 2, 2, 2, 2}) {}
};

TEST_F(two_waits, a_wait_of_the_tenant_with_the_most_ends_for_one_of_another) {
    put_plan("s", {"j"});
    const auto target = base + "/schedulings/s?waitFor=state%3DFinishedState";
    who.caller = "system:serviceaccount:evil:a";
    auto first = begin("GET", target);
    who.caller = "system:serviceaccount:evil:b";
    auto second = begin("GET", target);
    EXPECT_FALSE(second->reply);
    who.caller = "anna";
    auto good = begin("GET", target);
    EXPECT_FALSE(good->reply) << "it waits";
    EXPECT_FALSE(first->reply);
    ASSERT_TRUE(second->reply);
    EXPECT_EQ(second->reply->status, 429);
    EXPECT_EQ(body(*second->reply)["code"], "Throttled");
    EXPECT_EQ(header(*second->reply, "Retry-After"), "2");
    put_plan("s", {"j"}, "FinishedState");
    loop.restart();
    loop.poll();
    ASSERT_TRUE(good->reply);
    EXPECT_EQ(good->reply->status, 200);
}

TEST_F(api_test, slots_with_long_names_end_at_the_bound_of_an_answer) {
    put_testbed("t", 1200, 4);
    server.change(path_of(kube::types::testbed, "t"), [](json& testbed) {
        for (auto& slot : testbed["status"]["slots"]) {
            slot["podName"] = std::string(253, 'p');
            slot["reservedFor"] = std::string(253, 'j');
            slot["nodeName"] = std::string(253, 'n');
        }
    });
    std::size_t told = 0;
    int parts = 0;
    for (std::string more; parts < 9; ++parts) {
        const auto reply = get(base + "/testbeds/t/slots?limit=5000" + more);
        EXPECT_LE(reply.body.size(), list_limits::most_bytes + (1u << 20));
        const auto list = body(reply);
        for (const auto& slot : list["items"]) EXPECT_EQ(slot["position"], told++);
        if (!list.contains("continue")) break;
        more = "&continue=" + list["continue"].get<std::string>();
    }
    EXPECT_EQ(told, 4800u);
    EXPECT_EQ(parts, 1) << "two of them";
}

TEST_F(api_test, slots_are_filtered_and_come_in_parts) {
    put_testbed("t", 2, 2);
    const auto all = body(get(base + "/testbeds/t/slots"));
    ASSERT_EQ(all["items"].size(), 4u);
    EXPECT_EQ(all["items"][3]["nodeName"], "n1");
    EXPECT_EQ(all["testbed"]["name"], "t");
    EXPECT_EQ(body(get(base + "/testbeds/t/slots?state=FREE"))["items"].size(), 3u);
    EXPECT_EQ(body(get(base + "/testbeds/t/slots?state=FREE&node=n0"))["items"].size(), 1u);
    const auto first = body(get(base + "/testbeds/t/slots?limit=3"));
    EXPECT_EQ(first["continue"], "3");
    const auto rest = body(get(base + "/testbeds/t/slots?limit=3&continue=3"));
    ASSERT_EQ(rest["items"].size(), 1u);
    EXPECT_EQ(rest["items"][0]["position"], 3);
    EXPECT_FALSE(rest.contains("continue"));
}

TEST_F(api_test, runs_are_those_on_record) {
    auto job = object("BatchJob", "j", {{"sparkSpec", json::object()}});
    job["status"] = {{"state", "CompletedState"},
                     {"runCount", 21},
                     {"runs",
                      {{{"run", "h.1"},
                        {"slots", {0, 1}},
                        {"nodes", {"n0"}},
                        {"started", "2026-01-02T03:04:05.123456Z"},
                        {"outcome", "Succeeded"}}}}};
    server.put(job);
    const auto runs = body(get(base + "/jobs/j/runs"));
    EXPECT_EQ(runs["runCount"], 21);
    EXPECT_EQ(runs["items"][0]["started"], "2026-01-02T03:04:05.123Z");
    EXPECT_EQ(runs["items"][0]["slots"], json({0, 1}));
}

TEST_F(api_test, what_is_no_operation_is_a_problem) {
    const auto none = get("/api/v1/nothing");
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(none.content_type, "application/problem+json");
    const auto wrong = ask("DELETE", base + "/testbeds");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(header(wrong, "Allow"), "GET");
    EXPECT_EQ(get("/api/v1/%zz").status, 400);
    const auto html = get(base + "/testbeds", {{"accept", "text/html, application/json;q=0"}});
    EXPECT_EQ(html.status, 406);
    EXPECT_EQ(get(base + "/testbeds", {{"accept", "text/html, */*;q=0.1"}}).status, 200);
    EXPECT_EQ(get(base + "/testbeds", {{"accept", "application/*"}}).status, 200);
    const auto text =
        ask("POST", base + "/schedulings:preview", "x", {{"content-type", "text/plain"}});
    EXPECT_EQ(text.status, 415);
    EXPECT_EQ(header(text, "Accept-Post"), "application/json");
}

TEST_F(api_test, a_path_with_a_verb_takes_post_alone) {
    put_job("j");
    for (const char* method : {"GET", "DELETE", "OPTIONS", "PATCH"}) {
        const auto wrong = ask(method, base + "/jobs/j:release");
        EXPECT_EQ(wrong.status, 405) << method;
        EXPECT_EQ(header(wrong, "Allow"), "POST") << method;
    }
    EXPECT_EQ(get(base + "/jobs/j:nothing").status, 404);
}

TEST_F(api_test, what_no_object_can_be_called_is_not_there_and_nobody_is_asked) {
    const std::string odd[] = {"%20%C2%B7",          "a%25", "A", "-a", "a-", "a%3Ab",
                               std::string(254, 'a')};
    for (const auto& name : odd) {
        EXPECT_EQ(get(base + "/testbeds/" + name).status, 404) << name;
        EXPECT_EQ(ask("POST", base + "/jobs/" + name + ":reset").status, 404) << name;
        EXPECT_EQ(ask("DELETE", base + "/schedulings/" + name).status, 404) << name;
        EXPECT_EQ(get("/api/v1/namespaces/" + name + "/jobs").status, 404) << name;
    }
    EXPECT_EQ(get("/api/v1/namespaces/a.b/jobs").status, 404) << "no namespace has a dot";
    EXPECT_EQ(body(get(base + "/testbeds/A"))["detail"], "no object can be called \"A\"");
    EXPECT_TRUE(server.log.empty());
}

TEST_F(api_test, nobody_is_answered_without_the_right) {
    put_testbed("t");
    who.forbidden.insert("get testbeds ns/t");
    EXPECT_EQ(get(base + "/testbeds/t").status, 403);
    who.caller.clear();
    EXPECT_EQ(get(base + "/testbeds").status, 401);
}

struct not_synced : api_test {
    void SetUp() override {}
};

TEST_F(not_synced, nothing_is_answered_before_the_caches_are_full) {
    const auto reply = get(base + "/testbeds");
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(body(reply)["code"], "CachesNotSynced");
    EXPECT_EQ(header(reply, "Retry-After"), "2");
}

}  // namespace
}  // namespace esi::interface::v1
