// The Spark and Flink specs of BatchJobs, which the caches trim: read through the API server, and
// kept as long as there is room and the job's generation is the same (a change of the spec raises
// it). Owned by the surface; used on the process' loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduling/interface/v1/sources.h"

namespace esi::scheduling::v1 {

class application_specs {
public:
    using job_pointer = std::shared_ptr<const model::batchjob>;

    /// Keeps at most so many bytes.
    explicit application_specs(const sources& from, std::size_t most_bytes = 16u << 20);
    application_specs(const application_specs&) = delete;
    application_specs& operator=(const application_specs&) = delete;

    /// The same jobs with their specs, in the same order. Of one that has changed meanwhile its
    /// present version; one that has gone is left out.
    asio::awaitable<result<std::vector<job_pointer>>> whole(std::vector<job_pointer> trimmed);
    asio::awaitable<result<job_pointer>> whole(job_pointer trimmed);

    std::size_t bytes() const { return bytes_; }

private:
    struct entry {
        std::string uid;
        std::int64_t generation = 0;
        std::optional<model::raw_json> spark;
        std::optional<model::raw_json> flink;
        std::size_t bytes() const;
    };
    using known = std::list<entry>;

    /// Null where the spec is not known.
    job_pointer completed(const model::batchjob& trimmed);
    void keep(const model::batchjob& job);
    void forget(std::string_view uid);
    void drop(known::iterator which);
    asio::awaitable<result<void>> read_one(model::object_key key,
                                           std::map<model::object_key, job_pointer>& into);
    asio::awaitable<result<void>> read_namespace(std::string ns,
                                                 std::vector<model::object_key> wanted,
                                                 std::map<model::object_key, job_pointer>& into);

    const sources& from_;
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    known kept_;  ///< used last first
    std::map<std::string, known::iterator, std::less<>> by_uid_;
};

}  // namespace esi::scheduling::v1
