// The wire format of events: server-sent events (text/event-stream), or JSON lines
// (application/x-ndjson). Pure.
//
//   id: t124.j109.s98                       {"id":"t124.j109.s98","type":"MODIFIED",
//   event: MODIFIED                          "kind":"Testbed","object":{...}}
//   data: {"type":"MODIFIED","kind":"Testbed","object":{...}}
//
// A change is ADDED, MODIFIED or DELETED, as in a watch of Kubernetes. snapshot, sync, reset and
// end are about the stream itself. HEARTBEAT keeps it alive and carries the newest id; of
// server-sent events it is a comment and an id without an event, which readers take silently.
#pragma once

#include <string>
#include <string_view>

#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::interface::v1::events {

enum class form { sse, ndjson };
std::string_view media_type(form of);

/// `"kind":"Testbed","object":{...}}`: the part of an object that is the same for all clients,
/// after the client's own part. For a job from a cache that has dropped its application's spec,
/// `"partial":["spec.sparkSpec"]` is between the two.
std::string object_text(const model::testbed& of);
std::string object_text(const model::batchjob& of);
std::string object_text(const model::scheduling& of);

/// The text before and after object_text(). Without an `id` none is sent.
std::string object_begin(form how, std::string_view id, std::string_view type);
std::string_view object_end(form how);

/// The first words: how soon a client that was cut off reconnects.
std::string greeting(form how);
/// An object of the present state.
inline constexpr std::string_view snapshot_word = "snapshot";
/// All present objects were sent; changes follow.
std::string sync(form how, std::string_view id);
std::string heartbeat(form how, std::string_view id);
/// All that was sent before is invalid: a snapshot follows. The last id is forgotten with it.
std::string reset(form how, std::string_view reason, std::string_view detail);
/// The last words.
std::string end(form how, std::string_view reason, std::string_view detail);

}  // namespace esi::interface::v1::events
