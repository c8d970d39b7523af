#include "interface/v1/events/ids.h"

#include <gtest/gtest.h>

#include <random>

namespace esi::interface::v1::events {
namespace {

const std::vector<kind> every(std::begin(all_kinds), std::end(all_kinds));

TEST(event_id, names_a_version_of_each_kind) {
    const feed_table all({});
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all.find(kind::batchjob, "any"), 1U);
    const id_form ids(all, every, "");
    EXPECT_EQ(ids.feeds(), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(ids.id({124, 0, 98}), "t124.j0.s98");
    EXPECT_EQ(ids.parse("t124.j0.s98"), (positions{124, 0, 98}));
}

TEST(event_id, speaks_of_what_its_stream_has) {
    const feed_table all({});
    const id_form some(all, {kind::testbed, kind::scheduling}, "");
    EXPECT_EQ(some.id({124, 7, 98}), "t124.s98");
    EXPECT_EQ(some.parse("t124.s98"), (positions{124, 0, 98}));
    EXPECT_EQ(some.parse("t124.j7.s98"), std::nullopt);
    EXPECT_EQ(id_form(all, every, "").parse("t124.s98"), std::nullopt);
    // An id of one namespace says nothing about the others.
    const auto of_one = id_form(all, every, "n").id({1, 2, 3});
    EXPECT_TRUE(of_one.starts_with("n") && of_one.ends_with(".t1.j2.s3")) << of_one;
    EXPECT_EQ(id_form(all, every, "n").parse(of_one), (positions{1, 2, 3}));
    EXPECT_EQ(id_form(all, every, "m").parse(of_one), std::nullopt);
    EXPECT_EQ(id_form(all, every, "").parse(of_one), std::nullopt);
    EXPECT_EQ(id_form(all, every, "n", "a=b").parse(of_one), std::nullopt);
    EXPECT_TRUE(id_form(all, every, "", "a=b").parse(id_form(all, every, "", "a=b").id({1, 2, 3})));
}

TEST(event_id, names_each_namespace_that_is_watched) {
    const feed_table two({"b", "a", "b"});
    EXPECT_EQ(two.size(), 6U);
    EXPECT_EQ(two.kind_of(3), kind::batchjob);
    EXPECT_EQ(two.namespace_of(3), "b");
    EXPECT_EQ(two.find(kind::batchjob, "b"), 3U);
    EXPECT_EQ(two.find(kind::batchjob, "c"), std::nullopt);
    const id_form both(two, every, "");
    const positions at{1, 2, 3, 4, 5, 6};
    const auto id = both.id(at);
    EXPECT_TRUE(id.ends_with(".t1_2.j3_4.s5_6")) << id;
    EXPECT_EQ(both.parse(id), at);
    const id_form one(two, {kind::batchjob, kind::scheduling}, "b");
    EXPECT_EQ(one.feeds(), (std::vector<std::size_t>{3, 5}));
    EXPECT_TRUE(one.id(at).ends_with(".j4.s6")) << one.id(at);
    EXPECT_TRUE(id_form(two, every, "c").feeds().empty());
    // For other namespaces, or for all, it is not valid.
    EXPECT_EQ(id_form(feed_table({"a", "c"}), every, "").parse(id), std::nullopt);
    EXPECT_EQ(id_form(feed_table({}), every, "").parse(id), std::nullopt);
    EXPECT_EQ(both.parse("t1.j2.s3"), std::nullopt);
}

TEST(event_id, that_is_none_is_told_apart) {
    const id_form all(feed_table({}), every, "");
    for (const auto* text : {"", "124", "t124", "t1.j2", "t1.j2.s3.", "t1.j2.s3x", "t1.j2.s-3",
                             "t1.j2.s", "t01.j2.s3", "t1.s3.j2", " t1.j2.s3", "t1_1.j2.s3",
                             "t1.j2.s18446744073709551616", "t1.j2.s3\n", "T1.J2.S3"}) {
        EXPECT_EQ(all.parse(text), std::nullopt) << text;
    }
    EXPECT_TRUE(all.parse("t1.j2.s18446744073709551615"));
}

TEST(event_id, of_any_bytes_is_itself_or_none) {
    std::mt19937 random(3);
    const id_form all(feed_table({}), every, "");
    const std::string_view signs = "tjs.0123456789_n";
    int read_back = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text = "t12.j3.s45";
        for (auto changes = random() % 4; changes > 0; --changes) {
            const auto at = random() % text.size();
            text[at] = signs[random() % signs.size()];
            if (random() % 5 == 0) text.erase(at, 1);
        }
        const auto read = all.parse(text);
        if (!read) continue;
        ++read_back;
        EXPECT_EQ(all.id(*read), text);
    }
    EXPECT_GT(read_back, 1000);
}

TEST(a_version, is_a_decimal_number) {
    EXPECT_EQ(version_of("124"), 124U);
    for (const auto* text : {"", "x", "1x", "-1", "0x1", "99999999999999999999999"}) {
        EXPECT_EQ(version_of(text), 0U) << text;
    }
}

TEST(positions_heard, are_raised_one_by_one) {
    positions at{1, 5, 3};
    raise(at, {2, 4, 3});
    EXPECT_EQ(at, (positions{2, 5, 3}));
    EXPECT_TRUE(at_least(at, {2, 5, 3}));
    EXPECT_FALSE(at_least(at, {2, 6, 0}));
}

}  // namespace
}  // namespace esi::interface::v1::events
