// Changes before the log of this process began: read by a watch of the API server from the version
// that a client has.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "interface/v1/events/event_log.h"
#include "interface/v1/events/options.h"
#include "kube/client.h"

namespace esi::interface::v1::events {

/// All changes of a feed from `from` (exclusive) on, until one, or a bookmark, shows that `until()`
/// is reached (it may rise meanwhile); perhaps some more. An orderly end of the watch before that
/// is followed by another watch. errc::gone: the API server has forgotten what happened after
/// `from`.
asio::awaitable<result<std::vector<change>>> replay(kube::client& api, clock& time,
                                                    const feed_table& feeds, std::size_t feed,
                                                    version from, std::function<version()> until,
                                                    replay_bounds bounds = {});

/// The API server's present version of the feed's kind: no change has a higher one.
asio::awaitable<result<version>> newest(kube::client& api, const feed_table& feeds,
                                        std::size_t feed);

}  // namespace esi::interface::v1::events
