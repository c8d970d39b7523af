#include "interface/legacy/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "http/nesting.h"
#include "model/conditions.h"

namespace esi::interface::legacy {

namespace {

using nlohmann::json;

constexpr int deepest = 16;

namespace reasons = model::condition_reason;
namespace slot_state = model::slot_state;

constexpr std::string_view job_states[] = {
    "ReadyState",   "PendingDeletion", "InQueueState", "SubmittedState",        "ScheduledState",
    "RunningState", "CompletedState",  "FailedState",  "FailedSubmissionState", "UnknownState"};
constexpr std::string_view scheduling_states[] = {"FailedState",
                                                  "InitialState",
                                                  "AcquireState",
                                                  "CompletedState",
                                                  "ConfirmationState",
                                                  "FinishedState",
                                                  "SubmissionState",
                                                  "AwaitingCompletionState",
                                                  "Error"};
constexpr std::string_view job_status_states[] = {"Acquiring", "InQueue", "Submitted", "Scheduled",
                                                  "Completed"};

ordered_json text_or_null(const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class Range>
ordered_json known_or_null(const std::string& text, const Range& known) {
    return std::ranges::find(known, text) == std::end(known) ? ordered_json(nullptr)
                                                             : ordered_json(text);
}

ordered_json row_of(const model::slot_status& of) {
    ordered_json out;
    out["reservedFor"] = of.reserved_for ? ordered_json(*of.reserved_for) : ordered_json(nullptr);
    out["state"] = of.state.empty() ? std::string(slot_state::error) : of.state;
    out["podName"] = text_or_null(of.pod_name);
    out["nodeName"] = of.node_name;
    out["nodeId"] = of.node_id;
    out["slotPositionOnNode"] = of.slot_position_on_node;
    out["podUId"] = text_or_null(of.pod_u_id);
    out["position"] = of.position;
    return out;
}

ordered_json testbed_of(const model::testbed& of, std::vector<model::slot_status> rows) {
    const auto& layout = of.status.layout;
    std::ranges::sort(rows, {}, &model::slot_status::position);
    std::vector<std::pair<std::int64_t, std::string>> nodes;
    for (const auto& row : rows) nodes.emplace_back(row.node_id, row.node_name);
    std::ranges::sort(nodes);
    auto repeated = std::ranges::unique(nodes);
    nodes.erase(repeated.begin(), repeated.end());

    ordered_json out;
    out["name"] = of.metadata.name;
    out["state"] =
        of.status.state.empty() ? std::string(model::testbed_state::initial) : of.status.state;
    out["numberOfNodes"] = layout ? layout->nodes.size() : nodes.size();
    out["numberOfSlotsPerNode"] = layout ? layout->slots_per_node : of.spec.slots_per_node;
    std::map<std::string_view, std::vector<const model::slot_status*>> rows_of;
    for (const auto& row : rows) rows_of[row.node_name].push_back(&row);
    auto& by_node = out["slotsByNode"] = ordered_json::object();
    // An ordered object compares each new key with all others; these are known to differ.
    auto& members = by_node.get_ref<ordered_json::object_t&>();
    for (const auto& [id, name] : nodes) {
        const auto of_node = rows_of.extract(name);
        if (!of_node) continue;
        auto list = ordered_json::array();
        for (const auto* row : of_node.mapped()) list.push_back(row_of(*row));
        members.emplace_back(name, std::move(list));
    }
    return out;
}

/// Finds repeated members without building anything.
class repetitions final : public nlohmann::json_sax<json> {
public:
    /// The last repeated member; empty: there is none.
    const std::string& found() const { return found_; }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override {
        open_.emplace_back();
        return true;
    }
    bool end_object() override {
        open_.pop_back();
        return true;
    }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool key(string_t& name) override {
        if (!open_.back().insert(name).second) found_ = name;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    std::vector<std::set<std::string>> open_;
    std::string found_;
};

std::expected<json, faults> parse_object(std::string_view text) {
    if (text.empty()) return std::unexpected(faults{"the body is missing"});
    if (http::nests_deeper_than(deepest, text)) {
        return std::unexpected(
            faults{fmt::format("the body nests deeper than {} levels", deepest)});
    }
    // Not nlohmann's parse with a callback: it takes time by the square of a list's length.
    repetitions looked;
    const bool whole = json::sax_parse(text, &looked);
    // nlohmann takes a NUL for the end of the text.
    if (!whole || text.contains('\0')) {
        return std::unexpected(faults{"the body is not JSON in UTF-8"});
    }
    auto out = json::parse(text, nullptr, false);
    if (!out.is_object()) return std::unexpected(faults{"the body is not a JSON object"});
    if (!looked.found().empty()) {
        return std::unexpected(faults{"member given twice: " + looked.found()});
    }
    return out;
}

/// Reads members of one object and records their faults.
class reader {
public:
    reader(const json& object, std::string where, faults& into)
        : object_(object), where_(std::move(where)), faults_(into) {}

    void only(std::initializer_list<std::string_view> known) {
        for (const auto& [key, value] : object_.items()) {
            if (std::ranges::find(known, key) == known.end()) fault(key, "is not known");
        }
    }
    /// Null when absent or null.
    const json* find(std::string_view key) const {
        auto found = object_.find(key);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    std::string text(std::string_view key) {
        const auto* found = find(key);
        if (found == nullptr) return {};
        if (!found->is_string()) {
            fault(key, "is not a string");
            return {};
        }
        return found->get<std::string>();
    }
    template <class Range>
    void one_of(std::string_view key, const Range& known) {
        auto value = text(key);
        if (value.empty() && (find(key) == nullptr || !find(key)->is_string())) return;
        if (std::ranges::find(known, value) == std::end(known)) fault(key, "is not a known state");
    }
    const json* list(std::string_view key, std::size_t most) {
        const auto* found = find(key);
        if (found == nullptr) return nullptr;
        if (!found->is_array()) {
            fault(key, "is not a list");
            return nullptr;
        }
        if (found->size() > most) {
            fault(key, fmt::format("has {} entries, at most {} are possible", found->size(), most));
            return nullptr;
        }
        return found;
    }
    void fault(std::string_view key, std::string_view text) {
        if (faults_.size() < 20) faults_.push_back(fmt::format("{}{} {}", where_, key, text));
    }

private:
    const json& object_;
    std::string where_;
    faults& faults_;
};

bool lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// A valid name of a Kubernetes object, with at most 63 characters.
bool good_name(std::string_view name) {
    return !name.empty() && name.size() <= 63 && lower_or_digit(name.front()) &&
           lower_or_digit(name.back()) && std::ranges::all_of(name, [](char c) {
               return lower_or_digit(c) || c == '-' || c == '.';
           });
}

/// DNS-1035, at most 63 characters: the rule of the Scheduling CRD.
bool good_scheduling_name(std::string_view name) {
    return good_name(name) && name.front() >= 'a' && name.find('.') == std::string_view::npos;
}

constexpr std::string_view name_rule =
    "must have 1 to 63 characters out of a-z, 0-9, '-' and '.', and begin and end with a letter or "
    "digit";

std::optional<std::string> job_name(const json& value, const std::string& where, faults& wrong) {
    if (value.is_string() && good_name(value.get_ref<const std::string&>())) {
        return value.get<std::string>();
    }
    if (wrong.size() < 20) wrong.push_back(fmt::format("{} {}", where, name_rule));
    return std::nullopt;
}

void read_queue(const json& list, scheduling_request& out, faults& wrong) {
    out.queue.emplace();
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (auto name = job_name(list[i], fmt::format("queue[{}]", i), wrong)) {
            out.queue->push_back(std::move(*name));
        }
    }
}

void read_slot_ids(const json& list, const std::string& where, std::vector<int>& out,
                   faults& wrong) {
    std::set<int> known;
    for (const auto& id : list) {
        const bool whole =
            id.is_number_unsigned() && id.get<std::uint64_t>() <= std::numeric_limits<int>::max();
        if (!whole || !known.insert(id.get<int>()).second) {
            if (wrong.size() < 20) {
                wrong.push_back(where + " must be different whole numbers from 0 to 2147483647");
            }
            return;
        }
        out.push_back(id.get<int>());
    }
}

void read_slots(const json& slots, scheduling_request& out, faults& wrong) {
    reader from(slots, "slots.", wrong);
    from.only({"mode", "jobs"});
    out.slots.emplace();
    auto mode = from.text("mode");
    std::ranges::transform(mode, mode.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (mode != "strict" && mode != "relaxed") from.fault("mode", "must be STRICT or RELAXED");
    out.slots->mode = mode;
    const auto* jobs = from.list("jobs", 512);
    if (jobs == nullptr) {
        if (from.find("jobs") == nullptr) from.fault("jobs", "is missing");
        return;
    }
    for (std::size_t i = 0; i < jobs->size(); ++i) {
        auto where = fmt::format("slots.jobs[{}]", i);
        const auto& job = (*jobs)[i];
        if (!job.is_object()) {
            if (wrong.size() < 20) wrong.push_back(where + " is not an object");
            continue;
        }
        reader each(job, where + ".", wrong);
        each.only({"name", "slots"});
        model::slot_job read;
        const auto* name = each.find("name");
        if (auto good = job_name(name ? *name : json(nullptr), where + ".name", wrong)) {
            read.name.name = std::move(*good);
        }
        const auto* ids = each.list("slots", 1024);
        if (ids != nullptr && !ids->empty()) {
            read_slot_ids(*ids, where + ".slots", read.slot_ids, wrong);
        } else if (each.find("slots") == nullptr || ids != nullptr) {
            each.fault("slots", "must name at least one slot");
        }
        out.slots->jobs.push_back(std::move(read));
    }
}

void check_job_status(const json& list, faults& wrong) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto where = fmt::format("jobStatus[{}]", i);
        if (!list[i].is_object()) {
            if (wrong.size() < 20) wrong.push_back(where + " is not an object");
            continue;
        }
        reader each(list[i], where + ".", wrong);
        each.only({"name", "state"});
        each.text("name");
        each.one_of("state", job_status_states);
    }
}

void check_events(const json& list, faults& wrong) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto where = fmt::format("scheduledEvents[{}]", i);
        if (!list[i].is_object()) {
            if (wrong.size() < 20) wrong.push_back(where + " is not an object");
            continue;
        }
        reader each(list[i], where + ".", wrong);
        each.only({"start", "stop", "successful", "scheduling"});
    }
}

void check_notes(const json& notes, faults& wrong) {
    if (!notes.is_object()) {
        wrong.push_back("externalScheduler is not an object");
        return;
    }
    for (const auto& [key, list] : notes.items()) {
        auto where = "externalScheduler." + key;
        if (!list.is_array()) {
            if (wrong.size() < 20) wrong.push_back(where + " is not a list");
            continue;
        }
        for (const auto& item : list) {
            const bool strings =
                item.is_object() &&
                std::ranges::all_of(item, [](const auto& value) { return value.is_string(); });
            if (!strings) {
                if (wrong.size() < 20)
                    wrong.push_back(where + " must hold maps of string to string");
                break;
            }
        }
    }
}

}  // namespace

std::string text_of(const ordered_json& body) {
    return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

bool is_shown(const model::testbed& of) { return !of.spec.claim; }

bool is_shown(const model::batchjob&) { return true; }

bool is_shown(const model::scheduling& of) { return !of.spec.claim; }

ordered_json external(const model::testbed& of) { return testbed_of(of, of.status.slots); }

ordered_json external(const model::testbed& of, std::vector<model::slot_status> rows) {
    return testbed_of(of, std::move(rows));
}

ordered_json external(const model::batchjob& of) {
    ordered_json out;
    out["name"] = of.metadata.name;
    out["state"] = known_or_null(of.status.state, job_states);
    auto& notes = out["externalScheduler"] = nullptr;
    if (const auto& kept = of.spec.external_scheduler) {
        notes = ordered_json::parse(kept->text, nullptr, false);
        if (notes.is_discarded()) notes = nullptr;
    }
    auto& events = out["scheduledEvents"] = ordered_json::array();
    for (const auto& event : of.status.scheduled_events) {
        ordered_json item;
        item["start"] = event.start ? ordered_json(event.start->micro()) : ordered_json(nullptr);
        item["stop"] = event.stop ? ordered_json(event.stop->micro()) : ordered_json(nullptr);
        item["successful"] = event.stop ? ordered_json(event.successful) : ordered_json(nullptr);
        item["scheduling"]["namespace"] = event.scheduling.namespace_;
        item["scheduling"]["name"] = event.scheduling.name;
        events.push_back(std::move(item));
    }
    return out;
}

ordered_json external(const model::scheduling& of) {
    // The original could not begin with a reference to a missing object: no state.
    const auto* acquired =
        model::find_condition(of.status.conditions, model::condition_type::acquired);
    const bool begun =
        of.status.state != model::scheduling_state::acquire || acquired == nullptr ||
        (acquired->reason != reasons::testbed_missing && acquired->reason != reasons::job_missing);
    ordered_json out;
    out["name"] = of.metadata.name;
    out["state"] =
        begun ? known_or_null(of.status.state, scheduling_states) : ordered_json(nullptr);
    auto& jobs = out["jobStatus"] = ordered_json::array();
    for (const auto& job : of.status.job_states) {
        if (!begun) break;
        ordered_json item;
        item["name"] = job.name.name;
        item["state"] = job.state;
        jobs.push_back(std::move(item));
    }
    out["testBed"] = of.spec.testbed.name;
    out["queue"] = nullptr;
    out["slots"] = nullptr;
    // A pool has neither: the original has no word for it.
    if (of.spec.queue_based) {
        auto& queue = out["queue"] = ordered_json::array();
        for (const auto& entry : *of.spec.queue_based) queue.push_back(entry.name);
    }
    if (of.spec.slot_based) {
        auto& slots = out["slots"] = ordered_json::object();
        slots["mode"] = of.spec.slot_based->mode == "relaxed" ? "RELAXED" : "STRICT";
        auto& list = slots["jobs"] = ordered_json::array();
        for (const auto& job : of.spec.slot_based->jobs) {
            ordered_json item;
            item["slots"] = job.slot_ids;
            item["name"] = job.name.name;
            list.push_back(std::move(item));
        }
    }
    return out;
}

json scheduling_request::spec(const std::string& ns) const {
    auto reference = [&](const std::string& of) { return json{{"namespace", ns}, {"name", of}}; };
    json out{{"testbed", reference(test_bed)}, {"queueBased", nullptr}, {"slotBased", nullptr}};
    if (queue) {
        out["queueBased"] = json::array();
        for (const auto& entry : *queue) out["queueBased"].push_back(reference(entry));
    }
    if (slots) {
        auto jobs = json::array();
        for (const auto& job : slots->jobs) {
            jobs.push_back({{"name", reference(job.name.name)}, {"slotIds", job.slot_ids}});
        }
        out["slotBased"] = {{"mode", slots->mode}, {"jobs", std::move(jobs)}};
    }
    return out;
}

std::expected<scheduling_request, faults> read_scheduling(std::string_view body) {
    auto parsed = parse_object(body);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    faults wrong;
    scheduling_request out;
    reader from(*parsed, "", wrong);
    from.only({"name", "state", "jobStatus", "testBed", "queue", "slots"});
    out.name = from.text("name");
    if (!good_scheduling_name(out.name)) {
        from.fault("name",
                   "must have 1 to 63 characters out of a-z, 0-9 and '-', begin with a letter and "
                   "end with a letter or digit");
    }
    out.test_bed = from.text("testBed");
    if (!good_name(out.test_bed)) from.fault("testBed", name_rule);
    from.one_of("state", scheduling_states);
    if (const auto* list = from.list("jobStatus", 8192)) check_job_status(*list, wrong);
    if (const auto* list = from.list("queue", 4096)) read_queue(*list, out, wrong);
    if (const auto* slots = from.find("slots")) {
        if (slots->is_object()) {
            read_slots(*slots, out, wrong);
        } else {
            from.fault("slots", "is not an object");
        }
    }
    if ((from.find("queue") != nullptr) == (from.find("slots") != nullptr)) {
        wrong.emplace_back("exactly one of queue and slots must be given");
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out;
}

std::expected<job_request, faults> read_job(std::string_view body) {
    auto parsed = parse_object(body);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    faults wrong;
    job_request out;
    reader from(*parsed, "", wrong);
    from.only({"name", "state", "externalScheduler", "scheduledEvents"});
    out.name = from.text("name");
    if (!good_name(out.name)) from.fault("name", name_rule);
    from.one_of("state", job_states);
    if (const auto* list = from.list("scheduledEvents", 100000)) check_events(*list, wrong);
    if (const auto* notes = from.find("externalScheduler")) {
        check_notes(*notes, wrong);
        out.external_scheduler = *notes;
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out;
}

}  // namespace esi::interface::legacy
