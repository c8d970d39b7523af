// Numbers for Prometheus, under the names that controller-runtime and client-go use, so that known
// dashboards work. One registry per process.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>

namespace esi::controller {

class metrics {
public:
    metrics();
    ~metrics();

    using labels = std::map<std::string, std::string>;
    /// Created at first use. The set of label values must be bounded.
    prometheus::Counter& counter(const std::string& name, const std::string& help,
                                 const labels& with = labels());
    prometheus::Gauge& gauge(const std::string& name, const std::string& help,
                             const labels& with = labels());
    /// Removes the series: its subject is gone.
    void drop_gauge(const std::string& name, const labels& with);
    /// Buckets in seconds, fixed at the first use of `name`.
    prometheus::Histogram& histogram(const std::string& name, const std::string& help,
                                     const std::vector<double>& buckets,
                                     const labels& with = labels());

    /// Text exposition format 0.0.4.
    std::string text() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace esi::controller
