// Ghosts: which are made, changed and removed, and what is told of those that do not run.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(decide, ghosts_that_are_not_in_the_layout_go) {
    world at;
    at.all_ghosts();
    at.testbed.status.layout->slots_per_node = 1;
    at.testbed.spec.slots_per_node = 1;
    EXPECT_EQ(at.actions(),
              (lines{"remove ghost-node-a-1", "remove ghost-node-b-1", "remove ghost-node-c-1"}));
    world resized{{"node-a"}};
    resized.all_ghosts();
    resized.testbed.spec.resources_per_slot = resources("500m", "1Gi");
    resized.testbed.status.layout->resources_per_slot = resources("500m", "1Gi");
    EXPECT_EQ(resized.actions(), (lines{"remove ghost-node-a-0", "remove ghost-node-a-1",
                                        "create 0 node-a/0", "create 1 node-a/1"}));
}

TEST(decide, a_ghost_whose_labels_annotations_or_owner_were_taken_away_goes) {
    const auto whole = [] {
        world at{{"node-a"}};
        at.all_ghosts();
        return at;
    };
    EXPECT_EQ(whole().actions(), lines{});
    const std::vector<void (*)(model::pod&)> damages{
        [](model::pod& pod) { pod.metadata.owner_references.clear(); },
        [](model::pod& pod) { pod.metadata.labels.erase(std::string(names::ghost)); },
        [](model::pod& pod) { pod.metadata.labels.clear(); },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.owner_references.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.labels.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.labels.clear();
            pod.metadata.owner_references.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.owner_references.clear();
            pod.node_name.clear();
            pod.nominated_node_name = "node-a";
        },
    };
    for (std::size_t i = 0; i < damages.size(); ++i) {
        auto at = whole();
        damages[i](at.pods[0]);
        EXPECT_THAT(at.actions(), testing::Contains("remove ghost-node-a-0")) << i;
        // The ghost of an earlier Testbed of that name is not ours to touch.
        at = whole();
        damages[i](at.pods[0]);
        at.pods[0].metadata.name = grid::ghost_name("tb", "other-uid", "node-a", 0);
        EXPECT_THAT(at.actions(), testing::Not(testing::Contains(testing::HasSubstr("remove"))))
            << i;
        at = whole();
        damages[i](at.pods[0]);
        at.pods[0].metadata.owner_references = {
            {"apps/v1", "ReplicaSet", "others", "others-uid", true}};
        EXPECT_THAT(at.actions(), testing::Not(testing::Contains(testing::HasSubstr("remove"))))
            << i;
    }
}

TEST(decide, a_damaged_ghost_that_an_earlier_layout_has_left_goes) {
    world at{{"node-a"}};
    at.all_ghosts();
    auto& left = at.ghost("node-a", 7);
    left.metadata.annotations.clear();
    left.metadata.owner_references.clear();
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-7"});
}

TEST(decide, a_failed_ghost_goes_and_comes_back_after_a_pause) {
    world at{{"node-a"}};
    at.ghost("node-a", 0);
    auto& ghost = at.ghost("node-a", 1);
    ghost.phase = "Failed";
    ghost.reason = "OutOfcpu";
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1 (failed)"});
    EXPECT_EQ(at.states(), "FREE ERROR");
    const auto name = ghost.metadata.name;
    at.pods.pop_back();
    at.known.ghost_failed(name, at.now, "it has ended: OutOfcpu");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE ERROR");
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(1)));
    at.now += seconds(1);
    EXPECT_EQ(at.actions(), lines{"create 1 node-a/1"});
    at.known.ghost_failed(name, at.now, "again");
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(2)));
}

TEST(decide, only_a_ghost_that_the_api_server_does_not_create_is_refused) {
    world at;
    const auto begin = at.now;
    at.known.ghost_failed("g", at.now, "it has ended: OutOfcpu");
    EXPECT_FALSE(at.known.refused_since(begin));
    at.now += seconds(1);
    at.known.ghost_failed("g", at.now, "exceeded quota", true);
    ASSERT_TRUE(at.known.refused_since(begin));
    EXPECT_EQ(at.known.refused_since(begin)->text, "exceeded quota");
    EXPECT_FALSE(at.known.refused_since(at.now + seconds(1)));
    at.known.ghost_failed("g", at.now, "it has ended: Evicted");
    EXPECT_FALSE(at.known.refused_since(begin)) << "it was created since";
}

TEST(decide, a_place_that_goes_and_comes_again_does_not_begin_the_time_of_a_claim_anew) {
    hints known;
    const steady_time begin{seconds(1000)};
    EXPECT_EQ(known.incomplete_since(2, begin), begin);
    EXPECT_EQ(known.incomplete_since(1, begin + seconds(5)), begin);
    EXPECT_EQ(known.incomplete_since(2, begin + seconds(10)), begin);
    EXPECT_EQ(known.incomplete_since(3, begin + seconds(15)), begin + seconds(15));
}

TEST(decide, a_ghost_of_another_image_is_given_the_right_one_in_place) {
    world at;
    at.all_ghosts();
    at.ghost_image = "mirror/pause:1";
    for (auto& pod : at.pods) {
        pod.metadata.annotations[std::string(names::ghost_image)] = "mirror/pause:1";
    }
    at.pods[1].metadata.annotations[std::string(names::ghost_image)] = "old/pause:1";
    at.pods[2].metadata.annotations.erase(std::string(names::ghost_image));
    at.pods[3].metadata.annotations[std::string(names::ghost_image)] = "old/pause:1";
    at.pods[3].metadata.deletion_timestamp = model::timestamp{at_second(90)};
    const lines wanted{"image " + at.pods[1].metadata.uid, "image " + at.pods[2].metadata.uid};
    EXPECT_THAT(at.actions(), testing::UnorderedElementsAreArray(wanted))
        << "their room stays held";
    at.hold();
    EXPECT_THAT(at.actions(), testing::UnorderedElementsAreArray(wanted)) << "somebody uses it";
    at.ghost_image.clear();
    EXPECT_EQ(at.actions(), lines{});
}

TEST(decide, ghosts_that_do_not_run_are_told_and_their_slots_are_free_all_the_same) {
    world at;
    at.all_ghosts();
    EXPECT_EQ(at.condition("GhostsRunning").status, "True");
    for (const char* starting : {"", "ContainerCreating", "PodInitializing"}) {
        at.pods[0].reason = starting;
        EXPECT_EQ(at.condition("GhostsRunning").status, "True") << starting;
    }
    for (std::size_t i : {0u, 1u}) {
        at.pods[i].phase = "Pending";
        at.pods[i].metadata.annotations[std::string(names::ghost_image)] = "x/pause:9";
    }
    at.pods[0].reason = "ErrImagePull";
    at.pods[1].reason = "ImagePullBackOff";
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "False");
    EXPECT_EQ(told.reason, "GhostsFail");
    EXPECT_THAT(told.message, testing::StartsWith("2 of 6 slots have a ghost that does not run: "
                                                  "image x/pause:9 cannot be pulled (node-a); "));
    EXPECT_EQ(at.states(), "FREE FREE FREE FREE FREE FREE");
    EXPECT_EQ(at.condition("Ready").status, "True");
    const auto notes = at.decide().notes;
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_TRUE(notes[0].warning);
    EXPECT_EQ(notes[0].reason, "GhostsNotRunning");
    // The kubelet goes back and forth between the two while it tries: that is no news.
    std::swap(at.pods[0].reason, at.pods[1].reason);
    at.known.told[notes[0].subject] = notes[0].text;
    EXPECT_EQ(at.decide().notes.size(), 0u);
    EXPECT_EQ(at.condition("GhostsRunning").message, told.message);
}

TEST(decide, a_ghost_that_ends_again_and_again_fails_until_it_has_run_for_long) {
    world at;
    at.all_ghosts();
    at.pods[0].reason = "CrashLoopBackOff";
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "False");
    EXPECT_THAT(told.message, HasSubstr("container does not keep running (node-a)"));
    for (const char* attempt : {"RunContainerError", "", "CreateContainerError"}) {
        at.pods[0].reason = attempt;
        at.known.crashed[at.pods[0].metadata.uid] = at.now - 9min;
        EXPECT_EQ(at.condition("GhostsRunning"), told) << attempt;
    }
    at.pods[0].reason.clear();
    at.known.crashed[at.pods[0].metadata.uid] = at.now - 10min;
    EXPECT_EQ(at.condition("GhostsRunning").status, "True");
}

TEST(decide, an_image_that_the_api_server_refuses_is_told_and_tried_ever_later) {
    world at;
    at.all_ghosts();
    at.ghost_image = "mirror/pause:1";
    EXPECT_EQ(at.actions().size(), 6u);
    at.known.images.failed(at.now, "policy x: no");
    at.known.images.failed(at.now, "policy x: no, either");
    EXPECT_EQ(at.known.images.failures, 1) << "those of one look count once";
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().again, steady_time::duration(1s));
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "True");
    EXPECT_EQ(told.reason, "ImageNotChanged");
    EXPECT_THAT(told.message, HasSubstr("policy x: no"));
    ASSERT_EQ(at.decide().notes.size(), 1u);
    EXPECT_EQ(at.decide().notes[0].reason, "GhostImageNotChanged");
    at.now += 1s;
    EXPECT_EQ(at.actions().size(), 6u);
}

TEST(decide, a_ghost_that_waits_too_long_is_an_error_with_the_schedulers_words) {
    world at{{"node-a"}};
    at.ghost("node-a", 0);
    auto& ghost = at.ghost("node-a", 1, false);
    ghost.nominated_node_name = "node-a";
    ghost.scheduled_message = "0/1 nodes are available: 1 Insufficient cpu.";
    at.wall = at_second(52);
    EXPECT_EQ(at.states(), "FREE RESERVED");
    ASSERT_TRUE(at.decide().again);
    at.wall = at_second(57);
    EXPECT_EQ(at.states(), "FREE ERROR");
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0], HasSubstr("Insufficient cpu"));
    EXPECT_EQ(at.actions(), lines{});
    ghost.nominated_node_name.clear();
    EXPECT_EQ(at.actions(), lines{"nominate ghost-node-a-1 node-a"}) << "cleared by a preemptor";
}

TEST(decide, of_two_ghosts_at_the_door_of_room_for_one_the_later_steps_back) {
    world at{{"node-a"}};
    for (int index : {0, 1}) at.ghost("node-a", index, false).nominated_node_name = "node-a";
    EXPECT_EQ(at.actions(), lines{});
    auto& room = at.nodes["node-a"].allocatable;
    for (auto& [resource, amount] : room) {
        if (resource == "cpu") amount = 700;
    }
    EXPECT_EQ(at.actions(), lines{"nominate ghost-node-a-1 "});
}

}  // namespace
}  // namespace esi::testbed::tests
