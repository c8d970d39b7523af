#include "gangs/gang_book.h"

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "gangs/testing/fake_cluster.h"

namespace esi::gangs {
namespace {

using tests::fake_cluster;

const nlohmann::json of_train{{"scheduling.x-k8s.io/pod-group", "train"}};

struct book_of_gangs : testing::Test, group_listener {
    book_of_gangs() {
        groups.on_change(*this);
        cluster.pods.on_change([this](const kube::change<model::pod>& what) {
            book.pod_changed(what.before, what.after);
        });
        cluster.feed(groups);
        cluster.add_namespace("lab", true);
    }
    void group_changed(const gang_key& which) override { book.group_changed(which); }
    void namespace_changed(std::string_view ns) override { book.namespace_changed(ns, groups); }
    void surroundings_changed() override {}

    gang_key of{way::coscheduling, "lab", "train"};
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    fake_cluster cluster{wire};
    kube::client api{wire, time};
    gang_caches groups{api, time, {}, {"kube-system", "kube-scheduler"}};
    gang_book book;
};

TEST_F(book_of_gangs, a_group_is_there_with_its_object_or_a_member) {
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
    cluster.add_pod("w-0", of_train);
    EXPECT_TRUE(book.bring_up(groups));
    ASSERT_TRUE(book.gangs().contains(of));
    EXPECT_FALSE(book.gangs().at(of)->group);
    cluster.add_group("train", 3);
    cluster.add_pod("w-1", of_train);
    book.bring_up(groups);
    EXPECT_EQ(book.gangs().at(of)->minimum(), 3);
    EXPECT_EQ(book.gangs().at(of)->members.size(), 2);
    EXPECT_FALSE(book.bring_up(groups)) << "nothing has changed since";
    cluster.pods.erase({"lab", "w-0"});
    cluster.pods.erase({"lab", "w-1"});
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().at(of)->members.empty());
    for (auto* store : groups.fill().groups) store->erase({"lab", "train"});
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
}

TEST_F(book_of_gangs, groups_of_other_namespaces_are_others_business) {
    cluster.add_namespace("lab", false);
    cluster.add_group("train", 2);
    auto& ungated = cluster.add_pod("w-0", of_train);
    ungated["spec"].erase("schedulingGates");
    cluster.changed(ungated);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
    EXPECT_FALSE(book.any_stranded());
    // A pod at our gate is told once that the namespace is not enabled, and is in no pass.
    cluster.add_pod("w-1", of_train);
    cluster.add_pod("w-2", of_train);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
    const auto told = book.take_stranded(groups, 10);
    ASSERT_EQ(told.size(), 1);
    EXPECT_EQ(told[0].of, of);
    EXPECT_EQ(told[0].pod->metadata.name, "w-1");
    EXPECT_TRUE(told[0].group);
    cluster.add_pod("w-3", of_train);
    book.bring_up(groups);
    EXPECT_FALSE(book.any_stranded());
    cluster.add_namespace("lab", true);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().at(of)->enabled);
}

TEST_F(book_of_gangs,
       what_has_places_in_a_namespace_that_was_switched_off_stays_until_it_has_none) {
    cluster.add_group("train", 2);
    auto& one = cluster.add_pod("w-0", of_train);
    one["status"]["nominatedNodeName"] = "node-a";
    cluster.changed(one);
    auto& two = cluster.add_pod("w-1", of_train);
    book.bring_up(groups);
    cluster.add_namespace("lab", false);
    book.bring_up(groups);
    ASSERT_TRUE(book.gangs().contains(of));
    EXPECT_FALSE(book.gangs().at(of)->enabled);
    two["spec"].erase("schedulingGates");
    two["metadata"]["annotations"] = {{std::string(model::names::gang_node), "node-a"}};
    cluster.changed(two);
    one["status"].erase("nominatedNodeName");
    cluster.changed(one);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().contains(of)) << "one is let in and not bound";
    two["spec"]["nodeName"] = "node-a";
    cluster.changed(two);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
}

TEST_F(book_of_gangs, who_wears_the_mark_in_a_namespace_that_never_was_enabled_has_no_place) {
    cluster.add_namespace("lab", false);
    cluster.add_pod("w-0", of_train);
    auto& forged = cluster.add_pod("w-1", of_train);
    forged["spec"].erase("schedulingGates");
    forged["metadata"]["annotations"] = {{std::string(model::names::gang_node), "node-a"}};
    cluster.changed(forged);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
}

TEST_F(book_of_gangs, pods_of_namespaces_that_are_not_watched_are_not_looked_at) {
    gang_book elsewhere({"other"});
    auto& one = cluster.add_pod("w-0", of_train);
    one["metadata"]["labels"] = nlohmann::json::object();
    cluster.changed(one);
    elsewhere.pod_changed(nullptr, cluster.pods.find({"lab", "w-0"}));
    EXPECT_FALSE(elsewhere.any_stranded());
    cluster.add_pod("w-1", of_train);
    elsewhere.pod_changed(nullptr, cluster.pods.find({"lab", "w-1"}));
    EXPECT_EQ(elsewhere.stale(), 0);
}

TEST_F(book_of_gangs, a_pod_at_the_gate_that_names_no_object_is_stranded_until_it_does) {
    auto& one = cluster.add_pod("w-0", {{"scheduling.x-k8s.io/pod-group", "Train_A"}});
    auto& two = cluster.add_pod("w-1", {{"scheduling.x-k8s.io/pod-group", ""}});
    cluster.add_pod("w-2", {{"scheduling.x-k8s.io/pod-group", ""}});
    EXPECT_FALSE(book.bring_up(groups));
    EXPECT_EQ(book.take_stranded(groups, 1).size(), 1);
    EXPECT_TRUE(book.any_stranded());
    two["metadata"]["labels"] = of_train;
    cluster.changed(two);
    EXPECT_EQ(book.take_stranded(groups, 10).size(), 1);
    cluster.changed(one);
    EXPECT_FALSE(book.any_stranded()) << "it is told once";
    // Told again if the namespace was off in between.
    cluster.add_namespace("lab", false);
    EXPECT_TRUE(book.take_stranded(groups, 10).empty());
    cluster.add_namespace("lab", true);
    EXPECT_EQ(book.take_stranded(groups, 10).size(), 2);
}

TEST(names_of_groups, only_what_can_be_the_name_of_an_object_counts) {
    const auto counts = [](const std::string& name) {
        model::pod pod;
        pod.metadata.namespace_ = "lab";
        pod.metadata.annotations[std::string(model::names::group_name)] = name;
        return group_of(pod).has_value();
    };
    for (const auto& right :
         {std::string("a"), std::string("0"), std::string("a-b.c--d.1"), std::string(253, 'a')}) {
        EXPECT_TRUE(counts(right)) << right;
    }
    for (const auto& wrong :
         {std::string(), std::string("A"), std::string("a_b"), std::string("-a"), std::string("a-"),
          std::string(".a"), std::string("a."), std::string("a..b"), std::string("a.-b"),
          std::string("a-.b"), std::string("a/b"), std::string("a b"), std::string(254, 'a'),
          std::string(250'000, 'a')}) {
        EXPECT_FALSE(counts(wrong)) << wrong.substr(0, 20);
    }
    model::pod both;
    both.metadata.labels[std::string(model::names::tenstack_group)] = "Train";
    both.metadata.labels[std::string(model::names::pod_group)] = "train";
    EXPECT_EQ(group_of(both)->by, way::coscheduling);
    EXPECT_FALSE(names_several(both));
}

TEST_F(book_of_gangs, a_group_appears_when_its_namespace_is_enabled) {
    cluster.add_namespace("lab", false);
    cluster.add_group("train", 2);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().empty());
    cluster.add_namespace("lab", true);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().contains(of));
}

TEST_F(book_of_gangs, a_nominated_pod_that_names_no_group_is_loose) {
    auto& one = cluster.add_pod("w-0", of_train);
    one["status"]["nominatedNodeName"] = "node-a";
    cluster.changed(one);
    EXPECT_TRUE(book.loose().empty());
    one["metadata"]["labels"] = nlohmann::json::object();
    cluster.changed(one);
    EXPECT_EQ(book.loose().size(), 1);
    EXPECT_TRUE(book.bring_up(groups));
    EXPECT_TRUE(book.gangs().empty());
    one["status"].erase("nominatedNodeName");
    cluster.changed(one);
    EXPECT_TRUE(book.loose().empty());
}

}  // namespace
}  // namespace esi::gangs
