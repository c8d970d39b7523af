#include "interface/v1/application_specs.h"

#include <map>

#include "interface/v1/reads.h"
#include "interface/v1/testing.h"

namespace esi::interface::v1 {
namespace {

const std::string base = "/api/v1/namespaces/ns";
constexpr std::size_t large = 1'250'000;

/// Jobs whose specs the caches do not keep.
class specs : public api_test {
protected:
    void SetUp() override {
        api_test::SetUp();
        server.before_answer = [this](const kube::request& what) {
            if (!what.target.contains("/batchjobs")) return;
            ASSERT_GT(what.answer_limit, 0u) << what.target;
            EXPECT_LE(what.answer_limit, spec_limits::largest_job) << what.target;
            EXPECT_GE(memory.held, 2 * what.answer_limit)
                << what.target << ": held before it is read";
        };
    }
    void put_large(const std::string& name, std::size_t bytes = large,
                   const std::string& ns = "ns") {
        auto made =
            object("BatchJob", name,
                   {{"sparkSpec",
                     {{"mainClass", "Main of " + name}, {"arguments", {std::string(bytes, 'x')}}}}},
                   ns);
        made["status"] = {{"state", "ReadyState"}, {"observedGeneration", 1}};
        server.put(std::move(made));
    }
    static std::string name_of(int i) { return fmt::format("j{:03}", i); }
    /// Each item of the list, with the number of times that it was listed; looks at the specs.
    std::map<std::string, int> all_parts(const std::string& target,
                                         const std::function<void(int)>& between = {}) {
        std::map<std::string, int> out;
        std::string token;
        for (int part = 0; part < 100; ++part) {
            const auto reply = get(target + (token.empty() ? "" : "&continue=" + token));
            EXPECT_EQ(reply.status, 200) << reply.body.substr(0, 300);
            const auto list = body(reply);
            for (const auto& item : list["items"]) {
                const auto name = item["metadata"]["name"].get<std::string>();
                ++out[name];
                EXPECT_EQ(item["spec"]["sparkSpec"]["mainClass"], "Main of " + name);
            }
            if (!list.contains("continue")) break;
            token = list["continue"].get<std::string>();
            if (between) between(part);
        }
        return out;
    }
    int requests(std::string_view what) const {
        return static_cast<int>(std::ranges::count_if(
            server.log, [&](const auto& each) { return each.contains(what); }));
    }
};

TEST_F(specs, a_list_of_large_jobs_stops_reading_at_its_bound) {
    for (int i = 0; i < 40; ++i) put_large(name_of(i));
    const auto reply = get(base + "/jobs?limit=500");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(names_in(reply), "j000 j001 j002 j003") << "4 MiB and what passes them";
    EXPECT_TRUE(body(reply).contains("continue"));
    EXPECT_EQ(requests("?"), 1) << "a page that turns out to be too large";
    EXPECT_EQ(requests("/batchjobs/"), 5) << "the first one is asked for twice";
    EXPECT_LE(memory.most, list_limits::most_bytes + 2 * spec_limits::largest_job);
    EXPECT_EQ(memory.held, 0u);
}

TEST_F(specs, the_parts_of_a_list_of_large_jobs_tell_each_once) {
    for (int i = 0; i < 40; ++i) put_large(name_of(i));
    const auto told = all_parts(base + "/jobs?limit=500");
    EXPECT_EQ(told.size(), 40u);
    for (const auto& [name, times] : told) EXPECT_EQ(times, 1) << name;
    EXPECT_LE(memory.most, list_limits::most_bytes + 2 * spec_limits::largest_job);
}

TEST_F(specs, the_parts_tell_each_job_once_while_jobs_change_come_and_go) {
    for (int i = 0; i < 60; ++i) put_large(name_of(2 * i), i % 3 == 0 ? 700'000 : 900);
    const auto path = [](int i) { return path_of(kube::types::batchjob, name_of(i)); };
    const auto told = all_parts(base + "/jobs?limit=9", [&](int part) {
        // One that was listed, one that was not, one that goes, one that comes.
        server.change(path(2 * part), [](json& job) { job["status"]["state"] = "RunningState"; });
        server.change(path(118 - 2 * part), [](json& job) { job["spec"]["x"] = 1; });
        server.erase(path(60 + 2 * part));
        put_large(name_of(81 + 2 * part), 900);
    });
    for (int i = 0; i < 60; ++i) {
        const auto name = name_of(2 * i);
        if (!server.objects.contains(path(2 * i))) continue;
        EXPECT_EQ(told.contains(name) ? told.at(name) : 0, 1) << name;
    }
    for (const auto& [name, times] : told) EXPECT_EQ(times, 1) << name;
}

TEST_F(specs, small_ones_are_read_in_pages_that_become_longer) {
    for (int i = 0; i < 300; ++i) put_large(name_of(i), 900);
    EXPECT_EQ(all_parts(base + "/jobs?limit=500").size(), 300u);
    EXPECT_EQ(requests("limit=4"), 1);
    EXPECT_LE(server.log.size(), 4u);
    EXPECT_EQ(requests("/batchjobs/"), 0);
    EXPECT_LE(memory.most, 3u << 20);
    server.log.clear();
    EXPECT_EQ(all_parts(base + "/jobs?limit=500").size(), 300u);
    EXPECT_TRUE(server.log.empty()) << "their specs are kept";
    server.instead = [](const kube::request&) { return fail(errc::transport, "reset"); };
    put_large("k", 900);
    const auto broken = get(base + "/jobs?limit=500");
    EXPECT_EQ(broken.status, 503);
    EXPECT_EQ(header(broken, "Retry-After"), "2");
    EXPECT_EQ(body(broken)["code"], "ApiServer");
}

TEST_F(specs, few_that_are_missing_are_read_one_by_one_and_of_each_namespace_its_own) {
    for (int i = 0; i < 8; ++i) put_large(name_of(i), 900);
    for (int i = 0; i < 20; ++i) put_large(name_of(100 + i), 900, "other");
    EXPECT_EQ(all_parts("/api/v1/jobs?limit=500").size(), 28u);
    EXPECT_EQ(requests("/namespaces/ns/batchjobs/"), 8);
    EXPECT_EQ(requests("/namespaces/other/batchjobs/"), 0);
    EXPECT_EQ(requests("/namespaces/other/batchjobs?"), 2);
}

TEST_F(specs, a_page_with_a_large_job_is_read_one_by_one) {
    for (int i = 0; i < 30; ++i) put_large(name_of(i), i == 12 ? large : 900);
    EXPECT_EQ(all_parts(base + "/jobs?limit=500").size(), 30u);
    EXPECT_LE(memory.most, 2 * spec_limits::largest_job + (2u << 20));
}

TEST_F(specs, lists_at_the_same_time_share_the_memory_and_each_ends_early) {
    for (int i = 0; i < 40; ++i) put_large(name_of(i));
    server.latency = milliseconds(5);
    std::vector<std::shared_ptr<pending>> all;
    for (int i = 0; i < 12; ++i) all.push_back(begin("GET", base + "/jobs?limit=500"));
    run_for(loop, time, seconds(30));
    for (const auto& each : all) {
        ASSERT_TRUE(each->reply);
        EXPECT_EQ(each->reply->status, 200) << each->reply->body.substr(0, 300);
        EXPECT_TRUE(names_in(*each->reply).starts_with("j000"));
        EXPECT_TRUE(body(*each->reply).contains("continue"));
    }
    EXPECT_LE(memory.most, memory.limit + list_limits::most_bytes);
    EXPECT_EQ(memory.held, 0u);
}

TEST_F(specs, without_room_nothing_is_read) {
    for (int i = 0; i < 10; ++i) put_large(name_of(i));
    memory.limit = 0;
    for (const auto* target : {"/jobs?limit=500", "/jobs/j001"}) {
        const auto refused = get(base + target);
        EXPECT_EQ(refused.status, 503) << target;
        EXPECT_EQ(header(refused, "Retry-After"), "2");
        EXPECT_EQ(body(refused)["code"], "Unavailable");
        EXPECT_EQ(body(refused)["retryable"], true);
    }
    EXPECT_TRUE(server.log.empty());
    EXPECT_EQ(get(base + "/schedulings").status, 200) << "the caches have all of it";
}

TEST_F(specs, one_that_is_too_large_is_told_without_its_spec_and_hides_no_other) {
    for (int i = 0; i < 12; ++i) {
        put_large(name_of(i), i == 3 ? spec_limits::largest_job : 900);
    }
    const auto list = body(get(base + "/jobs?limit=500"));
    ASSERT_EQ(list["items"].size(), 12u);
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(list["items"][static_cast<std::size_t>(i)]["spec"]["sparkSpec"].empty(), i == 3)
            << i;
    }
    const auto alone = body(get(base + "/jobs/j003"));
    EXPECT_EQ(alone["status"]["state"], "ReadyState");
    EXPECT_EQ(alone["spec"]["sparkSpec"], json::object());
}

TEST_F(specs, one_that_goes_meanwhile_is_left_out_and_one_that_comes_again_is_told_as_it_is) {
    for (int i = 0; i < 12; ++i) put_large(name_of(i), 900);
    server.watch = {};
    server.erase(path_of(kube::types::batchjob, "j002"));
    server.erase(path_of(kube::types::batchjob, "j005"));
    auto again = object("BatchJob", "j005", {{"sparkSpec", {{"mainClass", "Another"}}}});
    server.put(std::move(again));
    const auto list = body(get(base + "/jobs?limit=500"));
    ASSERT_EQ(list["items"].size(), 11u);
    EXPECT_EQ(list["items"][4]["metadata"]["name"], "j005");
    EXPECT_EQ(list["items"][4]["spec"]["sparkSpec"]["mainClass"], "Another");
}

TEST_F(specs, large_ones_are_not_kept_and_drive_out_no_others) {
    put_large("small", 900);
    get(base + "/jobs/small");
    for (int i = 0; i < 8; ++i) put_large(name_of(i), spec_limits::kept_of_one);
    for (int i = 0; i < 8; ++i) get(base + "/jobs/" + name_of(i));
    server.log.clear();
    get(base + "/jobs/small");
    EXPECT_TRUE(server.log.empty());
    const auto again = get(base + "/jobs/j001");
    EXPECT_EQ(body(again)["spec"]["sparkSpec"]["mainClass"], "Main of j001");
    EXPECT_FALSE(server.log.empty());
}

}  // namespace
}  // namespace esi::interface::v1
