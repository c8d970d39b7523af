// The checks of each operation of /api/v1 before its body is read: no page of another origin, the
// caller's identity, rate limits, and the cluster's RBAC. Owned by the operator.
#pragma once

#include <memory>
#include <vector>

#include "http/access.h"
#include "http/router.h"
#include "interface/v1/access/access.h"
#include "interface/v1/access/quota.h"

namespace esi::interface::v1 {

/// Protects from requests that a foreign page makes. A page cannot know a token, so the Host is
/// checked only with --api-auth=none.
struct page_rules {
    bool checks_host = false;
    /// More Hosts, as http::local_access has them.
    std::vector<std::string> hosts;

    /// Why the request is refused (403); nothing: it is not.
    std::optional<http::problem_details> refusal(const http::server_request& head) const;
};

class gate {
public:
    gate(access& who_may, quota& limits, page_rules pages);

    /// The admission of a route: authenticates, sets `caller`, and asks for all of `needs`, in the
    /// namespace and for the name of the path ({namespace}, {name}). Without {namespace} in the
    /// path, in each namespace that the query names; without that, in all.
    http::admission admission_of(std::vector<permission> needs) const;

    /// Checks again, for an answer after a wait: the token may have expired since, and the rights
    /// may have been taken away. It does not count as a further request of the caller.
    asio::awaitable<std::optional<http::problem_details>> refusal_after_wait(
        const http::server_request& head, const std::vector<permission>& needs) const;

private:
    using needs_pointer = std::shared_ptr<const std::vector<permission>>;
    asio::awaitable<std::optional<http::server_reply>> admit(http::server_request& head,
                                                             needs_pointer needs) const;
    asio::awaitable<std::optional<http::problem_details>> refusal(http::server_request& head,
                                                                  needs_pointer needs) const;
    asio::awaitable<std::optional<http::problem_details>> missing_right(
        const http::identity& who, const http::server_request& head,
        const std::vector<permission>& needs) const;

    access& who_may_;
    quota& limits_;
    page_rules pages_;
};

}  // namespace esi::interface::v1
