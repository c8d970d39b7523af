// A transport for tests that must not need an API server: every request fails.
#pragma once

#include "kube/transport.h"

namespace esi::kube {

class no_server final : public transport {
public:
    asio::awaitable<result<response>> send(request, steady_time) override {
        co_return fail(errc::transport, "nobody there");
    }
    asio::awaitable<result<std::unique_ptr<stream>>> open(request, steady_time) override {
        co_return fail(errc::transport, "nobody there");
    }
};

}  // namespace esi::kube
