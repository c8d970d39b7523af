// What is there now, past every cache.
#pragma once

#include <string>
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

}  // namespace esi::kube
