#include "testbed/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "model/json.h"
#include "model/names.h"
#include "testbed/caches/observe.h"

namespace esi::testbed {

namespace {

/// The number of no slice.
constexpr int most_number = std::numeric_limits<int>::max();

std::set<std::string> nodes_in(const caches& from, const model::testbed& testbed,
                               const grid::places& places) {
    std::set<std::string> out;
    for (const auto& [name, member] : places.members()) out.insert(name);
    for (const auto& [key, node] : from.nodes().all()) {
        if (node->metadata.labels.contains(testbed.spec.node_label)) out.insert(key.name);
    }
    for (const auto& node : from.nodes().by_index("taint", testbed.metadata.uid)) {
        out.insert(node->metadata.name);
    }
    for (const char* index : {"ghosts", "guests"}) {
        from.pods().each_by_index(index, testbed.metadata.key().text(),
                                  [&](const pod_pointer& pod) { out.emplace(home_of(*pod)); });
    }
    return out;
}

/// Adds the jobs whose run the pod carries; assess_pod() needs no others.
view with_jobs_of(const caches& from, view seen, const model::pod& pod) {
    seen.jobs = from.jobs().by_index("run", pod.run());
    return seen;
}

template <class Time>
bool take_due(std::set<std::pair<Time, std::string>>& from, Time now, std::set<std::string>& into) {
    bool any = false;
    while (!from.empty() && from.begin()->first <= now) {
        into.insert(from.begin()->second);
        from.erase(from.begin());
        any = true;
    }
    return any;
}

}  // namespace

ground upkeep::on(const model::testbed_layout& layout, const grid::places& places,
                  purpose what_for) const {
    return {layout, places, what_for, of_.most_listed, of_.seen.slices_served};
}

void upkeep::see(const caches& from, testbed_pointer testbed, const std::string& ghost_image,
                 const hints& known) {
    const bool another =
        !of_.seen.testbed || of_.seen.testbed->metadata.uid != testbed->metadata.uid;
    all_ = all_ || another;
    auto seen = observe_testbed(from, std::move(testbed));
    seen.ghost_image = ghost_image;
    const auto what_for = stage_of(*seen.testbed) == stage::leaves ? purpose::leave : purpose::keep;
    all_ = all_ || what_for != what_for_;
    what_for_ = what_for;

    const auto places = seen.index_of(*seen.testbed).places;
    // After another layout all is assessed again.
    all_ = all_ || places != places_;
    places_ = places;
    if (!given_ || seen.holder != holder_) {
        were_given_ = given_;
        given_ = std::make_shared<const std::set<int>>(slots_given(seen.holder.get()));
        holder_ = seen.holder;
    }
    seen.given = given_;
    all_ = all_ || seen.slices_served != of_.seen.slices_served;

    static const model::testbed_layout none;
    const auto& layout = seen.testbed->status.layout;
    of_.layout = layout ? &*layout : &none;
    of_.seen = std::move(seen);
    if (labels_ || all_) {
        std::map<std::string, node_pointer> nodes;
        for (const auto& [key, node] : from.nodes().all()) {
            if (node->metadata.labels.contains(of_.seen.testbed->spec.node_label)) {
                nodes.emplace(key.name, node);
            }
        }
        of_.wanted = want_layout(of_.seen.testbed->spec, *of_.layout, nodes);
        of_.current = same_layout(*of_.layout, of_.wanted.layout);
        of_.difference =
            of_.current ? std::string() : describe_difference(*of_.layout, of_.wanted.layout);
        ++marks_;
    }
    labels_ = false;
    auto refusal = known.images.failures > 0 ? known.images.text : std::string();
    if (refusal != of_.image_refusal) ++marks_;
    of_.image_refusal = std::move(refusal);
    if (of_.claim != known.claim) ++marks_;
    of_.claim = known.claim;
    if (of_.slice_problem != known.slice_problem) ++marks_;
    of_.slice_problem = known.slice_problem;
}

void upkeep::forget() {
    marks_ += all_states_.version() + 1;
    all_states_ = ledger();
    // Slices that exist may no longer be needed.
    unwritten_.insert(most_number);
    deadlines_.clear();
    by_time_.clear();
    by_next_.clear();
    by_last_.clear();
    nodes_.clear();
    pods_.clear();
    jobs_.clear();
}

void upkeep::note_rows(const std::vector<row_line>& before, const std::vector<row_line>& after) {
    const auto note = [&](const row_line& of) { unwritten_.insert(of.position / rows_per_slice_); };
    const bool same_places =
        std::ranges::equal(before, after, {}, &row_line::position, &row_line::position);
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (!same_places || before[i] != after[i]) note(after[i]);
    }
    if (!same_places) std::ranges::for_each(before, note);
}

int upkeep::count_of_slices() const {
    const int slots = places_ ? places_->count() : 0;
    if (slots <= of_.most_listed || !of_.seen.slices_served) return 0;
    return (slots + rows_per_slice_ - 1) / rows_per_slice_;
}

int upkeep::number_of_slice(int first) const {
    return first >= 0 && first % rows_per_slice_ == 0 ? first / rows_per_slice_ : most_number;
}

std::vector<std::string> upkeep::rows_of_slice(int number) const {
    model::slot_status none;
    none.state = model::slot_state::error;
    const auto unknown = grid::slot_line_of(none);
    std::vector<std::string> out;
    const int from = number * rows_per_slice_;
    const int to = std::min(from + rows_per_slice_, places_->count());
    for (int position = from; position < to; ++position) {
        const auto place = places_->at(position);
        const auto node = all_states_.nodes().find(place->node);
        const auto* text = &unknown;
        if (node != all_states_.nodes().end()) {
            const auto& lines = node->second.lines;
            const auto line = std::ranges::lower_bound(lines, position, {}, &row_line::position);
            if (line != lines.end() && line->position == position) text = &line->text;
        }
        out.push_back(*text);
    }
    return out;
}

std::set<std::string> upkeep::changed_nodes(const caches& from, steady_time now, wall_time wall) {
    std::set<std::string> out = std::exchange(nodes_, {});
    const auto& sums = all_states_.sums();
    out.insert(sums.acting.begin(), sums.acting.end());
    take_due(by_time_, now, out);
    take_due(by_next_, wall, out);
    while (!by_last_.empty() && wall < by_last_.rbegin()->first) {
        out.insert(by_last_.rbegin()->second);
        by_last_.erase(std::prev(by_last_.end()));
    }
    if (hold_) {
        out.insert(sums.using_hold.begin(), sums.using_hold.end());
        for (const auto& given : {were_given_, given_}) {
            if (!given) continue;
            for (const int position : *given) {
                if (const auto place = places_->at(position)) out.insert(place->node);
            }
        }
        const auto key = of_.seen.testbed->metadata.key().text();
        from.pods().each_by_index(
            "guests", key, [&](const pod_pointer& pod) { pods_.insert(pod->metadata.key()); });
        for (const auto& job : from.jobs().by_index("testbed", key)) {
            jobs_.insert(job->metadata.key());
        }
    }
    hold_ = false;
    return out;
}

void upkeep::note_deadlines(const std::string& node, const deadlines& before,
                            const deadlines& after) {
    if (before.at) by_time_.erase({*before.at, node});
    if (before.until) by_next_.erase({*before.until, node});
    if (before.since) by_last_.erase({*before.since, node});
    if (after.at) by_time_.emplace(*after.at, node);
    if (after.until) by_next_.emplace(*after.until, node);
    if (after.since) by_last_.emplace(*after.since, node);
    if (after.at || after.until || after.since) {
        deadlines_.insert_or_assign(node, after);
    } else {
        deadlines_.erase(node);
    }
}

std::set<std::string> upkeep::bring_up(const caches& from, testbed_pointer testbed,
                                       const hints& known, const std::string& ghost_image,
                                       steady_time now, wall_time wall) {
    see(from, std::move(testbed), ghost_image, known);
    const auto at = stage_of(*of_.seen.testbed);
    if (at != stage::works && at != stage::leaves) {
        forget();
        all_ = true;
        return {};
    }
    if (all_) {
        forget();
        nodes_ = nodes_in(from, *of_.seen.testbed, *places_);
        hold_ = true;
    }
    all_ = false;
    const auto changed = changed_nodes(from, now, wall);
    static const deadlines none;
    for (const auto& name : changed) {
        const auto seen = observe_node(from, of_.seen, name, *places_);
        auto state = assess_node(seen, name, here(), known, now, wall);
        assessed_ += static_cast<std::uint64_t>(state.counts.total);
        const auto before = deadlines_.find(name);
        note_deadlines(name, before == deadlines_.end() ? none : deadlines(before->second),
                       state.changes);
        static const std::vector<row_line> no_rows;
        const auto was = all_states_.nodes().find(name);
        note_rows(was == all_states_.nodes().end() ? no_rows : was->second.lines, state.lines);
        all_states_.put_node(name, std::move(state));
    }
    pods_.merge(all_states_.take_moved());
    const auto key = of_.seen.testbed->metadata.key();
    for (const auto& name : std::exchange(pods_, {})) {
        const auto pod = from.pods().find(name);
        if (!pod || pod->testbed() != key) {
            all_states_.put_pod(name, {});
            continue;
        }
        all_states_.put_pod(name, assess_pod(with_jobs_of(from, of_.seen, *pod), pod,
                                             all_states_.has_accepted(name),
                                             all_states_.has_inside(name), what_for_));
    }
    for (const auto& name : std::exchange(jobs_, {})) {
        const auto job = from.jobs().find(name);
        const bool counts = job && what_for_ == purpose::keep;
        all_states_.put_job(name,
                            counts ? assess_job(of_.seen, *job, *places_) : std::vector<dispute>());
    }
    return changed;
}

std::optional<steady_time::duration> upkeep::next_change(steady_time now, wall_time wall) const {
    std::optional<steady_time::duration> out;
    const auto add = [&](steady_time::duration wait) {
        wait = std::max<steady_time::duration>(wait, milliseconds(10));
        if (!out || wait < *out) out = wait;
    };
    if (!by_time_.empty()) add(by_time_.begin()->first - now);
    if (!by_next_.empty()) {
        add(std::chrono::duration_cast<steady_time::duration>(by_next_.begin()->first - wall) +
            milliseconds(10));
    }
    return out;
}

ledger upkeep::of_layout(const caches& from, const model::testbed_layout& layout,
                         const hints& known, steady_time now, wall_time wall) const {
    const grid::places places(layout);
    const auto there = on(layout, places, purpose::keep);
    ledger out;
    for (const auto& name : nodes_in(from, *of_.seen.testbed, places)) {
        const auto seen = observe_node(from, of_.seen, name, places);
        out.put_node(name, assess_node(seen, name, there, known, now, wall));
    }
    return out;
}

std::string upkeep::differences(const caches& from, const hints& known, steady_time now,
                                wall_time wall) const {
    const auto at = stage_of(*of_.seen.testbed);
    if (at != stage::works && at != stage::leaves) return {};
    auto whole = observe(from, of_.seen.testbed);
    whole.ghost_image = of_.seen.ghost_image;
    auto anew = overview_of(whole, want_layout(whole), known);
    anew.most_listed = of_.most_listed;
    const auto states = ledger_of(whole, here(), known, now, wall);
    const auto compare = [](std::string_view what, const std::string& kept,
                            const std::string& made) {
        if (kept == made) return std::string();
        const auto first = std::ranges::mismatch(kept, made).in1 - kept.begin();
        const auto from_here = static_cast<std::size_t>(std::max<std::ptrdiff_t>(first - 200, 0));
        return fmt::format("{} kept up: ...{}... but made anew: ...{}... ", what,
                           kept.substr(from_here, 500), made.substr(from_here, 500));
    };
    auto out = compare("ledger", all_states_.text(), states.text());
    out += compare("report", model::encode(report(of_, all_states_, wall)).dump(),
                   model::encode(report(anew, states, wall)).dump());
    return out;
}

}  // namespace esi::testbed
