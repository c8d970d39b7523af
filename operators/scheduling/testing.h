// The world of the tests of decide(), in which Schedulings are driven to the end: the objects, and
// the parts of the other two operators that they need.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grid/places.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/acquire.h"
#include "scheduling/decide.h"
#include "scheduling/orphan.h"
#include "scheduling/plan.h"

namespace esi::scheduling {

using model::object_key;
namespace names_of = model::names;

inline constexpr wall_time start_of_time = wall_time(seconds(1'700'000'000));

/// The objects, and just enough of a Testbed with ghosts and of BatchJobs that run, that
/// Schedulings can be driven to the end. `crash`: forget everything after each write, as a new
/// process would.
struct world {
    objects<model::scheduling> schedulings;
    objects<model::testbed> testbeds;
    objects<model::batchjob> jobs;
    std::map<std::string, grid::pod_pointer> pods;
    int version = 100;
    int uids = 0;
    wall_time now = start_of_time;
    bool crash = false;
    /// Every write, "hold t by s".
    std::vector<std::string> writes;
    std::map<object_key, live_facts> memory;
    /// The last decision's again_in.
    std::optional<steady_time::duration> again_in;
    /// The run whose pods the cache does not show.
    std::string hidden_run;
    /// How many places of claims the cluster has left.
    int room = 100;
    /// Ghosts of claims are bound as soon as their places are formed.
    bool ghosts_bind = true;

    /// --cross-namespace-jobs
    bool cross_namespace_jobs = false;
    policy_table policies = known_policies();

    /// "x" is a key in the namespace ns, "other/x" one in another.
    static object_key key_of(const std::string& text) {
        return text.contains('/') ? object_key::from_text(text) : object_key{"ns", text};
    }
    std::string next_version() { return std::to_string(++version); }

    template <class T, class Change>
    void edit(objects<T>& in, const object_key& key, Change change) {
        T copy = *in.at(key);
        change(copy);
        copy.metadata.resource_version = next_version();
        in[key] = std::make_shared<const T>(std::move(copy));
    }
    model::object_meta meta(const std::string& name) {
        model::object_meta out;
        const auto key = key_of(name);
        out.namespace_ = key.namespace_;
        out.name = key.name;
        out.uid = fmt::format("uid-{}", ++uids);
        out.resource_version = next_version();
        out.generation = 1;
        now += seconds(1);
        out.creation_timestamp = model::timestamp{now};
        return out;
    }

    void add_testbed(const std::string& name, int nodes, int per_node) {
        model::testbed out;
        out.metadata = meta(name);
        out.status.observed_generation = 1;
        auto& layout = out.status.layout.emplace();
        layout.revision = 1;
        layout.slots_per_node = per_node;
        for (int i = 0; i < nodes; ++i)
            layout.nodes.push_back({fmt::format("{}-{}", name, i), "u", i});
        testbeds[out.metadata.key()] = std::make_shared<const model::testbed>(out);
        fill_ghosts();
    }
    /// The layout of a claim on two nodes: the coordinator places first, then those of workers.
    static model::testbed_layout layout_of_claim(const std::string& name, int coordinators,
                                                 int workers) {
        model::testbed_layout out;
        out.revision = 1;
        out.nodes = {{name + "-0", "u", 0}, {name + "-1", "u", 1}};
        out.shapes = {{"driver", "coordinator", coordinators, {}},
                      {"executors", "worker", workers, {}}};
        for (int i = 0; i < coordinators + workers; ++i) out.places.push_back(i % 2);
        return out;
    }
    void add_claimed_testbed(const std::string& name, int coordinators, int workers) {
        model::testbed out;
        out.metadata = meta(name);
        out.status.observed_generation = 1;
        out.status.layout = layout_of_claim(name, coordinators, workers);
        testbeds[out.metadata.key()] = std::make_shared<const model::testbed>(out);
        fill_ghosts();
    }
    void add_job(const std::string& name) {
        model::batchjob out;
        out.metadata = meta(name);
        out.status.state = "ReadyState";
        out.status.observed_generation = 1;
        jobs[out.metadata.key()] = std::make_shared<const model::batchjob>(out);
    }
    void add_queue(const std::string& name, const std::string& testbed,
                   std::vector<std::string> entries) {
        model::scheduling out;
        out.metadata = meta(name);
        out.spec.testbed = key_of(testbed);
        out.spec.queue_based.emplace();
        for (auto& entry : entries) out.spec.queue_based->push_back(key_of(entry));
        schedulings[out.metadata.key()] = std::make_shared<const model::scheduling>(out);
    }
    /// A queue with a claim of its own.
    void add_claim(const std::string& name, int places, std::vector<std::string> entries) {
        add_queue(name, name, std::move(entries));
        edit(schedulings, {"ns", name}, [&](model::scheduling& s) {
            s.spec.testbed = {};
            s.spec.claim.emplace().shapes = {{"executors", "worker", places, {}, {}}};
        });
    }
    void set_queue(const std::string& name, std::vector<std::string> entries) {
        edit(schedulings, {"ns", name}, [&](model::scheduling& s) {
            ++s.metadata.generation;
            s.spec.queue_based.emplace();
            for (auto& entry : entries) s.spec.queue_based->push_back(key_of(entry));
        });
    }
    void change(const std::string& name, std::function<void(model::scheduling_spec&)> how) {
        edit(schedulings, {"ns", name}, [&](model::scheduling& s) {
            ++s.metadata.generation;
            how(s.spec);
        });
    }
    std::string verdict(const std::string& name, std::string_view type) {
        const auto* found = model::find_condition(s(name).status.conditions, type);
        return found == nullptr ? "" : found->status + " " + found->reason;
    }
    void erase_scheduling(const std::string& name) {
        object_key key{"ns", name};
        if (!schedulings.contains(key)) return;
        if (schedulings.at(key)->metadata.finalizers.empty()) {
            schedulings.erase(key);
            return;
        }
        edit(schedulings, key,
             [&](model::scheduling& s) { s.metadata.deletion_timestamp = model::timestamp{now}; });
    }

    const model::scheduling& s(const std::string& name) { return *schedulings.at({"ns", name}); }
    const model::batchjob& job(const std::string& name) { return *jobs.at(key_of(name)); }
    const model::testbed& t(const std::string& name) { return *testbeds.at(key_of(name)); }
    void offer(const std::string& testbed, std::vector<std::string> namespaces) {
        edit(testbeds, key_of(testbed), [&](model::testbed& bed) {
            ++bed.metadata.generation;
            bed.status.observed_generation = bed.metadata.generation;
            bed.spec.allowed_namespaces = std::move(namespaces);
        });
    }
    model::condition condition(const std::string& name, std::string_view type) {
        const auto* found = model::find_condition(s(name).status.conditions, type);
        return found ? *found : model::condition();
    }
    std::string reason(const std::string& name) {
        const auto* found = model::find_condition(s(name).status.conditions, "Acquired");
        return found ? found->reason : "";
    }
    /// "a:0,2 b:1,3" of the assignments that have not ended.
    std::string running(const std::string& name) {
        std::string out;
        for (const auto& a : s(name).status.assignments) {
            if (a.ended) continue;
            out += (out.empty() ? "" : " ") + a.job.name + ":" + grid::show_slot_list(a.slot_ids);
        }
        return out;
    }

    // --- the other operators, in one sweep ---

    std::vector<grid::pod_pointer> pods_of(const object_key& testbed) {
        std::vector<grid::pod_pointer> out;
        for (const auto& [name, pod] : pods) {
            if (pod->testbed() == testbed) out.push_back(pod);
        }
        return out;
    }
    void put_pod(model::pod pod, const object_key& testbed) {
        if (pod.metadata.namespace_.empty()) pod.metadata.namespace_ = "ns";
        pod.metadata.labels[std::string(names_of::testbed)] = testbed.name;
        pod.metadata.labels[std::string(names_of::testbed_namespace)] = testbed.namespace_;
        pod.phase = "Running";
        auto name = pod.metadata.name;
        pods[name] = std::make_shared<const model::pod>(std::move(pod));
    }
    void fill_ghosts() {
        for (const auto& [key, testbed] : testbeds) {
            if (!testbed->status.layout) continue;
            for (const auto& slot : grid::look(*testbed->status.layout, pods_of(key))) {
                if (slot.ghost || !slot.job_pods.empty()) continue;
                model::pod ghost;
                ghost.metadata.namespace_ = key.namespace_;
                ghost.metadata.name = grid::ghost_name(key.name, testbed->metadata.uid,
                                                       slot.place.node, slot.place.index);
                ghost.metadata.labels[std::string(names_of::ghost)] = "true";
                ghost.metadata.annotations[std::string(names_of::node)] = slot.place.node;
                ghost.metadata.annotations[std::string(names_of::index)] =
                    std::to_string(slot.place.index);
                ghost.node_name = slot.place.node;
                ghost.metadata.owner_references = {
                    {"v", "Testbed", key.name, testbed->metadata.uid, true}};
                put_pod(std::move(ghost), key);
            }
        }
    }
    void start_pods(const model::batchjob& job, model::batchjob_status& status) {
        const auto& request = *job.spec.creation_request;
        auto& line = status.runs.emplace_back();
        line.run = request.run;
        line.testbed = request.testbed_name;
        line.outcome = "Running";
        auto slots = grid::slots_of(*testbeds.at(request.testbed_name)->status.layout);
        for (int id : request.slot_ids) {
            const auto& place = slots.at(static_cast<std::size_t>(id));
            pods.erase(grid::ghost_name(request.testbed_name.name,
                                        testbeds.at(request.testbed_name)->metadata.uid, place.node,
                                        place.index));
            model::pod pod;
            pod.metadata.name = fmt::format("{}-exec-{}", job.metadata.name, id);
            pod.metadata.uid = fmt::format("{}.{}", request.run, id);
            pod.metadata.labels = {{std::string(names_of::job), job.metadata.name}};
            status.placements.push_back({id, pod.metadata.uid, pod.metadata.name});
            pod.metadata.annotations = {{std::string(names_of::run), request.run},
                                        {std::string(names_of::slot), std::to_string(id)},
                                        {std::string(names_of::slot_node), place.node}};
            pod.node_name = place.node;
            put_pod(std::move(pod), request.testbed_name);
        }
    }
    void drop_pods(const std::string& run) {
        std::erase_if(pods, [&](const auto& entry) { return entry.second->run() == run; });
        fill_ghosts();
    }
    void sweep_jobs() {
        for (const auto& [key, job] : objects<model::batchjob>(jobs)) {
            auto status = job->status;
            status.observed_generation = job->metadata.generation;
            // A reset counts where there is no order.
            const auto reset = std::string(job->metadata.annotation(names_of::reset));
            const bool asked = !job->spec.creation_request && reset != status.observed_reset;
            if (asked) status.observed_reset = reset;
            if (asked && status.state == "FailedState") {
                status.application.reset();
                status.placements.clear();
                status.state = "ReadyState";
            }
            const bool failed = status.state == "FailedState";
            if (!job->spec.active_scheduling) {
                if (status.application) {
                    drop_pods(status.application->run);
                    status.application.reset();
                    status.placements.clear();
                    if (status.runs.back().outcome == "Running") {
                        status.runs.back().outcome = "Released";
                    }
                }
                if (!failed) status.state = "ReadyState";
            } else if (!job->spec.creation_request) {
                if (status.state == "ReadyState") status.state = "InQueueState";
            } else if (status.state == "ReadyState" || status.state == "InQueueState") {
                status.state = "RunningState";
                status.application = {"v", "SparkApplication", key.name, "app",
                                      job->spec.creation_request->run};
                start_pods(*job, status);
            }
            if (model::encode(status) == model::encode(job->status)) continue;
            edit(jobs, key, [&](model::batchjob& j) { j.status = status; });
        }
    }
    void erase_testbed(const object_key& key) {
        if (const auto& layout = testbeds.at(key)->status.layout) {
            room += grid::count_of_slots(*layout);
        }
        std::erase_if(pods, [&](const auto& pod) { return pod.second->testbed() == key; });
        testbeds.erase(key);
        ++version;
    }
    /// The parts of the testbed operator that a claim needs.
    void form(const model::testbed& of, model::testbed_status& status) {
        namespace type = model::condition_type;
        const auto& claim = *of.spec.claim;
        const auto set = [&](std::string_view what, bool holds, std::string_view reason,
                             std::string_view message) {
            model::set_condition(status.conditions, what, holds ? "True" : "False", reason, message,
                                 of.metadata.generation, now);
        };
        if (!status.layout) {
            int wanted = 0;
            for (const auto& shape : claim.shapes) wanted += shape.count;
            if (claim.suspend) {
                return set(type::formed, false, reasons::claim_suspended,
                           "spec.claim.suspend is true");
            }
            if (wanted > room) {
                return set(type::formed, false, reasons::claim_no_room,
                           fmt::format("{} of {} places fit", room, wanted));
            }
            room -= wanted;
            auto& layout = status.layout.emplace();
            layout.revision = 1;
            layout.nodes = {{"n0", "u0", 0}, {"n1", "u1", 1}};
            for (const auto& shape : claim.shapes) {
                layout.shapes.push_back({shape.name, shape.role, shape.count, shape.resources});
                for (int i = 0; i < shape.count; ++i) layout.places.push_back(i % 2);
            }
        }
        set(type::formed, true, reasons::claim_placed, "");
        if (ghosts_bind) {
            set(type::ready, true, reasons::all_slots_usable, "");
        } else {
            set(type::ready, false, reasons::ghosts_under_way, "ghosts are under way");
        }
    }
    /// The testbed operator's claims, and the garbage collector.
    void sweep_claims() {
        for (const auto& [key, testbed] : objects<model::testbed>(testbeds)) {
            if (!testbed->spec.claim) continue;
            const auto* maker = grid::maker_of(*testbed);
            const bool alone = maker != nullptr && std::ranges::none_of(schedulings, [&](auto& s) {
                                   return s.second->metadata.uid == maker->uid;
                               });
            if (alone && testbed->hold().empty()) {
                erase_testbed(key);
                continue;
            }
            auto status = testbed->status;
            status.observed_generation = testbed->metadata.generation;
            form(*testbed, status);
            if (model::encode(status) == model::encode(testbed->status)) continue;
            edit(testbeds, key, [&](model::testbed& t) { t.status = status; });
            fill_ghosts();
        }
    }
    void end_job(const std::string& name, const std::string& state = "CompletedState") {
        drop_pods(job(name).spec.creation_request->run);
        edit(jobs, key_of(name), [&](model::batchjob& j) {
            j.status.state = state;
            if (state == "FailedState") j.status.problems = {"executor 1 ran out of memory"};
        });
    }

    // --- the scheduling operator ---

    /// The table as the caches have it.
    std::shared_ptr<const grid::slot_table> slots_of(const object_key& testbed) {
        auto out = std::make_shared<grid::slot_table>(testbed);
        if (const auto found = testbeds.find(testbed); found != testbeds.end()) {
            out->change_testbed(found->second);
        }
        for (const auto& [key, job] : jobs) out->change_job(nullptr, job.get());
        for (const auto& pod : pods_of(testbed)) {
            if (hidden_run.empty() || pod->run() != hidden_run) out->change_pod(nullptr, pod);
        }
        return out;
    }
    view look(const object_key& key, live_facts& live) {
        view v;
        auto found = schedulings.find(key);
        if (found == schedulings.end()) return v;
        v.self = found->second;
        v.schedulings = &schedulings;
        v.testbeds = &testbeds;
        v.jobs = &jobs;
        for (const auto& [job_key, job] : jobs) {
            const auto& active = job->spec.active_scheduling;
            if (active && active->key() == key) v.named.push_back(job_key);
        }
        v.slots = slots_of(testbed_of(*v.self));
        v.policies = policies;
        v.cross_namespace_jobs = cross_namespace_jobs;
        live.newer.testbeds.clear();
        live.newer.jobs.clear();
        live.proven.pods_of_release.reset();
        v.live = &live;
        return v;
    }
    void wrote(live_facts& live, write kind, std::string what) {
        writes.push_back(std::move(what));
        if (crash) {
            live = {};
        } else {
            live.proven.after_success(kind, steady_time());
        }
    }
    std::vector<grid::pod_pointer> all_pods() {
        std::vector<grid::pod_pointer> out;
        for (const auto& [name, pod] : pods) out.push_back(pod);
        return out;
    }
    /// One step of one Scheduling; false when there was nothing to do.
    bool step_of(const object_key& key) {
        auto& live = memory[key];
        auto v = look(key, live);
        if (!v.self) return false;
        auto self = v.self;
        auto d = decide(v, now);
        again_in = d.again_in;
        auto name = key.name;
        if (auto* x = std::get_if<read_job>(&d.next)) {
            live.proven.jobs.insert(x->key);
        } else if (auto* asked = std::get_if<read_pods>(&d.next)) {
            live.proven.pods = pods_of_jobs{{asked->jobs.begin(), asked->jobs.end()}, all_pods()};
        } else if (std::holds_alternative<read_testbed>(d.next)) {
            live.proven.testbed = steady_time();
        } else if (std::holds_alternative<read_release>(d.next)) {
            live.proven.release = true;
        } else if (std::holds_alternative<add_finalizer>(d.next)) {
            edit(schedulings, key, [](model::scheduling& s) {
                s.metadata.finalizers.emplace_back(names_of::scheduling_finalizer);
            });
            wrote(live, write::finalizers, "finalizer " + name);
        } else if (std::holds_alternative<remove_finalizer>(d.next)) {
            schedulings.erase(key);
            wrote(live, write::finalizers, "gone " + name);
        } else if (auto* hold = std::get_if<hold_testbed>(&d.next)) {
            EXPECT_EQ(testbeds.at(hold->key)->metadata.resource_version, hold->resource_version);
            EXPECT_TRUE(testbeds.at(hold->key)->hold().empty());
            edit(testbeds, hold->key, [&](model::testbed& t) {
                t.metadata.labels[std::string(names_of::active_scheduling_name)] = name;
                t.metadata.labels[std::string(names_of::active_scheduling_namespace)] = "ns";
                t.metadata.annotations[std::string(names_of::hold)] = hold->token;
            });
            wrote(live, write::hold, "hold " + hold->key.name + " by " + name);
            if (hold->beside) acquire(*hold->beside, *self, live);
        } else if (auto* unhold = std::get_if<remove_hold>(&d.next)) {
            drop_hold(unhold->key);
            wrote(live, write::remove_hold, "unhold " + unhold->key.name + " by " + name);
        } else if (auto* wanted = std::get_if<acquire_job>(&d.next)) {
            acquire(*wanted, *self, live);
        } else if (auto* release = std::get_if<release_job>(&d.next)) {
            clear_job(release->key);
            wrote(live, write::release_job, "release " + release->key.name + " by " + name);
        } else if (auto* request = std::get_if<request_creation>(&d.next)) {
            check_request(*self, *request);
            edit(jobs, request->key, [&](model::batchjob& j) {
                ++j.metadata.generation;
                j.spec.creation_request = request->request;
            });
            wrote(live, write::change_job, "request " + request->key.name + " by " + name);
        } else if (auto* reset = std::get_if<reset_job>(&d.next)) {
            edit(jobs, reset->key, [&](model::batchjob& j) {
                ++j.metadata.generation;
                j.metadata.annotations[std::string(names_of::reset)] = reset->token;
                j.spec.creation_request.reset();
            });
            wrote(live, write::change_job, "reset " + reset->key.name + " by " + name);
        } else if (auto* made = std::get_if<make_testbed>(&d.next)) {
            EXPECT_FALSE(testbeds.contains(made->key));
            EXPECT_TRUE(self->status.assignments.empty());
            model::testbed out;
            out.metadata = meta(made->key.text());
            out.metadata.owner_references = {{"esi.tu-berlin.de/v1alpha1", "Scheduling",
                                              self->metadata.name, self->metadata.uid, true}};
            out.spec.claim = made->claim;
            testbeds[made->key] = std::make_shared<const model::testbed>(out);
            wrote(live, write::claim, "make " + made->key.name);
        } else if (auto* steered = std::get_if<steer_claim>(&d.next)) {
            check_own(*self, steered->key, steered->resource_version);
            edit(testbeds, steered->key, [&](model::testbed& t) {
                const bool same = t.spec.claim->priority == steered->priority &&
                                  t.spec.claim->suspend == steered->suspend;
                if (!same) ++t.metadata.generation;
                t.spec.claim->priority = steered->priority;
                t.spec.claim->suspend = steered->suspend;
                t.metadata.annotations.erase(std::string(names_of::unused_since));
                if (steered->unused_since.empty()) return;
                t.metadata.annotations[std::string(names_of::unused_since)] = steered->unused_since;
            });
            wrote(live, write::claim, "steer " + steered->key.name);
        } else if (auto* removed = std::get_if<remove_testbed>(&d.next)) {
            check_own(*self, removed->key, removed->resource_version);
            EXPECT_TRUE(testbeds.at(removed->key)->hold().empty());
            erase_testbed(removed->key);
            wrote(live, write::claim, "return " + removed->key.name);
        } else if (std::holds_alternative<delete_self>(d.next)) {
            erase_scheduling(name);
            wrote(live, write::finalizers, "delete " + name);
        } else {
            const bool commits = std::holds_alternative<commit>(d.next);
            if (model::encode(self->status) == model::encode(d.status)) {
                EXPECT_FALSE(commits) << "a commit that changes nothing would never end";
                return false;
            }
            edit(schedulings, key, [&](model::scheduling& s) { s.status = d.status; });
            wrote(live, commits ? write::commit : write::report,
                  commits ? std::string(std::get<commit>(d.next).reason) + " " + name
                          : "status " + name);
            if (!commits) return false;
            check_disjoint(d.status);
        }
        return true;
    }
    void check_own(const model::scheduling& self, const object_key& key,
                   const std::string& resource_version) {
        const auto& testbed = *testbeds.at(key);
        EXPECT_EQ(testbed.metadata.resource_version, resource_version) << "a write without a guard";
        EXPECT_TRUE(grid::is_made_for(testbed, self)) << "another's Testbed is touched";
    }
    void acquire(const acquire_job& what, const model::scheduling& self, live_facts& live) {
        const auto& was = *jobs.at(what.key);
        const auto& name = self.metadata.name;
        EXPECT_FALSE(was.spec.active_scheduling) << what.key.name;
        EXPECT_EQ(was.status.state, "ReadyState");
        EXPECT_EQ(was.status.observed_generation, was.metadata.generation);
        edit(jobs, what.key, [&](model::batchjob& j) {
            ++j.metadata.generation;
            j.spec.active_scheduling = {"ns", name, self.metadata.uid};
            j.spec.creation_request.reset();
        });
        wrote(live, write::acquire, "acquire " + what.key.name + " by " + name);
    }
    void drop_hold(const object_key& testbed) {
        edit(testbeds, testbed, [&](model::testbed& t) {
            t.metadata.labels.clear();
            t.metadata.annotations.clear();
        });
    }
    void clear_job(const object_key& key) {
        edit(jobs, key, [&](model::batchjob& j) {
            ++j.metadata.generation;
            j.spec.active_scheduling.reset();
            j.spec.creation_request.reset();
        });
    }
    /// A request follows its assignment, under the hold that the Testbed shows.
    void check_request(const model::scheduling& self, const request_creation& what) {
        EXPECT_EQ(grid::hold_of_run(what.request.run),
                  testbeds.at(what.request.testbed_name)->hold());
        EXPECT_TRUE(std::ranges::any_of(self.status.assignments, [&](const auto& a) {
            return a.run == what.request.run && a.slot_ids == what.request.slot_ids;
        }));
    }
    static void check_disjoint(const model::scheduling_status& status) {
        std::set<int> seen;
        for (const auto& a : status.assignments) {
            if (a.ended) continue;
            for (int id : a.slot_ids)
                EXPECT_TRUE(seen.insert(id).second) << "slot " << id << " twice";
        }
    }
    void sweep_orphans() {
        for (const auto& [key, job] : objects<model::batchjob>(jobs)) {
            if (may_be_orphan(*job, schedulings)) clear_job(key);
        }
        for (const auto& [key, testbed] : objects<model::testbed>(testbeds)) {
            if (!may_be_orphan(*testbed, schedulings)) continue;
            if (orphan_waits(*testbed, jobs, pods_of(key)).empty()) drop_hold(key);
        }
    }

    /// All operators in turn, until none has anything to do.
    void settle() {
        for (int rounds = 0; rounds < 500; ++rounds) {
            auto before = version;
            for (const auto& [key, unused] : objects<model::scheduling>(schedulings)) {
                memory.erase(key);
                again_in.reset();
                for (int i = 0; i < 300 && step_of(key); ++i) {
                    if (crash) sweep_jobs();
                }
            }
            sweep_orphans();
            sweep_jobs();
            sweep_claims();
            if (version == before) return;
        }
        ADD_FAILURE() << "does not come to rest";
    }
    /// Expects that nothing of any Scheduling is left.
    void expect_nothing_left() {
        for (const auto& [key, testbed] : testbeds) {
            EXPECT_EQ(testbed->hold(), "") << key.name;
            if (!testbed->status.layout) continue;
            for (const auto& slot : grid::look(*testbed->status.layout, pods_of(key))) {
                EXPECT_TRUE(slot.free()) << slot.place.position;
            }
        }
        for (const auto& [key, job] : jobs) {
            EXPECT_FALSE(job->spec.active_scheduling) << key.name;
            EXPECT_FALSE(job->spec.creation_request) << key.name;
        }
    }
};

/// Each of its tests is driven twice: decide_test.cpp has the two.
class driving : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        w.crash = GetParam();
        w.add_testbed("t", 3, 2);
        for (const char* name : {"a", "b", "c", "d"}) w.add_job(name);
    }
    world w;
};

}  // namespace esi::scheduling
