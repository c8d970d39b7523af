#include "neighbours/spark/operator.h"

#include <fmt/format.h>

#include <set>

#include "base/fields.h"
#include "model/meta.h"
#include "neighbours/spark/pods.h"
#include "neighbours/spark/programs.h"

namespace esi::simulation {

namespace {

constexpr std::string_view app_name = "sparkoperator.k8s.io/app-name";

std::string exit_text(const json& driver) {
    const auto* all = fields::find(driver, {"status", "containerStatuses"});
    if (all && all->is_array()) {
        for (const auto& one : *all) {
            if (!fields::find(one, {"state", "terminated"})) continue;
            return fmt::format("driver container failed with ExitCode: {}, Reason: {}",
                               fields::number(one, {"state", "terminated", "exitCode"}),
                               fields::text(one, {"state", "terminated", "reason"}));
        }
    }
    return "driver container status missing";
}

}  // namespace

struct spark_operator::state : std::enable_shared_from_this<spark_operator::state> {
    state(surroundings& surround, kubelet& nodes, json scripts)
        : in(surround),
          own(surround.server, "spark-operator"),
          chance(surround.chance.fork("spark-operator")),
          programs(std::make_shared<spark_programs>(surround, nodes, std::move(scripts))) {}

    surroundings& in;
    desk own;
    random_source chance;
    std::shared_ptr<spark_programs> programs;
    pace speed;
    bool up = true;
    /// What was begun in an earlier life is void.
    int life = 0;
    std::set<std::string> looks;
    std::set<std::string> submissions;

    void noticed(const change& what);
    void look_at_all();
    void soon(std::string ns, std::string name);
    void look(const std::string& ns, const std::string& name);
    void submit(const std::string& ns, const std::string& name, const std::string& uid);
    void follow(const object& application, const object_pointer& driver);
    void report(const object& application, json status);
    std::string now() const { return model::timestamp{in.time.wall()}.whole_seconds(); }

    template <class What>
    void later(steady_time::duration time, What what) {
        in.time.after(time, [weak = weak_from_this(), born = life, what = std::move(what)] {
            const auto self = weak.lock();
            if (self && self->up && self->life == born) what(*self);
        });
    }
};

void spark_operator::state::noticed(const change& what) {
    const auto plural = what.type->plural;
    if (plural == kinds::pod.plural) {
        programs->noticed(what);
        const auto name = fields::label(what.after->body(), app_name);
        // It watches the pods that it launched; of the executors it only keeps a list.
        if (!name.empty() && fields::label(what.after->body(), "spark-role") == "driver") {
            soon(what.after->ns(), std::string(name));
        }
    } else if (plural == kinds::spark_application.plural) {
        soon(what.after->ns(), what.after->name());
    } else if (plural == kinds::custom_resource_definition.plural &&
               what.what != change_type::deleted) {
        look_at_all();
    }
}

void spark_operator::state::look_at_all() {
    for (const auto& one : in.server.objects().all(kinds::spark_application)) {
        soon(one->ns(), one->name());
    }
}

void spark_operator::state::soon(std::string ns, std::string name) {
    if (!up || !looks.insert(ns + "/" + name).second) return;
    later(chance.between(speed.least, speed.most),
          [ns = std::move(ns), name = std::move(name)](state& self) {
              self.looks.erase(ns + "/" + name);
              self.look(ns, name);
          });
}

void spark_operator::state::look(const std::string& ns, const std::string& name) {
    const auto application = in.server.objects().find(kinds::spark_application, ns, name);
    const auto driver = in.server.objects().find(kinds::pod, ns, name + "-driver");
    if (!application || fields::deleting(application->body())) {
        if (!driver || fields::label(driver->body(), app_name) != name ||
            fields::deleting(driver->body())) {
            return;
        }
        (void)own.remove(kinds::pod, ns, driver->name(), driver->uid());
        return;
    }
    if (!fields::text(application->body(), {"status", "applicationState", "state"}).empty()) {
        return follow(*application, driver);
    }
    if (!submissions.insert(application->uid()).second) return;
    // spark-submit is a JVM as well.
    later(chance.between(milliseconds(200), milliseconds(3000)),
          [ns, name, uid = application->uid()](state& self) {
              self.submissions.erase(uid);
              self.submit(ns, name, uid);
          });
}

void spark_operator::state::submit(const std::string& ns, const std::string& name,
                                   const std::string& uid) {
    const auto application = in.server.objects().find(kinds::spark_application, ns, name);
    if (!application || application->uid() != uid || fields::deleting(application->body())) return;
    const auto& body = application->body();
    const auto as = spark::submission_of(body);
    std::string fault;
    if (job_script::of(programs->scripts(), ns, name).end == "submission-fails") {
        fault = "failed to run spark-submit: the main application file does not exist\n";
    } else if (auto made = own.create(kinds::pod, ns, spark::driver_pod(body, as)); !made) {
        fault = made.error().code == errc::already_exists
                    ? "driver pod already exist"
                    : "failed to run spark-submit: " + made.error().text + "\n";
    }
    json status{{"submissionAttempts", fields::number(body, {"status", "submissionAttempts"}) + 1},
                {"lastSubmissionAttemptTime", now()},
                {"terminationTime", nullptr}};
    if (fault.empty()) {
        status["applicationState"] = {{"state", "SUBMITTED"}};
        status["executionAttempts"] = fields::number(body, {"status", "executionAttempts"}) + 1;
        status["submissionID"] = as.id;
        status["sparkApplicationId"] = as.application_id;
        status["driverInfo"] = {{"podName", as.driver_pod}};
    } else {
        status["applicationState"] = {{"state", "SUBMISSION_FAILED"}, {"errorMessage", fault}};
    }
    report(*application, std::move(status));
}

/// One step of an application that was submitted.
void spark_operator::state::follow(const object& application, const object_pointer& driver) {
    const auto& body = application.body();
    const auto word = fields::text(body, {"status", "applicationState", "state"});
    const auto step = [&](std::string_view to, json more = json::object()) {
        more["applicationState"] = {{"state", to}};
        report(application, std::move(more));
    };
    if (word == "SUCCEEDING") return step("COMPLETED");
    // A merge patch: the message of the failure stays.
    if (word == "FAILING") return step("FAILED");
    if (word == "SUBMISSION_FAILED") return step("FAILED", {{"terminationTime", now()}});
    if (word != "SUBMITTED" && word != "RUNNING") return;

    json fails{{"terminationTime", now()}};
    if (!driver || fields::controller(driver->body()) != application.uid()) {
        fails["applicationState"] = {{"state", "FAILING"},
                                     {"errorMessage", "driver pod not found"}};
        return report(application, std::move(fails));
    }
    const auto phase = fields::phase(driver->body());
    if (phase == "Succeeded") return step("SUCCEEDING", {{"terminationTime", now()}});
    if (phase == "Failed") {
        fails["applicationState"] = {{"state", "FAILING"},
                                     {"errorMessage", exit_text(driver->body())}};
        return report(application, std::move(fails));
    }
    if (phase == "Running" && word == "SUBMITTED") step("RUNNING");
}

void spark_operator::state::report(const object& application, json status) {
    auto done = own.patch(
        kinds::spark_application, application.ns(), application.name(), kube::patch_kind::merge,
        {{"metadata", {{"uid", application.uid()}}}, {"status", status}}, "status");
    in.told.tell("spark-operator", [&] {
        return fmt::format("{}/{} {}{}", application.ns(), application.name(),
                           status["applicationState"].dump(),
                           done ? "" : " not written: " + done.error().text);
    });
}

spark_operator::spark_operator(surroundings& in, kubelet& nodes, json scripts)
    : state_(std::make_shared<state>(in, nodes, std::move(scripts))) {
    in.server.objects().on_change([weak = std::weak_ptr<state>(state_)](const change& what) {
        if (const auto self = weak.lock()) self->noticed(what);
    });
    state_->look_at_all();
}
spark_operator::~spark_operator() = default;

void spark_operator::crash() {
    state_->up = false;
    ++state_->life;
    state_->looks.clear();
    state_->submissions.clear();
}

void spark_operator::restart() {
    if (state_->up) return;
    state_->up = true;
    state_->look_at_all();
}

void spark_operator::set_pace(pace speed) { state_->speed = speed; }

}  // namespace esi::simulation
