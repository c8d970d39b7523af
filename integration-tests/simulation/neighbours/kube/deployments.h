// The deployment and replicaset controllers with the Deployments of the other neighbours. No
// operator of ESI reads Deployments or ReplicaSets, only their pods. So both are kept here instead
// of in the API server: the tables are as durable as objects would be, what the controllers do
// stops when they crash. Pods are as the real ones': random names,
// pod-template-hash, owned by the ReplicaSet. Facts: kube-controller-manager 1.36 (a pod that is
// being deleted or has ended does not count, so that its replacement comes at once). Owned by the
// world.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neighbours/neighbour.h"

namespace esi::simulation {

/// What its owner asks for.
struct deployment {
    std::string ns;
    std::string name;
    /// The object that it goes with.
    const kube::resource_type* owner_type = nullptr;
    std::string owner;
    std::string owner_uid;
    /// metadata and spec of its pods.
    json pod;
    int replicas = 1;
};

class deployment_controller : public neighbour {
public:
    explicit deployment_controller(surroundings& in);
    ~deployment_controller() override;

    std::string_view name() const override { return "deployments"; }
    void crash() override;
    void restart() override;
    void set_pace(pace speed) override;

    // The API of Deployments; works also while the controllers are down.

    /// False: there is one of that name, perhaps on its way out.
    bool create(deployment what);
    /// It, its ReplicaSet and its pods; it stays until the last pod is gone (foreground).
    void remove(std::string_view ns, std::string_view name);
    /// Also while it is on its way out. Empty `owner_uid`: whoever's it is.
    bool exists(std::string_view ns, std::string_view name, std::string_view owner_uid = {}) const;
    /// As many of its pods are ready as it wants.
    bool available(std::string_view ns, std::string_view name) const;
    /// Its pods, those on their way out included, by name.
    std::vector<object_pointer> pods(std::string_view ns, std::string_view name) const;
    /// Called when pods of a Deployment have changed, and when it is gone.
    void on_change(std::function<void(std::string_view ns, std::string_view name)> callback);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
