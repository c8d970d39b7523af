// The form of metadata: labels, annotations, owners, finalizers, alike for all kinds. Names, and
// what the server itself sets, are the server's (metadata.h).
#pragma once

#include "server/validation/faults.h"

namespace esi::simulation {

/// Why a text is no qualified name ("name" or "dns.domain/name"), as of label keys; empty if it is.
std::string wrong_qualified_name(std::string_view text);
std::string wrong_label_value(std::string_view text);
std::string wrong_dns_label(std::string_view text);
std::string wrong_dns_subdomain(std::string_view text);

/// Removes what metadata does not have and empty members that the server would not show.
void prepare_metadata(json& body);
void find_unknown_metadata(const json& body, std::vector<std::string>& out);
void check_metadata(const kube::resource_type& type, const json& body, const json* before,
                    faults& out);

}  // namespace esi::simulation
