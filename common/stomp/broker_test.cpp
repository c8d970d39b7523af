#include "stomp/broker.h"

#include <gtest/gtest.h>

#include "stomp/outbox.h"

namespace esi::stomp {
namespace {

using namespace std::string_literals;

class noting final : public listener {
public:
    void deliver(const std::string& subscription, const shared_message& what) override {
        heard.push_back(subscription + " " + what->before + what->after);
        last = what;
    }
    std::vector<std::string> heard;
    shared_message last;
};

class stomp_broker : public testing::Test {
protected:
    std::size_t publish(const std::string& destination, std::uint64_t number = 1) {
        return of.publish(destination, number, [this] {
            ++made;
            return "{}"s;
        });
    }
    broker of;
    noting a;
    noting b;
    int made = 0;
};

TEST_F(stomp_broker, a_message_is_made_once_and_shared_by_all) {
    of.subscribe(a, "1", "/topic/jobs");
    of.subscribe(b, "7", "/topic/jobs");
    of.subscribe(b, "8", "/topic/**");
    EXPECT_EQ(publish("/topic/jobs"), 3u);
    EXPECT_EQ(made, 1);
    EXPECT_EQ(a.last, b.last);
    const auto text =
        "MESSAGE\ndestination:/topic/jobs\ncontent-type:application/json\ncontent-length:2\n\n{}\0"s;
    EXPECT_EQ(a.heard, (std::vector<std::string>{"1 " + text}));
    EXPECT_EQ(b.heard, (std::vector<std::string>{"7 " + text, "8 " + text}));
}

TEST_F(stomp_broker, nothing_is_made_where_nobody_listens) {
    of.subscribe(a, "1", "/topic/jobs/x");
    of.subscribe(a, "2", "/topic/testbeds/*");
    EXPECT_EQ(publish("/topic/jobs"), 0u);
    EXPECT_EQ(made, 0);
}

TEST_F(stomp_broker, changes_before_the_subscription_are_not_told) {
    of.subscribe(a, "1", "/topic/jobs", 5);
    EXPECT_EQ(publish("/topic/jobs", 4), 0u);
    EXPECT_EQ(publish("/topic/jobs", 5), 1u);
}

TEST_F(stomp_broker, forgets_what_is_unsubscribed_and_who_goes) {
    of.subscribe(a, "1", "/topic/jobs");
    of.subscribe(a, "2", "/topic/jobs");
    of.subscribe(a, "3", "/topic/**");
    of.subscribe(b, "1", "/topic/jobs");
    of.unsubscribe(a, "1");
    of.unsubscribe(a, "no such");
    EXPECT_EQ(of.subscriptions(), 3u);
    EXPECT_EQ(publish("/topic/jobs"), 3u);
    of.forget(a);
    EXPECT_EQ(of.subscriptions(), 1u);
    EXPECT_EQ(publish("/topic/jobs"), 1u);
    of.forget(b);
    of.forget(b);
    EXPECT_EQ(of.subscriptions(), 0u);
    EXPECT_EQ(publish("/topic/jobs"), 0u);
}

TEST(stomp_outbox, keeps_order_and_refuses_what_does_not_fit) {
    outbox_limits limits;
    limits.messages = 3;
    limits.bytes = 10;
    limits.few = 1;
    outbox of(limits);
    EXPECT_TRUE(of.push({"1234", nullptr}));
    EXPECT_TRUE(of.push({"56", nullptr}));
    EXPECT_FALSE(of.push({"78901", nullptr})) << "eleven bytes";
    EXPECT_TRUE(of.push({"7", nullptr}));
    EXPECT_FALSE(of.push({"8", nullptr})) << "a fourth message";
    EXPECT_EQ(of.messages(), 3u);
    EXPECT_EQ(of.bytes(), 7u);
    EXPECT_EQ(of.pop()->own, "1234");
    EXPECT_EQ(of.pop()->own, "56");
    EXPECT_EQ(of.pop()->own, "7");
    EXPECT_FALSE(of.pop());
    EXPECT_EQ(of.bytes(), 0u);
}

TEST(stomp_outbox, eight_messages_always_fit_however_large) {
    outbox_limits limits;
    limits.bytes = 4;
    outbox of(limits);
    for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(of.push({"much longer", make_message("/topic/testbeds/t", "{}")})) << i;
    }
    EXPECT_FALSE(of.push({"", nullptr}));
    EXPECT_TRUE(of.pop());
    EXPECT_TRUE(of.push({"", nullptr}));
}

}  // namespace
}  // namespace esi::stomp
