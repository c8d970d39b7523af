#include "neighbours/gangs/member_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/cluster_for_tests.h"
#include "neighbours/gangs/programs.h"
#include "neighbours/kube/kube_scheduler.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;
using testing::cluster;

struct town : cluster {
    town() { node("n1", "4"); }
    kubelet nodes{around};
    kube_scheduler scheduler{around, {}};
    member_sets sets{around};
    programs running{around, nodes};

    member_set workers(int count, const char* again, int runs_ms) {
        auto pod = pod_body("x", "100m");
        pod["metadata"] = {{"annotations", {{"example.com/runs-ms", std::to_string(runs_ms)}}}};
        return {"default", "w", std::move(pod), count, again, {"100m", "200m"}, 0};
    }
    /// "Running: 2, Succeeded: 1"
    std::map<std::string, int> phases() {
        std::map<std::string, int> out;
        for (const auto& pod : server.objects().all(kinds::pod)) {
            ++out[std::string(fields::phase(pod->body()))];
        }
        return out;
    }
};

using counts = std::map<std::string, int>;

TEST(member_sets, a_job_is_done_when_each_member_has_ended_well) {
    town of;
    of.sets.put(of.workers(3, "failed", 5000));
    of.run(3s);
    EXPECT_EQ(of.phases(), (counts{{"Running", 3}}));
    of.run(60s);
    EXPECT_EQ(of.phases(), (counts{{"Succeeded", 3}}));
}

TEST(member_sets, a_member_that_fails_is_made_anew) {
    town of;
    auto wanted = of.workers(2, "failed", 5000);
    wanted.fails = 1;
    of.sets.put(wanted);
    of.run(60s);
    EXPECT_EQ(of.phases(), (counts{{"Failed", 1}, {"Succeeded", 2}}));
}

TEST(member_sets, a_service_has_its_members_again_whatever_becomes_of_them) {
    town of;
    of.sets.put(of.workers(2, "always", 20000));
    of.run(3s);
    const auto first = of.server.objects().all(kinds::pod).front();
    of.remove(first->name());
    of.run(3s);
    EXPECT_EQ(of.phases(), (counts{{"Running", 2}}));
    EXPECT_FALSE(of.exists(first->name()));
}

TEST(member_sets, sizes_go_round_and_counts_change) {
    town of;
    of.sets.put(of.workers(3, "always", 900000));
    of.run(3s);
    std::multiset<std::string> sizes;
    for (const auto& pod : of.server.objects().all(kinds::pod)) {
        sizes.emplace(
            fields::text(pod->body()["spec"]["containers"][0], {"resources", "requests", "cpu"}));
    }
    EXPECT_EQ(sizes, (std::multiset<std::string>{"100m", "100m", "200m"}));
    of.sets.put(of.workers(1, "always", 900000));
    of.run(3s);
    EXPECT_EQ(of.phases(), (counts{{"Running", 1}}));
    of.sets.remove("default", "w");
    of.run(3s);
    EXPECT_EQ(of.phases(), counts());
}

TEST(member_sets, what_is_down_makes_nothing) {
    town of;
    of.sets.crash();
    of.sets.put(of.workers(2, "failed", 5000));
    of.run(10s);
    EXPECT_EQ(of.phases(), counts());
    of.sets.restart();
    of.run(3s);
    EXPECT_EQ(of.phases(), (counts{{"Running", 2}}));
}

TEST(kube_scheduler_lease, shows_another_holder_after_a_start) {
    cluster of;
    scheduler_settings how;
    how.lease = true;
    kube_scheduler scheduler(of.around, how);
    of.run(5s);
    const auto first = of.get(kinds::lease, "kube-scheduler", "kube-system");
    EXPECT_EQ(first["spec"]["leaseTransitions"], 0);
    of.run(5s);
    const auto renewed = of.get(kinds::lease, "kube-scheduler", "kube-system");
    EXPECT_EQ(renewed["spec"]["holderIdentity"], first["spec"]["holderIdentity"]);
    EXPECT_NE(renewed["spec"]["renewTime"], first["spec"]["renewTime"]);
    scheduler.crash();
    scheduler.restart();
    of.run(5s);
    const auto next = of.get(kinds::lease, "kube-scheduler", "kube-system");
    EXPECT_EQ(next["spec"]["leaseTransitions"], 1);
    EXPECT_NE(next["spec"]["holderIdentity"], first["spec"]["holderIdentity"]);
}

}  // namespace
}  // namespace esi::simulation
