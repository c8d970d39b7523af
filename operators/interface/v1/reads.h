// The operations that read Testbeds, BatchJobs and Schedulings: lists, single objects, runs, slots.
// Answered from the caches; of BatchJobs the specs through the API server (application_specs.h).
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interface/v1/application_specs.h"
#include "interface/v1/change_waits.h"
#include "interface/v1/sources.h"
#include "interface/v1/wire/label_selector.h"
#include "interface/v1/wire/parameters.h"
#include "scheduling/answers/slot_rows.h"

namespace esi::interface::v1 {

/// The slots of a Testbed, or a part of them.
struct slot_list {
    model::object_key testbed;
    std::string resource_version;  ///< of the Testbed
    std::vector<model::slot_status> items;
    std::string continue_;  ///< empty: these are the last
};
BOOST_DESCRIBE_STRUCT(slot_list, (), (testbed, resource_version, items, continue_))

/// The recorded runs of a BatchJob, the oldest first.
struct run_list {
    model::object_key job;
    std::string resource_version;  ///< of the BatchJob
    std::int64_t run_count = 0;    ///< all runs so far, also those that are recorded no longer
    std::vector<model::run_record> items;
};
BOOST_DESCRIBE_STRUCT(run_list, (), (job, resource_version, run_count, items))

namespace list_limits {
inline constexpr int usual = 100;
inline constexpr int most = 500;
inline constexpr int usual_slots = 1000;
inline constexpr int most_slots = 5000;
/// An answer ends after the object that exceeds this, and continues with `continue`.
inline constexpr std::size_t most_bytes = 4u << 20;
}  // namespace list_limits

/// Objects that the caches have complete, in the form of whole_jobs.
template <class T>
class cached_objects {
public:
    explicit cached_objects(std::vector<std::shared_ptr<const T>> all) : all_(std::move(all)) {}
    asio::awaitable<result<std::shared_ptr<const T>>> next(std::size_t) {
        co_return at_ < all_.size() ? all_[at_++] : nullptr;
    }
    bool at_end() const { return at_ == all_.size(); }
    bool out_of_room() const { return false; }

private:
    std::vector<std::shared_ptr<const T>> all_;
    std::size_t at_ = 0;
};

class reads {
public:
    reads(const sources& from, limits bounds);
    reads(const reads&) = delete;
    reads& operator=(const reads&) = delete;

    asio::awaitable<answer> list_testbeds(http::server_request from);
    asio::awaitable<answer> list_jobs(http::server_request from);
    asio::awaitable<answer> list_schedulings(http::server_request from);
    asio::awaitable<answer> get_testbed(http::server_request from);
    asio::awaitable<answer> get_job(http::server_request from);
    asio::awaitable<answer> get_scheduling(http::server_request from);
    asio::awaitable<answer> list_runs(http::server_request from);
    asio::awaitable<answer> list_slots(http::server_request from);

    /// Ends all waits.
    void stop() { waits_.stop(); }
    change_waits& waits() { return waits_; }

private:
    /// The wait that a blocking query or waitFor asks for.
    struct wait_wish {
        std::optional<std::uint64_t> index;
        std::string field;  ///< "state", or the type of a condition; empty: no waitFor
        bool of_condition = false;
        std::string value;
        steady_time::duration wait{};
    };
    struct list_wish {
        std::string ns;
        label_selector labels;
        std::set<std::string, std::less<>> states;
        int limit = list_limits::usual;
        model::object_key after;
        std::string version;
        std::uint64_t question = 0;
        wait_wish wait;
    };

    template <class T>
    asio::awaitable<answer> list(const kube::store<T>& of, http::server_request from);
    template <class T>
    asio::awaitable<answer> get(const kube::store<T>& of, http::server_request from);
    wait_wish read_wait(parameters& given, bool single) const;
    list_wish read_list(parameters& given, const http::server_request& from,
                        std::string_view kind) const;
    /// Waits as requested; a problem if it ended otherwise.
    template <class T>
    asio::awaitable<std::optional<http::problem_details>> wait(const kube::store<T>& of,
                                                               model::object_key at, wait_wish wish,
                                                               const http::server_request& from);
    template <class T>
    static bool is_as_wished(const T& object, const wait_wish& wish);

    /// Returns the objects, completed with what the caches do not have.
    whole_jobs whole(std::vector<std::shared_ptr<const model::batchjob>> of,
                     std::shared_ptr<http::answer_room> room);
    template <class T>
    static cached_objects<T> whole(std::vector<std::shared_ptr<const T>> of,
                                   const std::shared_ptr<http::answer_room>& room);

    const sources& from_;
    limits bounds_;
    change_waits waits_;
    application_specs specs_;
};

/// The namespace and the name of the path.
model::object_key key_of(const http::server_request& from);
/// "\"42\"": the entity tag of a version.
std::string etag_of(std::string_view version);

}  // namespace esi::interface::v1
