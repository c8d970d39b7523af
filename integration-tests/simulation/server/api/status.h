// The Status objects that kube-apiserver answers with, word for word where it is known: clients
// decide by reason and causes, people read the message. Knows nothing of why something is refused.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"
#include "kube/transport.h"
#include "server/storage.h"
#include "server/validation/validation.h"

namespace esi::simulation {

/// A value, or the answer that refuses the request.
template <class T>
using or_refused = std::expected<T, kube::response>;
using refused = std::unexpected<kube::response>;

/// "pods", "testbeds.esi.tu-berlin.de"
std::string qualified(const kube::resource_type& type);

/// 200 or 201 with a body.
kube::response answer_with(int code, std::string body);
/// The same answer with the object as a PartialObjectMetadata. What is no object (a Status, a text)
/// stays as it is.
kube::response with_metadata_only(kube::response answer);
/// Status Success. `details` of a deletion, else null.
kube::response success(int code, json details = nullptr);

kube::response failure(int code, std::string_view reason, std::string message,
                       json details = nullptr);
/// Text, no Status: what an unknown path gets.
kube::response page_not_found();
/// The same of the core group, which answers with a Status.
kube::response resource_not_found();
kube::response bad_request(std::string message);
kube::response internal_error(std::string message);
kube::response not_found(const kube::resource_type& type, std::string_view name);
kube::response already_exists(const kube::resource_type& type, std::string_view name);
kube::response method_not_allowed(const kube::resource_type& type, std::string_view verb);
kube::response unsupported_media();
/// Another client has changed the object since this one read it.
kube::response modified(const kube::resource_type& type, std::string_view name);
/// Another 409: `resource` as the server names it there.
kube::response conflict(std::string_view group, std::string_view resource, std::string_view name,
                        std::string_view why);
/// 409: an update with the uid of another object of the name.
kube::response wrong_uid(const kube::resource_type& type, std::string_view ns,
                         std::string_view name, std::string_view given, std::string_view present);
kube::response forbidden(const kube::resource_type& type, std::string_view name,
                         std::string_view why, json causes = nullptr);
kube::response invalid(std::string_view group, std::string_view kind, std::string_view name,
                       const std::vector<fault_cause>& causes);
/// The same of a query: "ListOptions", "CreateOptions", ...
kube::response invalid_options(std::string_view kind, const std::vector<fault_cause>& causes);
kube::response too_large_version(std::uint64_t wanted, std::uint64_t newest);
/// 410. `continue_token` for those who want to go on inconsistently.
kube::response expired(std::string message, std::string continue_token = {});

}  // namespace esi::simulation
