// A model of kube-apiserver: the requests of kube::transport in, its answers out. It is a function
// of its storage and the time; it never waits and knows no network: delays, losses and lags are the
// network's (world/network.h). Checked against a real API server by the same request scripts
// (conformance/). Owned by the world.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/application_kinds.h"
#include "base/clock.h"
#include "kube/transport.h"
#include "server/storage.h"

namespace esi::simulation {

/// One open watch. Lives as long as its client reads; a view into the storage's history.
class watch {
public:
    virtual ~watch() = default;
    /// The lines (each with its newline) that are due, up to the state `visible` of the watch
    /// cache; empty when there are none. After an ERROR line (410, when the history was compacted
    /// under it) ended() is true.
    virtual std::string read(std::uint64_t visible) = 0;
    /// A bookmark line at `visible`; empty where the client did not ask for bookmarks.
    virtual std::string bookmark(std::uint64_t visible) = 0;
    virtual bool ended() const = 0;
    virtual const kube::resource_type& type() const = 0;
    /// timeoutSeconds of the request: the server ends the watch after it. 0: not given.
    virtual int timeout_seconds() const = 0;
};

struct server_settings {
    std::function<steady_time()> now;
    std::function<wall_time()> wall;
    /// Folder with testbed.yaml, batchjob.yaml, scheduling.yaml.
    std::string crds;
    /// Kinds of applications whose definitions are installed from the start.
    std::span<const application_kind> applications = application_kinds().first(1);
    /// False: sendInitialEvents is refused, as older servers do (WatchList off).
    bool streaming_lists = true;
    /// The four kinds of PodGroups are served, and pods of gangs get ESI's gate when they are made
    /// in a namespace that is enabled, as the chart's admission policy does it.
    bool gangs = false;
    /// No more objects than this in one page, whatever the limit; 0: as the limit says.
    int page_size = 0;
};

class api_server {
public:
    explicit api_server(server_settings settings);
    ~api_server();

    /// Anything but a watch. `caller` becomes the field manager's name. Lists that may be served
    /// from the watch cache (resourceVersion 0 or set) show its state `visible`, default the
    /// newest; a resourceVersion above `visible` is answered 504 with cause
    /// ResourceVersionTooLarge.
    kube::response answer(const kube::request& what, std::string_view caller,
                          std::optional<std::uint64_t> visible = std::nullopt);
    /// A request with watch=true: an answer where it is refused.
    std::variant<kube::response, std::unique_ptr<watch>> open(
        const kube::request& what, std::optional<std::uint64_t> visible = std::nullopt);

    /// While it is away every request of a desk ends with an error. answer() and open() know no
    /// network and go on to answer: the network cuts the operators' wires itself.
    void set_away(bool away);
    bool away() const;
    /// As soon as it is there, in the order of the calls; at once where it is.
    void when_there(std::function<void()> what);

    storage& objects();
    const storage& objects() const;
    /// Serves the kind of a CustomResourceDefinition, or no more: "sparkapplications". Its
    /// objects go with it; the CustomResourceDefinition object appears and goes.
    void install(std::string_view plural);
    void uninstall(std::string_view plural);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace esi::simulation
