// How the interface finds out who asks, and how much each caller may ask. Plain values.
#pragma once

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "interface/v1/access/token_bucket.h"

namespace esi::interface::v1 {

struct access_options {
    /// False: every caller is system:anonymous, and nobody's right is asked (--api-auth=none).
    bool by_token = true;
    /// Tokens are taken, too, where others on the network can read them (--api-plain-tokens).
    bool plain_tokens = false;
    /// The server has a certificate, so that nobody can.
    bool encrypted = false;
    /// Tokens are believed that were made for it.
    std::string audience = "esi";
    /// How long an answer of the API server is believed: a yes, and a no at most `no_ttl`.
    seconds yes_ttl{60};
    seconds no_ttl{5};
    std::size_t most_tokens = 4096;
    std::size_t most_rights = 16384;
    /// Reviews that no cache answers: who sends tokens of his own making asks no more of the API
    /// server than this, of one address and in all.
    rate reviews_of_a_peer{20, 100};
    rate reviews_of_a_caller{100, 400};
    /// Shared by tenants (fair_share.h); an address is one for tokens that are not known.
    rate reviews{200, 500};
    std::size_t most_reviews_under_way = 256;
    seconds review_time{10};

    seconds ttl_of(bool yes) const { return yes ? yes_ttl : std::min(yes_ttl, no_ttl); }
};

struct quota_options {
    rate requests{200, 400};
    int streams = 128;
    int waits = 256;
    /// Of all callers together, shared by tenants (shared_places.h): no more streams than the
    /// server has (http::connection_limits), and waits in half of its connections, so that the
    /// other half is there for whoever comes. With TLS it has 384.
    int all_streams = 2000;
    int all_waits = 512;
    int all_waits_with_tls = 192;
    /// So many callers that send all they may are answered; of more each tenant has its share.
    int busy_callers = 10;

    rate all_requests() const {
        return {requests.per_second * busy_callers, requests.burst * busy_callers};
    }
};

}  // namespace esi::interface::v1
