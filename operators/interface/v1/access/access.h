// The caller's identity and rights: bearer tokens by TokenReview, client certificates of the client
// CA, and every permission by SubjectAccessReview, so that the cluster's RBAC governs the
// interface. Answers are cached for a short time, bounded. Used on the process' loop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/message.h"
#include "http/problem.h"
#include "interface/v1/wire/operation.h"

namespace esi {
class clock;
}
namespace esi::kube {
class client;
}
namespace esi::controller {
class metrics;
}

namespace esi::interface::v1 {

class access {
public:
    virtual ~access() = default;
    /// 401 if the caller is unknown, 503 if the API server cannot be asked.
    virtual asio::awaitable<
        std::expected<std::shared_ptr<const http::identity>, http::problem_details>>
    authenticate(const http::server_request& head) = 0;
    /// The refusal: 403, naming verb, resource and namespace; 503. Nothing: it is allowed. An empty
    /// `ns` asks for all namespaces, an empty `name` for all objects.
    virtual asio::awaitable<std::optional<http::problem_details>> refusal(const http::identity& who,
                                                                          const permission& what,
                                                                          std::string ns,
                                                                          std::string name) = 0;
    /// Why no identity or right can be checked, and what mends it; for /readyz, so in ESI's own
    /// words. Empty: nothing is wrong.
    virtual std::string trouble() const { return {}; }
};

/// What the access uses; outlives it.
struct access_sources {
    asio::any_io_executor executor;
    clock& time;
    /// May write at any time: reviews are objects that are created.
    kube::client& api;
    controller::metrics& numbers;
};
struct access_options;
std::unique_ptr<access> make_access(access_sources from, const access_options& options);

}  // namespace esi::interface::v1
