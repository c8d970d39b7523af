#include "interface/v1/writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hexadecimal.h"
#include "http/entity_tag.h"
#include "interface/v1/access/digest.h"
#include "interface/v1/access/trail.h"
#include "interface/v1/reads.h"
#include "interface/v1/wire/parameters.h"
#include "interface/v1/wire/print.h"
#include "interface/v1/wire/problems.h"
#include "kube/patch.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/answers/preview.h"
#include "scheduling/observe.h"
#include "scheduling/plan.h"

namespace esi::interface::v1 {

namespace {

using http::problem_details;
using http::server_reply;
using nlohmann::json;
namespace types = kube::types;
namespace names = model::names;

constexpr int most_tries = 3;
constexpr seconds until_seen{1};
constexpr std::chrono::hours key_counts_for{24};
constexpr std::size_t longest_key = 255;

std::optional<problem_details> no_parameters(const http::server_request& from) {
    parameters given(from);
    auto wrong = given.take_faults();
    if (wrong.empty()) return std::nullopt;
    return bad_parameters(std::move(wrong));
}

template <class T>
server_reply object_reply(int status, const T& object) {
    std::string body;
    print_object(body, object);
    server_reply out(status, "application/json", std::move(body));
    const auto& version = object.metadata.resource_version;
    if (!version.empty()) {
        out.headers.emplace_back("ETag", etag_of(version));
        out.headers.emplace_back("X-ESI-Index", version);
    }
    out.headers.emplace_back("Cache-Control", "private, no-cache");
    return out;
}

void add_warnings(server_reply& to, const std::vector<std::string>& texts) {
    for (const auto& each : texts) {
        std::string quoted;
        for (const char c : each) {
            const bool plain = c >= ' ' && c < 0x7f;
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += plain ? c : '?';
        }
        to.headers.emplace_back("Warning", fmt::format("299 - \"{}\"", quoted));
    }
}

/// Half of a SHA-256: two callers, or keys, never have the same.
std::string short_hash(std::string_view text) { return hexadecimal(sha256(text)).substr(0, 32); }

/// The annotation of an object that this caller creates with this key and body; empty without a
/// key.
std::expected<std::string, problem_details> mark_of(const http::server_request& from,
                                                    const json& body) {
    if (!from.has_header("idempotency-key")) return std::string();
    const auto key = from.header("idempotency-key");
    const bool good = !key.empty() && key.size() <= longest_key &&
                      std::ranges::all_of(key, [](char c) { return c >= ' ' && c < 0x7f; });
    if (!good) {
        return std::unexpected(with_faults(
            400, {{"Idempotency-Key:", std::string(problem_code::field_value),
                   fmt::format("has 1 to {} printable ASCII characters", longest_key)}}));
    }
    return short_hash(from.caller->name + "\n" + std::string(key)) + "." + short_hash(body.dump());
}

/// The annotations that are not ESI's.
json annotations_of(const json& object) {
    auto out = json::object();
    const auto meta = object.find("metadata");
    if (meta == object.end() || !meta->is_object()) return out;
    const auto found = meta->find("annotations");
    if (found == meta->end() || !found->is_object()) return out;
    for (const auto& [key, value] : found->items()) {
        if (!key.starts_with(names::prefix)) out[key] = value;
    }
    return out;
}

std::string_view key_part(std::string_view mark) { return mark.substr(0, mark.find('.')); }

problem_details changed_meanwhile(std::string_view kind, const model::object_key& key,
                                  std::string_view version) {
    return problem_of(412, "",
                      fmt::format("{} {} has the version {}, which If-Match does not name; read it "
                                  "again",
                                  kind, key.text(), version));
}

problem_details is_going(std::string_view kind, const model::object_key& key) {
    auto out = problem_of(409, "", fmt::format("{} {} is being deleted", kind, key.text()));
    out.retryable = true;
    return out;
}

/// Writes the line about a write when its answer is known.
template <class T>
void tell(const http::server_request& from, std::string_view verb, std::string_view kind,
          const model::object_key& key, const std::expected<T, problem_details>& done,
          int status = 200, bool dry_run = false) {
    const auto code = done ? std::string() : done.error().code;
    const int said = done ? status : done.error().status;
    audit(from,
          {verb, kind, key, said,
           done || !code.empty() ? std::string_view(code) : http::code_of_status(said), dry_run});
}

}  // namespace

// --- the API server, and the caches behind it ---

scheduling::view writes::view_of(std::shared_ptr<const model::scheduling> self,
                                 scheduling::live_facts& live) const {
    auto out = observe(from_.seen, std::move(self), live);
    out.namespaces = from_.namespaces;
    out.cross_namespace_jobs = from_.cross_namespace_jobs;
    return out;
}

namespace {

const kube::store<model::scheduling>& store_of(const scheduling::caches& seen,
                                               const model::scheduling&) {
    return seen.schedulings();
}
const kube::store<model::batchjob>& store_of(const scheduling::caches& seen,
                                             const model::batchjob&) {
    return seen.jobs();
}

}  // namespace

template <class T>
asio::awaitable<void> writes::seen(const T& written) {
    const auto key = written.metadata.key();
    const auto version = number_of_version(written.metadata.resource_version);
    const auto& store = store_of(from_.seen, written);
    const auto is_shown = [&] {
        const auto shown = store.find(key);
        return shown && number_of_version(shown->metadata.resource_version) >= version;
    };
    co_await waits_.until({type_of<T>().kind, key}, is_shown, from_.time.now() + until_seen);
}

asio::awaitable<void> writes::seen_to_go(model::object_key key, std::string uid) {
    const auto& store = from_.seen.schedulings();
    const auto is_going_away = [&] {
        const auto shown = store.find(key);
        return !shown || shown->metadata.deleting() || (!uid.empty() && shown->metadata.uid != uid);
    };
    co_await waits_.until({types::scheduling.kind, key}, is_going_away,
                          from_.time.now() + until_seen);
}

template <class T>
asio::awaitable<writes::outcome<T>> writes::patch(model::object_key key, json body) {
    refusal_reader wire(from_.api.wire());
    kube::client api(wire, from_.time);
    const auto& type = type_of<T>();
    const auto text = co_await api.patch(type, key.namespace_, key.name, kube::patch_kind::merge,
                                         std::move(body));
    if (!text) co_return std::unexpected(problem_of_write(text.error(), wire.found()));
    auto object = model::decode<T>(*text, type.kind);
    if (!object) co_return std::unexpected(problem_of(object.error()));
    co_return std::move(*object);
}

template <class T>
asio::awaitable<writes::outcome<T>> writes::change(std::shared_ptr<const request> from,
                                                   change_of<T> how) {
    const auto key = key_of(*from);
    const auto& type = type_of<T>();
    const auto if_match = from->header("if-match");
    const bool any = if_match.empty() || http::is_any_tag(if_match);
    for (int tries = 1;; ++tries) {
        const auto text = co_await from_.api.get(type, key.namespace_, key.name);
        if (!text) {
            if (text.error().code == errc::not_found) {
                co_return std::unexpected(not_found(type.kind, key));
            }
            co_return std::unexpected(problem_of(text.error()));
        }
        auto now = model::decode<T>(*text, type.kind);
        if (!now) co_return std::unexpected(problem_of(now.error()));
        const auto& meta = now->metadata;
        if (!any && !http::names_tag(if_match, etag_of(meta.resource_version))) {
            co_return std::unexpected(changed_meanwhile(type.kind, key, meta.resource_version));
        }
        if (meta.deleting()) co_return std::unexpected(is_going(type.kind, key));
        auto body = how(*now, json::parse(*text, nullptr, false));
        if (!body) co_return std::unexpected(std::move(body).error());
        if (body->empty()) co_return std::move(*now);
        note_requester(*body, *from->caller);
        auto done = co_await patch<T>(
            key, kube::guarded(std::move(*body), meta.uid, meta.resource_version));
        if (done) {
            co_await seen(*done);
            co_return std::move(*done);
        }
        if (done.error().status != 409) co_return std::unexpected(std::move(done).error());
        if (!any) {
            co_return std::unexpected(changed_meanwhile(type.kind, key, "of a later change"));
        }
        if (tries == most_tries) {
            auto out = std::move(done).error();
            out.retryable = true;
            co_return std::unexpected(std::move(out));
        }
    }
}

template <class T>
asio::awaitable<answer> writes::act(std::shared_ptr<const request> from, change_of<T> how,
                                    std::string verb) {
    if (auto wrong = no_parameters(*from)) co_return std::unexpected(std::move(*wrong));
    auto done = co_await change<T>(from, std::move(how));
    tell(*from, verb, type_of<T>().kind, key_of(*from), done, 202);
    if (!done) co_return std::unexpected(std::move(done).error());
    co_return object_reply(202, *done);
}

// --- creating ---

asio::awaitable<writes::outcome<std::optional<model::scheduling>>> writes::created_before(
    model::object_key key, std::string mark) {
    // The same key with another name: checked in the cache, as far as it shows it.
    const auto& all = from_.seen.schedulings().all();
    const auto now = from_.time.wall();
    const auto counts = [&](const model::object_meta& meta) {
        return meta.creation_timestamp && now - meta.creation_timestamp->value < key_counts_for &&
               key_part(meta.annotation(idempotency_annotation)) == key_part(mark);
    };
    for (auto at = all.lower_bound({key.namespace_, ""});
         at != all.end() && at->first.namespace_ == key.namespace_; ++at) {
        const auto& meta = at->second->metadata;
        if (counts(meta) && meta.annotation(idempotency_annotation) != mark) {
            co_return std::unexpected(
                problem_of(422, problem_code::idempotency_key_reused,
                           fmt::format("this Idempotency-Key has created Scheduling {} with "
                                       "another body; take a new key for a new object",
                                       meta.key().text())));
        }
    }
    const auto text = co_await from_.api.get(types::scheduling, key.namespace_, key.name);
    if (!text) {
        if (text.error().code == errc::not_found) co_return std::nullopt;
        co_return std::unexpected(problem_of(text.error()));
    }
    auto found = model::decode<model::scheduling>(*text, "Scheduling");
    if (!found) co_return std::unexpected(problem_of(found.error()));
    if (!counts(found->metadata)) co_return std::nullopt;
    if (found->metadata.annotation(idempotency_annotation) != mark) {
        co_return std::unexpected(
            problem_of(422, problem_code::idempotency_key_reused,
                       fmt::format("this Idempotency-Key has created Scheduling {} with another "
                                   "body",
                                   key.text())));
    }
    if (found->metadata.deleting()) co_return std::unexpected(is_going("Scheduling", key));
    co_return std::optional<model::scheduling>(std::move(*found));
}

asio::awaitable<writes::outcome<model::scheduling>> writes::create(
    std::shared_ptr<const request> from, scheduling_body body, bool dry_run) {
    auto mark = mark_of(*from, {{"name", body.key.name},
                                {"labels", json(body.labels.value_or(model::string_map()))},
                                {"annotations", json(body.annotations)},
                                {"spec", body.spec}});
    if (!mark) co_return std::unexpected(std::move(mark).error());
    if (!mark->empty()) {
        auto before = co_await created_before(body.key, *mark);
        if (!before) co_return std::unexpected(std::move(before).error());
        if (*before) co_return std::move(**before);
    }
    json object{{"apiVersion", types::scheduling.api_version()},
                {"kind", types::scheduling.kind},
                {"metadata", {{"name", body.key.name}, {"namespace", body.key.namespace_}}},
                {"spec", body.spec}};
    if (body.labels && !body.labels->empty()) object["metadata"]["labels"] = *body.labels;
    if (!body.annotations.empty()) object["metadata"]["annotations"] = body.annotations;
    note_requester(object, *from->caller);
    if (!mark->empty()) {
        object["metadata"]["annotations"][std::string(idempotency_annotation)] = *mark;
    }
    refusal_reader wire(from_.api.wire());
    kube::client api(wire, from_.time);
    kube::create_options options;
    options.dry_run = dry_run;
    const auto text =
        co_await api.create(types::scheduling, body.key.namespace_, std::move(object), options);
    if (!text) {
        if (text.error().code != errc::already_exists) {
            co_return std::unexpected(problem_of_write(text.error(), wire.found()));
        }
        if (!mark->empty()) {
            // The same request was handled first.
            auto before = co_await created_before(body.key, *mark);
            if (before && *before) co_return std::move(**before);
        }
        const auto shown = from_.seen.schedulings().find(body.key);
        if (shown && shown->metadata.deleting()) {
            co_return std::unexpected(is_going("Scheduling", body.key));
        }
        co_return std::unexpected(problem_of(
            409, problem_code::already_exists,
            fmt::format("Scheduling {} exists; PUT or PATCH changes it", body.key.text())));
    }
    auto made = model::decode<model::scheduling>(*text, "Scheduling");
    if (!made) co_return std::unexpected(problem_of(made.error()));
    if (!dry_run) co_await seen(*made);
    co_return std::move(*made);
}

asio::awaitable<answer> writes::create_scheduling(http::server_request from) {
    parameters given(from);
    const bool dry_run = given.flag("dryRun");
    if (auto wrong = given.take_faults(); !wrong.empty()) {
        co_return std::unexpected(bad_parameters(std::move(wrong)));
    }
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    auto body = read_scheduling(*parsed, {key_of(*shared).namespace_, "", false});
    if (!body) co_return std::unexpected(with_faults(422, std::move(body).error()));
    const auto key = body->key;
    scheduling::live_facts live;
    const auto draft = scheduling::answers::draft_of(key, body->parsed, nullptr, from_.time.wall());
    auto wrong = faults_of_plan(view_of(draft, live), nullptr);
    outcome<model::scheduling> done = std::unexpected(problem());
    if (wrong.empty()) {
        done = co_await create(shared, std::move(*body), dry_run);
    } else {
        done = std::unexpected(with_faults(422, std::move(wrong)));
    }
    const int status = dry_run ? 200 : 201;
    tell(*shared, "create", "Scheduling", key, done, status, dry_run);
    if (!done) co_return std::unexpected(std::move(done).error());
    auto out = object_reply(status, *done);
    if (!dry_run) {
        out.headers.emplace_back("Location", shared->raw_path + "/" + done->metadata.name);
    }
    add_warnings(out, warnings_of_plan(view_of(draft, live)));
    co_return out;
}

// --- changing ---

writes::outcome<json> writes::patch_of(const scheduling_body& wanted, const model::scheduling& now,
                                       const json& raw) const {
    const auto& meta = now.metadata;
    if (!wanted.uid.empty() && wanted.uid != meta.uid) {
        return std::unexpected(problem_of(409, "",
                                          fmt::format("Scheduling {} was made anew: its uid is {}",
                                                      meta.key().text(), meta.uid)));
    }
    if (!wanted.resource_version.empty() && wanted.resource_version != meta.resource_version) {
        return std::unexpected(changed_meanwhile("Scheduling", meta.key(), meta.resource_version));
    }
    faults wrong;
    if (wanted.parsed.claim.has_value() != now.spec.claim.has_value()) {
        add_fault(wrong, "/spec/claim", problem_code::field_immutable,
                  "cannot be added or taken away; delete the Scheduling and create another");
    } else if (!now.spec.claim && grid::in_namespace(wanted.parsed.testbed, meta.namespace_) !=
                                      grid::testbed_of(now)) {
        add_fault(wrong, "/spec/testbed", problem_code::field_immutable,
                  fmt::format("is {} and cannot be changed; delete the Scheduling and create "
                              "another",
                              grid::testbed_of(now).text()));
    }
    scheduling::live_facts live;
    const auto draft =
        scheduling::answers::draft_of(meta.key(), wanted.parsed, &now, from_.time.wall());
    for (auto& each : faults_of_plan(view_of(draft, live), &now)) {
        add_fault(wrong, std::move(each.pointer), each.code, std::move(each.detail));
    }
    if (!wrong.empty()) return std::unexpected(with_faults(422, std::move(wrong)));
    json out = json::object();
    auto spec = kube::merge_difference(raw.value("spec", json::object()), wanted.spec);
    if (!spec.empty()) out["spec"] = std::move(spec);
    if (wanted.labels) {
        auto labels = kube::merge_difference(json(meta.labels), json(*wanted.labels));
        if (!labels.empty()) out["metadata"]["labels"] = std::move(labels);
    }
    auto notes = kube::merge_difference(annotations_of(raw), json(wanted.annotations));
    if (!notes.empty()) out["metadata"]["annotations"] = std::move(notes);
    return out;
}

asio::awaitable<answer> writes::change_scheduling(std::shared_ptr<const request> from, json body,
                                                  bool is_patch) {
    const auto key = key_of(*from);
    if (from->header("if-match").empty()) {
        co_return std::unexpected(problem_of(
            428, "",
            "give the header If-Match: the ETag of what you have read, or * for any version"));
    }
    const body_place at{key.namespace_, key.name, false};
    auto done = co_await change<model::scheduling>(
        from, [&](const model::scheduling& now, const json& raw) -> outcome<json> {
            json whole = body;
            if (is_patch) {
                whole = {{"metadata", {{"name", key.name}, {"labels", json(now.metadata.labels)}}},
                         {"spec", raw.value("spec", json::object())}};
                if (now.metadata.labels.empty()) whole["metadata"].erase("labels");
                if (auto notes = annotations_of(raw); !notes.empty()) {
                    whole["metadata"]["annotations"] = std::move(notes);
                }
                whole.merge_patch(body);
            }
            auto wanted = read_scheduling(whole, at);
            if (!wanted) return std::unexpected(with_faults(422, std::move(wanted).error()));
            // A patch that takes out the last label takes out the map.
            if (is_patch && !wanted->labels) wanted->labels.emplace();
            if (!is_patch) {
                // Clients cannot send back what is not shown: other annotations stay.
                for (const auto& [name, value] : annotations_of(raw).items()) {
                    if (value.is_string()) wanted->annotations.emplace(name, value);
                }
            }
            return patch_of(*wanted, now, raw);
        });
    tell(*from, is_patch ? "patch" : "update", "Scheduling", key, done);
    if (!done) co_return std::unexpected(std::move(done).error());
    auto out = object_reply(200, *done);
    scheduling::live_facts live;
    auto self = std::make_shared<const model::scheduling>(std::move(*done));
    add_warnings(out, warnings_of_plan(view_of(std::move(self), live)));
    co_return out;
}

asio::awaitable<answer> writes::replace_scheduling(http::server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    const auto key = key_of(*shared);
    // Faults of the body that do not depend on the object.
    auto read = read_scheduling(*parsed, {key.namespace_, key.name, false});
    if (!read) co_return std::unexpected(with_faults(422, std::move(read).error()));
    co_return co_await change_scheduling(std::move(shared), std::move(*parsed), false);
}

asio::awaitable<answer> writes::patch_scheduling(http::server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    faults wrong;
    if (parsed->is_object() && parsed->contains("status")) {
        add_fault(wrong, "/status", problem_code::field_immutable,
                  "is written by the operators alone");
        parsed->erase("status");
    }
    validate(reference_to("SchedulingPatch"), *parsed, "", wrong);
    if (!wrong.empty()) co_return std::unexpected(with_faults(422, std::move(wrong)));
    co_return co_await change_scheduling(std::move(shared), std::move(*parsed), true);
}

// --- deleting ---

asio::awaitable<writes::outcome<std::optional<model::scheduling>>> writes::remove(
    std::shared_ptr<const request> from) {
    const auto key = key_of(*from);
    const auto if_match = from->header("if-match");
    // The uid of the object to delete: one that was created again meanwhile stays.
    const auto text = co_await from_.api.get(types::scheduling, key.namespace_, key.name,
                                             kube::shown_part::metadata);
    if (!text) {
        if (text.error().code == errc::not_found) {
            co_return std::unexpected(not_found("Scheduling", key));
        }
        co_return std::unexpected(problem_of(text.error()));
    }
    const auto now = model::decode<model::metadata_only>(*text, "Scheduling");
    if (!now) co_return std::unexpected(problem_of(now.error()));
    const auto& meta = now->metadata;
    kube::preconditions guard(meta.uid);
    if (!if_match.empty() && !http::is_any_tag(if_match)) {
        if (!http::names_tag(if_match, etag_of(meta.resource_version))) {
            co_return std::unexpected(changed_meanwhile("Scheduling", key, meta.resource_version));
        }
        guard.resource_version = meta.resource_version;
    }
    const auto done =
        co_await from_.api.remove(types::scheduling, key.namespace_, key.name, std::move(guard));
    if (!done) {
        if (done.error().code == errc::not_found) co_return std::nullopt;
        if (done.error().code == errc::conflict && !if_match.empty()) {
            co_return std::unexpected(changed_meanwhile("Scheduling", key, "of a later change"));
        }
        co_return std::unexpected(problem_of(done.error()));
    }
    co_await seen_to_go(key, meta.uid);
    auto left = model::decode<model::scheduling>(*done, "Scheduling");
    // A Status: nothing was left to release.
    if (!left || !left->metadata.deleting()) co_return std::nullopt;
    co_return std::optional<model::scheduling>(std::move(*left));
}

asio::awaitable<answer> writes::delete_scheduling(http::server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    auto shared = std::make_shared<const request>(std::move(from));
    auto left = co_await remove(shared);
    const int status = left && *left ? 202 : 204;
    tell(*shared, "delete", "Scheduling", key_of(*shared), left, status);
    if (!left) co_return std::unexpected(std::move(left).error());
    if (!*left) co_return server_reply(204, "", "");
    co_return object_reply(202, **left);
}

// --- jobs ---

asio::awaitable<answer> writes::patch_notes(http::server_request from) {
    if (auto wrong = no_parameters(from)) co_return std::unexpected(std::move(*wrong));
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    faults wrong;
    validate(reference_to("ExternalNotesPatch"), *parsed, "", wrong);
    if (!wrong.empty()) co_return std::unexpected(with_faults(422, std::move(wrong)));
    auto done = co_await change<model::batchjob>(
        shared, [&](const model::batchjob&, const json&) -> outcome<json> {
            return json{{"spec", {{"externalScheduler", *parsed}}}};
        });
    tell(*shared, "patch", "BatchJob", key_of(*shared), done);
    if (!done) co_return std::unexpected(std::move(done).error());
    co_return object_reply(200, *done);
}

asio::awaitable<answer> writes::reset_job(http::server_request from) {
    const auto stamp = model::timestamp{from_.time.wall()}.micro();
    return act<model::batchjob>(
        std::make_shared<const request>(std::move(from)),
        [stamp](const model::batchjob& now, const json&) -> outcome<json> {
            const auto& state = now.status.state;
            if (state != model::job_state::failed && state != model::job_state::failed_submission) {
                return std::unexpected(
                    problem_of(409, "",
                               fmt::format("BatchJob {} is in {}: only a failed job is reset",
                                           now.metadata.key().text(), state)));
            }
            return json{{"metadata", {{"annotations", {{std::string(names::reset), stamp}}}}}};
        },
        "reset");
}

asio::awaitable<answer> writes::release_job(http::server_request from) {
    return act<model::batchjob>(
        std::make_shared<const request>(std::move(from)),
        [](const model::batchjob& now, const json&) -> outcome<json> {
            if (!now.spec.active_scheduling && !now.spec.creation_request) return json::object();
            return json{{"spec", {{"activeScheduling", nullptr}, {"creationRequest", nullptr}}}};
        },
        "release");
}

// --- plans ---

asio::awaitable<answer> writes::cancel_job(http::server_request from) {
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    faults wrong;
    validate(reference_to("CancelRequest"), *parsed, "", wrong);
    if (!wrong.empty()) co_return std::unexpected(with_faults(422, std::move(wrong)));
    const model::object_key named{parsed->value("namespace", ""), parsed->value("job", "")};
    co_return co_await act<model::scheduling>(
        shared,
        [named](const model::scheduling& now, const json& raw) -> outcome<json> {
            const auto job = grid::in_namespace(named, now.metadata.namespace_);
            const auto wants = scheduling::plan_of(now);
            const auto is_it = [&](const model::assignment& each) { return each.job.key() == job; };
            if (wants.find(job) == nullptr && std::ranges::none_of(now.status.assignments, is_it)) {
                return std::unexpected(with_faults(
                    422, {{"/job", std::string(problem_code::job_unknown),
                           fmt::format("BatchJob {} is not in the plan of Scheduling {}",
                                       job.text(), now.metadata.key().text())}}));
            }
            if (wants.cancelled.contains(job)) return json::object();
            auto list = raw.value("spec", json::object()).value("cancelledJobs", json::array());
            list.push_back({{"namespace", job.namespace_}, {"name", job.name}});
            return json{{"spec", {{"cancelledJobs", std::move(list)}}}};
        },
        "cancel");
}

asio::awaitable<answer> writes::suspend(http::server_request from) {
    auto shared = std::make_shared<const request>(std::move(from));
    auto parsed = shared->body.empty() ? std::expected<json, faults>(json::object())
                                       : parse_body(shared->body);
    if (!parsed) co_return std::unexpected(with_faults(400, std::move(parsed).error()));
    faults wrong;
    validate(reference_to("SuspendRequest"), *parsed, "", wrong);
    if (!wrong.empty()) co_return std::unexpected(with_faults(422, std::move(wrong)));
    const auto policy =
        parsed->value("policy", std::string(model::scheduling_suspend_policy::keep));
    co_return co_await act<model::scheduling>(
        shared,
        [policy](const model::scheduling& now, const json&) -> outcome<json> {
            const auto& was = now.spec.suspend_policy;
            const bool same =
                was == policy || (was.empty() && policy == model::scheduling_suspend_policy::keep);
            if (now.spec.suspend.value_or(false) && same) return json::object();
            return json{{"spec", {{"suspend", true}, {"suspendPolicy", policy}}}};
        },
        "suspend");
}

asio::awaitable<answer> writes::resume(http::server_request from) {
    return act<model::scheduling>(
        std::make_shared<const request>(std::move(from)),
        [](const model::scheduling& now, const json&) -> outcome<json> {
            if (!now.spec.suspend.value_or(false)) return json::object();
            return json{{"spec", {{"suspend", false}}}};
        },
        "resume");
}

}  // namespace esi::interface::v1
