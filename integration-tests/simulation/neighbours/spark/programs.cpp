#include "neighbours/spark/programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "neighbours/spark/pods.h"

namespace esi::simulation {

namespace {

/// Spark asks for what is missing once in this time (spark.kubernetes.allocation.batch.delay).
constexpr auto round_time = seconds(1);
/// spark.scheduler.maxRegisteredResourcesWaitingTime, as ESI sets it.
constexpr auto registration_time = seconds(600);
/// Spark's exit code when too many executors failed.
constexpr int too_many_failures = 11;

}  // namespace

spark_programs::spark_programs(surroundings& in, kubelet& nodes, json scripts)
    : in_(in),
      nodes_(nodes),
      scripts_(std::move(scripts)),
      own_(in.server, "spark-driver"),
      chance_(in.chance.fork("spark-programs")) {}

void spark_programs::noticed(const change& what) {
    const auto& pod = what.after->body();
    const auto role = fields::label(pod, "spark-role");
    if (role.empty()) return;
    if (role == "driver") {
        if (const auto found = running_.find(what.after->uid()); found != running_.end()) {
            soon(found->second, milliseconds(1), milliseconds(20));
        } else if (what.what != change_type::deleted && fields::phase(pod) == "Running" &&
                   !fields::deleting(pod)) {
            start(what.after);
        }
        return;
    }
    if (role != "executor") return;
    if (const auto found = running_.find(fields::controller(pod)); found != running_.end()) {
        soon(found->second, milliseconds(1), milliseconds(20));
    } else if (fields::phase(pod) == "Running" && what.what != change_type::deleted) {
        end_orphan(what.after);
    }
}

void spark_programs::start(const object_pointer& driver) {
    const auto& body = driver->body();
    const auto name = fields::label(body, "sparkoperator.k8s.io/app-name");
    program made;
    made.ns = driver->ns();
    made.driver = driver->name();
    made.uid = driver->uid();
    // What spark-submit put into the driver's ConfigMap: it has it also when the application goes.
    made.application = in_.server.objects().find(kinds::spark_application, driver->ns(), name);
    if (made.application && made.application->uid() != fields::controller(body)) {
        made.application = nullptr;
    }
    made.script = job_script::of(scripts_, driver->ns(), name);
    auto& one = running_.emplace(made.uid, std::move(made)).first->second;
    // The JVM comes up.
    const auto up = chance_.between(milliseconds(300), milliseconds(1500));
    one.started = in_.time.now() + up;
    one.next_round = one.started;
    soon(one, up, up);
}

void spark_programs::soon(program& of, steady_time::duration least, steady_time::duration most) {
    if (of.look_due) return;
    of.look_due = true;
    at(of, in_.time.now() + chance_.between(least, most));
}

void spark_programs::at(program& of, steady_time when) {
    in_.time.at(when, [weak = weak_from_this(), uid = of.uid] {
        if (const auto self = weak.lock()) self->look(uid);
    });
}

std::vector<object_pointer> spark_programs::executors(const program& of) const {
    std::vector<object_pointer> out;
    for (auto& pod : in_.server.objects().all(kinds::pod, of.ns)) {
        if (fields::label(pod->body(), "spark-role") == "executor" &&
            fields::controller(pod->body()) == of.uid) {
            out.push_back(std::move(pod));
        }
    }
    return out;
}

void spark_programs::look(const std::string& uid) {
    const auto found = running_.find(uid);
    if (found == running_.end()) return;
    auto& one = found->second;
    one.look_due = false;
    const auto now = in_.time.now();
    const auto driver = in_.server.objects().find(kinds::pod, one.ns, one.driver);
    if (!driver || driver->uid() != uid || fields::terminal(driver->body())) {
        const auto left = executors(one);
        running_.erase(found);
        for (const auto& executor : left) {
            if (fields::phase(executor->body()) == "Running") end_orphan(executor);
        }
        return;
    }
    if (one.ending || now < one.started || !one.application) return;
    if (fields::deleting(driver->body())) return end(one, 143, true);

    std::vector<object_pointer> live;
    int running = 0;
    for (auto& executor : executors(one)) {
        const auto& pod = executor->body();
        if (fields::deleting(pod)) continue;
        if (fields::terminal(pod)) {
            // spark.kubernetes.executor.deleteOnTermination
            if (fields::phase(pod) == "Failed") one.failed.insert(executor->uid());
            (void)own_.remove(kinds::pod, one.ns, executor->name(), executor->uid());
            continue;
        }
        if (fields::phase(pod) == "Running") ++running;
        live.push_back(std::move(executor));
    }
    const int wanted = spark::executors_of(one.application->body());
    if (static_cast<int>(one.failed.size()) > std::max(2 * wanted, 3)) {
        return end(one, too_many_failures, true);
    }
    if (const int missing = wanted - static_cast<int>(live.size()); missing > 0) {
        if (now < one.next_round) {
            at(one, one.next_round);
        } else {
            make_executors(one, missing);
        }
    }
    if (!one.working_since) {
        if (running >= wanted || (running > 0 && now - one.started >= registration_time)) {
            one.working_since = now;
            at(one, now + one.script.work);
            for (const auto& loss : one.script.vanishings) at(one, now + loss.after);
        } else if (running > 0 && now < one.started + registration_time) {
            at(one, one.started + registration_time);
        }
    }
    if (one.working_since) work(one, live, running);
}

void spark_programs::make_executors(program& of, int missing) {
    const auto driver = in_.server.objects().find(kinds::pod, of.ns, of.driver);
    of.next_round = in_.time.now() + round_time;
    for (int i = 0; i < missing; ++i) {
        auto made =
            own_.create(kinds::pod, of.ns,
                        spark::executor_pod(of.application->body(), driver->body(), of.made + 1));
        if (!made && made.error().code != errc::already_exists) {
            in_.told.tell("spark-driver", [&] {
                return fmt::format("{}: no executor: {}", of.driver, made.error().text);
            });
            // Spark goes on asking; not so often that it is all that happens.
            of.next_round = in_.time.now() + seconds(10);
            return at(of, of.next_round);
        }
        ++of.made;
    }
}

void spark_programs::work(program& of, const std::vector<object_pointer>& live, int running) {
    const auto worked = in_.time.now() - *of.working_since;
    while (of.vanished < of.script.vanishings.size() &&
           worked >= of.script.vanishings[of.vanished].after) {
        const auto& loss = of.script.vanishings[of.vanished++];
        if (live.empty()) continue;
        const auto& victim = live[static_cast<std::size_t>(loss.nth) % live.size()];
        in_.told.tell("spark-driver", [&] { return "loses " + victim->name(); });
        if (loss.code) {
            nodes_.finish(victim->uid(), *loss.code);
        } else {
            (void)own_.remove(kinds::pod, of.ns, victim->name(), victim->uid());
        }
    }
    // Without a single executor nothing is computed: the end waits for one.
    if (worked < of.script.work || running == 0) return;
    if (of.script.end == "dies") return end(of, 137, false);
    end(of, of.script.end == "fails" ? 1 : 0, true);
}

void spark_programs::end(program& of, int code, bool orderly) {
    of.ending = true;
    if (orderly) {
        for (const auto& executor : executors(of)) {
            if (fields::deleting(executor->body())) continue;
            (void)own_.remove(kinds::pod, of.ns, executor->name(), executor->uid());
        }
    }
    const auto took = orderly ? chance_.between(milliseconds(100), milliseconds(800))
                              : steady_time::duration::zero();
    in_.time.after(took, [weak = weak_from_this(), uid = of.uid, code] {
        if (const auto self = weak.lock()) self->nodes_.finish(uid, code);
    });
}

/// An executor whose driver is gone loses the connection and ends.
void spark_programs::end_orphan(const object_pointer& executor) {
    in_.time.after(chance_.between(seconds(1), seconds(5)),
                   [weak = weak_from_this(), uid = executor->uid(),
                    driver = std::string(fields::controller(executor->body()))] {
                       const auto self = weak.lock();
                       if (self && !self->running_.contains(driver)) self->nodes_.finish(uid, 1);
                   });
}

}  // namespace esi::simulation
