#include "kubectl-esi/commands/version.h"

#include <fmt/format.h>

#include "base/version.h"
#include "kube/server_version.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl {

using shown::json;

namespace {

constexpr kube::resource_type deployments{"apps", "v1", "deployments", "Deployment"};

/// The image of the first container in the Deployment.
std::string image_of(const std::string& deployment) {
    const auto body = json::parse(deployment, nullptr, false);
    const auto at = json::json_pointer("/spec/template/spec/containers/0/image");
    if (!body.is_object() || !body.contains(at) || !body[at].is_string()) return {};
    return body[at].get<std::string>();
}

}  // namespace

reply version_of_client(form output) {
    if (output == form::json || output == form::yaml) {
        return {shown::object_text({{"client", version()}}, output), "", exit_code::ok};
    }
    return {fmt::format("Client: {}\n", version()), "", exit_code::ok};
}

asio::awaitable<result<reply>> version_of_all(session& in) {
    auto server =
        co_await kube::read_server_version(in.api.wire(), in.time.now() + in.flags.request_timeout);
    if (!server) co_return std::unexpected(std::move(server).error());
    json body = {{"client", version()}, {"server", server->text}};
    for (const char* name : {"esi-testbed", "esi-batchjob", "esi-scheduling"}) {
        const auto found = co_await in.api.get(deployments, in.flags.operators_namespace, name);
        if (found) body["operators"][name] = image_of(*found);
    }
    reply out;
    if (!in.tables()) {
        out.out = shown::object_text(body, in.flags.output);
        co_return out;
    }
    out.out = fmt::format("Client: {}\nServer: {}\n", version(), shown::printable(server->text));
    if (!body.contains("operators")) {
        out.note = "note: no Deployment of the operators can be read in namespace " +
                   in.flags.operators_namespace + " (--operators-namespace)\n";
        co_return out;
    }
    for (const auto& [name, image] : body["operators"].items()) {
        out.out += fmt::format("{}: {}\n", name, shown::printable(image.get<std::string>()));
    }
    co_return out;
}

}  // namespace esi::kubectl
