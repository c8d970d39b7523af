// The kinds of applications that this operator can make.
#pragma once

#include <memory>
#include <vector>

#include "batchjob/backends/flink/defaults.h"
#include "batchjob/backends/source.h"

namespace esi::batchjob {

/// `within`: the namespaces whose applications are watched.
std::vector<std::unique_ptr<application_source>> make_sources(const placement_options& options,
                                                              const flink::defaults& flink,
                                                              kube::client& api, clock& time,
                                                              asio::any_io_executor executor,
                                                              const kube::watch_scope& within);

}  // namespace esi::batchjob
