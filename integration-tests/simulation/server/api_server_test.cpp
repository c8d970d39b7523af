// What kube-apiserver 1.36 does with objects of any kind, seen there and asked of the model.
#include "server/api_server.h"

#include "server/testing.h"

namespace esi::simulation {
namespace {

using namespace esi::simulation::testing;

json at(const json& from, const char* pointer) {
    const json::json_pointer path(pointer);
    return from.contains(path) ? from[path] : json();
}

struct api_server_test : ::testing::Test {
    world of;

    json make(const std::string& collection, json body) {
        auto [status, made] = of.send("POST", collection, std::move(body));
        EXPECT_EQ(status, 201) << made.dump();
        return made;
    }
    json testbed(const std::string& name, json metadata = json::object()) {
        auto body = world::testbed(name);
        body["metadata"].update(metadata);
        return make(testbeds, std::move(body));
    }
};

TEST_F(api_server_test, errors_are_the_servers) {
    testbed("a");
    json wrong_kind = world::testbed("b");
    wrong_kind["kind"] = "Foo";
    json nameless = world::testbed("b");
    nameless["metadata"] = json::object();
    json elsewhere = world::testbed("b");
    elsewhere["metadata"]["namespace"] = "other";
    json versioned = world::testbed("b");
    versioned["metadata"]["resourceVersion"] = "5";
    json numbers = world::testbed("b");
    numbers["metadata"]["labels"] = {{"a", 1}};
    const std::string group = "/apis/esi.tu-berlin.de/v1alpha1";
    struct {
        std::string method;
        std::string target;
        json body;
        int status;
        std::string reason;
        std::string message;
    } cases[] = {
        {"GET", testbeds + "/z", nullptr, 404, "NotFound",
         "testbeds.esi.tu-berlin.de \"z\" not found"},
        {"GET", pods + "/z", nullptr, 404, "NotFound", "pods \"z\" not found"},
        {"DELETE", testbeds + "/z", nullptr, 404, "NotFound",
         "testbeds.esi.tu-berlin.de \"z\" not found"},
        {"PUT", testbeds + "/z", world::testbed("z"), 404, "NotFound",
         "testbeds.esi.tu-berlin.de \"z\" not found"},
        {"POST", testbeds, world::testbed("a"), 409, "AlreadyExists",
         "testbeds.esi.tu-berlin.de \"a\" already exists"},
        {"POST", testbeds, wrong_kind, 422, "Invalid",
         "Foo.esi.tu-berlin.de \"b\" is invalid: kind: Invalid value: \"Foo\": must be Testbed"},
        {"POST", testbeds, elsewhere, 400, "BadRequest",
         "the namespace of the provided object does not match the namespace sent on the request"},
        {"POST", testbeds, versioned, 500, "",
         "resourceVersion should not be set on objects to be created"},
        {"POST", testbeds, numbers, 400, "BadRequest",
         "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
         "string"},
        {"POST", group + "/namespaces/none/testbeds", world::testbed("a"), 404, "NotFound",
         "namespaces \"none\" not found"},
        {"GET", "/api/v1/foos", nullptr, 404, "NotFound",
         "the server could not find the requested resource"},
        {"GET", "/api/v1/namespaces/default/nodes", nullptr, 404, "NotFound",
         "the server could not find the requested resource"},
        {"PUT", testbeds, world::testbed("a"), 400, "BadRequest", "name must be provided"},
        {"POST", testbeds + "?dryRun=Foo", world::testbed("b"), 422, "Invalid",
         "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: "
         "supported "
         "values: \"All\""},
        {"GET", testbeds + "?fieldSelector=spec.foo%3D1", nullptr, 400, "BadRequest",
         "field label not supported: spec.foo"},
        {"GET", testbeds + "?resourceVersionMatch=Exact", nullptr, 422, "Invalid",
         "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
         "resourceVersionMatch is forbidden unless resourceVersion is provided"},
    };
    for (const auto& each : cases) {
        const auto [status, answer] = of.send(each.method, each.target, each.body);
        EXPECT_EQ(status, each.status) << each.method << " " << each.target;
        EXPECT_EQ(answer.value("reason", ""), each.reason) << each.method << " " << each.target;
        EXPECT_EQ(answer.value("message", ""), each.message) << each.method << " " << each.target;
    }
    const auto [status, answer] = of.send("POST", testbeds, nameless);
    EXPECT_EQ(status, 422);
    EXPECT_EQ(at(answer, "/details/causes/0/reason"), "FieldValueRequired");
    EXPECT_EQ(at(answer, "/details/causes/0/field"), "metadata.name");
    EXPECT_EQ(at(answer, "/details/causes/1/field"), "<nil>");
    EXPECT_EQ(of.send("GET", group + "/namespaces/default/foos").second, "404 page not found\n");
    EXPECT_EQ(of.send("GET", "/apis/flink.apache.org/v1beta1/flinkdeployments").first, 404);
}

TEST_F(api_server_test, a_new_object_gets_its_metadata_from_the_server) {
    auto made = testbed("a", {{"uid", "mine"},
                              {"generation", 7},
                              {"deletionTimestamp", "2001-01-01T00:00:00Z"},
                              {"labels", {{"k", "v"}}},
                              {"annotations", json::object()}});
    const auto uid = at(made, "/metadata/uid").get<std::string>();
    EXPECT_EQ(uid.size(), 36u);
    EXPECT_EQ(uid[14], '4');
    json expected = {
        {"name", "a"},     {"namespace", "default"}, {"uid", uid},
        {"generation", 1}, {"labels", {{"k", "v"}}}, {"creationTimestamp", "2026-01-02T03:00:00Z"}};
    expected["resourceVersion"] = std::to_string(of.server.objects().version());
    EXPECT_EQ(made["metadata"], expected);
    EXPECT_NE(at(testbed("b"), "/metadata/uid"), uid);
}

TEST_F(api_server_test, names_are_generated_alike_in_each_run) {
    auto body = world::pod("");
    body["metadata"] = {{"generateName", "exec-"}};
    world other;
    const auto name = at(make(pods, body), "/metadata/name").get<std::string>();
    EXPECT_EQ(name.size(), 10u);
    EXPECT_TRUE(name.starts_with("exec-"));
    EXPECT_EQ(at(other.send("POST", pods, body).second, "/metadata/name"), name);
    EXPECT_NE(at(make(pods, body), "/metadata/name"), name);
}

TEST_F(api_server_test, guards_are_held) {
    const auto made = testbed("a");
    const auto target = testbeds + "/a";
    const auto version = at(made, "/metadata/resourceVersion").get<std::string>();
    const json spec = {{"slotsPerNode", 3}};
    struct {
        json metadata;
        int status;
        std::string reason;
    } patches[] = {
        {{{"resourceVersion", "1"}}, 409, "Conflict"},
        {{{"resourceVersion", nullptr}}, 422, "Invalid"},
        {{{"resourceVersion", "x"}}, 500, ""},
        {{{"uid", "other"}}, 422, "Invalid"},
        {{{"name", "b"}}, 400, "BadRequest"},
        {{{"namespace", "b"}}, 400, "BadRequest"},
        {{{"deletionTimestamp", "2001-01-01T00:00:00Z"}}, 422, "Invalid"},
    };
    for (const auto& each : patches) {
        const auto [status, answer] =
            of.merge(target, {{"metadata", each.metadata}, {"spec", spec}});
        EXPECT_EQ(status, each.status) << each.metadata.dump();
        EXPECT_EQ(answer.value("reason", ""), each.reason) << each.metadata.dump();
    }
    EXPECT_EQ(at(of.send("GET", target).second, "/metadata/resourceVersion"), version);
    const json both = {{"uid", at(made, "/metadata/uid")}, {"resourceVersion", version}};
    EXPECT_EQ(of.merge(target, {{"metadata", both}, {"spec", spec}}).first, 200);
}

TEST_F(api_server_test, a_put_of_a_custom_resource_needs_the_version_and_of_a_lease_too) {
    auto body = testbed("a");
    const auto target = testbeds + "/a";
    auto unguarded = body;
    unguarded["metadata"].erase("resourceVersion");
    EXPECT_EQ(of.send("PUT", target, unguarded).first, 422);
    auto stale = body;
    stale["metadata"]["resourceVersion"] = "3";
    EXPECT_EQ(of.send("PUT", target, stale).first, 409);
    auto stranger = unguarded;
    stranger["metadata"]["uid"] = "other";
    EXPECT_EQ(of.send("PUT", target, stranger).first, 409);
    body["spec"]["slotsPerNode"] = 5;
    EXPECT_EQ(at(of.send("PUT", target, body).second, "/metadata/generation"), 2);

    const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    json lease = {{"metadata", {{"name", "l"}}}, {"spec", {{"holderIdentity", "x"}}}};
    EXPECT_EQ(of.send("PUT", leases + "/l", lease).first, 201);
    EXPECT_EQ(of.send("PUT", leases + "/l", lease).first, 422);

    auto pod = make(pods, world::pod("p"));
    pod["metadata"].erase("resourceVersion");
    pod["metadata"]["labels"] = {{"k", "v"}};
    EXPECT_EQ(of.send("PUT", pods + "/p", pod).first, 200);
}

TEST_F(api_server_test, what_changes_nothing_is_no_change) {
    const auto version = at(testbed("a"), "/metadata/resourceVersion");
    const json nothing[] = {{{"spec", {{"slotsPerNode", 2}}}},
                            {{"metadata", {{"labels", json::object()}}}},
                            {{"metadata", {{"generation", 77}}}},
                            {{"metadata", {{"creationTimestamp", "2001-01-01T00:00:00Z"}}}},
                            {{"metadata", {{"deletionTimestamp", nullptr}}}},
                            {{"status", {{"state", "ERROR"}}}},
                            json::object()};
    for (const auto& each : nothing) {
        const auto [status, answer] = of.merge(testbeds + "/a", each);
        EXPECT_EQ(status, 200) << each.dump();
        EXPECT_EQ(at(answer, "/metadata/resourceVersion"), version) << each.dump();
    }
}

TEST_F(api_server_test, spec_and_status_have_a_door_each) {
    testbed("a");
    auto [status, answer] =
        of.merge(testbeds + "/a/status", {{"metadata", {{"labels", {{"k", "v"}}}}},
                                          {"spec", {{"slotsPerNode", 9}}},
                                          {"status", {{"state", "SUCCESS"}}}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/status/state"), "SUCCESS");
    EXPECT_EQ(at(answer, "/spec/slotsPerNode"), 2);
    EXPECT_EQ(at(answer, "/metadata/labels"), nullptr);
    EXPECT_EQ(at(answer, "/metadata/generation"), 1);

    answer = of.merge(testbeds + "/a",
                      {{"status", {{"state", "ERROR"}}}, {"spec", {{"slotsPerNode", 3}}}})
                 .second;
    EXPECT_EQ(at(answer, "/status/state"), "SUCCESS");
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
    answer = of.merge(testbeds + "/a", {{"metadata", {{"labels", {{"k", "v"}}}}}}).second;
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
}

TEST_F(api_server_test, the_status_of_a_custom_resource_is_not_guarded_by_a_uid) {
    testbed("a");
    const json other = {{"uid", "other"}};
    EXPECT_EQ(
        of.merge(testbeds + "/a/status", {{"metadata", other}, {"status", {{"state", "SUCCESS"}}}})
            .first,
        200);
    EXPECT_EQ(of.merge(testbeds + "/a/status",
                       {{"metadata", {{"resourceVersion", "1"}}}, {"status", {{"state", "ERROR"}}}})
                  .first,
              409);
    make(pods, world::pod("p"));
    EXPECT_EQ(of.merge(pods + "/p/status",
                       {{"metadata", other}, {"status", {{"nominatedNodeName", "n"}}}})
                  .first,
              422);
}

TEST_F(api_server_test, only_merge_and_json_patches_are_known) {
    testbed("a");
    for (const char* type : {"application/strategic-merge-patch+json",
                             "application/apply-patch+yaml", "application/json", ""}) {
        EXPECT_EQ(of.send("PATCH", testbeds + "/a", json::object(), type).first, 415) << type;
    }
    const auto patch = [&](const char* text) {
        return of.send("PATCH", testbeds + "/a", json(text), "application/json-patch+json");
    };
    EXPECT_EQ(patch(R"([{"op":"test","path":"/spec/slotsPerNode","value":9}])").first, 422);
    EXPECT_EQ(patch(R"([{"op":"remove","path":"/spec/nothing"}])").first, 422);
    EXPECT_EQ(patch(R"({"op":"test"})").first, 400);
    const auto [status, answer] = patch(R"([
        {"op":"test","path":"/spec/slotsPerNode","value":2},
        {"op":"replace","path":"/spec/slotsPerNode","value":4}])");
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/spec/slotsPerNode"), 4);
    EXPECT_EQ(
        of.send("PATCH", testbeds + "/a", json("{\"a\":"), "application/merge-patch+json").first,
        400);
}

TEST_F(api_server_test, strict_requests_know_every_field) {
    testbed("a");
    auto body = world::testbed("b");
    body["spec"]["foo"] = 1;
    auto [status, answer] = of.send("POST", testbeds + "?fieldValidation=Strict", body);
    EXPECT_EQ(status, 400);
    EXPECT_EQ(answer["message"],
              "Testbed in version \"v1alpha1\" cannot be handled as a Testbed: strict decoding "
              "error: unknown field \"spec.foo\"");
    std::tie(status, answer) =
        of.merge(testbeds + "/a?fieldValidation=Strict", {{"spec", {{"foo", 1}}}});
    EXPECT_EQ(status, 422);
    EXPECT_EQ(at(answer, "/details/causes/0/field"), "patch");
    EXPECT_EQ(of.merge(testbeds + "/a", {{"spec", {{"foo", 1}}}}).first, 200);
    EXPECT_EQ(of.send("POST", testbeds, body).first, 201);
}

TEST_F(api_server_test, a_dry_run_stores_nothing) {
    testbed("a");
    const auto version = of.server.objects().version();
    EXPECT_EQ(of.send("POST", testbeds + "?dryRun=All", world::testbed("b")).first, 201);
    EXPECT_EQ(of.send("POST", testbeds + "?dryRun=All", world::testbed("a")).first, 409);
    const auto [status, answer] =
        of.merge(testbeds + "/a?dryRun=All", {{"spec", {{"slotsPerNode", 7}}}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
    EXPECT_EQ(of.send("DELETE", testbeds + "/a?dryRun=All").first, 200);
    EXPECT_EQ(of.server.objects().version(), version);
    EXPECT_EQ(at(of.send("GET", testbeds + "/a").second, "/spec/slotsPerNode"), 2);
}

TEST_F(api_server_test, finalizers_keep_an_object_until_the_last_is_gone) {
    testbed("a", {{"finalizers", {"esi.tu-berlin.de/held"}}});
    auto [status, answer] = of.send("DELETE", testbeds + "/a");
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/metadata/deletionTimestamp"), "2026-01-02T03:00:00Z");
    EXPECT_EQ(at(answer, "/metadata/deletionGracePeriodSeconds"), 0);
    EXPECT_EQ(at(answer, "/metadata/generation"), 2);
    const auto version = of.server.objects().version();
    EXPECT_EQ(of.send("DELETE", testbeds + "/a").first, 200);
    EXPECT_EQ(of.server.objects().version(), version);

    const auto more = of.merge(
        testbeds + "/a",
        {{"metadata", {{"finalizers", {"esi.tu-berlin.de/held", "esi.tu-berlin.de/more"}}}}});
    EXPECT_EQ(more.first, 422);
    EXPECT_EQ(at(more.second, "/details/causes/0/reason"), "FieldValueForbidden");

    auto seen = of.watching(testbeds + "?watch=true&resourceVersion=" + std::to_string(version));
    EXPECT_EQ(of.merge(testbeds + "/a", {{"metadata", {{"finalizers", nullptr}}}}).first, 200);
    EXPECT_EQ(of.send("GET", testbeds + "/a").first, 404);
    EXPECT_EQ(of.events(*seen), "DELETED a");
}

TEST_F(api_server_test, deletions_have_preconditions) {
    const auto made = testbed("a");
    const auto remove = [&](json guard) {
        return of.send("DELETE", testbeds + "/a", {{"preconditions", std::move(guard)}});
    };
    auto [status, answer] = remove({{"uid", "other"}});
    EXPECT_EQ(status, 409);
    EXPECT_EQ(answer["message"],
              "Operation cannot be fulfilled on Testbed.esi.tu-berlin.de \"a\": the UID in the "
              "precondition (other) does not match the UID in record (" +
                  at(made, "/metadata/uid").get<std::string>() +
                  "). The object might have been deleted and then recreated");
    EXPECT_EQ(remove({{"resourceVersion", "1"}}).first, 409);
    std::tie(status, answer) = remove({{"uid", at(made, "/metadata/uid")},
                                       {"resourceVersion", at(made, "/metadata/resourceVersion")}});
    EXPECT_EQ(status, 200);
    EXPECT_EQ(answer["status"], "Success");
    EXPECT_EQ(at(answer, "/details/uid"), at(made, "/metadata/uid"));
}

TEST_F(api_server_test, propagation_is_a_finalizer_for_the_garbage_collector) {
    testbed("a");
    testbed("b");
    const auto policy = [&](const char* name, const char* what) {
        return of.send("DELETE", testbeds + "/" + name, {{"propagationPolicy", what}});
    };
    EXPECT_EQ(at(policy("a", "Foreground").second, "/metadata/finalizers/0"), "foregroundDeletion");
    EXPECT_EQ(at(policy("b", "Orphan").second, "/metadata/finalizers/0"), "orphan");
    EXPECT_EQ(policy("b", "Foo").first, 422);
}

TEST_F(api_server_test, nothing_new_in_a_namespace_that_ends) {
    const std::string spaces = "/api/v1/namespaces";
    const auto made = make(spaces, {{"metadata", {{"name", "lab"}}}});
    EXPECT_EQ(at(made, "/spec/finalizers/0"), "kubernetes");
    EXPECT_EQ(at(made, "/status/phase"), "Active");
    EXPECT_EQ(at(made, "/metadata/labels/kubernetes.io~1metadata.name"), "lab");
    make(spaces + "/lab/pods", world::pod("p"));

    auto [status, answer] = of.send("DELETE", spaces + "/lab");
    EXPECT_EQ(status, 200);
    EXPECT_EQ(at(answer, "/status/phase"), "Terminating");
    const auto version = of.server.objects().version();
    EXPECT_EQ(of.send("DELETE", spaces + "/lab").first, 200);
    EXPECT_EQ(of.server.objects().version(), version);

    std::tie(status, answer) = of.send("POST", spaces + "/lab/pods", world::pod("q"));
    EXPECT_EQ(status, 403);
    EXPECT_EQ(
        answer["message"],
        "pods \"q\" is forbidden: unable to create new content in namespace lab because it is "
        "being terminated");
    EXPECT_EQ(at(answer, "/details/causes/0/reason"), "NamespaceTerminating");
    EXPECT_EQ(of.merge(spaces + "/lab/pods/p", {{"metadata", {{"labels", {{"k", "v"}}}}}}).first,
              200);

    of.merge(spaces + "/lab", {{"spec", {{"finalizers", nullptr}}}});
    EXPECT_EQ(at(of.send("GET", spaces + "/lab").second, "/spec/finalizers/0"), "kubernetes");
    const json done = {{"metadata", {{"name", "lab"}}}, {"spec", {{"finalizers", json::array()}}}};
    EXPECT_EQ(of.send("PUT", spaces + "/lab/finalize", done).first, 200);
    EXPECT_EQ(of.send("GET", spaces + "/lab").first, 404);
}

TEST_F(api_server_test, kinds_come_and_go) {
    const std::string sparks = "/apis/sparkoperator.k8s.io/v1beta2/sparkapplications";
    const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    EXPECT_EQ(of.send("GET", sparks).first, 200);
    auto seen = of.watching(sparks + "?watch=true");
    auto told = of.watching(definitions + "?watch=true&resourceVersion=" +
                            std::to_string(of.server.objects().version()));
    of.server.uninstall("sparkapplications");
    EXPECT_EQ(of.send("GET", sparks).first, 404);
    EXPECT_EQ(of.events(*told), "DELETED sparkapplications.sparkoperator.k8s.io");
    EXPECT_EQ(of.events(*seen), "");
    EXPECT_TRUE(seen->ended());
    of.server.install("sparkapplications");
    of.server.install("sparkapplications");
    EXPECT_EQ(of.send("GET", sparks).first, 200);
    EXPECT_EQ(of.events(*told), "ADDED sparkapplications.sparkoperator.k8s.io");
    const auto shown = of.send("GET", definitions + "/testbeds.esi.tu-berlin.de").second;
    EXPECT_EQ(at(shown, "/status/conditions/1/type"), "Established");
}

TEST_F(api_server_test, any_token_is_somebodys) {
    const std::string reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    EXPECT_EQ(at(make(reviews, {{"spec", {{"token", "abc"}}}}), "/status/authenticated"), true);
    EXPECT_EQ(at(make(reviews, {{"spec", json::object()}}), "/status/authenticated"), nullptr);
}

TEST_F(api_server_test, a_desk_answers_with_the_clients_errors) {
    auto made = of.person.create(kinds::testbed, "default", world::testbed("a"));
    ASSERT_TRUE(made) << made.error().text;
    const auto uid = at(*made, "/metadata/uid").get<std::string>();
    const auto code = [](const auto& of_result) {
        return of_result ? std::string("none") : std::string(to_string(of_result.error().code));
    };
    const auto merge = kube::patch_kind::merge;
    EXPECT_EQ(code(of.person.create(kinds::testbed, "default", world::testbed("a"))),
              to_string(errc::already_exists));
    EXPECT_EQ(code(of.person.get(kinds::testbed, "default", "z")), to_string(errc::not_found));
    EXPECT_EQ(code(of.person.patch(kinds::testbed, "default", "a", merge,
                                   {{"metadata", {{"uid", "other"}}}})),
              to_string(errc::conflict));
    EXPECT_EQ(code(of.person.remove(kinds::testbed, "default", "a", kube::preconditions("other"))),
              to_string(errc::conflict));
    EXPECT_EQ(code(of.person.patch(kinds::testbed, "default", "a", merge,
                                   {{"spec", {{"slotsPerNode", 0}}}})),
              to_string(errc::invalid));
    EXPECT_EQ(code(of.person.remove(kinds::testbed, "default", "a", kube::preconditions(uid))),
              "none");
}

TEST_F(api_server_test, an_answer_shows_the_metadata_alone_where_that_is_asked_for) {
    testbed("a", {{"labels", {{"l", "1"}}}});
    const auto ask = [&](std::string method, std::string target, std::string body) {
        kube::request what(std::move(method), std::move(target));
        what.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        what.content_type = "application/merge-patch+json";
        what.body = std::move(body);
        const auto answer = of.server.answer(what, "tests");
        return std::pair(answer.status, json::parse(answer.body));
    };
    const auto is_partial = [](const json& answer) {
        return answer["kind"] == "PartialObjectMetadata" &&
               answer["apiVersion"] == "meta.k8s.io/v1" && answer.size() == 3;
    };
    const auto [found, got] = ask("GET", testbeds + "/a", "");
    EXPECT_EQ(found, 200);
    EXPECT_TRUE(is_partial(got)) << got.dump();
    EXPECT_EQ(got["metadata"], of.send("GET", testbeds + "/a").second["metadata"]);

    const auto [done, patched] =
        ask("PATCH", testbeds + "/a/status", R"({"status":{"state":"SUCCESS"}})");
    EXPECT_EQ(done, 200);
    EXPECT_TRUE(is_partial(patched)) << patched.dump();
    const auto whole = of.send("GET", testbeds + "/a").second;
    EXPECT_EQ(whole["status"]["state"], "SUCCESS") << "what is shown is not what is written";
    EXPECT_EQ(patched["metadata"], whole["metadata"]);

    EXPECT_EQ(ask("GET", testbeds + "/b", "").second["kind"], "Status");
    EXPECT_EQ(ask("GET", testbeds, "").second["kind"], "TestbedList");
}

}  // namespace
}  // namespace esi::simulation
