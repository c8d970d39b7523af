// Asks the API server who owns a token and what they may do, and caches its answers for a short
// time. Owned by the operator; used on its loop. A token is stored nowhere: caches use its SHA-256.
#pragma once

#include <memory>
#include <string>

#include "controller/metrics.h"
#include "interface/v1/access/access.h"
#include "interface/v1/access/bounded_cache.h"
#include "interface/v1/access/fair_share.h"
#include "interface/v1/access/options.h"
#include "interface/v1/access/review_trouble.h"
#include "interface/v1/access/reviews.h"
#include "interface/v1/access/single_flight.h"
#include "interface/v1/access/token_bucket.h"
#include "kube/client.h"

namespace esi::interface::v1 {

class reviewed_access final : public access {
public:
    reviewed_access(access_sources from, access_options options);

    asio::awaitable<std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request& head) override;
    asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity& who,
                                                                  const permission& what,
                                                                  std::string ns,
                                                                  std::string name) override;
    std::string trouble() const override { return trouble_.text(); }

private:
    using problem = http::problem_details;
    /// Null: the token is not valid.
    using person = std::shared_ptr<const http::identity>;
    using token_outcome = std::expected<person, problem>;
    using right_outcome = std::expected<bool, problem>;

    asio::awaitable<token_outcome> person_of(std::string token, std::string peer);
    /// The tenant whose share of the reviews is used.
    struct share {
        std::string tenant;
        acquaintance who = acquaintance::known;
    };
    asio::awaitable<token_outcome> review_token(std::string token, std::string key, share whose);
    asio::awaitable<right_outcome> review_right(nlohmann::json review, std::string key,
                                                share whose);
    asio::awaitable<result<std::string>> ask(const kube::resource_type& type,
                                             nlohmann::json review);
    std::optional<problem> too_many(bucket_table& own, std::string_view key, const share& whose);
    void count_review(const kube::resource_type& type, std::string_view outcome);
    void show_sizes();

    access_sources from_;
    access_options options_;
    /// A cache of its own, so that invented tokens displace no valid ones.
    bounded_cache<person> persons_;
    bounded_cache<bool> strangers_;
    /// Tokens with a recent positive review, and their tenants.
    bounded_cache<std::string> known_before_;
    bounded_cache<bool> allowed_;
    bounded_cache<bool> forbidden_;
    single_flight<token_outcome> token_flights_;
    single_flight<right_outcome> right_flights_;
    bucket_table of_peers_;
    bucket_table of_callers_;
    fair_bucket of_all_;
    fair_count under_way_;
    review_trouble trouble_;
};

}  // namespace esi::interface::v1
