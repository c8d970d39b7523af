#include "world/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "world/network_state.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

/// kube-apiserver waits so long for its watch cache before it answers "too large".
constexpr auto cache_patience = 3s;
/// A stale cache has caught up after this.
constexpr auto past_lasts = 2s;
/// A page that comes too late. Meanwhile another replica renews a lease.
constexpr auto slow_page = 5s;
/// A client waits so long for an answer, and a while before it asks again.
constexpr auto client_patience = 45s;

class wire final : public kube::transport {
public:
    wire(std::shared_ptr<network::state> in, replica_name who, asio::any_io_executor executor,
         clock& time, bool lease)
        : in_(std::move(in)),
          who_(std::move(who)),
          executor_(std::move(executor)),
          time_(time),
          lease_(lease) {}

    asio::awaitable<result<kube::response>> send(kube::request what,
                                                 steady_time deadline) override {
        auto own = std::make_shared<exchange>(executor_);
        in_->launch(who_, lease_, std::move(what), own);
        if (!co_await ends_by(time_, deadline, own->done.wait()))
            co_return fail(errc::timeout, "the deadline passed");
        co_return std::move(*own->answer);
    }

    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request what,
                                                                steady_time deadline) override {
        auto end = std::make_shared<stream_end>(who_, executor_);
        end->plural = target_of(what).plural;
        const auto fault = in_->strike(who_, lease_, what, "opening");
        const std::string kind = fault ? fault->what : std::string();
        // Only the head is awaited here: the stream exists from then on.
        auto there = time_.now() + in_->way();
        if (kind == "late") there += fault->delay;
        if (there > deadline || kind == "never-arrives") {
            co_await time_.sleep_until(deadline);
            co_return fail(errc::timeout, "the deadline passed");
        }
        co_await time_.sleep_until(there);
        if (in_->down) co_return fail(errc::transport, "connection refused");
        if (kind == "reset") co_return fail(errc::transport, "connection reset by peer");
        if (kind == "504-applied") {
            network::state::refuse(*end, status_answer(504, "Timeout"));
        } else if (!carried_out(kind)) {
            network::state::refuse(*end, refusal_of(*fault, what));
        } else {
            in_->open(end, what);
        }
        if (kind == "lost-answer") co_return fail(errc::transport, "connection reset by peer");
        if (kind == "delay") {
            const auto back = time_.now() + fault->delay;
            co_await time_.sleep_until(std::min<steady_time>(back, deadline));
            if (back > deadline) co_return fail(errc::timeout, "the deadline passed");
        }
        end->date = in_->date();
        co_return std::make_unique<kube::fed_stream>(time_, end);
    }

private:
    std::shared_ptr<network::state> in_;
    replica_name who_;
    asio::any_io_executor executor_;
    clock& time_;
    bool lease_;
};

}  // namespace

std::optional<request_fault> network::state::fault_of(const replica_name& who, bool lease,
                                                      const kube::request& what) {
    auto found = faults.find(who.operator_);
    if (found == faults.end()) return std::nullopt;
    const bool write = what.method != "GET";
    const bool list = !write && target_of(what).object.empty();
    return found->second.meet([&](const request_fault& fault) {
        if ((fault.of == "leases") != lease) return false;
        if (fault.of == "reads" ? write : fault.of == "writes" ? !write : false) return false;
        return fault.of != "lists" || list;
    });
}

std::optional<request_fault> network::state::strike(const replica_name& who, bool lease,
                                                    const kube::request& what,
                                                    std::string_view counted_as) {
    auto fault = fault_of(who, lease, what);
    if (!fault) return fault;
    ++effects[fmt::format("{} {}", counted_as, fault->what)];
    const bool slow = fault->what == "delay" || fault->what == "late";
    to.struck(who.operator_, fault->what == "never-arrives" ? client_patience
                             : slow                         ? fault->delay
                                                            : steady_time::duration::zero());
    in.told.tell("fault", [&] {
        return fmt::format("{} of {}: {} {}", fault->what, who.text(), what.method, what.target);
    });
    return fault;
}

void network::state::answer(std::weak_ptr<exchange> back, result<kube::response> what,
                            steady_time::duration later) {
    if (what) what->date = date();
    in.time.after(later, [back = std::move(back), what = std::move(what)]() mutable {
        if (auto waiting = back.lock()) waiting->give(std::move(what));
    });
}

wall_time network::state::date() const {
    return std::chrono::floor<std::chrono::seconds>(in.time.wall());
}

void network::state::launch(const replica_name& who, bool lease, kube::request what,
                            std::weak_ptr<exchange> back) {
    const bool write = is_write(what);
    auto fate = listener::fate::goes;
    if (write && !lease && target_of(what).plural != "events") fate = to.sends(who, what);
    if (fate == listener::fate::dies_before) return;
    if (write && lease && holder_of(what).empty()) to.lease_given_back(who);
    const bool fatal = fate == listener::fate::dies_after;
    const auto fault = strike(who, lease, what, "request");
    const auto sent = in.time.now();
    auto takes = way();
    if (fault && fault->what == "late") takes += fault->delay;
    if (fault && fault->what == "never-arrives") return;
    const bool forgets = what.method == "GET" &&
                         what.target.find("continue=") != std::string::npos &&
                         pages_expire.erase(who.operator_) > 0;
    if (forgets) takes += slow_page;
    flight that{who,    lease,           fatal, std::move(what),
                fault,  std::move(back), sent,  sent + takes + cache_patience,
                forgets};
    in.time.after(takes, [own = weak_from_this(), that = std::move(that)]() mutable {
        if (auto here = own.lock()) here->arrive(std::move(that));
    });
}

void network::state::arrive(flight that) {
    if (down)
        return answer(std::move(that.back), fail(errc::transport, "connection refused"), way());
    const auto& what = that.what;
    const auto target = target_of(what);
    const bool write = is_write(what);
    const bool own_write = write && !that.lease && target.plural != "events";
    const auto fault = that.fault ? that.fault->what : std::string();
    if (that.forgets) {
        in.server.objects().compact(in.server.objects().version());
        to.struck({}, slow_page);
    }
    if (!carried_out(fault)) {
        if (fault == "reset")
            return answer(std::move(that.back), fail(errc::transport, "connection reset by peer"),
                          way());
        auto out = refusal_of(*that.fault, what);
        if (own_write) to.arrived(that.who, what, out.status);
        if (that.fatal) return to.dies(that.who);
        return answer(std::move(that.back), std::move(out), way());
    }
    const auto seen = visible(that.who, target.plural);
    if (!write && target.object.empty()) {
        const auto wanted = wanted_version(what.target);
        if (wanted && *wanted > seen && in.time.now() < that.give_up) {
            in.time.after(cache_poll, [own = weak_from_this(), that = std::move(that)]() mutable {
                if (auto here = own.lock()) here->arrive(std::move(that));
            });
            return;
        }
    }
    auto out = in.server.answer(what, "esi-" + that.who.operator_, seen);
    if (that.forgets && out.status == 410) ++effects["page expired"];
    if (write) {
        in.told.tell(that.who.text(), [&] {
            return fmt::format("{} {} -> {} {}", what.method, what.target, out.status,
                               what.body.substr(0, 1500));
        });
    }
    if (write && that.lease && out.status < 300)
        to.lease_written(that.who, holder_of(what), that.sent);
    if (what.method == "GET" && !that.lease && !target.object.empty()) {
        to.looked(that.who, target.plural, target.object);
    }
    if (what.method == "GET" && out.status == 200 && target.plural == "pods") {
        if (const auto node = node_looked_at(what.target); !node.empty()) {
            to.listed_node(that.who, node);
        }
    }
    if (own_write) to.arrived(that.who, what, out.status);
    if (that.fatal) return to.dies(that.who);
    if (fault == "lost-answer")
        return answer(std::move(that.back), fail(errc::transport, "connection reset by peer"),
                      way());
    if (fault == "504-applied")
        return answer(std::move(that.back), status_answer(504, "Timeout"), way());
    answer(std::move(that.back), std::move(out),
           fault == "delay" ? way() + that.fault->delay : way());
}

network::network(surroundings& in, listener& to) : state_(std::make_shared<state>(in, to)) {
    in.server.objects().on_change([own = std::weak_ptr(state_)](const change& what) {
        if (auto here = own.lock()) here->changed(what);
    });
}
network::~network() = default;

std::unique_ptr<kube::transport> network::connect(const replica_name& who,
                                                  asio::any_io_executor executor, clock& time,
                                                  bool lease) {
    return std::make_unique<wire>(state_, who, std::move(executor), time, lease);
}

void network::fail_requests(const std::string& operator_, request_fault how) {
    state_->faults[operator_].add(std::move(how));
}

void network::show_past(const replica_name& who, steady_time::duration by) {
    const auto now = state_->in.time.now();
    state_->pasts[who] = {state_->in.server.objects().version_at(now - by), now + past_lasts};
}

void network::expire_pages(const std::string& operator_) { state_->pages_expire.insert(operator_); }

void network::end_faults_in_wait() {
    for (auto& [operator_, waiting] : state_->faults) waiting.clear();
    state_->pages_expire.clear();
}

void network::set_down(bool down) {
    state_->down = down;
    if (!down) return;
    for (const auto& weak : state_->streams) {
        if (auto end = weak.lock(); end && !end->over()) end->cut();
    }
}

bool network::down() const { return state_->down; }

const std::map<std::string, int>& network::effects() const { return state_->effects; }

}  // namespace esi::simulation
