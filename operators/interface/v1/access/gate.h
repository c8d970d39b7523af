// What each operation of /api/v1 is asked before its body is read: no page of another origin, who
// sends it, not too often, and whether the cluster's RBAC allows it. Owned by the operator.
#pragma once

#include <memory>
#include <vector>

#include "http/access.h"
#include "http/router.h"
#include "interface/v1/access/access.h"
#include "interface/v1/access/quota.h"

namespace esi::interface::v1 {

/// Whom the browser may have sent: nobody whose token is asked for can be one, so the Host counts
/// only where everybody may everything.
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

    /// The same asked again, for an answer that was waited for: the token may have ended since, and
    /// the rights may have been taken away. It counts as no further request of the caller.
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
