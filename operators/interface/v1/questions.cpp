#include "interface/v1/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "interface/v1/access/refusals.h"
#include "interface/v1/reads.h"
#include "interface/v1/scheduling_body.h"
#include "interface/v1/wire/parameters.h"
#include "interface/v1/wire/print.h"
#include "interface/v1/wire/problems.h"
#include "kube/watch/live_list.h"
#include "model/conditions.h"
#include "scheduling/answers/lists.h"
#include "scheduling/answers/matrix.h"
#include "scheduling/answers/preview.h"
#include "scheduling/observe.h"

namespace esi::interface::v1 {

namespace {

using http::server_reply;
using http::server_request;
namespace types = kube::types;

/// The scheduler's messages are read for this many pods: the caches do not keep them.
constexpr std::size_t most_pods_read = 8;
/// The name in answers about a plan without a name; no object has it.
constexpr std::string_view nameless_plan = "(this plan)";
/// The longest name of a Testbed or a namespace.
constexpr std::size_t longest_name = 63;
/// Schedulings that one answer about a job explains.
constexpr std::size_t most_plans = 20;

server_reply json_reply(std::string body) {
    server_reply out(200, "application/json", std::move(body));
    out.headers.emplace_back("Cache-Control", "private, no-cache");
    return out;
}

std::optional<http::problem_details> no_parameters(const server_request& from) {
    parameters given(from);
    auto faults = given.take_faults();
    if (faults.empty()) return std::nullopt;
    return bad_parameters(std::move(faults));
}

/// The pods of the Testbed in whose slots it has runs, of the namespaces of its jobs.
std::vector<grid::pod_pointer> pods_of(const scheduling::caches& seen,
                                       const model::scheduling& of) {
    std::vector<grid::pod_pointer> out;
    const auto& list = of.status.assignments;
    if (std::ranges::all_of(list, [](const auto& each) { return each.ended.has_value(); })) {
        return out;
    }
    seen.pods().each_by_index("testbed", grid::testbed_of(of).text(), [&](grid::pod_pointer pod) {
        if (!pod->is_ghost() && !pod->terminal()) out.push_back(std::move(pod));
    });
    return out;
}

http::problem_details too_many_questions() {
    return throttled("too many questions about plans wait for their turn", seconds(2));
}

}  // namespace

/// The wait may be long: other large answers are made meanwhile.
asio::awaitable<std::unique_ptr<turns::turn>> questions::take_turn(
    const http::server_request& from) {
    if (from.room) from.room->stand_aside();
    return turns_.take(from.caller->name);
}

asio::awaitable<answer> questions::preview(server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    // A parsed body may be many times as long: one at a time is read.
    const auto turn = co_await take_turn(from);
    if (!turn) co_return std::unexpected(too_many_questions());
    auto body = parse_body(from.body);
    if (!body) co_return std::unexpected(with_faults(400, std::move(body).error()));
    auto read = read_scheduling(*body, {key_of(from).namespace_, "", true});
    if (!read) co_return std::unexpected(with_faults(422, std::move(read).error()));
    if (read->key.name.empty()) read->key.name = nameless_plan;
    const auto existing = from_.seen.schedulings().find(read->key);
    const auto now = from_.time.wall();
    scheduling::live_facts live;
    auto v = observe(
        from_.seen,
        scheduling::answers::draft_of(read->key, std::move(read->parsed), existing.get(), now),
        live);
    v.namespaces = from_.namespaces;
    v.cross_namespace_jobs = from_.cross_namespace_jobs;
    co_return json_reply(printed(scheduling::answers::preview_of(v, now)));
}

asio::awaitable<questions::explained> questions::explain(
    const http::server_request& from, std::shared_ptr<const model::scheduling> of,
    std::optional<model::object_key> only) {
    auto turn = co_await take_turn(from);
    if (!turn) co_return std::unexpected(too_many_questions());
    const auto now = from_.time.wall();
    auto pods = pods_of(from_.seen, *of);
    scheduling::live_facts live;
    const auto answer = [&] {
        auto v = observe(from_.seen, of, live);
        v.namespaces = from_.namespaces;
        v.cross_namespace_jobs = from_.cross_namespace_jobs;
        return scheduling::answers::explain(v, now, pods, only);
    };
    auto out = answer();
    turn.reset();
    std::set<model::object_key> unbound;
    for (const auto& pod : out.pods) {
        const bool with_scheduler =
            pod.reason == scheduling::answers::waiting_reason::not_bound ||
            pod.reason == scheduling::answers::waiting_reason::not_bound_in_time;
        if (with_scheduler && unbound.size() < most_pods_read) {
            unbound.insert({pod.namespace_, pod.name});
        }
    }
    if (unbound.empty()) co_return out;
    // It is made again with what is read now: many other requests may be here meanwhile.
    out = {};
    for (auto& pod : pods) {
        const auto key = pod->metadata.key();
        if (!unbound.contains(key)) continue;
        // A list of one, as the operator has the right to list pods and not to get them.
        kube::list_options one;
        one.field_selector = "metadata.name=" + key.name;
        one.answer_limit = kube::most_object_bytes;
        auto read =
            co_await kube::live_list<model::pod>(from_.api, types::pod, key.namespace_, one);
        if (!read) {
            log::warn("pod not read for an explanation",
                      {{"pod", key.text()}, {"error", read.error().text}});
            continue;
        }
        for (auto& found : *read) {
            if (found.metadata.uid != pod->metadata.uid) continue;
            pod = std::make_shared<const model::pod>(std::move(found));
            break;
        }
    }
    turn = co_await take_turn(from);
    if (!turn) co_return std::unexpected(too_many_questions());
    co_return answer();
}

asio::awaitable<answer> questions::explain_scheduling(server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    const auto key = key_of(from);
    auto found = from_.seen.schedulings().find(key);
    if (!found) co_return std::unexpected(not_found("Scheduling", key));
    auto out = co_await explain(from, std::move(found), std::nullopt);
    if (!out) co_return std::unexpected(std::move(out).error());
    co_return json_reply(printed(*out));
}

asio::awaitable<answer> questions::explain_job(server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    const auto key = key_of(from);
    const auto job = from_.seen.jobs().find(key);
    if (!job) co_return std::unexpected(not_found("BatchJob", key));
    job_explanation out;
    out.namespace_ = key.namespace_;
    out.name = key.name;
    out.state = job->status.state;
    out.reason = job->status.reason;
    out.problems = job->status.problems;
    if (const auto* startable =
            model::find_condition(job->status.conditions, model::condition_type::startable)) {
        out.startable = startable->status;
        out.startable_reason = startable->reason;
        out.startable_text = startable->message;
    }
    scheduling::plan named;
    named.add({key, 1, {}});
    auto plans = from_.seen.sharing({}, named);
    // A caller who may read this namespace may not read others.
    std::erase_if(plans,
                  [&](const auto& each) { return each->metadata.namespace_ != key.namespace_; });
    if (const auto& active = job->spec.active_scheduling) {
        out.scheduling = active->key();
        const auto holder = std::ranges::find_if(
            plans, [&](const auto& each) { return each->metadata.key() == active->key(); });
        if (holder != plans.end()) std::rotate(plans.begin(), holder, holder + 1);
    }
    scheduling::answers::answer_size size;
    for (const auto& each : plans) {
        if (out.plans.size() == most_plans || size.is_full()) {
            ++out.plans_left_out;
            continue;
        }
        auto plan = co_await explain(from, each, key);
        if (!plan) co_return std::unexpected(std::move(plan).error());
        size.count(*plan);
        if (from.room && !from.room->hold(size.bytes())) {
            if (out.plans.empty()) co_return std::unexpected(no_room());
            size.fill();
            ++out.plans_left_out;
            continue;
        }
        out.plans.push_back(std::move(*plan));
    }
    co_return json_reply(printed(out));
}

asio::awaitable<answer> questions::matrix(server_request from) {
    parameters given(from);
    const auto ns = key_of(from).namespace_;
    const auto testbed = given.text("testbed").value_or("");
    const auto key = testbed.contains('/') ? model::object_key::from_text(testbed)
                                           : model::object_key{ns, testbed};
    const auto fits = [](const std::string& name) {
        return !name.empty() && name.size() <= longest_name;
    };
    if (!fits(key.name) || !fits(key.namespace_) || !model::may_exist(key)) {
        given.fault("testbed", std::string(problem_code::parameter_value),
                    "testbed must be given: the name of a Testbed, or NAMESPACE/NAME of one in "
                    "another namespace");
    }
    if (auto faults = given.take_faults(); !faults.empty()) {
        co_return std::unexpected(bad_parameters(std::move(faults)));
    }
    const auto turn = co_await take_turn(from);
    if (!turn) co_return std::unexpected(too_many_questions());
    std::vector<std::shared_ptr<const model::batchjob>> jobs;
    const auto& all = from_.seen.jobs().all();
    for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.namespace_ == ns; ++at) {
        jobs.push_back(at->second);
    }
    co_return json_reply(printed(scheduling::answers::matrix_of(jobs, key)));
}

}  // namespace esi::interface::v1
