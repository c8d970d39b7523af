#include "interface/v1/application_specs.h"

#include <algorithm>
#include <span>

#include "kube/watch/live_list.h"
#include "model/json.h"

namespace esi::interface::v1 {

namespace {

namespace types = kube::types;

}  // namespace

std::size_t application_specs::entry::bytes() const {
    auto out = sizeof(entry) + uid.size();
    for (const auto& each : texts) out += each ? each->text.size() : 0;
    return out;
}

application_specs::application_specs(const sources& from) : from_(from) {
    from.seen.jobs().on_change([this](const kube::change<model::batchjob>& what) {
        if (what.before && !what.after) forget(what.before->metadata.uid);
    });
}

bool application_specs::is_known(const model::batchjob& trimmed) const {
    const auto found = by_uid_.find(trimmed.metadata.uid);
    return found != by_uid_.end() && found->second->generation == trimmed.metadata.generation;
}

application_specs::job_pointer application_specs::completed(const model::batchjob& trimmed) {
    if (!is_known(trimmed)) return nullptr;
    const auto found = by_uid_.find(trimmed.metadata.uid);
    kept_.splice(kept_.begin(), kept_, found->second);
    auto out = std::make_shared<model::batchjob>(trimmed);
    for (std::size_t i = 0; i < model::application_kinds.size(); ++i) {
        const auto& kind = model::application_kinds[i];
        if (kind.large) out->spec.*kind.spec = found->second->texts[i];
    }
    return out;
}

void application_specs::drop(known::iterator which) {
    bytes_ -= which->bytes();
    by_uid_.erase(which->uid);
    kept_.erase(which);
}

void application_specs::forget(std::string_view uid) {
    if (const auto found = by_uid_.find(uid); found != by_uid_.end()) drop(found->second);
}

void application_specs::keep(const model::batchjob& job) {
    forget(job.metadata.uid);
    entry made{job.metadata.uid, job.metadata.generation, {}};
    for (std::size_t i = 0; i < model::application_kinds.size(); ++i) {
        const auto& kind = model::application_kinds[i];
        if (kind.large) made.texts[i] = job.spec.*kind.spec;
    }
    const auto bytes = made.bytes();
    if (bytes > spec_limits::kept_of_one) return;
    while (bytes_ + bytes > spec_limits::kept) drop(std::prev(kept_.end()));
    kept_.push_front(std::move(made));
    by_uid_.emplace(job.metadata.uid, kept_.begin());
    bytes_ += bytes;
}

// --- reading ---

whole_jobs::whole_jobs(application_specs& specs, std::vector<job_pointer> trimmed,
                       std::shared_ptr<http::answer_room> room)
    : specs_(specs), jobs_(std::move(trimmed)), room_(std::move(room)) {}

asio::awaitable<result<whole_jobs::job_pointer>> whole_jobs::next(std::size_t collected) {
    while (at_ < jobs_.size()) {
        const auto trimmed = jobs_[at_];
        if (auto read = ahead_.extract(trimmed->metadata.key())) {
            ++at_;
            co_return std::move(read.mapped());
        }
        if (auto known = specs_.completed(*trimmed)) {
            ++at_;
            co_return known;
        }
        if (wants_page()) {
            auto done = co_await read_page(collected);
            if (!done) co_return std::unexpected(std::move(done).error());
        } else {
            auto read = co_await read_one(collected, trimmed);
            if (!read) co_return std::unexpected(std::move(read).error());
            if (!out_of_room_) ++at_;
            // A job that has gone is skipped.
            if (*read) co_return read;
        }
        if (out_of_room_) break;
    }
    co_return nullptr;
}

/// Takes room for the jobs present and an answer of that length, as text and parsed. A request that
/// has collected nothing waits for room; one with some jobs returns those, since two that hold
/// something could wait for each other.
asio::awaitable<bool> whole_jobs::hold(std::size_t collected, std::size_t answer_limit) {
    if (!room_) co_return true;
    bool held = false;
    if (at_ == 0 && ahead_.empty()) {
        room_->hold(0);
        held = co_await room_->wait_to_hold(2 * answer_limit);
    } else {
        held = room_->hold(collected + (ahead_.empty() ? 0 : ahead_bytes_) + 2 * answer_limit);
    }
    out_of_room_ = !held;
    co_return held;
}

/// Jobs that the current page has passed are in no later page.
bool whole_jobs::is_listed(const model::object_key& key) const {
    return listed_to_ && listed_to_->namespace_ == key.namespace_ &&
           (continue_.empty() || key <= *listed_to_);
}

bool whole_jobs::wants_page() const {
    const auto first = jobs_[at_]->metadata.key();
    if (one_by_one_ || is_listed(first)) return false;
    if (listed_to_ && listed_to_->namespace_ == first.namespace_) return true;
    std::size_t missing = 0;
    for (auto i = at_; i < jobs_.size() && missing <= spec_limits::single_reads; ++i) {
        if (jobs_[i]->metadata.namespace_ != first.namespace_) break;
        if (!specs_.is_known(*jobs_[i])) ++missing;
    }
    return missing > spec_limits::single_reads;
}

asio::awaitable<result<void>> whole_jobs::read_page(std::size_t collected) {
    const auto ns = jobs_[at_]->metadata.namespace_;
    if (!listed_to_ || listed_to_->namespace_ != ns) continue_.clear();
    if (!co_await hold(collected, spec_limits::page)) co_return result<void>();
    kube::list_options options;
    options.limit = page_size_;
    options.continue_token = continue_;
    options.answer_limit = spec_limits::page;
    const auto text = co_await specs_.from_.api.list(types::batchjob, ns, options);
    if (!text && text.error().code == errc::answer_too_large) {
        page_size_ /= 4;
        longest_page_ = page_size_;
        one_by_one_ = page_size_ <= 1;
        co_return result<void>();
    }
    if (!text) co_return std::unexpected(text.error());
    auto done = take_page(*text, ns);
    // A job that cannot be decoded makes the whole page fail.
    if (!done && done.error().code == errc::decode) {
        one_by_one_ = true;
        co_return result<void>();
    }
    co_return done;
}

result<void> whole_jobs::take_page(const std::string& text, const std::string& ns) {
    auto jobs = model::decode_list<model::batchjob>(text, "BatchJob");
    if (!jobs) return std::unexpected(std::move(jobs).error());
    listed_to_ = model::object_key{ns, jobs->empty() ? "" : jobs->back().metadata.name};
    continue_ = kube::continue_of(text);
    if (!jobs->empty()) {
        const auto fit = spec_limits::page / 2 * jobs->size() / text.size();
        page_size_ = std::clamp(static_cast<int>(fit), 1, longest_page_);
    }
    ahead_bytes_ = text.size();
    const std::span rest(jobs_.begin() + static_cast<std::ptrdiff_t>(at_), jobs_.end());
    for (auto& job : *jobs) {
        auto key = job.metadata.key();
        const bool wanted = std::ranges::binary_search(
            rest, key, {}, [](const auto& each) { return each->metadata.key(); });
        if (!wanted) continue;
        specs_.keep(job);
        ahead_[std::move(key)] = std::make_shared<const model::batchjob>(std::move(job));
    }
    return {};
}

/// Null: the job has gone, or there is no room.
asio::awaitable<result<whole_jobs::job_pointer>> whole_jobs::read_one(std::size_t collected,
                                                                      job_pointer trimmed) {
    const auto key = trimmed->metadata.key();
    for (;;) {
        const auto limit = expects_large_ ? spec_limits::largest_job : spec_limits::usual_job;
        if (!co_await hold(collected, limit)) co_return nullptr;
        const auto text = co_await specs_.from_.api.get(types::batchjob, key.namespace_, key.name,
                                                        kube::shown_part::whole, limit);
        if (!text && text.error().code == errc::not_found) co_return nullptr;
        if (!text && text.error().code == errc::answer_too_large) {
            if (expects_large_) co_return trimmed;
            expects_large_ = true;
            continue;
        }
        if (!text) co_return std::unexpected(text.error());
        expects_large_ = text->size() > spec_limits::usual_job;
        auto job = model::decode<model::batchjob>(*text, "BatchJob");
        if (!job) co_return trimmed;
        specs_.keep(*job);
        co_return std::make_shared<const model::batchjob>(std::move(*job));
    }
}

}  // namespace esi::interface::v1
