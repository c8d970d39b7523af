// How much each caller may have under way and ask a second, so that one cannot take all from the
// others. Owned by the operator; used on its loop. Memory is bounded by what may be under way.
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "controller/metrics.h"
#include "http/problem.h"
#include "scheduling/interface/v1/access/options.h"

namespace esi::scheduling::v1 {

class quota {
public:
    enum class kind {
        stream,  ///< events
        wait,    ///< a request that waits for a change
    };

    quota(clock& time, controller::metrics& numbers, quota_options options);
    ~quota();

    /// One place of a caller, until it goes.
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

private:
    friend class quota;
    lease(std::shared_ptr<state> of, std::string caller, kind what);
    void give_back();

    std::shared_ptr<state> of_;
    std::string caller_;
    kind what_;
};

}  // namespace esi::scheduling::v1
