// Requests of what runs beside the API server (neighbours, people, tests): typed by verb and
// answered at once, by the same code as those of the operators. Errors carry the code and the
// server's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/client.h"
#include "server/api_server.h"

namespace esi::simulation {

class desk {
public:
    desk(api_server& server, std::string who) : server_(server), who_(std::move(who)) {}

    const std::string& who() const { return who_; }
    api_server& server() { return server_; }

    result<json> get(const kube::resource_type& type, std::string_view ns, std::string_view name);
    result<json> create(const kube::resource_type& type, std::string_view ns, json body);
    /// The body carries the guards.
    result<json> patch(const kube::resource_type& type, std::string_view ns, std::string_view name,
                       kube::patch_kind kind, json body, std::string_view subresource = {});
    result<json> update(const kube::resource_type& type, std::string_view ns, std::string_view name,
                        json body, std::string_view subresource = {});
    result<json> remove(const kube::resource_type& type, std::string_view ns, std::string_view name,
                        kube::preconditions guard = kube::preconditions(),
                        std::optional<int> grace_seconds = std::nullopt);
    /// POST pods/NAME/binding
    result<json> bind(std::string_view ns, std::string_view pod, std::string_view uid,
                      std::string_view node);

private:
    result<json> send(kube::request what);

    api_server& server_;
    std::string who_;
};

}  // namespace esi::simulation
