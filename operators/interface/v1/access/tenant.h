// The tenant whose share of the interface a caller uses. The tenant is the namespace, as an account
// that may create service accounts there can make any number of callers. Other callers are tenants
// of their own, as the cluster assigns their names. Pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace esi::interface::v1 {

/// `system:serviceaccount:NS` of the service account `system:serviceaccount:NS:NAME`; else the name
/// of the caller itself.
inline std::string_view tenant_of(std::string_view caller) {
    constexpr std::string_view accounts = "system:serviceaccount:";
    if (!caller.starts_with(accounts)) return caller;
    const auto end = caller.find(':', accounts.size());
    return end == std::string_view::npos ? caller : caller.substr(0, end);
}

/// For people: the tenant as the subject of a sentence in the plural.
inline std::string tenant_words(std::string_view caller) {
    const auto tenant = tenant_of(caller);
    if (tenant.size() == caller.size()) return fmt::format("requests of \"{}\"", caller);
    return fmt::format("requests of the service accounts of the namespace \"{}\"",
                       tenant.substr(tenant.rfind(':') + 1));
}

}  // namespace esi::interface::v1
