#include "testbed/caches/caches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/counting_new.h"
#include "base/virtual_clock.h"
#include "kube/connection/no_server.h"
#include "model/json.h"
#include "testbed/testing.h"

namespace esi::testbed {
namespace {

using nlohmann::json;
using tests::world;
namespace names = model::names;

struct pods_in_caches : testing::Test {
    model::pod decode(const json& object) {
        const auto text = object.dump();
        return *kube::decode_object<model::pod>(*model::parse(parser, text));
    }
    /// A pod of a foreign DaemonSet or Deployment, as an API server sends it.
    static json of_others(int number) {
        return {
            {"metadata",
             {{"name", fmt::format("web-7c9d8f6b5d-{:05}", number)},
              {"namespace", fmt::format("team-{:02}", number % 40)},
              {"uid", fmt::format("00000000-0000-4000-8000-{:012}", number)},
              {"resourceVersion", std::to_string(1'000'000 + number)},
              {"creationTimestamp", "2026-11-20T08:00:00Z"},
              {"labels", {{"app.kubernetes.io/name", "web"}, {"pod-template-hash", "7c9d8f6b5d"}}},
              {"finalizers", {"example.org/wait"}},
              {"ownerReferences",
               {{{"apiVersion", "apps/v1"},
                 {"kind", "ReplicaSet"},
                 {"name", "web-7c9d8f6b5d"},
                 {"uid", "5b9d"},
                 {"controller", true}}}}}},
            {"spec",
             {{"nodeName", fmt::format("node-{:05}", number % 100)},
              {"schedulerName", "default-scheduler"},
              {"priorityClassName", "business"},
              {"containers",
               {{{"name", "service"},
                 {"resources", {{"requests", {{"cpu", "250m"}, {"memory", "256Mi"}}}}}}}}}},
            {"status",
             {{"phase", "Running"},
              {"conditions",
               {{{"type", "PodScheduled"},
                 {"status", "True"},
                 {"lastTransitionTime", "2026-11-20T08:00:00Z"}}}}}}};
    }
    static model::pod ghost(int number) {
        const auto node = fmt::format("node-{:05}", number / 10);
        world w({});
        auto out = w.ghost(node, number % 10);
        out.metadata.uid = fmt::format("00000000-0000-4000-8000-{:012}", number);
        out.metadata.resource_version = std::to_string(1'000'000 + number);
        out.metadata.owner_references.front().uid = "11111111-0000-4000-8000-000000000001";
        out.metadata.annotations[std::string(names::ghost_image)] = "registry.k8s.io/pause:3.10";
        out.scheduler_name = "default-scheduler";
        out.scheduled_status = "True";
        out.scheduled_time = out.started_at = out.metadata.creation_timestamp;
        return out;
    }
    /// Bytes for each of `count` pods, with the indexes that lead to it.
    template <class Make>
    double bytes_each(Make make) {
        constexpr int count = 2000;
        const auto before = bytes_held();
        for (int i = 0; i < count; ++i) {
            auto one = make(i);
            caches::trim(one);
            seen.fill().pods.apply(std::move(one));
        }
        EXPECT_EQ(seen.pods().size(), std::size_t{count});
        return static_cast<double>(bytes_held() - before) / count;
    }

    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    kube::client api{nobody, time};
    caches seen{api, time, {}};
    simdjson::dom::parser parser;
};

// A cluster has hundreds of thousands of pods, and each of them is in this cache. Memory that one
// pod needs more is paid that often.

TEST_F(pods_in_caches, a_pod_of_others_takes_less_than_a_quarter_of_a_kilobyte) {
    EXPECT_LT(bytes_each([&](int i) { return decode(of_others(i)); }), 256);
}

TEST_F(pods_in_caches, a_ghost_takes_less_than_half_a_kilobyte) {
    EXPECT_LT(bytes_each(ghost), 512);
}

TEST_F(pods_in_caches, nothing_of_a_pod_stays_when_it_has_gone) {
    // This is made once.
    (void)bytes_each(ghost);
    const auto before = bytes_held();
    for (int i = 2000; i < 2500; ++i) seen.fill().pods.apply(ghost(i));
    for (int i = 2000; i < 2500; ++i) seen.fill().pods.erase(ghost(i).metadata.key());
    // The list of all ghosts of the Testbed keeps its capacity.
    EXPECT_LT(bytes_held() - before, 2500 * 16);
}

TEST_F(pods_in_caches, of_a_pod_of_others_stays_what_decides_about_room) {
    const auto whole = decode(of_others(7));
    auto kept = whole;
    caches::trim(kept);
    EXPECT_EQ(kept.metadata.key(), whole.metadata.key());
    EXPECT_EQ(kept.metadata.uid, whole.metadata.uid);
    EXPECT_EQ(kept.node_name, "node-00007");
    EXPECT_EQ(kept.phase, "Running");
    EXPECT_EQ(kept.scheduler_name, "default-scheduler");
    EXPECT_EQ(kept.requests, whole.requests);
    EXPECT_TRUE(kept.metadata.labels.empty());
    EXPECT_TRUE(kept.metadata.owner_references.empty());
    EXPECT_TRUE(kept.metadata.finalizers.empty());
    EXPECT_TRUE(kept.priority_class_name.empty());

    auto going = whole;
    going.metadata.deletion_timestamp = model::timestamp{tests::at_second(1)};
    caches::trim(going);
    EXPECT_TRUE(going.metadata.deleting());
}

TEST_F(pods_in_caches, of_a_pod_with_a_label_of_esi_stays_all_but_the_labels_of_others) {
    for (const auto label : {names::testbed, names::testbed_namespace, names::ghost, names::job}) {
        auto pod = decode(of_others(1));
        pod.metadata.labels[std::string(label)] = "x";
        const auto labels = pod.metadata.labels;
        auto with_gangs = pod;
        caches::trim(pod);
        EXPECT_EQ(pod.metadata.labels, (model::string_map{{std::string(label), "x"}}));
        EXPECT_EQ(pod.priority_class_name, "business") << label;
        caches::trim(with_gangs, true);
        EXPECT_EQ(with_gangs.metadata.labels, labels) << "terms of gangs may mean them";
    }
}

TEST_F(pods_in_caches, of_a_pod_of_others_stays_for_gangs_what_keeps_a_member_away) {
    auto pod = decode(of_others(1));
    pod.host_ports = {{"TCP", "", 80}};
    pod.anti_affinity.text = "[{}]";
    pod.nominated_node_name = "node-00001";
    pod.metadata.owner_references = {{"apps/v1", "DaemonSet", "d", "u-d", true}};
    auto without = pod;
    caches::trim(without);
    EXPECT_TRUE(without.host_ports.empty());
    EXPECT_TRUE(without.anti_affinity.text.empty());
    EXPECT_TRUE(without.metadata.owner_references.empty());

    auto kept = pod;
    caches::trim(kept, true);
    EXPECT_EQ(kept.host_ports, pod.host_ports);
    EXPECT_EQ(kept.anti_affinity, pod.anti_affinity);
    EXPECT_TRUE(kept.metadata.labels.empty());
    EXPECT_TRUE(kept.nominated_node_name.empty()) << "it is bound";
    ASSERT_NE(kept.metadata.controller_owner(), nullptr);
    EXPECT_EQ(kept.metadata.controller_owner()->kind, "DaemonSet");
    EXPECT_EQ(kept.metadata.controller_owner()->uid, "");

    pod.node_name.clear();
    pod.metadata.owner_references = {{"apps/v1", "ReplicaSet", "r", "u-r", true}};
    caches::trim(pod, true);
    EXPECT_EQ(pod.nominated_node_name, "node-00001");
    EXPECT_TRUE(pod.metadata.owner_references.empty());
}

TEST_F(pods_in_caches, for_gangs_a_pod_that_names_a_group_stays_whole) {
    const auto label = [](std::string_view name) {
        return [name](model::pod& pod) { pod.metadata.labels[std::string(name)] = "g"; };
    };
    const std::function<void(model::pod&)> ways[] = {
        label(names::pod_group), label(names::tenstack_group),
        [](auto& pod) { pod.metadata.annotations[std::string(names::group_name)] = "g"; },
        [](auto& pod) { pod.scheduling_gates = {std::string(names::gang)}; }};
    for (const auto& name : ways) {
        auto pod = decode(of_others(1));
        name(pod);
        const auto labels = pod.metadata.labels;
        auto off = pod;
        caches::trim(pod, true);
        EXPECT_EQ(pod.metadata.labels, labels);
        EXPECT_EQ(pod.priority_class_name, "business");
        caches::trim(off);
        EXPECT_TRUE(off.metadata.labels.empty()) << "who has no gangs keeps nothing for them";
    }
}

TEST_F(pods_in_caches, a_ghost_without_its_labels_is_still_known_by_its_name) {
    world w;
    auto pod = w.ghost("node-a", 0);
    pod.metadata.labels.clear();
    ASSERT_TRUE(is_damaged_ghost(pod, w.testbed));
    caches::trim(pod);
    EXPECT_TRUE(is_damaged_ghost(pod, w.testbed));
}

TEST_F(pods_in_caches, what_a_kubelet_reports_of_a_pod_of_others_is_no_change) {
    int told = 0;
    seen.fill().pods.on_change([&](const auto&) { ++told; });
    const auto apply = [&](json object) {
        auto pod = decode(object);
        caches::trim(pod);
        seen.fill().pods.apply(std::move(pod));
    };
    auto object = of_others(1);
    apply(object);
    EXPECT_EQ(told, 1);
    object["metadata"]["resourceVersion"] = "1000002";
    object["metadata"]["labels"]["note"] = "other";
    object["status"]["conditions"][0]["lastTransitionTime"] = "2026-11-20T09:00:00Z";
    apply(object);
    EXPECT_EQ(told, 1);
    object["status"]["phase"] = "Succeeded";
    apply(object);
    EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace esi::testbed
