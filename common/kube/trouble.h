// Why the API server keeps refusing a request (a list, a watch, a Lease), in ESI's own words: the
// texts may be shown to anyone, and contain no word of the server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kube/resource.h"

namespace esi::kube {

struct trouble {
    std::string verb;  ///< list, watch, get, create, update
    /// Outlives it.
    const resource_type* type = nullptr;
    /// Empty: all namespaces, or a kind without any.
    std::string ns;
    errc code = errc::server;
    /// Since when there was no good answer.
    steady_time since{};
    /// It delays nothing: other namespaces of the kind are shown.
    bool aside = false;

    /// The answer stays the same until a person changes something: 401, 403 and 404.
    bool refused() const;
    /// What mends it; empty if only time does.
    std::string remedy() const;
    /// "list schedulings.esi.tu-berlin.de in namespace a: HTTP 404: REMEDY"
    std::string text() const;
};

/// "404"; "4xx" and "5xx" for the rest of such; "<error>": no answer came. A label's value.
std::string_view status_of(errc code);

/// The trouble of one kind of request: a change is reported, a repeat is not.
class trouble_memory {
public:
    /// The request failed. True: this is news.
    bool failed(trouble now);
    /// The request succeeded. True: its failure had been news.
    bool mended();
    const std::optional<trouble>& present() const { return present_; }
    void set_aside() {
        if (present_) present_->aside = true;
    }

private:
    std::optional<trouble> present_;
};

}  // namespace esi::kube
