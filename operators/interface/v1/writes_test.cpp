#include "interface/v1/writes.h"

#include "base/log.h"
#include "interface/v1/access/trail.h"
#include "interface/v1/testing.h"

namespace esi::interface::v1 {
namespace {

const std::string base = "/api/v1/namespaces/ns";
const std::string plans = base + "/schedulings";

struct writes_test : api_test {
    using pairs = headers;

    std::string etag_of_plan(const std::string& name) {
        return "\"" + version_of(kube::types::scheduling, name) + "\"";
    }
    http::server_reply patch(const std::string& name, const json& what, std::string tag) {
        pairs with{{"content-type", "application/merge-patch+json"}};
        if (!tag.empty()) with.emplace_back("if-match", std::move(tag));
        return ask("PATCH", plans + "/" + name, what.dump(), std::move(with));
    }
    http::server_reply put(const std::string& name, const json& what, std::string tag) {
        return ask("PUT", plans + "/" + name, what.dump(),
                   {{"content-type", "application/json"}, {"if-match", std::move(tag)}});
    }
    const json& stored(const std::string& name) {
        return server.objects.at(path_of(kube::types::scheduling, name));
    }
    const json& job(const std::string& name) {
        return server.objects.at(path_of(kube::types::batchjob, name));
    }
};

TEST_F(writes_test, a_pool_is_stored_and_one_that_is_a_queue_too_is_refused) {
    put_testbed("t");
    put_job("a");
    auto wanted = object("Scheduling", "s", {{"testbed", {{"name", "t"}}}});
    wanted["spec"]["poolBased"]["jobs"] = json::array({{{"name", {{"name", "a"}}}, {"slots", 2}}});
    EXPECT_EQ(ask("POST", plans, wanted.dump()).status, 201);
    wanted["metadata"]["name"] = "other";
    wanted["spec"]["queueBased"] = json::array({{{"name", "a"}}});
    const auto refused = ask("POST", plans, wanted.dump());
    EXPECT_EQ(refused.status, 422);
    EXPECT_NE(refused.body.find("must be given, not queueBased and poolBased"), std::string::npos);
}

TEST_F(writes_test, a_post_creates_with_location_version_and_the_callers_name) {
    put_testbed("t");
    put_job("a");
    auto wanted = object("Scheduling", "s", queue_of("t", {"a", "missing"}));
    wanted["metadata"]["labels"] = {{"team", "red"}};
    const auto reply = ask("POST", plans, wanted.dump());
    ASSERT_EQ(reply.status, 201) << reply.body;
    EXPECT_EQ(header(reply, "Location"), plans + "/s");
    EXPECT_EQ(header(reply, "ETag"), etag_of_plan("s"));
    EXPECT_EQ(header(reply, "Warning"),
              "299 - \"BatchJob ns/missing does not exist; the Scheduling waits for it\"");
    EXPECT_EQ(body(reply)["metadata"]["labels"]["team"], "red");
    EXPECT_EQ(stored("s")["metadata"]["annotations"][std::string(requested_by)], "anna");
    EXPECT_EQ(stored("s")["spec"], wanted["spec"]);
    EXPECT_EQ(get(plans + "/s").status, 200) << "a GET right behind shows it";
    const auto again = ask("POST", plans, wanted.dump());
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(body(again)["code"], "AlreadyExists");
    EXPECT_EQ(body(again)["detail"], "Scheduling ns/s exists; PUT or PATCH changes it");
}

TEST_F(writes_test, a_plan_with_a_claim_names_no_testbed_and_cannot_get_one) {
    put_job("a");
    const auto wanted = object("Scheduling", "s", claim_of(2, {"a"}));
    const auto made = ask("POST", plans, wanted.dump());
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(header(made, "Warning"), "(none)");
    EXPECT_EQ(stored("s")["spec"], wanted["spec"]);
    const auto shown = body(get(plans + "/s"))["spec"];
    EXPECT_EQ(shown["claim"]["shapes"][0]["name"], "executors");
    EXPECT_FALSE(shown.contains("testbed"));

    auto both = wanted;
    both["metadata"]["name"] = "both";
    both["spec"]["testbed"] = {{"name", "t"}};
    EXPECT_EQ(faults_in(ask("POST", plans, both.dump())), "/spec TestbedAndClaim");
    both["spec"].erase("testbed");
    both["spec"].erase("claim");
    EXPECT_EQ(faults_in(ask("POST", plans, both.dump())), "/spec TestbedAndClaim");
    const auto large = object("Scheduling", "large", claim_of(2, {"a", "a", "a"}));
    EXPECT_EQ(faults_in(ask("POST", plans, large.dump())), "/spec/queueBased/0 TooManySlots");
    auto many = wanted;
    many["metadata"]["name"] = "many";
    auto more = many["spec"]["claim"]["shapes"][0];
    more["name"] = "more";
    more["count"] = 1000;
    many["spec"]["claim"]["shapes"].push_back(more);
    EXPECT_EQ(faults_in(ask("POST", plans, many.dump())), "/spec/claim/shapes TooManyPlaces");
    auto steered = wanted;
    steered["metadata"]["name"] = "steered";
    steered["spec"]["claim"]["priority"] = 3;
    EXPECT_EQ(faults_in(ask("POST", plans, steered.dump())), "/spec/claim/priority FieldUnknown");

    const json named{{"spec", {{"claim", nullptr}, {"testbed", {{"name", "t"}}}}}};
    EXPECT_EQ(faults_in(patch("s", named, "*")), "/spec/claim FieldImmutable");
    EXPECT_EQ(patch("s", {{"spec", {{"priority", 2}}}}, "*").status, 200);
    EXPECT_EQ(stored("s")["spec"]["claim"], wanted["spec"]["claim"]);
}

TEST_F(writes_test, a_name_that_a_testbed_has_is_a_warning_where_the_plan_has_a_claim) {
    put_job("a");
    put_testbed("s");
    const auto made = ask("POST", plans, object("Scheduling", "s", claim_of(1, {"a"})).dump());
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(header(made, "Warning").contains("exists and is not the one of this claim"))
        << header(made, "Warning");
}

TEST_F(writes_test, a_dry_run_stores_nothing) {
    put_testbed("t");
    const auto reply =
        ask("POST", plans + "?dryRun=true", object("Scheduling", "s", queue_of("t", {"a"})).dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(header(reply, "Location"), "(none)");
    EXPECT_EQ(server.log.back(),
              "POST /apis/esi.tu-berlin.de/v1alpha1/namespaces/ns/schedulings?dryRun=All");
    EXPECT_EQ(get(plans + "/s").status, 404);
    EXPECT_EQ(ask("POST", plans + "?dryRun=1", "{}").status, 400);
}

TEST_F(writes_test, what_can_never_start_is_refused_with_the_place_in_the_body) {
    put_testbed("t", 1, 2);
    const auto reply =
        ask("POST", plans, object("Scheduling", "s", queue_of("t", {"b", "a", "a", "a"})).dump());
    EXPECT_EQ(reply.status, 422);
    EXPECT_EQ(faults_in(reply), "/spec/queueBased/1 TooManySlots");
    EXPECT_EQ(body(reply)["code"], "TooManySlots");
    json slots{{"testbed", {{"name", "t"}}},
               {"slotBased",
                {{"mode", "strict"},
                 {"jobs",
                  {{{"name", {{"name", "a"}}}, {"slotIds", {0}}},
                   {{"name", {{"name", "b"}}}, {"slotIds", {7}}}}}}}};
    EXPECT_EQ(faults_in(ask("POST", plans, object("Scheduling", "s", slots).dump())),
              "/spec/slotBased/jobs/1 SlotOutsideLayout");
    EXPECT_TRUE(server.log.empty());
}

TEST_F(writes_test, the_same_idempotency_key_gives_the_same_object_for_a_day) {
    put_testbed("t");
    const auto wanted = object("Scheduling", "s", queue_of("t", {"a"})).dump();
    const auto post = [&](const std::string& what, const std::string& key) {
        return ask("POST", plans, what,
                   {{"content-type", "application/json"}, {"idempotency-key", key}});
    };
    const auto first = post(wanted, "k1");
    EXPECT_EQ(first.status, 201) << first.body;
    const auto second = post(wanted, "k1");
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(body(second)["metadata"]["uid"], body(first)["metadata"]["uid"]);
    EXPECT_EQ(post(wanted, "k2").status, 409);
    const auto other = post(object("Scheduling", "s", queue_of("t", {"b"})).dump(), "k1");
    EXPECT_EQ(other.status, 422);
    EXPECT_EQ(body(other)["code"], "IdempotencyKeyReused");
    const auto renamed = post(object("Scheduling", "r", queue_of("t", {"a"})).dump(), "k1");
    EXPECT_EQ(body(renamed)["code"], "IdempotencyKeyReused");
    EXPECT_EQ(post(wanted, "").status, 400);
    who.caller = "bert";
    EXPECT_EQ(post(wanted, "k1").status, 409) << "the keys of others are others";
    who.caller = "anna";
    run_for(loop, time, std::chrono::hours(25));
    EXPECT_EQ(post(wanted, "k1").status, 409) << "it counted for a day";
}

TEST_F(writes_test, twins_with_one_idempotency_key_get_the_object_of_the_first) {
    put_testbed("t");
    const auto wanted = object("Scheduling", "s", queue_of("t", {"a"})).dump();
    const headers with{{"content-type", "application/json"}, {"idempotency-key", "k"}};
    ASSERT_EQ(ask("POST", plans, wanted, with).status, 201);
    // The other request has looked before the first object was there.
    int gets = 0;
    server.instead = [&](const kube::request& what) -> std::optional<result<kube::response>> {
        if (what.method != "GET" || ++gets > 1) return std::nullopt;
        kube::response out;
        out.status = 404;
        return out;
    };
    EXPECT_EQ(ask("POST", plans, wanted, with).status, 201);
    EXPECT_EQ(gets, 2);
}

TEST_F(writes_test, what_a_key_has_made_and_goes_away_is_no_answer) {
    put_testbed("t");
    const auto wanted = object("Scheduling", "s", queue_of("t", {"a"})).dump();
    const headers with{{"content-type", "application/json"}, {"idempotency-key", "k"}};
    ASSERT_EQ(ask("POST", plans, wanted, with).status, 201);
    auto going = stored("s");
    going["metadata"]["deletionTimestamp"] = "2026-11-25T00:00:00Z";
    server.instead = [&](const kube::request& what) -> std::optional<result<kube::response>> {
        if (what.method != "GET") return std::nullopt;
        kube::response out;
        out.status = 200;
        out.body = going.dump();
        return out;
    };
    const auto again = ask("POST", plans, wanted, with);
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(body(again)["retryable"], true);
}

TEST_F(writes_test, a_change_needs_the_version_that_it_was_made_from) {
    put_testbed("t");
    put_plan("s", {"a"});
    const json what{{"spec", {{"priority", 5}}}};
    const auto without = patch("s", what, "");
    EXPECT_EQ(without.status, 428);
    EXPECT_EQ(body(without)["code"], "PreconditionRequired");
    EXPECT_EQ(patch("s", what, "\"1\"").status, 412);
    const auto tag = etag_of_plan("s");
    const auto done = patch("s", what, tag);
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(body(done)["spec"]["priority"], 5);
    EXPECT_EQ(header(done, "ETag"), etag_of_plan("s"));
    EXPECT_EQ(stored("s")["metadata"]["annotations"][std::string(requested_by)], "anna");
    EXPECT_EQ(patch("s", what, tag).status, 412);
    EXPECT_EQ(patch("s", what, "\"*\"").status, 412) << "a tag, and not the star";
    const auto lost = ask("POST", plans + "/s:suspend", "", {{"if-match", " "}});
    EXPECT_EQ(lost.status, 400);
    EXPECT_EQ(faults_in(lost), "If-Match: FieldValue");
    EXPECT_FALSE(stored("s")["spec"].contains("suspend"));
    EXPECT_EQ(patch("s", what, "*").status, 200);
    EXPECT_EQ(patch("nope", what, "*").status, 404);
    const auto json_patch = ask("PATCH", plans + "/s", "{}");
    EXPECT_EQ(json_patch.status, 415);
    EXPECT_EQ(header(json_patch, "Accept-Patch"), "application/merge-patch+json");
}

TEST_F(writes_test, of_two_changes_of_one_version_one_is_made) {
    put_testbed("t");
    put_plan("s", {"a"});
    const auto tag = etag_of_plan("s");
    // Both have read before either writes.
    server.instead = [&](const kube::request& what) -> std::optional<result<kube::response>> {
        if (what.method != "PATCH") return std::nullopt;
        server.instead = nullptr;
        server.change(path_of(kube::types::scheduling, "s"),
                      [](json& of) { of["spec"]["priority"] = 1; });
        return std::nullopt;
    };
    const auto late = patch("s", {{"spec", {{"priority", 2}}}}, tag);
    EXPECT_EQ(late.status, 412) << late.body;
    EXPECT_EQ(stored("s")["spec"]["priority"], 1);
}

TEST_F(writes_test, a_change_of_any_version_is_tried_again_where_others_were_first) {
    put_testbed("t");
    put_plan("s", {"a"});
    int others = 2;
    server.instead = [&](const kube::request& what) -> std::optional<result<kube::response>> {
        if (what.method != "PATCH" || others-- <= 0) return std::nullopt;
        server.change(path_of(kube::types::scheduling, "s"),
                      [&](json& of) { of["status"]["epoch"] = others; });
        return std::nullopt;
    };
    EXPECT_EQ(patch("s", {{"spec", {{"priority", 2}}}}, "*").status, 200);
    others = 1000;
    const auto never = patch("s", {{"spec", {{"priority", 3}}}}, "*");
    EXPECT_EQ(never.status, 409);
    EXPECT_EQ(body(never)["retryable"], true);
}

TEST_F(writes_test, a_queue_is_extended_and_a_put_replaces) {
    put_testbed("t");
    put_plan("s", {"a"});
    const auto longer = patch("s", {{"spec", queue_of("t", {"a", "b"})}}, "*");
    EXPECT_EQ(longer.status, 200) << longer.body;
    EXPECT_EQ(stored("s")["spec"]["queueBased"].size(), 2u);
    auto whole = body(get(plans + "/s"));
    whole["spec"]["priority"] = 3;
    whole["spec"].erase("releaseOnCompletion");
    const auto put_back = put("s", whole, etag_of_plan("s"));
    EXPECT_EQ(put_back.status, 200) << put_back.body;
    EXPECT_EQ(stored("s")["spec"]["priority"], 3);
    EXPECT_EQ(put("s", whole, "*").status, 412) << "the version in the body is an old one";
    whole["metadata"].erase("resourceVersion");
    whole["metadata"]["uid"] = "another";
    EXPECT_EQ(put("s", whole, "*").status, 409);
    whole["metadata"].erase("uid");
    whole["spec"].erase("priority");
    EXPECT_EQ(put("s", whole, "*").status, 200);
    EXPECT_FALSE(stored("s")["spec"].contains("priority"));
}

TEST_F(writes_test, labels_are_changed_one_by_one) {
    put_testbed("t");
    put_plan("s", {"a"});
    EXPECT_EQ(patch("s", {{"metadata", {{"labels", {{"a", "1"}, {"b", "2"}}}}}}, "*").status, 200);
    EXPECT_EQ(stored("s")["metadata"]["labels"], (json{{"a", "1"}, {"b", "2"}}));
    EXPECT_EQ(patch("s", {{"metadata", {{"labels", {{"a", nullptr}}}}}}, "*").status, 200);
    EXPECT_EQ(stored("s")["metadata"]["labels"], (json{{"b", "2"}}));
    EXPECT_EQ(patch("s", {{"metadata", {{"labels", nullptr}}}}, "*").status, 200);
    EXPECT_EQ(stored("s")["metadata"].value("labels", json::object()), json::object());
    EXPECT_EQ(
        faults_in(patch("s", {{"metadata", {{"labels", {{"-a", "1"}}}, {"name", "x"}}}}, "*")),
        "/metadata/name FieldUnknown");
    EXPECT_EQ(faults_in(patch("s", {{"metadata", {{"labels", {{"-a", "1"}}}}}}, "*")),
              "/metadata/labels/-a FieldValue");
}

TEST_F(writes_test, annotations_are_stored_but_for_those_of_esi) {
    put_testbed("t");
    auto wanted = object("Scheduling", "s", queue_of("t", {"a"}));
    wanted["metadata"]["annotations"] = {{"example.org/a", "1"},
                                         {std::string(requested_by), "root"}};
    EXPECT_EQ(ask("POST", plans, wanted.dump()).status, 201);
    const std::string own(requested_by);
    EXPECT_EQ(stored("s")["metadata"]["annotations"],
              (json{{"example.org/a", "1"}, {own, "anna"}}));
    const auto shown = body(get(plans + "/s"));
    EXPECT_EQ(shown["metadata"]["annotations"], (json{{own, "anna"}}));
    who.caller = "bert";
    EXPECT_EQ(put("s", shown, "*").status, 200);
    const json both{{"example.org/a", "1"}, {own, "bert"}};
    EXPECT_EQ(stored("s")["metadata"]["annotations"], both) << "what is not shown stays";
    EXPECT_EQ(patch("s", {{"spec", {{"priority", 2.0}}}}, "*").status, 200);
    EXPECT_EQ(stored("s")["metadata"]["annotations"], both) << "and what a patch does not name";
    EXPECT_EQ(stored("s")["spec"]["priority"], 2);
    EXPECT_EQ(
        patch("s", {{"metadata", {{"annotations", {{"example.org/a", nullptr}, {"b", "2"}}}}}}, "*")
            .status,
        200);
    EXPECT_EQ(stored("s")["metadata"]["annotations"], (json{{"b", "2"}, {own, "bert"}}));
    EXPECT_EQ(faults_in(patch("s", {{"metadata", {{"annotations", {{"-", "1"}}}}}}, "*")),
              "/metadata/annotations/- FieldValue");
}

TEST_F(writes_test, a_change_is_checked_as_the_whole_that_comes_of_it) {
    put_testbed("t", 1, 2);
    put_plan("s", {"a", "a", "a"});
    const struct {
        json what;
        const char* faults;
    } table[] = {
        {{{"spec", {{"testbed", {{"name", "u"}}}}}}, "/spec/testbed FieldImmutable"},
        {{{"spec", {{"slotBased", {{"mode", "strict"}, {"jobs", json::array()}}}}}},
         "/spec QueueAndSlots"},
        {{{"spec", nullptr}}, "/spec FieldType"},
        {{{"spec", {{"more", 1}}}}, "/spec/more FieldUnknown"},
        {{{"spec", {{"queueBased", nullptr}}}}, "/spec QueueAndSlots"},
        {{{"spec", {{"x", 1}}}, {"y", 2}}, "/spec/x FieldUnknown, /y FieldUnknown"},
        {{{"status", {{"state", "CompletedState"}}}}, "/status FieldImmutable"},
        {{{"spec", queue_of("t", {"a", "a", "a", "b", "b", "b"})}},
         "/spec/queueBased/3 TooManySlots"},
    };
    for (const auto& row : table) {
        const auto reply = patch("s", row.what, "*");
        EXPECT_EQ(reply.status, 422) << row.what;
        EXPECT_EQ(faults_in(reply), row.faults) << row.what;
    }
    EXPECT_EQ(patch("s", {{"spec", {{"priority", 1}}}}, "*").status, 200)
        << "what was wrong before does not prevent another change";
}

TEST_F(writes_test, what_the_api_server_refuses_is_told_by_its_causes) {
    put_testbed("t");
    server.instead = [](const kube::request& what) -> std::optional<result<kube::response>> {
        if (what.method != "POST") return std::nullopt;
        kube::response out;
        out.status = 422;
        out.body = json{{"kind", "Status"},
                        {"code", 422},
                        {"reason", "Invalid"},
                        {"message", "refused"},
                        {"details",
                         {{"causes",
                           {{{"reason", "FieldValueInvalid"},
                             {"message", "too odd"},
                             {"field", "spec.queueBased[0].name"}},
                            {{"reason", "FieldValueRequired"},
                             {"message", "Required value"},
                             {"field", "metadata.labels[a/b]"}},
                            {{"message", "no"}, {"field", "<nil>"}}}}}}}
                       .dump();
        return out;
    };
    const auto reply = ask("POST", plans, object("Scheduling", "s", queue_of("t", {"a"})).dump());
    EXPECT_EQ(reply.status, 422);
    EXPECT_EQ(faults_in(reply),
              "/spec/queueBased/0/name FieldValue, /metadata/labels/a~1b FieldMissing, "
              " RefusedByApiServer");
    server.instead = [](const kube::request&) { return fail(errc::timeout, "nothing came"); };
    const auto silent = ask("POST", plans, object("Scheduling", "s", queue_of("t", {"a"})).dump());
    EXPECT_EQ(silent.status, 503);
    EXPECT_EQ(body(silent)["code"], "ApiServer");
}

TEST_F(writes_test, a_delete_tells_whether_something_is_left_to_release) {
    put_testbed("t");
    put_plan("s", {"a"});
    EXPECT_EQ(ask("DELETE", plans + "/s", "", {{"if-match", "\"1\""}}).status, 412);
    EXPECT_EQ(ask("DELETE", plans + "/s", "", {{"if-match", "\"*\""}}).status, 412);
    server.change(path_of(kube::types::scheduling, "s"),
                  [](json& of) { of["metadata"]["finalizers"] = {"esi.tu-berlin.de/release"}; });
    const auto releasing = ask("DELETE", plans + "/s", "", {{"if-match", etag_of_plan("s")}});
    EXPECT_EQ(releasing.status, 202) << releasing.body;
    EXPECT_TRUE(body(releasing)["metadata"].contains("deletionTimestamp"));
    EXPECT_EQ(patch("s", {{"spec", {{"priority", 1}}}}, "*").status, 409);
    EXPECT_EQ(
        body(ask("POST", plans, object("Scheduling", "s", queue_of("t", {"a"})).dump()))["detail"],
        "Scheduling ns/s is being deleted");
    put_plan("u", {"a"});
    EXPECT_EQ(ask("DELETE", plans + "/u").status, 204);
    EXPECT_EQ(get(plans + "/u").status, 404);
    EXPECT_EQ(ask("DELETE", plans + "/u").status, 404);
}

TEST_F(writes_test, notes_are_merged_key_by_key) {
    put_job("j");
    const auto merge = [&](const json& what) {
        return ask("PATCH", base + "/jobs/j/external-scheduler", what.dump(),
                   {{"content-type", "application/merge-patch+json"}});
    };
    const auto first = merge({{"profiler", {{{"b", "24 (16)"}}}}, {"other", json::array()}});
    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(body(first)["spec"]["sparkSpec"]["mainClass"], "Main of j");
    EXPECT_EQ(merge({{"other", nullptr}}).status, 200);
    EXPECT_EQ(job("j")["spec"]["externalScheduler"], (json{{"profiler", {{{"b", "24 (16)"}}}}}));
    EXPECT_EQ(faults_in(merge({{"a", "text"}, {"b", {{{"c", 1}}}}})),
              "/a FieldType, /b/0/c FieldType");
    EXPECT_EQ(who.asked.back(), "patch batchjobs ns/j");
}

TEST_F(writes_test, a_failed_job_is_reset_and_no_other) {
    put_job("f", "FailedState");
    put_job("r", "RunningState");
    EXPECT_EQ(ask("POST", base + "/jobs/f:reset").status, 202);
    EXPECT_TRUE(job("f")["metadata"]["annotations"].contains("esi.tu-berlin.de/reset"));
    const auto running = ask("POST", base + "/jobs/r:reset");
    EXPECT_EQ(running.status, 409);
    EXPECT_EQ(body(running)["detail"],
              "BatchJob ns/r is in RunningState: only a failed job is reset");
    EXPECT_EQ(ask("POST", base + "/jobs/none:reset").status, 404);
}

TEST_F(writes_test, a_job_is_released_by_taking_its_order_away) {
    auto held = object("BatchJob", "j", {{"sparkSpec", json::object()}});
    held["spec"]["activeScheduling"] = {{"namespace", "ns"}, {"name", "s"}};
    held["spec"]["creationRequest"] = {{"testbedName", {{"name", "t"}}}, {"slotIds", {0}}};
    server.put(held);
    EXPECT_EQ(ask("POST", base + "/jobs/j:release").status, 202);
    EXPECT_EQ(job("j")["spec"], (json{{"sparkSpec", json::object()}}));
    const auto writes = server.bodies.size();
    EXPECT_EQ(ask("POST", base + "/jobs/j:release").status, 202);
    EXPECT_EQ(server.bodies.size(), writes) << "nothing to do";
}

TEST_F(writes_test, a_plan_is_suspended_and_resumed_and_its_jobs_are_cancelled) {
    put_testbed("t");
    put_plan("s", {"a", "b"});
    EXPECT_EQ(ask("POST", plans + "/s:suspend").status, 202);
    EXPECT_EQ(stored("s")["spec"]["suspend"], true);
    EXPECT_EQ(stored("s")["spec"]["suspendPolicy"], "Keep");
    EXPECT_EQ(ask("POST", plans + "/s:suspend", R"({"policy": "Release"})").status, 202);
    EXPECT_EQ(stored("s")["spec"]["suspendPolicy"], "Release");
    EXPECT_EQ(faults_in(ask("POST", plans + "/s:suspend", R"({"policy": "Drop", "x": 1})")),
              "/policy FieldValue, /x FieldUnknown");
    EXPECT_EQ(faults_in(ask("POST", plans + "/s:suspend", R"({"policy": null})")),
              "/policy FieldType");
    EXPECT_EQ(stored("s")["spec"]["suspendPolicy"], "Release");
    EXPECT_EQ(ask("POST", plans + "/s:resume").status, 202);
    EXPECT_EQ(stored("s")["spec"]["suspend"], false);

    EXPECT_EQ(ask("POST", plans + "/s:cancel", R"({"job": "b"})").status, 202);
    EXPECT_EQ(ask("POST", plans + "/s:cancel", R"({"job": "b"})").status, 202) << "once is enough";
    EXPECT_EQ(stored("s")["spec"]["cancelledJobs"], (json{{{"namespace", "ns"}, {"name", "b"}}}));
    const auto unknown = ask("POST", plans + "/s:cancel", R"({"job": "c"})");
    EXPECT_EQ(unknown.status, 422);
    EXPECT_EQ(body(unknown)["code"], "JobUnknown");
    EXPECT_EQ(faults_in(ask("POST", plans + "/s:cancel", "{}")), "/job FieldMissing");
    EXPECT_EQ(ask("POST", plans + "/s:cancel").status, 415) << "the body is not optional";
}

TEST_F(writes_test, each_write_is_a_line_of_the_log) {
    put_testbed("t");
    std::vector<std::string> lines;
    log::send_to([&](log::level, std::string_view text) {
        if (text.contains("api write")) lines.emplace_back(text);
    });
    ask("POST", plans, object("Scheduling", "s", queue_of("t", {"a"})).dump());
    patch("s", {{"spec", {{"priority", 1}}}}, "\"1\"");
    ask("DELETE", plans + "/s");
    log::send_to({});
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_TRUE(lines[0].contains("caller=anna") && lines[0].contains("verb=create") &&
                lines[0].contains("object=ns/s status=201"))
        << lines[0];
    EXPECT_TRUE(lines[1].contains("verb=patch") && lines[1].contains("status=412") &&
                lines[1].contains("code=PreconditionFailed"))
        << lines[1];
    EXPECT_TRUE(lines[2].contains("verb=delete") && lines[2].contains("status=204")) << lines[2];
}

// --- nodes ---

struct nodes_test : api_test {
    nodes_test() : api_test(limits{seconds(300), true}) {}

    void put_node(const std::string& name, json labels = json::object()) {
        server.put({{"kind", "Node"},
                    {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                    {"status",
                     {{"allocatable", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}},
                      {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    void put_pod(const std::string& name, const std::string& node, const std::string& cpu) {
        server.put({{"kind", "Pod"},
                    {"metadata", {{"name", name}, {"namespace", "x"}}},
                    {"spec",
                     {{"nodeName", node},
                      {"containers", {{{"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
                    {"status", {{"phase", "Running"}}}});
    }
    std::string id_of(const std::string& node) {
        return server.objects.at(kube::types::node.path("", node))["metadata"]
            .value("labels", json::object())
            .value("example.org/slots", "-");
    }
    http::server_reply set(const json& what) {
        return ask("PUT", base + "/testbeds/t/nodes", what.dump());
    }
};

TEST_F(nodes_test, the_least_requested_nodes_get_the_label) {
    put_testbed("t", 1, 2);
    put_node("a");
    put_node("b", {{"example.org/slots", "5"}});
    put_node("c");
    put_pod("p", "a", "1");
    put_pod("q", "b", "3");
    const auto reply = set({{"count", 2}});
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(body(reply)["nodes"], json({"c", "a"}));
    EXPECT_EQ(body(reply)["changed"], json({"b", "c", "a"}));
    EXPECT_EQ(id_of("a") + id_of("b") + id_of("c"), "1-0");
    EXPECT_EQ(body(set({{"count", 2}}))["changed"], json::array()) << "the same question";
    const auto few = set({{"count", 3}});
    EXPECT_EQ(few.status, 409);
    EXPECT_EQ(body(few)["code"], "TooFewNodes");
    EXPECT_EQ(body(set({{"nodes", {"b", "c"}}}))["nodes"], json({"b", "c"}));
    EXPECT_EQ(id_of("a") + id_of("b") + id_of("c"), "-01");
    EXPECT_EQ(who.asked[0], "get testbeds ns/t");
    EXPECT_TRUE(who.asked[1].starts_with("patch nodes"));
}

TEST_F(nodes_test, all_that_is_wrong_is_told) {
    put_testbed("t");
    put_node("a");
    EXPECT_EQ(faults_in(set({{"count", 1}, {"nodes", {"a"}}})), " FieldValue");
    EXPECT_EQ(faults_in(set(json::object())), " FieldValue");
    EXPECT_EQ(faults_in(set({{"count", 0}})), "/count FieldValue");
    EXPECT_EQ(faults_in(set({{"nodes", {"a", "a"}}})), "/nodes/1 FieldTwice");
    EXPECT_EQ(faults_in(set({{"nodes", {"a", "x", "y"}}})),
              "/nodes/1 FieldValue, /nodes/2 FieldValue");
    server.change(path_of(kube::types::testbed, "t"),
                  [](json& of) { of["spec"]["nodeLabel"] = "kubernetes.io/hostname"; });
    EXPECT_EQ(set({{"count", 1}}).status, 409);
}

TEST_F(nodes_test, nobody_chooses_the_nodes_of_a_claim) {
    put_node("a");
    server.put({{"apiVersion", kube::types::testbed.api_version()},
                {"kind", "Testbed"},
                {"metadata", {{"name", "t"}, {"namespace", "ns"}}},
                {"spec", {{"claim", claim_of(1, {})["claim"]}, {"isolation", "None"}}}});
    for (const json& wanted : {json{{"count", 1}}, json{{"nodes", {"a"}}}}) {
        const auto reply = set(wanted);
        EXPECT_EQ(reply.status, 409);
        EXPECT_EQ(body(reply)["code"], "NodesOfClaim");
        EXPECT_TRUE(body(reply)["detail"].get<std::string>().contains("ESI chooses its nodes"));
    }
    EXPECT_EQ(id_of("a"), "-");
}

TEST_F(api_test, labels_of_nodes_are_written_only_where_it_is_allowed) {
    put_testbed("t");
    const auto reply = ask("PUT", base + "/testbeds/t/nodes", R"({"count": 1})");
    EXPECT_EQ(reply.status, 403);
    EXPECT_EQ(body(reply)["code"], "NodesNotEnabled");
    EXPECT_TRUE(server.log.empty());
}

}  // namespace
}  // namespace esi::interface::v1
