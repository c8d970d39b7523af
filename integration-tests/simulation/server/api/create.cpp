// POST: what a new object gets from the server, in the order in which kube-apiserver does it:
// decoding, admission, defaults, validation, storing.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "server/api/namespaces.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

constexpr std::size_t longest_generate_name = 58;

/// What the server sets in a new object, whatever the client sent.
void set_new_metadata(const call& in, json& body, std::uint64_t number, std::string created) {
    tidy_metadata(body);
    auto& metadata = metadata_of(body);
    for (const char* key : {"deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
        metadata.erase(key);
    }
    if (in.type->namespaced) metadata["namespace"] = in.ns;
    if (text_in(metadata, "name").empty()) {
        const auto base = text_in(metadata, "generateName");
        if (!base.empty()) {
            metadata["name"] =
                std::string(base.substr(0, longest_generate_name)) + suffix_number(number);
        }
    }
    metadata["uid"] = uid_number(number);
    metadata["creationTimestamp"] = std::move(created);
    if (begins_with_generation(*in.type)) metadata["generation"] = 1;
}

/// Rules of the object as a whole speak of its name; where there is none, none is run.
void skip_rules(std::vector<fault_cause>& faults) {
    if (std::erase_if(faults, [](const fault_cause& each) { return each.field.empty(); }) == 0) {
        return;
    }
    faults.push_back({"<nil>", "FieldValueInvalid",
                      "Invalid value: null: some validation rules were not checked because the "
                      "object was invalid; correct the existing errors to complete validation"});
}

/// 400 for a body that is no object of the kind, 422 for a patch that makes such a one.
kube::response not_decoded(const call& in, std::string_view why) {
    if (in.request->method == "PATCH") {
        return invalid("", "", "",
                       {{"patch", "FieldValueInvalid", fmt::format("Invalid value: {}", why)}});
    }
    const auto& type = *in.type;
    return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", type.kind,
                                   type.version, type.kind, why));
}

}  // namespace

or_refused<void> api_server::state::admit_to_namespace(const call& in,
                                                       std::string_view name) const {
    if (!in.type->namespaced) return {};
    const auto home = store.find(kinds::name_space, {}, in.ns);
    if (!home) return refused(not_found(kinds::name_space, in.ns));
    if (!is_deleting(home->body())) return {};
    auto causes = json::array();
    causes.push_back({{"reason", "NamespaceTerminating"},
                      {"message", fmt::format("namespace {} is being terminated", in.ns)},
                      {"field", "metadata.namespace"}});
    return refused(forbidden(*in.type, name,
                             fmt::format("unable to create new content in namespace {} because it "
                                         "is being terminated",
                                         in.ns),
                             std::move(causes)));
}

or_refused<std::vector<fault_cause>> api_server::state::judge(const call& in, json& body,
                                                              const json* before) const {
    const auto& type = *in.type;
    try {
        if (is_kind(type, kinds::name_space)) {
            if (before == nullptr) {
                begin_namespace(body);
            } else {
                keep_namespace_parts(in.subresource, body, *before);
            }
        } else {
            rules.prepare(type, in.subresource, body, before);
        }
        if (before == nullptr && is_kind(type, kinds::pod)) begin_pod(body);
        // What nothing was changed in needs no judgement.
        if (before != nullptr && body == *before) return {};
        return rules.check(type, in.subresource, body, before);
    } catch (const json::exception&) {
        return refused(not_decoded(in, "json: cannot unmarshal: a member has the wrong type"));
    }
}

or_refused<void> api_server::state::decode_strictly(const call& in, const json& body) const {
    if (in.option("fieldValidation") != "Strict") return {};
    const auto unknown = rules.unknown_fields(*in.type, body);
    if (unknown.empty()) return {};
    return refused(
        not_decoded(in, fmt::format("strict decoding error: {}", fmt::join(unknown, ", "))));
}

kube::response api_server::state::create(const call& in) {
    const auto& type = *in.type;
    if (type.namespaced && in.ns.empty()) {
        return type.group.empty() ? method_not_allowed(type, "create") : page_not_found();
    }
    auto body = read_body(in);
    if (!body) return std::move(body).error();
    return create_with(in, std::move(*body));
}

kube::response api_server::state::create_with(const call& in, json body) {
    const auto& type = *in.type;
    const auto given_ns = metadata_text(body, "namespace");
    if (!given_ns.empty() && given_ns != in.ns) {
        return bad_request(
            "the namespace of the provided object does not match the namespace sent "
            "on the request");
    }
    if (auto done = decode_strictly(in, body); !done) return std::move(done).error();
    const bool versioned = !metadata_text(body, "resourceVersion").empty();
    set_new_metadata(in, body, ++made, now_text());
    metadata_of(body).erase("resourceVersion");
    const auto name = std::string(metadata_text(body, "name"));
    if (auto done = admit_to_namespace(in, name); !done) return std::move(done).error();
    if (is_kind(type, kinds::pod)) {
        if (settings.gangs) gate_gang_pod(in.ns, body);
        if (auto done = admit_pod(body); !done) return std::move(done).error();
    }
    auto faults = judge(in, body, nullptr);
    if (!faults) return std::move(faults).error();
    if (name.empty()) skip_rules(*faults);
    std::ranges::move(name_faults(name, is_kind(type, kinds::name_space)),
                      std::inserter(*faults, faults->begin()));
    if (!faults->empty()) return invalid(judged_group(type), type.kind, name, *faults);
    if (versioned) {
        return internal_error("resourceVersion should not be set on objects to be created");
    }
    if (store.find(type, in.ns, name)) return already_exists(type, name);
    if (in.dry_run()) return answer_with(201, body.dump());
    return answer_with(201, store.put(type, std::move(body))->text());
}

kube::response api_server::state::review_token(const call& in) const {
    auto body = read_body(in);
    if (!body) return std::move(body).error();
    const auto* spec = object_in(*body, "spec");
    const auto token = spec == nullptr ? std::string_view() : text_in(*spec, "token");
    json status = json::object();
    if (token.empty()) {
        status["user"] = json::object();
        status["error"] = "invalid bearer token";
    } else {
        status["authenticated"] = true;
        status["user"] = {{"username", "system:serviceaccount:default:client"}};
    }
    (*body)["status"] = std::move(status);
    return answer_with(201, body->dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace esi::simulation
