#include "controller/finalizers.h"

#include <nlohmann/json.hpp>

namespace esi::controller {

asio::awaitable<result<std::vector<std::string>>> all_finalizers(kube::client& api,
                                                                 const kube::resource_type& type,
                                                                 const model::object_meta& meta) {
    if (meta.undecodable.empty()) co_return meta.finalizers;
    const auto text = co_await api.get(type, meta.namespace_, meta.name);
    if (!text) co_return std::unexpected(text.error());
    const auto body = nlohmann::json::parse(*text, nullptr, false);
    const auto* now = body.is_object() && body.contains("metadata") ? &body["metadata"] : nullptr;
    if (now == nullptr || now->value("resourceVersion", "") != meta.resource_version) {
        co_return fail(errc::conflict, "finalizers of " + meta.key().text() +
                                           ": the object has been changed since it was read");
    }
    std::vector<std::string> out;
    for (const auto& each : now->value("finalizers", nlohmann::json::array())) {
        if (each.is_string()) out.push_back(each.get<std::string>());
    }
    co_return out;
}

}  // namespace esi::controller
