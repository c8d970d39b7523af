#include "server/kinds.h"

#include <array>

namespace esi::simulation {

namespace {

constexpr std::array<const kube::resource_type*, 13> served{&kinds::testbed,
                                                            &kinds::batchjob,
                                                            &kinds::scheduling,
                                                            &kinds::pod,
                                                            &kinds::node,
                                                            &kinds::name_space,
                                                            &kinds::lease,
                                                            &kinds::event,
                                                            &kinds::priority_class,
                                                            &kinds::token_review,
                                                            &kinds::spark_application,
                                                            &kinds::flink_deployment,
                                                            &kinds::custom_resource_definition};

}  // namespace

std::span<const kube::resource_type* const> all_kinds() { return served; }

const kube::resource_type* find_kind(std::string_view group, std::string_view version,
                                     std::string_view plural) {
    for (const auto* type : served) {
        if (type->plural == plural && type->group == group && type->version == version) return type;
    }
    return nullptr;
}

}  // namespace esi::simulation
