#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"
#include "interface/v1/crd_schema.h"
#include "model/crd_files.h"

namespace esi::interface::v1 {

namespace {

ordered_json scalar(const YAML::Node& from) {
    const auto text = from.as<std::string>();
    // A quoted text stays a text ("True"); YAML gives those the tag "!".
    if (from.Tag() == "!") return text;
    if (bool value = false; YAML::convert<bool>::decode(from, value)) return value;
    if (std::int64_t value = 0; YAML::convert<std::int64_t>::decode(from, value)) return value;
    if (double value = 0; YAML::convert<double>::decode(from, value)) return value;
    return text;
}

ordered_json json_of(const YAML::Node& from) {
    if (from.IsMap()) {
        auto out = ordered_json::object();
        for (const auto& entry : from) out[entry.first.as<std::string>()] = json_of(entry.second);
        return out;
    }
    if (from.IsSequence()) {
        auto out = ordered_json::array();
        for (const auto& entry : from) out.push_back(json_of(entry));
        return out;
    }
    if (from.IsScalar()) return scalar(from);
    return nullptr;
}

}  // namespace

ordered_json crd_schema(std::string_view kind) {
    const auto name = lower(kind) + ".yaml";
    const auto all = model::crds::files();
    const auto found = std::ranges::find(all, name, &embedded_file::name);
    if (found == all.end()) throw std::runtime_error("there is no CRD of the kind " + name);
    const auto crd = YAML::Load(std::string(found->content));
    return json_of(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
}

ordered_json reference_to(std::string_view name) {
    return {{"$ref", "#/components/schemas/" + std::string(name)}};
}

}  // namespace esi::interface::v1
