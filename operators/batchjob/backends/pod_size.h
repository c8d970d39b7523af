// How much the pods of a template ask for, before there is one. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "model/quantity.h"

namespace esi::batchjob {

using json = nlohmann::json;

/// Which init containers count: those that end before the others start only decide whether the pod
/// fits, those that run on (sidecars) take their part of the slot.
enum class init_containers { all, sidecars };

/// The effective requests of a pod of this spec whose container `main` asks for `main_size`, as the
/// API server and kube-scheduler count them (a limit without a request is one). Parts that cannot
/// be read count nothing: the API server refuses them.
model::amounts requests_of(json pod, std::string_view main, const model::amounts& main_size,
                           init_containers counted);

/// The slot without what the other containers of the pod take of its cpu and memory; none below 0.
model::resource_list room_for_main(const model::resource_list& slot, const json& pod,
                                   std::string_view main);

/// An amount of memory in whole MiB, rounded up, as the JVM, Spark and Flink write it ("4g",
/// "1600 mb"), or Kubernetes ("4Gi"). `unit`: bytes of a number without a unit. Nothing if it is
/// none, or 0 or less.
std::optional<std::int64_t> mebibytes_in(std::string_view text, std::int64_t unit);

/// So many MiB as an amount of the resource memory.
std::int64_t amount_of_mebibytes(std::int64_t mebibytes);

}  // namespace esi::batchjob
