// The kinds of applications that a BatchJob can become, as everything in the simulation knows them:
// the model API server, plans, rules, people and the sweep ask this table and name no kind. A
// further kind is a row here with its facts (applications/NAME.cpp), and a row in
// neighbours/applications.cpp with what runs it (neighbours/NAME). Plain data, constant; the first
// row is the kind that most jobs have.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace esi::simulation {

using json = nlohmann::json;

struct application_kind {
    /// By which pods are told apart: a label that the application's operator sets.
    struct mark {
        std::string_view label;
        std::string_view value;
    };

    /// "spark": in names of plans.
    std::string_view name;
    const kube::resource_type* type = nullptr;
    /// The member of a BatchJob's spec that asks for it: "sparkSpec".
    std::string_view spec;

    /// The pod that coordinates (driver, JobManager) and those in slots (executor, TaskManager).
    mark coordinator;
    mark worker;
    /// The label that says which application a coordinator belongs to, where its name has letters
    /// of chance in it. Empty: the name tells.
    std::string_view coordinator_of;

    /// Where the application tells its state, and the word there for a good end.
    std::vector<std::string_view> state;
    std::string_view good_end;

    /// Names of the neighbours that run it.
    std::vector<std::string> neighbours;
    /// Its users can end the program from within (flink cancel).
    bool cancellable = false;

    /// What the API server knows of its form: an OpenAPI schema, as YAML.
    const char* schema = nullptr;
    /// Its definition has CEL rules: a body of a wrong form is told that they did not run.
    bool has_rules = false;

    /// The spec of a small job of that name.
    json (*spec_of)(std::string_view job) = nullptr;
    /// Patches of such a spec, good and bad ones.
    std::vector<json> edits;

    /// The sweep's: a spec with most of what ESI reads; and a schema of that, where the schema of
    /// BatchJob leaves the inside open. Null: the sweep does not look inside.
    json swept_spec;
    json swept_schema;
};

/// All of them.
std::span<const application_kind> application_kinds();
/// Null: of no such kind.
const application_kind* find_application_kind(const kube::resource_type& type);
/// By application_kind::name; throws std::out_of_range.
const application_kind& application_kind_named(std::string_view name);
inline bool is_application(const kube::resource_type& type) {
    return find_application_kind(type) != nullptr;
}

}  // namespace esi::simulation
