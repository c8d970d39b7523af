#include "scheduling/interface/v1/operations.h"

#include <fmt/format.h>

#include <utility>

#include "scheduling/interface/v1/events/operations.h"
#include "scheduling/interface/v1/questions.h"
#include "scheduling/interface/v1/reads.h"

namespace esi::scheduling::v1 {

namespace {

constexpr std::string_view in_namespace = "/api/v1/namespaces/{namespace}";
/// What the API server stores for one object is not much more.
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

parameter index() {
    return {"index",
            "A blocking query: answers at the first change behind this version (the header "
            "X-ESI-Index of an earlier answer), or when `wait` is over. 0 answers at once.",
            R"({"type":"string","pattern":"^(0|[1-9][0-9]{0,19})$"})"};
}
parameter wait() {
    return {
        "wait",
        "How long to wait at most, such as 60s, 1m30s or 500ms; 60s when absent. The server cuts "
        "it to --api-max-wait.",
        R"({"type":"string","pattern":"^([0-9]{1,8}h)?([0-9]{1,8}m)?([0-9]{1,8}s)?([0-9]{1,8}ms)?$"})"};
}
parameter wait_for() {
    return {"waitFor",
            "Answers when it is true: state=STATE or condition:TYPE=STATUS, such as "
            "state=CompletedState or condition:Acquired=True; a problem with the code Timeout when "
            "`wait` is over.",
            R"({"type":"string","pattern":"^(state|condition:[^=]+)=.+$"})"};
}
parameter limit(int most, int usual) {
    return {
        "limit", "How many are told at most; `continue` asks for more.",
        fmt::format(R"({{"type":"integer","minimum":1,"maximum":{},"default":{}}})", most, usual)};
}
parameter go_on() {
    return {"continue", "Goes on behind an earlier part of the list: its member continue.", text};
}
parameter if_none_match() {
    return {"If-None-Match", "ETag of what the client has: 304 where it is still the same.", text};
}

std::vector<parameter> list_parameters() {
    return {limit(list_limits::most, list_limits::usual),
            go_on(),
            {"labelSelector",
             "Label selector of Kubernetes: a=b, a!=b, a in (b,c), a notin (b,c), a, !a; all that "
             "stand with commas between them hold.",
             text},
            {"state", "Only those in one of these states, with commas between them.", text},
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
            "In the order of namespace and name, in parts of `limit`. An object that is there all "
            "the while is told exactly once, also when others come and go between the parts.";
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
        "With `index` it waits for the next change of the object, with `waitFor` until it is as "
        "wished. 404 at once where there is none, and when it goes while somebody waits.";
    out.needs = {{"get", of.resource}};
    out.query = {index(), wait(), wait_for()};
    out.headers = {if_none_match()};
    out.answers = {{200, "The object.", {{of.schema}}, {"ETag", "X-ESI-Index"}},
                   {304, "It is as the client has it.", {}, {"ETag", "X-ESI-Index"}},
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
    slots.description = "Also of a Testbed that has too many for its status.";
    slots.needs = {{"get", "testbeds"}};
    slots.query = {
        {"state", "Only those in one of these states: FREE, RESERVED, OCCUPIED, ERROR.", text},
        {"node", "Only those of these nodes, with commas between them.", text},
        limit(list_limits::most_slots, list_limits::usual_slots),
        {"continue", "Goes on at an earlier part's member continue.",
         R"({"type":"string","pattern":"^(0|[1-9][0-9]{0,19})$"})"}};
    slots.answers = {{200, "The slots.", {{"SlotList"}}, {"X-ESI-Index"}}};
    slots.handler = bound(by.read, &reads::list_slots);
    all.push_back(std::move(slots));

    add_lists(all, jobs, bound(by.read, &reads::list_jobs));
    add_get(all, jobs, bound(by.read, &reads::get_job));
    auto runs = read_of(jobs, "listRuns", path_of(jobs, "/{name}/runs"),
                        "Lists the runs of a job that are on record.");
    runs.description =
        "Where each ran, beside whom, when its phases began, and how it ended; the last 20.";
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
        "Every blocker by kind, name and namespace, since when it is there, what would free it, "
        "and when that is likely by recorded runs; of pods that wait why.";
    plan.needs = {{"get", "schedulings"}};
    plan.answers = {{200, "The explanation.", {{"Explanation"}}}};
    plan.handler = bound(by.ask, &questions::explain_scheduling);
    all.push_back(std::move(plan));

    auto preview = read_of(schedulings, "previewScheduling", path_of(schedulings, ":preview"),
                           "Tells what a plan would come to now; nothing is written.");
    preview.method = "POST";
    preview.description =
        "Which job would get which slots at once, what the others wait for, what can never start "
        "and why: by the planner that the operator itself asks.";
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
         "On which Testbed the runs were: its name, or NAMESPACE/NAME of one in another "
         "namespace.",
         R"({"type":"string","minLength":1})", true}};
    matrix.answers = {{200, "The matrix.", {{"Matrix"}}}};
    matrix.handler = bound(by.ask, &questions::matrix);
    all.push_back(std::move(matrix));
}

}  // namespace

std::vector<operation> operations(const parts& by) {
    std::vector<operation> out;
    add_reads(out, by);
    add_questions(out, by);
    for (auto& each : events::operations(by.tell)) out.push_back(std::move(each));
    return out;
}

}  // namespace esi::scheduling::v1
