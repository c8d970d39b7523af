#include "neighbours/kube/extender_line.h"

#include <algorithm>
#include <utility>

#include "world/faults_in_wait.h"

namespace esi::simulation {

struct extender_line::state : std::enable_shared_from_this<extender_line::state> {
    state(surroundings& in_, call there_) : in(in_), there(std::move(there_)) {}

    surroundings& in;
    call there;
    faults_in_wait<call_fault> faults;
    steady_time refused_until{};
    std::map<std::string, int> effects;

    /// What the caller hears when nothing listens, and when the connection breaks.
    void broken(const answered& done) {
        in.time.after(milliseconds(1), [done] { done(0, json()); });
    }

    void ask(std::string verb, json body, answered done) {
        if (in.time.now() < refused_until) {
            ++effects["extender-down"];
            return broken(done);
        }
        const auto fault = faults.meet([](const call_fault&) { return true; });
        if (!fault) return there(verb, std::move(body), std::move(done));
        ++effects["extender-call " + fault->what];
        in.told.tell("fault", [&] { return "extender-call " + fault->what + ": " + verb; });
        if (fault->what == "reset") return broken(done);
        // Its caller waits for its own time-out.
        if (fault->what == "never-arrives") return;
        if (fault->what == "500" || fault->what == "503") {
            const int code = fault->what == "500" ? 500 : 503;
            in.time.after(milliseconds(1), [done, code] { done(code, json()); });
            return;
        }
        if (fault->what == "late") {
            in.time.after(fault->delay, [weak = weak_from_this(), verb, body = std::move(body),
                                         done = std::move(done)]() mutable {
                if (auto here = weak.lock()) here->there(verb, std::move(body), std::move(done));
            });
            return;
        }
        if (fault->what == "lost-answer") {
            done = [done](int, const json&) { done(0, json()); };
        } else if (fault->what == "delay") {
            done = [weak = weak_from_this(), done, by = fault->delay](int status, json answer) {
                auto here = weak.lock();
                if (!here) return;
                here->in.time.after(
                    by, [done, status, answer = std::move(answer)] { done(status, answer); });
            };
        }
        there(verb, std::move(body), std::move(done));
    }
};

extender_line::extender_line(surroundings& in, call there)
    : state_(std::make_shared<state>(in, std::move(there))) {}
extender_line::~extender_line() = default;

void extender_line::ask(std::string verb, json body, answered done) {
    state_->ask(std::move(verb), std::move(body), std::move(done));
}
void extender_line::fail(call_fault how) { state_->faults.add(std::move(how)); }
void extender_line::refuse_for(steady_time::duration time) {
    state_->refused_until = std::max(state_->refused_until, state_->in.time.now() + time);
}
void extender_line::end_faults_in_wait() { state_->faults.clear(); }
const std::map<std::string, int>& extender_line::effects() const { return state_->effects; }

}  // namespace esi::simulation
