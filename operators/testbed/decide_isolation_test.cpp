// Taints of the nodes of a Testbed.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

TEST(decide, isolation_comes_before_the_first_ghost) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    EXPECT_EQ(at.actions(), lines{"node-a taint tb-uid"});
    EXPECT_EQ(at.condition("Isolated").reason, "NotTainted");
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.actions(), (lines{"create 0 node-a/0", "create 1 node-a/1"}));
    EXPECT_EQ(at.condition("Isolated").status, "True");
    at.testbed.spec.isolation = "None";
    EXPECT_EQ(at.actions()[0], "node-a untaint");
    EXPECT_EQ(at.condition("Isolated").reason, "NoTaint");
}

TEST(decide, a_taint_that_is_refused_is_told_in_the_words_of_the_api_server) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    EXPECT_EQ(at.condition("Isolated").message, "without the taint: node-a");
    at.known.meets("node-a", "taint not changed", errc::forbidden, "denied at 12:00:01");
    const auto told = at.condition("Isolated").message;
    EXPECT_EQ(told, "without the taint: node-a; taint not changed: denied at 12:00:01");
    at.known.meets("node-a", "taint not changed", errc::forbidden, "denied at 12:00:02");
    EXPECT_EQ(at.condition("Isolated").message, told) << "nothing to write";
    at.known.meets("node-a", "taint not changed", errc::invalid, "wrong");
    EXPECT_EQ(at.condition("Isolated").message,
              "without the taint: node-a; taint not changed: wrong");
    at.known.meets("node-a", "node not read", errc::forbidden, std::string(999, 'x') + "\u00e4");
    EXPECT_THAT(at.condition("Isolated").message, testing::EndsWith("xxx")) << "a whole character";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.condition("Isolated").message, "every node carries the taint");
}

TEST(decide, of_two_testbeds_the_olders_taint_stands) {
    auto with = [](int born, std::string value) {
        world at{{"node-a"}};
        at.testbed.spec.isolation = "Taint";
        at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", value, "NoSchedule"}};
        auto other = world::make_testbed("other", "other-uid", born);
        other.spec.isolation = "Taint";
        other.status.layout = at.testbed.status.layout;
        at.others = {other};
        return at;
    };
    EXPECT_NE(with(5, "other-uid").actions()[0], "node-a taint tb-uid");
    EXPECT_EQ(with(20, "other-uid").actions()[0], "node-a taint tb-uid")
        << "the younger's gives way";
    EXPECT_EQ(with(5, "gone-uid").actions()[0], "node-a taint tb-uid") << "nobody's";
}

/// Beside an older or younger one of another namespace that is without a taint.
world beside_an_open_testbed(int born, std::string ns) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    auto other = world::make_testbed("other", "other-uid", born);
    other.metadata.namespace_ = std::move(ns);
    other.status.layout = at.testbed.status.layout;
    at.others = {other};
    return at;
}

TEST(decide, a_node_that_an_elder_of_another_namespace_keeps_open_is_not_tainted) {
    auto at = beside_an_open_testbed(5, "team-a");
    EXPECT_THAT(at.actions(), testing::Not(testing::Contains("node-a taint tb-uid")));
    EXPECT_EQ(at.condition("Isolated").status, "False");
    EXPECT_EQ(
        at.condition("Isolated").message,
        "without the taint: node-a; an older Testbed of another namespace has the node too and "
        "keeps it open to other pods (isolation: None)");
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << "the slots that the elder leaves it";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.actions()[0], "node-a untaint") << "the elder got the node later";
    at.others[0].spec.isolation = "Taint";
    at.nodes["node-a"].taints.clear();
    EXPECT_EQ(at.actions(), lines{"node-a taint tb-uid"}) << "both want it closed";
}

TEST(decide, a_node_is_tainted_beside_a_younger_testbed_and_beside_one_of_the_same_namespace) {
    EXPECT_EQ(beside_an_open_testbed(20, "team-a").actions(), lines{"node-a taint tb-uid"});
    EXPECT_EQ(beside_an_open_testbed(5, "default").actions(), lines{"node-a taint tb-uid"});
    auto going = beside_an_open_testbed(5, "team-a");
    going.others[0].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(going.actions(), lines{"node-a taint tb-uid"});
}

TEST(decide, a_taint_has_no_heir_in_a_testbed_that_may_not_close_the_node) {
    world at{{"node-a"}};
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    auto younger = world::make_testbed("other", "other-uid", 20);
    younger.metadata.namespace_ = "team-a";
    younger.spec.isolation = "Taint";
    younger.status.layout = at.testbed.status.layout;
    at.others = {younger};
    EXPECT_EQ(at.actions()[0], "node-a untaint") << "it would wait for ever";
}

TEST(decide, a_taint_of_a_testbed_in_another_operators_namespace_shields_too) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "unknown-uid", "NoSchedule"}};
    auto seen = at.see();
    const auto change = [&] {
        return change_taint(*seen.nodes["node-a"].node, seen, *seen.index_of(*seen.testbed).places,
                            true);
    };
    EXPECT_FALSE(is_shielded(*seen.nodes["node-a"].node, seen));
    seen.all_namespaces = false;
    EXPECT_TRUE(is_shielded(*seen.nodes["node-a"].node, seen));
    EXPECT_FALSE(change());
    at.nodes["node-a"].taints.clear();
    seen = at.see();
    seen.all_namespaces = false;
    EXPECT_TRUE(change()) << "it went";
}

TEST(decide, an_heir_replaces_the_taint_by_itself_and_is_waited_for) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.testbed.metadata.deletion_timestamp.emplace();
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    auto other = world::make_testbed("other", "other-uid", 20);
    other.spec.isolation = "Taint";
    other.status.layout = at.testbed.status.layout;
    at.others = {other};
    EXPECT_EQ(at.actions(), lines{}) << "a taint of the heir is the heir's own write";

    world heir{{"node-a"}};
    heir.testbed = other;
    heir.nodes = at.nodes;
    heir.others = {at.testbed};
    EXPECT_EQ(heir.actions()[0], "node-a taint other-uid") << "though it is the younger";

    at.nodes["node-a"].taints[0].value = "other-uid";
    EXPECT_EQ(at.actions(), lines{"remove finalizer"});
    at.nodes["node-a"].taints[0].value = "tb-uid";
    at.others[0].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"node-a untaint"}) << "nobody takes over";
    at.others[0].metadata.deletion_timestamp.reset();
    at.nodes["node-a"].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"node-a untaint"}) << "nobody taints a node that goes";
}

TEST(decide, pods_that_run_beside_tainted_slots_are_reported) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    at.all_ghosts();
    EXPECT_EQ(at.condition("Isolated").message, "every node carries the taint");
    at.stranger("early", "node-a", "100m");
    EXPECT_EQ(at.condition("Isolated").status, "True");
    EXPECT_EQ(
        at.condition("Isolated").message,
        "every node carries the taint; 1 pod of others runs there beside the slots and stays: "
        "default/early");
}

}  // namespace
}  // namespace esi::testbed::tests
