#include "gangs/live_facts.h"

#include <fmt/format.h>

#include "base/contains.h"
#include "kube/resource.h"
#include "kube/watch/live_list.h"
#include "model/json.h"

namespace esi::gangs {

namespace {

constexpr kube::resource_type claim_type{"", "v1", "persistentvolumeclaims",
                                         "PersistentVolumeClaim"};
constexpr kube::resource_type volume_type{"", "v1", "persistentvolumes", "PersistentVolume", false};
constexpr kube::resource_type csi_node_type{"storage.k8s.io", "v1", "csinodes", "CSINode", false};

struct claim_spec {
    std::string volume_name;
    std::vector<std::string> access_modes;
};
BOOST_DESCRIBE_STRUCT(claim_spec, (), (volume_name, access_modes))
struct claim_status {
    std::string phase;
};
BOOST_DESCRIBE_STRUCT(claim_status, (), (phase))
struct volume_claim {
    model::object_meta metadata;
    claim_spec spec;
    claim_status status;
};
BOOST_DESCRIBE_STRUCT(volume_claim, (), (metadata, spec, status))

struct volume_affinity {
    model::raw_json required;
};
BOOST_DESCRIBE_STRUCT(volume_affinity, (), (required))
struct csi_source {
    std::string driver;
};
BOOST_DESCRIBE_STRUCT(csi_source, (), (driver))
struct volume_spec {
    volume_affinity node_affinity;
    csi_source csi;
};
BOOST_DESCRIBE_STRUCT(volume_spec, (), (node_affinity, csi))
struct volume {
    model::object_meta metadata;
    volume_spec spec;
};
BOOST_DESCRIBE_STRUCT(volume, (), (metadata, spec))

struct driver_limit {
    std::optional<std::int64_t> count;
};
BOOST_DESCRIBE_STRUCT(driver_limit, (), (count))
struct csi_driver {
    std::string name;
    driver_limit allocatable;
};
BOOST_DESCRIBE_STRUCT(csi_driver, (), (name, allocatable))
struct csi_node_spec {
    std::vector<csi_driver> drivers;
};
BOOST_DESCRIBE_STRUCT(csi_node_spec, (), (drivers))
struct csi_node {
    model::object_meta metadata;
    csi_node_spec spec;
};
BOOST_DESCRIBE_STRUCT(csi_node, (), (metadata, spec))

/// Nothing if there is no such object.
template <class T>
asio::awaitable<result<std::optional<T>>> find_live(kube::client& api, request_slots& slots,
                                                    const kube::resource_type& type, std::string ns,
                                                    std::string name) {
    const auto in = co_await slots.enter();
    auto text = co_await api.get(type, std::move(ns), std::move(name));
    if (!text && text.error().code == errc::not_found) co_return std::nullopt;
    if (!text) co_return std::unexpected(std::move(text).error());
    auto read = model::decode<T>(*text, type.kind);
    if (!read) co_return std::unexpected(std::move(read).error());
    co_return std::optional<T>(std::move(*read));
}

asio::awaitable<result<std::set<std::string>>> limited_drivers(kube::client& api,
                                                               request_slots& slots) {
    const auto in = co_await slots.enter();
    auto nodes = co_await kube::live_list<csi_node>(api, csi_node_type, "");
    if (!nodes) co_return std::unexpected(std::move(nodes).error());
    std::set<std::string> out;
    for (const auto& node : *nodes) {
        for (const auto& driver : node.spec.drivers) {
            if (driver.allocatable.count) out.insert(driver.name);
        }
    }
    co_return out;
}

}  // namespace

asio::awaitable<result<std::vector<pod_pointer>>> fact_reader::list(std::string ns,
                                                                    std::uint64_t ticket) {
    const auto alone = co_await listing_.enter();
    std::erase_if(listed_, [&](const auto& entry) {
        return time_.now() - entry.second.at >= listed_counts_for;
    });
    const auto known = listed_.find(ns);
    if (known != listed_.end() && known->second.after >= ticket) co_return known->second.pods;
    const auto in = co_await slots_.enter();
    listed made;
    made.after = tickets_;
    made.at = time_.now();
    kube::list_options bound;
    bound.field_selector = "spec.nodeName!=";
    auto pods = co_await kube::live_list<model::pod>(api_, kube::types::pod, ns, bound);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    made.pods.reserve(pods->size());
    for (auto& pod : *pods) made.pods.push_back(std::make_shared<const model::pod>(std::move(pod)));
    co_return (listed_[ns] = std::move(made)).pods;
}

asio::awaitable<result<facts>> fact_reader::read(needs what, std::uint64_t ticket) {
    facts out;
    if (what.claims.size() > most_claims_read) {
        co_return fail(errc::invalid,
                       fmt::format("its members name {} volume claims; {} are read for a group",
                                   what.claims.size(), most_claims_read));
    }
    for (const auto& ns : what.pods_of) {
        auto pods = co_await list(ns, ticket);
        if (!pods) co_return std::unexpected(std::move(pods).error());
        out.pods[ns] = std::move(*pods);
    }
    std::optional<std::set<std::string>> limited;
    for (const auto& key : what.claims) {
        auto& fact = out.claims[key];
        auto claim =
            co_await find_live<volume_claim>(api_, slots_, claim_type, key.namespace_, key.name);
        if (!claim) co_return std::unexpected(std::move(claim).error());
        if (!*claim) continue;
        fact.for_one_pod = contains((*claim)->spec.access_modes, "ReadWriteOncePod");
        const auto& name = (*claim)->spec.volume_name;
        if (name.empty() || (*claim)->status.phase != "Bound") continue;
        auto held = co_await find_live<volume>(api_, slots_, volume_type, "", name);
        if (!held) co_return std::unexpected(std::move(held).error());
        if (!*held) continue;
        auto& spec = (*held)->spec;
        fact.bound = true;
        fact.node_affinity = std::move(spec.node_affinity.required);
        fact.labels = std::move((*held)->metadata.labels);
        if (spec.csi.driver.empty()) continue;
        if (!limited) {
            auto drivers = co_await limited_drivers(api_, slots_);
            if (!drivers) co_return std::unexpected(std::move(drivers).error());
            limited = std::move(*drivers);
        }
        fact.limited = limited->contains(spec.csi.driver);
    }
    co_return out;
}

}  // namespace esi::gangs
