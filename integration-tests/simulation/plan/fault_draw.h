// Draws the happenings of one fault, family by family. The declaration of the work that faults.cpp
// (processes, network, neighbours) and faults_of_people.cpp (edits of objects, pods and nodes)
// share; included by these two only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "plan/cast.h"
#include "plan/faults.h"
#include "plan/generate.h"

namespace esi::simulation {

class fault_draw {
public:
    fault_draw(milliseconds at, const stage& on, random_source& chance);

    /// Its happenings; none of a family that there is not.
    std::vector<happening> of(const std::string& family);

private:
    void add(std::string what, json with, milliseconds later = milliseconds(0)) {
        out_.push_back({at_ + later, std::move(what), std::move(with)});
    }
    json of_replica() {
        return {{"operator", operator_}, {"replica", chance_.between(0, on_.replicas - 1)}};
    }
    template <class T>
    const T& any(const std::vector<T>& of) {
        return chance_.one_of(of);
    }
    json one_job() {
        const auto& job = any(on_.jobs);
        return {{"ns", job.ns}, {"name", job.name}, {"nth", chance_.between(0, 4)}};
    }
    json one_bed() { return {{"name", any(on_.beds).name}, {"nth", chance_.between(0, 9)}}; }
    /// At a moment when the job runs, or whatever it does now.
    void perhaps_when_running(json& with) {
        if (!chance_.chance(600)) return;
        auto when =
            cast::when("batchjobs", with["name"].get<std::string>(), json::array({"RunningState"}));
        when["ns"] = with["ns"];
        when["for_ms"] = 120000;
        with["when"] = std::move(when);
    }
    std::string one_kind(json& with) {
        switch (chance_.below(3)) {
            case 0: {
                const auto& job = any(on_.jobs);
                with["ns"] = job.ns;
                with["name"] = job.name;
                return "batchjobs";
            }
            case 1:
                with["name"] = any(on_.beds).name;
                return "testbeds";
            default:
                with["name"] = any(on_.schedulings);
                return "schedulings";
        }
    }
    /// Of those of the stage, each with the same odds.
    const application_kind& one_application() {
        for (auto left = on_.applications.size(); left > 1; --left) {
            if (chance_.chance(static_cast<int>(1000 / left))) return *on_.applications[left - 1];
        }
        return *on_.applications.front();
    }
    std::string one_neighbour() {
        if (on_.extender && chance_.chance(300)) return "external-scheduler";
        std::vector<std::string> names{"kube-scheduler", "kubelet", "controllers"};
        for (const auto* kind : on_.applications) {
            names.insert(names.end(), kind->neighbours.begin(), kind->neighbours.end());
        }
        return any(names);
    }
    /// Mostly short, now and then up to `most`.
    int length(int least, int most) {
        const int middle = least + (most - least) / 6;
        return chance_.chance(750) ? chance_.between(least, middle) : chance_.between(middle, most);
    }
    void strip(std::string what, json with) {
        static const std::vector<std::string> parts{"labels", "annotations", "owner"};
        with["part"] = any(parts);
        add(std::move(what), std::move(with));
    }
    /// What the fault of a request or a call has of times; a delay of `most` ms at the longest.
    void times_of(json& with, int most) {
        const auto& fault = with["fault"];
        if (fault == "delay" || fault == "late") with["delay_ms"] = length(200, most);
        if (fault == "429-retry-after") with["seconds"] = chance_.between(1, 5);
    }
    void grace(json& with) {
        if (chance_.chance(500)) with["grace"] = 0;
    }

    void crash();
    void crash_storm();
    void crash_at_write();
    void rolling_restart();
    void pause();
    void clock_jump();
    void request();
    void lists();
    void extender();
    void watch();
    void lag();
    void stale_restart();
    void long_lag();
    void compact();
    void api_down();
    void neighbour_crash();
    void neighbour_slow();
    void crd();
    void ghosts();
    void job_pods();
    void processes();
    void applications();
    void status();
    void metadata();
    void recreation();
    void deletion();
    void rights();
    void pod_for(const std::string& name, json spec, const char* cpu, milliseconds time);
    void intruders();
    void hostile();
    void specs();
    void spec_of_testbed();
    void spec_of_scheduling();
    void spec_of_job();
    void edit(const char* kind, json with);
    void namespaces();
    void precedence();
    void nodes();

    milliseconds at_;
    const stage& on_;
    random_source& chance_;
    std::string operator_;
    std::vector<happening> out_;
};

}  // namespace esi::simulation
