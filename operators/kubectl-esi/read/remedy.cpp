#include "kubectl-esi/read/remedy.h"

#include "kubectl-esi/shown/words.h"

namespace esi::kubectl {

namespace {

std::string remedy_for(const error& what, const kube::cluster_access* access) {
    switch (what.code) {
        case errc::transport:
        case errc::timeout:
            return access == nullptr
                       ? "is the API server up? kubectl cluster-info"
                       : "is " + access->cluster.server +
                             " up, and is it the right context? kubectl config current-context; "
                             "a slow server needs a longer --request-timeout";
        case errc::unauthorized:
            return "the API server does not accept your credentials: log in again; kubectl auth "
                   "whoami";
        case errc::forbidden:
            return "what you may do: kubectl auth can-i --list; the ClusterRoles esi-view and "
                   "esi-edit have these rights";
        case errc::conflict:
            return "another writer was first: run the command again";
        case errc::too_many_requests:
        case errc::server:
            return "the API server is busy or failing: run the command again later";
        default:
            return {};
    }
}

}  // namespace

std::string error_text(const error& what, const kube::cluster_access* access) {
    auto out = "error: " + shown::printable(what.text) + "\n";
    // A 404 of the whole kind.
    if (what.code == errc::not_found &&
        what.text.contains("could not find the requested resource")) {
        return out +
               "the CustomResourceDefinitions of ESI are not installed here: kubectl esi doctor\n";
    }
    const auto remedy = remedy_for(what, access);
    return remedy.empty() ? out : out + remedy + "\n";
}

}  // namespace esi::kubectl
