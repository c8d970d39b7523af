#include "kube/watch/live_list.h"

#include "model/parse.h"

namespace esi::kube {

std::string continue_of(std::string_view list) {
    simdjson::dom::parser parser;
    const auto root = model::parse(parser, list);
    std::string_view out;
    if (!root || (*root)["metadata"]["continue"].get(out) != simdjson::SUCCESS) return {};
    return std::string(out);
}

}  // namespace esi::kube
