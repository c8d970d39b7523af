// The live half of a backend: the caches of its applications and of the definition of their kind.
// Owned by the operator; its coroutines end when the process cancels them. It never writes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "batchjob/backends/backend.h"
#include "controller/process.h"
#include "kube/watch/informer.h"
#include "model/cluster.h"
#include "model/json.h"

namespace esi::batchjob {

/// Arguments for the caches of applications. References: valid until the operator has stopped.
struct source_context {
    kube::client& api;
    clock& time;
    asio::any_io_executor executor;
    /// The namespaces whose applications are watched.
    kube::watch_scope within;
    /// The cache of job pods, for kinds whose applications are pods; not run by the source.
    kube::informer<model::pod>* pods = nullptr;
};

class application_source {
public:
    virtual ~application_source() = default;
    virtual const backend& kind() const = 0;
    /// True: the kind is established in the API server.
    virtual bool served() const = 0;
    /// True: the cache of applications is synced.
    virtual bool synced() const = 0;
    virtual std::shared_ptr<const application> find(const model::object_key& key) const = 0;
    /// The newest resourceVersion that the cache of applications has shown there; none if it
    /// watches nothing.
    virtual std::optional<std::string> version(std::string_view ns) const = 0;
    virtual std::vector<controller::operator_part::cache> caches() = 0;
    /// `application` is called with the key of a changed application, `definition` when the kind
    /// came or went. Both only note keys.
    virtual void on_change(std::function<void(const model::object_key&)> application,
                           std::function<void()> definition) = 0;
};

template <class Record>
class typed_source final : public application_source {
public:
    using conversion = application (*)(const Record&);

    typed_source(std::unique_ptr<backend> kind, conversion convert, source_context with)
        : kind_(std::move(kind)),
          convert_(convert),
          time_(with.time),
          definitions_(with.api, with.time, kube::types::custom_resource_definition, only(*kind_)),
          objects_(with.api, with.time, kind_->resource(), std::move(with.within)),
          came_(with.executor) {
        definitions_.items().on_change(
            [this](const kube::change<model::custom_resource_definition>&) { came_.notify(); });
    }

    const backend& kind() const override { return *kind_; }
    bool served() const override {
        const auto found = definitions_.items().find({"", kind_->definition()});
        return found && found->established && !found->metadata.deleting();
    }
    bool synced() const override { return objects_.synced(); }
    std::shared_ptr<const application> find(const model::object_key& key) const override {
        // If the kind is no longer served, the applications left in its cache are gone.
        if (!served()) return nullptr;
        const auto found = objects_.items().find(key);
        return found ? std::make_shared<const application>(convert_(*found)) : nullptr;
    }
    std::optional<std::string> version(std::string_view ns) const override {
        return objects_.items().version(ns);
    }
    std::vector<controller::operator_part::cache> caches() override {
        using cache = controller::operator_part::cache;
        const std::string plural(kind_->resource().plural);
        auto objects = cache::of(plural, objects_);
        objects.run = [this] {
            objects_.outdate();
            return run_objects();
        };
        // A kind that is not there is not needed.
        objects.troubles = [this] {
            return served() ? objects_.troubles() : std::vector<kube::trouble>();
        };
        objects.last_heard = [this] { return served() ? objects_.last_heard() : time_.now(); };
        // If the kind is not served there is nothing to wait for.
        objects.synced = [this] {
            return objects_.synced() || (definitions_.synced() && !served());
        };
        objects.current = [this] {
            return definitions_.current() && (objects_.current() || !served());
        };
        return {cache::of("definition of " + plural, definitions_), std::move(objects)};
    }
    void on_change(std::function<void(const model::object_key&)> application,
                   std::function<void()> definition) override {
        objects_.items().on_change([application](const kube::change<Record>& what) {
            application((what.after ? what.after : what.before)->metadata.key());
        });
        definitions_.items().on_change(
            [definition](const kube::change<model::custom_resource_definition>&) { definition(); });
        objects_.on_synced(definition);
    }

private:
    static kube::watch_scope only(const backend& kind) {
        kube::watch_scope scope;
        scope.field_selector = "metadata.name=" + kind.definition();
        return scope;
    }
    /// Watches the kind only once it exists: a reflector that is refused waits ever longer.
    asio::awaitable<void> run_objects() {
        while (!served()) co_await came_.wait();
        co_await objects_.run();
    }

    std::unique_ptr<backend> kind_;
    conversion convert_;
    clock& time_;
    kube::informer<model::custom_resource_definition> definitions_;
    kube::informer<Record> objects_;
    notifier came_;
};

}  // namespace esi::batchjob
