#include "foresee/moment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "model/json.h"
#include "neighbours/people/people.h"
#include "plan/cast.h"
#include "plan/faults.h"
#include "plan/generate.h"

namespace esi::simulation::foresee {

namespace {

/// Jobs that no Scheduling of the plan names.
const std::vector<std::string>& spare_jobs() {
    static const std::vector<std::string> all{"spare-a", "spare-b", "spare-c"};
    return all;
}

class drafter {
public:
    drafter(const picture& seen, random_source& chance) : seen_(seen), chance_(chance) {
        for (const auto& [key, job] : seen.all().jobs) jobs_.push_back(key);
        for (const auto& [key, bed] : seen.all().testbeds) beds_.push_back(key);
        for (const auto& [key, one] : seen.all().schedulings) {
            if (!one->metadata.deleting()) schedulings_.push_back(key);
        }
    }

    intent create(wall_time now) {
        intent out;
        const auto bed = beds_.empty() || chance_.chance(40) ? object_key{"default", "no-such-bed"}
                                                             : chance_.one_of(beds_);
        const auto slots = slots_of(bed);
        json spec{{"testbed", {{"namespace", bed.namespace_}, {"name", bed.name}}},
                  {"releaseOnCompletion", chance_.chance(700)}};
        if (chance_.chance(450)) {
            spec["queueBased"] = entries(slots);
        } else if (chance_.chance(200)) {
            json list = json::array();
            for (const auto& job : some_jobs(3)) list.push_back(pooled(job, slots));
            spec["poolBased"]["jobs"] = std::move(list);
        } else {
            json list = json::array();
            for (const auto& job : some_jobs(3)) {
                list.push_back({{"name", reference(job)}, {"slotIds", some_slots(slots)}});
            }
            spec["slotBased"] = {{"mode", chance_.chance(500) ? "strict" : "relaxed"},
                                 {"jobs", std::move(list)}};
        }
        if (chance_.chance(80)) spec["suspend"] = true;
        if (chance_.chance(150)) spec["priority"] = chance_.between(-1, 2);
        if (chance_.chance(80) && !jobs_.empty()) {
            spec["cancelledJobs"] = json::array({reference(chance_.one_of(jobs_))});
        }
        const auto ns = chance_.chance(930) ? bed.namespace_ : std::string("team-a");
        out.what = intent::kind::create;
        out.key = {ns, "foreseen"};
        out.deed = {milliseconds(0),
                    "create",
                    {{"object",
                      {{"apiVersion", kinds::scheduling.api_version()},
                       {"kind", "Scheduling"},
                       {"metadata", {{"name", out.key.name}, {"namespace", ns}}},
                       {"spec", spec}}}}};
        out.draft = draft(out.key, spec, nullptr, now);
        return out;
    }

    intent change(wall_time now) {
        if (schedulings_.empty()) return {};
        intent out;
        out.what = intent::kind::change;
        out.key = chance_.one_of(schedulings_);
        const auto old = seen_.scheduling(out.key);
        if (!old->metadata.undecodable.empty()) return {};
        json spec = model::encode(old->spec);
        json patch = json::object();
        switch (chance_.below(5)) {
            case 0:
                patch["suspend"] = !old->spec.suspend.value_or(false);
                break;
            case 1:
                if (jobs_.empty()) return {};
                patch["cancelledJobs"] = json::array({reference(chance_.one_of(jobs_))});
                break;
            default:
                if (!grow(spec, patch, slots_of(old->spec.testbed))) return {};
        }
        spec.merge_patch(patch);
        out.deed = {milliseconds(0),
                    "patch",
                    {{"kind", "schedulings"},
                     {"ns", out.key.namespace_},
                     {"name", out.key.name},
                     {"patch", {{"spec", patch}}}}};
        out.draft = draft(out.key, spec, old.get(), now);
        return out.draft ? out : intent();
    }

private:
    static json reference(const object_key& key) {
        return {{"namespace", key.namespace_}, {"name", key.name}};
    }

    static self_pointer draft(const object_key& key, const json& spec, const model::scheduling* old,
                              wall_time now) {
        auto read = model::decode<model::scheduling_spec>(spec.dump(), "spec");
        return read ? answers::draft_of(key, std::move(*read), old, now) : nullptr;
    }

    int slots_of(const object_key& bed) const {
        const auto found = seen_.testbed(bed);
        return found && found->status.layout ? grid::count_of_slots(*found->status.layout) : 2;
    }

    /// At least one; now and then one that is not there.
    std::vector<object_key> some_jobs(int most) {
        std::vector<object_key> out;
        for (int i = chance_.between(1, most); i > 0; --i) {
            const auto job = jobs_.empty() || chance_.chance(30)
                                 ? object_key{"default", "no-such-job"}
                                 : any_job();
            if (std::ranges::find(out, job) == out.end()) out.push_back(job);
        }
        return out;
    }
    /// Mostly one that nobody has.
    object_key any_job() {
        std::vector<object_key> free;
        for (const auto& each : jobs_) {
            if (!seen_.job(each)->spec.active_scheduling) free.push_back(each);
        }
        return !free.empty() && chance_.chance(800) ? chance_.one_of(free) : chance_.one_of(jobs_);
    }
    std::vector<int> some_slots(int of) {
        std::vector<int> out;
        for (int i = chance_.between(1, std::clamp(of, 1, 2)); i > 0; --i) {
            const int most = chance_.chance(30) ? of + 1 : of - 1;
            const int slot = chance_.between(0, std::max(most, 0));
            if (std::ranges::find(out, slot) == out.end()) out.push_back(slot);
        }
        std::ranges::sort(out);
        return out;
    }
    json entries(int slots) {
        json out = json::array();
        for (const auto& job : some_jobs(3)) {
            for (int i = chance_.between(1, std::clamp(slots, 1, 3)); i > 0; --i) {
                const auto at = chance_.chance(500) ? chance_.below(out.size() + 1) : out.size();
                out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), reference(job));
            }
        }
        return out;
    }
    json pooled(const object_key& job, int slots) {
        return {{"name", reference(job)}, {"slots", chance_.between(1, std::clamp(slots, 1, 3))}};
    }
    /// More jobs at its end, or one less.
    bool grow(const json& spec, json& patch, int slots) {
        const auto at = list_of_jobs(spec);
        if (!at) return false;
        json longer = spec.at(*at);
        if (longer.size() > 1 && chance_.chance(200)) {
            longer.erase(longer.begin() +
                         static_cast<std::ptrdiff_t>(chance_.below(longer.size())));
        } else if (spec.contains("queueBased")) {
            for (auto& each : entries(slots)) longer.push_back(std::move(each));
        } else if (spec.contains("poolBased")) {
            longer.push_back(pooled(some_jobs(1).front(), slots));
        } else {
            longer.push_back(
                {{"name", reference(some_jobs(1).front())}, {"slotIds", some_slots(slots)}});
        }
        patch[*at] = std::move(longer);
        return true;
    }

    const picture& seen_;
    random_source& chance_;
    std::vector<object_key> jobs_;
    std::vector<object_key> beds_;
    std::vector<object_key> schedulings_;
};

}  // namespace

moment moment_of(std::uint64_t seed) {
    moment out;
    out.up_to = generate(seed);
    auto& what = out.up_to;
    auto chance = random_source(seed).fork("moment");
    plan extra;
    cast more(extra);
    // The namespaces and nodes that every cast begins with are there already.
    extra.workload.clear();
    for (const auto& name : spare_jobs()) {
        more.at(milliseconds(chance.between(300, 1500)));
        more.job({"default", name}, chance.between(5, 25));
    }
    what.workload.insert(what.workload.end(), extra.workload.begin(), extra.workload.end());
    what.scripts.update(extra.scripts);
    int work = 0;
    for (const auto& script : what.scripts) {
        work += static_cast<int>(fields::number(script, {"seconds"})) + 8;
    }
    out.at = milliseconds(chance.between(4500, 10000 + work * 500));
    std::erase_if(what.workload, [&](const happening& each) { return each.at > out.at; });
    std::erase_if(what.faults, [&](const happening& each) {
        if (each.at > out.at) return true;
        // What people do shows in objects, and so in every answer; what is done to processes and to
        // the network does not.
        if (people::does(each.what) || each.at + duration_of(each) <= out.at - before) {
            return false;
        }
        ++out.dropped;
        return true;
    });
    return out;
}

intent intent_at(const picture& seen, random_source& chance, wall_time now) {
    drafter pen(seen, chance);
    const auto which = chance.below(100);
    if (which < 60) return pen.create(now);
    if (which < 88) return pen.change(now);
    return {};
}

}  // namespace esi::simulation::foresee
