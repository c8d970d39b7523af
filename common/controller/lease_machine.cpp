#include "controller/lease_machine.h"

#include <algorithm>
#include <utility>

namespace esi::controller {

namespace {

using kind = lease_step::kind;

/// client-go's JitterFactor: standbys do not ask in step.
constexpr double jitter = 1.2;
constexpr auto shortest_retry = std::chrono::milliseconds(200);
/// A release may collide with the process' own renewal in flight, once; more conflicts are another
/// writer's.
constexpr int release_tries = 3;

}  // namespace

lease_machine::lease_machine(std::string identity, lease_times times,
                             std::function<double()> random, std::string pod)
    : identity_(std::move(identity)),
      pod_(std::move(pod)),
      times_(times),
      random_(std::move(random)) {}

std::optional<steady_time> lease_machine::may_write_until() const {
    if (!leading_) return std::nullopt;
    return renewed_at_ + times_.renew_deadline;
}

lease_step lease_machine::resume(const lease::event& event, steady_time now, wall_time wall) {
    if (std::holds_alternative<lease::stopping>(event)) {
        if (!leading_) {
            lease_step nothing;
            nothing.what = kind::done;
            return nothing;
        }
        releasing_ = true;
        return release(wall);
    }
    if (auto* found = std::get_if<lease::found>(&event)) {
        exists_ = true;
        observe(found->record, now);
        return releasing_ ? release(wall) : decide(now, wall);
    }
    if (auto* written = std::get_if<lease::written>(&event)) {
        exists_ = true;
        observe(written->record, now);
        if (releasing_) {
            leading_ = false;
            lease_step end;
            end.what = kind::done;
            return end;
        }
        leading_ = true;
        renewed_at_ = asked_at_;
        return overdue(now) ? lose() : pause(now);
    }
    if (auto* failed = std::get_if<lease::failed>(&event)) {
        if (releasing_) {
            if (++release_attempts_ < release_tries && failed->why.code == errc::conflict) {
                return get(now);
            }
            leading_ = false;
            lease_step end;
            end.what = kind::done;
            return end;
        }
        if (overdue(now)) return lose();
        if (failed->why.code == errc::not_found) {
            // No lease, or no namespace for it; only the answer to a get shows which.
            exists_ = false;
            if (asked_ == kind::get) return write(kind::create, now, wall);
        }
        if (failed->why.code == errc::conflict || failed->why.code == errc::already_exists) {
            // Another process wrote, or the answer to our own write was lost: read the lease.
            if (leading_) ++slow_paths_;
            return get(now);
        }
        // The result of the request is unknown: its version must not be used again.
        if (failed->why.code == errc::transport || failed->why.code == errc::timeout) {
            exists_ = false;
        }
        return pause(now);
    }
    // Started, or the pause is over.
    if (overdue(now)) return lose();
    if (leading_ && exists_) return write(kind::update, now, wall);
    if (leading_) ++slow_paths_;
    return get(now);
}

lease_step lease_machine::decide(steady_time now, wall_time wall) {
    if (overdue(now)) return lose();
    if (observed_.holder == identity_) return write(kind::update, now, wall);
    if (leading_) return lose();
    const bool expired = now >= observed_at_ + patience();
    if (observed_.holder.empty() || expired) return write(kind::update, now, wall);
    return pause(now);
}

lease_step lease_machine::write(kind what, steady_time now, wall_time wall) {
    asked_ = what;
    asked_at_ = now;
    lease_step next;
    next.what = what;
    auto& record = next.record;
    record.holder = identity_;
    record.duration_seconds = static_cast<int>(times_.duration.count());
    record.renewed = wall;
    if (what == kind::create) {
        record.acquired = wall;
        return next;
    }
    record.version = observed_.version;
    const bool ours = observed_.holder == identity_;
    record.acquired = ours && observed_.acquired ? observed_.acquired : wall;
    record.transitions = observed_.transitions + (ours ? 0 : 1);
    return next;
}

lease_step lease_machine::release(wall_time wall) {
    lease_step next;
    if (observed_.holder != identity_) {
        leading_ = false;
        next.what = kind::done;
        return next;
    }
    asked_ = next.what = kind::update;
    next.record = observed_;
    next.record.holder.clear();
    next.record.duration_seconds = 1;
    next.record.renewed = wall;
    next.record.acquired = wall;
    return next;
}

lease_step lease_machine::get(steady_time now) {
    asked_ = kind::get;
    asked_at_ = now;
    lease_step next;
    next.what = kind::get;
    return next;
}

lease_step lease_machine::pause(steady_time now) {
    lease_step next;
    next.what = kind::wait;
    steady_time::duration delay = times_.retry_period;
    if (leading_) {
        // Near the end of its lease it asks more often, and never sleeps through it.
        const auto left = renewed_at_ + times_.renew_deadline - now;
        delay = std::min(delay,
                         std::min(left, std::max<steady_time::duration>(left / 2, shortest_retry)));
    } else {
        delay += std::chrono::duration_cast<steady_time::duration>(delay * jitter * random_());
    }
    next.delay = std::max(delay, steady_time::duration::zero());
    return next;
}

lease_step lease_machine::lose() {
    leading_ = false;
    lease_step next;
    next.what = kind::lost;
    return next;
}

void lease_machine::observe(const lease_record& record, steady_time now) {
    // A change of the version alone (a label, say) is no sign of life of the holder.
    auto before = observed_;
    before.version = record.version;
    if (before != record) observed_at_ = now;
    observed_ = record;
}

seconds lease_machine::patience() const {
    const auto whole = seconds(std::max(observed_.duration_seconds, 0));
    const bool predecessor = !pod_.empty() && observed_.holder.starts_with(pod_);
    return predecessor ? std::min(whole, 2 * times_.retry_period) : whole;
}

bool lease_machine::overdue(steady_time now) const {
    return leading_ && now >= renewed_at_ + times_.renew_deadline;
}

}  // namespace esi::controller
