// Store and reflector of one kind: list and watch kept running, decoded into typed records.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/task_group.h"
#include "kube/client.h"
#include "kube/store.h"

namespace simdjson::dom {
class element;
}

namespace esi::kube {

struct watch_scope {
    watch_scope() = default;
    /// Empty: all namespaces.
    std::string ns;
    std::string label_selector;
    std::string field_selector;
};

/// What the reflector does with what it reads; implemented by informer<T>.
class sink {
public:
    virtual ~sink() = default;
    /// ADDED, MODIFIED, or an item of a list under way. An object that cannot be decoded is
    /// reported (result error), skipped, and never ends the watch.
    virtual result<void> upsert(const simdjson::dom::element& object) = 0;
    virtual result<void> erase(const simdjson::dom::element& object) = 0;
    /// Objects between begin and end form one list; the store is replaced at the end.
    virtual void begin_list() = 0;
    virtual void end_list() = 0;
    virtual void version(std::string resource_version) = 0;
};

/// Keeps one kind in step with the API server until cancelled; never returns otherwise. Run again
/// it begins anew, with a list of what is there then.
/// Streaming list first, list and watch as the fallback; resourceVersion ladder, bookmarks, 410 in
/// both shapes, 429, jittered back-off and idle limits as client-go's reflector has them.
/// A kind that is not served (404) is asked for again with back-off: `served` turns false.
class reflector {
public:
    reflector(client& api, clock& time, const resource_type& type, watch_scope scope, sink& into);
    ~reflector();
    asio::awaitable<void> run();
    bool served() const;
    /// When the last byte of a list or watch came in.
    steady_time last_heard() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Namespace and name of any object: what a deletion needs of it.
result<model::object_key> decode_key(const simdjson::dom::element& object);

/// Defined in model/json.h for every record.
template <class T>
result<T> decode_object(const simdjson::dom::element& object);

template <class T>
class informer final : public sink {
public:
    informer(client& api, clock& time, const resource_type& type, watch_scope scope = watch_scope())
        : reflector_(api, time, type, std::move(scope), *this), type_(type) {}

    store<T>& items() { return store_; }
    const store<T>& items() const { return store_; }
    /// A list has been complete, ever.
    bool synced() const { return store_.synced(); }
    /// A list that began after the last run() is complete: nothing older than that call is shown.
    bool current() const { return current_; }
    bool served() const { return reflector_.served(); }
    const resource_type& type() const { return type_; }
    const reflector& source() const { return reflector_; }
    /// Called when the first list is in.
    void on_synced(std::function<void()> callback) { synced_callback_ = std::move(callback); }
    asio::awaitable<void> run() {
        outdate();
        return reflector_.run();
    }
    /// For who runs it later: what is shown is of before.
    void outdate() { current_ = false; }

private:
    result<void> upsert(const simdjson::dom::element& object) override {
        auto decoded = decode_object<T>(object);
        if (!decoded) return std::unexpected(std::move(decoded).error());
        if (listing_) {
            pending_.push_back(std::move(*decoded));
        } else {
            store_.apply(std::move(*decoded));
        }
        return {};
    }
    result<void> erase(const simdjson::dom::element& object) override {
        auto key = decode_key(object);
        if (!key) return std::unexpected(std::move(key).error());
        if (listing_) {
            std::erase_if(pending_, [&](const T& item) { return item.metadata.key() == *key; });
        } else {
            store_.erase(*key);
        }
        return {};
    }
    void begin_list() override {
        listing_ = true;
        pending_.clear();
    }
    void end_list() override {
        listing_ = false;
        store_.replace(std::exchange(pending_, {}));
        current_ = true;
        if (synced_callback_) std::exchange(synced_callback_, nullptr)();
    }
    void version(std::string resource_version) override {
        store_.set_version(std::move(resource_version));
    }

    store<T> store_;
    std::vector<T> pending_;
    bool listing_ = false;
    bool current_ = false;
    std::function<void()> synced_callback_;
    reflector reflector_;
    const resource_type& type_;
};

}  // namespace esi::kube
