// The happenings of a plan: what is done to replicas, network, neighbours and API server.
#include <algorithm>
#include <utility>

#include "plan/faults.h"
#include "run/world.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

/// From SIGTERM to SIGKILL: a pod's terminationGracePeriodSeconds by default.
constexpr auto grace_period = 30s;
/// A readiness probe's.
constexpr auto probe_period = 1s;

milliseconds ms_of(const json& with, const char* key, int otherwise) {
    return milliseconds(with.value(key, otherwise));
}

}  // namespace

void world::schedule(const std::vector<happening>& all, std::string_view by) {
    for (const auto& one : all) {
        over_ = std::max(over_, start_ + one.at + duration_of(one));
        time_.at(start_ + one.at, [this, &one, by] {
            if (strike(one)) {
                told_.tell(by, [&] { return one.what + " " + one.with.dump(); });
            } else if (by == "fault") {
                people_->act(one);
            } else {
                people_->work(one);
            }
        });
    }
}

void world::with_replica(const json& with, const std::function<void(replica&)>& act) {
    const auto name = with.value("operator", "");
    const int index = with.value("replica", 0) % plan_.replicas;
    for (auto& one : replicas_) {
        if (one->name().operator_ != name || one->name().index % plan_.replicas != index) continue;
        if (!gone_for_good_.contains(one->name())) return act(*one);
    }
}

neighbour* world::find_neighbour(std::string_view name) {
    for (auto& one : neighbours_) {
        if (one->name() == name) return one.get();
    }
    return nullptr;
}

void world::tell_disturbance(const happening& what) {
    // Those that lie in wait are told of when they strike.
    if (what.what == "request" || what.what == "crash-at-write" || what.what == "page-expires") {
        return;
    }
    struck(what.with.value("operator", ""), duration_of(what));
}

void world::start_later(replica& one, milliseconds down) {
    time_.after(down, [this, &one] {
        if (!gone_for_good_.contains(one.name())) one.start();
    });
}

void world::terminate(replica& one, milliseconds patience, std::optional<milliseconds> down) {
    if (down) {
        down_for_[one.name()] = *down;
    } else {
        gone_for_good_.insert(one.name());
    }
    if (!one.alive()) return;
    ++out_.faults["terminate"];
    // With `replace` it comes when the next one is ready.
    struck(one.name().operator_, patience + down.value_or(milliseconds(0)));
    told_.tell(one.name().text(), [] { return "SIGTERM"; });
    one.stop();
    time_.after(patience, [this, &one, life = one.lives()] {
        if (!one.alive() || one.ended() || one.lives() != life) return;
        ++out_.faults["killed while it stops"];
        one.end();
    });
}

void world::replace(replica& old, milliseconds patience) {
    auto who = old.name();
    who.index += plan_.replicas;
    // The one before has not come up yet.
    if (std::ranges::any_of(replicas_, [&](const auto& one) { return one->name() == who; })) return;
    ++out_.faults["replace"];
    auto& next = add_replica(who);
    next.start();
    terminate_when_ready(old, next, patience);
}

void world::terminate_when_ready(replica& old, replica& next, milliseconds patience) {
    if (next.ready()) return terminate(old, patience, std::nullopt);
    time_.after(probe_period,
                [this, &old, &next, patience] { terminate_when_ready(old, next, patience); });
}

void world::take_away() {
    if (++away_ > 1) return;
    server_.set_away(true);
    // Schedulers and controllers lose their leases, the watches of all end: they begin again. What
    // runs in pods runs on.
    for (auto& one : neighbours_) one->crash();
}

void world::bring_back() {
    if (--away_ > 0) return;
    server_.set_away(false);
    for (auto& one : neighbours_) {
        // A neighbour that was started in the meantime found no API server.
        one->crash();
        if (down_[one.get()] == 0) one->restart();
    }
}

bool world::strike_gangs(const happening& what) {
    const auto& with = what.with;
    if (what.what != "members" && what.what != "members-gone") return false;
    if (!members_) return true;
    const auto ns = with.value("ns", "default");
    const auto name = with.value("name", "");
    if (what.what == "members-gone") {
        members_->remove(ns, name);
        return true;
    }
    member_set wanted{ns,
                      name,
                      with.value("template", json::object()),
                      with.value("count", 1),
                      with.value("again", "failed"),
                      {},
                      with.value("fails", 0)};
    for (const auto& cpu : with.value("cpus", json::array())) {
        if (cpu.is_string()) wanted.cpus.push_back(cpu.get<std::string>());
    }
    members_->put(std::move(wanted));
    return true;
}

bool world::strike(const happening& what) {
    const auto& with = what.with;
    if (with.contains("operator") || what.what == "api-down" || what.what == "compact")
        tell_disturbance(what);
    const auto& kind = what.what;
    const auto operator_ = with.value("operator", "");
    auto crash = [this, &kind](replica& one, milliseconds down) {
        if (!one.alive()) return;
        ++out_.faults[kind];
        one.kill();
        rights_.erase(one.name());
        down_for_.erase(one.name());
        start_later(one, down);
    };
    if (kind == "crash" || kind == "stale-restart") {
        const auto down = ms_of(with, "down_ms", 100);
        with_replica(with, [&](replica& one) {
            if (kind == "stale-restart") {
                const auto back = ms_of(with, "back_ms", 1000);
                time_.after(down,
                            [this, who = one.name(), back] { network_.show_past(who, back); });
            }
            crash(one, down);
        });
    } else if (kind == "terminate" || kind == "replace") {
        const auto patience = ms_of(with, "kill_ms", milliseconds(grace_period).count());
        with_replica(with, [&](replica& one) {
            if (kind == "replace") return replace(one, patience);
            if (one.alive()) terminate(one, patience, ms_of(with, "down_ms", 1000));
        });
    } else if (kind == "crash-at-write") {
        crash_point at{operator_, with.value("nth", 0) + sent_[operator_],
                       with.value("when", "before") == "after"};
        crashes_.push_back({std::move(at), ms_of(with, "down_ms", 1000), true});
    } else if (kind == "pause") {
        with_replica(with, [&](replica& one) {
            if (!one.alive() || one.paused()) return;
            ++out_.faults["pause"];
            one.pause(true);
            time_.after(ms_of(with, "ms", 1000), [&one, life = one.lives()] {
                if (one.lives() == life) one.pause(false);
            });
        });
    } else if (kind == "clock-jump") {
        with_replica(with, [&](replica& one) {
            ++out_.faults["clock-jump"];
            one.jump(seconds(with.value("seconds", 0)));
        });
    } else if (kind == "request") {
        request_fault fault;
        fault.what = with.value("fault", "reset");
        fault.of = with.value("kind", "all");
        fault.passing = with.value("nth", 0);
        fault.times = with.value("times", 1);
        fault.delay = ms_of(with, "delay_ms", 1000);
        fault.retry_after_seconds = with.value("seconds", 1);
        network_.fail_requests(operator_, std::move(fault));
    } else if (kind == "watch") {
        network_.fail_watches(operator_, {with.value("plural", ""), with.value("fault", "end"),
                                          ms_of(with, "for_ms", 5000)});
    } else if (kind == "lag") {
        const auto plural = with.value("plural", "*");
        int index = -1;
        if (with.contains("replica"))
            with_replica(with, [&](replica& one) { index = one.name().index; });
        network_.lag(operator_, index, plural, ms_of(with, "lag_ms", 1000),
                     ms_of(with, "for_ms", 10000));
    } else if (kind == "compact") {
        ++out_.faults["compact"];
        server_.objects().compact(server_.objects().version());
    } else if (kind == "page-expires") {
        network_.expire_pages(operator_);
    } else if (kind == "extender-call") {
        extender_.fail({with.value("fault", "reset"), with.value("nth", 0), with.value("times", 1),
                        ms_of(with, "delay_ms", 1000)});
    } else if (kind == "extender-down") {
        extender_.refuse_for(ms_of(with, "for_ms", 10000));
    } else if (kind == "api-down") {
        const bool everybody = with.value("everybody", false);
        ++out_.faults[everybody ? "api-down for everybody" : "api-down"];
        ++cut_off_;
        network_.set_down(true);
        if (everybody) {
            rules_.scheduler_hindered(time_.now() + duration_of(what));
            take_away();
        }
        time_.after(ms_of(with, "for_ms", 10000), [this, everybody] {
            if (--cut_off_ == 0) network_.set_down(false);
            if (everybody) bring_back();
        });
    } else if (kind == "neighbour-crash" || kind == "neighbour-slow") {
        auto* one = find_neighbour(with.value("name", ""));
        if (one == nullptr) return true;
        ++out_.faults[kind];
        if (one->name() == "kube-scheduler") {
            rules_.scheduler_hindered(time_.now() + duration_of(what) + ms_of(with, "most_ms", 0));
        }
        if (kind == "neighbour-crash") {
            ++down_[one];
            one->crash();
            time_.after(ms_of(with, "down_ms", 1000), [this, one] {
                if (--down_[one] == 0) one->restart();
            });
        } else {
            ++slowed_[one];
            one->set_pace({ms_of(with, "least_ms", 100), ms_of(with, "most_ms", 1000)});
            time_.after(ms_of(with, "for_ms", 10000), [this, one] {
                if (--slowed_[one] == 0) one->set_pace(pace());
            });
        }
    } else if (kind == "crd") {
        ++out_.faults["crd"];
        const auto plural = with.value("plural", "");
        if (with.value("installed", false)) {
            server_.install(plural);
        } else {
            server_.uninstall(plural);
        }
    } else {
        return strike_gangs(what);
    }
    return true;
}

}  // namespace esi::simulation
