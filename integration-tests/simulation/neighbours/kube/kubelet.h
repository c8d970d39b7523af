// The kubelets of all nodes: they admit bound pods or refuse them for good, start their containers,
// and complete their deletion. Owned by the world. Each node's kubelet counts as it sees the pods,
// later than the API server. It never decides when a job's pod ends: the model of the
// application does (finish).
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "neighbours/neighbour.h"

namespace esi::simulation {

class kubelet : public neighbour {
public:
    explicit kubelet(surroundings& in);
    ~kubelet() override;

    std::string_view name() const override { return "kubelet"; }
    /// All kubelets restart: what runs goes on, bound pods are admitted anew, oldest first.
    void crash() override;
    void restart() override;
    /// Of what it sees; starts and ends take times of their own.
    void set_pace(pace speed) override;

    /// The node is cut off or without power: its kubelet is silent, and what it does for its pods
    /// waits. The Node object is not touched here until it is up again (controller_manager marks
    /// it).
    void node_down(std::string_view node);
    void node_up(std::string_view node);
    bool down(std::string_view node) const;
    /// Called at each of these.
    void on_silence(std::function<void(std::string_view node, bool silent)> callback);

    /// The containers of a running pod end with this code. With restartPolicy Always they come back
    /// in the same pod, at first soon, then later and later; else 0 = Succeeded, other codes =
    /// Failed. Nothing when the pod is not running.
    void finish(std::string_view uid, int exit_code);
    /// A pod that hangs: it does not come up, and its deletion is not completed, until released.
    void hang(std::string_view uid, bool on);
    /// How long containers take to stop when a pod is deleted with grace; at most its grace. 200
    /// ms.
    void set_stop_time(steady_time::duration time);
    /// How long the room of a pod stays taken after the kubelet saw that its object is gone (a
    /// deletion with grace 0). 0: as the kubelet of 1.36 does, whose admission counts the pods that
    /// it is told of (GetActivePods) and not what still runs.
    void set_room_time(steady_time::duration least, steady_time::duration most);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
