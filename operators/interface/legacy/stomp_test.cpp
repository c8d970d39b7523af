#include "interface/legacy/stomp.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>

#include "stomp/raw_peer.h"

namespace esi::interface::legacy {
namespace {

using namespace std::string_literals;

/// A client on /topic/** of the real server; the messages it receives, one line each.
class legacy_stomp : public testing::Test {
protected:
    legacy_stomp() {
        http::server_options where;
        where.bind_address = "127.0.0.1";
        topics.add_to(routes);
        server = std::make_unique<http::server>(loop.get_executor(), time, where, routes);
        EXPECT_TRUE(server->start());
    }
    ~legacy_stomp() override {
        bool stopped = false;
        asio::co_spawn(loop, end(stopped), asio::detached);
        until([&] { return stopped; });
    }
    asio::awaitable<void> end(bool& stopped) {
        client.reset();
        co_await topics.stop(time.now() + seconds(5));
        co_await server->stop(time.now() + seconds(2));
        stopped = true;
    }
    template <class Condition>
    bool until(Condition holds) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + seconds(5);
        while (!holds() && std::chrono::steady_clock::now() < limit) {
            loop.run_one_for(milliseconds(20));
        }
        return holds();
    }
    void come(const std::string& destination = "/topic/**") {
        client = std::make_unique<stomp::raw_peer>(
            loop, server->port(),
            stomp::handshake() + stomp::masked(1, "CONNECT\naccept-version:1.2\n\n\0"s) +
                stomp::masked(
                    1, "SUBSCRIBE\nid:0\ndestination:" + destination + "\nreceipt:r\n\n\0"s));
        EXPECT_TRUE(until([&] { return client->heard.ends_with("receipt-id:r\n\n\0"s); }))
            << client->heard;
    }
    /// Bodies that came, with their topics, up to one more change that is sent last.
    std::vector<std::string> told() {
        client->say(stomp::masked(
            1, "SUBSCRIBE\nid:last\ndestination:/topic/jobs/last\nreceipt:told\n\n\0"s));
        EXPECT_TRUE(until([&] { return client->heard.contains("receipt-id:told\n"); }))
            << client->heard;
        jobs.apply(job("last", "1000"));
        jobs.erase({"default", "last"});
        EXPECT_TRUE(until([&] {
            return client->heard.ends_with(
                R"({"action":"DELETED","resource":{"name":"last","state":null,)"
                R"("externalScheduler":null,"scheduledEvents":[]}})"
                "\0"s);
        })) << client->heard;
        std::vector<std::string> out;
        std::string_view rest = client->heard;
        for (;;) {
            const auto at = rest.find("MESSAGE\ndestination:");
            if (at == std::string_view::npos) return out;
            rest.remove_prefix(at + 20);
            const auto line = rest.substr(0, rest.find('\n'));
            const auto body = rest.substr(rest.find("\n\n") + 2);
            auto text = std::string(line) + " " + std::string(body.substr(0, body.find('\0')));
            if (!text.contains("last")) out.push_back(std::move(text));
        }
    }

    static model::batchjob job(const std::string& name, const std::string& resource_version,
                               const std::string& uid = "u", const std::string& ns = "default") {
        model::batchjob out;
        out.metadata.namespace_ = ns;
        out.metadata.name = name;
        out.metadata.uid = uid;
        out.metadata.resource_version = resource_version;
        return out;
    }
    static model::batchjob noted(model::batchjob of, const std::string& note) {
        of.spec.external_scheduler = model::raw_json{R"({"notes":[{"note":")" + note + "\"}]}"};
        return of;
    }
    static model::testbed testbed(const std::string& state, const std::string& name = "t") {
        model::testbed out;
        out.metadata.namespace_ = "default";
        out.metadata.name = name;
        out.metadata.uid = "u";
        out.metadata.resource_version = state;
        out.status.state = state;
        return out;
    }
    static std::string whole(const std::string& action, const std::string& name) {
        return "/topic/jobs/" + name + " {\"action\":\"" + action + "\",\"resource\":{\"name\":\"" +
               name + "\",\"state\":null,\"externalScheduler\":null,\"scheduledEvents\":[]}}";
    }
    static std::string named(const std::string& action, const std::string& name) {
        return "/topic/jobs {\"action\":\"" + action + "\",\"resource\":\"" + name + "\"}";
    }

    asio::io_context loop;
    system_clock time;
    http::router routes;
    controller::metrics numbers;
    kube::store<model::testbed> testbeds;
    kube::store<model::batchjob> jobs;
    kube::store<model::scheduling> schedulings;
    int shown = 0;  ///< testbeds that were made for REST
    stomp_topics topics{{loop.get_executor(), time, numbers, testbeds, jobs, schedulings,
                         [this](const model::testbed& of) {
                             ++shown;
                             return external(of);
                         }},
                        "default",
                        {},
                        stomp_options()};
    std::unique_ptr<http::server> server;
    std::unique_ptr<stomp::raw_peer> client;
    void synced() {
        testbeds.mark_synced();
        jobs.mark_synced();
        schedulings.mark_synced();
    }
};

TEST_F(legacy_stomp, nobody_is_let_in_before_the_caches_are_full) {
    client = std::make_unique<stomp::raw_peer>(loop, server->port(), stomp::handshake());
    EXPECT_TRUE(until([&] { return client->heard.contains("the caches are not filled yet"); }));
    EXPECT_TRUE(client->heard.starts_with("HTTP/1.1 503 ")) << client->heard;
}

TEST_F(legacy_stomp, a_change_is_told_by_name_and_then_whole) {
    synced();
    come();
    jobs.apply(job("a", "1"));
    jobs.apply(job("a", "2"));
    jobs.erase({"default", "a"});
    EXPECT_EQ(told(), (std::vector<std::string>{named("ADDED", "a"), whole("ADDED", "a"),
                                                named("MODIFIED", "a"), whole("MODIFIED", "a"),
                                                named("DELETED", "a"), whole("DELETED", "a")}));
}

TEST_F(legacy_stomp, what_looks_as_before_is_told_by_name_alone) {
    synced();
    come();
    for (const char* version : {"1", "2", "3", "4"}) jobs.apply(job("a", version));
    jobs.apply(noted(job("a", "5"), "x"));
    jobs.apply(noted(job("a", "6"), "x"));
    jobs.apply(job("a", "7"));
    jobs.erase({"default", "a"});
    jobs.apply(job("a", "8"));
    jobs.apply(job("a", "9"));
    std::string actions;
    int names = 0;
    for (const auto& each : told()) {
        if (each.starts_with("/topic/jobs ")) ++names;
        if (each.starts_with("/topic/jobs/a ")) actions += each[each.find("\":\"") + 3];
    }
    EXPECT_EQ(names, 10) << "each change";
    // ADDED, MODIFIED once, by the note, and back; DELETED; ADDED and MODIFIED.
    EXPECT_EQ(actions, "AMMMDAM");
}

TEST_F(legacy_stomp, who_comes_later_is_told_what_others_had_before) {
    synced();
    come("/topic/jobs/a");
    const auto messages = [&] {
        std::size_t out = 0;
        for (auto at = client->heard.find("MESSAGE\n"); at != std::string::npos;
             at = client->heard.find("MESSAGE\n", at + 1)) {
            ++out;
        }
        return out;
    };
    jobs.apply(job("a", "1"));
    jobs.apply(job("a", "2"));
    ASSERT_TRUE(until([&] { return messages() == 2; })) << client->heard;
    client->say(stomp::masked(1, "SUBSCRIBE\nid:1\ndestination:/topic/jobs/?\nreceipt:s\n\n\0"s));
    ASSERT_TRUE(until([&] { return client->heard.contains("receipt-id:s\n\n\0"s); }));
    jobs.apply(job("a", "3"));
    EXPECT_TRUE(until([&] { return messages() == 4; })) << "both subscriptions: " << client->heard;
}

TEST_F(legacy_stomp, other_namespaces_are_not_told_of) {
    synced();
    come();
    jobs.apply(job("a", "1", "u", "other"));
    EXPECT_EQ(told(), std::vector<std::string>());
}

TEST_F(legacy_stomp, claims_are_not_told_of) {
    synced();
    come();
    auto claimed = testbed("SUCCESS", "claimed");
    claimed.spec.claim.emplace();
    testbeds.apply(claimed);
    claimed.metadata.resource_version = "77";
    testbeds.apply(claimed);
    testbeds.erase({"default", "claimed"});
    model::scheduling plan;
    plan.metadata.namespace_ = "default";
    plan.metadata.name = "p";
    plan.spec.claim.emplace();
    schedulings.apply(plan);
    EXPECT_EQ(told(), std::vector<std::string>());
    client->say(
        stomp::masked(1, "SUBSCRIBE\nid:1\ndestination:/topic/schedulings/p\nreceipt:s\n\n\0"s));
    ASSERT_TRUE(until([&] { return client->heard.contains("receipt-id:s\n\n\0"s); }));
    EXPECT_EQ(told(), std::vector<std::string>()) << "nor what is there when somebody comes";
}

TEST_F(legacy_stomp, a_testbed_in_the_place_of_a_claim_of_its_name_is_added) {
    synced();
    auto claimed = testbed("IN_PROGRESS");
    claimed.metadata.uid = "another";
    claimed.metadata.resource_version = "1";
    claimed.spec.claim.emplace();
    testbeds.replace({claimed});
    come("/topic/testbeds");
    testbeds.replace({testbed("IN_PROGRESS")});
    ASSERT_EQ(told().size(), 1u);
    EXPECT_TRUE(told()[0].contains("ADDED")) << told()[0];
}

TEST_F(legacy_stomp, a_list_that_is_read_again_announces_only_what_changed) {
    synced();
    jobs.replace({job("same", "1"), job("changed", "2"), job("gone", "3"), job("new-uid", "4")});
    come("/topic/jobs");
    jobs.replace(
        {job("same", "1"), job("changed", "7"), job("added", "8"), job("new-uid", "9", "other")});
    EXPECT_EQ(told(),
              (std::vector<std::string>{named("DELETED", "gone"), named("MODIFIED", "changed"),
                                        named("ADDED", "added"), named("DELETED", "new-uid"),
                                        named("ADDED", "new-uid")}));
}

TEST_F(legacy_stomp, who_subscribes_to_an_object_hears_its_state_once_and_then_later_changes) {
    synced();
    come("/topic/nothing");
    jobs.apply(job("a", "1"));
    jobs.apply(job("a", "2"));
    // Both changes wait to be sent when this comes; the state that it receives is the second's.
    client->say(stomp::masked(1, "SUBSCRIBE\nid:1\ndestination:/topic/jobs/a\nreceipt:s\n\n\0"s));
    ASSERT_TRUE(until([&] { return client->heard.ends_with("receipt-id:s\n\n\0"s); }));
    jobs.erase({"default", "a"});
    EXPECT_EQ(told(), (std::vector<std::string>{whole("MODIFIED", "a"), whole("DELETED", "a")}));
}

TEST_F(legacy_stomp, a_testbed_that_is_usable_when_it_is_first_seen_is_modified_too) {
    synced();
    come();
    testbeds.apply(testbed("SUCCESS"));
    const std::string name = "\"resource\":\"t\"}";
    const std::string all =
        R"("resource":{"name":"t","state":"SUCCESS","numberOfNodes":0,"numberOfSlotsPerNode":0,)"
        R"("slotsByNode":{}}})";
    EXPECT_EQ(told(),
              (std::vector<std::string>{"/topic/testbeds {\"action\":\"ADDED\"," + name,
                                        "/topic/testbeds/t {\"action\":\"ADDED\"," + all,
                                        "/topic/testbeds {\"action\":\"MODIFIED\"," + name,
                                        "/topic/testbeds/t {\"action\":\"MODIFIED\"," + all}));
}

TEST_F(legacy_stomp, a_change_is_not_told_in_the_middle_of_the_watch) {
    synced();
    come();
    std::optional<int> meanwhile;
    asio::post(loop, [&] {
        testbeds.apply(testbed("NEW"));
        meanwhile = shown;
    });
    EXPECT_EQ(told().size(), 2u);
    EXPECT_EQ(meanwhile, 0);
    EXPECT_EQ(shown, 1);
}

TEST_F(legacy_stomp, many_that_come_at_once_share_the_states_that_are_made_for_them) {
    synced();
    testbeds.apply(testbed("SUCCESS", "t"));
    testbeds.apply(testbed("SUCCESS", "u"));
    come("/topic/nothing");
    std::string all;
    for (const char* id : {"1", "2", "3", "4"}) {
        for (const char* name : {"t", "u"}) {
            all +=
                "SUBSCRIBE\nid:"s + name + id + "\ndestination:/topic/testbeds/" + name + "\n\n\0"s;
        }
    }
    client->say(stomp::masked(1, all));
    EXPECT_EQ(told().size(), 8u);
    EXPECT_EQ(shown, 2);
    testbeds.apply(testbed("ERROR", "t"));
    client->say(
        stomp::masked(1, "SUBSCRIBE\nid:5\ndestination:/topic/testbeds/t\nreceipt:s\n\n\0"s));
    ASSERT_TRUE(until([&] { return client->heard.contains("receipt-id:s\n\n\0"s); }));
    const auto first = client->heard.find("subscription:5\n");
    ASSERT_LT(first, client->heard.find("receipt-id:s\n"));
    const auto state = client->heard.substr(first, client->heard.find('\0', first) - first);
    EXPECT_TRUE(state.contains(R"("name":"t","state":"ERROR")")) << state;
}

TEST_F(legacy_stomp, ten_thousand_changes_at_once_all_come_to_who_reads) {
    synced();
    come("/topic/jobs/a");
    for (int i = 0; i < 10'000; ++i) {
        jobs.apply(noted(job("a", std::to_string(i)), std::to_string(i)));
    }
    const auto heard = told();
    EXPECT_EQ(heard.size(), 10'000u);
    EXPECT_TRUE(client->heard.contains("-9999\ncontent-length:"));
}

}  // namespace
}  // namespace esi::interface::legacy
