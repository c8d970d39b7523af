#include "interface/v1/schemas.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "interface/v1/bodies.h"
#include "interface/v1/job_explanation.h"
#include "interface/v1/reads.h"
#include "interface/v1/request_schemas.h"
#include "interface/v1/schema_texts.h"
#include "interface/v1/wire/print.h"
#include "scheduling/answers/explanation.h"
#include "scheduling/answers/matrix.h"
#include "scheduling/answers/preview.h"

namespace esi::interface::v1 {

namespace {

/// The name of a schema; every struct that is printed has one.
template <class T>
constexpr std::string_view name_of = {};

#define ESI_NAME(type, name) \
    template <>              \
    constexpr std::string_view name_of<type> = name
ESI_NAME(model::testbed, "Testbed");
ESI_NAME(shown_testbed_spec, "TestbedSpec");
ESI_NAME(model::testbed_claim, "Claim");
ESI_NAME(model::claim_shape, "ClaimShape");
ESI_NAME(model::claim_constraints, "ClaimConstraints");
ESI_NAME(model::toleration, "Toleration");
ESI_NAME(model::layout_shape, "LayoutShape");
ESI_NAME(model::testbed_status, "TestbedStatus");
ESI_NAME(model::layout_node, "LayoutNode");
ESI_NAME(shown_layout, "TestbedLayout");
ESI_NAME(model::slot_status, "Slot");
ESI_NAME(model::slot_counts, "SlotCounts");
ESI_NAME(model::nodes_out_of_use, "NodesOutOfUse");
ESI_NAME(model::holder_status, "Holder");
ESI_NAME(model::condition, "Condition");
ESI_NAME(shown_meta, "ObjectMeta");
ESI_NAME(model::object_key, "ObjectReference");
ESI_NAME(model::batchjob, "BatchJob");
ESI_NAME(model::batchjob_spec, "BatchJobSpec");
ESI_NAME(model::batchjob_status, "BatchJobStatus");
ESI_NAME(model::active_scheduling_ref, "ActiveScheduling");
ESI_NAME(model::creation_request, "CreationRequest");
ESI_NAME(model::scheduled_event, "ScheduledEvent");
ESI_NAME(model::placement, "Placement");
ESI_NAME(model::application_ref, "ApplicationReference");
ESI_NAME(model::neighbour, "Neighbour");
ESI_NAME(model::run_record, "Run");
ESI_NAME(model::scheduling, "Scheduling");
ESI_NAME(model::scheduling_spec, "SchedulingSpec");
ESI_NAME(model::scheduling_claim, "SchedulingClaim");
ESI_NAME(model::scheduling_status, "SchedulingStatus");
ESI_NAME(model::slot_based_spec, "SlotBased");
ESI_NAME(model::slot_job, "SlotJob");
ESI_NAME(model::pool_based_spec, "PoolBased");
ESI_NAME(model::pool_job, "PoolJob");
ESI_NAME(model::job_policy, "JobPolicy");
ESI_NAME(model::job_ref, "JobReference");
ESI_NAME(model::assignment, "Assignment");
ESI_NAME(model::job_progress, "JobProgress");
ESI_NAME(model::progress_counts, "ProgressCounts");
ESI_NAME(slot_list, "SlotList");
ESI_NAME(run_list, "RunList");
ESI_NAME(job_explanation, "JobExplanation");
ESI_NAME(scheduling::answers::reference, "Reference");
ESI_NAME(scheduling::answers::blocking, "Blocking");
ESI_NAME(scheduling::answers::estimated_time, "EstimatedTime");
ESI_NAME(scheduling::answers::explained_job, "ExplainedJob");
ESI_NAME(scheduling::answers::explanation, "Explanation");
ESI_NAME(scheduling::answers::waiting_pod, "WaitingPod");
ESI_NAME(scheduling::answers::preview, "Preview");
ESI_NAME(scheduling::answers::previewed_start, "PreviewedStart");
ESI_NAME(scheduling::answers::previewed_wait, "PreviewedWait");
ESI_NAME(scheduling::answers::previewed_refusal, "PreviewedRefusal");
ESI_NAME(scheduling::answers::matrix, "Matrix");
ESI_NAME(scheduling::answers::measured_pair, "MeasuredPair");
ESI_NAME(http::problem_fault, "ProblemFault");
ESI_NAME(cancel_request, "CancelRequest");
ESI_NAME(suspend_request, "SuspendRequest");
ESI_NAME(nodes_request, "NodesRequest");
ESI_NAME(nodes_answer, "TestbedNodes");
#undef ESI_NAME

/// Structs that clients send, and their parts: their CRD or their own table says which members are
/// required. For all others the printer omits optional members, and nothing else.
constexpr std::array inputs{name_of<shown_meta>,
                            name_of<model::object_key>,
                            name_of<shown_testbed_spec>,
                            name_of<model::testbed_claim>,
                            name_of<model::claim_shape>,
                            name_of<model::claim_constraints>,
                            name_of<model::toleration>,
                            name_of<model::batchjob_spec>,
                            name_of<model::active_scheduling_ref>,
                            name_of<model::creation_request>,
                            name_of<model::scheduling_spec>,
                            name_of<model::scheduling_claim>,
                            name_of<model::slot_based_spec>,
                            name_of<model::slot_job>,
                            name_of<model::pool_based_spec>,
                            name_of<model::pool_job>,
                            name_of<model::job_policy>,
                            name_of<cancel_request>,
                            name_of<suspend_request>,
                            name_of<nodes_request>};

bool is_input(std::string_view name) { return std::ranges::find(inputs, name) != inputs.end(); }

struct builder {
    ordered_json all = ordered_json::object();
};

template <class T>
struct shape;

template <class T>
ordered_json shape_of(builder& in) {
    return shape<T>::of(in);
}

struct plain_shape {
    static ordered_json make(const char* type, const char* format = nullptr) {
        ordered_json out{{"type", type}};
        if (format != nullptr) out["format"] = format;
        return out;
    }
};
template <>
struct shape<std::string> {
    static ordered_json of(builder&) { return plain_shape::make("string"); }
};
template <>
struct shape<bool> {
    static ordered_json of(builder&) { return plain_shape::make("boolean"); }
};
template <>
struct shape<int> {
    static ordered_json of(builder&) { return plain_shape::make("integer", "int32"); }
};
template <>
struct shape<std::int64_t> {
    static ordered_json of(builder&) { return plain_shape::make("integer", "int64"); }
};
template <>
struct shape<double> {
    static ordered_json of(builder&) { return plain_shape::make("number", "double"); }
};
template <>
struct shape<model::timestamp> {
    static ordered_json of(builder&) { return plain_shape::make("string", "date-time"); }
};
template <>
struct shape<model::quantity> {
    static ordered_json of(builder&) { return plain_shape::make("string"); }
};
template <>
struct shape<model::raw_json> {
    static ordered_json of(builder&) {
        return {{"type", "object"}, {"additionalProperties", true}};
    }
};
template <class T>
struct shape<std::optional<T>> {
    static ordered_json of(builder& in) { return shape_of<T>(in); }
};
template <class T>
struct shape<std::vector<T>> {
    static ordered_json of(builder& in) { return {{"type", "array"}, {"items", shape_of<T>(in)}}; }
};
template <class V, class C>
struct shape<std::map<std::string, V, C>> {
    static ordered_json of(builder& in) {
        return {{"type", "object"}, {"additionalProperties", shape_of<V>(in)}};
    }
};
template <>
struct shape<model::testbed_layout> {
    static ordered_json of(builder& in) { return shape_of<shown_layout>(in); }
};
template <>
struct shape<model::testbed_spec> {
    static ordered_json of(builder& in) { return shape_of<shown_testbed_spec>(in); }
};
template <>
struct shape<model::object_meta> {
    static ordered_json of(builder& in) { return shape_of<shown_meta>(in); }
};

/// A member that the printer may omit.
template <class T>
constexpr bool may_be_absent =
    std::is_same_v<T, std::string> || std::is_same_v<T, model::object_key>;
template <class T>
constexpr bool may_be_absent<std::optional<T>> = true;

template <class T>
    requires boost::describe::has_describe_members<T>::value
struct shape<T> {
    static ordered_json of(builder& in) {
        using members = boost::describe::describe_members<T, boost::describe::mod_public>;
        constexpr auto name = name_of<T>;
        static_assert(!name.empty(), "a struct that is printed has a name: ESI_NAME");
        const auto reference = reference_to(name);
        if (in.all.contains(name)) return reference;
        in.all[name] = ordered_json::object();
        ordered_json properties = ordered_json::object();
        auto required = ordered_json::array();
        boost::mp11::mp_for_each<members>([&](auto member) {
            using field = std::remove_cvref_t<decltype(std::declval<T>().*member.pointer)>;
            const auto key = model::json_name(member.name);
            properties[key] = shape_of<field>(in);
            if (!may_be_absent<field> && !is_input(name)) required.push_back(key);
        });
        ordered_json made{{"type", "object"}, {"properties", std::move(properties)}};
        if (!required.empty()) made["required"] = std::move(required);
        in.all[name] = std::move(made);
        return reference;
    }
};

// --- words and bounds of the CRDs ---

constexpr const char* bounds[] = {"minimum",  "maximum",  "minLength",     "maxLength",
                                  "minItems", "maxItems", "maxProperties", "default"};

void take_bounds(ordered_json& into, const ordered_json& crd) {
    if (crd.contains("description") && !into.contains("description")) {
        into["description"] = crd["description"];
    }
    // Beside a reference: the referenced schema has its own.
    if (into.contains("$ref")) return;
    for (const char* each : bounds) {
        if (crd.contains(each) && !into.contains(each)) into[each] = crd[each];
    }
    if (crd.contains("enum") && !into.contains(known_words)) {
        into[known_words] = crd["enum"];
        into["examples"] = crd["enum"];
    }
}

void overlay(ordered_json& all, ordered_json& into, const ordered_json& crd,
             std::set<std::string>& done) {
    take_bounds(into, crd);
    if (into.contains("items") && crd.contains("items")) {
        overlay(all, into["items"], crd["items"], done);
    }
    if (into.contains("additionalProperties") && into["additionalProperties"].is_object() &&
        crd.contains("additionalProperties")) {
        overlay(all, into["additionalProperties"], crd["additionalProperties"], done);
    }
    const auto found = into.find("$ref");
    if (found == into.end() || !crd.contains("properties")) return;
    const auto path = found->get<std::string>();
    const auto name = path.substr(path.rfind('/') + 1);
    if (!done.insert(name).second) return;
    auto& component = all[name];
    if (is_input(name) && crd.contains("required")) component["required"] = crd["required"];
    for (auto& [key, each] : component["properties"].items()) {
        if (crd["properties"].contains(key)) overlay(all, each, crd["properties"][key], done);
    }
}

template <class T>
void add_kind(builder& in, std::set<std::string>& done) {
    const auto& type = type_of<T>();
    shape_of<T>(in);
    if constexpr (std::is_same_v<T, model::batchjob>) {
        // A text in the record, as ESI never reads the notes; a map for clients.
        using notes = std::map<std::string, std::vector<model::string_map>>;
        in.all["BatchJobSpec"]["properties"]["externalScheduler"] = shape_of<notes>(in);
    }
    const auto crd = crd_schema(type.kind);
    auto& whole = in.all[type.kind];
    whole["description"] = crd["description"];
    for (const char* part : {"spec", "status"}) {
        overlay(in.all, whole["properties"][part], crd["properties"][part], done);
    }
    // The names of the group and the kind come first; requests may leave them out.
    ordered_json properties{
        {"apiVersion",
         {{"type", "string"},
          {"const", type.api_version()},
          {"description", "The group and version of the kind."}}},
        {"kind",
         {{"type", "string"}, {"const", type.kind}, {"description", "The kind of the object."}}}};
    properties.update(whole["properties"]);
    properties["status"]["readOnly"] = true;
    properties["metadata"]["description"] = "Name, version and labels of the object.";
    whole["properties"] = std::move(properties);
    whole["required"] = {"metadata", "spec"};

    ordered_json items{{"type", "array"},
                       {"description", "The objects, in the order of namespace and name."},
                       {"items", reference_to(type.kind)}};
    in.all[std::string(type.kind) + "List"] = {{"type", "object"},
                                               {"description", "A list, or a part of one."},
                                               {"properties", {{"items", std::move(items)}}},
                                               {"required", {"items", "resourceVersion"}}};
    auto& list = in.all[std::string(type.kind) + "List"]["properties"];
    list["resourceVersion"] = {
        {"type", "string"},
        {"description",
         "The version that the first part shows; events from this version on continue the list."}};
    list["continue"] = {{"type", "string"},
                        {"description",
                         "If the list goes on: the value of the parameter continue that asks for "
                         "the next part. Absent: this is the end."}};
}

void add_problem(builder& in) {
    shape_of<http::problem_fault>(in);
    const auto text = [](const char* description) {
        return ordered_json{{"type", "string"}, {"description", description}};
    };
    ordered_json properties = ordered_json::object();
    properties["type"] = text("urn:esi:problem: and the code.");
    properties["title"] = text("The words of the HTTP status.");
    properties["status"] = {{"type", "integer"}, {"description", "The HTTP status."}};
    properties["detail"] = text("A sentence that names the object and the remedy.");
    properties["instance"] = text("The path of the request.");
    properties["code"] = text("One word that programs go by.");
    auto words = ordered_json::array();
    for (const auto& each : problem_codes()) words.push_back(each.code);
    properties["code"][known_words] = words;
    properties["retryable"] = {
        {"type", "boolean"},
        {"description",
         "The same request may be answered otherwise later, without a change by its sender."}};
    properties["state"] =
        text("The state that the object has, when waitFor did not come true in time.");
    properties["errors"] = {{"type", "array"},
                            {"description", "Every fault of the request at once."},
                            {"items", reference_to("ProblemFault")}};
    in.all["Problem"] = {{"type", "object"},
                         {"description", "What went wrong (RFC 9457)."},
                         {"properties", std::move(properties)},
                         {"required", {"type", "title", "status", "detail", "code", "retryable"}}};
}

/// One JSON line of a stream, or the data of a server-sent event.
void add_event(builder& in) {
    const auto text = [](const char* description) {
        return ordered_json{{"type", "string"}, {"description", description}};
    };
    ordered_json properties = ordered_json::object();
    properties["id"] = text(
        "Opaque; a stream that sends it as the last id goes on after this event. Only JSON lines "
        "have it: server-sent events have the id beside the data. Empty: the client forgets the "
        "last id.");
    properties["type"] = text("What the event reports.");
    properties["type"][known_words] = {"snapshot", "sync",  "ADDED", "MODIFIED",
                                       "DELETED",  "reset", "end",   "HEARTBEAT"};
    properties["kind"] = text("Kind of the object.");
    properties["kind"][known_words] = {"Testbed", "BatchJob", "Scheduling"};
    properties["partial"] = {
        {"type", "array"},
        {"description", "Members of the object that are empty here though they are not."},
        {"items", {{"type", "string"}}}};
    properties["object"] = {
        {"type", "object"},
        {"description", "The object with this change; for a deletion, the object as it was last."},
        {"oneOf", {reference_to("Testbed"), reference_to("BatchJob"), reference_to("Scheduling")}}};
    properties["reason"] = text("Why the stream starts again or ends; one word.");
    properties["reason"][known_words] = {"TooOld",   "TooSlow",   "Relisted",     "IdUnknown",
                                         "Stopping", "Forbidden", "Unauthorized", "RightsUnknown"};
    properties["detail"] = text("The reason as a sentence.");
    in.all["Event"] = {{"type", "object"},
                       {"description", "One event of a stream."},
                       {"properties", std::move(properties)},
                       {"required", {"type"}}};
}

/// The notes are a member of the spec; in a merge patch null removes a key.
void add_notes_patch(builder& in) {
    auto notes = in.all["BatchJobSpec"]["properties"]["externalScheduler"];
    notes["description"] =
        "A merge patch of spec.externalScheduler: each key replaces the one that is there, a key "
        "with null is removed, the others stay.";
    notes["additionalProperties"]["type"] = {"array", "null"};
    in.all["ExternalNotesPatch"] = std::move(notes);
}

/// Descriptions of what no CRD has, and texts that are always there.
void add_texts(ordered_json& all) {
    for (const auto& each : schema_texts()) {
        auto& component = all[std::string(each.schema)];
        if (each.member.empty()) {
            component["description"] = each.text;
            continue;
        }
        auto& property = component["properties"][std::string(each.member)];
        if (!property.contains("description")) property["description"] = each.text;
        if (!each.required) continue;
        auto& required = component["required"];
        const std::string member(each.member);
        if (std::find(required.begin(), required.end(), member) == required.end()) {
            required.push_back(member);
        }
    }
    for (const char* name :
         {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"}) {
        all["ObjectMeta"]["properties"][name]["readOnly"] = true;
    }
}

ordered_json make_schemas() {
    builder made;
    std::set<std::string> done;
    add_kind<model::scheduling>(made, done);
    add_kind<model::batchjob>(made, done);
    add_kind<model::testbed>(made, done);
    shape_of<slot_list>(made);
    shape_of<run_list>(made);
    shape_of<job_explanation>(made);
    shape_of<scheduling::answers::preview>(made);
    shape_of<scheduling::answers::matrix>(made);
    shape_of<cancel_request>(made);
    shape_of<suspend_request>(made);
    shape_of<nodes_request>(made);
    shape_of<nodes_answer>(made);
    add_notes_patch(made);
    add_problem(made);
    add_event(made);
    add_texts(made.all);
    add_request_schemas(made.all);
    return std::move(made.all);
}

}  // namespace

const ordered_json& schemas() {
    static const auto made = make_schemas();
    return made;
}

}  // namespace esi::interface::v1
