// The specs of applications in BatchJobs, which the caches trim: read through the API server, and
// the small ones kept as long as there is room and the job's generation is the same (a change of
// the spec raises it). Owned by the surface; used on the process' loop.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/message.h"
#include "interface/v1/sources.h"
#include "model/application_kinds.h"

namespace esi::interface::v1 {

namespace spec_limits {
/// Bytes of all cached specs: those of some thousand jobs of the usual size.
inline constexpr std::size_t kept = 4u << 20;
/// Bytes of one cached spec: a few large ones would displace all others.
inline constexpr std::size_t kept_of_one = 256u << 10;
/// Up to this many jobs of a namespace are read one by one; for more, the namespace is listed.
inline constexpr std::size_t single_reads = 8;
/// How many are listed before it is known how large they are.
inline constexpr int first_page = 4;
inline constexpr int longest_page = 250;
/// Bytes of a page. Later pages aim at half of it.
inline constexpr std::size_t page = 512u << 10;
/// Bytes of a job that is read alone; a larger one is read again, with the bound below.
inline constexpr std::size_t usual_job = 128u << 10;
/// etcd by default takes no object above 1.5 MiB.
inline constexpr std::size_t largest_job = 2u << 20;
}  // namespace spec_limits

class application_specs {
public:
    using job_pointer = std::shared_ptr<const model::batchjob>;

    explicit application_specs(const sources& from);
    application_specs(const application_specs&) = delete;
    application_specs& operator=(const application_specs&) = delete;

private:
    friend class whole_jobs;
    struct entry {
        std::string uid;
        std::int64_t generation = 0;
        /// By the rows of model::application_kinds; only of the large ones.
        std::array<std::optional<model::raw_json>, model::application_kinds.size()> texts;
        std::size_t bytes() const;
    };
    using known = std::list<entry>;

    bool is_known(const model::batchjob& trimmed) const;
    /// Null where the spec is not known.
    job_pointer completed(const model::batchjob& trimmed);
    void keep(const model::batchjob& job);
    void forget(std::string_view uid);
    void drop(known::iterator which);

    const sources& from_;
    std::size_t bytes_ = 0;  ///< of the cached ones
    known kept_;             ///< used last first
    std::map<std::string, known::iterator, std::less<>> by_uid_;
};

/// The jobs of one answer with their specs, in order. It reads few at a time: what is read and not
/// yet returned is bounded by one page or one job, and is charged to the room of the request before
/// it is read.
class whole_jobs {
public:
    using job_pointer = application_specs::job_pointer;

    /// `trimmed`: in the order of their keys. `room` may be null.
    whole_jobs(application_specs& specs, std::vector<job_pointer> trimmed,
               std::shared_ptr<http::answer_room> room);

    /// The next job. A job that has changed meanwhile comes in its present version; one whose
    /// object has more than `largest_job` bytes comes as the cache has it; one that has gone is
    /// skipped. Null: there are no more, or no room for what has to be read. `collected`: bytes of
    /// earlier jobs that the caller holds.
    asio::awaitable<result<job_pointer>> next(std::size_t collected);
    bool at_end() const { return at_ == jobs_.size(); }
    bool out_of_room() const { return out_of_room_; }

private:
    asio::awaitable<bool> hold(std::size_t collected, std::size_t answer_limit);
    bool is_listed(const model::object_key& key) const;
    bool wants_page() const;
    asio::awaitable<result<void>> read_page(std::size_t collected);
    result<void> take_page(const std::string& text, const std::string& ns);
    asio::awaitable<result<job_pointer>> read_one(std::size_t collected, job_pointer trimmed);

    application_specs& specs_;
    std::vector<job_pointer> jobs_;
    std::shared_ptr<http::answer_room> room_;
    std::size_t at_ = 0;  ///< the next of jobs_
    bool out_of_room_ = false;
    bool one_by_one_ = false;     ///< no page is asked for any more
    bool expects_large_ = false;  ///< the last one that was read alone was
    int page_size_ = spec_limits::first_page;
    int longest_page_ = spec_limits::longest_page;
    /// The namespace that is listed: up to which key, and how it continues (empty: at its end).
    std::optional<model::object_key> listed_to_;
    std::string continue_;
    /// Read and not yet returned, and their bytes.
    std::map<model::object_key, job_pointer> ahead_;
    std::size_t ahead_bytes_ = 0;
};

}  // namespace esi::interface::v1
