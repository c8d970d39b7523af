#include "batchjob/deaths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::world;

model::pod dead(const world& w, std::size_t index) {
    auto pod = *w.pods[index];
    pod.died_of = "OOMKilled (exit code 137)";
    return pod;
}

TEST(death_register, remembers_pods_on_record_once_and_until_the_run_has_ended) {
    world w;
    w.running();
    const auto key = w.job->metadata.key();
    death_register known;
    known.note(*w.job, *w.pods[1]);
    EXPECT_TRUE(known.of(key).empty()) << "it lives";
    for (int again = 0; again < 2; ++again) {
        known.note(*w.job, dead(w, 1));
        known.note(*w.job, dead(w, 2));
    }
    known.job_changed(*w.job);
    ASSERT_EQ(known.of(key).size(), 2u);
    EXPECT_EQ(known.of(key)[0].run, testing::run_1);
    EXPECT_EQ(known.of(key)[0].made, testing::stamp(12));
    EXPECT_EQ(known.of(key)[0].died_of, "OOMKilled (exit code 137)");
    EXPECT_EQ(known.of(key)[0].slot, 0);
    EXPECT_EQ(known.of(key)[1].slot, 3);
    w.job->status.runs.back().outcome = model::run_outcome::failed;
    known.job_changed(*w.job);
    EXPECT_TRUE(known.of(key).empty());
}

TEST(death_register, notes_nothing_of_pods_that_are_no_part_of_the_run_or_were_told_to_end) {
    world w;
    w.running();
    death_register known;
    auto forged = dead(w, 1);
    forged.metadata.uid = "another";
    known.note(*w.job, forged);
    auto deleted = dead(w, 1);
    deleted.metadata.deletion_timestamp = testing::stamp(20);
    known.note(*w.job, deleted);
    auto older = dead(w, 1);
    older.metadata.annotations["esi.tu-berlin.de/run"] = "older.1.1";
    known.note(*w.job, older);
    EXPECT_TRUE(known.of(w.job->metadata.key()).empty());
}

TEST(death_register, is_bounded) {
    world w;
    w.running();
    death_register known;
    for (int i = 0; i < 3000; ++i) {
        auto pod = dead(w, 1);
        pod.metadata.uid = std::to_string(i);
        w.job->status.placements = {{0, pod.metadata.uid, "p"}};
        known.note(*w.job, pod);
    }
    EXPECT_EQ(known.of(w.job->metadata.key()).size(), 1024u);
}

}  // namespace
}  // namespace esi::batchjob
