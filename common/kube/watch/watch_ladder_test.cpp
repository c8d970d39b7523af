#include "kube/watch/watch_ladder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace esi::kube {
namespace {

using namespace std::chrono_literals;

/// A step in one line, as the tests below expect it.
std::string text(const ladder_step& step) {
    std::string out;
    if (step.end_list) out += "end, ";
    if (!step.seen.empty()) out += "seen " + step.seen + ", ";
    if (step.begin_list) out += "begin, ";
    switch (step.what) {
        case ladder_step::kind::wait:
            return out +
                   fmt::format("wait {}ms", std::chrono::floor<milliseconds>(step.delay).count());
        case ladder_step::kind::list:
            return out +
                   fmt::format("list rv='{}' limit={}{}", step.version, step.limit,
                               step.continue_token.empty() ? "" : " go on " + step.continue_token);
        case ladder_step::kind::watch:
            return out + fmt::format("{} rv='{}' for {}s", step.initial_events ? "stream" : "watch",
                                     step.version, step.timeout.count());
        case ladder_step::kind::read:
            return out + "read";
    }
    return out;
}

ladder::refused refused(errc code, std::string why = "no") {
    return ladder::refused{error{code, std::move(why)}};
}
ladder::error_event told(errc code) { return ladder::error_event{error{code, "no"}}; }
ladder::broken broken(errc code) { return ladder::broken{error{code, "no"}}; }
ladder::object added(std::string version) { return {ladder::change::added, std::move(version)}; }
ladder::object deleted(std::string version) {
    return {ladder::change::deleted, std::move(version)};
}
const ladder::bookmark end_100{"100", true};

struct a_watch_ladder : testing::Test {
    double random = 0;
    watch_ladder climb{[this] { return random; }};
    steady_time now{1000s};

    std::string at(const ladder::event& event) { return text(climb.resume(event, now)); }
    /// A watch that stands at version 100, reached by the streaming list.
    void stream_to_watch() {
        at(ladder::started());
        at(ladder::opened());
        ASSERT_EQ(at(end_100), "end, seen 100, read");
    }
    /// The same by list and watch.
    void list_to_watch() {
        at(ladder::started());
        ASSERT_EQ(at(refused(errc::invalid)), "begin, list rv='' limit=500");
        ASSERT_EQ(at(ladder::page{"100", ""}), "end, seen 100, watch rv='100' for 300s");
        at(ladder::opened());
    }
};

TEST_F(a_watch_ladder, begins_with_a_streaming_quorum_list) {
    EXPECT_EQ(at(ladder::started()), "begin, stream rv='' for 300s");
    EXPECT_EQ(at(ladder::opened()), "read");
    EXPECT_EQ(at(added("50")), "read") << "initial events are in no order";
    EXPECT_EQ(at(added("20")), "read");
    EXPECT_EQ(at(ladder::bookmark{"90", false}), "read");
    EXPECT_EQ(at(end_100), "end, seen 100, read");
    EXPECT_EQ(at(added("101")), "seen 101, read");
    EXPECT_EQ(at(deleted("102")), "seen 102, read");
    EXPECT_EQ(at(ladder::bookmark{"140", false}), "seen 140, read");
}

TEST_F(a_watch_ladder, falls_back_to_pages_where_streaming_is_refused) {
    for (auto code : {errc::bad_request, errc::invalid}) {
        watch_ladder other([] { return 0.0; });
        other.resume(ladder::started(), now);
        EXPECT_EQ(text(other.resume(refused(code), now)), "begin, list rv='' limit=500");
        EXPECT_EQ(text(other.resume(ladder::page{"", "token-1"}, now)),
                  "list rv='' limit=500 go on token-1");
        EXPECT_EQ(text(other.resume(ladder::page{"100", ""}, now)),
                  "end, seen 100, watch rv='100' for 300s");
        EXPECT_FALSE(other.streaming());
    }
}

TEST_F(a_watch_ladder, falls_back_to_pages_after_three_streams_without_an_end) {
    at(ladder::started());
    for (int i = 0; i < 2; ++i) {
        at(ladder::opened());
        at(ladder::closed());
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='' for 300s");
    }
    at(ladder::opened());
    at(broken(errc::timeout));
    EXPECT_EQ(at(ladder::waited()), "begin, list rv='' limit=500");
}

TEST_F(a_watch_ladder, a_stream_cut_by_the_network_is_tried_again_as_a_stream) {
    at(ladder::started());
    for (int i = 0; i < 5; ++i) {
        at(ladder::opened());
        at(broken(errc::transport));
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='' for 300s");
    }
}

TEST_F(a_watch_ladder, an_orderly_end_is_followed_by_a_watch_from_the_last_version) {
    stream_to_watch();
    at(added("107"));
    now += 300s;
    random = 0.5;
    EXPECT_EQ(at(ladder::closed()), "watch rv='107' for 450s");
    EXPECT_EQ(at(ladder::opened()), "read");
    EXPECT_EQ(at(added("108")), "seen 108, read");
}

TEST_F(a_watch_ladder, timeouts_spread_over_five_minutes) {
    random = 0.9999;
    EXPECT_EQ(at(ladder::started()), "begin, stream rv='' for 599s");
}

TEST_F(a_watch_ladder, reads_until_five_seconds_after_the_timeout) {
    stream_to_watch();
    auto step = climb.resume(added("101"), now + 200s);
    EXPECT_EQ(step.read_deadline, now + 305s);
}

TEST_F(a_watch_ladder, a_list_under_way_may_be_silent_for_a_minute) {
    at(ladder::started());
    at(ladder::opened());
    EXPECT_EQ(climb.resume(added("1"), now + 10s).read_deadline, now + 70s);
    EXPECT_EQ(climb.resume(added("1"), now + 299s).read_deadline, now + 305s);
}

TEST_F(a_watch_ladder, a_watch_that_ends_at_once_without_an_event_counts_as_an_error) {
    list_to_watch();
    now += 999ms;
    EXPECT_EQ(at(ladder::closed()), "wait 800ms");
    EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s");
    at(ladder::opened());
    EXPECT_EQ(at(ladder::closed()), "wait 1600ms");
    at(ladder::waited());
    at(ladder::opened());
    at(ladder::bookmark{"101", false});
    EXPECT_EQ(at(ladder::closed()), "watch rv='101' for 300s") << "an event came";
    at(ladder::opened());
    now += 1s;
    EXPECT_EQ(at(ladder::closed()), "watch rv='101' for 300s") << "it lasted a second";
}

TEST_F(a_watch_ladder, gone_leads_to_a_relist_from_the_last_version_then_to_a_quorum_read) {
    const ladder::event both_shapes[] = {refused(errc::gone), told(errc::gone)};
    for (const auto& gone : both_shapes) {
        climb = watch_ladder([] { return 0.0; });
        stream_to_watch();
        EXPECT_EQ(at(gone), "wait 800ms");
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='100' for 300s");
        EXPECT_EQ(at(gone), "begin, stream rv='' for 300s") << "at once";
        EXPECT_EQ(at(gone), "wait 1600ms") << "but not for ever at once";
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='' for 300s");
        at(ladder::opened());
        EXPECT_EQ(at(ladder::bookmark{"200", true}), "end, seen 200, read");
        at(gone);
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='200' for 300s");
    }
}

TEST_F(a_watch_ladder, pages_are_not_asked_for_with_a_version) {
    list_to_watch();
    at(told(errc::gone));
    EXPECT_EQ(at(ladder::waited()), "begin, list rv='100' limit=0");
    EXPECT_EQ(at(refused(errc::gone)), "begin, list rv='' limit=500");
}

TEST_F(a_watch_ladder, a_version_too_large_leads_to_a_quorum_read) {
    stream_to_watch();
    at(told(errc::gone));
    at(ladder::waited());
    EXPECT_EQ(at(refused(errc::server, "Too large resource version: 100, current: 7")),
              "begin, stream rv='' for 300s");
}

TEST_F(a_watch_ladder, an_expired_page_leads_to_one_full_list) {
    at(ladder::started());
    at(refused(errc::invalid));
    at(ladder::page{"100", "token-1"});
    EXPECT_EQ(at(refused(errc::gone)), "begin, list rv='' limit=0");
    EXPECT_EQ(at(ladder::page{"120", ""}), "end, seen 120, watch rv='120' for 300s");
}

TEST_F(a_watch_ladder, a_page_that_is_too_long_is_asked_for_again_with_fewer_objects) {
    at(ladder::started());
    at(refused(errc::invalid));
    at(ladder::page{"100", "token-1"});
    EXPECT_EQ(at(refused(errc::answer_too_large)), "list rv='' limit=250 go on token-1");
    EXPECT_EQ(at(refused(errc::answer_too_large)), "list rv='' limit=125 go on token-1");
    EXPECT_EQ(at(ladder::page{"100", "token-2"}), "list rv='' limit=125 go on token-2");
    for (const int limit : {62, 31, 15, 7, 3}) {
        EXPECT_EQ(at(refused(errc::answer_too_large)),
                  fmt::format("list rv='' limit={} go on token-2", limit));
    }
    const auto one = climb.resume(refused(errc::answer_too_large), now);
    EXPECT_EQ(text(one), "list rv='' limit=1 go on token-2");
    EXPECT_EQ(one.answer_limit, 16U << 20) << "no object is larger";
    EXPECT_EQ(at(refused(errc::answer_too_large)), "wait 800ms");
    const auto anew = climb.resume(ladder::waited(), now);
    EXPECT_EQ(text(anew), "begin, list rv='' limit=500");
    EXPECT_EQ(anew.answer_limit, 4U << 20);
}

TEST_F(a_watch_ladder, a_list_without_pages_that_is_too_long_is_asked_for_in_pages) {
    list_to_watch();
    at(told(errc::gone));
    EXPECT_EQ(at(ladder::waited()), "begin, list rv='100' limit=0");
    EXPECT_EQ(at(refused(errc::answer_too_large)), "begin, list rv='' limit=500");
    at(ladder::page{"120", "token-1"});
    EXPECT_EQ(at(refused(errc::gone)), "begin, list rv='' limit=0");
    EXPECT_TRUE(at(refused(errc::answer_too_large)).starts_with("wait")) << "not in a loop";
    EXPECT_EQ(at(ladder::waited()), "begin, list rv='' limit=500");
}

TEST_F(a_watch_ladder, a_list_without_a_version_is_not_believed) {
    at(ladder::started());
    at(refused(errc::invalid));
    EXPECT_EQ(at(ladder::page{"", ""}), "wait 800ms");
    EXPECT_EQ(at(ladder::waited()), "begin, list rv='' limit=500");
}

TEST_F(a_watch_ladder, waits_as_long_as_the_server_says) {
    stream_to_watch();
    auto busy = error{errc::too_many_requests, "busy", "", 7s};
    EXPECT_EQ(at(ladder::error_event{busy}), "wait 7000ms");
    EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s") << "no relist";
    EXPECT_EQ(at(ladder::refused{busy}), "wait 7000ms");
    EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s");
}

TEST_F(a_watch_ladder, trouble_with_the_server_leads_to_no_relist) {
    for (auto code : {errc::transport, errc::timeout, errc::server, errc::unauthorized,
                      errc::forbidden, errc::too_many_requests}) {
        climb = watch_ladder([] { return 0.0; });
        list_to_watch();
        EXPECT_EQ(at(refused(code)), "wait 800ms");
        EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s") << to_string(code);
    }
    for (auto code : {errc::transport, errc::timeout}) {
        climb = watch_ladder([] { return 0.0; });
        list_to_watch();
        EXPECT_EQ(at(broken(code)), "wait 800ms");
        EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s") << to_string(code);
    }
}

TEST_F(a_watch_ladder, a_line_that_cannot_be_read_leads_to_a_relist) {
    stream_to_watch();
    at(broken(errc::decode));
    EXPECT_EQ(at(ladder::waited()), "begin, stream rv='100' for 300s");
}

TEST_F(a_watch_ladder, internal_errors_in_the_stream_lead_to_a_relist_at_the_fifth) {
    stream_to_watch();
    for (int i = 0; i < 4; ++i) {
        at(told(errc::server));
        EXPECT_EQ(at(ladder::waited()), "watch rv='100' for 300s");
        at(ladder::opened());
    }
    at(told(errc::server));
    EXPECT_EQ(at(ladder::waited()), "begin, stream rv='100' for 300s");
}

TEST_F(a_watch_ladder, other_errors_in_the_stream_lead_to_a_relist) {
    stream_to_watch();
    at(told(errc::forbidden));
    EXPECT_EQ(at(ladder::waited()), "begin, stream rv='100' for 300s");
}

TEST_F(a_watch_ladder, a_kind_that_is_not_served_is_asked_for_again) {
    EXPECT_TRUE(climb.served());
    at(ladder::started());
    for (int expected : {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
        EXPECT_EQ(at(refused(errc::not_found)), fmt::format("wait {}ms", expected));
        EXPECT_FALSE(climb.served());
        now += milliseconds(expected);
        EXPECT_EQ(at(ladder::waited()), "begin, stream rv='' for 300s");
    }
    at(ladder::opened());
    EXPECT_TRUE(climb.served());
}

TEST_F(a_watch_ladder, a_kind_that_vanishes_is_listed_anew_when_it_is_back) {
    stream_to_watch();
    now += 300s;
    at(ladder::closed());
    at(refused(errc::not_found));
    EXPECT_FALSE(climb.served());
    EXPECT_EQ(at(ladder::waited()), "begin, stream rv='100' for 300s");
}

TEST_F(a_watch_ladder, jitter_at_most_doubles_a_pause) {
    list_to_watch();
    random = 0.999999;
    EXPECT_EQ(at(refused(errc::transport)), "wait 1599ms");
}

TEST_F(a_watch_ladder, pauses_are_short_again_after_two_quiet_minutes) {
    list_to_watch();
    EXPECT_EQ(at(refused(errc::transport)), "wait 800ms");
    EXPECT_EQ(at(refused(errc::transport)), "wait 1600ms");
    now += 2min;
    EXPECT_EQ(at(refused(errc::transport)), "wait 3200ms");
    now += 2min + 1ms;
    EXPECT_EQ(at(refused(errc::transport)), "wait 800ms");
}

TEST_F(a_watch_ladder, an_object_without_a_version_moves_nothing) {
    stream_to_watch();
    EXPECT_EQ(at(added("")), "read");
    EXPECT_EQ(at(ladder::skipped()), "read");
    now += 300s;
    EXPECT_EQ(at(ladder::closed()), "watch rv='100' for 300s");
}

}  // namespace
}  // namespace esi::kube
