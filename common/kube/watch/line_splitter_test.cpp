#include "kube/watch/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace esi::kube {
namespace {

using lines = std::vector<std::string>;

lines drain(line_splitter& splitter) {
    lines out;
    while (auto line = splitter.next()) out.emplace_back(*line);
    return out;
}

lines split(std::string_view text, std::size_t chunk) {
    line_splitter splitter;
    lines out;
    for (std::size_t at = 0; at < text.size(); at += chunk) {
        EXPECT_TRUE(splitter.feed(text.substr(at, chunk)));
        while (auto line = splitter.next()) out.emplace_back(*line);
    }
    return out;
}

TEST(line_splitter, gives_the_same_lines_whatever_the_chunks) {
    constexpr std::string_view text =
        "{\"type\":\"ADDED\"}\n{\"type\":\"MODIFIED\"}\r\n\r\n\n{}\r\n{\"open\":";
    const lines expected{"{\"type\":\"ADDED\"}", "{\"type\":\"MODIFIED\"}", "{}"};
    for (std::size_t chunk = 1; chunk <= text.size(); ++chunk) {
        EXPECT_EQ(split(text, chunk), expected) << "chunks of " << chunk;
    }
}

TEST(line_splitter, gives_the_same_lines_for_every_single_cut) {
    constexpr std::string_view text = "{\"a\":1}\r\n\n{\"b\":2}\n";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        line_splitter splitter;
        ASSERT_TRUE(splitter.feed(text.substr(0, cut)));
        auto got = drain(splitter);
        ASSERT_TRUE(splitter.feed(text.substr(cut)));
        for (auto& line : drain(splitter)) got.push_back(std::move(line));
        EXPECT_EQ(got, (lines{"{\"a\":1}", "{\"b\":2}"})) << "cut at " << cut;
    }
}

TEST(line_splitter, keeps_bytes_that_are_no_text) {
    EXPECT_EQ(split(std::string_view("a\0b\xff\n", 5), 1), lines{std::string("a\0b\xff", 4)});
}

TEST(line_splitter, holds_back_a_line_without_an_end) {
    line_splitter splitter;
    ASSERT_TRUE(splitter.feed("{\"a\":"));
    EXPECT_FALSE(splitter.next());
    ASSERT_TRUE(splitter.feed("1}\n"));
    EXPECT_EQ(splitter.next(), "{\"a\":1}");
    EXPECT_FALSE(splitter.next());
}

TEST(line_splitter, refuses_a_line_above_the_limit) {
    line_splitter splitter(8);
    EXPECT_TRUE(splitter.feed("12345678\n"));
    EXPECT_EQ(splitter.next(), "12345678");
    EXPECT_FALSE(splitter.next());
    EXPECT_TRUE(splitter.feed("1234"));
    EXPECT_FALSE(splitter.next());
    auto refused = splitter.feed("56789");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::decode);
    EXPECT_EQ(refused.error().text, "a line of the watch exceeds 8 bytes");
}

TEST(line_splitter, many_short_lines_may_exceed_the_limit_together) {
    line_splitter splitter(8);
    EXPECT_TRUE(splitter.feed("1\n2\n3\n4\n5\n6\n7\n8\n"));
    EXPECT_EQ(drain(splitter), (lines{"1", "2", "3", "4", "5", "6", "7", "8"}));
}

// Four million single bytes: a rescan of the whole line per chunk would take hours.
TEST(line_splitter, looks_at_each_byte_once) {
    line_splitter splitter;
    for (int i = 0; i < (4 << 20); ++i) {
        ASSERT_TRUE(splitter.feed("x"));
        ASSERT_FALSE(splitter.next());
    }
    ASSERT_TRUE(splitter.feed("\n"));
    auto line = splitter.next();
    ASSERT_TRUE(line);
    EXPECT_EQ(line->size(), 4u << 20);
}

}  // namespace
}  // namespace esi::kube
