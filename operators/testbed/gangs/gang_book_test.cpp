#include "testbed/gangs/gang_book.h"

#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "testbed/gangs/fake_cluster.h"

namespace esi::testbed::gangs {
namespace {

using tests::fake_cluster;

const nlohmann::json of_train{{"scheduling.x-k8s.io/pod-group", "train"}};

struct book_of_gangs : testing::Test, group_listener {
    book_of_gangs() {
        groups.on_change(*this);
        from.on_pod_change([this](const kube::change<model::pod>& what) {
            book.pod_changed(what.before, what.after);
        });
        cluster.feed(from, groups);
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
    testbed::caches from{api, time, {}, true};
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
    const auto fill = from.fill();
    fill.pods.erase({"lab", "w-0"});
    fill.pods.erase({"lab", "w-1"});
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
    // With a pod at our gate it is told that the namespace is not enabled.
    cluster.add_pod("w-1", of_train);
    book.bring_up(groups);
    ASSERT_TRUE(book.gangs().contains(of));
    EXPECT_FALSE(book.gangs().at(of)->enabled);
    cluster.add_namespace("lab", true);
    book.bring_up(groups);
    EXPECT_TRUE(book.gangs().at(of)->enabled);
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
}  // namespace esi::testbed::gangs
