// How the interface identifies callers, and how much each caller may ask. Plain values.
#pragma once

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "interface/v1/access/token_bucket.h"

namespace esi::interface::v1 {

struct access_options {
    /// False: every caller is system:anonymous, and no right is checked (--api-auth=none).
    bool by_token = true;
    /// Tokens are accepted also where others on the network can read them (--api-plain-tokens).
    bool plain_tokens = false;
    /// The server has a certificate, so that others cannot read them.
    bool encrypted = false;
    /// Tokens are accepted that were made for this audience.
    std::string audience = "esi";
    /// How long an answer of the API server is believed: a yes, and a no at most `no_ttl`.
    seconds yes_ttl{60};
    seconds no_ttl{5};
    std::size_t most_tokens = 4096;
    std::size_t most_rights = 16384;
    /// Reviews that no cache answers: a client that sends invented tokens causes no more requests
    /// to the API server than this, per address and in all.
    rate reviews_of_a_peer{20, 100};
    rate reviews_of_a_caller{100, 400};
    /// Shared by tenants (fair_share.h); for unknown tokens the address is the tenant.
    rate reviews{200, 500};
    std::size_t most_reviews_under_way = 256;
    seconds review_time{10};

    seconds ttl_of(bool yes) const { return yes ? yes_ttl : std::min(yes_ttl, no_ttl); }
};

struct quota_options {
    rate requests{200, 400};
    int streams = 128;
    int waits = 256;
    /// For all callers together, shared by tenants (shared_places.h): no more streams than the
    /// server has (http::connection_limits), and waits in half of its connections, so that the
    /// other half stays for new requests. With TLS it has 384.
    int all_streams = 2000;
    int all_waits = 512;
    int all_waits_with_tls = 192;
    /// This many callers that use their whole limit are answered; of more, each tenant has its
    /// share.
    int busy_callers = 10;

    rate all_requests() const {
        return {requests.per_second * busy_callers, requests.burst * busy_callers};
    }
};

}  // namespace esi::interface::v1
