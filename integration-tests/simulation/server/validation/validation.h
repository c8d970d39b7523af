// What a body must look like before the model API server stores it: the schemas and CEL rules of
// our CustomResourceDefinitions (the very files that a cluster gets), and built-in rules for the
// kinds of Kubernetes as far as our operators and their neighbours use them. A function of its
// arguments: it stores nothing, knows no resourceVersions and no requests. Owned by the API server.
// Applications are checked by short schemas (base/application_kinds.h), as their own definitions
// are not ours.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace esi::simulation {

using json = nlohmann::json;

/// A cause of a Status: FieldValueInvalid, FieldValueRequired, FieldValueForbidden, ...
struct fault_cause {
    std::string field;
    std::string reason;
    std::string message;
};

struct schema_set;

class validation {
public:
    /// `crds_folder` holds testbed.yaml, batchjob.yaml and scheduling.yaml. They are read and
    /// compiled once per process; throws std::runtime_error for a schema or rule that it cannot
    /// judge as the server would.
    explicit validation(const std::string& crds_folder);

    /// Defaults and prunes `body` in place as the server does before storing (custom resources by
    /// schema; pods, nodes, ... by built-in rules), on create (`before` is null) and on update.
    /// Also keeps spec and status apart: a create begins without the status of the request, an
    /// update keeps the old status, and an update of "status" keeps everything else (of a pod also
    /// the new labels and annotations). Of `metadata` it touches only what it does not know; uid,
    /// versions, times and generation are the server's.
    void prepare(const kube::resource_type& type, std::string_view subresource, json& body,
                 const json* before) const;
    /// All faults of a prepared body at once; empty: accepted. (422 Invalid.) Judges the form of
    /// labels, annotations, owners and finalizers too, and finalizers that are added to an object
    /// that is being deleted; not the form of the name, nor name, namespace, uid and
    /// resourceVersion against those of `before`: those are the server's.
    std::vector<fault_cause> check(const kube::resource_type& type, std::string_view subresource,
                                   const json& body, const json* before) const;
    /// Unknown fields for fieldValidation=Strict (400), such as `unknown field "spec.x"`.
    std::vector<std::string> unknown_fields(const kube::resource_type& type,
                                            const json& body) const;
    /// Whether the kind has a status sub-resource.
    bool has_status(const kube::resource_type& type) const;
    /// ".spec.nodeLabel", without metadata.name and metadata.namespace.
    std::vector<std::string> selectable_fields(const kube::resource_type& type) const;

private:
    std::shared_ptr<const schema_set> schemas_;
};

}  // namespace esi::simulation
