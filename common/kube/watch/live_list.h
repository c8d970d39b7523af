// The present objects, read past every cache.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client.h"
#include "model/json.h"

namespace esi::kube {

/// A quorum read of a whole collection; `type` outlives it. Errors: those of the client, and
/// errc::decode for an answer that is not understood to its end.
template <class T>
asio::awaitable<result<std::vector<T>>> live_list(client& api, const resource_type& type,
                                                  std::string ns,
                                                  list_options options = list_options()) {
    auto text = co_await api.list(type, std::move(ns), std::move(options));
    if (!text) co_return std::unexpected(std::move(text).error());
    co_return model::decode_list<T>(*text, type.kind);
}

/// The continue token of a list with a limit; empty: it is at its end, or cannot be read.
std::string continue_of(std::string_view list);

/// Bounds of a page of paged_list(), in objects and in bytes.
inline constexpr int most_of_page = 500;
inline constexpr std::size_t most_bytes_of_page = 16u << 20;

/// The same page by page, for objects of which little is needed: `trim` drops the rest of each
/// before the next page is read. A page that is too large is requested again in smaller ones.
template <class T, class Trim>
asio::awaitable<result<std::vector<T>>> paged_list(client& api, const resource_type& type,
                                                   std::string ns, list_options options,
                                                   Trim trim) {
    options.limit = most_of_page;
    options.answer_limit = most_bytes_of_page;
    std::vector<T> out;
    for (;;) {
        const auto text = co_await api.list(type, ns, options);
        if (!text && text.error().code == errc::answer_too_large && options.limit > 1) {
            options.limit = std::max(1, options.limit / 8);
            continue;
        }
        if (!text) co_return std::unexpected(text.error());
        auto page = model::decode_list<T>(*text, type.kind);
        if (!page) co_return std::unexpected(std::move(page).error());
        for (auto& each : *page) {
            trim(each);
            out.push_back(std::move(each));
        }
        options.continue_token = continue_of(*text);
        if (options.continue_token.empty()) co_return out;
    }
}

}  // namespace esi::kube
