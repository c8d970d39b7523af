#include "interface/v1/operations.h"

#include <fmt/format.h>

#include <utility>

#include "interface/v1/events/operations.h"
#include "interface/v1/nodes.h"
#include "interface/v1/questions.h"
#include "interface/v1/reads.h"
#include "interface/v1/writes.h"

namespace esi::interface::v1 {

namespace {

constexpr std::string_view in_namespace = "/api/v1/namespaces/{namespace}";
/// The limit of one object on the API server is not much more.
constexpr std::size_t longest_body = 1u << 20;

template <class Part>
asio::awaitable<http::server_reply> run(Part* of,
                                        asio::awaitable<answer> (Part::*how)(http::server_request),
                                        http::server_request from) {
    const auto path = from.raw_path;
    auto out = co_await (of->*how)(std::move(from));
    co_return out ? std::move(*out) : http::reply_of(out.error(), path);
}

template <class Part>
http::route_handler bound(Part* of, asio::awaitable<answer> (Part::*how)(http::server_request)) {
    if (of == nullptr) return {};
    return [of, how](http::server_request from) { return run(of, how, std::move(from)); };
}

// --- what several operations have ---

const char* const text = R"({"type":"string"})";
const char* const some_text = R"({"type":"string","minLength":1})";
const char* const words = R"({"type":"string","pattern":"^[^,]+(,[^,]+)*$"})";
/// A resourceVersion, or a position.
const char* const number = R"({"type":"string","pattern":"^(0|[1-9][0-9]{0,18})$"})";

parameter index() {
    return {"index",
            "A blocking query: the answer comes at the first change after this version (the header "
            "X-ESI-Index of an earlier answer), or when `wait` is over; with 0 it comes at once.",
            number};
}
parameter wait() {
    return {
        "wait",
        "How long to wait at most, such as 60s, 1m30s or 500ms; 60s when absent. The server cuts "
        "it to --api-max-wait.",
        R"({"type":"string","minLength":2,)"
        R"("pattern":"^((0|[1-9][0-9]{0,7})h)?((0|[1-9][0-9]{0,7})m)?((0|[1-9][0-9]{0,7})s)?)"
        R"(((0|[1-9][0-9]{0,7})ms)?$"})"};
}
parameter wait_for() {
    return {"waitFor",
            "The answer comes when this is true: state=STATE or condition:TYPE=STATUS, such as "
            "state=CompletedState or condition:Acquired=True. If `wait` is over first, the answer "
            "is a problem with the code Timeout.",
            R"({"type":"string","pattern":"^(state|condition:[^=]+)=.+$"})"};
}
parameter limit(int most, int usual) {
    return {
        "limit", "The most items in one answer; `continue` asks for more.",
        fmt::format(R"({{"type":"integer","minimum":1,"maximum":{},"default":{}}})", most, usual)};
}
parameter go_on() {
    return {
        "continue",
        "The member continue of an earlier part of the list; the answer is the part after that.",
        some_text};
}
parameter if_none_match() {
    return {"If-None-Match",
            "ETag of the version that the client has; 304 if the object is still the same.", text};
}

std::vector<parameter> list_parameters() {
    return {limit(list_limits::most, list_limits::usual),
            go_on(),
            {"labelSelector",
             "Label selector of Kubernetes: a=b, a!=b, a in (b,c), a notin (b,c), a, !a, or "
             "several of these with commas between them, all of which must hold.",
             text},
            {"state", "Only objects in one of these states, with commas between them.", words},
            index(),
            wait()};
}

struct kind {
    std::string plural;    ///< in paths
    std::string singular;  ///< for operationIds: "Testbed"
    std::string resource;  ///< for rights
    std::string schema;
};
const kind testbeds{"testbeds", "Testbed", "testbeds", "Testbed"};
const kind jobs{"jobs", "Job", "batchjobs", "BatchJob"};
const kind schedulings{"schedulings", "Scheduling", "schedulings", "Scheduling"};

std::string path_of(const kind& of, std::string_view behind = {}) {
    return fmt::format("{}/{}{}", in_namespace, of.plural, behind);
}

operation read_of(const kind& of, std::string id, std::string path, std::string summary) {
    operation out;
    out.id = std::move(id);
    out.tag = of.plural;
    out.method = "GET";
    out.path = std::move(path);
    out.summary = std::move(summary);
    return out;
}

void add_lists(std::vector<operation>& all, const kind& of, const http::route_handler& handler) {
    const auto list = [&](std::string id, std::string path, std::string summary) {
        auto out = read_of(of, std::move(id), std::move(path), std::move(summary));
        out.description =
            "In the order of namespace and name, in parts of `limit`. An object that exists during "
            "the whole listing is listed exactly once, whatever is created or deleted between the "
            "parts.";
        out.needs = {{"list", of.resource}};
        out.query = list_parameters();
        out.answers = {{200, "The objects.", {{of.schema + "List"}}, {"X-ESI-Index"}}};
        out.handler = handler;
        all.push_back(std::move(out));
    };
    list("list" + of.singular + "s", path_of(of),
         fmt::format("Lists the {} of a namespace.", of.plural));
    list("listAll" + of.singular + "s", "/api/v1/" + of.plural,
         fmt::format("Lists the {} of all namespaces.", of.plural));
}

void add_get(std::vector<operation>& all, const kind& of, http::route_handler handler) {
    auto out = read_of(of, "get" + of.singular, path_of(of, "/{name}"),
                       fmt::format("Reads a {}.", of.schema));
    out.description =
        "With `index` the answer comes at the next change of the object, with `waitFor` when the "
        "object is as wished. 404 if the object does not exist, also when it is deleted during the "
        "wait.";
    out.needs = {{"get", of.resource}};
    out.query = {index(), wait(), wait_for()};
    out.headers = {if_none_match()};
    out.answers = {{200, "The object.", {{of.schema}}, {"ETag", "X-ESI-Index"}},
                   {304, "The object is as the client has it.", {}, {"ETag", "X-ESI-Index"}},
                   {504,
                    "waitFor did not come true in time; `state` has the present state.",
                    {{"Problem", "application/problem+json"}}}};
    out.handler = std::move(handler);
    all.push_back(std::move(out));
}

void add_reads(std::vector<operation>& all, const parts& by) {
    add_lists(all, testbeds, bound(by.read, &reads::list_testbeds));
    add_get(all, testbeds, bound(by.read, &reads::get_testbed));
    auto slots = read_of(testbeds, "listSlots", path_of(testbeds, "/{name}/slots"),
                         "Lists the slots of a Testbed and what is in them.");
    slots.description = "Also for a Testbed that has too many slots for its status.";
    slots.needs = {{"get", "testbeds"}};
    slots.query = {
        {"state", "Only slots in one of these states: FREE, RESERVED, OCCUPIED, ERROR.", words},
        {"node", "Only slots of these nodes, with commas between them.", words},
        limit(list_limits::most_slots, list_limits::usual_slots),
        {"continue", "The member continue of an earlier part; the answer begins there.", number}};
    slots.answers = {{200, "The slots.", {{"SlotList"}}, {"X-ESI-Index"}}};
    slots.handler = bound(by.read, &reads::list_slots);
    all.push_back(std::move(slots));

    add_lists(all, jobs, bound(by.read, &reads::list_jobs));
    add_get(all, jobs, bound(by.read, &reads::get_job));
    auto runs = read_of(jobs, "listRuns", path_of(jobs, "/{name}/runs"),
                        "Lists the runs of a job that are on record.");
    runs.description =
        "Where each run was, beside which jobs, when its phases began, and how it ended; the last "
        "20 runs.";
    runs.needs = {{"get", "batchjobs"}};
    runs.answers = {{200, "The runs.", {{"RunList"}}, {"X-ESI-Index"}}};
    runs.handler = bound(by.read, &reads::list_runs);
    all.push_back(std::move(runs));

    add_lists(all, schedulings, bound(by.read, &reads::list_schedulings));
    add_get(all, schedulings, bound(by.read, &reads::get_scheduling));
}

void add_questions(std::vector<operation>& all, const parts& by) {
    auto job = read_of(jobs, "explainJob", path_of(jobs, "/{name}/explain"),
                       "Explains why a job does not start, or what it does.");
    job.needs = {{"get", "batchjobs"}};
    job.answers = {{200, "The explanation.", {{"JobExplanation"}}}};
    job.handler = bound(by.ask, &questions::explain_job);
    all.push_back(std::move(job));

    auto plan = read_of(schedulings, "explainScheduling", path_of(schedulings, "/{name}/explain"),
                        "Explains why a plan and each of its jobs does not start.");
    plan.description =
        "Every blocker by kind, name and namespace, since when it exists, what would free it, and "
        "when that is likely by recorded runs; and why pods wait.";
    plan.needs = {{"get", "schedulings"}};
    plan.answers = {{200, "The explanation.", {{"Explanation"}}}};
    plan.handler = bound(by.ask, &questions::explain_scheduling);
    all.push_back(std::move(plan));

    auto preview = read_of(schedulings, "previewScheduling", path_of(schedulings, ":preview"),
                           "Shows what would happen to a plan now; nothing is written.");
    preview.method = "POST";
    preview.description =
        "Which job would get which slots at once, what the other jobs wait for, which can never "
        "start, and why. The answer comes from the planner that the operator itself uses.";
    preview.needs = {{"create", "schedulings"}};
    preview.bodies = {{"SchedulingDraft"}};
    preview.body_limit = longest_body;
    preview.answers = {{200, "The preview.", {{"Preview"}}}};
    preview.handler = bound(by.ask, &questions::preview);
    all.push_back(std::move(preview));

    auto matrix = read_of(jobs, "getMatrix", std::string(in_namespace) + "/matrix",
                          "Run times of the jobs of a namespace by the jobs that ran beside them.");
    matrix.needs = {{"list", "batchjobs"}};
    matrix.query = {
        {"testbed",
         "The Testbed of the runs: its name, or NAMESPACE/NAME of one in another namespace.",
         R"({"type":"string","pattern":"^([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?/)?)"
         R"([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$"})",
         true}};
    matrix.answers = {{200, "The matrix.", {{"Matrix"}}}};
    matrix.handler = bound(by.ask, &questions::matrix);
    all.push_back(std::move(matrix));
}

// --- what changes something ---

const char* const merge_patch = "application/merge-patch+json";

parameter if_match(bool required) {
    return {"If-Match",
            required ? "ETag of the version that the change was made from, or * for any version. "
                       "428 if the header is missing, 412 if the object has another version."
                     : "ETag of the version that the change was made from; 412 if the object has "
                       "another version.",
            some_text, required};
}

const std::vector<std::string> of_object{"ETag", "X-ESI-Index"};
const documented_answer not_that_version{
    412, "The object has another version.", {{"Problem", "application/problem+json"}}};
const documented_answer conflict{
    409,
    "The object is being deleted, or other clients change it all the time.",
    {{"Problem", "application/problem+json"}}};

operation write_of(const kind& of, std::string id, std::string method, std::string path,
                   std::string summary, std::string verb) {
    auto out = read_of(of, std::move(id), std::move(path), std::move(summary));
    out.method = std::move(method);
    out.needs = {{std::move(verb), of.resource}};
    return out;
}

void add_changes(std::vector<operation>& all, const parts& by) {
    auto create = write_of(schedulings, "createScheduling", "POST", path_of(schedulings),
                           "Creates a Scheduling: a plan that starts as soon as it can.", "create");
    create.description =
        "The body is checked before anything is written, and all faults are reported together. "
        "Objects that it names and that do not exist yet are awaited; each is listed in a Warning "
        "header.";
    create.query = {
        {"dryRun",
         "true: the request is checked to the end, by the API server too, and not stored.",
         R"({"type":"boolean","default":false})"}};
    create.headers = {
        {"Idempotency-Key",
         "A key of the client's choice. For 24 hours the same key with the same body gives the "
         "same object, on every replica; with another body the answer is 422. Requests with one "
         "key and several names at the same moment may create several objects.",
         R"({"type":"string","minLength":1,"maxLength":255,"pattern":"^[ -~]+$"})"}};
    create.bodies = {{"SchedulingInput"}};
    create.body_limit = longest_body;
    create.answers = {
        {201,
         "The object, as it was stored.",
         {{"Scheduling"}},
         {"ETag", "X-ESI-Index", "Location", "Warning"}},
        {200, "dryRun: the object, as it would be.", {{"Scheduling"}}, {"Warning"}},
        {409, "An object of that name exists.", {{"Problem", "application/problem+json"}}}};
    create.handler = bound(by.write, &writes::create_scheduling);
    all.push_back(std::move(create));

    const std::string one = path_of(schedulings, "/{name}");
    auto replace = write_of(schedulings, "replaceScheduling", "PUT", one,
                            "Replaces the spec of a Scheduling.", "update");
    replace.description =
        "A running Scheduling can be changed too: jobs may be added, and those that have not "
        "started may be changed or removed. Each change that is not acted on is listed in a "
        "Warning "
        "header. The status in the body is ignored; labels stay if the body has none.";
    replace.headers = {if_match(true)};
    replace.bodies = {{"SchedulingInput"}};
    replace.body_limit = longest_body;
    replace.answers = {{200,
                        "The object, as it was stored.",
                        {{"Scheduling"}},
                        {"ETag", "X-ESI-Index", "Warning"}},
                       conflict,
                       not_that_version,
                       {428, "If-Match is missing.", {{"Problem", "application/problem+json"}}}};
    auto patch = replace;
    replace.handler = bound(by.write, &writes::replace_scheduling);
    all.push_back(std::move(replace));

    patch.id = "patchScheduling";
    patch.method = "PATCH";
    patch.summary = "Changes a part of a Scheduling.";
    patch.description =
        "A merge patch (RFC 7396) of the spec, the labels and the annotations; the result is "
        "checked like the body of a PUT.";
    patch.needs = {{"patch", "schedulings"}};
    patch.bodies = {{"SchedulingPatch", merge_patch}};
    patch.handler = bound(by.write, &writes::patch_scheduling);
    all.push_back(std::move(patch));

    auto remove =
        write_of(schedulings, "deleteScheduling", "DELETE", one,
                 "Deletes a Scheduling, which releases its jobs and its Testbed.", "delete");
    remove.headers = {if_match(false)};
    remove.answers = {{202,
                       "The Scheduling releases its jobs and its Testbed; then it is gone.",
                       {{"Scheduling"}},
                       of_object},
                      {204, "The Scheduling had nothing to release and is gone.", {}},
                      conflict,
                      not_that_version};
    remove.handler = bound(by.write, &writes::delete_scheduling);
    all.push_back(std::move(remove));

    auto notes = write_of(jobs, "patchExternalScheduler", "PATCH",
                          path_of(jobs, "/{name}/external-scheduler"),
                          "Merges an external scheduler's notes into those of a job.", "patch");
    notes.headers = {if_match(false)};
    notes.bodies = {{"ExternalNotesPatch", merge_patch}};
    notes.body_limit = longest_body;
    notes.answers = {
        {200, "The job, as it was stored.", {{"BatchJob"}}, of_object}, conflict, not_that_version};
    notes.handler = bound(by.write, &writes::patch_notes);
    all.push_back(std::move(notes));

    auto labels = write_of(testbeds, "setNodes", "PUT", path_of(testbeds, "/{name}/nodes"),
                           "Gives a Testbed its nodes: writes their labels.", "patch");
    labels.description =
        "Only if esi-scheduling runs with --api-nodes. Nodes that had the label and are not chosen "
        "lose it. The same request gives the same nodes again.";
    labels.needs = {{"get", "testbeds"}, {"patch", "nodes", ""}};
    labels.bodies = {{"NodesRequest"}};
    labels.body_limit = longest_body;
    labels.answers = {{200, "The nodes that the Testbed has now.", {{"TestbedNodes"}}},
                      {409,
                       "Too few nodes have the room, or the label is one of Kubernetes itself.",
                       {{"Problem", "application/problem+json"}}}};
    labels.handler = bound(by.label, &nodes::set_nodes);
    all.push_back(std::move(labels));
}

void add_actions(std::vector<operation>& all, const parts& by) {
    const auto add = [&](const kind& of, std::string id, const char* verb, std::string summary,
                         std::string description, std::vector<content> bodies,
                         http::route_handler handler) {
        auto out = write_of(of, std::move(id), "POST", path_of(of, std::string("/{name}:") + verb),
                            std::move(summary), "patch");
        out.description = std::move(description);
        out.headers = {if_match(false)};
        out.bodies = std::move(bodies);
        if (!out.bodies.empty()) out.body_limit = longest_body;
        out.answers = {
            {202, "The change is written; the operators act on it.", {{of.schema}}, of_object},
            conflict,
            not_that_version};
        out.handler = std::move(handler);
        all.push_back(std::move(out));
    };
    add(jobs, "resetJob", "reset", "Makes a failed job ready again.",
        "409 for a job that has not failed.", {}, bound(by.write, &writes::reset_job));
    add(jobs, "releaseJob", "release", "Takes a job away from the Scheduling that has it.",
        "A run that is under way ends as ReleasedByHand. Nothing changes if no Scheduling has the "
        "job.",
        {}, bound(by.write, &writes::release_job));
    add(schedulings, "cancelJob", "cancel", "Cancels one job of a plan.",
        "A job that runs is ended, a job that waits is not started; its slots go to the next job. "
        "422 for a job that is not in the plan.",
        {{"CancelRequest"}}, bound(by.write, &writes::cancel_job));
    add(schedulings, "suspendScheduling", "suspend",
        "Pauses a plan: nothing new is acquired or started.", "", {{"SuspendRequest"}},
        bound(by.write, &writes::suspend));
    all.back().body_is_optional = true;
    add(schedulings, "resumeScheduling", "resume", "Lets a paused plan go on.", "", {},
        bound(by.write, &writes::resume));
}

}  // namespace

std::vector<operation> operations(const parts& by) {
    std::vector<operation> out;
    add_reads(out, by);
    add_questions(out, by);
    add_changes(out, by);
    add_actions(out, by);
    for (auto& each : events::operations(by.tell)) out.push_back(std::move(each));
    return out;
}

}  // namespace esi::interface::v1
