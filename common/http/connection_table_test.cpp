#include "http/connection_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace esi::http {
namespace {

using phase = connection_table::phase;

class table : public testing::Test {
protected:
    table() {
        limits.connections = 3;
        limits.reserved = 1;
        limits.per_peer = 2;
        limits.bytes = 1000;
        limits.free_bytes = 10;
    }
    using place = std::unique_ptr<connection_table::place>;
    place admit(const std::string& name, const std::string& peer = "") {
        if (!own) own = std::make_unique<connection_table>(limits);
        return own->admit(peer, [this, name] { cut.push_back(name); }, now);
    }
    void pass(int count) { now += seconds(count); }

    connection_limits limits;
    std::unique_ptr<connection_table> own;
    std::vector<std::string> cut;
    steady_time now{seconds(1000)};
};

TEST_F(table, the_oldest_that_moves_nothing_makes_room) {
    auto a = admit("a");
    pass(1);
    auto b = admit("b");
    auto c = admit("c");
    pass(1);
    a->moved(100'000);
    auto d = admit("d");
    EXPECT_EQ(cut, std::vector<std::string>{"b"});
    EXPECT_FALSE(d->reserved());
    EXPECT_TRUE(b->was_cut());
    // b is no longer counted, though it has not gone yet.
    auto e = admit("e");
    EXPECT_EQ(cut, (std::vector<std::string>{"b", "c"}));
}

TEST_F(table, one_that_sends_and_is_not_read_goes_one_that_works_does_not) {
    auto a = admit("a");
    a->enter(phase::working, now);
    auto b = admit("b");
    b->enter(phase::sending, now);
    auto c = admit("c");
    c->enter(phase::working, now);
    pass(1);
    auto d = admit("d");
    EXPECT_EQ(cut, std::vector<std::string>{"b"});
    d->enter(phase::working, now);
    auto e = admit("e");
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->reserved());
    e->enter(phase::working, now);
    EXPECT_FALSE(admit("f")) << "the reserved place is taken, too";
    e->enter(phase::waiting, now);
    auto f = admit("f");
    ASSERT_TRUE(f);
    EXPECT_EQ(cut, (std::vector<std::string>{"b", "e"}));
    EXPECT_TRUE(f->reserved()) << "whose place it takes is a reserved one";
    f.reset();
    a.reset();
    EXPECT_TRUE(admit("g"));
}

TEST_F(table, one_peer_has_a_share_and_loses_its_own_slowest) {
    auto a = admit("a", "10.0.0.1");
    pass(1);
    auto other = admit("other", "10.0.0.2");
    auto b = admit("b", "10.0.0.1");
    auto c = admit("c", "10.0.0.1");
    EXPECT_EQ(cut, std::vector<std::string>{"a"});
    b->enter(phase::working, now);
    c->enter(phase::working, now);
    EXPECT_FALSE(admit("d", "10.0.0.1"));
    EXPECT_TRUE(admit("e", "10.0.0.3"));
}

TEST_F(table, upgraded_ones_take_no_place) {
    std::vector<place> many;
    for (int i = 0; i < 10; ++i) {
        many.push_back(admit("x"));
        many.back()->enter(phase::upgraded, now);
    }
    EXPECT_TRUE(cut.empty());
    EXPECT_FALSE(admit("y")->reserved());
}

TEST_F(table, memory_is_taken_from_who_is_slow_and_refused_where_nobody_is) {
    auto a = admit("a");
    a->enter(phase::reading, now);
    EXPECT_TRUE(a->hold(900, now));
    EXPECT_EQ(own->bytes(), 890u);
    auto b = admit("b");
    b->enter(phase::reading, now);
    EXPECT_TRUE(b->hold(600, now)) << "there was room when it came";
    auto c = admit("c");
    EXPECT_TRUE(c->hold(10, now)) << "a little is free";
    EXPECT_FALSE(c->hold(11, now));
    EXPECT_EQ(own->bytes(), 890u + 590u);
    pass(2);
    b->moved(1'000'000);
    EXPECT_TRUE(c->hold(300, now));
    EXPECT_EQ(cut, std::vector<std::string>{"a"});
    EXPECT_EQ(own->bytes(), 590u + 290u);
    a.reset();
    EXPECT_EQ(own->bytes(), 590u + 290u);
    b->hold(0, now);
    c.reset();
    EXPECT_EQ(own->bytes(), 0u);
}

TEST_F(table, who_holds_much_has_to_take_it_faster) {
    limits.bytes = 3'000'000;
    auto large = admit("large");
    auto small = admit("small");
    large->enter(phase::sending, now);
    small->enter(phase::sending, now);
    EXPECT_TRUE(large->hold(2'000'000, now));
    EXPECT_TRUE(small->hold(1'500'000, now));
    pass(2);
    // 170 kB a second: enough for what the second one holds within ten seconds.
    large->moved(340'000);
    small->moved(340'000);
    auto other = admit("other");
    EXPECT_TRUE(other->hold(1'000'000, now));
    EXPECT_EQ(cut, std::vector<std::string>{"large"});
}

TEST_F(table, what_is_being_answered_keeps_its_memory) {
    auto a = admit("a");
    EXPECT_TRUE(a->hold(2000, now));
    a->enter(phase::working, now);
    pass(10);
    auto b = admit("b");
    EXPECT_FALSE(b->hold(100, now));
    EXPECT_TRUE(cut.empty());
}

TEST_F(table, a_stream_takes_no_place_and_is_never_cut) {
    limits.streams = 2;
    std::vector<place> streams;
    for (const auto* name : {"s", "t"}) {
        streams.push_back(admit(name, "peer"));
        EXPECT_TRUE(streams.back()->begin_stream(now));
    }
    pass(1000);
    std::vector<place> others;
    for (int i = 0; i < 3; ++i) others.push_back(admit("o"));
    EXPECT_FALSE(others.back()->reserved());
    EXPECT_TRUE(cut.empty());
    auto next = admit("next");
    EXPECT_EQ(cut, std::vector<std::string>{"o"});
    EXPECT_FALSE(next->begin_stream(now));
    streams.pop_back();
    EXPECT_TRUE(next->begin_stream(now));
}

TEST_F(table, there_is_room_for_an_answer_once_a_slow_reader_has_lost_its_own) {
    auto a = admit("a");
    a->enter(phase::sending, now);
    EXPECT_TRUE(own->has_room(now));
    EXPECT_TRUE(a->hold(5000, now));
    EXPECT_FALSE(own->has_room(now));
    auto b = admit("b");
    b->enter(phase::queued, now);
    pass(2);
    a->moved(1'000'000);
    EXPECT_FALSE(own->has_room(now)) << "a is quick";
    EXPECT_EQ(cut, std::vector<std::string>());
    pass(1000);
    EXPECT_TRUE(own->has_room(now));
    EXPECT_EQ(cut, std::vector<std::string>{"a"}) << "b holds nothing";
}

TEST_F(table, who_waits_for_room_goes_before_who_is_answered) {
    auto a = admit("a");
    a->enter(phase::working, now);
    auto b = admit("b");
    b->enter(phase::queued, now);
    auto c = admit("c");
    c->enter(phase::working, now);
    pass(1);
    auto d = admit("d");
    EXPECT_EQ(cut, std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace esi::http
