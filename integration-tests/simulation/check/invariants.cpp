#include "check/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/application_kinds.h"
#include "base/fields.h"
#include "base/text.h"
#include "check/at_rest.h"
#include "check/claims.h"
#include "check/gangs.h"
#include "check/rights.h"
#include "check/slots.h"
#include "model/names.h"
#include "plan/plan.h"

namespace esi::simulation {

using namespace checks;
namespace names = model::names;

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> out;
    std::string word;
    for (char c : text) {
        if (c == ' ' || c == ',' || c == ':' || c == ';') {
            if (!word.empty()) out.push_back(std::move(word));
            word.clear();
        } else {
            word += c;
        }
    }
    if (!word.empty()) out.push_back(std::move(word));
    return out;
}

/// In the order in which those that are there already are taken in.
const std::vector<const kube::resource_type*>& judged_kinds() {
    static const std::vector<const kube::resource_type*> all = [] {
        std::vector<const kube::resource_type*> out{&kinds::node, &kinds::testbed,
                                                    &kinds::scheduling, &kinds::batchjob};
        for (const auto& kind : application_kinds()) out.push_back(kind.type);
        out.push_back(&kinds::pod);
        return out;
    }();
    return all;
}

/// "Testbed", "testbeds", "tb" -> "testbeds"; empty for other words.
std::string_view plural_of(std::string word) {
    word = lower(word);
    for (const auto* type : judged_kinds()) {
        if (word == type->plural || word == lower(type->kind)) return type->plural;
    }
    if (word == "ghost") return kinds::pod.plural;
    if (word == "job") return kinds::batchjob.plural;
    if (word == "application") return application_kinds().front().type->plural;
    return {};
}

}  // namespace

struct invariants::state {
    context here;
    storage& objects;
    rights_rules rights;
    slot_rules slots;
    claim_rules claims;
    std::optional<gang_rules> gangs;

    state(storage& objects_, const timeline& time)
        : here(time), objects(objects_), rights(here), slots(here), claims(here, objects_) {}

    records& all() { return here.all; }

    /// Objects that a person said to make by hand, before they were there.
    std::set<std::string, std::less<>> announced;

    void take(const change& what) {
        const auto plural = what.type->plural;
        if (what.what == change_type::added) {
            auto name = name_of(plural, what.after->ns(), what.after->name());
            if (announced.erase(name) > 0) here.out.edited(what.after->uid());
            all().last_uid[std::move(name)] = what.after->uid();
        }
        if (plural == kinds::pod.plural) {
            pod(what);
        } else if (plural == kinds::batchjob.plural) {
            job(what);
        } else if (plural == kinds::testbed.plural) {
            testbed(what);
            slots.taints_stand();
        } else if (plural == kinds::scheduling.plural) {
            scheduling(what);
        } else if (plural == kinds::slot_slice.plural) {
            slice(what);
        } else if (plural == kinds::node.plural) {
            node(what);
            slots.taints_stand();
        } else if (plural == kinds::lease.plural) {
            // The heartbeat of the world.
            slots.taints_stand();
            slots.slots_come_back();
            claims.time_passes();
            if (gangs) gangs->time_passes();
        } else if (const auto* kind = find_application_kind(*what.type)) {
            application(*kind, what);
        }
    }

    static std::string name_of(std::string_view plural, std::string_view ns,
                               std::string_view name) {
        return ns.empty() ? fmt::format("{} {}", plural, name)
                          : fmt::format("{} {}/{}", plural, ns, name);
    }

    // --- one kind each ---

    void pod(const change& what) {
        const auto& uid = what.after->uid();
        auto known = all().pods.find(uid);
        if (what.what == change_type::deleted) {
            if (known == all().pods.end()) return;
            const auto before = std::move(known->second);
            all().pods.erase(known);
            all().unindex(before);
            if (before.by_name) disturb(before.pod->node_name);
            slots.pod_gone(before);
            if (gangs) gangs->pod_changed(uid, nullptr);
            return;
        }
        auto decoded = all().decode<model::pod>(*what.after);
        if (!decoded) return;
        if (known == all().pods.end()) {
            auto& made = all().pods[uid];
            made = record_of(std::move(decoded), what.after);
            made.created = what.at;
            all().runs_of_pods[uid] = made.pod->run();
            place_it(made);
            all().index(made);
            if (made.by_name) disturb(made.pod->node_name);
            slots.pod_added(made);
            claims.pod_added(made);
            claims.pod_changed(made);
            if (gangs) gangs->pod_changed(uid, &made);
            return;
        }
        const pod_record before = known->second;
        auto& after = known->second;
        all().unindex(before);
        after.pod = std::move(decoded);
        after.raw = what.after;
        const auto& is = *after.pod;
        const auto& was = *before.pod;
        after.ever_gated |= !grid::let_in(is);
        if (!was.bound() && is.bound()) after.bound_at = what.at;
        if (!was.metadata.deleting() && is.metadata.deleting()) after.deleting_since = what.at;
        // From any update kube-scheduler takes the nomination that stands.
        after.nominated_since =
            is.nominated_node_name.empty() ? std::nullopt : std::optional(what.at);
        place_it(after);
        all().index(after);
        slots.pod_changed(before, after);
        claims.pod_changed(after);
        if (gangs) gangs->pod_changed(uid, &after);
    }

    pod_record record_of(seen<model::pod> decoded, const object_pointer& raw) {
        pod_record out;
        out.pod = std::move(decoded);
        out.raw = raw;
        const auto& pod = *out.pod;
        out.ever_gated = !grid::let_in(pod);
        out.by_name = pod.bound();
        const bool marked = !pod.metadata.label(names::testbed).empty() && !pod.run().empty();
        // A person's copy of a job pod has neither a gate nor an owner; one that was made to
        // deceive may have both. The mark is read from the object itself, as a pod with more labels
        // than ESI reads is decoded without it.
        out.forged = !at(raw->body(), {"metadata", "labels", "example.com/forged"}).is_null();
        out.genuine = marked && !pod.is_ghost() && !out.forged &&
                      (out.ever_gated || !pod.metadata.owner_references.empty());
        const auto& priority = at(raw->body(), {"spec", "priority"});
        if (priority.is_number_integer()) out.priority = priority.get<std::int64_t>();
        if (out.by_name) out.bound_at = here.now();
        if (pod.metadata.deleting()) out.deleting_since = here.now();
        if (!pod.nominated_node_name.empty()) out.nominated_since = here.now();
        return out;
    }

    /// Where it stands, or is let in to; by the layout of that moment.
    void place_it(pod_record& of) {
        const auto& pod = *of.pod;
        if (of.ghost()) {
            const auto index = grid::slot_index_of_ghost(pod);
            const std::string node(pod.metadata.annotation(names::node));
            if (!of.seat && index) of.seat = place{pod.testbed(), node, *index};
            return;
        }
        if (!of.of_slot()) return;
        const auto position = grid::slot_of_pod(pod);
        if (!position || !grid::let_in(pod)) {
            of.seat.reset();
            return;
        }
        if (of.seat) return;
        if (const auto* bed = all().testbed(pod.testbed())) {
            of.seat = place_of(*bed->testbed, *position);
        }
    }

    void job(const change& what) {
        const model::object_key key{what.after->ns(), what.after->name()};
        if (what.what == change_type::deleted) {
            all().jobs.erase(key);
            return;
        }
        auto decoded = all().decode<model::batchjob>(*what.after);
        if (!decoded) return;
        auto known = all().jobs.find(key);
        const bool fresh = known == all().jobs.end();
        const job_record before = fresh ? job_record() : known->second;
        auto& after = all().jobs[key];
        after.job = std::move(decoded);
        after.raw = what.after;
        for (const auto& entry : after.job->status.placements) {
            all().recorded.insert({entry.pod_uid, entry.slot});
        }
        if (const auto& app = after.job->status.application; app && !app->uid.empty()) {
            all().reported_apps.insert(app->uid);
        }
        if (fresh) {
            after.created = what.at;
            return;
        }
        conditions_move_with_their_status(what);
        if (before.job->spec.active_scheduling != after.job->spec.active_scheduling) {
            after.claim_changed = what.at;
        }
        rights.job_changed(before, after);
    }

    void testbed(const change& what) {
        const model::object_key key{what.after->ns(), what.after->name()};
        auto known = all().testbeds.find(key);
        if (what.what == change_type::deleted) {
            if (known == all().testbeds.end()) return;
            const auto before = std::move(known->second);
            all().testbeds.erase(known);
            rights.testbed_gone(before);
            return;
        }
        auto decoded = all().decode<model::testbed>(*what.after);
        if (!decoded) return;
        const bool fresh = known == all().testbeds.end();
        const testbed_record before = fresh ? testbed_record() : known->second;
        auto& after = all().testbeds[key];
        after.testbed = std::move(decoded);
        after.raw = what.after;
        note_broken(after, before.broken_since, what.at);
        claims.testbed_changed(before, after);
        if (fresh) return;
        conditions_move_with_their_status(what);
        const bool changed = before.testbed->hold() != after.testbed->hold();
        if (changed) after.hold_changed = what.at;
        rights.testbed_changed(before, after);
        if (changed && !after.testbed->hold().empty()) {
            all().holds.emplace(after.testbed->hold());
        }
    }

    void note_broken(testbed_record& of, std::map<int, steady_time> before, steady_time now) {
        of.broken_since.clear();
        for (const auto& slot : all().rows_of(*of.testbed)) {
            if (slot.state != model::slot_state::error) continue;
            const auto known_so = before.find(slot.position);
            of.broken_since[slot.position] = known_so == before.end() ? now : known_so->second;
        }
    }

    void slice(const change& what) {
        const model::object_key key{what.after->ns(), what.after->name()};
        if (what.what == change_type::deleted) {
            all().slices.erase(key);
        } else if (auto decoded = all().decode<model::slot_slice>(*what.after)) {
            all().slices[key] = std::move(decoded);
        }
        for (auto& [name, bed] : all().testbeds) {
            if (name.namespace_ == key.namespace_) note_broken(bed, bed.broken_since, what.at);
        }
    }

    void scheduling(const change& what) {
        const model::object_key key{what.after->ns(), what.after->name()};
        auto known = all().schedulings.find(key);
        if (what.what == change_type::deleted) {
            if (known == all().schedulings.end()) return;
            const auto before = std::move(known->second);
            all().schedulings.erase(known);
            rights.scheduling_gone(before);
            return;
        }
        auto decoded = all().decode<model::scheduling>(*what.after);
        if (!decoded) return;
        const bool fresh = known == all().schedulings.end();
        const scheduling_record before = fresh ? scheduling_record() : known->second;
        auto& after = all().schedulings[key];
        after.scheduling = std::move(decoded);
        const auto& is = *after.scheduling;
        if (is.metadata.has_finalizer(names::scheduling_finalizer)) {
            all().finalized.insert(is.metadata.uid);
        }
        if (fresh) {
            after.spec_changed = what.at;
            return;
        }
        conditions_move_with_their_status(what);
        const auto& was = *before.scheduling;
        if (was.metadata.generation != is.metadata.generation) after.spec_changed = what.at;
        if (was.status.releasing.empty() && !is.status.releasing.empty()) {
            after.release_began = what.at;
        }
        rights.scheduling_changed(before, after);
        for (const auto& given : is.status.assignments) {
            all().rights.try_emplace(given.run,
                                     right{is.metadata.uid, checks::testbed_of(is), given});
        }
    }

    /// lastTransitionTime is when the status of a condition changed, and nothing else.
    void conditions_move_with_their_status(const change& what) {
        if (!what.before) return;
        const auto& was = at(what.before->body(), {"status", "conditions"});
        const auto& is = at(what.after->body(), {"status", "conditions"});
        if (!was.is_array() || !is.is_array() || was == is) return;
        for (const auto& now : is) {
            for (const auto& then : was) {
                if (at(now, {"type"}) != at(then, {"type"})) continue;
                if (at(now, {"status"}) != at(then, {"status"})) continue;
                const auto& moved = at(now, {"lastTransitionTime"});
                const auto& uid = what.after->uid();
                here.out.require(moved == at(then, {"lastTransitionTime"}), "transition-time-moved",
                                 {uid, uid + "/status"}, [&] {
                                     return fmt::format(
                                         "{} {}/{}: condition {} stays {}, its transition time "
                                         "goes from {} to {}",
                                         what.type->kind, what.after->ns(), what.after->name(),
                                         at(now, {"type"}).dump(), at(now, {"status"}).dump(),
                                         at(then, {"lastTransitionTime"}).dump(), moved.dump());
                                 });
            }
        }
    }

    static bool says_that_all_went_well(const application_kind& kind, const json& application) {
        const auto* state = fields::find(application, kind.state);
        return state && *state == kind.good_end;
    }

    void application(const application_kind& kind, const change& what) {
        const auto& uid = what.after->uid();
        if (what.what == change_type::deleted) {
            all().applications.erase(uid);
            return;
        }
        const auto& body = what.after->body();
        if (auto known = all().applications.find(uid); known != all().applications.end()) {
            if (says_that_all_went_well(kind, body)) {
                all().finished_runs.try_emplace(known->second.run, what.at);
            }
            return;
        }
        auto& made = all().applications[uid];
        made.metadata.name = what.after->name();
        made.metadata.namespace_ = what.after->ns();
        made.metadata.uid = uid;
        made.kind = what.type->kind;
        const auto& run = at(body, {"metadata", "annotations", names::run});
        if (run.is_string()) made.run = run.get<std::string>();
        const auto& owners = at(body, {"metadata", "ownerReferences"});
        if (owners.is_array()) {
            for (const auto& owner : owners) {
                if (at(owner, {"kind"}) == "BatchJob" && at(owner, {"uid"}).is_string()) {
                    made.owner_uid = at(owner, {"uid"}).get<std::string>();
                }
            }
        }
        all().owners_of_apps[uid] = made.owner_uid;
        if (!made.run.empty()) ++all().applications_of_run[made.run];
        rights.application_added(made);
    }

    void node(const change& what) {
        const auto& name = what.after->name();
        auto& record = all().nodes[name];
        if (what.what == change_type::deleted) {
            record.node = nullptr;
            record.tainted.reset();
            record.disturbed = what.at;
            return;
        }
        auto decoded = all().decode<model::node>(*what.after);
        if (!decoded) return;
        const auto before = std::move(record.node);
        record.node = std::move(decoded);
        const auto& is = *record.node;
        if (what.what == change_type::added) {
            // A node with the name of one that is gone: pods bound to the old one may still count.
            if (record.disturbed) record.disturbed = what.at;
        }
        if (before) {
            const bool shrank = std::ranges::any_of(before->allocatable, [&](const auto& each) {
                auto now = is.allocatable.find(each.first);
                return now == is.allocatable.end() || now->second < each.second;
            });
            const bool relabelled = before->metadata.labels != is.metadata.labels;
            if (shrank || relabelled || before->ready != is.ready ||
                before->unschedulable != is.unschedulable) {
                record.disturbed = what.at;
            }
            if (relabelled || before->unschedulable != is.unschedulable ||
                before->taints != is.taints) {
                record.changed = what.at;
            }
        }
        model::raise(record.largest, is.allocatable);
        if (!taint_of(is)) {
            record.tainted.reset();
        } else if (!record.tainted) {
            record.tainted = what.at;
        }
    }

    void disturb(const std::string& name) {
        if (!name.empty()) all().nodes[name].disturbed = here.now();
    }

    // --- what is told ---

    void meddled(std::string_view what) {
        const auto words = words_of(what);
        if (words.empty()) return;
        const bool edited = words.front() == "edited";
        const bool tells_part = what.find(" spec") != std::string_view::npos ||
                                what.find(" metadata") != std::string_view::npos ||
                                what.find(" labels") != std::string_view::npos ||
                                what.find(" annotations") != std::string_view::npos ||
                                what.find(" finalizers") != std::string_view::npos ||
                                what.find(" owner") != std::string_view::npos ||
                                what.find(" hold") != std::string_view::npos;
        for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            const auto plural = plural_of(words[i]);
            if (plural.empty()) continue;
            if (plural == kinds::node.plural) {
                for (auto j = i + 1; j < words.size(); ++j) {
                    if (all().nodes.contains(words[j])) disturb(words[j]);
                }
            }
            auto name = fmt::format("{} {}", plural, words[i + 1]);
            auto found = all().last_uid.find(name);
            const bool there = found != all().last_uid.end() && stands(plural, words[i + 1]);
            if (!there && edited) announced.insert(std::move(name));
            if (found == all().last_uid.end()) continue;
            const auto& uid = found->second;
            slots.touched(uid);
            if (!edited) continue;
            here.out.edited(uid);
            if (!tells_part) here.out.edited(uid + "/status");
        }
    }

    bool stands(std::string_view plural, const std::string& name) const {
        const auto key = model::object_key::from_text(name);
        for (const auto* type : all_kinds()) {
            if (type->plural == plural)
                return objects.find(*type, key.namespace_, key.name) != nullptr;
        }
        return false;
    }

    void wrote(std::string_view operator_, int replica, const kube::request& what, steady_time sent,
               std::optional<steady_time> may_until) {
        const auto who = [&] {
            return fmt::format("esi-{}/{}: {} {}", operator_, replica, what.method, what.target);
        };
        const auto milli = [](steady_time::duration time) {
            return std::chrono::duration_cast<milliseconds>(time).count();
        };
        here.out.require(may_until && sent <= *may_until, "write-after-lease", {}, [&] {
            return may_until ? fmt::format("{} was sent {} ms after the lease had ended", who(),
                                           milli(sent - *may_until))
                             : who() + " was sent by a replica that never led";
        });
        if (gangs && operator_ == "testbed" && what.method != "POST") gangs->sent(what);
        if (what.method == "POST") return;
        const auto body = json::parse(what.body, nullptr, false);
        if (operator_ == "testbed") slots.sent(what, body);
        if (what.method != "DELETE") {
            const auto& version = at(body, {"metadata", "resourceVersion"});
            here.out.require(version.is_string() && version != "", "unguarded-write", {},
                             [&] { return who() + " has no resourceVersion as its guard"; });
            return;
        }
        const auto& uid = at(body, {"preconditions", "uid"});
        here.out.require(uid.is_string() && uid != "", "unguarded-delete", {},
                         [&] { return who() + " has no uid as its precondition"; });
    }
};

invariants::invariants(api_server& server, const timeline& time)
    : invariants(server.objects(), time) {}

invariants::invariants(storage& objects, const timeline& time)
    : state_(std::make_unique<state>(objects, time)) {
    for (const auto* type : judged_kinds()) {
        for (const auto& each : objects.all(*type)) {
            state_->take({change_type::added, type, nullptr, each, each->version(), time.now()});
        }
    }
    objects.on_change([state = state_.get()](const change& what) { state->take(what); });
}

invariants::~invariants() = default;

void invariants::preempted(const json& victim, const json& by) {
    state_->slots.preempted(victim, by);
    if (state_->gangs) state_->gangs->preempted(victim, by);
}

void invariants::refused(const json& pod, std::string_view reason) {
    state_->slots.refused(pod, reason);
}

void invariants::scheduler_started(std::string_view name) {
    state_->here.scheduler_began[std::string(name)] = state_->here.now();
}

void invariants::meddled(std::string_view what) { state_->meddled(what); }

void invariants::wrote(std::string_view operator_, int replica, const kube::request& what,
                       steady_time sent, std::optional<steady_time> may_until) {
    state_->wrote(operator_, replica, what, sent, may_until);
}

void invariants::leads(std::string_view operator_) {
    state_->here.leads_since[std::string(operator_)] = state_->here.now();
}

void invariants::looked(std::string_view operator_, std::string_view plural,
                        const std::string& object) {
    if (operator_ == "testbed" && plural == kinds::pod.plural) state_->slots.looked(object);
}

void invariants::all_disturbances_are_told() { state_->here.disturbances_told = true; }

void invariants::disturbed(std::string_view operator_, steady_time until) {
    auto& end = state_->here.disturbed_until[std::string(operator_)];
    end = std::max(end, until);
}

const std::vector<violation>& invariants::violations() const { return state_->here.out.found(); }

std::uint64_t invariants::checks() const { return state_->here.out.checks(); }

void invariants::listed_node(std::string_view operator_, const std::string& node) {
    if (state_->gangs && operator_ == "testbed") state_->gangs->listed(node);
}

void invariants::judge_gangs() {
    state_->gangs.emplace(state_->here, state_->objects,
                          gang_times{gang_reserve_after, gang_reserve_for});
}

void invariants::scheduler_hindered(steady_time until) {
    if (state_->gangs) state_->gangs->scheduler_hindered(until);
}

bool invariants::gangs_under_way() const { return state_->gangs && state_->gangs->under_way(); }

bool invariants::claims_under_way() const { return state_->claims.under_way(); }

void invariants::at_end() {
    rest_rules(state_->here, state_->objects).judge();
    state_->claims.at_end();
    if (state_->gangs) state_->gangs->at_end();
}

}  // namespace esi::simulation
