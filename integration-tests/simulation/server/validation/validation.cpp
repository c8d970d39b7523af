#include "server/validation/validation.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <mutex>
#include <stdexcept>

#include "base/application_kinds.h"
#include "base/group_kinds.h"
#include "server/validation/built_in.h"
#include "server/validation/metadata_rules.h"
#include "server/validation/schema.h"

namespace esi::simulation {

struct custom_kind {
    std::unique_ptr<schema> root;
    std::vector<std::string> selectable;
    bool has_status = false;
    /// Of CEL, also where they are not known here.
    bool has_rules = false;
};

struct schema_set {
    /// By known_as().
    std::map<std::string, custom_kind, std::less<>> kinds;

    const custom_kind* find(const kube::resource_type& type) const {
        if (type.group != kube::types::testbed.group && !is_application(type) &&
            !is_pod_group(type)) {
            return nullptr;
        }
        const auto at = kinds.find(known_as(type));
        return at == kinds.end() ? nullptr : &at->second;
    }
};

namespace {

/// A wrong type, a missing member and the like keep the API server from running any rule.
bool stops_rules(const fault_cause& fault) {
    return fault.reason == "FieldValueNotSupported" || fault.reason == "FieldValueRequired" ||
           fault.reason == "FieldValueTooLong" || fault.reason == "FieldValueTooMany" ||
           fault.reason == "FieldValueTypeInvalid";
}

std::shared_ptr<const schema_set> load(const std::string& folder) {
    auto out = std::make_shared<schema_set>();
    for (const char* file :
         {"testbed.yaml", "batchjob.yaml", "scheduling.yaml", "testbedslotslice.yaml"}) {
        const auto path = folder + "/" + file;
        try {
            const auto crd = YAML::LoadFile(path)["spec"];
            const auto versions = crd["versions"];
            if (versions.size() != 1) throw std::runtime_error("more than one version");
            custom_kind kind;
            for (const auto& each : versions[0]["selectableFields"]) {
                kind.selectable.push_back(each["jsonPath"].Scalar());
            }
            const auto subresources = versions[0]["subresources"];
            kind.has_status = subresources.IsDefined() && subresources["status"].IsDefined();
            kind.root = std::make_unique<schema>(versions[0]["schema"]["openAPIV3Schema"],
                                                 crd["names"]["kind"].Scalar(), true);
            kind.has_rules = kind.root->has_rules();
            out->kinds[crd["names"]["plural"].Scalar()] = std::move(kind);
        } catch (const std::exception& error) {
            throw std::runtime_error(path + ": " + error.what());
        }
    }
    for (const auto& each : application_kinds()) {
        custom_kind kind;
        kind.has_status = true;
        kind.has_rules = each.has_rules;
        kind.root =
            std::make_unique<schema>(YAML::Load(each.schema), std::string(each.type->kind), true);
        out->kinds[std::string(each.type->plural)] = std::move(kind);
    }
    for (const auto& each : group_kinds()) {
        if (!each.type) continue;
        custom_kind kind;
        kind.has_status = each.has_status;
        kind.root = std::make_unique<schema>(YAML::Load(each.schema), "PodGroup", true);
        out->kinds[std::string(known_as(*each.type))] = std::move(kind);
    }
    return out;
}

/// Compiled once per process: every run has an API server of its own.
std::shared_ptr<const schema_set> shared_schemas(const std::string& folder) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const schema_set>> known;
    const std::lock_guard lock(mutex);
    auto& set = known[folder];
    if (!set) set = load(folder);
    return set;
}

void check_custom(const custom_kind& kind, std::string_view subresource, const json& body,
                  const json* before, faults& out) {
    const auto& root = *kind.root;
    field_path at;
    const auto* status_schema = root.member("status");
    if (subresource == "status" && status_schema) {
        const auto* status = find_member(body, "status");
        const auto here = at.child("status");
        if (status) {
            status_schema->check_values(*status, before ? find_member(*before, "status") : nullptr,
                                        at, out);
        }
    } else {
        // The root itself always differs, by its metadata: ratcheting begins below it.
        root.check_values(body, before, at, out);
    }
    const auto known = out.size();
    root.check_lists(body, at, out);
    if (out.size() > known && before) {
        // An object that was wrong stays writable.
        faults old;
        root.check_lists(*before, at, old);
        if (!old.empty()) out.resize(known);
    }
    if (!kind.has_rules) return;
    for (const auto& each : out) {
        if (!stops_rules(each)) continue;
        out.push_back(
            {"<nil>", "FieldValueInvalid",
             "Invalid value: null: some validation rules were not checked because the object "
             "was invalid; correct the existing errors to complete validation"});
        return;
    }
    root.check_rules(body, before, at, out);
}

}  // namespace

validation::validation(const std::string& crds_folder) : schemas_(shared_schemas(crds_folder)) {}

void validation::prepare(const kube::resource_type& type, std::string_view subresource, json& body,
                         const json* before) const {
    if (!body.is_object()) return;
    prepare_metadata(body);
    const auto* kind = schemas_->find(type);
    if (!kind) {
        prepare_built_in(type, subresource, body, before);
        return;
    }
    if (!before) {
        if (kind->has_status) body.erase("status");
        kind->root->prepare(body);
    } else if (subresource == "status") {
        // Only the status is taken over, whatever else was sent.
        for (auto each = body.begin(); each != body.end();) {
            const bool known = each.key() == "status" || before->contains(each.key());
            each = known ? std::next(each) : body.erase(each);
        }
        for (const auto& each : before->items()) {
            if (each.key() != "status") keep_member(body, *before, each.key().c_str());
        }
        const auto* status_schema = kind->root->member("status");
        auto status = body.find("status");
        if (status == body.end()) return;
        if (status->is_null()) {
            body.erase(status);
        } else if (status_schema) {
            status_schema->prepare(*status);
        }
    } else {
        if (kind->has_status) keep_member(body, *before, "status");
        kind->root->prepare(body);
    }
}

std::vector<fault_cause> validation::check(const kube::resource_type& type,
                                           std::string_view subresource, const json& body,
                                           const json* before) const {
    faults out;
    check_metadata(type, body, before, out);
    if (const auto* kind = schemas_->find(type)) {
        check_custom(*kind, subresource, body, before, out);
    } else {
        check_built_in(type, subresource, body, before, out);
    }
    return out;
}

std::vector<std::string> validation::unknown_fields(const kube::resource_type& type,
                                                    const json& body) const {
    std::vector<std::string> out;
    if (const auto* kind = schemas_->find(type)) {
        field_path at;
        kind->root->find_unknown(body, at, out);
    } else {
        find_unknown_in_built_in(type, body, out);
    }
    find_unknown_metadata(body, out);
    for (auto& each : out) each = "unknown field \"" + each + "\"";
    return out;
}

bool validation::has_status(const kube::resource_type& type) const {
    const auto* kind = schemas_->find(type);
    return kind ? kind->has_status : built_in_has_status(type);
}

std::vector<std::string> validation::selectable_fields(const kube::resource_type& type) const {
    const auto* kind = schemas_->find(type);
    return kind ? kind->selectable : std::vector<std::string>();
}

}  // namespace esi::simulation
