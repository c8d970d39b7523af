#include "batchjob/drivers/driver_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/contains.h"
#include "batchjob/backends/spark_driver/backend.h"
#include "kube/resource.h"
#include "model/conditions.h"
#include "model/json.h"
#include "model/names.h"
#include "model/testbed.h"

namespace esi::batchjob::drivers {

namespace names = model::names;

namespace {

static_assert(most_executors + 1 == model::most_claimed_places);

/// The bound of a BatchJob's name (crds/batchjob.yaml).
constexpr std::size_t longest_name = 45;
constexpr std::string_view gibibyte = "Gi";
/// Prefix of the tolerations that the API server gives each pod.
constexpr std::string_view own_taints = "node.kubernetes.io/";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool suits_a_batchjob(std::string_view name) {
    if (name.empty() || name.size() > longest_name || !is_lower(name.front()) ||
        name.back() == '-') {
        return false;
    }
    return std::ranges::all_of(name, [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

/// The amount in a label; nothing if it is not a quantity above 0.
std::optional<model::quantity> amount_in(std::string_view text, std::string_view resource) {
    std::string whole(text);
    if (resource == "memory" && !text.empty() && std::ranges::all_of(text, is_digit)) {
        whole += gibibyte;
    }
    auto out = model::quantity::parse(whole);
    if (!out || out->milli <= 0) return std::nullopt;
    return std::move(*out);
}

model::quantity quantity_of(std::int64_t milli) {
    constexpr std::int64_t unit = 1000;
    return {milli % unit == 0 ? std::to_string(milli / unit) : fmt::format("{}m", milli), milli};
}

request_problem bad_label(const model::pod& driver, std::string_view label, std::string_view what) {
    const auto value = driver.metadata.label(label);
    const auto now = driver.metadata.labels.contains(label)
                         ? fmt::format("label {} is \"{}\"", label, value)
                         : fmt::format("label {} is missing", label);
    return {"BadLabels",
            fmt::format("{}; it must be {}. Delete the driver, and make it again with that label",
                        now, what)};
}

constexpr std::string_view cpu_words = "an amount of cores above 0, such as 2 or 500m";
constexpr std::string_view memory_words =
    "an amount of memory above 0: a whole number of GiB, such as 2, or a quantity, such as 1408Mi";

std::optional<request_problem> read_label(const model::pod& driver, std::string_view label,
                                          const std::string& resource, model::resource_list& into) {
    auto amount = amount_in(driver.metadata.label(label), resource);
    if (!amount) {
        return bad_label(driver, label, resource == "cpu" ? cpu_words : memory_words);
    }
    into[resource] = std::move(*amount);
    return std::nullopt;
}

json owner_of(const model::pod& driver) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"name", driver.metadata.name},
            {"uid", driver.metadata.uid}};
}

json object_for(const kube::resource_type& type, const model::pod& driver, json spec) {
    return {{"apiVersion", type.api_version()},
            {"kind", type.kind},
            {"metadata",
             {{"name", driver.metadata.name},
              {"namespace", driver.metadata.namespace_},
              {"ownerReferences", json::array({owner_of(driver)})}}},
            {"spec", std::move(spec)}};
}

/// The places where the driver may run: Spark gives its executors the same selector.
json constraints_of(const model::pod& driver) {
    auto out = json::object();
    if (!driver.node_selector.empty()) out["nodeSelector"] = driver.node_selector;
    for (const auto& each : driver.tolerations) {
        if (!each.key.starts_with(own_taints)) out["tolerations"].push_back(model::encode(each));
    }
    return out;
}

/// The part of the driver's affinity that requires labels of its node; null if there is none.
json required_nodes(const model::pod& driver) {
    constexpr auto required = "requiredDuringSchedulingIgnoredDuringExecution";
    const auto affinity = json::parse(driver.affinity.text, nullptr, false);
    if (!affinity.is_object() || !affinity.contains("nodeAffinity")) return nullptr;
    const auto& of_nodes = affinity["nodeAffinity"];
    if (!of_nodes.is_object() || !of_nodes.contains(required)) return nullptr;
    return {{"nodeAffinity", {{required, of_nodes[required]}}}};
}

json shape(std::string_view name, std::string_view role, int count,
           const model::resource_list& size, json constraints) {
    json out{{"name", name}, {"role", role}, {"count", count}};
    for (const auto& [resource, amount] : size) out["resources"][resource] = amount.text;
    if (!constraints.empty()) out["constraints"] = std::move(constraints);
    return out;
}

}  // namespace

bool waits(const model::pod& pod) {
    return spark_driver::is_driver(pod) && pod.live() && !pod.bound() && !pod.metadata.deleting() &&
           pod.run().empty() && contains(pod.scheduling_gates, names::gate);
}

std::expected<driver_request, request_problem> read_request(const model::pod& driver) {
    if (!suits_a_batchjob(driver.metadata.name)) {
        return std::unexpected(request_problem{
            "NameUnsuited",
            fmt::format(
                "the name {} cannot be that of a BatchJob: at most {} small letters, digits "
                "and hyphens, beginning with a letter. Delete the driver, and make it again "
                "with another name (spark.kubernetes.driver.pod.name)",
                driver.metadata.name, longest_name)});
    }
    if (!driver.metadata.undecodable.empty()) {
        return std::unexpected(request_problem{
            model::condition_reason::undecodable,
            fmt::format("driver pod {} cannot be read: {}. Delete the driver, and make it again "
                        "with less",
                        driver.metadata.key().text(), driver.metadata.undecodable)});
    }
    driver_request out;
    const auto count = driver.metadata.label("executors");
    const auto [end, code] =
        std::from_chars(count.data(), count.data() + count.size(), out.executors);
    if (code != std::errc() || end != count.data() + count.size() || out.executors < 1 ||
        out.executors > most_executors) {
        return std::unexpected(bad_label(
            driver, "executors", fmt::format("a whole number from 1 to {}", most_executors)));
    }
    for (const auto& [label, resource] : {std::pair{"exec-cpu", "cpu"}, {"exec-mem", "memory"}}) {
        auto problem = read_label(driver, label, resource, out.executor);
        if (problem) return std::unexpected(std::move(*problem));
    }
    for (const auto& [resource, amount] : driver.requests) {
        if (amount > 0) out.driver[resource] = quantity_of(amount);
    }
    for (const auto& [label, resource] :
         {std::pair{"driver-cpu", "cpu"}, {"driver-mem", "memory"}}) {
        if (out.driver.contains(resource)) continue;
        auto problem = read_label(driver, label, resource, out.driver);
        if (problem) return std::unexpected(std::move(*problem));
    }
    return out;
}

json make_batchjob(const model::pod& driver) {
    return object_for(kube::types::batchjob, driver,
                      {{"sparkDriver", {{"uid", driver.metadata.uid}}}});
}

json make_scheduling(const model::pod& driver, const driver_request& of) {
    const auto common = constraints_of(driver);
    auto own = common;
    if (auto nodes = required_nodes(driver); !nodes.is_null()) own["affinity"] = std::move(nodes);
    // Each entry of the job is a place of a worker; the coordinator place comes with them.
    const json entry{{"name", driver.metadata.name}};
    return object_for(
        kube::types::scheduling, driver,
        {{"claim",
          {{"shapes",
            json::array({shape("driver", model::slot_role::coordinator, 1, of.driver, own),
                         shape("executors", model::slot_role::worker, of.executors, of.executor,
                               common)})}}},
         {"queueBased", json::array_t(static_cast<std::size_t>(of.executors), entry)}});
}

}  // namespace esi::batchjob::drivers
