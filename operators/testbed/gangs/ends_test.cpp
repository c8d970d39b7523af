#include <gmock/gmock.h>

#include "testbed/gangs/world.h"

namespace esi::testbed::gangs::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct started : world {
    started() {
        add_node("node-a", "cpu=9");
        add_gang("train", 2, "cpu=1");
        settle();
    }
    void refuse_pod(const std::string& name) {
        edit(name, [](model::pod& pod) {
            pod.scheduled_status = "False";
            pod.scheduled_reason = "Unschedulable";
            pod.scheduled_message = "0/1 nodes are available: 1 Insufficient cpu.";
        });
    }
    void bind_one(const std::string& name) {
        edit(name, [](model::pod& pod) {
            pod.node_name = "node-a";
            pod.phase = "Running";
        });
    }
};

TEST(GangEnds, ARefusedMemberIsDeletedAndItsFollowerPlacedFirst) {
    started w;
    w.bind_one("train-0");
    w.refuse_pod("train-1");
    EXPECT_THAT(w.settle(), IsEmpty());
    w.wait(seconds(9));
    EXPECT_THAT(w.settle(), IsEmpty());
    w.wait(seconds(2));
    EXPECT_THAT(w.settle(), ElementsAre("delete lab/train-1"));
    EXPECT_TRUE(w.told("MemberRefused"));
    w.put(w.member("train-1", "train", "cpu=1"));
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 1);
}

TEST(GangEnds, ThatIsDoneAtMostTwice) {
    started w;
    w.bind_one("train-0");
    int deleted = 0;
    for (int i = 0; i < 6; ++i) {
        w.refuse_pod("train-1");
        w.settle();
        w.wait(seconds(11));
        const auto done = w.settle();
        if (done != lines{"delete lab/train-1"}) break;
        ++deleted;
        w.put(w.member("train-1", "train", "cpu=1"));
        w.settle();
        ASSERT_EQ(w.count("train", stage::let_in), 1);
    }
    EXPECT_EQ(deleted, 2);
    EXPECT_THAT(w.notes.back().text, HasSubstr("2 pods were deleted in its place before"));
}

TEST(GangEnds, OneWithoutAControllerIsNamedAndStays) {
    started w;
    w.edit("train-1", [](model::pod& pod) { pod.metadata.owner_references.clear(); });
    w.refuse_pod("train-1");
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_TRUE(w.told("MemberRefused"));
}

TEST(GangEnds, OnANodeThatIsNotReadyNobodyIsRefused) {
    started w;
    auto node = *w.nodes.at("node-a");
    node.ready = false;
    w.put_node(node);
    w.refuse_pod("train-1");
    w.settle();
    w.wait(seconds(20));
    EXPECT_THAT(w.settle(), IsEmpty());
    w.remove_node("node-a");
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
}

TEST(GangEnds, APartialGangIsKeptAndItsPhaseIsUnknown) {
    started w;
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(), Not(Contains(HasSubstr("delete"))));
    EXPECT_EQ(w.state_of("train"), "Partial");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Unknown");
    EXPECT_TRUE(w.told("PartialStart"));
    w.bind_one("train-1");
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(GangEnds, TheGroupSaysHowLongAnAttemptIs) {
    started w;
    w.change("train").spec.attempt = seconds(300);
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(250));
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Starting");
    w.wait(seconds(51));
    w.settle();
    EXPECT_EQ(w.state_of("train"), "Partial");
}

TEST(GangEnds, WithOnPartialDeleteAllItsMembersGoOnceAndItStartsAnew) {
    started w;
    w.change("train").metadata.annotations[std::string(names::on_partial)] = "Delete";
    w.bind_one("train-0");
    w.settle();
    w.wait(seconds(61));
    EXPECT_THAT(w.settle(),
                testing::UnorderedElementsAre("delete lab/train-0", "delete lab/train-1"));
    EXPECT_TRUE(w.told("PartialGangDeleted"));
    w.add_members("train", 2, "cpu=1");
    w.settle();
    EXPECT_EQ(w.count("train", stage::let_in), 2);
    w.bind();
    w.settle();
    w.wait(seconds(100));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Running");
}

TEST(GangEnds, AGangThatRanIsNeverDeletedForAMemberThatItLost) {
    started w;
    w.change("train").metadata.annotations[std::string(names::on_partial)] = "Delete";
    w.bind();
    w.settle();
    w.remove("train-1");
    w.settle();
    w.wait(seconds(600));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.reason_of("train"), "MembersLost");
}

TEST(GangEnds, ADeletionThatFailsIsTriedAgain) {
    started w;
    w.refuse_pod("train-1");
    w.refuse["delete"] = error{errc::too_many_requests, "later"};
    w.settle();
    w.wait(seconds(11));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
    w.refuse.clear();
    w.wait(seconds(31));
    EXPECT_THAT(w.settle(), Contains("delete lab/train-1"));
}

TEST(GangEnds, WhenAllHaveEndedItIsOver) {
    started w;
    w.bind();
    w.settle();
    for (const auto* name : {"train-0", "train-1"}) {
        w.edit(name, [](model::pod& pod) { pod.phase = "Succeeded"; });
    }
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Ended");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Finished");
    // Its pods are cleaned up.
    w.remove("train-0");
    w.remove("train-1");
    w.wait(seconds(60));
    EXPECT_THAT(w.settle(), IsEmpty());
    EXPECT_EQ(w.state_of("train"), "Ended");
    EXPECT_EQ(w.groups.at(world::key("train")).status.phase, "Finished");
}

}  // namespace
}  // namespace esi::testbed::gangs::tests
