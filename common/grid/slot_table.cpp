#include "grid/slot_table.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "grid/places.h"
#include "grid/records.h"
#include "grid/rights.h"
#include "model/names.h"

namespace esi::grid {

namespace names = model::names;

namespace {

/// The Testbed's records of pods in slots.
std::vector<std::pair<std::string_view, int>> records_in(const model::testbed* testbed) {
    std::vector<std::pair<std::string_view, int>> out;
    if (testbed == nullptr) return out;
    for (const auto& row : testbed->status.slots) {
        if (!row.pod_u_id.empty()) out.emplace_back(row.pod_u_id, row.position);
    }
    return out;
}

std::vector<std::pair<std::string_view, int>> records_in(const model::batchjob* job,
                                                         const model::object_key& testbed) {
    std::vector<std::pair<std::string_view, int>> out;
    if (job == nullptr || placed_in(*job) != testbed) return out;
    for (const auto& entry : job->status.placements) out.emplace_back(entry.pod_uid, entry.slot);
    return out;
}

/// A slice's records of pods in slots, and the positions that it calls ERROR.
struct slice_content {
    std::vector<std::pair<std::string_view, int>> records;
    std::vector<int> errors;
    bool operator==(const slice_content&) const = default;
};

/// Empty for a slice that `testbed` does not believe.
slice_content content_of(const model::slot_slice* slice, const model::testbed& testbed) {
    slice_content out;
    if (slice == nullptr || !is_believed(*slice, testbed)) return out;
    each_line(*slice, [&](int position, const slot_line& line) {
        if (!line.record().empty()) out.records.emplace_back(line.record(), position);
        if (line.in_error()) out.errors.push_back(position);
    });
    return out;
}

/// Positions mean the same, and the same slices are believed.
bool is_same_grid(const model::testbed& a, const model::testbed& b) {
    return a.metadata.uid == b.metadata.uid && a.status.layout == b.status.layout &&
           has_slices(a) == has_slices(b);
}

std::set<int> rows_in_error(const model::testbed_status& status) {
    std::set<int> out;
    for (const auto& slot : status.slots) {
        if (slot.state == model::slot_state::error) out.insert(slot.position);
    }
    return out;
}

/// Nodes whose slots cannot be used, of a Testbed without rows.
std::set<std::string_view> nodes_in_error(const model::testbed_status& status) {
    std::set<std::string_view> out;
    if (status.nodes_out_of_use) {
        out.insert(status.nodes_out_of_use->names.begin(), status.nodes_out_of_use->names.end());
    } else {
        for (const auto& [node, problems] : status.node_problems) out.insert(node);
    }
    return out;
}

}  // namespace

std::set<int> slots_in_error(const model::testbed& testbed, const slice_list& slices) {
    const auto& status = testbed.status;
    auto out = rows_in_error(status);
    if (!status.slots.empty() || !status.layout) return out;
    for (const auto& slice : slices.all()) {
        each_line(*slice, [&](int position, const slot_line& line) {
            if (line.in_error()) out.insert(position);
        });
    }
    const auto nodes = nodes_in_error(status);
    if (nodes.empty()) return out;
    for (const auto& slot : slots_of(*status.layout)) {
        if (nodes.contains(slot.node)) out.insert(slot.position);
    }
    return out;
}

bool slot_table::by_key::operator()(const pod_pointer& a, const pod_pointer& b) const {
    const auto& left = a->metadata;
    const auto& right = b->metadata;
    return std::tie(left.namespace_, left.name) < std::tie(right.namespace_, right.name);
}

// --- changes ---

void slot_table::change_testbed(testbed_pointer after) {
    const auto before = std::exchange(testbed_, after);
    if (before && after && is_same_grid(*before, *after)) {
        change_records(records_in(before.get()), records_in(after.get()));
        change_errors(in_error(*after));
        return;
    }
    for (const auto& one : records_in(before.get())) count_record(one, -1);
    count_slices(before.get(), -1);
    for (const auto& one : records_in(after.get())) count_record(one, 1);
    count_slices(after.get(), 1);
    lay_out();
    runs_.clear();
    for (const auto& pod : pods_) file(pod);
    for (const auto& [made_by, nodes] : ghosts_) {
        if (!is_of_testbed(made_by)) continue;
        for (const auto& [node, list] : nodes) {
            for (const auto& each : list) hold(node, each.index, each.holding);
        }
    }
}

void slot_table::change_pod(const pod_pointer& before, const pod_pointer& after) {
    if (before && before->is_ghost()) {
        count_ghost(*before, -1);
    } else if (before) {
        const auto& uid = before->metadata.uid;
        unfile(before);
        if (const auto kept = kept_place(*before)) count_record({uid, *kept}, -1);
        pods_.erase(before);
        const auto key = before->metadata.key();
        auto [at, end] = job_pods_.equal_range(uid);
        while (at != end) {
            at = at->second->metadata.key() == key ? job_pods_.erase(at) : std::next(at);
        }
        const bool stays = after && !after->is_ghost() && after->metadata.uid == uid;
        if (!stays && !job_pods_.contains(uid)) departed_.erase(uid);
    }
    if (after && after->is_ghost()) {
        count_ghost(*after, 1);
    } else if (after) {
        pods_.insert(after);
        job_pods_.emplace(after->metadata.uid, after);
        if (const auto kept = kept_place(*after)) count_record({after->metadata.uid, *kept}, 1);
        file(after);
    }
}

void slot_table::change_job(const model::batchjob* before, const model::batchjob* after) {
    auto is = records_in(after, of_);
    if (before && (!after || after->metadata.uid != before->metadata.uid)) {
        std::ranges::copy(keep(*before), std::back_inserter(is));
    }
    change_records(records_in(before, of_), std::move(is));
}

std::vector<slot_table::record> slot_table::keep(const model::batchjob& deleted) {
    std::vector<record> out;
    for (const auto& [uid, position] : records_in(&deleted, of_)) {
        const auto pod = job_pods_.find(uid);
        if (pod == job_pods_.end() || !pod->second->live()) continue;
        const bool is_new = departed_[std::string(uid)].insert(position).second;
        if (is_new && kept_place(*pod->second) == position) out.emplace_back(uid, position);
    }
    return out;
}

std::optional<int> slot_table::kept_place(const model::pod& pod) const {
    const auto found = departed_.find(pod.metadata.uid);
    if (found == departed_.end() || !pod.live() || !let_in(pod)) return std::nullopt;
    const auto position = slot_of_pod(pod);
    return position && found->second.contains(*position) ? position : std::nullopt;
}

bool slot_table::change_slice(const slice_pointer& before, const slice_pointer& after) {
    if (before) slices_.erase(before->metadata.name);
    if (after) slices_.insert_or_assign(after->metadata.name, after);
    if (!testbed_) return false;
    auto was = content_of(before.get(), *testbed_);
    auto is = content_of(after.get(), *testbed_);
    if (was == is) return false;
    change_records(std::move(was.records), std::move(is.records));
    for (const int position : was.errors) count_slice_error(position, -1);
    for (const int position : is.errors) count_slice_error(position, 1);
    change_errors(in_error(*testbed_));
    return true;
}

void slot_table::count_slices(const model::testbed* of, int by) {
    if (of == nullptr) return;
    for (const auto& [name, slice] : slices_) {
        const auto content = content_of(slice.get(), *of);
        for (const auto& one : content.records) count_record(one, by);
        for (const int position : content.errors) count_slice_error(position, by);
    }
}

void slot_table::count_slice_error(int position, int by) {
    const auto entry = slice_errors_.try_emplace(position).first;
    entry->second += by;
    if (entry->second == 0) slice_errors_.erase(entry);
}

slice_list slot_table::slices_of(const model::testbed& of) const {
    std::vector<slice_pointer> all;
    for (const auto& [name, slice] : slices_) all.push_back(slice);
    return {of, all};
}

void slot_table::change_records(std::vector<record> before, std::vector<record> after) {
    std::ranges::sort(before);
    std::ranges::sort(after);
    std::vector<record> gone;
    std::vector<record> come;
    std::ranges::set_difference(before, after, std::back_inserter(gone));
    std::ranges::set_difference(after, before, std::back_inserter(come));
    std::set<pod_pointer, by_key> concerned;
    for (const auto* list : {&gone, &come}) {
        for (const auto& [uid, position] : *list) {
            auto [at, end] = job_pods_.equal_range(uid);
            for (; at != end; ++at) concerned.insert(at->second);
        }
    }
    for (const auto& pod : concerned) unfile(pod);
    for (const auto& one : gone) count_record(one, -1);
    for (const auto& one : come) count_record(one, 1);
    for (const auto& pod : concerned) file(pod);
}

void slot_table::count_record(const record& what, int by) {
    auto of_pod = recorded_.find(what.first);
    if (of_pod == recorded_.end())
        of_pod = recorded_.emplace(what.first, std::map<int, int>()).first;
    auto& count = of_pod->second[what.second];
    count += by;
    if (count > 0) return;
    of_pod->second.erase(what.second);
    if (of_pod->second.empty()) recorded_.erase(of_pod);
}

void slot_table::change_errors(std::set<int> now) {
    std::vector<int> changed;
    std::ranges::set_symmetric_difference(errors_, now, std::back_inserter(changed));
    errors_ = std::move(now);
    for (int position : changed) judge(position);
}

void slot_table::lay_out() {
    places_ = std::make_shared<const places>();
    holding_.clear();
    inside_.clear();
    free_.clear();
    errors_.clear();
    if (!testbed_) return;
    if (const auto& layout = testbed_->status.layout) {
        places_ = std::make_shared<const places>(*layout);
        const auto total = static_cast<std::size_t>(places_->count());
        holding_.resize(total);
        count_read(total);
    }
    errors_ = in_error(*testbed_);
}

// --- where a pod is filed ---

bool slot_table::is_recorded(const model::pod& pod) const {
    return recorded_.contains(pod.metadata.uid);
}

bool slot_table::is_recorded(const model::pod& pod, int position) const {
    const auto found = recorded_.find(pod.metadata.uid);
    return found != recorded_.end() && found->second.contains(position);
}

/// The same as grid::members_of and grid::look.
std::optional<int> slot_table::position_of(const model::pod& pod) const {
    if (holding_.empty()) return std::nullopt;
    const auto position = slot_of_pod(pod);
    if (!position || *position >= size() || !is_recorded(pod, *position)) return std::nullopt;
    if (pod.terminal() || pod.run().empty() || !let_in(pod)) return std::nullopt;
    const auto& node = *places_->node_of(*position);
    if (pod.metadata.annotation(names::slot_node) != node.name) return std::nullopt;
    if (pod.bound() && pod.node_name != node.name) return std::nullopt;
    return position;
}

void slot_table::file(const pod_pointer& pod) {
    if (is_recorded(*pod)) {
        auto run = runs_.find(pod->run());
        if (run == runs_.end()) run = runs_.try_emplace(std::string(pod->run())).first;
        run->second.insert(pod);
    }
    const auto position = position_of(*pod);
    if (!position) return;
    auto& in = inside_[*position];
    in.insert(std::ranges::upper_bound(in, pod, by_key()), pod);
    judge(*position);
}

void slot_table::unfile(const pod_pointer& pod) {
    if (auto run = runs_.find(pod->run()); run != runs_.end()) {
        run->second.erase(pod);
        if (run->second.empty()) runs_.erase(run);
    }
    const auto position = position_of(*pod);
    if (!position) return;
    const auto in = inside_.find(*position);
    if (in == inside_.end()) return;
    const auto key = pod->metadata.key();
    std::erase_if(in->second, [&](const auto& each) { return each->metadata.key() == key; });
    if (in->second.empty()) inside_.erase(in);
    judge(*position);
}

bool slot_table::is_of_testbed(const maker& made_by) const {
    return testbed_ && made_by.first == testbed_->metadata.namespace_ &&
           made_by.second == testbed_->metadata.uid;
}

void slot_table::count_ghost(const model::pod& ghost, int by) {
    const auto* owner = ghost.metadata.controller_owner();
    const auto index = slot_index_of_ghost(ghost);
    if (owner == nullptr || !index) return;
    const maker made_by(ghost.metadata.namespace_, owner->uid);
    const std::string node(ghost.metadata.annotation(names::node));
    const bool holds = ghost.bound() && ghost.live() && !ghost.metadata.deleting();

    auto& nodes = ghosts_[made_by];
    auto& list = nodes[node];
    auto at = std::ranges::lower_bound(list, *index, {}, &claim::index);
    if (at == list.end() || at->index != *index) at = list.insert(at, {*index});
    at->ghosts += by;
    if (holds) at->holding += by;
    if (at->ghosts == 0) list.erase(at);
    if (list.empty()) nodes.erase(node);
    if (nodes.empty()) ghosts_.erase(made_by);
    if (is_of_testbed(made_by)) hold(node, *index, holds ? by : 0);
}

void slot_table::hold(const std::string& node, int index, int by) {
    const auto position = places_->position_of(node, index);
    if (!position) return;
    holding_[static_cast<std::size_t>(*position)] += by;
    judge(*position);
}

void slot_table::judge(int position) {
    if (position < 0 || position >= size()) return;
    count_read();
    const bool held = holding_[static_cast<std::size_t>(position)] > 0;
    if (held && !inside_.contains(position) && !errors_.contains(position)) {
        free_.insert(position);
    } else {
        free_.erase(position);
    }
}

// --- questions ---

slot_table::row slot_table::at(int position) const {
    count_read();
    row out{*places_->at(position), {}};
    if (const auto in = inside_.find(position); in != inside_.end()) out.job_pods = in->second;
    return out;
}

std::set<int> slot_table::in_error(const model::testbed& other) const {
    const auto& status = other.status;
    auto out = rows_in_error(status);
    if (!status.slots.empty() || !status.layout || holding_.empty()) return out;
    if (has_slices(other)) {
        for (const auto& [position, count] : slice_errors_) out.insert(out.end(), position);
    }
    for (const auto& node : nodes_in_error(status)) {
        for (const auto& slot : places_->on(node)) out.insert(slot.position);
    }
    return out;
}

std::vector<pod_pointer> slot_table::recorded_pods() const {
    std::set<pod_pointer, by_key> out;
    for (const auto& [run, pods] : runs_) out.insert(pods.begin(), pods.end());
    return {out.begin(), out.end()};
}

std::vector<pod_pointer> slot_table::recorded_pods_of_run(std::string_view run) const {
    const auto found = runs_.find(run);
    if (found == runs_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

std::vector<pod_pointer> slot_table::recorded_pods_of(std::string_view scheduling_uid) const {
    // A run is "<scheduling uid>.<version>.<k>".
    const auto prefix = std::string(scheduling_uid) + ".";
    std::set<pod_pointer, by_key> out;
    for (auto at = runs_.lower_bound(prefix); at != runs_.end(); ++at) {
        if (!at->first.starts_with(prefix)) break;
        if (owner_of_run(at->first) != scheduling_uid) continue;
        out.insert(at->second.begin(), at->second.end());
    }
    return {out.begin(), out.end()};
}

pod_pointer slot_table::job_pod(std::string_view uid) const {
    const auto found = job_pods_.find(uid);
    return found == job_pods_.end() ? nullptr : found->second;
}

}  // namespace esi::grid
