#include "interface/v1/scheduling_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "interface/v1/wire/label_selector.h"
#include "interface/v1/wire/problems.h"
#include "kube/resource.h"
#include "model/conditions.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/acquire.h"
#include "scheduling/plan.h"
#include "scheduling/words.h"

namespace esi::interface::v1 {

namespace {

using nlohmann::json;
namespace reasons = model::condition_reason;

constexpr std::size_t longest_name = 63;
constexpr std::size_t most_warnings = 10;

bool is_dns_1035(std::string_view name) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
           name.back() != '-' && std::ranges::all_of(name, [&](char c) {
               return is_letter(c) || is_digit(c) || c == '-';
           });
}

std::string text_at(const json& object, const char* member) {
    const auto found = object.find(member);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void read_annotations(const json& meta, scheduling_body& out, faults& wrong) {
    const auto found = meta.find("annotations");
    if (found == meta.end() || !found->is_object()) return;
    for (const auto& [key, value] : found->items()) {
        if (!is_label_key(key)) {
            add_fault(wrong, pointer_to("/metadata/annotations", key), problem_code::field_value,
                      "cannot be the key of an annotation");
        }
        if (value.is_string() && !key.starts_with(model::names::prefix)) {
            out.annotations.emplace(key, value.get<std::string>());
        }
    }
}

void read_metadata(const json& body, const body_place& at, scheduling_body& out, faults& wrong) {
    out.key = {at.ns, at.name};
    const auto found = body.find("metadata");
    if (found == body.end() || !found->is_object()) return;
    const auto& meta = *found;
    out.uid = text_at(meta, "uid");
    out.resource_version = text_at(meta, "resourceVersion");
    const auto name = text_at(meta, "name");
    if (at.name.empty()) {
        out.key.name = name;
        if (meta.contains("name") && !is_dns_1035(name)) {
            add_fault(wrong, "/metadata/name", problem_code::field_value,
                      "must have 1 to 63 characters out of a-z, 0-9 and '-', begin with a letter "
                      "and end with a letter or digit");
        }
    } else if (!name.empty() && name != at.name) {
        add_fault(wrong, "/metadata/name", problem_code::field_immutable,
                  fmt::format("is {}, as the path says", at.name));
    }
    const auto ns = text_at(meta, "namespace");
    if (!ns.empty() && ns != at.ns) {
        add_fault(wrong, "/metadata/namespace", problem_code::field_immutable,
                  fmt::format("is {}, as the path says", at.ns));
    }
    read_annotations(meta, out, wrong);
    const auto labels = meta.find("labels");
    if (labels == meta.end() || !labels->is_object()) return;
    auto& into = out.labels.emplace();
    for (const auto& [key, value] : labels->items()) {
        const auto pointer = pointer_to("/metadata/labels", key);
        if (!is_label_key(key)) {
            add_fault(wrong, pointer, problem_code::field_value, "cannot be the key of a label");
        }
        if (!value.is_string()) continue;
        const auto& text = value.get_ref<const std::string&>();
        if (!is_label_value(text)) {
            add_fault(wrong, pointer, problem_code::field_value, "cannot be the value of a label");
        }
        into.emplace(key, text);
    }
}

void check_slots(const json& spec, faults& wrong) {
    const auto slots = spec.find("slotBased");
    if (slots == spec.end() || !slots->is_object()) return;
    const auto jobs = slots->find("jobs");
    if (jobs == slots->end() || !jobs->is_array()) return;
    for (std::size_t i = 0; i < jobs->size(); ++i) {
        const auto& job = (*jobs)[i];
        if (!job.is_object()) continue;
        const auto ids = job.find("slotIds");
        if (ids == job.end() || !ids->is_array()) continue;
        std::set<std::int64_t> known;
        for (std::size_t k = 0; k < ids->size(); ++k) {
            const auto& id = (*ids)[k];
            if (!id.is_number_integer() || known.insert(id.get<std::int64_t>()).second) continue;
            add_fault(wrong, fmt::format("/spec/slotBased/jobs/{}/slotIds/{}", i, k),
                      problem_code::slot_twice,
                      fmt::format("slot {} is named twice by one job", id.get<std::int64_t>()));
        }
    }
}

void check_spec(const json& spec, faults& wrong) {
    std::vector<std::string_view> plans;
    for (const auto* each : {"queueBased", "slotBased", "poolBased"}) {
        if (spec.contains(each)) plans.push_back(each);
    }
    if (plans.size() != 1) {
        add_fault(wrong, "/spec", problem_code::queue_and_slots,
                  fmt::format("exactly one of queueBased, slotBased and poolBased must be given, "
                              "not {}",
                              plans.empty() ? "none" : fmt::to_string(fmt::join(plans, " and "))));
    }
    const bool testbed = spec.contains("testbed");
    if (testbed == spec.contains("claim")) {
        add_fault(wrong, "/spec", problem_code::testbed_and_claim,
                  fmt::format("exactly one of testbed and claim must be given, not {}",
                              testbed ? "both" : "none"));
    }
    check_slots(spec, wrong);
}

/// The first place in the plan that names the job.
std::string place_of(const model::scheduling_spec& spec, const std::string& ns,
                     const model::object_key& job) {
    const auto is_it = [&](const model::object_key& each) {
        return grid::in_namespace(each, ns) == job;
    };
    if (spec.queue_based) {
        const auto found = std::ranges::find_if(*spec.queue_based, is_it);
        return fmt::format("/spec/queueBased/{}", found - spec.queue_based->begin());
    }
    if (spec.pool_based) {
        const auto& jobs = spec.pool_based->jobs;
        const auto found = std::ranges::find_if(jobs, is_it, &model::pool_job::name);
        return fmt::format("/spec/poolBased/jobs/{}", found - jobs.begin());
    }
    if (!spec.slot_based) return "/spec";
    const auto& jobs = spec.slot_based->jobs;
    const auto found = std::ranges::find_if(jobs, is_it, &model::slot_job::name);
    return fmt::format("/spec/slotBased/jobs/{}", found - jobs.begin());
}

std::string_view code_of(std::string_view reason) {
    if (reason == reasons::job_too_large) return problem_code::too_many_slots;
    if (reason == reasons::slot_outside_layout) return problem_code::slot_outside_layout;
    if (reason == reasons::slot_of_coordinator) return problem_code::slot_of_coordinator;
    if (reason == reasons::too_many_jobs) return problem_code::too_many_jobs;
    return problem_code::field_value;
}

/// Positions have the same meaning when the plan begins.
bool has_settled_layout(const model::testbed& of) {
    const auto& layout = of.status.layout;
    if (!layout || grid::count_of_slots(*layout) == 0) return false;
    const auto* current =
        model::find_condition(of.status.conditions, model::condition_type::layout_current);
    return current == nullptr || current->status != "False";
}

}  // namespace

std::expected<scheduling_body, faults> read_scheduling(const json& body, const body_place& at) {
    faults wrong;
    scheduling_body out;
    validate(reference_to(at.may_be_nameless ? "SchedulingDraft" : "SchedulingInput"), body, "",
             wrong);
    if (!body.is_object()) return std::unexpected(std::move(wrong));
    read_metadata(body, at, out, wrong);
    const auto spec = body.find("spec");
    if (spec != body.end() && spec->is_object()) {
        check_spec(*spec, wrong);
        out.spec = *spec;
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    const auto text = out.spec.dump(-1, ' ', false, json::error_handler_t::replace);
    auto parsed = model::decode<model::scheduling_spec>(text, "spec");
    if (!parsed) {
        add_fault(wrong, "/spec", problem_code::field_value, parsed.error().text);
        return std::unexpected(std::move(wrong));
    }
    out.parsed = std::move(*parsed);
    return out;
}

faults faults_of_plan(const scheduling::view& v, const model::scheduling* existing) {
    faults out;
    const auto& self = *v.self;
    const auto wants = plan_of(self, v.policies);
    const auto testbed = v.find_testbed(grid::testbed_of(self));
    // Objects that may not be used are not described.
    const auto& claim = self.spec.claim;
    if (const auto large = claim ? scheduling::problem_of(*claim) : std::nullopt) {
        add_fault(out, "/spec/claim/shapes", problem_code::too_many_places, large->text);
        return out;
    }
    const bool known =
        claim || (testbed && has_settled_layout(*testbed) && !testbed_not_allowed(v, self));
    const auto before = existing != nullptr ? plan_of(*existing, v.policies) : scheduling::plan();
    std::map<model::object_key, scheduling::problem> found;
    if (known) {
        const auto layout = claim ? grid::shape_of(*claim) : *testbed->status.layout;
        found = problems_by_job(wants, scheduling::plan_places(layout), wants.cancelled);
    } else {
        for (auto number = scheduling::most_jobs; number < wants.jobs.size(); ++number) {
            found.emplace(wants.jobs[number].name,
                          scheduling::problem{
                              reasons::too_many_jobs,
                              fmt::format("comes after {} different jobs, which are as many as "
                                          "one Scheduling can have; create another",
                                          scheduling::most_jobs)});
        }
    }
    for (const auto& job : wants.jobs) {
        const auto at = found.find(job.name);
        if (at == found.end()) continue;
        // Changes of other fields must stay possible.
        const auto* was = before.find(job.name);
        if (was != nullptr && *was == job) continue;
        add_fault(out, place_of(self.spec, self.metadata.namespace_, job.name),
                  code_of(at->second.reason), at->second.text);
    }
    return out;
}

std::vector<std::string> warnings_of_plan(const scheduling::view& v) {
    std::vector<std::string> out;
    const auto& self = *v.self;
    const auto testbed = v.find_testbed(grid::testbed_of(self));
    const bool laid_out = testbed && testbed->status.layout;
    const auto wants = plan_of(self, v.policies, laid_out ? &*testbed->status.layout : nullptr);
    const auto say = [&](std::string text) {
        if (out.size() < most_warnings) out.push_back(std::move(text));
    };
    for (const auto& text : wants.ignored) say(text);
    if (const auto why = testbed_not_allowed(v, self)) {
        say(why->text);
    } else if (const auto why_own = testbed_of_another(v, self)) {
        say(why_own->text);
    } else if (self.spec.claim) {
        // It makes its Testbed itself.
    } else if (const auto key = grid::testbed_of(self); !testbed) {
        say(scheduling::testbed_text(key) + v.absence(key) + "; the Scheduling waits for it");
    }
    for (const auto& job : wants.jobs) {
        if (!v.may_start(self.metadata.namespace_, job.name)) {
            say(scheduling::job_text(job.name) +
                " is of another namespace, whose jobs it may start only with "
                "--cross-namespace-jobs");
        } else if (!v.find_job(job.name)) {
            say(scheduling::job_text(job.name) + v.absence(job.name) +
                "; the Scheduling waits for it");
        }
    }
    return out;
}

}  // namespace esi::interface::v1
