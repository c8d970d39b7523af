// The kinds of application that a BatchJob can describe: one row each, for all parts that treat
// each kind alike. How an application of a kind is made is known by the batchjob operator's
// backends alone (operators/batchjob/registry.h); a test compares the two tables.
// scripts/check/kinds.py looks for files beside these that name a kind's member.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "model/batchjob.h"

namespace esi::model {

struct application_kind {
    std::string_view type;  ///< the word of BatchJob.status.type
    std::string_view spec_field;
    std::optional<raw_json> batchjob_spec::* spec;
    /// True: its text may be 1 MiB. Caches drop it (model/kept.h), and /api/v1 reads it when asked.
    bool large = true;

    // Its operator; empty if the kind needs none.
    std::string_view definition = {};  ///< the CustomResourceDefinition
    std::string_view resource = {};    ///< what kubectl calls an application of this kind
    std::string_view label = {};       ///< app.kubernetes.io/name of the operator's Deployments
    std::string_view install = {};     ///< the advice where the definition is missing

    // The service account of the pod that coordinates; empty if ESI does not choose it.
    std::string_view account_at = {};       ///< JSON pointer into the spec
    std::string_view usual_account = {};    ///< if the spec names none
    std::string_view example_account = {};  ///< made by examples/NAME-account.yaml
};

inline constexpr std::array application_kinds{
    application_kind{.type = "Spark",
                     .spec_field = "sparkSpec",
                     .spec = &batchjob_spec::spark_spec,
                     .definition = "sparkapplications.sparkoperator.k8s.io",
                     .resource = "sparkapplication",
                     .label = "spark-operator",
                     .install = "install Kubeflow's Spark operator 2.4 or later",
                     .account_at = "/driver/serviceAccount",
                     .example_account = "spark"},
    application_kind{.type = "Flink",
                     .spec_field = "flinkSpec",
                     .spec = &batchjob_spec::flink_spec,
                     .definition = "flinkdeployments.flink.apache.org",
                     .resource = "flinkdeployment",
                     .label = "flink-kubernetes-operator",
                     .install = "install Apache's Flink operator 1.7 or later",
                     .account_at = "/serviceAccount",
                     .usual_account = "flink",
                     .example_account = "flink"},
    application_kind{.type = "SparkDriver",
                     .spec_field = "sparkDriver",
                     .spec = &batchjob_spec::spark_driver,
                     .large = false},
};

/// The kind that the spec describes; null if it has no member of the table. The API server refuses
/// a BatchJob with two.
constexpr const application_kind* kind_of(const batchjob_spec& spec) {
    for (const auto& each : application_kinds) {
        if (spec.*each.spec) return &each;
    }
    return nullptr;
}

}  // namespace esi::model
