// Whether the API server can be reached, logged once for all callers: not by each of them at each
// try. Owned by the process; one for all its transports to one API server.
#pragma once

#include <optional>
#include <string>

#include "kube/transport.h"

namespace esi::kube {

class reach {
public:
    /// `server`: its address; `who`: "context x", "in-cluster".
    reach(std::string server, std::string who);

    /// An answer came, whatever its status.
    void answered(steady_time now);
    /// The request that was sent at `asked` got no answer.
    void failed(const error& why, steady_time asked, steady_time now);

private:
    std::string name_;
    bool lost_ = false;
    std::optional<steady_time> last_answer_;
    std::optional<steady_time> last_told_;
};

/// Records the result of every request on its way. In front of a transport that outlives it.
class reaching_transport final : public transport {
public:
    reaching_transport(transport& next, clock& time, reach& notes)
        : next_(next), time_(time), notes_(notes) {}

    asio::awaitable<result<response>> send(request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<stream>>> open(request what,
                                                          steady_time deadline) override;

private:
    template <class Answer>
    void note(const Answer& answer, steady_time asked);

    transport& next_;
    clock& time_;
    reach& notes_;
};

}  // namespace esi::kube
