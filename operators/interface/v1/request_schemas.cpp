#include "interface/v1/request_schemas.h"

#include <string>

#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::interface::v1 {

namespace {

constexpr const char* name_of_a_scheduling = "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$";
/// RFC 1123: the name of a namespace, and of a shape of a claim.
constexpr const char* name_of_a_label = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
constexpr const char* key_of_a_label =
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
/// The form that quantity::parse reads; a pattern cannot require it to be above 0.
constexpr const char* quantity_of_a_resource =
    "^[+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]+)?$";
constexpr const char* value_of_a_label = "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";

std::string name_in(const ordered_json& reference) {
    const auto path = reference["$ref"].get<std::string>();
    return path.substr(path.rfind('/') + 1);
}

/// Exactly one of the members. Client generators read allOf beside properties, and not oneOf.
ordered_json one_of(std::initializer_list<const char*> members) {
    auto either = ordered_json::array();
    for (const char* each : members) {
        either.push_back({{"required", ordered_json::array({each})}});
    }
    return {{"oneOf", std::move(either)}};
}

void close_words(ordered_json& schema) {
    if (!schema.contains(known_words)) return;
    schema["enum"] = schema[known_words];
    schema.erase(known_words);
    schema.erase("examples");
}

/// Makes the schema that of a request. Referenced schemas are copied under the name NAMEInput;
/// members that only the server writes stay as they are, and are ignored.
void to_input(ordered_json& all, ordered_json& schema) {
    close_words(schema);
    for (const char* part : {"items", "additionalProperties"}) {
        if (schema.contains(part) && schema[part].is_object()) to_input(all, schema[part]);
    }
    if (!schema.contains("$ref")) return;
    const auto name = name_in(schema);
    const auto own = name + "Input";
    schema["$ref"] = reference_to(own)["$ref"];
    if (all.contains(own)) return;
    auto made = all[name];
    all[own] = ordered_json::object();
    for (auto& [key, each] : made["properties"].items()) {
        if (!each.value("readOnly", false)) to_input(all, each);
    }
    made["additionalProperties"] = false;
    all[own] = std::move(made);
}

/// The same, or null.
void to_nullable(ordered_json& schema) {
    if (schema.contains("$ref")) {
        ordered_json either{{"anyOf", {{{"$ref", schema["$ref"]}}, {{"type", "null"}}}}};
        if (schema.contains("description")) either["description"] = schema["description"];
        schema = std::move(either);
        return;
    }
    schema["type"] = ordered_json::array({schema["type"], "null"});
    if (schema.contains("enum")) schema["enum"].push_back(nullptr);
}

/// Makes a schema of a request that of a merge patch (RFC 7396): nothing is required, null removes
/// a member. NAMEInput of a request is NAMEPatch in its patch. Lists are replaced whole.
void to_patch(ordered_json& all, ordered_json& schema) {
    schema.erase("default");
    if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
        to_nullable(schema["additionalProperties"]);
    }
    if (!schema.contains("$ref")) return to_nullable(schema);
    const auto name = name_in(schema);
    const auto own = name.substr(0, name.rfind("Input")) + "Patch";
    schema["$ref"] = reference_to(own)["$ref"];
    if (!all.contains(own)) {
        auto made = all[name];
        all[own] = ordered_json::object();
        for (const char* each : {"required", "allOf"}) made.erase(each);
        for (auto& [key, each] : made["properties"].items()) to_patch(all, each);
        all[own] = std::move(made);
    }
    to_nullable(schema);
}

void add_grammar_of_metadata(ordered_json& meta) {
    auto& properties = meta["properties"];
    const auto text = [](ordered_json& of, const char* pattern) {
        of["minLength"] = 1;
        of["maxLength"] = 63;
        of["pattern"] = pattern;
    };
    text(properties["name"], name_of_a_scheduling);
    text(properties["namespace"], name_of_a_label);
    properties["labels"]["additionalProperties"]["pattern"] = value_of_a_label;
    for (const char* member : {"labels", "annotations"}) {
        properties[member]["propertyNames"] = {{"pattern", key_of_a_label}};
    }
}

void add_grammar_of_claims(ordered_json& shape) {
    auto& properties = shape["properties"];
    properties["name"]["pattern"] = name_of_a_label;
    properties["resources"]["additionalProperties"]["pattern"] = quantity_of_a_resource;
}

void add_scheduling(ordered_json& all) {
    ordered_json reference = reference_to("Scheduling");
    to_input(all, reference);
    auto& whole = all["SchedulingInput"];
    whole["description"] =
        "A Scheduling in a request. Members that only the server writes (status, and the read-only "
        "members of the metadata) may be sent back and are ignored; a member that is not named "
        "here is refused.";
    const auto example = ordered_json::parse(
        R"({"metadata":{"name":"first"},"spec":{"testbed":{"name":"scheduler-slots"},)"
        R"("queueBased":[{"name":"spark-job-1"},{"name":"spark-job-1"},{"name":"spark-job-2"}]}})");
    // Request generators that do not understand oneOf begin with it.
    whole["examples"] = ordered_json::array({example});
    all["SchedulingSpecInput"]["allOf"] = ordered_json::array(
        {one_of({"queueBased", "slotBased", "poolBased"}), one_of({"testbed", "claim"})});
    add_grammar_of_metadata(all["ObjectMetaInput"]);
    add_grammar_of_claims(all["ClaimShapeInput"]);

    auto draft = whole;
    draft["description"] =
        "A plan of a Scheduling that need not exist. If a Scheduling of this name exists, the "
        "answer is for that Scheduling with this plan.";
    draft["required"] = {"spec"};
    draft["examples"] = ordered_json::array({ordered_json{{"spec", example["spec"]}}});
    all["SchedulingDraft"] = std::move(draft);
}

void add_patch_of_scheduling(ordered_json& all) {
    auto meta = all["ObjectMetaInput"];
    ordered_json changeable = ordered_json::object();
    for (const char* member : {"labels", "annotations"}) {
        changeable[member] = meta["properties"][member];
        to_patch(all, changeable[member]);
    }
    meta["description"] = "The members of the metadata that may be changed.";
    meta["properties"] = std::move(changeable);
    meta.erase("required");
    all["ObjectMetaPatch"] = std::move(meta);

    ordered_json properties{{"metadata", reference_to("ObjectMetaPatch")},
                            {"spec", reference_to("SchedulingSpecInput")}};
    properties["metadata"]["description"] = "Its labels and annotations.";
    properties["spec"]["description"] = "The members of the spec that change.";
    to_patch(all, properties["spec"]);
    // The plan itself cannot be removed.
    properties["spec"] = {{"$ref", properties["spec"]["anyOf"][0]["$ref"]},
                          {"description", properties["spec"]["description"]}};
    all["SchedulingPatch"] = {
        {"type", "object"},
        {"description",
         "A merge patch (RFC 7396) of the labels, the annotations and the spec of a Scheduling. "
         "null removes a member. The result must be a valid SchedulingInput."},
        {"properties", std::move(properties)},
        {"additionalProperties", false}};
}

void add_small_ones(ordered_json& all) {
    auto& wanted = all["NodesRequest"];
    auto& nodes = wanted["properties"];
    nodes["count"]["minimum"] = 1;
    nodes["count"]["maximum"] = model::most_layout_nodes;
    nodes["nodes"]["maxItems"] = model::most_layout_nodes;
    nodes["nodes"]["items"]["minLength"] = 1;
    nodes["nodes"]["items"]["maxLength"] = 253;
    wanted["allOf"] = ordered_json::array({one_of({"count", "nodes"})});
    auto& policy = all["SuspendRequest"]["properties"]["policy"];
    const std::string keep(model::scheduling_suspend_policy::keep);
    policy["enum"] = {keep, std::string(model::scheduling_suspend_policy::release)};
    policy["default"] = keep;
    for (const char* member : {"job", "namespace"}) {
        auto& name = all["CancelRequest"]["properties"][member];
        name["minLength"] = 1;
        name["maxLength"] = 63;
    }
    for (const char* name : {"CancelRequest", "SuspendRequest", "NodesRequest"}) {
        all[name]["additionalProperties"] = false;
    }
}

}  // namespace

void add_request_schemas(ordered_json& all) {
    add_small_ones(all);
    add_scheduling(all);
    add_patch_of_scheduling(all);
}

}  // namespace esi::interface::v1
