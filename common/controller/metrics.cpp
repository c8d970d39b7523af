#include "controller/metrics.h"

#include <prometheus/family.h>
#include <prometheus/text_serializer.h>

#include <utility>

namespace esi::controller {

namespace {

template <class Metric>
using families = std::map<std::string, prometheus::Family<Metric>*, std::less<>>;

}  // namespace

struct metrics::state {
    prometheus::Registry registry;
    families<prometheus::Counter> counters;
    families<prometheus::Gauge> gauges;
    families<prometheus::Histogram> histograms;
    std::map<std::string, prometheus::Histogram::BucketBoundaries, std::less<>> buckets;
};

metrics::metrics() : state_(std::make_unique<state>()) {}
metrics::~metrics() = default;

prometheus::Counter& metrics::counter(const std::string& name, const std::string& help,
                                      const labels& with) {
    auto& family = state_->counters[name];
    if (!family) {
        family = &prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
    }
    return family->Add(with);
}

prometheus::Gauge& metrics::gauge(const std::string& name, const std::string& help,
                                  const labels& with) {
    auto& family = state_->gauges[name];
    if (!family) {
        family = &prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
    }
    return family->Add(with);
}

void metrics::drop_gauge(const std::string& name, const labels& with) {
    const auto family = state_->gauges.find(name);
    // Add() gives the series that is there.
    if (family != state_->gauges.end()) family->second->Remove(&family->second->Add(with));
}

prometheus::Histogram& metrics::histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& buckets, const labels& with) {
    auto& family = state_->histograms[name];
    if (!family) {
        family = &prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
        state_->buckets.emplace(name, buckets);
    }
    return family->Add(with, state_->buckets.at(name));
}

std::string metrics::text() const {
    return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace esi::controller
