// All finalizers of an object, as a write replaces the whole list.
#pragma once

#include <string>
#include <vector>

#include "kube/client.h"
#include "model/meta.h"

namespace esi::controller {

/// The finalizers of `meta`; if the object has more than ESI keeps of one, those that a live read
/// shows. errc::conflict if the object has another version by then.
asio::awaitable<result<std::vector<std::string>>> all_finalizers(kube::client& api,
                                                                 const kube::resource_type& type,
                                                                 const model::object_meta& meta);

}  // namespace esi::controller
