// The one way in which an operator writes the status of an object of its own kind.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "controller/write_gate.h"
#include "kube/client.h"
#include "kube/patch.h"
#include "model/json.h"

namespace esi::controller {

/// Sends the difference between the status of `shown` and `wanted` as a merge patch of the
/// subresource, guarded by the uid and the resourceVersion of `shown`. `gate` then holds the object
/// back until the caches show the write. Returns the object as the API server left it, or nothing
/// where the two do not differ and no request was sent. `Answer` is T or model::metadata_only, for
/// a caller that has no use for the rest of a large object. `api`, `type` and `gate` outlive the
/// call. Errors: those of the client (errc::conflict where the object has changed since `shown`).
template <class T, class Answer = T>
asio::awaitable<result<std::optional<Answer>>> patch_status(kube::client& api,
                                                            const kube::resource_type& type,
                                                            write_gate& gate,
                                                            std::shared_ptr<const T> shown,
                                                            decltype(T::status) wanted) {
    constexpr auto part = std::is_same_v<Answer, model::metadata_only> ? kube::shown_part::metadata
                                                                       : kube::shown_part::whole;
    auto difference = kube::merge_difference(model::encode(shown->status), model::encode(wanted));
    if (difference.empty()) co_return std::nullopt;
    const auto& meta = shown->metadata;
    auto body = kube::guarded({{"status", std::move(difference)}}, meta.uid, meta.resource_version);
    auto answer = co_await api.patch(type, meta.namespace_, meta.name, kube::patch_kind::merge,
                                     std::move(body), "status", part);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    auto written = model::decode<Answer>(*answer, type.kind);
    if (!written) co_return std::unexpected(std::move(written).error());
    gate.wrote(meta.key(), type.kind, written->metadata);
    co_return std::optional<Answer>(std::move(*written));
}

}  // namespace esi::controller
