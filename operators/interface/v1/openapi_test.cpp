#include "interface/v1/openapi.h"

#include <gtest/gtest.h>

#include <set>

#include "interface/v1/operations.h"
#include "interface/v1/schema_texts.h"
#include "interface/v1/validation.h"
#include "interface/v1/wire/print.h"

namespace esi::interface::v1 {
namespace {

using nlohmann::json;

/// Calls `use` with each object below `in`.
template <class Use>
void walk(const ordered_json& in, const std::string& at, const Use& use) {
    if (in.is_object()) {
        use(in, at);
        for (const auto& [key, each] : in.items()) walk(each, at + "/" + key, use);
    } else if (in.is_array()) {
        for (std::size_t i = 0; i < in.size(); ++i) walk(in[i], at + "/" + std::to_string(i), use);
    }
}

TEST(openapi, every_reference_leads_somewhere) {
    const auto document = ordered_json::parse(openapi_text());
    int references = 0;
    walk(document, "", [&](const ordered_json& each, const std::string& at) {
        const auto found = each.find("$ref");
        if (found == each.end() || !found->is_string()) return;
        ++references;
        const auto path = found->get<std::string>();
        ASSERT_TRUE(path.starts_with("#/")) << at;
        EXPECT_TRUE(document.contains(ordered_json::json_pointer(path.substr(1)))) << at << path;
    });
    EXPECT_GT(references, 100);
}

TEST(openapi, every_operation_has_an_id_of_its_own_and_an_answer) {
    const auto document = ordered_json::parse(openapi_text());
    std::set<std::string> ids;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, each] : methods.items()) {
            EXPECT_TRUE(ids.insert(each["operationId"].get<std::string>()).second) << path;
            EXPECT_FALSE(each["summary"].get<std::string>().empty()) << path;
            EXPECT_TRUE(each["responses"].size() > 1) << path << method;
            EXPECT_FALSE(each["x-required-rights"].empty()) << path << method;
            for (const auto& [status, answer] : each["responses"].items()) {
                EXPECT_TRUE(answer.contains("description") || answer.contains("$ref")) << path;
            }
        }
    }
    EXPECT_GE(ids.size(), 14u);
}

TEST(openapi, every_schema_and_every_member_is_described) {
    for (const auto& [name, schema] : schemas().items()) {
        EXPECT_TRUE(schema.contains("description")) << name;
        if (!schema.contains("properties")) continue;
        for (const auto& [member, each] : schema["properties"].items()) {
            EXPECT_FALSE(each.value("description", "").empty()) << name << "." << member;
            EXPECT_TRUE(each.contains("type") || each.contains("$ref") || each.contains("anyOf"))
                << name << "." << member;
        }
        for (const auto& each : schema.value("required", ordered_json::array())) {
            EXPECT_TRUE(schema["properties"].contains(each.get<std::string>())) << name << each;
        }
    }
    for (const auto& each : schema_texts()) {
        ASSERT_TRUE(schemas().contains(each.schema)) << each.schema;
        if (each.member.empty()) continue;
        EXPECT_TRUE(schemas()[std::string(each.schema)]["properties"].contains(each.member))
            << each.schema << "." << each.member;
    }
}

/// Members of the CRD's schema that the struct does not have, and the reverse.
void compare(const ordered_json& own, const ordered_json& crd, const std::string& at,
             std::set<std::string>& differences) {
    const auto& schema =
        own.contains("$ref") ? schemas()[own["$ref"].get<std::string>().substr(21)] : own;
    if (crd.contains("items") && schema.contains("items")) {
        compare(schema["items"], crd["items"], at + "[]", differences);
    }
    if (!crd.contains("properties")) return;
    if (!schema.contains("properties")) {
        differences.insert(at + " has no members");
        return;
    }
    for (const auto& [key, each] : crd["properties"].items()) {
        if (!schema["properties"].contains(key)) {
            differences.insert(at + "." + key + " is missing");
            continue;
        }
        compare(schema["properties"][key], each, at + "." + key, differences);
    }
    for (const auto& [key, each] : schema["properties"].items()) {
        if (!crd["properties"].contains(key)) differences.insert(at + "." + key + " is unknown");
    }
}

TEST(openapi, objects_have_the_members_of_their_crds) {
    std::set<std::string> differences;
    for (const char* kind : {"Testbed", "BatchJob", "Scheduling"}) {
        const auto crd = crd_schema(kind);
        for (const char* part : {"spec", "status"}) {
            compare(schemas()[kind]["properties"][part], crd["properties"][part],
                    std::string(kind) + "." + part, differences);
        }
    }
    // The fields that the first assignment freezes are kept in the form of the spec.
    std::erase_if(differences, [](const std::string& each) {
        return each.starts_with("Scheduling.status.plan.") && each.ends_with(" is unknown");
    });
    // The interface shows the nodes of a layout in one form.
    // Requirements on nodes are passed on unchanged, and so is the uid of a driver.
    EXPECT_EQ(differences, (std::set<std::string>{
                               "BatchJob.spec.sparkDriver has no members",
                               "Scheduling.spec.claim.shapes[].constraints.affinity has no members",
                               "Testbed.spec.claim.shapes[].constraints.affinity has no members",
                               "Testbed.status.layout.compactNodes is missing"}));
}

TEST(openapi, bounds_and_words_come_from_the_crds) {
    const auto& spec = schemas()["SchedulingSpec"];
    EXPECT_EQ(spec["properties"]["queueBased"]["maxItems"], 4096);
    EXPECT_EQ(spec["properties"]["suspendPolicy"][known_words], json({"Keep", "Release"}));
    EXPECT_FALSE(spec.contains("required")) << "it has either a Testbed or a claim";
    EXPECT_EQ(schemas()["SchedulingClaim"]["required"], json({"shapes"}));
    EXPECT_EQ(schemas()["ClaimShape"]["properties"]["count"]["maximum"], 1000);
    EXPECT_EQ(schemas()["ClaimShapeInput"]["properties"]["role"]["enum"],
              json({"worker", "coordinator"}));
    EXPECT_EQ(schemas()["SchedulingSpecInput"]["properties"]["queueBased"]["maxItems"], 4096);
    EXPECT_EQ(schemas()["SchedulingInput"]["properties"]["status"]["readOnly"], true);
    EXPECT_EQ(schemas()["Condition"]["properties"]["status"][known_words],
              json({"True", "False", "Unknown"}));
}

/// The names of all schemas that these contents refer to.
void collect(const ordered_json& from, std::set<std::string>& into) {
    walk(from, "", [&](const ordered_json& each, const std::string&) {
        const auto found = each.find("$ref");
        if (found == each.end() || !found->is_string()) return;
        const auto path = found->get<std::string>();
        const auto name = path.substr(path.rfind('/') + 1);
        if (schemas().contains(name) && into.insert(name).second) collect(schemas()[name], into);
    });
}

TEST(openapi, answers_may_grow_and_requests_are_closed) {
    const auto document = ordered_json::parse(openapi_text());
    std::set<std::string> asked;
    std::set<std::string> answered;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, each] : methods.items()) {
            collect(each["responses"], answered);
            if (each.contains("requestBody")) collect(each["requestBody"], asked);
        }
    }
    EXPECT_GT(answered.size(), 30u);
    for (const auto& name : answered) {
        const auto& schema = schemas()[name];
        EXPECT_NE(schema.value("additionalProperties", ordered_json()), false) << name;
        const auto properties = schema.value("properties", ordered_json::object());
        for (const auto& [member, each] : properties.items()) {
            EXPECT_FALSE(each.contains("enum")) << name << "." << member;
        }
    }
    // A request has fields that the server writes only as ignored ones.
    std::erase_if(asked, [&](const auto& name) { return answered.contains(name); });
    EXPECT_GE(asked.size(), 10u);
    for (const auto& name : asked) {
        const auto& schema = schemas()[name];
        const bool closed = schema.value("additionalProperties", ordered_json()) == false;
        EXPECT_TRUE(closed || name == "ExternalNotesPatch") << name;
        const auto properties = schema.value("properties", ordered_json::object());
        for (const auto& [member, each] : properties.items()) {
            EXPECT_FALSE(each.contains(known_words)) << name << "." << member;
        }
    }
}

TEST(openapi, what_the_program_refuses_the_document_does_not_offer) {
    const auto document = ordered_json::parse(openapi_text());
    const auto schema = [&](const char* path, const char* method, std::string_view name) {
        for (const auto& each : document["paths"][path][method]["parameters"]) {
            if (each["name"] == name) return each;
        }
        return ordered_json();
    };
    const char* const one = "/api/v1/namespaces/{namespace}/schedulings/{name}";
    for (const char* method : {"put", "patch"}) {
        EXPECT_EQ(schema(one, method, "If-Match")["required"], true) << method;
    }
    EXPECT_FALSE(schema(one, "delete", "If-Match").contains("required"));
    EXPECT_TRUE(schema(one, "get", "name")["schema"].contains("pattern"));
    EXPECT_EQ(schema(one, "get", "wait")["schema"]["minLength"], 2);
    const auto& spec = schemas()["SchedulingSpecInput"];
    EXPECT_EQ(spec["allOf"][0]["oneOf"], json({{{"required", {"queueBased"}}},
                                               {{"required", {"slotBased"}}},
                                               {{"required", {"poolBased"}}}}));
    EXPECT_EQ(spec["allOf"][1]["oneOf"],
              json({{{"required", {"testbed"}}}, {{"required", {"claim"}}}}));
    EXPECT_EQ(schemas()["SuspendRequest"]["properties"]["policy"]["enum"],
              json({"Keep", "Release"}));
    EXPECT_EQ(schemas()["ObjectMetaInput"]["properties"]["name"]["maxLength"], 63);
    EXPECT_FALSE(schemas()["ObjectMeta"]["properties"]["name"].contains("pattern"));
}

template <class T>
void expect_valid(const T& object, const std::string& schema) {
    std::string text;
    print_object(text, object);
    faults wrong;
    validate(schemas()[schema], json::parse(text), "", wrong);
    // validate() skips read-only members.
    validate(reference_to(schema + "Status"), json::parse(text)["status"], "/status", wrong);
    for (const auto& each : wrong) ADD_FAILURE() << schema << each.pointer << each.detail;
}

TEST(openapi, what_is_printed_is_what_the_schema_says) {
    model::scheduling plan;
    plan.metadata.name = "s";
    plan.spec.testbed = {"ns", "t"};
    plan.spec.queue_based.emplace();
    plan.status.conditions.push_back({"Acquired", "True", 1, model::timestamp{}, "Acquired", ""});
    plan.status.plan = plan.spec;
    expect_valid(plan, "Scheduling");
    model::testbed testbed;
    testbed.metadata.name = "t";
    testbed.spec.slots_per_node = 1;
    testbed.spec.node_label = "a";
    testbed.spec.resources_per_slot = {{"cpu", *model::quantity::parse("1")},
                                       {"memory", *model::quantity::parse("1Gi")}};
    testbed.status.state = "SUCCESS";
    testbed.status.layout.emplace();
    testbed.status.slots.emplace_back().state = "FREE";
    expect_valid(testbed, "Testbed");
    model::claim_shape shape{"executors", "worker", 2, testbed.spec.resources_per_slot, {}};
    shape.constraints.affinity.text = R"({"nodeAffinity":{}})";
    shape.constraints.tolerations = {{"gpu", "Exists", "", ""}};
    testbed.spec = {};
    testbed.spec.claim.emplace().shapes = {shape};
    testbed.spec.isolation = "None";
    auto& layout = *testbed.status.layout;
    layout.nodes = {{"n", "u", 0}};
    layout.shapes = {{"executors", "worker", 2, shape.resources}};
    layout.places = {0, 0};
    expect_valid(testbed, "Testbed");
    plan.spec.testbed = {};
    plan.spec.claim.emplace().shapes = {shape};
    expect_valid(plan, "Scheduling");
    model::batchjob job;
    job.metadata.name = "j";
    job.spec.spark_spec = model::raw_json{R"({"a":1})"};
    job.status.runs.emplace_back().run = "h.1";
    expect_valid(job, "BatchJob");
}

TEST(openapi, each_code_has_one_meaning) {
    std::set<std::string_view> known;
    for (const auto& each : problem_codes()) {
        EXPECT_TRUE(known.insert(each.code).second) << each.code;
        if (each.status != 0 && each.status != 504) {
            EXPECT_FALSE(http::code_of_status(each.status).empty());
        }
    }
}

}  // namespace
}  // namespace esi::interface::v1
