// PUT and PATCH. A patch is applied to the newest state and goes the way of a PUT from there.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "server/api/namespaces.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

/// The guard in the body against the stored version.
or_refused<void> check_version(const call& in, const json& body, const object& before) {
    const auto& type = *in.type;
    const auto text = metadata_text(body, "resourceVersion");
    std::uint64_t version = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (!text.empty() && (code != std::errc() || end != text.data() + text.size())) {
        return refused(
            internal_error(fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", text)));
    }
    if (version == before.version()) return {};
    if (version != 0) return refused(modified(type, before.name()));
    // "0" is the same as none.
    if (may_update_unconditionally(type)) return {};
    return refused(invalid(type.group, type.plural, before.name(),
                           {{"metadata.resourceVersion", "FieldValueInvalid",
                             "Invalid value: 0: must be specified for an update"}}));
}

or_refused<void> check_name(const call& in, const json& body) {
    const auto name = metadata_text(body, "name");
    if (name.empty()) {
        return refused(
            bad_request(fmt::format("the name of the object ({} based on URL) was "
                                    "undeterminable: name must be provided",
                                    in.name)));
    }
    if (name != in.name) {
        return refused(bad_request(fmt::format(
            "the name of the object ({}) does not match the name on the URL ({})", name, in.name)));
    }
    const auto ns = metadata_text(body, "namespace");
    if (!ns.empty() && ns != in.ns) {
        return refused(
            bad_request("the namespace of the provided object does not match the "
                        "namespace sent on the request"));
    }
    return {};
}

/// The last finalizer of an object that only waited for that is gone.
bool ends(const call& in, const json& body, const json& before) {
    if (!is_deleting(before) || has_finalizers(body)) return false;
    if (is_kind(*in.type, kinds::name_space)) return is_finalized(body);
    return metadata_number(before, "deletionGracePeriodSeconds") == 0;
}

}  // namespace

kube::response api_server::state::replace(const call& in) {
    const auto& type = *in.type;
    auto body = read_body(in);
    if (!body) return std::move(body).error();
    if (auto done = check_name(in, *body); !done) return std::move(done).error();
    if (auto done = decode_strictly(in, *body); !done) return std::move(done).error();
    const auto before = store.find(type, in.ns, in.name);
    const auto uid = metadata_text(*body, "uid");
    if (!before) {
        if (!may_create_on_update(type) || !in.subresource.empty()) return not_found(type, in.name);
        if (!uid.empty()) return wrong_uid(type, in.ns, in.name, uid, {});
        metadata_of(*body).erase("resourceVersion");
        return create_with(in, std::move(*body));
    }
    if (!uid.empty() && uid != before->uid()) {
        return wrong_uid(type, in.ns, in.name, uid, before->uid());
    }
    return update(in, std::move(*body), before);
}

kube::response api_server::state::patch(const call& in) {
    const auto& type = *in.type;
    const auto& request = *in.request;
    const bool merge = request.content_type == "application/merge-patch+json";
    if (!merge && request.content_type != "application/json-patch+json") return unsupported_media();
    const auto before = store.find(type, in.ns, in.name);
    if (!before) return not_found(type, in.name);
    const auto changes = json::parse(request.body, nullptr, false);
    if (changes.is_discarded()) {
        return bad_request("error decoding patch: unexpected end of JSON input");
    }
    json body;
    if (merge) {
        if (!changes.is_object()) {
            return bad_request(
                "error decoding patch: json: cannot unmarshal array into Go value of "
                "type map[string]interface {}");
        }
        body = before->body();
        body.merge_patch(changes);
    } else {
        if (!changes.is_array()) {
            return bad_request(
                "error decoding patch: json: cannot unmarshal object into Go value "
                "of type []handlers.jsonPatchOp");
        }
        try {
            body = before->body().patch(changes);
        } catch (const json::exception&) {
            return failure(422, "Invalid",
                           "the server rejected our request due to an error in our request",
                           json::object());
        }
    }
    if (auto done = check_body(in, body, true); !done) return std::move(done).error();
    if (auto done = decode_strictly(in, body); !done) return std::move(done).error();
    if (auto done = check_name(in, body); !done) return std::move(done).error();
    return update(in, std::move(body), before);
}

kube::response api_server::state::update(const call& in, json body, const object_pointer& before) {
    const auto& type = *in.type;
    const auto& old = before->body();
    tidy_metadata(body);
    if (auto done = check_version(in, body, *before); !done) return std::move(done).error();
    keep_system_metadata(body, old);
    metadata_of(body)["resourceVersion"] = metadata_of(old)["resourceVersion"];
    if (is_kind(type, kinds::pod) && in.subresource.empty()) admit_pod_update(body);
    auto faults = judge(in, body, &old);
    if (!faults) return std::move(faults).error();
    tidy_metadata(body);
    if (body == old) return answer_with(200, before->text());
    std::ranges::move(immutable_faults(body, old), std::inserter(*faults, faults->begin()));
    if (!faults->empty()) {
        return invalid(judged_group(type), type.kind, before->name(), *faults);
    }
    if (counts_generation(type) && in.subresource.empty() && !same_but_metadata(body, old)) {
        auto& metadata = metadata_of(body);
        metadata["generation"] = metadata_number(old, "generation").value_or(0) + 1;
    }
    if (in.dry_run()) return answer_with(200, body.dump());
    if (ends(in, body, old)) {
        store.erase(type, before->ns(), before->name());
        return answer_with(200, body.dump());
    }
    return answer_with(200, store.put(type, std::move(body))->text());
}

}  // namespace esi::simulation
