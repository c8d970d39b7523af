#include "foresee/preview_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>

#include "foresee/promise.h"
#include "foresee/watcher.h"
#include "grid/grid.h"
#include "run/visitor.h"

namespace esi::simulation::foresee {

namespace {

/// From the moment on; longer where something that was said to start has not.
constexpr auto watched = seconds(60);

std::string_view word_of(promise::state of) {
    switch (of) {
        case promise::state::open:
            return "none starts";
        case promise::state::as_foreseen:
            return "as foreseen";
        case promise::state::after_a_change:
            return "after a change";
        case promise::state::overtaken:
            return "overtaken";
        case promise::state::behind:
            return "behind";
        case promise::state::gone:
            return "gone";
        case promise::state::broken:
            break;
    }
    return "broken";
}

class probe final : public visitor {
public:
    probe(const moment& when, const forger& forge)
        : when_(when), forge_(forge), chance_(random_source(when.up_to.seed).fork("preview")) {}

    milliseconds arrival() const override { return when_.at - before; }

    void arrives(house& of) override {
        house_ = &of;
        seen_ = std::make_unique<picture>(of.in.server.objects(), when_.up_to.cross_namespace_jobs);
        remember();
        of.in.server.objects().on_change([this](const change& what) { changed(what); });
        of.in.time.after(before, [this] { ask(); });
    }

    bool leaves() override {
        if (!asked_) return false;
        const auto now = time().now();
        bool due = false;
        for (auto& each : asked_about_) {
            each.what.look(now);
            due = due || each.what.due();
        }
        return !due && now >= *asked_ + watched;
    }

    report result() {
        report out;
        for (auto& each : asked_about_) {
            if (each.what.is_now() == promise::state::broken) {
                out.violations.push_back({each.what.rule(), each.what.text(), when_.at});
            }
            out.count(fmt::format("preview {}: {}", each.of_intent ? "of an intent" : "of a plan",
                                  word_of(each.what.is_now())));
            out.count(fmt::format("preview says {}", each.what.first().verdict));
        }
        for (const auto& each : wrong_) out.violations.push_back(each);
        out.count(asked_ ? "states" : "states not reached");
        out.count(fmt::format("intent {}", word_));
        return out;
    }

private:
    struct question {
        object_key key;
        std::string uid;
        bool of_intent = false;
        promise what;
    };

    timeline& time() const { return house_->in.time; }

    foreseen answer(self_pointer self) const {
        auto out = seen_->preview_of(std::move(self), time().wall());
        if (forge_) forge_(out);
        return foreseen::of(out);
    }

    void tell(const std::string& text) {
        house_->in.told.tell("foresee", [&] { return text; });
    }

    /// What operators may decide by still when the moment has come.
    void remember() {
        for (const auto& [key, one] : seen_->all().schedulings) {
            past_[one->metadata.uid].emplace_back(time().now(), answer(one));
        }
    }

    void ask() {
        asked_ = time().now();
        house_->calm();
        const auto plan = intent_at(*seen_, chance_, time().wall());
        word_ = plan.what == intent::kind::create   ? "create"
                : plan.what == intent::kind::change ? "change"
                                                    : "nothing";
        for (const auto& [key, one] : seen_->all().schedulings) {
            if (plan.what == intent::kind::change && key == plan.key) continue;
            put(key, one->metadata.uid, false, answer(one));
        }
        if (plan.what == intent::kind::nothing) return;
        const auto old = seen_->scheduling(plan.key);
        const auto said = answer(plan.draft);
        tell(plan.key.text() + " would be: " + said.text());
        house_->act(plan.deed);
        const auto made = seen_->scheduling(plan.key);
        const bool done = made && (!old || old->metadata.generation != made->metadata.generation);
        if (!done) {
            word_ += " refused";
            if (old) put(plan.key, old->metadata.uid, false, answer(old));
            return;
        }
        put(plan.key, made->metadata.uid, true, said);
        judge_together();
        const auto now = answer(made);
        if (now.starts != said.starts) {
            wrong_.push_back({"draft-differs",
                              fmt::format("{}: as a draft \"{}\", as an object \"{}\"",
                                          plan.key.text(), said.text(), now.text()),
                              when_.at});
        }
    }

    void put(const object_key& key, const std::string& uid, bool of_intent, const foreseen& said) {
        auto& one = asked_about_.emplace_back(
            question{key, uid, of_intent, promise("Scheduling " + key.text(), said, time().now())});
        tell(fmt::format("{}: {}", key.text(), said.text()));
        const auto found = past_.find(uid);
        if (found == past_.end()) return;
        for (auto past = found->second.rbegin(); past != found->second.rend(); ++past) {
            one.what.was(past->second, past->first);
        }
    }

    /// What is foreseen at one moment can all come: no job and no slot is promised twice.
    void judge_together() {
        if (told_twice_) return;
        std::map<object_key, object_key> jobs;
        std::map<std::pair<object_key, int>, object_key> slots;
        const auto once = [&](const object_key& who, auto& of, const auto& what, const auto& text) {
            const auto [first, added] = of.emplace(what, who);
            if (added || first->second == who || told_twice_) return;
            told_twice_ = true;
            wrong_.push_back({"foreseen-twice",
                              fmt::format("Schedulings {} and {} are both foreseen to start with "
                                          "{} now",
                                          first->second.text(), who.text(), text()),
                              when_.at});
        };
        for (const auto& [key, self] : seen_->all().schedulings) {
            const auto bed = grid::testbed_of(*self);
            for (const auto& [job, taken] : answer(self).starts) {
                once(key, jobs, job, [&] { return "BatchJob " + job.text(); });
                for (const int slot : taken) {
                    once(key, slots, std::pair(bed, slot),
                         [&] { return fmt::format("slot {} of Testbed {}", slot, bed.text()); });
                }
            }
        }
    }

    void changed(const change& what) {
        if (house_ == nullptr) return;
        if (asked_) note_steps(what);
        std::map<std::string, bool> own;
        for (const auto& each : asked_about_) own[each.uid] = is_own_step(*seen_, what, each.uid);
        if (!seen_->follow(what)) return;
        if (!asked_) return remember();
        for (auto& each : asked_about_) {
            if (!each.what.open()) continue;
            const auto self = seen_->scheduling(each.key);
            if (!self || self->metadata.uid != each.uid) {
                each.what.gone();
                continue;
            }
            each.what.is(answer(self), time().now(), own[each.uid]);
        }
        judge_together();
    }

    /// Before the picture shows the change: what it does is judged by what was said until then.
    void note_steps(const change& what) {
        if (what.what == change_type::deleted) return;
        const object_key key{what.after->ns(), what.after->name()};
        if (what.type->plural == kinds::testbed.plural) {
            const auto uid = holder_in(*what.after);
            const auto old = what.before ? holder_in(*what.before) : std::string();
            for (auto& each : asked_about_) {
                if (uid == each.uid && old != each.uid) each.what.acquired(time().now());
            }
            return;
        }
        if (what.type->plural != kinds::scheduling.plural) return;
        const auto before_it = seen_->scheduling(key);
        // The time has gone on since the last change.
        for (auto& each : asked_about_) {
            if (each.key != key || !before_it || each.uid != what.after->uid()) continue;
            const auto starts = new_assignments(before_it.get(), *what.after);
            if (starts.empty()) continue;
            each.what.is(answer(before_it), time().now(), false);
            each.what.assigned(starts, time().now());
            tell(fmt::format("{} starts: {}", key.text(), word_of(each.what.is_now())));
        }
    }

    const moment& when_;
    const forger& forge_;
    random_source chance_;
    house* house_ = nullptr;
    std::unique_ptr<picture> seen_;
    std::optional<steady_time> asked_;
    std::string word_ = "none";
    bool told_twice_ = false;
    std::map<std::string, std::vector<std::pair<steady_time, foreseen>>> past_;
    std::list<question> asked_about_;
    std::vector<violation> wrong_;
};

}  // namespace

report probe_previews(std::uint64_t seed, const run_options& how, const forger& forge) {
    const auto when = moment_of(seed);
    probe guest(when, forge);
    auto ran = run(when.up_to, how, guest);
    auto out = guest.result();
    for (auto& each : ran.violations) out.violations.push_back(std::move(each));
    out.story = std::move(ran.story);
    return out;
}

}  // namespace esi::simulation::foresee
