// What a neighbour sees of the cluster: the objects of some kinds as they are when it lists them,
// then their changes, each some time after it was made. Of one kind in their order; of two kinds in
// any. Owned by the neighbour. Forgets all at stop(), so that nothing comes to a crashed one.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "neighbours/neighbour.h"

namespace esi::simulation {

class feed {
public:
    struct reader {
        /// The objects of one kind, sorted by namespace and name; kinds in the order given.
        std::function<void(const kube::resource_type&, const std::vector<object_pointer>&)> listed;
        std::function<void(const change&)> changed;
        /// Whether a change is worth to be told of; null: all are. Asked when it is made.
        std::function<bool(const change&)> wanted;
    };

    feed(surroundings& in, std::string_view name, std::vector<const kube::resource_type*> kinds,
         reader to);
    ~feed();
    feed(const feed&) = delete;
    feed& operator=(const feed&) = delete;

    /// Lists after one lag, then follows. Nothing when it runs.
    void start();
    void stop();
    void set_pace(pace speed);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
