// One decision of the scheduling operator from any state of the objects, also those that only
// people or crashes leave behind. Oracle: the chain of rights (docs/architecture.md). Whatever it
// saw, it takes no step that it has no right to: no hold over a hold, no job of another, no
// assignment of a slot that is not free or not in the layout, no request without its assignment, no
// assignment dropped on the way. Input: a byte for each choice.
#include <fmt/format.h>

#include <algorithm>

#include "choices.h"
#include "grid/places.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/acquire.h"
#include "scheduling/decide.h"
#include "scheduling/plan.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using namespace scheduling;
using model::object_key;
namespace keys = model::names;

constexpr wall_time now = wall_time(seconds(1'700'000'000));
const std::string job_names[] = {"a", "b", "c", "d"};
const std::string testbed_names[] = {"t", "u", "missing"};
const std::string schedulings_named[] = {"s", "r", "gone"};
const std::string job_states[] = {
    "ReadyState",     "InQueueState", "SubmittedState",        "RunningState",
    "CompletedState", "FailedState",  "FailedSubmissionState", "",
    "PendingDeletion"};
const std::string scheduling_states[] = {"",
                                         "AcquireState",
                                         "ConfirmationState",
                                         "SubmissionState",
                                         "AwaitingCompletionState",
                                         "CompletedState",
                                         "FinishedState",
                                         "Error"};
const std::string releases[] = {"Deleted", "RolledBack", "Completed", "HoldLost", "LeftOver"};
const std::string holds[] = {"", "s-uid.7", "r-uid.8", "gone-uid.9", "nonsense", "s-uid.6"};
const std::string modes[] = {"strict", "relaxed"};

struct world {
    objects<model::scheduling> schedulings;
    objects<model::testbed> testbeds;
    objects<model::batchjob> jobs;
    std::vector<grid::pod_pointer> pods;
    /// Those with the labels of the Testbed of s.
    std::vector<grid::pod_pointer> here;
    live_facts live;
    view seen;
};

model::object_meta meta(choices& from, std::string name, std::string uid, std::string version) {
    model::object_meta out;
    out.namespace_ = "ns";
    out.name = std::move(name);
    out.uid = std::move(uid);
    out.resource_version = std::move(version);
    out.generation = 1 + from.upto(2);
    out.creation_timestamp = model::timestamp{now - seconds(from.upto(3))};
    if (from.one_in(6)) out.deletion_timestamp = model::timestamp{now};
    return out;
}

void mark(model::pod& pod, const std::string& testbed) {
    pod.metadata.labels[std::string(keys::testbed)] = testbed;
    pod.metadata.labels[std::string(keys::testbed_namespace)] = "ns";
}

void add_testbed(choices& from, world& w, const std::string& name) {
    model::testbed out;
    out.metadata = meta(from, name, name + "-uid", from.one_in(3) ? "8" : "7");
    out.status.observed_generation = from.one_in(6) ? 0 : 2;
    if (const auto& hold = from.pick(holds); !hold.empty()) {
        out.metadata.annotations[std::string(keys::hold)] = hold;
        out.metadata.labels[std::string(keys::active_scheduling_name)] =
            from.pick(schedulings_named);
        out.metadata.labels[std::string(keys::active_scheduling_namespace)] = "ns";
    }
    if (!from.one_in(6)) {
        auto& layout = out.status.layout.emplace();
        layout.slots_per_node = 1 + from.upto(3);
        for (int i = from.upto(4); i > 0; --i) {
            layout.nodes.push_back({fmt::format("{}-{}", name, i), "u", i});
        }
        for (const auto& place : grid::slots_of(layout)) {
            const int what = from.upto(8);
            model::pod pod;
            pod.metadata.namespace_ = "ns";
            pod.metadata.name = fmt::format("{}-pod-{}", name, place.position);
            pod.metadata.uid = pod.metadata.name;
            pod.phase = what == 5 ? "Failed" : "Running";
            mark(pod, name);
            if (what == 7) continue;
            if (what == 6) {
                pod.metadata.labels[std::string(keys::job)] = from.pick(job_names);
                pod.metadata.annotations = {
                    {std::string(keys::run), from.pick(holds) + "." + std::to_string(from.upto(4))},
                    {std::string(keys::slot), std::to_string(place.position)},
                    {std::string(keys::slot_node), place.node}};
                pod.node_name = place.node;
            } else {
                pod.metadata.labels[std::string(keys::ghost)] = "true";
                pod.metadata.owner_references = {{"v", "Testbed", name, name + "-uid", true}};
                pod.metadata.annotations = {
                    {std::string(keys::node), place.node},
                    {std::string(keys::index), std::to_string(place.index)}};
                if (what != 4) pod.node_name = place.node;
                if (what == 3) pod.metadata.deletion_timestamp = model::timestamp{now};
            }
            w.pods.push_back(std::make_shared<const model::pod>(std::move(pod)));
        }
    }
    if (from.one_in(6)) {
        model::set_condition(out.status.conditions, "LayoutCurrent", "False", "X", "", 1, now);
    }
    const auto key = out.metadata.key();
    w.testbeds[key] = std::make_shared<const model::testbed>(std::move(out));
}

std::vector<int> slot_list(choices& from) {
    std::vector<int> out;
    for (int n = from.upto(3); n >= 0; --n) out.push_back(from.upto(7));
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
}

void add_job(choices& from, world& w, const std::string& name) {
    model::batchjob out;
    out.metadata = meta(from, name, from.one_in(6) ? name + "-new" : name + "-uid", "5");
    out.status.state = from.pick(job_states);
    out.status.observed_generation = from.one_in(5) ? 0 : out.metadata.generation;
    if (from.one_in(2)) {
        const auto& whose = from.pick(schedulings_named);
        // The uid that it has, one that is gone, or none, as the original wrote it.
        const std::string uid = from.one_in(3) ? from.one_in(2) ? "old-uid" : "" : whose + "-uid";
        out.spec.active_scheduling = {"ns", whose, uid};
    }
    const auto run = [&] { return from.pick(holds) + "." + std::to_string(from.upto(4)); };
    if (from.one_in(3)) {
        auto& request = out.spec.creation_request.emplace();
        request.testbed_name = {"ns", "t"};
        request.slot_ids = slot_list(from);
        request.run = run();
    }
    if (from.one_in(4)) out.status.application = {"v", "SparkApplication", name, "app", run()};
    if (from.one_in(4)) {
        auto& record = out.status.runs.emplace_back();
        record.run = run();
        record.scheduling = {"ns", from.pick(schedulings_named)};
        record.testbed = {"ns", from.pick(testbed_names)};
        for (const auto& pod : w.pods) {
            const auto slot = grid::slot_of_pod(*pod);
            if (slot && pod->metadata.label(keys::job) == name && from.one_in(2)) {
                out.status.placements.push_back({*slot, pod->metadata.uid, pod->metadata.name});
            }
        }
        record.outcome = from.one_in(2) ? "Succeeded" : from.one_in(2) ? "Running" : "Failed";
    }
    const auto key = out.metadata.key();
    w.jobs[key] = std::make_shared<const model::batchjob>(std::move(out));
}

model::scheduling_spec spec_of(choices& from) {
    model::scheduling_spec out;
    out.testbed = {"", from.pick(testbed_names)};
    if (from.one_in(4)) {
        out.pool_based.emplace().jobs.push_back({{"", from.pick(job_names)}, 1 + from.upto(3)});
    } else if (from.one_in(3)) {
        auto& plan = out.slot_based.emplace();
        plan.mode = from.pick(modes);
        for (int n = from.upto(5); n > 0; --n) {
            plan.jobs.push_back({{"", from.pick(job_names)}, slot_list(from)});
        }
    } else {
        auto& queue = out.queue_based.emplace();
        for (int n = from.upto(8); n > 0; --n) queue.push_back({"", from.pick(job_names)});
    }
    out.release_on_completion = from.one_in(3);
    if (from.one_in(5)) out.suspend = true;
    if (from.one_in(2)) out.suspend_policy = "Release";
    if (from.one_in(5)) out.cancelled_jobs.push_back({"", from.pick(job_names)});
    if (from.one_in(4)) out.job_policies.push_back({{"", from.pick(job_names)}, from.upto(3), 0});
    if (from.one_in(5)) out.active_deadline_seconds = 60;
    if (from.one_in(5)) out.ttl_seconds_after_finished = 60;
    if (from.one_in(3)) out.priority = from.upto(3);
    return out;
}

void add_scheduling(choices& from, world& w, const std::string& name) {
    model::scheduling out;
    out.metadata = meta(from, name, name + "-uid", "4");
    if (!from.one_in(3)) out.metadata.finalizers.emplace_back(keys::scheduling_finalizer);
    out.spec = spec_of(from);
    auto& status = out.status;
    status.state = from.pick(scheduling_states);
    if (from.one_in(4)) status.releasing = from.pick(releases);
    if (from.one_in(4)) {
        model::set_condition(status.conditions, "Acquired", "False", "HoldLost", "", 1, now);
    }
    if (from.one_in(5)) {
        model::set_condition(status.conditions, "Progressing", "False", from.pick(releases), "", 1,
                             now);
    }
    std::set<std::string> taken;
    std::set<int> slots;
    for (int n = from.one_in(2) ? from.upto(4) : 0; n > 0; --n) {
        model::assignment a;
        const auto& job = from.pick(job_names);
        a.job = {"ns", job, job + "-uid"};
        a.slot_ids = slot_list(from);
        a.run = fmt::format("{}-uid.7.{}", name, ++status.last_run);
        if (from.one_in(3)) {
            a.ended = model::timestamp{now};
            a.outcome = from.one_in(3) ? "Failed" : "Succeeded";
            if (from.one_in(3)) a.attempt = 1;
        } else if (from.one_in(4)) {
            a.ending = from.one_in(2) ? "Suspended" : "Cancelled";
        }
        // A status as the operator writes it: one assignment a job, slots disjoint.
        if (!taken.insert(job).second) continue;
        std::erase_if(a.slot_ids, [&](int id) { return !a.ended && !slots.insert(id).second; });
        if (!a.slot_ids.empty()) status.assignments.push_back(std::move(a));
    }
    if (!status.assignments.empty() && !from.one_in(5)) status.plan = frozen_spec(out);
    if (!status.assignments.empty()) {
        status.started = model::timestamp{now - seconds(from.one_in(2) ? 10 : 100)};
    }
    if (from.one_in(4)) status.ended = model::timestamp{now - seconds(from.one_in(2) ? 10 : 100)};
    const auto key = out.metadata.key();
    w.schedulings[key] = std::make_shared<const model::scheduling>(std::move(out));
}

void build(choices& from, world& w) {
    add_scheduling(from, w, "s");
    for (const char* name : {"t", "u"}) {
        if (!from.one_in(6)) add_testbed(from, w, name);
    }
    for (const auto& name : job_names) {
        if (!from.one_in(6)) add_job(from, w, name);
    }
    if (from.one_in(2)) add_scheduling(from, w, "r");
    if (from.one_in(2)) w.live.proven.testbed = steady_time();
    w.live.proven.release = from.one_in(2);
    for (const auto& name : job_names) {
        if (from.one_in(2)) w.live.proven.jobs.insert({"ns", name});
    }
    if (from.one_in(2)) {
        auto& read = w.live.proven.pods.emplace();
        for (const auto& name : job_names) read.jobs.insert({"ns", name});
        auto& pods = read.pods;
        for (const auto& pod : w.pods) {
            if (!pod->is_ghost() && from.one_in(4)) pods.push_back(pod);
        }
    }
    for (auto& [key, testbed] : w.testbeds) {
        if (!testbed->status.layout || !from.one_in(3)) continue;
        auto shown = *testbed;
        for (const auto& place : grid::slots_of(*shown.status.layout)) {
            auto& row = shown.status.slots.emplace_back();
            row.position = place.position;
            row.state = from.one_in(3) ? "ERROR" : "FREE";
            if (from.one_in(4)) row.pod_u_id = fmt::format("{}-pod-{}", key.name, place.position);
        }
        testbed = std::make_shared<const model::testbed>(std::move(shown));
    }
    auto& v = w.seen;
    v.self = w.schedulings.at({"ns", "s"});
    v.schedulings = &w.schedulings;
    v.testbeds = &w.testbeds;
    v.jobs = &w.jobs;
    v.live = &w.live;
    for (const auto& [key, job] : w.jobs) {
        const auto& active = job->spec.active_scheduling;
        if (active && active->key() == object_key{"ns", "s"}) v.named.push_back(key);
    }
    const auto key = testbed_of(*v.self);
    auto slots = std::make_shared<grid::slot_table>(key);
    if (const auto found = w.testbeds.find(key); found != w.testbeds.end()) {
        slots->change_testbed(found->second);
    }
    for (const auto& [name, job] : w.jobs) slots->change_job(nullptr, job.get());
    for (const auto& pod : w.pods) {
        if (pod->testbed() != key) continue;
        slots->change_pod(nullptr, pod);
        w.here.push_back(pod);
    }
    v.slots = slots;
}

/// What the step may rest on.
struct judge {
    const world& w;
    const decision& made;
    const model::scheduling& self = *w.seen.self;
    std::shared_ptr<const model::testbed> testbed = w.seen.find_testbed(testbed_of(self));

    bool ours(const model::testbed& of) const {
        return grid::scheduling_uid_of_hold(of.hold()) == self.metadata.uid;
    }
    bool on_the_way_in() const {
        return !self.metadata.deleting() && self.status.releasing.empty();
    }
    const model::batchjob& job(const object_key& key, const std::string& uid,
                               const std::string& version) const {
        const auto found = w.seen.find_job(key);
        require(found && found->metadata.uid == uid && found->metadata.resource_version == version,
                "the write of {} is not guarded", key.text());
        return *found;
    }
    void guarded(const object_key& key, const std::string& uid, const std::string& version) const {
        const auto found = w.seen.find_testbed(key);
        require(found && found->metadata.uid == uid && found->metadata.resource_version == version,
                "the write of {} is not guarded", key.text());
    }

    /// What an operator has written of it: a placement, or the row of a slot.
    bool on_record(const model::pod& pod) const {
        if (pod.is_ghost()) return false;
        const auto& uid = pod.metadata.uid;
        for (const auto& [key, job] : w.jobs) {
            const auto& status = job->status;
            const bool here = !status.runs.empty() &&
                              status.runs.back().testbed == testbed_of(self) &&
                              key.name == pod.metadata.label(keys::job);
            for (const auto& entry : status.placements) {
                if (here && entry.pod_uid == uid) return true;
            }
        }
        if (!testbed) return false;
        return std::ranges::any_of(testbed->status.slots,
                                   [&](const auto& row) { return row.pod_u_id == uid; });
    }

    void operator()(const wait&) const {}
    void operator()(const read_testbed&) const {
        require(!w.live.proven.testbed, "reads the Testbed again and again");
    }
    void operator()(const read_job& what) const {
        require(!w.live.proven.jobs.contains(what.key), "reads {} again and again",
                what.key.text());
    }
    void operator()(const read_pods&) const {
        require(!w.live.proven.pods, "reads the pods again and again");
    }
    void operator()(const read_release&) const {
        require(!w.live.proven.release, "reads the release again and again");
    }
    void operator()(const add_finalizer&) const {
        require(on_the_way_in() && !self.metadata.has_finalizer(keys::scheduling_finalizer),
                "a finalizer too many");
    }
    void operator()(const remove_finalizer&) const {
        require(self.metadata.deleting() && self.status.assignments.empty(),
                "the finalizer goes too early");
        require(!testbed || !ours(*testbed), "the finalizer goes with the hold in place");
        for (const auto& [key, each] : w.jobs) {
            require(!acquired_by(*each, self), "the finalizer goes with {} in hand", key.text());
        }
    }
    void operator()(const hold_testbed& what) const {
        guarded(what.key, what.uid, what.resource_version);
        require(what.key == testbed_of(self) && testbed->hold().empty(), "a hold over a hold");
        require(on_the_way_in() && !testbed->metadata.deleting(), "a hold of what goes");
        require(self.metadata.has_finalizer(keys::scheduling_finalizer), "a hold that may stay");
        require(what.token == self.metadata.uid + "." + testbed->metadata.resource_version,
                "token {}", what.token);
        if (!what.beside) return;
        require(self.status.epoch == 0, "acquires beside a hold after a rollback");
        acquires(*what.beside);
    }
    void operator()(const acquire_job& what) const {
        require(on_the_way_in() && testbed && ours(*testbed), "acquires without a hold");
        acquires(what);
    }
    void acquires(const acquire_job& what) const {
        const auto& wanted = job(what.key, what.uid, what.resource_version);
        require(!wanted.spec.active_scheduling, "{} is another's", what.key.text());
        require(wanted.status.state == "ReadyState" && !wanted.metadata.deleting() &&
                    wanted.status.observed_generation == wanted.metadata.generation,
                "{} is not ready", what.key.text());
        require(plan_of(self).find(what.key) != nullptr, "{} is not wanted", what.key.text());
        require(may_begin(what.key), "{} is acquired though nothing may begin", what.key.text());
    }
    /// Neither a pause nor a cancelled job nor the end of the plan's time forbids it.
    bool may_begin(const object_key& key) const {
        const auto& limit = self.spec.active_deadline_seconds;
        const bool late =
            limit && self.status.started && now >= self.status.started->value + seconds(*limit);
        return !self.spec.suspend.value_or(false) && !plan_of(self).cancelled.contains(key) &&
               !late;
    }
    void operator()(const reset_job& what) const {
        const auto& failed = job(what.key, what.uid, what.resource_version);
        require(on_the_way_in() && testbed && ours(*testbed), "a reset without a hold");
        require(acquired_by(failed, self) || !failed.spec.active_scheduling,
                "a reset of another's job");
        require(model::is_final(failed.status.state) && may_begin(what.key),
                "{} is reset though it is not to begin", what.key.text());
        const auto wants = plan_of(self);
        require(std::ranges::any_of(self.status.assignments,
                                    [&](const auto& a) {
                                        return what.token.starts_with(a.run) &&
                                               a.job.uid == what.uid && wants.retries(a);
                                    }),
                "a reset without a failure that has retries left");
    }
    void operator()(const delete_self&) const {
        const auto& ttl = self.spec.ttl_seconds_after_finished;
        require(ttl && self.status.ended && now >= self.status.ended->value + seconds(*ttl) &&
                    !self.metadata.deleting(),
                "deletes a Scheduling before its time");
    }
    void operator()(const request_creation& what) const {
        const auto& wanted = job(what.key, what.uid, what.resource_version);
        require(on_the_way_in() && testbed && ours(*testbed), "a request without a hold");
        require(acquired_by(wanted, self), "a request of another's job");
        require(std::ranges::any_of(self.status.assignments,
                                    [&](const auto& a) {
                                        return !a.ended && a.job.uid == what.uid &&
                                               a.run == what.request.run &&
                                               a.slot_ids == what.request.slot_ids;
                                    }),
                "a request without its assignment");
        require(what.request.testbed_name == testbed_of(self), "a request for another Testbed");
        require(what.request.replication == static_cast<int>(what.request.slot_ids.size()),
                "replication {}", what.request.replication);
    }
    void operator()(const release_job& what) const {
        const auto& given = job(what.key, what.uid, what.resource_version);
        require(acquired_by(given, self) ||
                    (!given.spec.active_scheduling && requested_by(given, self.metadata.uid)),
                "releases a job of another");
    }
    void operator()(const remove_hold& what) const {
        guarded(what.key, what.uid, what.resource_version);
        require(testbed && what.key == testbed_of(self) && ours(*testbed), "another's hold");
        require(self.status.assignments.empty() && !self.status.releasing.empty() &&
                    w.live.proven.release,
                "the hold goes too early");
    }
    void operator()(const make_testbed& what) const {
        require(self.spec.claim && what.key == self.metadata.key() && !testbed,
                "makes {} over another", what.key.text());
        require(on_the_way_in() && self.status.assignments.empty() && !is_over(self.status) &&
                    !self.spec.suspend.value_or(false),
                "makes a Testbed that it cannot use");
    }
    void operator()(const steer_claim& what) const {
        guarded(what.key, what.uid, what.resource_version);
        require(grid::is_made_for(*testbed, self), "steers another's Testbed");
    }
    void operator()(const remove_testbed& what) const {
        guarded(what.key, what.uid, what.resource_version);
        require(grid::is_made_for(*testbed, self) && testbed->hold().empty(),
                "deletes another's Testbed, or one that is held");
    }
    void operator()(const commit& what) const {
        require(model::encode(made.status) != model::encode(self.status),
                "a commit that changes nothing: {}", what.reason);
        const auto& before = self.status.assignments;
        const auto& after = made.status.assignments;
        if (what.reason == "AssignmentsCleared") {
            require(after.empty() && w.live.proven.release && !self.status.releasing.empty(),
                    "assignments are dropped too early");
            for (const auto& pod : w.here) {
                require(!on_record(*pod) || !pod->may_run() ||
                            owner_of_run(pod->run()) != self.metadata.uid,
                        "{} still runs", pod->metadata.name);
            }
            return;
        }
        const auto wants = plan_of(self);
        for (const auto& was : before) {
            if (find_run(after, was.run) != nullptr) continue;
            const bool dropped =
                what.reason == "JobEnded" && was.ending == "Suspended" && !was.ended;
            const bool followed =
                what.reason == "Assigned" && wants.retries(was) &&
                std::ranges::any_of(after, [&](const auto& a) { return a.job == was.job; });
            require(dropped || followed, "{} is gone after {}", was.run, what.reason);
        }
        if (what.reason == "Assigned") {
            assigned();
        } else {
            require(std::ranges::all_of(
                        after, [&](const auto& a) { return find_run(before, a.run) != nullptr; }),
                    "an assignment comes with {}", what.reason);
        }
        if (what.reason == "JobEnded") ended();
    }

    static const model::assignment* find_run(const std::vector<model::assignment>& list,
                                             const std::string& run) {
        const auto found = std::ranges::find(list, run, &model::assignment::run);
        return found == list.end() ? nullptr : &*found;
    }

    void ended() const {
        for (const auto& was : self.status.assignments) {
            const auto* is = find_run(made.status.assignments, was.run);
            if (was.ended || (is != nullptr && !is->ended)) continue;
            require(is == nullptr || !is->outcome.empty(), "an end without outcome");
            require(w.live.proven.pods.has_value(), "{} ended without a live look", was.run);
            for (const auto* pods : {&w.here, &w.live.proven.pods->pods}) {
                for (const auto& pod : *pods) {
                    require(!on_record(*pod) || !pod->may_run() || pod->run() != was.run,
                            "{} ended, {} runs", was.run, pod->metadata.name);
                }
            }
        }
    }

    void assigned() const {
        require(on_the_way_in() && testbed && ours(*testbed) && w.live.proven.testbed,
                "assigns without a hold");
        const auto& before = self.status.assignments;
        std::set<int> taken;
        std::set<std::string> runs;
        for (const auto& a : before) {
            runs.insert(a.run);
            if (!a.ended) taken.insert(a.slot_ids.begin(), a.slot_ids.end());
        }
        std::vector<grid::pod_pointer> stand;
        for (const auto& pod : w.here) {
            if (pod->is_ghost() || on_record(*pod)) stand.push_back(pod);
        }
        const auto slots = grid::look(*testbed->status.layout, stand);
        const auto wants = plan_of(self);
        for (const auto& given : made.status.assignments) {
            if (find_run(before, given.run) != nullptr) continue;
            const auto* at = &given;
            const auto key = at->job.key();
            require(may_begin(key), "{} starts though nothing may begin", key.text());
            const auto found = w.seen.find_job(key);
            require(found && found->metadata.uid == at->job.uid && acquired_by(*found, self),
                    "{} is not ours", key.text());
            require(!found->metadata.deleting(), "{} is being deleted", key.text());
            require(
                std::ranges::none_of(
                    before, [&](const auto& a) { return a.job.key() == key && !wants.retries(a); }),
                "{} starts twice", key.text());
            const auto* planned = wants.find(key);
            require(planned != nullptr &&
                        planned->slots_wanted == static_cast<int>(at->slot_ids.size()),
                    "{} gets {} slots", key.text(), at->slot_ids.size());
            require(at->run.starts_with(std::string(testbed->hold()) + ".") &&
                        runs.insert(at->run).second && !at->ended,
                    "run {}", at->run);
            for (int id : at->slot_ids) {
                require(id >= 0 && id < static_cast<int>(slots.size()), "slot {} is outside", id);
                require(slots[static_cast<std::size_t>(id)].free(), "slot {} is not free", id);
                require(taken.insert(id).second, "slot {} is given twice", id);
                require(!grid::slots_in_error(*testbed).contains(id), "slot {} is in ERROR", id);
            }
        }
        require(made.status.plan.has_value(), "the plan is not kept");
    }
};

void scheduling_steps(std::string_view input) {
    choices from(input);
    world w;
    build(from, w);
    const auto made = decide(w.seen, now);
    const auto again = decide(w.seen, now);
    require(made.next.index() == again.next.index() &&
                model::encode(made.status) == model::encode(again.status),
            "not a function of its input");
    std::visit(judge{w, made}, made.next);
    // What is written reads as the same.
    const auto written = model::encode(made.status);
    const auto read = model::decode<model::scheduling_status>(written.dump(), "status");
    require(read && model::encode(*read) == written, "the status is {}", written.dump());
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(scheduling_steps, esi::fuzz::scheduling_steps)
