#include "kube/watch/share.h"

#include <gtest/gtest.h>

#include "kube/watch/store.h"
#include "model/cluster.h"

namespace esi::kube {
namespace {

constexpr std::size_t kilobyte = 1024;

model::batchjob job(const std::string& ns, const std::string& name, std::size_t bytes) {
    model::batchjob out;
    out.metadata.namespace_ = ns;
    out.metadata.name = name;
    out.metadata.uid = "uid-" + name;
    out.metadata.resource_version = "1";
    out.spec.spark_spec = model::raw_json{std::string(bytes, 'x')};
    out.status.placements = {{3, "uid-pod", "pod"}};
    return out;
}

/// A store in which each namespace may take 160 kB.
struct a_store_with_shares : testing::Test {
    a_store_with_shares() {
        jobs.limit(160 * kilobyte, "BatchJob");
        jobs.on_change([this](const change<model::batchjob>& what) {
            if (what.after) changed.push_back(what.after->metadata.key().text());
        });
    }
    bool is_whole(const std::string& ns, const std::string& name) const {
        return jobs.find({ns, name})->metadata.undecodable.empty();
    }
    std::vector<std::string> left_out() const {
        std::vector<std::string> out;
        for (const auto& [key, bytes] : jobs.shares().all_left_out()) out.push_back(key.text());
        return out;
    }

    store<model::batchjob> jobs;
    std::vector<std::string> changed;
};

using strings = std::vector<std::string>;

TEST_F(a_store_with_shares, the_largest_object_of_the_namespace_above_its_share_loses_its_content) {
    jobs.apply(job("lab", "small", 10 * kilobyte));
    jobs.apply(job("lab", "large", 100 * kilobyte));
    jobs.apply(job("other", "larger", 150 * kilobyte));
    EXPECT_EQ(left_out(), strings{});
    jobs.apply(job("lab", "last", 60 * kilobyte));
    EXPECT_EQ(left_out(), strings{"lab/large"});
    EXPECT_TRUE(is_whole("lab", "small"));
    EXPECT_TRUE(is_whole("lab", "last"));
    EXPECT_TRUE(is_whole("other", "larger")) << "it is not of that namespace";
    const auto left = jobs.find({"lab", "large"});
    EXPECT_EQ(
        left->metadata.undecodable,
        ".spec.sparkSpec: it takes 0.1 MiB of memory, and all objects of the kind BatchJob in "
        "one namespace may take 0.2 MiB together (--cache-share-bytes): make it smaller, or "
        "delete others");
    EXPECT_EQ(left->spec.spark_spec, model::raw_json()) << "which kind it is is still known";
    EXPECT_EQ(left->status.placements.size(), 1U) << "what operators wrote stands";
    EXPECT_EQ(changed.back(), "lab/large") << "who reads it is told";
}

TEST_F(a_store_with_shares, a_list_is_kept_within_the_share_while_it_is_read) {
    auto list = jobs.new_list();
    for (std::size_t i = 0; i < 8; ++i) {
        list.add(
            store<model::batchjob>::keep(job("lab", "j" + std::to_string(i), (30 + i) * kilobyte)));
    }
    jobs.replace(std::move(list), "");
    EXPECT_LE(jobs.shares().largest(), 160 * kilobyte);
    EXPECT_EQ(jobs.size(), 8U);
    EXPECT_GE(left_out().size(), 4U);
    EXPECT_FALSE(jobs.shares().has_room_again());
}

TEST_F(a_store_with_shares, room_that_comes_back_is_told_and_a_list_brings_the_content) {
    for (const char* name : {"a", "b", "c"}) jobs.apply(job("lab", name, 60 * kilobyte));
    ASSERT_EQ(left_out().size(), 1U);
    const auto gone = model::object_key::from_text(left_out().front());
    EXPECT_FALSE(jobs.shares().has_room_again());
    jobs.erase({"lab", gone.name == "a" ? "b" : "a"});
    EXPECT_TRUE(jobs.shares().has_room_again());
    auto list = jobs.new_list();
    for (const char* name : {"a", "c"}) {
        if (jobs.find({"lab", name})) {
            list.add(store<model::batchjob>::keep(job("lab", name, 60 * kilobyte)));
        }
    }
    if (gone.name == "b") list.add(store<model::batchjob>::keep(job("lab", "b", 60 * kilobyte)));
    jobs.replace(std::move(list), "");
    EXPECT_TRUE(is_whole("lab", gone.name)) << "of the same resourceVersion, with its content";
    EXPECT_EQ(left_out(), strings{});
    EXPECT_FALSE(jobs.shares().has_room_again());
}

TEST_F(a_store_with_shares, what_operators_wrote_is_never_left_out_however_much_it_is) {
    auto large = job("lab", "a", 0);
    large.status.problems = {std::string(300 * kilobyte, 'p')};
    jobs.apply(large);
    EXPECT_TRUE(is_whole("lab", "a"));
    EXPECT_EQ(left_out(), strings{});
    // A look without result is not repeated with each change.
    EXPECT_FALSE(jobs.shares().is_above("lab"));
    jobs.apply(job("lab", "b", 100 * kilobyte));
    EXPECT_EQ(left_out(), strings{"lab/b"});
}

TEST_F(a_store_with_shares, a_new_version_brings_back_no_content_for_which_there_is_no_room) {
    for (const char* name : {"a", "b", "c"}) jobs.apply(job("lab", name, 60 * kilobyte));
    ASSERT_EQ(left_out().size(), 1U);
    const auto which = left_out().front();
    const auto name = model::object_key::from_text(which).name;
    changed.clear();
    // As after a write of an operator to its status.
    auto written = job("lab", name, 60 * kilobyte);
    written.metadata.resource_version = "2";
    jobs.apply(written);
    EXPECT_EQ(left_out(), strings{which});
    EXPECT_EQ(changed, strings{which}) << "no other one lost its content for it";
    EXPECT_EQ(jobs.find({"lab", name})->metadata.resource_version, "2");
    EXPECT_FALSE(is_whole("lab", name));
    // An object that has become small has its content.
    written = job("lab", name, 100);
    written.metadata.resource_version = "3";
    jobs.apply(written);
    EXPECT_TRUE(is_whole("lab", name));
    EXPECT_EQ(left_out(), strings{});
}

TEST_F(a_store_with_shares, an_object_that_comes_twice_in_a_list_is_as_it_came_last) {
    auto list = jobs.new_list();
    for (const char* name : {"a", "b", "c"}) {
        list.add(store<model::batchjob>::keep(job("lab", name, 60 * kilobyte)));
    }
    for (const char* name : {"a", "b", "c"}) {
        auto small = job("lab", name, 100);
        small.metadata.resource_version = "2";
        list.add(store<model::batchjob>::keep(std::move(small)));
    }
    jobs.replace(std::move(list), "");
    EXPECT_EQ(left_out(), strings{});
}

TEST_F(a_store_with_shares, one_that_esi_cannot_read_anyway_gets_its_content_again) {
    const auto broken = [](const char* name) {
        auto out = job("lab", name, 60 * kilobyte);
        out.metadata.undecodable = ".spec.x: is wrong";
        return out;
    };
    for (const char* name : {"a", "b", "c"}) jobs.apply(broken(name));
    ASSERT_EQ(left_out().size(), 1U);
    const auto gone = model::object_key::from_text(left_out().front()).name;
    const std::string other = gone == "a" ? "b" : "a";
    jobs.erase({"lab", other});
    auto list = jobs.new_list();
    for (const char* name : {"a", "b", "c"}) {
        if (name != other) list.add(store<model::batchjob>::keep(broken(name)));
    }
    jobs.replace(std::move(list), "");
    EXPECT_EQ(left_out(), strings{});
    EXPECT_EQ(jobs.find({"lab", gone})->spec.spark_spec->text.size(), 60 * kilobyte);
}

TEST_F(a_store_with_shares, after_a_peak_the_share_counts_from_where_it_fell_to) {
    for (const char* name : {"a", "b", "c"}) {
        auto large = job("lab", name, 0);
        large.status.problems = {std::string(100 * kilobyte, 'p')};
        jobs.apply(large);
    }
    EXPECT_FALSE(jobs.shares().is_above("lab")) << "nothing can be left out";
    jobs.erase({"lab", "a"});
    jobs.apply(job("lab", "d", 60 * kilobyte));
    EXPECT_EQ(left_out(), strings{"lab/d"});
}

TEST(shares, room_in_one_namespace_is_no_reason_to_list_another) {
    namespace_shares shares(100 * kilobyte, "Pod");
    shares.came({"lab", "a"}, 10 * kilobyte);
    shares.left_out({"lab", "a"}, 50 * kilobyte);
    shares.came({"lab", "b"}, 80 * kilobyte);
    shares.gone({"lab", "b"}, 80 * kilobyte);
    EXPECT_TRUE(shares.has_room_again());
    EXPECT_TRUE(shares.has_room_again("lab"));
    EXPECT_FALSE(shares.has_room_again("other"));
}

TEST_F(a_store_with_shares, without_a_limit_nothing_is_left_out) {
    jobs.limit(0, "BatchJob");
    jobs.apply(job("lab", "a", 1000 * kilobyte));
    EXPECT_TRUE(is_whole("lab", "a"));
}

TEST(shares, a_pod_that_loses_its_content_takes_its_room_where_it_is) {
    store<model::pod> pods;
    pods.limit(64 * kilobyte, "Pod");
    for (const char* name : {"a", "b"}) {
        model::pod pod;
        pod.metadata.namespace_ = "lab";
        pod.metadata.name = name;
        pod.metadata.labels["esi.tu-berlin.de/job"] = "j";
        pod.metadata.labels["app"] = "w";
        pod.node_name = "n";
        pod.requests = {{"cpu", 500}};
        pod.affinity.text = std::string(40 * kilobyte, ' ');
        pods.apply(std::move(pod));
    }
    std::size_t whole = 0;
    pods.each([&](const auto& pod) {
        whole += pod->affinity.text.empty() ? 0 : 1;
        EXPECT_EQ(pod->node_name, "n");
        EXPECT_EQ(pod->requests, (model::amounts{{"cpu", 500}}));
        EXPECT_EQ(pod->metadata.label("esi.tu-berlin.de/job"), "j");
        if (pod->affinity.text.empty()) {
            EXPECT_TRUE(pod->metadata.undecodable.starts_with(".spec.affinity: it takes"));
        }
    });
    EXPECT_EQ(whole, 1U);
}

}  // namespace
}  // namespace esi::kube
