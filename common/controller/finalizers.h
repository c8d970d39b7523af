// All finalizers of an object, as a write of the list replaces the whole of it.
#pragma once

#include <string>
#include <vector>

#include "kube/client.h"
#include "model/meta.h"

namespace esi::controller {

/// Those of `meta`; of an object that has more than ESI reads of one those that
/// a live read shows. errc::conflict where the object has another version by then.
asio::awaitable<result<std::vector<std::string>>> all_finalizers(kube::client& api,
                                                                 const kube::resource_type& type,
                                                                 const model::object_meta& meta);

}  // namespace esi::controller
