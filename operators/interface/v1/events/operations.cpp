#include "interface/v1/events/operations.h"

#include <utility>

#include "interface/v1/events/stream.h"

namespace esi::interface::v1::events {

namespace {

operation stream_of(hub* by, std::string id, std::string path, std::string summary) {
    operation out;
    out.id = std::move(id);
    out.tag = "events";
    out.method = "GET";
    out.path = std::move(path);
    out.summary = std::move(summary);
    out.description =
        "A stream without an end: server-sent events, or JSON lines if Accept names "
        "application/x-ndjson. First come all objects as they are (type snapshot), kind by kind, "
        "then sync, then each change as ADDED, MODIFIED or DELETED with the whole object. Order is "
        "promised within a kind. Every id is opaque and covers all events up to it: a stream of "
        "the same kinds and namespaces that sends the last id in Last-Event-ID goes on after it, "
        "on any replica, with each change once, and sends sync when it reaches the present. If "
        "that cannot be done (the id is too old, the server had to list again, the client reads "
        "too slowly), reset voids all earlier events, and a snapshot follows. Objects are as the "
        "caches have them: `partial` names the members that they lack (the application's spec of a "
        "BatchJob, up to 1 MiB each, which GET of the job shows). After each 15 s without another "
        "event a heartbeat is sent, with the newest id. Rights are checked again each minute. The "
        "last event is end, with a reason; a connection that ends without it was cut.";
    for (const auto each : all_kinds) {
        for (const auto* verb : {"list", "watch"}) {
            out.asks.push_back({verb, std::string(type_of(each).plural)});
        }
    }
    out.query = {
        {"kinds",
         "Which kinds, with commas between them; if absent, all that the caller may list and "
         "watch.",
         R"({"type":"string","pattern":"^(testbeds|jobs|schedulings)(,(testbeds|jobs|schedulings))*$"})"},
        {"labelSelector",
         "As in lists. An object that a change takes out of the selection is sent as DELETED. A "
         "resumed stream may not know what was in the selection: it then sends DELETED also for an "
         "object that was not.",
         R"({"type":"string"})"},
        {"lastEventId", "The same as the header Last-Event-ID, which has precedence.",
         R"({"type":"string"})"}};
    out.headers = {{"Last-Event-ID", "The id of the last event that the client has received.",
                    R"({"type":"string"})"}};
    out.answers = {
        {200, "The stream.", {{"Event", "text/event-stream"}, {"Event", "application/x-ndjson"}}}};
    if (by != nullptr) {
        out.handler = [by](http::server_request from) { return open_stream(*by, std::move(from)); };
    }
    return out;
}

}  // namespace

std::vector<operation> operations(hub* by) {
    auto all = stream_of(by, "watchAllEvents", "/api/v1/events",
                         "Streams all changes of all namespaces, or of one.");
    all.query.push_back(
        {"namespace", "Only objects of this namespace.", R"({"type":"string","minLength":1})"});
    std::vector<operation> out;
    out.push_back(std::move(all));
    out.push_back(stream_of(by, "watchEvents", "/api/v1/namespaces/{namespace}/events",
                            "Streams all changes of a namespace."));
    return out;
}

}  // namespace esi::interface::v1::events
