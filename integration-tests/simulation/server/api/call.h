// One request, taken apart: which kind, which object, which sub-resource, which options. Knows
// nothing of what is stored.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kube/transport.h"
#include "server/api/status.h"
#include "server/kinds.h"

namespace esi::simulation {

struct call {
    const kube::request* request = nullptr;
    const kube::resource_type* type = nullptr;
    /// Empty: all namespaces, or a kind without.
    std::string ns;
    /// Empty: the whole collection.
    std::string name;
    /// "", "status", "binding", "finalize"
    std::string subresource;
    /// Options, decoded.
    std::map<std::string, std::string, std::less<>> query;

    /// Empty where it was not given.
    std::string_view option(std::string_view key) const;
    bool flag(std::string_view key) const;
    /// The answer is to be the metadata alone.
    bool metadata_only() const;
    bool dry_run() const { return !option("dryRun").empty(); }
};

/// Reads method and target. `what` must outlive the call. Refused: paths of kinds that are not
/// known.
or_refused<call> read_call(const kube::request& what);

/// The body as an object, with the right apiVersion and kind and with a metadata of the right
/// shape: what a create or an update needs before it may look into it.
or_refused<json> read_body(const call& in);
/// The same check for a body that a patch made.
or_refused<void> check_body(const call& in, json& body, bool patched);

}  // namespace esi::simulation
