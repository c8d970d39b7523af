#include "kubectl-esi/commands/queue.h"

#include <algorithm>
#include <map>

#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"
#include "scheduling/acquire.h"
#include "scheduling/answers/explanation.h"

namespace esi::kubectl {

namespace answers = scheduling::answers;
using pointer = std::shared_ptr<const model::scheduling>;

namespace {

/// 0: it has its Testbed; 1: it waits; 2: it has ended.
int turn_of(const model::scheduling& of) {
    switch (scheduling::stage_of(of)) {
        case scheduling::stage::running:
        case scheduling::stage::releasing:
        case scheduling::stage::leaving:
            return 0;
        case scheduling::stage::entering:
            return 1;
        case scheduling::stage::over:
            return 2;
    }
    return 2;
}

bool comes_before(const pointer& a, const pointer& b) {
    const int left = turn_of(*a);
    const int right = turn_of(*b);
    if (left != right) return left < right;
    if (left == 1) return scheduling::goes_before(*a, *b);
    if (left == 2) return model::older(b->metadata, a->metadata);
    return model::older(a->metadata, b->metadata);
}

/// The latest of the estimates, if each blocker has one.
std::optional<answers::estimated_time> last_of(const std::vector<answers::blocking>& blockers) {
    std::optional<answers::estimated_time> out;
    for (const auto& each : blockers) {
        if (!each.estimate) return std::nullopt;
        if (!out || each.estimate->at > out->at) out = each.estimate;
    }
    return out;
}

void plan(queued& out, const answers::snapshot& of, const pointer& self, wall_time now) {
    const auto why = answers::explain(answers::view_of(of, self), now);
    out.mode = why.mode;
    out.end = why.end;
    if (!why.problem.empty()) out.waits_for = why.problem;
    if (!why.blockers.empty() && out.waits_for.empty()) out.waits_for = why.blockers.front().text;
    if (!out.started) {
        if (!why.blockers.empty()) {
            out.start = last_of(why.blockers);
        } else {
            // The plan is not blocked: its first job starts when that job has slots.
            for (const auto& job : why.jobs) {
                if (job.start && (!out.start || job.start->at < out.start->at)) {
                    out.start = job.start;
                }
            }
        }
    }
    if (!out.waits_for.empty()) return;
    for (const auto& job : why.jobs) {
        if (job.blockers.empty() || job.state == model::job_progress_state::completed) continue;
        out.waits_for = job.blockers.front().text;
        return;
    }
}

}  // namespace

std::vector<queued> queue_of(const answers::snapshot& of, const std::string& ns, bool finished,
                             wall_time now) {
    std::map<model::object_key, std::vector<pointer>> by_testbed;
    for (const auto& [key, each] : of.schedulings) {
        by_testbed[grid::testbed_of(*each)].push_back(each);
    }
    std::vector<queued> out;
    std::size_t planned = 0;
    for (auto& [testbed, list] : by_testbed) {
        std::ranges::sort(list, comes_before);
        int place = 0;
        for (const auto& each : list) {
            const bool over = turn_of(*each) == 2;
            if (!over) ++place;
            const auto& meta = each->metadata;
            if ((!ns.empty() && meta.namespace_ != ns) || (over && !finished)) continue;
            queued one;
            one.testbed = testbed;
            one.place = over ? 0 : place;
            one.namespace_ = meta.namespace_;
            one.name = meta.name;
            one.mode = each->status.mode;
            one.state = each->status.state;
            one.reason = each->status.reason;
            if (each->status.progress) one.progress = each->status.progress->summary;
            one.priority = each->spec.priority.value_or(0);
            one.created = meta.creation_timestamp;
            one.started = each->status.started;
            one.ended = each->status.ended;
            if (!over && ++planned <= most_planned) plan(one, of, each, now);
            if (one.waits_for.empty()) one.waits_for = each->status.waiting_for;
            out.push_back(std::move(one));
        }
    }
    return out;
}

std::string queue_text(const std::vector<queued>& of, bool namespaces, bool wide,
                       const shown::look& as, wall_time now) {
    std::vector<std::string> headings{"TESTBED", "PLACE"};
    if (namespaces) headings.emplace_back("NAMESPACE");
    for (const char* each :
         {"NAME", "MODE", "STATE", "REASON", "PROGRESS", "AGE", "START", "END"}) {
        headings.emplace_back(each);
    }
    if (wide) headings.emplace_back("PRIORITY");
    headings.emplace_back("WAITS-FOR");
    shown::table rows(std::move(headings));
    for (const auto& each : of) {
        std::vector<shown::cell> row{
            each.testbed.text(), each.place == 0 ? std::string("-") : std::to_string(each.place)};
        if (namespaces) row.emplace_back(each.namespace_);
        row.emplace_back(each.name);
        row.emplace_back(shown::or_none(each.mode));
        row.emplace_back(shown::or_none(each.state));
        row.emplace_back(shown::or_none(each.reason),
                         each.reason.empty() ? shown::tint::dim : shown::tint::wait);
        row.emplace_back(shown::or_none(each.progress));
        row.emplace_back(shown::age_text(each.created, now));
        row.emplace_back(each.started ? shown::ago_text(each.started, now)
                                      : shown::estimate_text(each.start));
        row.emplace_back(each.ended ? shown::ago_text(each.ended, now)
                                    : shown::estimate_text(each.end));
        if (wide) row.emplace_back(std::to_string(each.priority));
        row.emplace_back(shown::or_none(each.waits_for));
        rows.add(std::move(row));
    }
    return rows.text(as);
}

asio::awaitable<result<reply>> queue(session& in, bool finished) {
    auto seen = co_await read_world(in, {{in.own_namespace()}});
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto now = in.now();
    const auto all = queue_of(seen->objects, in.listed_namespace(), finished, now);
    reply out;
    out.note = notes_text(seen->hidden);
    if (!in.tables()) {
        out.out = shown::object_text({{"items", shown::items_of(all)}}, in.flags.output);
    } else if (all.empty()) {
        out.note += in.flags.all_namespaces ? "No schedulings that run or wait found\n"
                                            : "No schedulings that run or wait found in " +
                                                  in.own_namespace() + " namespace.\n";
    } else {
        out.out = queue_text(all, in.flags.all_namespaces, in.wide(), in.look(), now);
    }
    co_return out;
}

}  // namespace esi::kubectl
