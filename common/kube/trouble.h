// Why the API server does not give what is asked of it again and again (a list, a watch, a Lease),
// told in ESI's own words: they may be shown to anybody, and no word of the server is among them.
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
    /// There was no good answer since then.
    steady_time since{};
    /// It holds up nothing: other namespaces of the kind are shown.
    bool aside = false;

    /// The same will be answered until somebody changes something: 401, 403 and 404.
    bool refused() const;
    /// What mends it; empty where only time does.
    std::string remedy() const;
    /// "list schedulings.esi.tu-berlin.de in namespace a: HTTP 404: REMEDY"
    std::string text() const;
};

/// "404"; "4xx" and "5xx" for the rest of such; "<error>": no answer came. A label's value.
std::string_view status_of(errc code);

/// The trouble of one thing that is asked for: what changes is told, a repeat is not.
class trouble_memory {
public:
    /// It failed. True: this is news.
    bool failed(trouble now);
    /// It was answered well. True: that it failed was news before.
    bool mended();
    const std::optional<trouble>& present() const { return present_; }
    void set_aside() {
        if (present_) present_->aside = true;
    }

private:
    std::optional<trouble> present_;
};

}  // namespace esi::kube
