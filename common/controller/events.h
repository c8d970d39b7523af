// Kubernetes Events (events.k8s.io/v1) about ESI's objects. Never blocks a reconcile: a bounded
// queue, drained in the background; full or refused events are dropped and counted. A repeat of the
// same event becomes a series, as client-go's tools/events does; another note or another related
// object makes another event, so that no step is lost in the count of another one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/task_group.h"
#include "kube/client.h"
#include "model/meta.h"

namespace esi::controller {

struct event_subject {
    event_subject(const kube::resource_type& type_, const model::object_meta& meta_)
        : type(&type_), namespace_(meta_.namespace_), name(meta_.name), uid(meta_.uid) {}
    const kube::resource_type* type;
    std::string namespace_;
    std::string name;
    std::string uid;
};

class event_recorder {
public:
    /// `component`: "esi-testbed"; `instance`: host name and a random part.
    event_recorder(kube::client& api, clock& time, std::string component, std::string instance);
    ~event_recorder();

    /// reason: CamelCase, what happened; action: CamelCase, what was done; note: for people, cut at
    /// 1,024 bytes; related: the other object of the step, such as the job of a Scheduling.
    void normal(const event_subject& about, std::string_view reason, std::string_view action,
                std::string note, const std::optional<event_subject>& related = {});
    /// For failures, and for waits that only a person can end.
    void warning(const event_subject& about, std::string_view reason, std::string_view action,
                 std::string note, const std::optional<event_subject>& related = {});

    /// Called for each dropped event, with the reason: "queue" (it is full), "refused".
    void on_drop(std::function<void(std::string_view why)> callback);

    /// Sends until cancelled.
    asio::awaitable<void> run();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace esi::controller
