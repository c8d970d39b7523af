// Makes a BatchJob and a Scheduling for each Spark driver that waits at the gate, in namespaces
// that have consented by the label esi.tu-berlin.de/gangs=enabled. From then on the driver is a job
// like any other (backends/spark_driver). Owned by the batchjob operator, with --spark-drivers
// only.
//
// It keeps no state that counts: both objects have the driver's name, so each is made once whenever
// the process is stopped.
#pragma once

#include <memory>
#include <string>

#include "batchjob/caches.h"
#include "batchjob/drivers/driver_request.h"
#include "batchjob/drivers/told_words.h"
#include "controller/controller.h"
#include "controller/process.h"

namespace esi::batchjob::drivers {

class driver_jobs {
public:
    /// Both must outlive it; `from` has no objects yet.
    driver_jobs(controller::environment& env, batchjob::caches& from);

    controller::operator_part::cache cache();
    void lead() { loop_.start(); }
    asio::awaitable<void> stop(steady_time deadline) { return loop_.stop(deadline); }

private:
    enum class standing { there, taken, going };

    void listen();
    bool enabled(std::string_view ns) const;
    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    asio::awaitable<result<controller::outcome>> make(std::shared_ptr<const model::pod> driver,
                                                      driver_request of);
    /// Creates the object unless one of its name exists; `known` is that object in the cache, or
    /// null.
    asio::awaitable<result<standing>> ensure(const kube::resource_type& type,
                                             const model::pod& driver,
                                             const model::object_meta* known, json body);
    controller::outcome report_wait(const model::pod& driver);
    /// Sends an Event about the driver if the text is new and not too soon (told_words.h). `about`
    /// stays the same if only counts change; empty: all of the text counts.
    controller::outcome tell(const model::pod& driver, bool warning, std::string_view reason,
                             std::string text, std::string_view about = {});

    controller::environment& env_;
    batchjob::caches& caches_;
    /// The namespaces with the label.
    kube::informer<model::metadata_only> namespaces_;
    told_words told_;
    controller::controller loop_;
};

}  // namespace esi::batchjob::drivers
