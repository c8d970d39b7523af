// The commands that mend an installation, by the way in which it was installed: by Helm, by another
// tool that renders the chart, by files of helm/manifests, or as the demo is. Pure.
#pragma once

#include <string>
#include <string_view>

#include "kubectl-esi/doctor/facts.h"

namespace esi::kubectl::doctor {

inline constexpr std::string_view manifests = "helm/manifests";

/// No operator has a Deployment: the operators run as processes, as those of the demo do.
bool runs_as_processes(const facts& at);

/// The command that applies an object of the chart again. `of`: the origin of the object; null if
/// the object does not exist. `path`: a file or folder that has it, for installations without Helm.
/// `values`: for --set, may be empty.
std::string apply_again(const facts& at, const origin* of, std::string_view path,
                        std::string_view values = {});

/// The command that gives a flag to an operator, which has it by `values` of the chart. `folder`:
/// the folder of helm/manifests that the flag needs; may be empty.
std::string run_with_flag(const facts& at, std::string_view name, std::string_view flag,
                          std::string_view values, std::string_view folder = {});

/// The file of an admission policy: "helm/manifests/policies-orders.yaml".
std::string file_of_policy(std::string_view name);

/// Where to see why an operator does not act on objects of this namespace.
std::string log_of(const facts& at, std::string_view name, std::string_view ns);

}  // namespace esi::kubectl::doctor
