#include "kube/resource.h"

#include "kube/percent.h"

namespace esi::kube {

std::string resource_type::api_version() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string resource_type::path(std::string_view ns, std::string_view name,
                                std::string_view subresource) const {
    std::string out = group.empty() ? "/api/" : "/apis/";
    out += api_version();
    if (namespaced && !ns.empty()) out += "/namespaces/" + percent_encode(ns);
    out += "/";
    out += plural;
    if (name.empty()) return out;
    out += "/" + percent_encode(name);
    if (!subresource.empty()) out += "/" + percent_encode(subresource);
    return out;
}

}  // namespace esi::kube
