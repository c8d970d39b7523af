// Bodies and headers of the REST interface. Oracles: what is taken keeps every rule of the contract
// (docs/compatibility.md) and says what nlohmann reads; what is refused is so with bounded
// sentences; every error is in the form that was asked for.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "interface/legacy/content.h"
#include "interface/legacy/json.h"
#include "model/json.h"
#include "target.h"

namespace esi::fuzz {
namespace {

using nlohmann::json;
namespace legacy = interface::legacy;

bool good_name(const std::string& name) {
    constexpr std::string_view ends = "abcdefghijklmnopqrstuvwxyz0123456789";
    return !name.empty() && name.size() <= 63 && ends.contains(name.front()) &&
           ends.contains(name.back()) &&
           name.find_first_not_of(std::string(ends) + "-.") == std::string::npos;
}

template <class T>
bool taken(const std::expected<T, legacy::faults>& got) {
    if (got) return true;
    require(!got.error().empty() && got.error().size() <= 40, "{} faults", got.error().size());
    for (const auto& fault : got.error()) require(!fault.empty(), "an empty fault");
    legacy::ordered_json shown;
    shown["messages"] = got.error();
    require(json::accept(legacy::text_of(shown)), "faults that cannot be shown");
    return false;
}

bool has_null(const json& value) {
    return value.is_null() ||
           (value.is_structured() &&
            std::ranges::any_of(value, [](const json& item) { return has_null(item); }));
}

void scheduling(std::string_view body) {
    const auto got = legacy::read_scheduling(body);
    if (!taken(got)) return;
    const auto sent = json::parse(body);
    require(good_name(got->name) && sent.at("name") == got->name && got->name.front() >= 'a' &&
                got->name.find('.') == std::string::npos,
            "name \"{}\"", got->name);
    require(good_name(got->test_bed) && sent.at("testBed") == got->test_bed, "testBed \"{}\"",
            got->test_bed);
    require(got->queue.has_value() != got->slots.has_value(), "queue and slots");
    if (got->queue) {
        require(
            json(*got->queue) == sent.at("queue") && std::ranges::all_of(*got->queue, good_name),
            "another queue");
    }
    if (got->slots) {
        require(got->slots->mode == "strict" || got->slots->mode == "relaxed", "mode {}",
                got->slots->mode);
        const auto& jobs = sent.at("slots").at("jobs");
        require(got->slots->jobs.size() == jobs.size(), "other jobs");
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const auto& job = got->slots->jobs[i];
            require(good_name(job.name.name) && jobs[i].at("name") == job.name.name &&
                        json(job.slot_ids) == jobs[i].at("slots"),
                    "job {} is another", job.name.name);
            const std::set<int> different(job.slot_ids.begin(), job.slot_ids.end());
            require(!job.slot_ids.empty() && different.size() == job.slot_ids.size() &&
                        *different.begin() >= 0,
                    "slots of {}", job.name.name);
        }
    }
    const auto spec = got->spec("ns");
    const auto decoded = model::decode<model::scheduling_spec>(spec.dump(), "spec");
    require(decoded.has_value(), "the spec is {}", spec.dump());
    require(decoded->testbed == model::object_key{"ns", got->test_bed}, "another Testbed");
    require(decoded->queue_based.has_value() == got->queue.has_value() &&
                decoded->slot_based.has_value() == got->slots.has_value(),
            "another plan: {}", spec.dump());
    if (got->queue) require(decoded->queue_based->size() == got->queue->size(), "another queue");
    // As a client reads it back.
    model::scheduling stored;
    stored.metadata.name = got->name;
    stored.spec = *decoded;
    const auto shown = json::parse(legacy::text_of(legacy::external(stored)));
    require(shown.at("name") == got->name && shown.at("testBed") == got->test_bed &&
                shown.at("queue").is_array() == got->queue.has_value(),
            "shown as {}", shown.dump());
    if (got->queue) require(shown.at("queue") == sent.at("queue"), "shown with another queue");
}

void job(std::string_view body) {
    const auto got = legacy::read_job(body);
    if (!taken(got)) return;
    const auto sent = json::parse(body);
    require(good_name(got->name) && sent.at("name") == got->name, "name \"{}\"", got->name);
    if (!got->external_scheduler) return;
    const auto& notes = sent.at("externalScheduler");
    const auto& patch = *got->external_scheduler;
    require(patch == notes, "{} is sent as {}", notes.dump(), patch.dump());
    require(!has_null(patch), "null in {}", patch.dump());
    model::batchjob stored;
    stored.metadata.name = got->name;
    stored.spec.external_scheduler = model::raw_json{patch.dump()};
    const auto shown = json::parse(legacy::text_of(legacy::external(stored)));
    require(shown.at("externalScheduler") == notes, "shown as {}", shown.dump());
}

void headers(std::string_view text) {
    const auto form = legacy::form_of(text);
    const bool takes_json = legacy::accepts_json(text);
    require(form != legacy::wanted_form::json || takes_json, "JSON is preferred and not accepted");
    require(form != legacy::wanted_form::none || !takes_json, "JSON is accepted and not preferred");
    const bool says_json = legacy::is_json(text);
    require(!says_json || text.find("json") != text.npos || text.find("JSON") != text.npos ||
                std::ranges::search(
                    text, std::string_view("json"),
                    [](char a, char b) {
                        return (a | 0x20) == b;
                    }).begin() != text.end(),
            "\"{}\" is JSON", text);
    if (says_json && text.find_first_of(",;") == text.npos) {
        require(legacy::accepts_json(text), "is sent as JSON and not accepted as such");
    }
    http::server_request request;
    request.raw_path = text;
    request.headers.emplace_back("accept", text);
    const auto reply =
        legacy::error_reply(request, 400, wall_time(seconds(1)), {std::string(text)});
    require(reply.status == 400, "status {}", reply.status);
    switch (form) {
        case legacy::wanted_form::json:
            require(reply.content_type == "application/json" && json::accept(reply.body), "{}",
                    reply.body);
            break;
        case legacy::wanted_form::html:
            require(reply.content_type.starts_with("text/html"), "{}", reply.content_type);
            break;
        case legacy::wanted_form::none:
            require(reply.body.empty() && reply.content_type.empty(), "{}", reply.body);
            break;
    }
}

void rest_bodies(std::string_view text) {
    simdjson::dom::parser parser;
    if (parser.parse(text.data(), text.size()).error() != simdjson::SUCCESS) {
        // But for a mark of byte order, and numbers beyond 64 bits.
        const bool plain =
            text.find_first_of("0123456789") == text.npos && !text.starts_with("\xEF\xBB\xBF");
        require(!plain || (!legacy::read_scheduling(text) && !legacy::read_job(text)),
                "taken, but simdjson finds no JSON");
    }
    scheduling(text);
    job(text);
    if (text.size() < 200) headers(text);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(rest_bodies, esi::fuzz::rest_bodies)
