// The inside of api_server: what it holds, and the verbs, each in a file of its own (read.cpp,
// watch.cpp, create.cpp, update.cpp, remove.cpp, pods.cpp). Only those files include it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/api/call.h"
#include "server/api/metadata.h"
#include "server/api/selectors.h"
#include "server/api_server.h"
#include "server/traits.h"
#include "server/validation/validation.h"

namespace esi::simulation {

/// What lists and watches select by.
struct selection {
    std::string ns;
    /// Of a collection with a single name, empty else.
    label_selector labels;
    field_selector fields;

    bool everything() const { return labels.empty() && fields.empty(); }
    bool takes(const object& one) const {
        return (ns.empty() || one.ns() == ns) && labels.matches(one.body()) &&
               fields.matches(one.body());
    }
};

struct api_server::state {
    explicit state(server_settings how);

    bool away = false;
    std::deque<std::function<void()>> waiting;

    kube::response answer(const call& in, std::uint64_t visible);
    bool serves(const kube::resource_type& type) const;

    // read.cpp
    kube::response get(const call& in) const;
    kube::response list(const call& in, std::uint64_t visible) const;
    or_refused<selection> select(const call& in) const;

    // watch.cpp
    std::variant<kube::response, std::unique_ptr<watch>> open(const call& in,
                                                              std::uint64_t visible) const;

    // create.cpp
    kube::response create(const call& in);
    kube::response create_with(const call& in, json body);
    kube::response review_token(const call& in) const;
    /// Whether something may be created in the namespace of `in`.
    or_refused<void> admit_to_namespace(const call& in, std::string_view name) const;

    /// Defaults and faults of the kind. Refused: a built-in body that has a member of another type
    /// than its kind, which the server cannot even decode.
    or_refused<std::vector<fault_cause>> judge(const call& in, json& body,
                                               const json* before) const;

    /// fieldValidation=Strict: nothing that the kind does not know.
    or_refused<void> decode_strictly(const call& in, const json& body) const;

    // update.cpp
    kube::response replace(const call& in);
    kube::response patch(const call& in);
    kube::response update(const call& in, json body, const object_pointer& before);

    // remove.cpp
    kube::response remove(const call& in);
    kube::response remove_namespace(const call& in, json body);
    kube::response store_marked(const call& in, const object& before, json body);

    // pods.cpp
    /// The chart's MutatingAdmissionPolicy: gate and label of a pod that names a group.
    void gate_gang_pod(std::string_view ns, json& body) const;
    /// Priority and tolerations, as the admission plugins set them.
    or_refused<void> admit_pod(json& body) const;
    /// Of an update: the tolerations only.
    void admit_pod_update(json& body) const;
    /// The status that a new pod begins with.
    void begin_pod(json& body) const;
    kube::response bind(const call& in);

    // definitions.cpp
    /// Discovery: GET /apis/GROUP/VERSION of a group that has kinds here; nothing: another request.
    std::optional<kube::response> resources_of(const kube::request& what) const;
    void put_definition(const kube::resource_type& type);
    void put_first_objects();

    wall_time wall() const { return settings.wall(); }
    std::string now_text() const { return time_text(wall()); }

    server_settings settings;
    storage store;
    validation rules;
    /// Counts uids and generated names.
    std::uint64_t made = 0;
    /// By plural: kinds of CustomResourceDefinitions that are served. Becomes false, for those who
    /// look at it still, when the kind is served no more.
    std::map<std::string, std::shared_ptr<bool>, std::less<>> installed;
};

}  // namespace esi::simulation
