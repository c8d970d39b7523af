#include "interface/v1/events/frames.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "interface/v1/events/ids.h"
#include "interface/v1/wire/print.h"
#include "model/application_kinds.h"

namespace esi::interface::v1::events {

namespace {

using nlohmann::ordered_json;

template <class T>
std::string whole(kind of, std::string_view partial, const T& object) {
    auto out = fmt::format(R"("kind":"{}",{}"object":)", type_of(of).kind, partial);
    print_object(out, object);
    out += '}';
    return out;
}

/// A message about the stream.
std::string about_stream(form how, std::string_view id_line, std::string_view type,
                         ordered_json members) {
    ordered_json data;
    if (how == form::ndjson && members.contains("id")) data["id"] = members["id"];
    data["type"] = type;
    for (auto& [name, value] : members.items()) {
        if (name != "id") data[name] = std::move(value);
    }
    const auto text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    if (how == form::ndjson) return text + "\n";
    return fmt::format("{}event: {}\ndata: {}\n\n", id_line, type, text);
}

}  // namespace

std::string_view media_type(form of) {
    return of == form::sse ? "text/event-stream" : "application/x-ndjson";
}

std::string object_text(const model::testbed& of) { return whole(kind::testbed, "", of); }
std::string object_text(const model::scheduling& of) { return whole(kind::scheduling, "", of); }
std::string object_text(const model::batchjob& of) {
    std::string dropped;
    for (const auto& kind : model::application_kinds) {
        const auto& spec = of.spec.*kind.spec;
        if (!kind.large || !spec || !spec->text.empty()) continue;
        dropped += fmt::format(R"({}"spec.{}")", dropped.empty() ? "" : ",", kind.spec_field);
    }
    if (!dropped.empty()) dropped = fmt::format(R"("partial":[{}],)", dropped);
    return whole(kind::batchjob, dropped, of);
}

std::string object_begin(form how, std::string_view id, std::string_view type) {
    if (how == form::sse) {
        const auto first = id.empty() ? std::string() : fmt::format("id: {}\n", id);
        return fmt::format("{}event: {}\ndata: {{\"type\":\"{}\",", first, type, type);
    }
    if (id.empty()) return fmt::format(R"({{"type":"{}",)", type);
    return fmt::format(R"({{"id":"{}","type":"{}",)", id, type);
}

std::string_view object_end(form how) { return how == form::sse ? "\n\n" : "\n"; }

std::string greeting(form how) { return how == form::sse ? "retry: 2000\n\n" : ""; }

std::string sync(form how, std::string_view id) {
    return about_stream(how, fmt::format("id: {}\n", id), "sync", {{"id", id}});
}

std::string heartbeat(form how, std::string_view id) {
    if (how == form::sse) return fmt::format(": heartbeat\nid: {}\n\n", id);
    return about_stream(how, "", "HEARTBEAT", {{"id", id}});
}

std::string reset(form how, std::string_view reason, std::string_view detail) {
    return about_stream(how, "id:\n", "reset",
                        {{"id", ""}, {"reason", reason}, {"detail", detail}});
}

std::string end(form how, std::string_view reason, std::string_view detail) {
    return about_stream(how, "", "end", {{"reason", reason}, {"detail", detail}});
}

}  // namespace esi::interface::v1::events
