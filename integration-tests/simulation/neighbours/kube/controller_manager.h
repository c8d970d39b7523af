// kube-controller-manager as far as it touches what ESI makes: deletion by owner, ends of
// namespaces, taints and evictions that follow from nodes, pods whose node is gone. One process:
// all of it crashes and restarts together. Owned by the world.
#pragma once

#include <memory>
#include <string_view>

#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

class controller_manager : public neighbour {
public:
    /// `nodes` tells which nodes are silent, and must outlive it; null: none ever is.
    explicit controller_manager(surroundings& in, kubelet* nodes = nullptr);
    ~controller_manager() override;

    std::string_view name() const override { return "controllers"; }
    void crash() override;
    void restart() override;
    void set_pace(pace speed) override;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
