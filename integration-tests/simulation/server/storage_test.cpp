#include "server/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace esi::simulation {
namespace {

using ::testing::ElementsAre;

struct storage_test : ::testing::Test {
    steady_time now{};
    storage store{[this] { return now; }};

    static json pod(std::string name, std::string phase = "Pending", std::string ns = "lab") {
        json out = json::object();
        out["metadata"] = {{"name", std::move(name)}, {"namespace", std::move(ns)}};
        out["status"] = {{"phase", std::move(phase)}};
        return out;
    }
    static std::vector<std::string> told(const std::vector<object_pointer>& from) {
        std::vector<std::string> out;
        for (const auto& each : from) {
            out.push_back(each->ns() + "/" + each->name() + " " +
                          each->body()["status"]["phase"].get<std::string>());
        }
        return out;
    }
    auto at(std::uint64_t version, std::string_view ns = {}) {
        return told(store.all_at(kinds::pod, ns, version));
    }
};

TEST_F(storage_test, versions_are_one_sequence_over_all_kinds) {
    EXPECT_EQ(store.version(), 100u);
    EXPECT_EQ(store.put(kinds::pod, pod("a"))->version(), 101u);
    json node = {{"metadata", {{"name", "n"}}}};
    EXPECT_EQ(store.put(kinds::node, std::move(node))->version(), 102u);
    const auto again = store.put(kinds::pod, pod("a", "Running"));
    EXPECT_EQ(again->body()["metadata"]["resourceVersion"], "103");
    EXPECT_EQ(store.version(), 103u);
}

TEST_F(storage_test, old_states_can_be_read) {
    store.put(kinds::pod, pod("b"));             // 101
    store.put(kinds::pod, pod("a"));             // 102
    store.put(kinds::pod, pod("b", "Running"));  // 103
    store.erase(kinds::pod, "lab", "a");         // 104
    store.put(kinds::pod, pod("a", "Pending", "other"));

    EXPECT_THAT(at(100), ElementsAre());
    EXPECT_THAT(at(102), ElementsAre("lab/a Pending", "lab/b Pending"));
    EXPECT_THAT(at(103), ElementsAre("lab/a Pending", "lab/b Running"));
    EXPECT_THAT(at(105), ElementsAre("lab/b Running", "other/a Pending"));
    EXPECT_THAT(at(102, "other"), ElementsAre());
    EXPECT_THAT(at(105, "other"), ElementsAre("other/a Pending"));
}

TEST_F(storage_test, a_deletion_has_a_version_and_the_last_state) {
    store.put(kinds::pod, pod("a"));
    const auto last = store.erase(kinds::pod, "lab", "a");
    ASSERT_TRUE(last);
    EXPECT_EQ(last->version(), 102u);
    EXPECT_EQ(last->body()["metadata"]["resourceVersion"], "102");
    EXPECT_EQ(store.find(kinds::pod, "lab", "a"), nullptr);
    EXPECT_EQ(store.erase(kinds::pod, "lab", "a"), nullptr);
    EXPECT_EQ(store.version(), 102u);
    const auto* change = store.next(101);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->what, change_type::deleted);
    EXPECT_EQ(change->before->version(), 101u);
}

TEST_F(storage_test, changes_are_told_in_their_order_until_they_are_forgotten) {
    std::vector<std::uint64_t> heard;
    store.on_change([&](const change& what) { heard.push_back(what.version); });
    for (const char* name : {"a", "b", "c"}) store.put(kinds::pod, pod(name));
    EXPECT_THAT(heard, ElementsAre(101, 102, 103));

    EXPECT_EQ(store.since(100).size(), 3u);
    EXPECT_EQ(store.since(102).size(), 1u);
    EXPECT_EQ(store.since(103).size(), 0u);
    store.compact(102);
    EXPECT_EQ(store.compacted(), 102u);
    ASSERT_EQ(store.since(102).size(), 1u);
    EXPECT_EQ(store.since(102).front()->version, 103u);
    store.compact(5000);
    EXPECT_EQ(store.compacted(), 103u);
    EXPECT_EQ(store.next(103), nullptr);
    store.put(kinds::pod, pod("d"));
    EXPECT_EQ(store.next(103)->version, 104u);
}

TEST_F(storage_test, a_time_has_the_version_that_was_newest_then) {
    const auto begin = now;
    store.put(kinds::pod, pod("a"));
    now += seconds(2);
    store.put(kinds::pod, pod("b"));
    store.put(kinds::pod, pod("c"));
    EXPECT_EQ(store.version_at(begin - seconds(1)), 100u);
    EXPECT_EQ(store.version_at(begin), 101u);
    EXPECT_EQ(store.version_at(begin + seconds(1)), 101u);
    EXPECT_EQ(store.version_at(begin + seconds(2)), 103u);
    EXPECT_EQ(store.version_at(begin + seconds(9)), 103u);
}

}  // namespace
}  // namespace esi::simulation
