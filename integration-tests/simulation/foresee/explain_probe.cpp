#include "foresee/explain_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "base/fields.h"
#include "foresee/remedy.h"
#include "foresee/watcher.h"
#include "model/names.h"
#include "run/visitor.h"
#include "scheduling/acquire.h"

namespace esi::simulation::foresee {

namespace {

/// Something that was not named is taken away, and so long it has to wait on.
constexpr auto control = seconds(15);
/// Longer than every back-off (5 min).
constexpr auto patience_of_removal = seconds(400);
/// An operator may decide by what it saw so long ago.
constexpr auto behind = seconds(60);
constexpr int most_removals = 25;

class probe final : public visitor {
public:
    probe(const moment& when, const explanation_forger& forge)
        : when_(when),
          forge_(forge),
          intents_(random_source(when.up_to.seed).fork("preview")),
          chance_(random_source(when.up_to.seed).fork("explain")) {}

    milliseconds arrival() const override { return when_.at; }

    void arrives(house& of) override {
        house_ = &of;
        of.calm();
        seen_ = std::make_unique<picture>(of.in.server.objects(), when_.up_to.cross_namespace_jobs);
        of.in.server.objects().on_change([this](const change& what) { changed(what); });
        const auto plan = intent_at(*seen_, intents_, time().wall());
        if (plan.what != intent::kind::nothing) of.act(plan.deed);
        if (!choose()) {
            end("nothing waits");
            return;
        }
        look();
        const auto deed = unrelated_deed(named_, who_, *seen_, chance_);
        tell(fmt::format("{} waits for {}; not named: {} {}", who_.text(), list(), deed.what,
                         deed.with.dump()));
        until_ = time().now() + control;
        of.act(deed);
    }

    bool leaves() override {
        if (!over_.empty()) return true;
        // Time alone changes an answer now and then; a change of an object has been looked at.
        if (time().now() >= looked_ + seconds(1)) look();
        while (over_.empty() && step()) {
        }
        return !over_.empty();
    }

    report result() {
        report out;
        const char* kinds[] = {"plan", "job", "pod"};
        const std::string kind = chosen_ ? kinds[static_cast<int>(who_.what)] : "none";
        out.count(fmt::format("explain {}: {}", kind, over_.empty() ? "cut off" : over_));
        for (const auto& each : removed_) out.count("removed " + each);
        if (over_ == "freed" && !removed_.empty()) out.count("freed by " + removed_.back());
        out.violations = wrong_;
        return out;
    }

private:
    timeline& time() const { return house_->in.time; }
    void tell(const std::string& text) {
        house_->in.told.tell("foresee", [&] { return text; });
    }
    void end(std::string how) {
        if (over_.empty()) over_ = std::move(how);
    }
    void wrong(std::string rule, const std::string& text) {
        wrong_.push_back({std::move(rule), who_.text() + ": " + text, when_.at});
        end("broken");
    }
    std::string list() const {
        std::string out;
        for (const auto& each : named_) out += (out.empty() ? "" : "; ") + each.text();
        return out.empty() ? "nothing" : out;
    }

    answers::explanation ask(const self_pointer& self) const {
        auto out = seen_->explain(self, time().wall());
        if (forge_) forge_(out);
        return out;
    }

    // What waits.

    bool choose() {
        std::vector<waiting> all[3];
        for (const auto& [key, self] : seen_->all().schedulings) {
            if (self->metadata.deleting() || !self->status.releasing.empty() ||
                scheduling::is_over(self->status)) {
                continue;
            }
            const auto said = ask(self);
            const auto& uid = self->metadata.uid;
            if (!scheduling::is_running(self->status)) {
                if (!of_the_plan(said).empty()) {
                    all[0].push_back({waiting::kind::plan, key, uid, {}, {}});
                }
                continue;
            }
            for (const auto& job : said.jobs) {
                if (job.starts_now || !job.refused.empty() || job.place == 0) continue;
                const bool has_run = !job.run.empty() && !job.ended;
                if (!has_run && !job.blockers.empty()) {
                    all[1].push_back(
                        {waiting::kind::job, key, uid, {job.namespace_, job.name}, {}});
                }
            }
            for (const auto& pod : said.pods) {
                all[2].push_back(
                    {waiting::kind::pod, key, uid, pod.job, {pod.namespace_, pod.name}});
            }
        }
        std::vector<const std::vector<waiting>*> some;
        for (const auto& each : all) {
            if (!each.empty()) some.push_back(&each);
        }
        if (some.empty()) return false;
        who_ = chance_.one_of(*chance_.one_of(some));
        chosen_ = true;
        return true;
    }

    // What is said of it now, and whether it goes on.

    void changed(const change& what) {
        if (!over_.empty() || !chosen_) {
            seen_->follow(what);
            return;
        }
        // By what was said until then.
        note_steps(what);
        if (seen_->follow(what)) look();
    }

    void note_steps(const change& what) {
        if (what.what == change_type::deleted) return;
        if (who_.what == waiting::kind::plan && what.type->plural == kinds::testbed.plural) {
            const auto old = what.before ? holder_in(*what.before) : std::string();
            if (holder_in(*what.after) == who_.uid && old != who_.uid) goes_on();
        }
        if (who_.what == waiting::kind::job && what.type->plural == kinds::scheduling.plural &&
            what.after->uid() == who_.uid) {
            const auto old = seen_->scheduling(who_.scheduling);
            if (new_assignments(old.get(), *what.after).contains(who_.job)) {
                look();
                goes_on();
            }
        }
    }

    void goes_on() {
        if (!over_.empty()) return;
        const auto now = time().now();
        bool free = who_.what == waiting::kind::pod;
        auto until = steady_time::max();
        for (auto one = said_.rbegin(); one != said_.rend() && until >= now - behind; ++one) {
            free = free || one->second;
            until = one->first;
        }
        tell(who_.text() + " goes on");
        if (!free) return wrong("went-on-though-blocked", "it goes on; named was " + list());
        end(removed_.empty() ? "freed by itself" : "freed");
    }

    /// Takes the answer for the objects as they are.
    void look() {
        if (!over_.empty()) return;
        looked_ = time().now();
        const auto self = seen_->scheduling(who_.scheduling);
        if (!self || self->metadata.uid != who_.uid || self->metadata.deleting()) {
            return end("exempt: it is gone");
        }
        named_.clear();
        const auto said = ask(self);
        judge_owners(said, *self);
        if (!over_.empty()) return;
        bool free = false;
        switch (who_.what) {
            case waiting::kind::plan:
                named_ = of_the_plan(said);
                free = named_.empty();
                break;
            case waiting::kind::job:
                free = look_at_job(said);
                break;
            case waiting::kind::pod:
                look_at_pod(said);
                break;
        }
        if (said_.empty() || said_.back().second != free) said_.emplace_back(time().now(), free);
    }

    /// It acquires all or nothing: what is named with one job keeps the others from starting, too.
    static std::vector<named> of_the_plan(const answers::explanation& said) {
        std::vector<named> out;
        if (!said.problem.empty()) out.push_back({std::string(named_reason::problem), {}});
        for (const auto& each : said.blockers) out.push_back({each.reason, each});
        for (const auto& job : said.jobs) {
            for (const auto& each : job.blockers) {
                if (!is_about_slots(each.reason)) out.push_back({each.reason, each});
            }
        }
        return out;
    }

    bool look_at_job(const answers::explanation& said) {
        const auto found = std::ranges::find_if(said.jobs, [&](const auto& each) {
            return object_key{each.namespace_, each.name} == who_.job;
        });
        if (found == said.jobs.end() || !found->refused.empty() || found->place == 0) {
            end("exempt: it is wanted no more");
            return false;
        }
        if (found->starts_now) return true;
        for (const auto& each : said.blockers) named_.push_back({each.reason, each});
        for (const auto& each : found->blockers) named_.push_back({each.reason, each});
        return false;
    }

    /// A job that is named with slots has them: they are assigned to it, or are about to be.
    void judge_owners(const answers::explanation& said, const model::scheduling& self) {
        for (const auto& job : said.jobs) {
            for (const auto& each : job.blockers) {
                if (each.reason != answers::blocking_reason::slot_of_job) continue;
                const object_key owner{each.holder->namespace_, each.holder->name};
                std::set<int> has;
                for (const auto& a : self.status.assignments) {
                    if (a.job.key() == owner && !a.ended) {
                        has.insert(a.slot_ids.begin(), a.slot_ids.end());
                    }
                }
                for (const auto& other : said.jobs) {
                    if (object_key{other.namespace_, other.name} == owner && other.starts_now) {
                        has.insert(other.slots.begin(), other.slots.end());
                    }
                }
                if (std::ranges::includes(has, std::set(each.slots.begin(), each.slots.end()))) {
                    continue;
                }
                return wrong(
                    "owner-untrue",
                    fmt::format("BatchJob {} waits for {}, and that one has {}", job.name,
                                named{each.reason, each}.text(),
                                grid::show_slot_list(std::vector(has.begin(), has.end()))));
            }
        }
    }

    void look_at_pod(const answers::explanation& said) {
        const auto pod = seen_->pod(who_.pod);
        if (!pod || pod->bound() || pod->terminal()) {
            return end(removed_.empty() ? "freed by itself" : "freed");
        }
        const auto found = std::ranges::find_if(said.pods, [&](const auto& each) {
            return object_key{each.namespace_, each.name} == who_.pod;
        });
        if (found == said.pods.end()) return end("exempt: it is wanted no more");
        answers::blocking one;
        one.what = {"Testbed", said.testbed.namespace_, said.testbed.name};
        if (found->slot) one.slots = {*found->slot};
        one.freed_by = found->freed_by;
        named_.push_back({found->reason, std::move(one)});
    }

    bool a_node_is_silent() const {
        const auto nodes = house_->in.server.objects().all(kinds::node);
        return std::ranges::any_of(nodes, [](const auto& node) {
            const auto* list = fields::find(node->body(), {"status", "conditions"});
            if (!list) return false;
            return std::ranges::any_of(*list, [](const json& one) {
                return fields::text(one, {"type"}) == "Ready" &&
                       fields::text(one, {"status"}) != "True";
            });
        });
    }

    // What people do about it.

    /// False: time has to pass first.
    bool step() {
        const auto now = time().now();
        if (!target_ && now < until_) return false;
        if (target_) {
            const auto still = std::ranges::find_if(
                named_, [&](const auto& each) { return each.text() == target_->text(); });
            if (still != named_.end()) return wait_for_removal(*still);
            target_.reset();
        }
        std::vector<named> causes;
        for (const auto& each : named_) {
            if (!is_summary(each.reason)) causes.push_back(each);
        }
        // A claim is planned once nothing else keeps the plan.
        if (causes.size() > 1) {
            std::erase_if(causes, [](const auto& each) {
                return each.reason == model::condition_reason::waits_for_claim;
            });
        }
        if (causes.empty()) return wait_for_it();
        since_.reset();
        if (++removals_ > most_removals) {
            end("exempt: too many steps");
            return true;
        }
        target_ = chance_.one_of(causes);
        const auto way = remedy_for(*target_, who_, *seen_, when_.up_to);
        tell(
            fmt::format("{} waits for {}; {} is taken away", who_.text(), list(), target_->text()));
        if (way.impossible) {
            end("exempt: nobody can mend it");
            return true;
        }
        removed_.push_back(target_->reason);
        until_ = now + patience_of_removal;
        for (const auto& each : way.deeds) house_->act(each);
        return true;
    }

    bool wait_for_removal(const named& still) {
        if (time().now() < until_) return false;
        if (a_node_is_silent()) {
            end("exempt: a node is silent");
        } else if (target_->reason == answers::waiting_reason::foreign) {
            end("exempt: a pod of nobody");
        } else if (waits_for_release(still)) {
            end("exempt: the layout waits for the release, and the answer says so");
        } else {
            wrong("still-named",
                  fmt::format("{} was taken away {} s ago and is named still", target_->text(),
                              std::chrono::duration_cast<seconds>(patience_of_removal).count()));
        }
        return true;
    }

    /// A slot of a layout that the hold keeps, though nodes or spec have changed since.
    bool waits_for_release(const named& still) const {
        const auto testbed = seen_->testbed(grid::testbed_of(*seen_->scheduling(who_.scheduling)));
        if (!testbed) return false;
        const auto* current = model::find_condition(testbed->status.conditions,
                                                    model::condition_type::layout_current);
        return still.reason == answers::blocking_reason::slot_in_error && current != nullptr &&
               current->reason == model::condition_reason::waits_for_release &&
               still.what.freed_by.contains(current->type);
    }

    /// Nothing is named that anybody could take away.
    bool wait_for_it() {
        const auto now = time().now();
        if (!since_) since_ = now;
        if (now < *since_ + patience_of_removal) return false;
        if (a_node_is_silent()) {
            end("exempt: a node is silent");
        } else {
            wrong("nothing-else-named", fmt::format("it does not go on, and named is {}", list()));
        }
        return true;
    }

    const moment& when_;
    const explanation_forger& forge_;
    random_source intents_;
    random_source chance_;
    house* house_ = nullptr;
    std::unique_ptr<picture> seen_;
    waiting who_;
    bool chosen_ = false;
    std::vector<named> named_;
    /// Since when what was said: that it is free to go on.
    std::deque<std::pair<steady_time, bool>> said_;
    steady_time looked_{};
    steady_time until_{};
    std::optional<steady_time> since_;
    std::optional<named> target_;
    int removals_ = 0;
    std::vector<std::string> removed_;
    std::string over_;
    std::vector<violation> wrong_;
};

}  // namespace

report probe_explanations(std::uint64_t seed, const run_options& how,
                          const explanation_forger& forge) {
    const auto when = moment_of(seed);
    probe guest(when, forge);
    auto ran = run(when.up_to, how, guest);
    auto out = guest.result();
    for (auto& each : ran.violations) out.violations.push_back(std::move(each));
    out.story = std::move(ran.story);
    return out;
}

}  // namespace esi::simulation::foresee
