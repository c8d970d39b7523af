// Lists and watches: what a resourceVersion means, pages, selectors, the end of a history.
#include "server/testing.h"

namespace esi::simulation {
namespace {

using namespace esi::simulation::testing;

struct watch_test : ::testing::Test {
    world of;
    std::uint64_t start = of.server.objects().version();
    const std::string stream =
        testbeds +
        "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch="
        "NotOlderThan";

    void make(const std::string& name, json labels = json::object()) {
        auto body = world::testbed(name);
        body["metadata"]["labels"] = std::move(labels);
        ASSERT_EQ(of.send("POST", testbeds, body).first, 201);
    }
    void touch(const std::string& name, json labels) {
        ASSERT_EQ(of.merge(testbeds + "/" + name, {{"metadata", {{"labels", labels}}}}).first, 200);
    }
    std::string from(std::uint64_t version) {
        return testbeds +
               "?watch=true&allowWatchBookmarks=true&resourceVersion=" + std::to_string(version);
    }
    /// "a b", of the state `visible`.
    std::string listed(const std::string& options, std::optional<std::uint64_t> visible = {}) {
        const auto [status, answer] =
            of.send("GET", testbeds + options, nullptr, "application/json", visible);
        if (status != 200) return std::to_string(status) + " " + answer.value("reason", "");
        std::string out;
        for (const auto& each : answer["items"]) {
            out += (out.empty() ? "" : " ") + each["metadata"]["name"].get<std::string>();
        }
        return out + " @" + answer["metadata"]["resourceVersion"].get<std::string>();
    }
    std::string version(std::uint64_t after_start) { return std::to_string(start + after_start); }
};

TEST_F(watch_test, a_watch_goes_on_where_it_was_left) {
    make("a");
    touch("a", {{"k", "1"}});
    auto seen = of.watching(from(start + 1));
    EXPECT_EQ(of.events(*seen), "MODIFIED a");
    EXPECT_EQ(of.events(*seen), "");
    make("b");
    of.send("DELETE", testbeds + "/b");
    of.send("POST", pods, world::pod("p"));
    EXPECT_EQ(of.events(*seen), "ADDED b, DELETED b");
    EXPECT_EQ(of.events(seen->bookmark(of.server.objects().version())), "BOOKMARK");
    EXPECT_NE(seen->bookmark(of.server.objects().version())
                  .find("\"resourceVersion\":\"" + version(5) + "\""),
              std::string::npos);
}

TEST_F(watch_test, only_what_is_visible_is_told) {
    auto seen = of.watching(from(start));
    make("a");
    make("b");
    EXPECT_EQ(of.events(seen->read(start)), "");
    EXPECT_EQ(of.events(seen->read(start + 1)), "ADDED a");
    EXPECT_EQ(of.events(seen->read(start + 2)), "ADDED b");
}

TEST_F(watch_test, a_streaming_list_ends_with_a_bookmark_and_goes_on) {
    make("b");
    make("a");
    auto seen = of.watching(stream);
    const auto lines = seen->read(of.server.objects().version());
    EXPECT_EQ(world::events(lines), "ADDED a, ADDED b, BOOKMARK");
    EXPECT_NE(lines.find("\"k8s.io/initial-events-end\":\"true\""), std::string::npos);
    make("c");
    EXPECT_EQ(of.events(*seen), "ADDED c");
}

TEST_F(watch_test, a_streaming_list_waits_for_the_version_it_asked_for) {
    make("a");
    auto opened =
        of.server.open(kube::request("GET", stream + "&resourceVersion=" + version(1)), start);
    auto& seen = std::get<std::unique_ptr<watch>>(opened);
    EXPECT_EQ(seen->read(start), "");
    EXPECT_EQ(world::events(seen->read(start + 1)), "ADDED a, BOOKMARK");

    auto vain = of.watching(stream + "&resourceVersion=" + version(50));
    EXPECT_EQ(vain->read(start + 1), "");
    of.now += seconds(3);
    const auto line = vain->read(start + 1);
    EXPECT_NE(line.find("ResourceVersionTooLarge"), std::string::npos) << line;
    EXPECT_TRUE(vain->ended());
}

TEST_F(watch_test, a_watch_from_nowhere_begins_with_the_state) {
    make("a");
    EXPECT_EQ(of.events(*of.watching(testbeds + "?watch=true&resourceVersion=0")), "ADDED a");
    EXPECT_EQ(of.events(*of.watching(testbeds + "?watch=true")), "ADDED a");
    EXPECT_EQ(of.events(*of.watching(testbeds + "?watch=true&allowWatchBookmarks=true")),
              "ADDED a, BOOKMARK");
}

TEST_F(watch_test, a_watch_from_nowhere_shows_what_was_answered_before) {
    make("a");
    make("b");
    const auto opened = [&](const std::string& target) {
        auto out = of.server.open(kube::request("GET", target), start + 1);
        return std::move(std::get<std::unique_ptr<watch>>(out));
    };
    auto any = opened(testbeds + "?watch=true&resourceVersion=0");
    auto newest = opened(stream);
    make("c");
    EXPECT_EQ(world::events(any->read(start + 1)), "ADDED a");
    EXPECT_EQ(newest->read(start + 1), "");
    EXPECT_EQ(world::events(newest->read(start + 2)), "ADDED a, ADDED b, BOOKMARK");
}

TEST_F(watch_test, the_initial_state_is_that_of_the_opening) {
    make("a");
    auto seen = of.watching(stream);
    of.send("DELETE", testbeds + "/a");
    EXPECT_EQ(seen->bookmark(of.server.objects().version()), "");
    EXPECT_EQ(of.events(*seen), "ADDED a, BOOKMARK, DELETED a");
}

TEST_F(watch_test, an_object_enters_and_leaves_a_selection) {
    auto seen = of.watching(
        testbeds + "?watch=true&labelSelector=k%3D1&resourceVersion=" + std::to_string(start));
    make("a");
    EXPECT_EQ(of.events(*seen), "");
    touch("a", {{"k", "1"}});
    EXPECT_EQ(of.events(*seen), "ADDED a");
    touch("a", {{"other", "1"}});
    EXPECT_EQ(of.events(*seen), "MODIFIED a");
    touch("a", {{"k", "2"}});
    const auto line = json::parse(seen->read(of.server.objects().version()));
    EXPECT_EQ(line["type"], "DELETED");
    // As it was, but with the version of the change.
    EXPECT_EQ(line["object"]["metadata"]["labels"]["k"], "1");
    EXPECT_EQ(line["object"]["metadata"]["resourceVersion"], version(4));
    of.send("DELETE", testbeds + "/a");
    EXPECT_EQ(of.events(*seen), "");
}

TEST_F(watch_test, a_forgotten_history_is_an_error_event) {
    auto slow = of.watching(from(start));
    make("a");
    make("b");
    of.server.objects().compact(start + 1);
    auto seen = of.watching(from(start));
    const auto line = json::parse(seen->read(of.server.objects().version()));
    EXPECT_EQ(line["type"], "ERROR");
    EXPECT_EQ(line["object"]["code"], 410);
    EXPECT_EQ(line["object"]["reason"], "Expired");
    EXPECT_TRUE(seen->ended());
    EXPECT_EQ(seen->read(of.server.objects().version()), "");
    EXPECT_EQ(of.events(*slow), "ERROR");
    EXPECT_EQ(of.events(*of.watching(from(start + 1))), "ADDED b");
}

TEST_F(watch_test, options_that_do_not_fit_are_refused) {
    const auto refusal = [](world& in, const std::string& target) {
        const auto answer = in.server.open(kube::request("GET", target));
        const auto* refused = std::get_if<kube::response>(&answer);
        return refused == nullptr ? 0 : refused->status;
    };
    EXPECT_EQ(refusal(of, testbeds + "?watch=true&sendInitialEvents=true"), 422);
    EXPECT_EQ(
        refusal(of, testbeds + "?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan"),
        422);
    EXPECT_EQ(refusal(of, testbeds + "?watch=true&resourceVersion=x"), 500);
    EXPECT_EQ(refusal(of, testbeds + "?watch=true&fieldSelector=spec.x%3D1"), 400);
    EXPECT_EQ(refusal(of, "/apis/flink.apache.org/v1beta1/flinkdeployments?watch=true"), 404);
    world old(false);
    EXPECT_EQ(refusal(old, stream), 422);
    EXPECT_EQ(refusal(of, stream), 0);
    EXPECT_EQ(of.watching(testbeds + "?watch=true&timeoutSeconds=300")->timeout_seconds(), 300);
}

TEST_F(watch_test, a_version_in_a_list_means_not_older) {
    make("a");
    make("b");
    make("c");
    EXPECT_EQ(listed(""), "a b c @" + version(3));
    EXPECT_EQ(listed("", start + 1), "a b c @" + version(3));
    EXPECT_EQ(listed("?resourceVersion=0", start + 1), "a @" + version(1));
    EXPECT_EQ(listed("?resourceVersion=" + version(1), start + 2), "a b @" + version(2));
    EXPECT_EQ(listed("?resourceVersion=" + version(2), start + 1), "504 Timeout");
    EXPECT_EQ(listed("?resourceVersionMatch=Exact&resourceVersion=" + version(2)),
              "a b @" + version(2));
    EXPECT_EQ(listed("?limit=1&resourceVersion=" + version(1)), "a @" + version(1));
    EXPECT_EQ(listed("?limit=1&resourceVersion=0"), "a b c @" + version(3));
    EXPECT_EQ(listed("?resourceVersion=x"), "400 BadRequest");
    EXPECT_EQ(listed("?sendInitialEvents=true"), "422 Invalid");
    const auto late = of.send("GET", testbeds + "?resourceVersion=" + version(9)).second;
    EXPECT_EQ(late["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

TEST_F(watch_test, pages_show_one_state) {
    for (const char* name : {"a", "b", "c", "d", "e"}) make(name);
    const auto first = of.send("GET", testbeds + "?limit=2").second;
    EXPECT_EQ(first["metadata"]["remainingItemCount"], 3);
    const auto token = first["metadata"]["continue"].get<std::string>();
    of.send("DELETE", testbeds + "/c");
    make("f");
    const auto next = of.send("GET", testbeds + "?limit=2&continue=" + token).second;
    EXPECT_EQ(next["items"][0]["metadata"]["name"], "c");
    EXPECT_EQ(next["metadata"]["resourceVersion"], version(5));
    EXPECT_EQ(listed("?continue=" + next["metadata"]["continue"].get<std::string>()),
              "e @" + version(5));
    EXPECT_EQ(listed("?continue=" + token + "&resourceVersion=7"), "400 BadRequest");
    EXPECT_EQ(listed("?continue=abc"), "400 BadRequest");

    of.server.objects().compact(of.server.objects().version());
    const auto late = of.send("GET", testbeds + "?limit=2&continue=" + token).second;
    EXPECT_EQ(late["code"], 410);
    EXPECT_EQ(late["reason"], "Expired");
    EXPECT_EQ(listed("?continue=" + late["metadata"]["continue"].get<std::string>()),
              "d e f @" + version(7));
}

TEST_F(watch_test, lists_are_selected) {
    make("a", {{"k", "1"}});
    make("b", {{"k", "2"}});
    EXPECT_EQ(listed("?labelSelector=k%20in%20(2,3)"), "b @" + version(2));
    EXPECT_EQ(listed("?fieldSelector=metadata.name%3Da"), "a @" + version(2));
    EXPECT_EQ(of.send("GET", "/apis/esi.tu-berlin.de/v1alpha1/testbeds").second["items"].size(),
              2u);
    EXPECT_EQ(of.send("GET", "/apis/esi.tu-berlin.de/v1alpha1/namespaces/none/testbeds")
                  .second["items"]
                  .size(),
              0u);
    for (const char* name : {"p", "q"}) of.send("POST", pods, world::pod(name));
    const auto plain = of.send("GET", pods).second;
    EXPECT_EQ(plain["kind"], "PodList");
    EXPECT_FALSE(plain["items"][0].contains("kind"));
    EXPECT_FALSE(plain["items"][0].contains("apiVersion"));
    ASSERT_TRUE(of.person.bind("default", "q", "", "n-1"));
    const auto bound =
        of.send("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn-1,status.phase!%3DFailed")
            .second;
    ASSERT_EQ(bound["items"].size(), 1u);
    EXPECT_EQ(bound["items"][0]["metadata"]["name"], "q");
}

}  // namespace
}  // namespace esi::simulation
