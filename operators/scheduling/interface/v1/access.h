// Who asks, and what they may: bearer tokens by TokenReview, client certificates of the client CA,
// and every permission by SubjectAccessReview, so that the cluster's RBAC governs the interface.
// Answers are cached for a short time, bounded. Used on the process' loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"
#include "http/problem.h"
#include "scheduling/interface/v1/operation.h"

namespace esi::scheduling::v1 {

class access {
public:
    virtual ~access() = default;
    /// 401 where it cannot be told who asks, 503 where the API server cannot be asked.
    virtual asio::awaitable<
        std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request& head) = 0;
    /// Why not: 403, naming verb, resource and namespace; 503. Nothing: it is allowed. An empty
    /// `ns` asks for all namespaces, an empty `name` for all objects.
    virtual asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity& who,
                                                                          const permission& what,
                                                                          std::string ns,
                                                                          std::string name) = 0;
};

}  // namespace esi::scheduling::v1
