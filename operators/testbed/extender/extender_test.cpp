#include "testbed/extender/extender.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace esi::testbed {
namespace {

using nlohmann::json;

/// Testbed default/tb is held under s.7; the pod pod-uid of its run s.7.1 sits in slot 1 on node-b.
struct facts final : extender_facts {
    std::string hold_of(const model::object_key& testbed) const override {
        return testbed == model::object_key{"default", "tb"} ? hold : std::string();
    }
    std::optional<seat> seat_of(const model::object_key& testbed, std::string_view run,
                                std::string_view pod_uid) const override {
        const bool given = testbed == model::object_key{"default", "tb"} && run == "s.7.1";
        return given && pod_uid == "pod-uid" ? place : std::nullopt;
    }
    std::string hold = "s.7";
    std::optional<seat> place = seat{"node-b", "ghost-uid"};
};

json ask(result<std::string> (*verb)(std::string_view, const extender_facts&),
         std::string_view body, const facts& known = {}) {
    auto answer = verb(body, known);
    if (!answer) return json{{"refused", answer.error().text}};
    return json::parse(*answer);
}

/// A job pod with these further members of metadata, and these annotations.
std::string pod_with(std::string_view more, std::string_view annotations) {
    return R"("Pod":{"metadata":{"name":"e1",)" + std::string(more) +
           R"("labels":{"esi.tu-berlin.de/testbed":"tb",)"
           R"("esi.tu-berlin.de/testbed-namespace":"default"},"annotations":{)" +
           std::string(annotations) + "}}}";
}

const auto decided =
    pod_with(R"("uid":"pod-uid",)",
             R"("esi.tu-berlin.de/run":"s.7.1","esi.tu-berlin.de/slot":"1",)"
             R"("esi.tu-berlin.de/slot-node":"node-b","esi.tu-berlin.de/slot-ghost":"ghost-uid")");
const auto undecided = pod_with(R"("uid":"pod-uid",)", R"("esi.tu-berlin.de/run":"s.7.1")");
constexpr auto stranger = R"("Pod":{"metadata":{"name":"p","labels":{"app":"x"}}})";

std::string body(std::string_view pod, std::string_view rest) {
    return "{" + std::string(pod) + "," + std::string(rest) + "}";
}

TEST(extender_filter, a_stranger_passes_every_node) {
    EXPECT_EQ(ask(answer_filter, body(stranger, R"("Nodes":null,"NodeNames":["node-a","node-b"])")),
              json::parse(R"({"Nodes":null,"NodeNames":["node-a","node-b"],"FailedNodes":{},
                              "FailedAndUnresolvableNodes":{},"Error":""})"));
}

TEST(extender_filter, a_decided_pod_passes_its_node_only_and_every_other_is_named) {
    EXPECT_EQ(ask(answer_filter,
                  body(decided, R"("Nodes":null,"NodeNames":["node-c","node-b","node-a"])")),
              json::parse(R"({"Nodes":null,"NodeNames":["node-b"],"FailedNodes":{},
            "FailedAndUnresolvableNodes":{"node-c":"slot 1 of the pod is on node-b",
            "node-a":"slot 1 of the pod is on node-b"},"Error":""})"));
}

TEST(extender_filter, annotations_without_the_label_of_a_testbed_mean_nothing) {
    const auto marked =
        R"("Pod":{"metadata":{"uid":"pod-uid","annotations":{"esi.tu-berlin.de/run":"s.7.1",)"
        R"("esi.tu-berlin.de/slot":"1","esi.tu-berlin.de/slot-node":"node-b"}}})";
    EXPECT_EQ(ask(answer_filter, body(marked, R"("NodeNames":["node-a","node-b"])"))["NodeNames"],
              json::array({"node-a", "node-b"}));
}

TEST(extender_filter, a_pod_whose_run_is_not_under_the_present_hold_passes_no_node) {
    facts released;
    released.hold = "";
    facts held_anew;
    held_anew.hold = "s.8";
    for (const auto& known : {released, held_anew}) {
        auto answer =
            ask(answer_filter, body(decided, R"("NodeNames":["node-a","node-b"])"), known);
        EXPECT_EQ(answer["NodeNames"], json::array());
        EXPECT_EQ(answer["FailedAndUnresolvableNodes"]["node-b"],
                  "the run of this pod is not under the present hold of its Testbed");
    }
}

TEST(extender_filter, a_pod_of_ours_that_is_not_decided_is_refused_as_unresolvable) {
    auto answer = ask(answer_filter, body(undecided, R"("NodeNames":["node-a"])"));
    EXPECT_EQ(answer["NodeNames"], json::array());
    EXPECT_EQ(answer["FailedNodes"], json::object());
    EXPECT_EQ(answer["FailedAndUnresolvableNodes"].size(), 1u);
    EXPECT_EQ(answer["Error"], "");
}

TEST(extender_filter, a_question_with_whole_nodes_is_answered_with_whole_nodes) {
    EXPECT_EQ(ask(answer_filter, body(decided, R"("NodeNames":null,"Nodes":{"metadata":{},"items":[
                       {"metadata":{"name":"node-a"}},
                       {"metadata":{"name":"node-b","labels":{"q":"\"\u0001"}},"spec":{"x":1}}]})")),
              json::parse(R"({"NodeNames":null,"Nodes":{"metadata":{},"items":[
                  {"metadata":{"name":"node-b","labels":{"q":"\"\u0001"}},"spec":{"x":1}}]},
                  "FailedNodes":{},"FailedAndUnresolvableNodes":{
                  "node-a":"slot 1 of the pod is on node-b"},"Error":""})"));
}

TEST(extender_filter, neither_form_and_lower_case_names_are_understood) {
    auto neither = ask(answer_filter, body(decided, R"("Nodes":null,"NodeNames":null)"));
    EXPECT_TRUE(neither["Nodes"].is_null());
    EXPECT_TRUE(neither["NodeNames"].is_null());
    auto lower =
        ask(answer_filter,
            R"({"pod":{"metadata":{"labels":null,"annotations":null}},"nodenames":["a"]})");
    EXPECT_EQ(lower["NodeNames"], json::array({"a"}));
    EXPECT_EQ(ask(answer_filter, R"({"Pod":null,"NodeNames":["a"]})")["NodeNames"],
              json::array({"a"}));
}

TEST(extender_preemption, the_one_victim_is_the_ghost_of_the_slot) {
    const auto expected = json::parse(
        R"({"NodeNameToMetaVictims":{"node-b":{"Pods":[{"UID":"ghost-uid"}],"NumPDBViolations":0}}})");
    EXPECT_EQ(
        ask(answer_preemption, body(decided, R"("NodeNameToVictims":null,"NodeNameToMetaVictims":{
                       "node-a":{"Pods":[{"UID":"x"}],"NumPDBViolations":0},
                       "node-b":{"Pods":[{"UID":"another"}],"NumPDBViolations":1}})")),
        expected);
    EXPECT_EQ(
        ask(answer_preemption, body(decided, R"("NodeNameToMetaVictims":null,"NodeNameToVictims":{
                       "node-b":{"Pods":[],"NumPDBViolations":0}})")),
        expected);
}

TEST(extender_preemption, without_a_decision_or_without_the_node_nobody_is_preempted) {
    const auto none = json::parse(R"({"NodeNameToMetaVictims":{}})");
    EXPECT_EQ(ask(answer_preemption,
                  body(undecided, R"("NodeNameToMetaVictims":{"node-b":{"Pods":[{"UID":"x"}]}})")),
              none);
    EXPECT_EQ(ask(answer_preemption,
                  body(decided, R"("NodeNameToMetaVictims":{"node-a":{"Pods":[{"UID":"x"}]}})")),
              none);
    EXPECT_EQ(ask(answer_preemption, body(decided, R"("NodeNameToMetaVictims":null)")), none);
}

TEST(extender_preemption, nobody_is_named_who_is_not_the_ghost_in_the_slot_that_the_caches_show) {
    const auto none = json::parse(R"({"NodeNameToMetaVictims":{}})");
    const auto offer = R"("NodeNameToMetaVictims":{"node-a":{"Pods":[]},"node-b":{"Pods":[]}})";
    const auto claims = [](std::string_view node, std::string_view ghost) {
        return pod_with(R"("uid":"pod-uid",)",
                        R"("esi.tu-berlin.de/run":"s.7.1","esi.tu-berlin.de/slot-node":")" +
                            std::string(node) + R"(","esi.tu-berlin.de/slot-ghost":")" +
                            std::string(ghost) + R"(")");
    };
    EXPECT_EQ(ask(answer_preemption, body(decided, offer))["NodeNameToMetaVictims"].size(), 1u);
    // The victim is another pod of the node, or the node is another one.
    EXPECT_EQ(ask(answer_preemption, body(claims("node-b", "uid-of-etcd"), offer)), none);
    EXPECT_EQ(ask(answer_preemption, body(claims("node-a", "ghost-uid"), offer)), none);
    // This pod copies all marks of one that was placed.
    auto copied = decided;
    copied.replace(copied.find("pod-uid"), 7, "another");
    EXPECT_EQ(ask(answer_preemption, body(copied, offer)), none);
    // The ghost is gone, is not the Testbed's, or is not bound there; the hold is over.
    facts no_ghost;
    no_ghost.place = seat{"node-b", ""};
    EXPECT_EQ(ask(answer_preemption, body(decided, offer), no_ghost), none);
    EXPECT_EQ(ask(answer_preemption, body(claims("node-b", ""), offer), no_ghost), none);
    facts not_placed;
    not_placed.place.reset();
    EXPECT_EQ(ask(answer_preemption, body(decided, offer), not_placed), none);
    facts released;
    released.hold = "";
    EXPECT_EQ(ask(answer_preemption, body(decided, offer), released), none);
}

TEST(extender_preemption, a_strangers_victims_stay_as_the_scheduler_chose_them) {
    EXPECT_EQ(ask(answer_preemption, body(stranger, R"("NodeNameToVictims":{"node-a":{"Pods":[
                       {"metadata":{"name":"v","uid":"u1"}}],"NumPDBViolations":2}})")),
              json::parse(R"({"NodeNameToMetaVictims":{"node-a":{"Pods":[{"UID":"u1"}],
                              "NumPDBViolations":2}}})"));
}

TEST(extender, wrong_bodies_are_refused) {
    for (auto bad :
         {"", "x", "[]", "1", "null", "{", R"({"Pod":1})", R"({"Pod":{"metadata":[]}})",
          R"({"Pod":{"metadata":{"labels":"x"}}})", R"({"Pod":{"metadata":{"annotations":7}}})"}) {
        EXPECT_TRUE(ask(answer_filter, bad).contains("refused")) << bad;
        EXPECT_TRUE(ask(answer_preemption, bad).contains("refused")) << bad;
    }
    for (auto bad : {R"({"NodeNames":{}})", R"({"NodeNames":[1]})", R"({"Nodes":[]})",
                     R"({"Nodes":{"items":{}}})", R"({"Nodes":{"items":[{}]}})",
                     R"({"Nodes":{"items":[{"metadata":{"name":3}}]}})"}) {
        EXPECT_TRUE(ask(answer_filter, bad).contains("refused")) << bad;
    }
    for (auto bad : {R"({"NodeNameToMetaVictims":[]})", R"({"NodeNameToMetaVictims":{"a":1}})",
                     R"({"NodeNameToMetaVictims":{"a":{"Pods":1}}})",
                     R"({"NodeNameToMetaVictims":{"a":{"Pods":[1]}}})",
                     R"({"NodeNameToMetaVictims":{"a":{"Pods":[{}]}}})"}) {
        EXPECT_TRUE(ask(answer_preemption, bad).contains("refused")) << bad;
    }
}

TEST(extender, no_mutation_of_a_body_ends_the_process) {
    const std::vector<std::string> seeds{
        body(decided, R"("Nodes":null,"NodeNames":["node-a","node-b"])"),
        body(decided, R"("NodeNames":null,"Nodes":{"items":[{"metadata":{"name":"node-b"}}]})"),
        body(decided, R"("NodeNameToMetaVictims":{"node-b":{"Pods":[{"UID":"x"}]}})"),
        body(stranger, R"("NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"x"}}]}})")};
    std::mt19937 random(7);
    auto upto = [&](std::size_t limit) { return random() % limit; };
    for (int i = 0; i < 20000; ++i) {
        auto text = seeds[upto(seeds.size())];
        for (std::size_t n = upto(4) + 1; n > 0 && !text.empty(); --n) {
            const auto at = upto(text.size());
            switch (upto(3)) {
                case 0:
                    text[at] = static_cast<char>(upto(256));
                    break;
                case 1:
                    text.erase(at, upto(8));
                    break;
                default:
                    text.insert(at, text.substr(upto(text.size()), upto(16)));
                    break;
            }
        }
        for (auto verb : {answer_filter, answer_preemption}) {
            auto answer = verb(text, facts{});
            if (answer) {
                EXPECT_TRUE(json::accept(*answer)) << text;
            } else {
                EXPECT_EQ(answer.error().code, errc::bad_request);
            }
        }
    }
}

}  // namespace
}  // namespace esi::testbed
