// DELETE: preconditions, grace of pods, finalizers, as rest.BeforeDelete and the generic registry
// store do it (kubernetes, apiserver/pkg/registry).
#include <fmt/format.h>

#include <algorithm>

#include "server/api/namespaces.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

struct delete_options {
    std::string uid;
    std::string version;
    std::optional<std::int64_t> grace;
    std::string policy;
    bool dry_run = false;
};

or_refused<delete_options> read_options(const call& in) {
    delete_options out;
    json body = json::object();
    if (!in.request->body.empty()) {
        body = json::parse(in.request->body, nullptr, false);
        if (!body.is_object())
            return refused(bad_request("couldn't get version/kind; json parse error"));
    }
    if (const auto* guard = object_in(body, "preconditions")) {
        out.uid = text_in(*guard, "uid");
        out.version = text_in(*guard, "resourceVersion");
    }
    const auto grace = body.find("gracePeriodSeconds");
    if (grace != body.end() && grace->is_number_integer()) out.grace = grace->get<std::int64_t>();
    if (const auto text = in.option("gracePeriodSeconds"); !text.empty()) {
        out.grace = std::atoll(std::string(text).c_str());
    }
    out.policy = text_in(body, "propagationPolicy");
    if (const auto text = in.option("propagationPolicy"); !text.empty()) out.policy = text;
    if (!out.policy.empty() && out.policy != "Background" && out.policy != "Foreground" &&
        out.policy != "Orphan") {
        return refused(invalid_options(
            "DeleteOptions",
            {{"propagationPolicy", "FieldValueNotSupported",
              fmt::format("Unsupported value: \"{}\": supported values: \"Foreground\", "
                          "\"Background\", \"Orphan\", \"nil\"",
                          out.policy)}}));
    }
    const auto dry = body.find("dryRun");
    out.dry_run = in.dry_run() || (dry != body.end() && dry->is_array() && !dry->empty());
    return out;
}

/// A Namespace has words of its own for the same.
or_refused<void> check_namespace(const delete_options& how, const object& before) {
    const auto differ = [&](std::string_view what, std::string_view wanted,
                            std::string_view present) {
        return refused(conflict("", kinds::name_space.plural, before.name(),
                                fmt::format("Precondition failed: {0} in precondition: {1}, {0} in "
                                            "object meta: {2}",
                                            what, wanted, present)));
    };
    const auto version = std::to_string(before.version());
    if (!how.uid.empty() && how.uid != before.uid()) {
        return differ("UID", how.uid, before.uid());
    }
    if (!how.version.empty() && how.version != version) {
        return differ("ResourceVersion", how.version, version);
    }
    return {};
}

or_refused<void> check_preconditions(const call& in, const delete_options& how,
                                     const object& before) {
    const auto& type = *in.type;
    if (is_kind(type, kinds::name_space)) return check_namespace(how, before);
    if (!how.uid.empty() && how.uid != before.uid()) {
        return refused(conflict(
            judged_group(type), type.kind, before.name(),
            fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                        "The object might have been deleted and then recreated",
                        how.uid, before.uid())));
    }
    if (!how.version.empty() && how.version != std::to_string(before.version())) {
        return refused(conflict(
            judged_group(type), type.kind, before.name(),
            fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                        "ResourceVersion in record ({}). The object might have been modified",
                        how.version, before.version())));
    }
    return {};
}

void bump_generation(json& metadata) {
    const auto found = metadata.find("generation");
    if (found != metadata.end() && found->is_number_integer()) {
        *found = found->get<std::int64_t>() + 1;
    }
}

/// The finalizers by which the garbage collector knows what to do with dependents.
void set_policy(json& metadata, const std::string& policy) {
    if (policy.empty()) return;
    json kept = json::array();
    const auto found = metadata.find("finalizers");
    if (found != metadata.end()) {
        for (const auto& each : *found) {
            if (each != "orphan" && each != "foregroundDeletion") kept.push_back(each);
        }
    }
    if (policy == "Orphan") kept.push_back("orphan");
    if (policy == "Foreground") kept.push_back("foregroundDeletion");
    if (kept.empty()) {
        metadata.erase("finalizers");
    } else {
        metadata["finalizers"] = std::move(kept);
    }
}

/// How long a pod that is deleted now has.
std::int64_t grace_of(const json& pod, std::optional<std::int64_t> wanted) {
    const auto* spec = object_in(pod, "spec");
    const auto* status = object_in(pod, "status");
    if (spec == nullptr || text_in(*spec, "nodeName").empty()) return 0;
    const auto phase = status == nullptr ? std::string_view() : text_in(*status, "phase");
    if (phase == "Succeeded" || phase == "Failed") return 0;
    std::int64_t out = 0;
    if (wanted) {
        out = *wanted;
    } else {
        const auto found = spec->find("terminationGracePeriodSeconds");
        if (found != spec->end() && found->is_number_integer()) out = found->get<std::int64_t>();
    }
    return out < 0 ? 1 : out;
}

enum class marking { changed, pending };

/// Sets deletionTimestamp and grace of a pod; pending where it is being deleted already and gets no
/// shorter time.
marking mark_pod(json& body, std::optional<std::int64_t> wanted, wall_time now) {
    auto& metadata = metadata_of(body);
    if (!is_deleting(body)) {
        const auto grace = grace_of(body, wanted);
        metadata["deletionTimestamp"] = time_text(now + std::chrono::seconds(grace));
        metadata["deletionGracePeriodSeconds"] = grace;
        bump_generation(metadata);
        return marking::changed;
    }
    const auto present = metadata_number(body, "deletionGracePeriodSeconds").value_or(0);
    if (present == 0) return marking::changed;
    if (!wanted || *wanted >= present) return marking::pending;
    const auto grace = std::max<std::int64_t>(*wanted, 0);
    const auto due = time_from(text_in(metadata, "deletionTimestamp")).value_or(now);
    metadata["deletionTimestamp"] = time_text(due - std::chrono::seconds(present - grace));
    metadata["deletionGracePeriodSeconds"] = grace;
    return marking::changed;
}

/// The mark of an object that waits for its finalizers.
void mark(json& body, std::string now) {
    auto& metadata = metadata_of(body);
    if (!metadata.contains("deletionGracePeriodSeconds")) bump_generation(metadata);
    if (!is_deleting(body)) metadata["deletionTimestamp"] = std::move(now);
    metadata["deletionGracePeriodSeconds"] = 0;
}

kube::response deleted(const kube::resource_type& type, const object& what) {
    json details = json::object();
    details["name"] = what.name();
    if (!type.group.empty()) details["group"] = type.group;
    details["kind"] = type.plural;
    details["uid"] = what.uid();
    return success(200, std::move(details));
}

}  // namespace

kube::response api_server::state::store_marked(const call& in, const object& before, json body) {
    if (body == before.body()) return answer_with(200, before.text());
    return answer_with(200, store.put(*in.type, std::move(body))->text());
}

kube::response api_server::state::remove(const call& in) {
    const auto& type = *in.type;
    const auto how = read_options(in);
    if (!how) return how.error();
    const auto before = store.find(type, in.ns, in.name);
    if (!before) return not_found(type, in.name);
    if (auto done = check_preconditions(in, *how, *before); !done) return std::move(done).error();
    if (is_kind(type, kinds::name_space)) {
        if (how->dry_run) return answer_with(200, before->text());
        return remove_namespace(in, before->body());
    }
    const bool pod = is_kind(type, kinds::pod);
    const bool plain = !pod && !has_finalizers(before->body()) &&
                       (how->policy.empty() || how->policy == "Background");
    if (plain) {
        if (!how->dry_run) store.erase(type, before->ns(), before->name());
        return deleted(type, *before);
    }
    auto body = before->body();
    if (pod && mark_pod(body, how->grace, wall()) == marking::pending) {
        return answer_with(200, before->text());
    }
    set_policy(metadata_of(body), how->policy);
    if (!pod) mark(body, now_text());
    const bool waits =
        has_finalizers(body) || metadata_number(body, "deletionGracePeriodSeconds") != 0;
    if (how->dry_run) return answer_with(200, body.dump());
    if (waits) return store_marked(in, *before, std::move(body));
    // Even what goes at once is marked first: watchers see both.
    if (pod) store_marked(in, *before, std::move(body));
    const auto last = store.erase(type, before->ns(), before->name());
    return pod ? answer_with(200, last->text()) : deleted(type, *before);
}

kube::response api_server::state::remove_namespace(const call& in, json body) {
    const auto before = store.find(*in.type, {}, in.name);
    if (!is_deleting(body)) {
        metadata_of(body)["deletionTimestamp"] = now_text();
        body["status"]["phase"] = "Terminating";
        return store_marked(in, *before, std::move(body));
    }
    if (!is_finalized(body) || has_finalizers(body)) return answer_with(200, before->text());
    store.erase(*in.type, {}, in.name);
    return deleted(*in.type, *before);
}

}  // namespace esi::simulation
