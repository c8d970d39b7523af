// Rules of the kinds that have no schema of ours: nodes, namespaces, events, leases, priority
// classes; pods have a file of their own. As far as the operators and their neighbours write them;
// other members pass unseen.
#pragma once

#include "server/validation/faults.h"

namespace esi::simulation {

void prepare_built_in(const kube::resource_type& type, std::string_view subresource, json& body,
                      const json* before);
void check_built_in(const kube::resource_type& type, std::string_view subresource, const json& body,
                    const json* before, faults& out);
void find_unknown_in_built_in(const kube::resource_type& type, const json& body,
                              std::vector<std::string>& out);
bool built_in_has_status(const kube::resource_type& type);

/// Sets body[name] to that of `before`, or removes it where there is none.
void keep_member(json& body, const json& before, const char* name);

}  // namespace esi::simulation
