#include "interface/v1/access/reviewed_access.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "interface/v1/access/credential.h"
#include "interface/v1/access/digest.h"
#include "interface/v1/access/refusals.h"
#include "interface/v1/access/tenant.h"

namespace esi::interface::v1 {

using http::problem_details;
using nlohmann::json;

namespace {

/// How long after a positive review a token is reviewed again without regard to its address.
constexpr std::chrono::hours known_for{1};

const std::vector<double> review_buckets{0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10};

/// `text` without the secret, wherever it comes from.
std::string without(std::string text, std::string_view secret) {
    constexpr std::string_view instead = "(token)";
    for (auto at = text.find(secret); at != std::string::npos;) {
        text.replace(at, secret.size(), instead);
        at = text.find(secret, at + instead.size());
    }
    return text;
}

/// All of 127/8 and ::1: a service mesh forwards decrypted requests from there.
bool stays_on_machine(const std::string& peer) {
    boost::system::error_code failure;
    auto address = asio::ip::make_address(peer, failure);
    if (failure) return false;
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    return address.is_loopback();
}

/// Why a review of `token` failed, for the log. The API server's text is left out: it, or a proxy
/// before it, may repeat the request, also in part.
error told_of(error why, std::string_view token) {
    const bool answered = why.code != errc::transport && why.code != errc::timeout;
    if (answered) {
        why.text = to_string(why.code);
        if (!why.reason.empty()) why.text += ": " + why.reason;
    }
    why.text = without(std::move(why.text), token);
    return why;
}

/// A repeated review does no harm: the connection may be one that the API server had closed.
asio::awaitable<void> ask_twice(kube::client& api, const kube::resource_type& type,
                                const json& review, result<std::string>& into) {
    into = co_await api.create(type, "", review);
    if (into || into.error().code != errc::transport) co_return;
    into = co_await api.create(type, "", review);
}

}  // namespace

reviewed_access::reviewed_access(access_sources from, access_options options)
    : from_(from),
      options_(std::move(options)),
      persons_(options_.most_tokens, 8u << 20),
      strangers_(options_.most_tokens),
      known_before_(options_.most_tokens),
      allowed_(options_.most_rights),
      forbidden_(options_.most_rights),
      token_flights_(from.executor),
      right_flights_(from.executor),
      of_peers_(options_.reviews_of_a_peer),
      of_callers_(options_.reviews_of_a_caller),
      of_all_(options_.reviews),
      under_way_(options_.most_reviews_under_way) {}

void reviewed_access::count_review(const kube::resource_type& type, std::string_view outcome) {
    from_.numbers
        .counter("esi_api_reviews_total",
                 "Reviews that /api/v1 asked of the API server, and what came: yes, no or failed",
                 {{"review", std::string(type.kind)}, {"outcome", std::string(outcome)}})
        .Increment();
}

void reviewed_access::show_sizes() {
    const std::pair<const char*, std::size_t> sizes[] = {{"tokens", persons_.size()},
                                                         {"unknown_tokens", strangers_.size()},
                                                         {"allowed", allowed_.size()},
                                                         {"forbidden", forbidden_.size()}};
    for (const auto& [cache, size] : sizes) {
        from_.numbers
            .gauge("esi_api_review_cache_entries", "Answers to reviews that are kept for a while",
                   {{"cache", cache}})
            .Set(static_cast<double>(size));
    }
}

std::optional<problem_details> reviewed_access::too_many(bucket_table& own, std::string_view key,
                                                         const share& whose) {
    const auto now = from_.time.now();
    auto wait = own.take(key, now);
    if (!wait) wait = of_all_.take(whose.tenant, now, whose.who);
    if (!wait && !under_way_.has_room(whose.tenant, whose.who)) wait = seconds(1);
    if (!wait) return std::nullopt;
    from_.numbers
        .counter("esi_api_throttled_total", "Requests of /api/v1 that were answered with 429",
                 {{"what", "reviews"}})
        .Increment();
    return throttled("too many requests with tokens and rights that are not known yet", *wait);
}

asio::awaitable<result<std::string>> reviewed_access::ask(const kube::resource_type& type,
                                                          json review) {
    result<std::string> out = fail(errc::timeout, "the API server did not answer in time");
    const auto begun = from_.time.now();
    co_await ends_by(from_.time, begun + options_.review_time,
                     ask_twice(from_.api, type, review, out));
    from_.numbers
        .histogram("esi_api_review_duration_seconds", "Time until a review was answered",
                   review_buckets, {{"review", std::string(type.kind)}})
        .Observe(std::chrono::duration<double>(from_.time.now() - begun).count());
    co_return out;
}

asio::awaitable<reviewed_access::token_outcome> reviewed_access::review_token(std::string token,
                                                                              std::string key,
                                                                              share whose) {
    const fair_count::one counted(under_way_, whose.tenant, whose.who);
    auto answer = co_await ask(token_review_type, token_review(token, options_.audience));
    auto verdict = answer ? read_token_review(*answer, options_.audience)
                          : result<token_verdict>(std::unexpected(std::move(answer).error()));
    const auto now = from_.time.now();
    if (!verdict) {
        const auto why = told_of(std::move(verdict).error(), token);
        count_review(token_review_type, "failed");
        co_return std::unexpected(trouble_.failed(token_review_type, why, now));
    }
    trouble_.answered();
    const auto& who = verdict->who;
    if (who != nullptr && is_plain_name(who->name)) {
        count_review(token_review_type, "yes");
        std::string tenant(tenant_of(who->name));
        const auto bytes = sizeof(tenant) + tenant.size();
        known_before_.put(key, std::move(tenant), now + known_for, bytes);
        persons_.put(std::move(key), who, now + options_.ttl_of(true), size_of(*who));
        show_sizes();
        co_return who;
    }
    log::debug("token refused", {{"error", without(verdict->why, token)}});
    count_review(token_review_type, "no");
    strangers_.put(std::move(key), true, now + options_.ttl_of(false));
    show_sizes();
    co_return nullptr;
}

asio::awaitable<reviewed_access::token_outcome> reviewed_access::person_of(std::string token,
                                                                           std::string peer) {
    auto key = sha256(token);
    const auto now = from_.time.now();
    // Looked up each time, so that this cache, too, drops first the entry that was not used for the
    // longest time.
    const auto* before = known_before_.find(key, now);
    if (const auto* known = persons_.find(key, now)) co_return *known;
    if (strangers_.find(key, now) != nullptr) co_return nullptr;
    // Strangers at the same address (behind one proxy, say) do not lock out known callers, who have
    // a part of all reviews for themselves. For other callers only the address is known.
    const bool known = before != nullptr;
    const share whose = known ? share{*before} : share{"peer " + peer, acquaintance::stranger};
    co_return co_await token_flights_.ask(
        key,
        [this, &peer, &key, &whose, known]() -> std::optional<token_outcome> {
            auto why = known ? too_many(of_callers_, key, whose) : too_many(of_peers_, peer, whose);
            if (why) return std::unexpected(std::move(*why));
            return std::nullopt;
        },
        [this, &token, &key, &whose] { return review_token(token, key, whose); });
}

asio::awaitable<std::expected<std::shared_ptr<const http::identity>, problem_details>>
reviewed_access::authenticate(const http::server_request& head) {
    const auto token = bearer_token(head);
    if (!token) co_return std::unexpected(unauthenticated(token.error(), true));
    if (token->empty()) {
        const auto shown = head.peer ? head.peer->certificate : std::nullopt;
        if (!shown) {
            co_return std::unexpected(unauthenticated(
                fmt::format("a bearer token for the audience {0} is needed: kubectl create token "
                            "ACCOUNT --audience={0}",
                            options_.audience),
                false));
        }
        auto who = identity_of(*shown, from_.time.wall());
        if (!who) co_return std::unexpected(unauthenticated(who.error(), false));
        co_return std::move(*who);
    }
    const bool any_way = options_.plain_tokens || options_.encrypted;
    if (!any_way && head.peer && !stays_on_machine(head.peer->address)) {
        co_return std::unexpected(readable_token());
    }
    auto who = co_await person_of(std::string(*token), head.peer ? head.peer->address : "");
    if (!who) co_return std::unexpected(std::move(who).error());
    if (*who != nullptr) co_return std::move(*who);
    co_return std::unexpected(unauthenticated(
        fmt::format("the API server does not accept this token for the audience {0}: it has "
                    "expired, its account is gone, or it was made for another audience; kubectl "
                    "create token ACCOUNT --audience={0} makes one",
                    options_.audience),
        true));
}

asio::awaitable<reviewed_access::right_outcome> reviewed_access::review_right(json review,
                                                                              std::string key,
                                                                              share whose) {
    const fair_count::one counted(under_way_, whose.tenant, whose.who);
    auto answer = co_await ask(access_review_type, std::move(review));
    auto may = answer ? read_access_review(*answer)
                      : result<bool>(std::unexpected(std::move(answer).error()));
    const auto now = from_.time.now();
    if (!may) {
        count_review(access_review_type, "failed");
        co_return std::unexpected(trouble_.failed(access_review_type, may.error(), now));
    }
    trouble_.answered();
    count_review(access_review_type, *may ? "yes" : "no");
    auto& cache = *may ? allowed_ : forbidden_;
    cache.put(std::move(key), true, now + options_.ttl_of(*may));
    show_sizes();
    co_return *may;
}

asio::awaitable<std::optional<problem_details>> reviewed_access::refusal(const http::identity& who,
                                                                         const permission& what,
                                                                         std::string ns,
                                                                         std::string name) {
    const auto question = question_of(what, std::move(ns), std::move(name));
    auto review = access_review(who, question);
    const auto key = sha256(review.dump(-1, ' ', false, json::error_handler_t::replace));
    const auto now = from_.time.now();
    if (allowed_.find(key, now) != nullptr) co_return std::nullopt;
    if (forbidden_.find(key, now) != nullptr) co_return forbidden(who, question);
    const share whose{std::string(tenant_of(who.name))};
    auto may = co_await right_flights_.ask(
        key,
        [this, &who, &whose]() -> std::optional<right_outcome> {
            auto why = too_many(of_callers_, who.name, whose);
            if (why) return std::unexpected(std::move(*why));
            return std::nullopt;
        },
        [this, &review, &key, &whose] { return review_right(review, key, whose); });
    if (!may) co_return std::move(may).error();
    if (*may) co_return std::nullopt;
    co_return forbidden(who, question);
}

}  // namespace esi::interface::v1
