#include "gangs/gang_caches.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "gangs/testing/fake_cluster.h"

namespace esi::gangs {
namespace {

struct caches_of_gangs : testing::Test, group_listener {
    caches_of_gangs() { groups.on_change(*this); }
    void group_changed(const gang_key& of) override { told.push_back(of.text()); }
    void namespace_changed(std::string_view ns) override { told.emplace_back(ns); }
    void surroundings_changed() override { ++surroundings; }

    void add_namespace(const std::string& name, const std::string& label) {
        model::metadata_only ns;
        ns.metadata.name = name;
        ns.metadata.resource_version = std::to_string(++version);
        if (!label.empty()) ns.metadata.labels[std::string(model::names::gangs)] = label;
        groups.fill().namespaces.apply(ns);
    }
    void add_lease(const std::string& holder, std::int64_t transitions) {
        lease_object lease;
        lease.metadata.namespace_ = "kube-system";
        lease.metadata.name = "kube-scheduler";
        lease.metadata.resource_version = std::to_string(++version);
        lease.spec = {holder, transitions};
        groups.fill().leases.apply(lease);
    }
    /// Adds a group of the kind with this version.
    void add_group(std::string_view api_version, const std::string& uid, int second) {
        pod_group group;
        group.metadata.namespace_ = "lab";
        group.metadata.name = "train";
        group.metadata.uid = uid;
        group.metadata.resource_version = std::to_string(++version);
        group.metadata.creation_timestamp = model::timestamp{wall_time(seconds(second))};
        for (std::size_t i = 0; i < group_kinds().size(); ++i) {
            if (group_kinds()[i].type.api_version() == api_version) {
                groups.fill().groups[i]->apply(group);
            }
        }
    }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    gang_caches groups{api, time, {}, {"kube-system", "kube-scheduler"}};
    std::vector<std::string> told;
    int surroundings = 0;
    int version = 0;
};

TEST_F(caches_of_gangs, a_namespace_is_enabled_by_its_label) {
    EXPECT_FALSE(groups.enabled("lab"));
    add_namespace("lab", "");
    add_namespace("lab", "disabled");
    EXPECT_FALSE(groups.enabled("lab"));
    EXPECT_TRUE(told.empty());
    add_namespace("lab", "enabled");
    EXPECT_TRUE(groups.enabled("lab"));
    EXPECT_EQ(told, std::vector<std::string>{"lab"});
    groups.fill().namespaces.erase({"", "lab"});
    EXPECT_FALSE(groups.enabled("lab"));
    EXPECT_EQ(told.size(), 2);
}

TEST_F(caches_of_gangs, an_operator_of_some_namespaces_enables_no_other) {
    gang_caches some(api, time, {"lab"}, {"kube-system", "kube-scheduler"});
    for (const auto* name : {"lab", "other"}) {
        model::metadata_only ns;
        ns.metadata.name = name;
        ns.metadata.labels[std::string(model::names::gangs)] = "enabled";
        some.fill().namespaces.apply(ns);
    }
    EXPECT_TRUE(some.enabled("lab"));
    EXPECT_FALSE(some.enabled("other"));
}

TEST_F(caches_of_gangs, of_two_objects_of_one_way_the_older_counts) {
    const gang_key key{way::kube_batch, "lab", "train"};
    EXPECT_FALSE(groups.find(key));
    add_group("scheduling.sigs.dev/v1alpha2", "young", 20);
    EXPECT_EQ(groups.find(key).object->metadata.uid, "young");
    EXPECT_FALSE(groups.find(key).doubled);
    add_group("scheduling.incubator.k8s.io/v1alpha1", "old", 10);
    EXPECT_EQ(groups.find(key).object->metadata.uid, "old");
    EXPECT_TRUE(groups.find(key).doubled);
    EXPECT_EQ(groups.find(key).kind->type.api_version(), "scheduling.incubator.k8s.io/v1alpha1");
    EXPECT_FALSE(groups.find({way::coscheduling, "lab", "train"}));
    EXPECT_EQ(told, (std::vector<std::string>{key.text(), key.text()}));
}

TEST_F(caches_of_gangs, another_start_of_the_scheduler_is_told_and_a_renewal_is_not) {
    EXPECT_FALSE(groups.scheduler());
    add_lease("a", 1);
    const auto first = groups.scheduler();
    ASSERT_TRUE(first);
    EXPECT_EQ(surroundings, 1);
    add_lease("a", 1);
    EXPECT_EQ(surroundings, 1);
    add_lease("", 1);
    EXPECT_EQ(groups.scheduler(), first);
    EXPECT_EQ(surroundings, 1);
    add_lease("b", 2);
    EXPECT_NE(groups.scheduler(), first);
    EXPECT_EQ(surroundings, 2);
}

TEST_F(caches_of_gangs, nobody_waits_for_the_schedulers_lease) {
    for (const auto& each : groups.list()) {
        EXPECT_EQ(each.synced(), each.name == "scheduler-lease") << each.name;
        EXPECT_EQ(each.current(), each.name == "scheduler-lease") << each.name;
    }
}

}  // namespace
}  // namespace esi::gangs
