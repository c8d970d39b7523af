// Bounds what each caller may have under way and ask per second, so that one caller cannot take all
// from the others, nor a tenant with many accounts (tenant.h) from other tenants. Owned by the
// operator; used on its loop. Memory is bounded by what may be under way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "controller/metrics.h"
#include "http/problem.h"
#include "interface/v1/access/options.h"
#include "interface/v1/access/shared_places.h"

namespace esi::interface::v1 {

class quota {
public:
    enum class kind {
        stream,  ///< events
        wait,    ///< a request that waits for a change
    };

    quota(clock& time, controller::metrics& numbers, quota_options options);
    ~quota();

    /// One place of a caller, until it goes, or is lost to another tenant.
    class lease;
    /// Nothing: the caller, or all together, have as many as they may; answer refused(what) then.
    std::optional<lease> take(const http::identity& caller, kind what);
    http::problem_details refused(kind what) const;
    /// 429 where the caller has sent too many requests within a short time.
    std::optional<http::problem_details> throttled(const http::identity& caller);

private:
    struct state;
    std::shared_ptr<state> state_;
};

class quota::lease {
public:
    lease(lease&& other) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    ~lease();

    /// Another tenant has the place now: answer refused(what), or end the stream.
    bool lost() const { return place_ && place_->lost(); }
    /// Called once when it is lost; it may only wake a task.
    void when_lost(std::function<void()> tell) { place_->when_lost(std::move(tell)); }

private:
    friend class quota;
    lease(std::shared_ptr<state> of, std::unique_ptr<shared_places::place> its, kind what);
    void give_back();

    std::shared_ptr<state> of_;
    std::unique_ptr<shared_places::place> place_;
    kind what_;
};

}  // namespace esi::interface::v1
