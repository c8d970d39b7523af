#include "stomp/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace esi::stomp {
namespace {

using namespace std::string_literals;

/// Actions as text for the expectations.
std::string shown(const std::vector<action>& actions) {
    std::string out;
    for (const auto& each : actions) {
        if (const auto* a = std::get_if<todo::send>(&each)) out += "send " + a->text;
        if (const auto* a = std::get_if<todo::subscribe>(&each))
            out += fmt::format("subscribe {} {}", a->id, a->destination);
        if (const auto* a = std::get_if<todo::unsubscribe>(&each)) out += "unsubscribe " + a->id;
        if (const auto* a = std::get_if<todo::close>(&each))
            out += fmt::format("close {} {}", a->code, a->why);
        out += ";";
    }
    return out;
}

const steady_time start{std::chrono::hours(1)};

class stomp_session : public testing::Test {
protected:
    std::string hear(const std::string& text, milliseconds after = milliseconds(0)) {
        return shown(talk.receive(text, start + after));
    }
    std::string at(milliseconds after) { return shown(talk.tick(start + after)); }
    void connect() {
        ASSERT_EQ(hear("CONNECT\naccept-version:1.1,1.2\nhost:h\nheart-beat:0,0\n\n\0"s),
                  "send CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\0;"s);
    }

    session_options options = [] {
        session_options out;
        out.most_subscriptions = 2;
        return out;
    }();
    session talk{options, "s", start};
};

TEST_F(stomp_session, agrees_on_the_newest_common_version) {
    const std::pair<std::string, std::string> table[] = {
        {"1.0", "1.0"},         {"1.1", "1.1"},      {"1.2", "1.2"},
        {"1.0,1.1,1.2", "1.2"}, {"1.2, 1.1", "1.2"}, {"2.0,1.1", "1.1"}};
    for (const auto& [offered, chosen] : table) {
        session one(options, "s", start);
        EXPECT_EQ(
            shown(one.receive("CONNECT\naccept-version:" + offered + "\nhost:h\n\n\0"s, start)),
            "send CONNECTED\nversion:" + chosen + "\nheart-beat:0,0\n\n\0;"s);
    }
}

TEST_F(stomp_session, refuses_who_speaks_no_common_version) {
    EXPECT_EQ(hear("CONNECT\naccept-version:2.0\nhost:h\n\n\0"s),
              "send ERROR\nmessage:of the versions 2.0 none is spoken here; 1.0, 1.1 and 1.2 "
              "are\ncontent-length:0\n\n\0;close 1002 protocol;"s);
    EXPECT_EQ(hear("CONNECT\naccept-version:1.2\n\n\0"s), "") << "it is over";
}

TEST_F(stomp_session, subscribes_acknowledges_and_leaves) {
    connect();
    EXPECT_EQ(hear("SUBSCRIBE\nid:0\ndestination:/topic/jobs\nreceipt:r1\n\n\0"s),
              "subscribe 0 /topic/jobs;send RECEIPT\nreceipt-id:r1\n\n\0;"s);
    EXPECT_EQ(hear("UNSUBSCRIBE\nid:0\nreceipt:r2\n\n\0"s),
              "unsubscribe 0;send RECEIPT\nreceipt-id:r2\n\n\0;"s);
    EXPECT_EQ(hear("SUBSCRIBE\nid:1\ndestination:/topic/jobs\n\n\0"s), "subscribe 1 /topic/jobs;");
    EXPECT_EQ(hear("DISCONNECT\nreceipt:bye\n\n\0"s),
              "send RECEIPT\nreceipt-id:bye\n\n\0;unsubscribe 1;"s);
    EXPECT_EQ(hear("SUBSCRIBE\nid:2\ndestination:/topic/jobs\n\n\0"s), "") << "it has left";
    EXPECT_EQ(at(seconds(4)), "");
    EXPECT_EQ(at(seconds(5)), "close 1000 left;");
}

TEST_F(stomp_session, an_id_that_is_used_again_replaces_the_subscription) {
    connect();
    hear("SUBSCRIBE\nid:0\ndestination:/topic/jobs\n\n\0"s);
    hear("SUBSCRIBE\nid:1\ndestination:/topic/jobs\n\n\0"s);
    EXPECT_EQ(hear("SUBSCRIBE\nid:0\ndestination:/topic/testbeds\n\n\0"s),
              "unsubscribe 0;subscribe 0 /topic/testbeds;");
    EXPECT_EQ(hear("SUBSCRIBE\nid:2\ndestination:/topic/testbeds\n\n\0"s),
              "send ERROR\nmessage:more than 2 subscriptions\ncontent-length:0\n\n\0;"
              "close 1002 protocol;"s);
}

TEST_F(stomp_session, transactions_and_acknowledgements_pass_without_effect) {
    connect();
    EXPECT_EQ(hear("BEGIN\ntransaction:t\n\n\0ACK\nid:1\n\n\0"s), "");
}

TEST_F(stomp_session, says_what_is_wrong_and_ends) {
    const auto about = [&](const std::string& text, bool connected = true) {
        session one(options, "s", start);
        if (connected) one.receive("CONNECT\naccept-version:1.2\n\n\0"s, start);
        return shown(one.receive(text, start));
    };
    const auto end = "\ncontent-length:0\n\n\0;close 1002 protocol;"s;
    EXPECT_EQ(about("HELLO\n\nxx\0"s), "send ERROR\nmessage:the command HELLO is not known" + end);
    EXPECT_EQ(about("SUBSCRIBE\ndestination:/topic/jobs\n\n\0"s),
              "send ERROR\nmessage:SUBSCRIBE needs an id" + end);
    EXPECT_EQ(about("SUBSCRIBE\nid:7\nreceipt:r\n\n\0"s),
              "send ERROR\nmessage:SUBSCRIBE needs a destination\nreceipt-id:r" + end);
    EXPECT_EQ(about("SUBSCRIBE\nid:0\ndestination:/topic/jobs\n\n\0"s, false),
              "send ERROR\nmessage:CONNECT has to come first" + end);
    EXPECT_EQ(about("SEND\ndestination:/topic/jobs\n\nhi\0"s),
              "send ERROR\nmessage:SEND is refused, topics tell of changes and take nothing" + end);
    EXPECT_EQ(about("SEND\nbroken\n\n\0"s), "send ERROR\nmessage:a header has no colon" + end);
    EXPECT_EQ(about("CONNECT\naccept-version:1.2\nheart-beat:x,0\n\n\0"s),
              "send ERROR\nmessage:heart-beat has to be two numbers of milliseconds" + end);
}

TEST_F(stomp_session, a_second_connect_is_answered_as_in_the_original) {
    connect();
    connect();
}

TEST_F(stomp_session, beats_when_asked_and_ends_who_is_silent) {
    EXPECT_EQ(hear("STOMP\naccept-version:1.2\nhost:h\nheart-beat:4000,15000\n\n\0"s),
              "send CONNECTED\nversion:1.2\nheart-beat:10000,10000\n\n\0;"s);
    EXPECT_EQ(talk.deadline(), start + seconds(15));
    EXPECT_EQ(at(milliseconds(14'999)), "");
    EXPECT_EQ(at(seconds(15)), "send \n;");
    EXPECT_EQ(talk.deadline(), start + seconds(20)) << "twice what we want to hear";
    EXPECT_EQ(hear("\n", seconds(16)), "");
    EXPECT_EQ(talk.deadline(), start + seconds(30));
    talk.sent(start + seconds(29));
    EXPECT_EQ(at(seconds(30)), "") << "a message is as good as a beat";
    EXPECT_EQ(at(seconds(36)), "close 1002 silent;");
}

TEST_F(stomp_session, ends_who_never_connects) {
    EXPECT_EQ(talk.deadline(), start + seconds(60));
    EXPECT_EQ(at(seconds(59)), "");
    EXPECT_EQ(at(seconds(60)), "close 1002 no-connect;");
}

TEST_F(stomp_session, has_few_patterns_at_a_time) {
    options.most_subscriptions = 10;
    options.most_patterns = 2;
    talk = session(options, "s", start);
    connect();
    const auto subscribe = [&](const std::string& id, const std::string& destination) {
        return hear("SUBSCRIBE\nid:" + id + "\ndestination:" + destination + "\n\n\0"s);
    };
    EXPECT_EQ(subscribe("1", "/topic/*"), "subscribe 1 /topic/*;");
    EXPECT_EQ(subscribe("2", "/topic/**"), "subscribe 2 /topic/**;");
    EXPECT_EQ(subscribe("3", "/topic/jobs"), "subscribe 3 /topic/jobs;");
    EXPECT_EQ(subscribe("2", "/topic/?"), "unsubscribe 2;subscribe 2 /topic/?;") << "another";
    EXPECT_EQ(subscribe("1", "/topic/a"), "unsubscribe 1;subscribe 1 /topic/a;") << "none";
    EXPECT_EQ(subscribe("4", "/topic/b*"), "subscribe 4 /topic/b*;");
    EXPECT_EQ(hear("UNSUBSCRIBE\nid:2\n\n\0"s), "unsubscribe 2;");
    EXPECT_EQ(subscribe("5", "/topic/c*"), "subscribe 5 /topic/c*;");
    EXPECT_EQ(subscribe("3", "/topic/d*"),
              "send ERROR\nmessage:more than 2 patterns\ncontent-length:0\n\n\0;"
              "close 1002 protocol;"s);
}

TEST_F(stomp_session, takes_the_longest_destination_and_no_longer) {
    connect();
    const std::string longest = "/topic/schedulings/" + std::string(269, 'x');
    EXPECT_EQ(hear("SUBSCRIBE\nid:1\ndestination:" + longest + "\n\n\0"s),
              "subscribe 1 " + longest + ";");
    EXPECT_EQ(hear("SUBSCRIBE\nid:1\ndestination:" + longest + "x\n\n\0"s),
              "send ERROR\nmessage:id and destination have at most 288 bytes each\n"
              "content-length:0\n\n\0;close 1002 protocol;"s);
}

TEST_F(stomp_session, a_heart_beat_below_zero_is_refused_however_far) {
    EXPECT_EQ(hear("CONNECT\naccept-version:1.2\nheart-beat:-99999999999999999999,0\n\n\0"s),
              "send ERROR\nmessage:heart-beat has to be two numbers of milliseconds\n"
              "content-length:0\n\n\0;close 1002 protocol;"s);
}

TEST_F(stomp_session, numbers_its_messages_and_escapes_ids) {
    connect();
    EXPECT_EQ(talk.message_headers("a"), "subscription:a\nmessage-id:s-0\n");
    EXPECT_EQ(talk.message_headers("a\nb:c"), "subscription:a\\nb\\cc\nmessage-id:s-1\n");
}

TEST_F(stomp_session, takes_frames_in_pieces_and_several_at_once) {
    connect();
    EXPECT_EQ(hear("SUBSCRIBE\r\nid:0\r\ndestination:/topic/jobs\r\n\r\n\0\nSUBSCRIBE\nid:1\n"
                   "destination:/topic/testbeds\n\n\0"s),
              "subscribe 0 /topic/jobs;subscribe 1 /topic/testbeds;");
    EXPECT_EQ(hear("DISCONNECT\nrec"), "");
    EXPECT_EQ(hear("eipt:z\n\n\0"s),
              "send RECEIPT\nreceipt-id:z\n\n\0;unsubscribe 0;unsubscribe 1;"s);
}

}  // namespace
}  // namespace esi::stomp
