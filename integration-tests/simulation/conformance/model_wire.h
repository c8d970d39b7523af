// The model API server behind the transport that the real one is reached by. Its time stands still;
// a watch tells what is due and never waits.
#pragma once

#include <chrono>
#include <string>

#include "kube/transport.h"
#include "server/api_server.h"

namespace esi::simulation {

class model_wire final : public kube::transport {
public:
    explicit model_wire(const std::string& crds);

    asio::awaitable<result<kube::response>> send(kube::request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request what,
                                                                steady_time deadline) override;
    /// Forgets the history so far.
    void compact();

private:
    api_server server_;
};

}  // namespace esi::simulation
