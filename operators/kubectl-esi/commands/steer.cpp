#include "kubectl-esi/commands/steer.h"

#include <fmt/format.h>

#include "kube/patch.h"
#include "kubectl-esi/read/remedy.h"
#include "kubectl-esi/read/tries.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/words.h"
#include "model/names.h"
#include "scheduling/outlook.h"
#include "scheduling/plan.h"

namespace esi::kubectl {

namespace types = kube::types;
using model::object_key;

namespace {

using namespace std::chrono_literals;

constexpr auto look_again = 200ms;

std::string full_name(const kube::resource_type& type, const std::string& name) {
    std::string kind;
    for (const char c : type.kind) {
        kind += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return fmt::format("{}.{}/{}", kind, type.group, name);
}

template <class T>
asio::awaitable<result<std::string>> changed_once(
    session& in, const kube::resource_type& type, const object_key& key,
    const std::function<result<change>(const T&)>& how) {
    auto seen = co_await read_one<T>(in, type, key);
    if (!seen) co_return std::unexpected(std::move(seen).error());
    auto wanted = how(**seen);
    if (!wanted) co_return std::unexpected(std::move(wanted).error());
    auto line = full_name(type, key.name) + " " + wanted->text + "\n";
    if (wanted->patch.is_null()) co_return line;
    const auto& meta = (*seen)->metadata;
    auto done = co_await in.api.patch(
        type, key.namespace_, key.name, kube::patch_kind::merge,
        kube::guarded(std::move(wanted->patch), meta.uid, meta.resource_version));
    if (!done) co_return std::unexpected(std::move(done).error());
    co_return line;
}

template <class T>
asio::awaitable<result<std::string>> changed(session& in, const kube::resource_type& type,
                                             object_key key,
                                             std::function<result<change>(const T&)> how) {
    co_return co_await tried([&] { return changed_once<T>(in, type, key, how); });
}

void tell(reply& out, const result<std::string>& done, const session& in) {
    if (done) {
        out.out += *done;
        return;
    }
    out.note += error_text(done.error(), &in.access);
    out.code = exit_code::failed;
}

template <class T>
asio::awaitable<result<reply>> changed_all(session& in, const kube::resource_type& type,
                                           std::vector<std::string> names,
                                           std::function<result<change>(const T&)> how) {
    reply out;
    for (auto& name : names) {
        const auto done = co_await changed<T>(in, type, {in.own_namespace(), name}, how);
        tell(out, done, in);
    }
    co_return out;
}

std::string object_text(const model::scheduling& of) {
    return "Scheduling " + of.metadata.key().text();
}

std::optional<error> ended(const model::scheduling& of) {
    switch (scheduling::stage_of(of)) {
        case scheduling::stage::over:
            return error{errc::invalid, object_text(of) + " is over (" + of.status.state +
                                            "): nothing of it starts any more"};
        case scheduling::stage::leaving:
            return error{errc::invalid, object_text(of) + " is being deleted"};
        default:
            return std::nullopt;
    }
}

bool has_failed(const model::batchjob& job) {
    return job.status.state == model::job_state::failed ||
           job.status.state == model::job_state::failed_submission;
}

asio::awaitable<result<std::string>> released(session& in, object_key key, release_options how) {
    auto seen = co_await read_one<model::scheduling>(in, types::scheduling, key);
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto uid = (*seen)->metadata.uid;
    auto done = co_await in.api.remove(types::scheduling, key.namespace_, key.name, {uid});
    if (!done && done.error().code != errc::not_found) {
        co_return std::unexpected(std::move(done).error());
    }
    const auto name = full_name(types::scheduling, key.name);
    if (!how.wait) co_return name + " is being released\n";
    const auto deadline = in.time.now() + how.timeout;
    while (true) {
        auto now = co_await read_one<model::scheduling>(in, types::scheduling, key);
        const bool gone = now ? (*now)->metadata.uid != uid : now.error().code == errc::not_found;
        if (gone) co_return name + " released\n";
        if (!now && !now.error().transient()) co_return std::unexpected(std::move(now).error());
        if (in.time.now() >= deadline) {
            co_return fail(errc::timeout,
                           "Scheduling " + key.text() +
                               " is still being released; what it waits for: kubectl esi explain "
                               "scheduling " +
                               key.name + " -n " + key.namespace_);
        }
        co_await in.time.sleep_for(look_again);
    }
}

}  // namespace

result<change> suspension(const model::scheduling& of, bool release_running) {
    if (auto wrong = ended(of)) return std::unexpected(std::move(*wrong));
    namespace policy = model::scheduling_suspend_policy;
    const auto wanted = release_running ? policy::release : policy::keep;
    const auto has = of.spec.suspend_policy.empty() ? policy::keep : of.spec.suspend_policy;
    if (of.spec.suspend.value_or(false) && has == wanted) {
        return change{nullptr, "is suspended already"};
    }
    return change{{{"spec", {{"suspend", true}, {"suspendPolicy", wanted}}}},
                  release_running ? "suspended: its runs are being ended, their jobs start again "
                                    "when it is resumed"
                                  : "suspended: runs go on to their end, no other job starts"};
}

result<change> resumption(const model::scheduling& of) {
    if (auto wrong = ended(of)) return std::unexpected(std::move(*wrong));
    if (!of.spec.suspend.value_or(false)) return change{nullptr, "is not suspended"};
    return change{{{"spec", {{"suspend", false}}}}, "resumed"};
}

result<change> cancellation(const model::scheduling& of, const std::vector<std::string>& jobs) {
    if (auto wrong = ended(of)) return std::unexpected(std::move(*wrong));
    const auto& ns = of.metadata.namespace_;
    const auto plan = scheduling::plan_of(of);
    auto list = of.spec.cancelled_jobs;
    bool more = false;
    for (const auto& name : jobs) {
        auto key = object_key::from_text(name);
        if (key.namespace_.empty()) key.namespace_ = ns;
        if (plan.find(key) == nullptr) {
            std::vector<std::string> known;
            for (const auto& each : plan.jobs) known.push_back(shown::name_in(each.name, ns));
            return fail(errc::not_found,
                        fmt::format("{} names no BatchJob {}; it names {}", object_text(of), name,
                                    shown::list_text(known)));
        }
        if (plan.cancelled.contains(key)) continue;
        more = true;
        list.push_back(key.namespace_ == ns ? object_key{"", key.name} : key);
    }
    if (!more) return change{nullptr, "has cancelled that already"};
    return change{{{"spec", {{"cancelledJobs", model::encode(list)}}}},
                  fmt::format("cancels {}", fmt::join(jobs, ", "))};
}

result<change> resetting(const model::batchjob& of, wall_time now) {
    const auto name = "BatchJob " + of.metadata.key().text();
    if (!has_failed(of)) {
        return fail(errc::invalid,
                    fmt::format("{} has not failed: it is in {}, so there is nothing "
                                "to reset",
                                name, shown::or_none(of.status.state)));
    }
    return change{
        {{"metadata",
          {{"annotations", {{std::string(model::names::reset), model::timestamp{now}.micro()}}}}}},
        "reset"};
}

asio::awaitable<result<reply>> release(session& in, std::vector<std::string> names,
                                       release_options how) {
    reply out;
    for (auto& name : names) {
        const auto done = co_await released(in, {in.own_namespace(), name}, how);
        tell(out, done, in);
    }
    co_return out;
}

asio::awaitable<result<reply>> suspend(session& in, std::vector<std::string> names,
                                       bool release_running) {
    return changed_all<model::scheduling>(
        in, types::scheduling, std::move(names),
        [release_running](const auto& of) { return suspension(of, release_running); });
}

asio::awaitable<result<reply>> resume(session& in, std::vector<std::string> names) {
    return changed_all<model::scheduling>(in, types::scheduling, std::move(names), resumption);
}

asio::awaitable<result<reply>> cancel(session& in, std::string name,
                                      std::vector<std::string> jobs) {
    return changed_all<model::scheduling>(
        in, types::scheduling, {std::move(name)},
        [jobs = std::move(jobs)](const auto& of) { return cancellation(of, jobs); });
}

asio::awaitable<result<reply>> reset(session& in, std::vector<std::string> names, bool all) {
    if (all) {
        auto list = co_await kube::paged_list<model::batchjob>(
            in.api, types::batchjob, in.own_namespace(), {}, trim_listed<model::batchjob>);
        if (!list) co_return std::unexpected(std::move(list).error());
        for (const auto& each : *list) {
            if (has_failed(each) && !each.metadata.deleting()) names.push_back(each.metadata.name);
        }
        if (names.empty()) {
            co_return reply{"", "No batchjob of " + in.own_namespace() + " has failed.\n",
                            exit_code::ok};
        }
    }
    const auto now = in.now();
    co_return co_await changed_all<model::batchjob>(
        in, types::batchjob, std::move(names),
        [now](const auto& of) { return resetting(of, now); });
}

}  // namespace esi::kubectl
