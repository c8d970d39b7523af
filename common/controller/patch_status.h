// The one way in which an operator writes the status of an object of its own kind.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/log.h"
#include "controller/status_room.h"
#include "controller/write_gate.h"
#include "kube/client.h"
#include "kube/patch.h"
#include "model/json.h"

namespace esi::controller {

/// What all writes of the statuses of one kind share; all outlive them.
template <class T>
struct status_writer {
    kube::client& api;
    const kube::resource_type& type;
    write_gate& gate;
    fit_function<decltype(T::status)> fit;
};

/// Sends the difference between the status of `shown` and `wanted`, made to fit into `room` bytes,
/// as a merge patch of the subresource, guarded by the uid and the resourceVersion of `shown`. If
/// the API server refuses it (422, 413, or more than its store takes), the smallest form is sent
/// instead. The gate then holds the object back until the caches show the write. Returns the object
/// as the API server left it, or nothing if nothing was written: the two do not differ, or `shown`
/// has the smallest form already. `Answer` is T or model::metadata_only, for a caller that has no
/// use for the rest of a large object. Errors: those of the client (errc::conflict if the object
/// has changed since `shown`).
template <class T, class Answer = T>
asio::awaitable<result<std::optional<Answer>>> patch_status(status_writer<T> by,
                                                            std::shared_ptr<const T> shown,
                                                            decltype(T::status) wanted,
                                                            std::size_t room) {
    constexpr auto part = std::is_same_v<Answer, model::metadata_only> ? kube::shown_part::metadata
                                                                       : kube::shown_part::whole;
    const auto& meta = shown->metadata;
    const auto key = meta.key();
    const auto before = model::encode(shown->status);
    for (std::size_t bytes = room;; bytes = 0) {
        auto difference = kube::merge_difference(before, model::encode(by.fit(wanted, bytes)));
        if (difference.empty()) co_return std::nullopt;
        auto body =
            kube::guarded({{"status", std::move(difference)}}, meta.uid, meta.resource_version);
        auto answer =
            co_await by.api.patch(by.type, meta.namespace_, meta.name, kube::patch_kind::merge,
                                  std::move(body), "status", part);
        if (!answer && answer.error().code == errc::invalid && bytes > 0) {
            log::warn("status refused, written shorter",
                      {{"object", fmt::format("{} {}", by.type.kind, key.text())},
                       {"note", answer.error().text}});
            continue;
        }
        if (!answer) co_return std::unexpected(std::move(answer).error());
        auto written = model::decode<Answer>(*answer, by.type.kind);
        if (!written) co_return std::unexpected(std::move(written).error());
        by.gate.wrote(key, by.type.kind, written->metadata);
        co_return std::optional<Answer>(std::move(*written));
    }
}

}  // namespace esi::controller
