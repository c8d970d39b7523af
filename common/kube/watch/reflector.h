// List and watch of one kind, kept running: what client-go calls a reflector.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/trouble.h"
#include "model/meta.h"

namespace simdjson::dom {
class element;
}

namespace esi::kube {

struct watch_scope {
    watch_scope() = default;
    /// Namespaces that are listed and watched one by one, so that rights in them suffice. None: all
    /// namespaces, in one list and one watch.
    std::vector<std::string> namespaces;
    std::string label_selector;
    std::string field_selector;
};

/// The receiver of what the reflector reads; implemented in informer<T>.
class sink {
public:
    virtual ~sink() = default;
    /// ADDED, MODIFIED, or an item of a list under way. An object of which a part cannot be decoded
    /// is kept without that part, and marked; one without name and uid is reported (result error),
    /// skipped, and never ends the watch.
    virtual result<void> upsert(const simdjson::dom::element& object) = 0;
    virtual result<void> erase(const simdjson::dom::element& object) = 0;
    /// Objects between begin and end form one list; the store is replaced at the end.
    virtual void begin_list() = 0;
    virtual void end_list() = 0;
    virtual void version(std::string resource_version) = 0;
    /// Something was left out that would fit now: a list shows it again.
    virtual bool wants_list() { return false; }
    /// The API server refuses to show this (403); the request is repeated. True: the sink does
    /// without.
    virtual bool denied() { return false; }
};

/// Keeps one kind in step with the API server until cancelled; never returns otherwise. A further
/// run starts again, with a list of the present objects. Streaming list first, list and watch as
/// the fallback; resourceVersion ladder, bookmarks, 410 in both shapes, 429, jittered back-off and
/// idle limits as client-go's reflector has them. A kind that is not served (404) is requested
/// again with back-off: `served` turns false. A failure is logged once for each change, with its
/// remedy, and once when it is over.
class reflector {
public:
    /// Watches the part of `scope` in `ns`; empty means all namespaces.
    reflector(client& api, clock& time, const resource_type& type, watch_scope scope,
              std::string ns, sink& into);
    ~reflector();
    asio::awaitable<void> run();
    bool served() const;
    /// When the last byte of a list or watch came in.
    steady_time last_heard() const;
    /// Why the list or watch fails; nothing while it works.
    const std::optional<trouble>& present_trouble() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Namespace and name of any object: what a deletion needs of it.
result<model::object_key> decode_key(const simdjson::dom::element& object);

}  // namespace esi::kube
